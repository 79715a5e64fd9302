package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/search"
)

// rerankDepth is how many candidates everybody's cross-encoder reads.
const rerankDepth = 20

// corpus is the whole of a test collection, with what is asked of it.
type corpus struct {
	name      string
	documents []braid.Document
	queries   []eval.Query // the judged ones
}

func (r *run) readCorpus() (*corpus, error) {
	dataset, err := eval.Open(filepath.Clean(r.cfg.Corpus), defaultQrelsSet)
	if err != nil {
		return nil, err
	}
	c := &corpus{name: dataset.Name, queries: dataset.Queries}
	for doc, err := range dataset.Corpus() {
		if err != nil {
			return nil, err
		}
		if doc.Validate() == nil {
			c.documents = append(c.documents, doc)
		}
	}
	return c, nil
}

// judged are the queries asked for the sake of their answers.
func (c *corpus) judged(most int) []eval.Query {
	if most == 0 || most > len(c.queries) {
		return c.queries
	}
	return c.queries[:most]
}

// collection is its name in braid, as braid eval calls it.
func (c *corpus) collection() string { return "eval-" + c.name }

// texts are n queries, from the first again after the last.
func (c *corpus) texts(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = c.queries[i%len(c.queries)].Text
	}
	return list
}

// endToEnd measures hybrid searches over HTTP, from the text of a query to ids,
// against other stacks that do the same: without the cross-encoder, or with.
func (r *run) endToEnd(rerank bool) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		c, err := r.readCorpus()
		if err != nil {
			return err
		}
		ours, err := r.startSearch(ctx, c)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, ours.close()) }()
		err = r.eachStack(ctx, func(st stack) error { return r.searches(ctx, c, st, ours, rerank) })
		return errors.Join(err, r.remember(ours.process, c.name+", "+wayName(rerank), 0))
	}
}

func wayName(rerank bool) string {
	if rerank {
		return fmt.Sprintf("hybrid, rerank of %d", rerankDepth)
	}
	return "hybrid"
}

// searches compares braid with one stack, for each number of clients.
func (r *run) searches(ctx context.Context, c *corpus, st stack, ours *server, rerank bool) (err error) {
	theirs, err := r.startStack(ctx, c, st)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, theirs.close()) }()
	for _, clients := range r.cfg.Clients {
		n := max(r.cfg.Queries, 20*clients)
		if rerank {
			n = max(r.cfg.Reranks, clients)
		}
		queries := c.texts(n)
		load := httpLoad{name: c.name + ": " + wayName(rerank), clients: clients, texts: 1}
		mine, other := load, load
		mine.requests = requests(queries, func(q string) request { return ours.asks(c, exactly(q, rerank)) })
		other.requests = requests(queries, func(q string) request { return asksStack(q, rerank) })
		if err := r.compare(ctx, load.title(), searchMetrics(), r.searching(mine, ours), r.searching(other, theirs)); err != nil {
			return err
		}
	}
	return r.remember(theirs.process, c.name+", "+wayName(rerank), 0)
}

func requests(queries []string, make func(string) request) []request {
	var list []request
	for _, q := range queries {
		list = append(list, make(q))
	}
	return list
}

// exactly asks for the very work that the stacks do: reciprocal rank fusion of
// 100 candidates a branch, whatever the query is like, and the first 20 in the
// order of the cross-encoder alone.
func exactly(query string, rerank bool) search.Request {
	all, routing, depth, whole := 1.0, false, rerankDepth, 0
	req := search.Request{Query: query, Mode: search.ModeHybrid, Rerank: &rerank, Routing: &routing, Fusion: &search.Fusion{Method: "rrf"}}
	if rerank {
		req.RerankDepth, req.RerankWindow, req.RerankWeight = &depth, &whole, &all
	}
	return req
}

// asks is a search in c with braid.
func (s *server) asks(c *corpus, req search.Request) request {
	body, _ := json.Marshal(req) // no value in it that JSON has not
	return request{"/v1/collections/" + c.collection() + "/search", body}
}

func asksStack(query string, rerank bool) request {
	body, _ := json.Marshal(map[string]any{"query": query, "rerank": rerank, "depth": rerankDepth}) // as above
	return request{"/search", body}
}

// startSearch starts braid with all of c stored. What an earlier run stored is
// not encoded again. The first start only stores; the second is timed to the
// first answer, as that of the stacks is.
func (r *run) startSearch(ctx context.Context, c *corpus) (*server, error) {
	if err := r.storeCorpus(ctx, c); err != nil {
		return nil, err
	}
	begun := time.Now()
	s, err := startBraid(ctx, r.cfg, r.kept("data-endtoend-"+c.name), denseModel, sparseModel, pairModel)
	if err != nil {
		return nil, err
	}
	return s, r.firstAnswer(ctx, s, c, begun, s.asks(c, exactly(c.queries[0].Text, true)))
}

func (r *run) storeCorpus(ctx context.Context, c *corpus) (err error) {
	s, err := startBraid(ctx, r.cfg, r.kept("data-endtoend-"+c.name), denseModel, sparseModel, pairModel)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	client, err := httpapi.NewClient(s.base)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	if _, err := client.Create(ctx, c.collection()); err != nil {
		return err
	}
	r.say("storing %d documents, those not there from an earlier run", len(c.documents))
	for docs := range slices.Chunk(c.documents, batch) {
		if _, err := client.Ingest(ctx, c.collection(), docs); err != nil {
			return err
		}
	}
	return nil
}

// FirstAnswer is how long a contender took from the start of its process to the
// answer of its first search, reranked, with the corpus on disk.
type FirstAnswer struct {
	Corpus    string  `json:"corpus"`
	Contender string  `json:"contender"`
	Seconds   float64 `json:"s"`
}

func (r *run) firstAnswer(ctx context.Context, s *server, c *corpus, begun time.Time, ask request) error {
	if _, err := s.post(ctx, ask); err != nil {
		return errors.Join(err, s.close())
	}
	r.report.FirstAnswers = append(r.report.FirstAnswers, FirstAnswer{c.name, s.name, time.Since(begun).Seconds()})
	return nil
}

// write puts the documents of c where stacks read them, each as the text that
// braid's models read of it.
func (c *corpus) write(folder string) (err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make folder for a stack: %w", err)
	}
	file, err := os.Create(filepath.Join(folder, "documents.jsonl"))
	if err != nil {
		return fmt.Errorf("write documents: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buffered := bufio.NewWriter(file)
	lines := json.NewEncoder(buffered)
	for _, doc := range c.documents {
		if err := lines.Encode(plain(doc)); err != nil {
			return fmt.Errorf("write documents: %w", err)
		}
	}
	return buffered.Flush()
}

// plainDocument is a document as stacks take it.
type plainDocument struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

func plain(d braid.Document) plainDocument { return plainDocument{d.ID, d.Passage()} }
