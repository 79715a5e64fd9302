package eval

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/braid-search/braid"
)

// DefaultQrels is the set of judgments used where none is named.
const DefaultQrels = "test"

// Dataset is a test collection. It is not changed after Open and safe for
// concurrent use.
type Dataset struct {
	Name    string  // of its folder
	Qrels   string  // name of the set of judgments
	Queries []Query // the judged ones, in the order of their file

	// Unanswerable are the queries that nothing answers; see OpenLabels.
	Unanswerable []Query

	dir string // "": there is no corpus
}

// Query is one judged query.
type Query struct {
	ID, Text  string
	Judgments Judgments
}

// Open reads the queries and one set of judgments, qrels/NAME.tsv, of the
// dataset in dir; "" is DefaultQrels. The corpus is read by Corpus.
//
// It fails with braid.NotFound when a file is missing and with
// braid.InvalidArgument when one is malformed or a judged query is not there.
func Open(dir, qrels string) (*Dataset, error) {
	if qrels == "" {
		qrels = DefaultQrels
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, braid.Errorf(braid.InvalidArgument, "open dataset %q: %w", dir, err)
	}
	d := &Dataset{Name: filepath.Base(path), Qrels: qrels, dir: path}
	if _, err := os.Stat(d.corpusPath()); err != nil {
		return nil, d.notReadable(d.corpusPath(), err)
	}
	judged, err := d.readQrels()
	if err != nil {
		return nil, err
	}
	if err := d.readQueries(judged); err != nil {
		return nil, err
	}
	return d, nil
}

// Corpus yields the documents in the order of the file, which is read as they
// are taken; the ids seen are kept in memory. After an error nothing follows.
//
// Ids are checked, nothing else: some collections hold documents without text,
// and what to do with them is the caller's to decide (braid.Document.Validate).
func (d *Dataset) Corpus() iter.Seq2[braid.Document, error] {
	return func(yield func(braid.Document, error) bool) {
		file, err := os.Open(d.corpusPath())
		if err != nil {
			yield(braid.Document{}, d.notReadable(d.corpusPath(), err))
			return
		}
		defer file.Close()
		for doc, err := range readDocuments(source{file, d.corpusPath()}) {
			if !yield(doc, err) {
				return
			}
		}
	}
}

func (d *Dataset) corpusPath() string  { return filepath.Join(d.dir, "corpus.jsonl") }
func (d *Dataset) queriesPath() string { return filepath.Join(d.dir, "queries.jsonl") }
func (d *Dataset) qrelsPath() string   { return filepath.Join(d.dir, "qrels", d.Qrels+".tsv") }

func (d *Dataset) readQrels() (map[string]Judgments, error) {
	file, err := os.Open(d.qrelsPath())
	if err != nil {
		return nil, d.notReadable(d.qrelsPath(), err)
	}
	defer file.Close()
	return readQrels(source{file, d.qrelsPath()})
}

// readQueries keeps the judged queries, and sees that each of them is there.
func (d *Dataset) readQueries(judged map[string]Judgments) error {
	file, err := os.Open(d.queriesPath())
	if err != nil {
		return d.notReadable(d.queriesPath(), err)
	}
	defer file.Close()
	src := source{file, d.queriesPath()}
	for query, err := range readDocuments(src) {
		if err != nil {
			return err
		}
		judgments, ok := judged[query.ID]
		if !ok {
			continue
		}
		if strings.TrimSpace(query.Text) == "" {
			return braid.Errorf(braid.InvalidArgument, "%s: judged query %q has no text", src.path, query.ID)
		}
		d.Queries = append(d.Queries, Query{ID: query.ID, Text: query.Text, Judgments: judgments})
	}
	if len(d.Queries) < len(judged) {
		return d.missingQuery(judged)
	}
	return nil
}

func (d *Dataset) missingQuery(judged map[string]Judgments) error {
	for _, q := range d.Queries {
		delete(judged, q.ID)
	}
	var missing string
	for id := range judged {
		if missing == "" || id < missing {
			missing = id
		}
	}
	return braid.Errorf(braid.InvalidArgument, "%s judges %d queries that are not in %s, %q for one", d.qrelsPath(), len(judged), d.queriesPath(), missing)
}

// notReadable says what is missing and, of judgments, what there is instead.
func (d *Dataset) notReadable(path string, cause error) error {
	if !errors.Is(cause, fs.ErrNotExist) {
		return braid.Errorf(braid.Internal, "open dataset %q: %w", d.Name, cause)
	}
	if path == d.qrelsPath() {
		if names := d.qrelsNames(); len(names) > 0 {
			return braid.Errorf(braid.NotFound, "dataset %q has no judgments named %q, there is: %s", d.Name, d.Qrels, strings.Join(names, ", "))
		}
	}
	return braid.Errorf(braid.NotFound, "open dataset: %s does not exist: want a folder with corpus.jsonl, queries.jsonl and qrels/%s.tsv", path, d.Qrels)
}

func (d *Dataset) qrelsNames() []string {
	entries, _ := os.ReadDir(filepath.Join(d.dir, "qrels")) // none: no names to offer
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".tsv"); ok {
			names = append(names, name)
		}
	}
	return names
}
