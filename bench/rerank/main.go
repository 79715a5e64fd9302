package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench/report"
	"github.com/braid-search/braid/index/embedded"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/internal/modelset"
	"github.com/braid-search/braid/search"
)

func main() {
	report.Main("bench/rerank", func(ctx context.Context) error { return run(ctx, os.Args[1:], os.Stderr) })
}

// line is one query of the output.
type line struct {
	Set        string             `json:"set"`
	ID         string             `json:"id"`
	Text       string             `json:"text"`
	Tokens     int                `json:"tokens"` // of the query
	Judgments  eval.Judgments     `json:"judgments"`
	Expansion  [2]any             `json:"expansion"` // token ids and weights SPLADE gives the query
	QueryIDs   []uint32           `json:"query_ids"`
	Candidates []candidate        `json:"candidates"`
	Ranking    []string           `json:"ranking"` // the first 100 as fused
	MS         map[string]float64 `json:"ms"`      // compute of all candidates, by form
}

type candidate struct {
	ID       string                        `json:"id"`
	Fused    float64                       `json:"fused"`
	Branches map[braid.Branch]search.Found `json:"branches"`
	IDs      []uint32                      `json:"ids"` // tokens of the passage
	Logit    float32                       `json:"logit"`
	Windows  map[string][]window           `json:"windows"` // by size in tokens
}

// window is the tokens [From, To) of a passage after its first Head tokens, the
// title, which every window begins with.
type window struct {
	From  int     `json:"from"`
	To    int     `json:"to"`
	Head  int     `json:"head"`
	Logit float32 `json:"logit"`
}

type bench struct {
	service *search.Service
	set     *modelset.Set
	depth   int
	sizes   []int
}

func run(ctx context.Context, args []string, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("rerank", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("set", "", "folder of the test collection")
	qrels := flags.String("qrels", "", "judgments to use")
	data := flags.String("data", "", "data folder that holds it as eval-NAME")
	local := flags.String("local", ".local", "folder of models and libraries")
	out := flags.String("out", "", "file to append to; queries in it are not asked again")
	limit := flags.Int("queries", 1000, "queries to ask")
	sizes := flags.String("sizes", "96,160", "sizes of windows in tokens, by comma, or nothing")
	b := &bench{}
	flags.IntVar(&b.depth, "depth", 20, "candidates of a query")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for text := range strings.SplitSeq(*sizes, ",") {
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 32 {
			return fmt.Errorf("-sizes: %q is not a number of tokens of at least 32", text)
		}
		b.sizes = append(b.sizes, n)
	}
	dataset, err := eval.Open(*dir, *qrels)
	if err != nil {
		return err
	}
	library, err := inference.FindLibrary(filepath.Join(*local, "lib"))
	if err != nil {
		return err
	}
	runtime, err := inference.Open(inference.Options{Library: library})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runtime.Close()) }()
	b.set, err = modelset.Load(runtime, filepath.Join(*local, "models"), modelset.Names{
		Dense: []string{"bge-small-en-v1.5"}, Sparse: []string{"splade-tiny"}, Pair: []string{"ms-marco-minilm-l12-v2"}})
	if err != nil {
		return err
	}
	engine, err := embedded.Open(ctx, *data, embedded.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	b.service = search.New(engine, b.set.Search(), nil)
	return b.write(ctx, dataset, *limit, *out)
}

