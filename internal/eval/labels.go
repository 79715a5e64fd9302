package eval

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/braid-search/braid"
)

// OpenLabels reads a file of labelled queries about a collection that is kept
// somewhere else; the dataset has no corpus. It is JSON lines,
//
//	{"text": "reset the pump", "relevant": ["doc-1", "doc-2"]}
//	{"id": "q2", "text": "ERR-104", "relevant": {"err-104": 2, "errors": 1}}
//
// with grade 1 where relevant is a list, or, in a file whose name ends in .tsv,
// lines of query, document and grade between tabs; the grade may be left out (1),
// and so may document and grade: a query that nothing answers. A query without an
// id is its own. Other keys of the objects are ignored.
//
// Queries without a relevant document are in Unanswerable, not in Queries. It
// fails with braid.NotFound when there is no file and with braid.InvalidArgument
// when it is malformed or has no queries at all.
func OpenLabels(path string) (*Dataset, error) {
	name := filepath.Base(path)
	d := &Dataset{Name: strings.TrimSuffix(name, filepath.Ext(name)), Qrels: "labels"}
	file, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, braid.Errorf(braid.NotFound, "open labelled queries: %s does not exist", path)
	case err != nil:
		return nil, braid.Errorf(braid.Internal, "open labelled queries: %w", err)
	}
	defer file.Close() // it is only read
	src := source{file, path}
	read := readLabelledObjects
	if filepath.Ext(path) == ".tsv" {
		read = readLabelledColumns
	}
	queries, err := read(src)
	if err != nil {
		return nil, err
	}
	for _, q := range queries {
		if q.Judgments.relevant() == 0 {
			d.Unanswerable = append(d.Unanswerable, q)
		} else {
			d.Queries = append(d.Queries, q)
		}
	}
	if len(queries) == 0 {
		return nil, braid.Errorf(braid.InvalidArgument, "%s holds no queries", path)
	}
	return d, nil
}

// HasCorpus says whether the dataset brings the documents with it.
func (d *Dataset) HasCorpus() bool { return d.dir != "" }

// readGrades reads judgments as they are written: a list of ids or an object.
func readGrades(data json.RawMessage) (Judgments, error) {
	if len(data) == 0 || string(data) == "null" {
		return nil, errors.New(`the query has no "relevant": write [] if nothing answers it`)
	}
	var judged Judgments
	var ids []string
	if json.Unmarshal(data, &ids) == nil {
		judged = make(Judgments, len(ids))
		for _, id := range ids {
			judged[id] = 1
		}
	} else if err := json.Unmarshal(data, &judged); err != nil {
		return nil, errors.New(`relevant is neither a list of ids, ["a", "b"], nor an object of ids and whole numbers, {"a": 2}`)
	}
	if _, empty := judged[""]; empty {
		return nil, errors.New("an id in relevant is empty")
	}
	return judged, nil
}

func readLabelledObjects(src source) ([]Query, error) {
	var queries []Query
	firstLine := make(map[string]int) // by id
	for line, err := range src.lines {
		if err != nil {
			return nil, err
		}
		var r struct {
			record
			Relevant json.RawMessage `json:"relevant"`
		}
		if err := json.Unmarshal(line.text, &r); err != nil {
			return nil, src.fault(line.number, "%s", explain(err))
		}
		id := r.ID
		if id == "" {
			id = r.BEIR
		}
		if id == "" {
			id = r.Text
		}
		judged, err := readGrades(r.Relevant)
		switch {
		case strings.TrimSpace(r.Text) == "":
			return nil, src.fault(line.number, `the query has no "text"`)
		case err != nil:
			return nil, src.fault(line.number, "%w", err)
		case firstLine[id] > 0:
			return nil, src.fault(line.number, "query %q was on line %d already", id, firstLine[id])
		}
		firstLine[id] = line.number
		queries = append(queries, Query{ID: id, Text: r.Text, Judgments: judged})
	}
	return queries, nil
}

func readLabelledColumns(src source) ([]Query, error) {
	var queries []Query
	at := make(map[string]int) // by text
	for line, err := range src.lines {
		if err != nil {
			return nil, err
		}
		columns := strings.Split(strings.TrimRight(string(line.text), "\r\n"), "\t")
		text := columns[0]
		if strings.TrimSpace(text) == "" || len(columns) > 3 {
			return nil, src.fault(line.number, "want query, document and grade separated by tabs")
		}
		grade := 1
		if len(columns) == 3 {
			if grade, err = strconv.Atoi(strings.TrimSpace(columns[2])); err != nil {
				return nil, src.fault(line.number, "grade %q is not a whole number", columns[2])
			}
		}
		i, seen := at[text]
		if !seen {
			i = len(queries)
			at[text] = i
			queries = append(queries, Query{ID: text, Text: text, Judgments: Judgments{}})
		}
		if len(columns) == 1 {
			continue
		}
		doc := columns[1]
		before, twice := queries[i].Judgments[doc]
		switch {
		case doc == "":
			return nil, src.fault(line.number, "the document is empty: leave the tab out if nothing answers the query")
		case twice && before != grade:
			return nil, src.fault(line.number, "query %q judges %q again, %d and before %d", text, doc, grade, before)
		}
		queries[i].Judgments[doc] = grade
	}
	return queries, nil
}
