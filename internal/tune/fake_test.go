package tune_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/internal/testvec"
	"github.com/braid-search/braid/search"
)

// noise is a dense head whose vectors say nothing: each depends on text and role
// by chance.
type noise struct {
	search.DenseEncoder // nil: what is not below is not asked of it
	asked               *atomic.Int64
}

const dimensions = 16

func (n noise) Embed(_ context.Context, req inference.Request) ([]inference.Embedding, inference.Timing, error) {
	out := make([]inference.Embedding, len(req.Texts))
	for i, text := range req.Texts {
		n.asked.Add(1)
		random := rand.New(rand.NewPCG(hash(text), uint64(req.Role)))
		out[i].Vector = testvec.Unit(random, dimensions)
	}
	return out, inference.Timing{}, nil
}

// words is a sparse head: each word has an index of its own.
type words struct {
	search.SparseEncoder // nil: what is not below is not asked of it
	asked                *atomic.Int64
}

func (w words) Expand(_ context.Context, req inference.Request) ([]inference.Expansion, inference.Timing, error) {
	out := make([]inference.Expansion, len(req.Texts))
	for i, text := range req.Texts {
		w.asked.Add(1)
		for _, word := range strings.Fields(text) {
			out[i].Vector.Indices = append(out[i].Vector.Indices, uint32(hash(word)%30_000))
		}
		slices.Sort(out[i].Vector.Indices)
		out[i].Vector.Indices = slices.Compact(out[i].Vector.Indices)
		for range out[i].Vector.Indices {
			out[i].Vector.Values = append(out[i].Vector.Values, 1)
		}
	}
	return out, inference.Timing{}, nil
}

func (noise) PassageRoom(context.Context) (int, error) { return 512, nil }
func (words) PassageRoom(context.Context) (int, error) { return 512, nil }

func (noise) Count(_ context.Context, texts []string) ([]int, error) { return countWords(texts), nil }
func (words) Count(_ context.Context, texts []string) ([]int, error) { return countWords(texts), nil }

func countWords(texts []string) []int {
	counts := make([]int, len(texts))
	for i, text := range texts {
		counts[i] = len(strings.Fields(text))
	}
	return counts
}

// overlap is a cross-encoder that counts shared words, with some noise.
type overlap struct{ asked *atomic.Int64 }

func (o overlap) Score(_ context.Context, req inference.PairRequest) ([]inference.PairScore, inference.Timing, error) {
	out := make([]inference.PairScore, len(req.Passages))
	for i, p := range req.Passages {
		o.asked.Add(1)
		shared := 0
		for _, word := range strings.Fields(req.Query) {
			if strings.Contains(p.Text, word) {
				shared++
			}
		}
		out[i].Logit = float32(shared) + float32(hash(req.Query+p.Text)%1000)/1000
	}
	return out, inference.Timing{}, nil
}
func (overlap) Tokens(_ context.Context, texts []string) ([][]uint32, error) {
	return make([][]uint32, len(texts)), nil
}
func (overlap) FirstTokens(_ context.Context, texts []string, _ int) ([][]uint32, error) {
	return make([][]uint32, len(texts)), nil
}
func (overlap) Room() int         { return 512 }
func (overlap) Special() []uint32 { return nil }

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}

// world is a collection of made-up documents and queries that each ask for one.
type world struct {
	engine  index.Engine
	models  search.Models
	service *search.Service
	queries []eval.Query
	asked   [3]atomic.Int64 // of the dense, sparse and pair head
}

const collection = "made-up"

func newWorld(t *testing.T, queries int) *world {
	t.Helper()
	w := &world{}
	engine, err := embedded.Open(t.Context(), t.TempDir(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	w.engine = engine
	w.models = search.Models{
		Dense: noise{asked: &w.asked[0]}, DenseRef: index.ModelRef{Name: "noise", Digest: "1"}, Dimensions: dimensions,
		Sparse: words{asked: &w.asked[1]}, SparseRef: index.ModelRef{Name: "words", Digest: "2"},
		Pair: overlap{&w.asked[2]}, PairRef: index.ModelRef{Name: "overlap", Digest: "3"},
	}
	w.service = search.New(engine, w.models, nil)
	if _, _, err := w.service.Create(t.Context(), collection); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 8))
	word := func() string { return fmt.Sprintf("w%cx%c", 'a'+rune(random.IntN(20)), 'a'+rune(random.IntN(20))) }
	var docs []braid.Document
	for i := range 400 {
		var text []string
		for range 12 {
			text = append(text, word())
		}
		docs = append(docs, braid.Document{ID: fmt.Sprintf("d%03d", i), Text: strings.Join(text, " ")})
		if len(w.queries) < queries {
			q := strings.Join([]string{text[0], text[1], text[2], word(), word()}, " ")
			w.queries = append(w.queries, eval.Query{ID: fmt.Sprint("q", i), Text: q, Judgments: eval.Judgments{docs[i].ID: 1}})
		}
	}
	if _, err := w.service.Ingest(t.Context(), collection, docs); err != nil {
		t.Fatal(err)
	}
	return w
}