// write asks the queries that are not in the file yet.
func (b *bench) write(ctx context.Context, dataset *eval.Dataset, limit int, out string) (err error) {
	done, err := asked(out)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	queries := dataset.Queries
	shuffle := rand.New(rand.NewPCG(1, 1))
	shuffle.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
	e := json.NewEncoder(file)
	for _, q := range queries[:min(limit, len(queries))] {
		if done[q.ID] {
			continue
		}
		l, err := b.ask(ctx, "eval-"+dataset.Name, q)
		if err != nil {
			return fmt.Errorf("query %q: %w", q.ID, err)
		}
		l.Set = dataset.Name + "/" + dataset.Qrels
		if err := e.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// asked returns the ids of the queries in the file.
func asked(path string) (map[string]bool, error) {
	done := map[string]bool{}
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for d := json.NewDecoder(file); ; {
		var l struct {
			ID string `json:"id"`
		}
		switch err := d.Decode(&l); {
		case errors.Is(err, io.EOF):
			return done, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		done[l.ID] = true
	}
}

// ask scores everything there is to score for one query.
func (b *bench) ask(ctx context.Context, collection string, q eval.Query) (*line, error) {
	depth, off := 100, false
	answer, err := b.service.Search(ctx, collection, search.Request{Query: q.Text, Limit: &depth, Rerank: &off, Fusion: &search.Fusion{Method: "minmax"}})
	if err != nil {
		return nil, err
	}
	l := &line{ID: q.ID, Text: q.Text, Judgments: q.Judgments, MS: map[string]float64{}}
	expansions, _, err := b.set.Sparse[0].Head.Expand(ctx, inference.Request{Texts: []string{q.Text}})
	if err != nil {
		return nil, err
	}
	l.Expansion = [2]any{expansions[0].Vector.Indices, expansions[0].Vector.Values}
	pair := b.set.Pair[0].Head
	ids, err := pair.Tokens(ctx, []string{q.Text})
	if err != nil {
		return nil, err
	}
	l.QueryIDs, l.Tokens = ids[0], len(ids[0])
	for _, h := range answer.Hits {
		l.Ranking = append(l.Ranking, h.ID)
	}
	var texts []search.Hit
	for _, h := range answer.Hits[:min(b.depth, len(answer.Hits))] {
		texts = append(texts, h)
		l.Candidates = append(l.Candidates, candidate{ID: h.ID, Fused: h.Score, Branches: h.Branches, Windows: map[string][]window{}})
	}
	if len(texts) == 0 {
		return l, nil
	}
	var whole []inference.Passage
	for i, h := range texts {
		tokens, err := pair.Tokens(ctx, []string{braid.Document{Title: h.Title, Text: h.Text}.Passage()})
		if err != nil {
			return nil, err
		}
		l.Candidates[i].IDs = tokens[0]
		whole = append(whole, inference.Passage{Tokens: tokens[0]})
	}
	logits, ms, err := b.score(ctx, q.Text, whole)
	if err != nil {
		return nil, err
	}
	l.MS["whole"] = ms
	for i := range logits {
		l.Candidates[i].Logit = logits[i]
	}
	for _, size := range b.sizes {
		if err := b.windows(ctx, l, texts, size); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// windows scores the windows of one size of every candidate longer than that.
func (b *bench) windows(ctx context.Context, l *line, hits []search.Hit, size int) error {
	var passages []inference.Passage
	var to []*float32
	key := strconv.Itoa(size)
	for i, h := range hits {
		c := &l.Candidates[i]
		if len(c.IDs) <= size {
			continue
		}
		pieces, err := b.set.Pair[0].Head.Tokens(ctx, append([]string{h.Title}, sentences(h.Text)...))
		if err != nil {
			return err
		}
		c.Windows[key] = cut(pieces, size)
		for j := range c.Windows[key] {
			w := &c.Windows[key][j]
			var ids []uint32
			for _, p := range pieces {
				ids = append(ids, p...)
			}
			chosen := append(append([]uint32{}, ids[:w.Head]...), ids[w.From:w.To]...)
			passages = append(passages, inference.Passage{Tokens: chosen})
			to = append(to, &w.Logit)
		}
	}
	if len(passages) == 0 {
		return nil
	}
	logits, ms, err := b.score(ctx, l.Text, passages)
	if err != nil {
		return err
	}
	l.MS[key] = ms
	for i, logit := range logits {
		*to[i] = logit
	}
	return nil
}

// longTitle is the longest title, in tokens, that windows repeat.
const longTitle = 32

// cut makes windows of at most size tokens, the title pieces[0] included if it
// is short, that start at every second sentence's border or half a window on.
// A sentence longer than a window is cut.
func cut(pieces [][]uint32, size int) []window {
	head := len(pieces[0])
	start := head
	if head > longTitle || head > size/2 {
		head, start = 0, 0
	}
	var borders []int
	at := 0
	for _, p := range pieces {
		at += len(p)
		if at > start {
			borders = append(borders, at)
		}
	}
	end := at
	room := size - head
	var windows []window
	for from := start; from < end; {
		to := min(end, from+room)
		if to < end {
			for _, b := range borders { // the last border inside, if it is past the middle
				if b > from+room/2 && b <= from+room {
					to = b
				}
			}
		}
		windows = append(windows, window{From: from, To: to, Head: head})
		if to == end {
			break
		}
		next := from + (to-from)/2
		for _, b := range borders { // the first border past the middle
			if b >= next && b < to {
				next = b
				break
			}
		}
		from = next
	}
	return windows
}

// ends is where a sentence ends.
var ends = regexp.MustCompile(`[.!?]["')\]]*\s+|\n+`)

func sentences(text string) []string {
	var all []string
	at := 0
	for _, m := range ends.FindAllStringIndex(text, -1) {
		all = append(all, text[at:m[1]])
		at = m[1]
	}
	return append(all, text[at:])
}

func (b *bench) score(ctx context.Context, query string, passages []inference.Passage) ([]float32, float64, error) {
	scores, timing, err := b.set.Pair[0].Head.Score(ctx, inference.PairRequest{Query: query, Passages: passages})
	if err != nil {
		return nil, 0, err
	}
	logits := make([]float32, len(scores))
	for i, s := range scores {
		logits[i] = s.Logit
	}
	return logits, float64(timing.Compute) / float64(time.Millisecond), nil
}
