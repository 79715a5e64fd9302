package embedded_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
)

var (
	operations = flag.Int("operations", 1000, "how many operations the churn test makes")
	churnSeed  = flag.Uint64("churn-seed", 1, "what the churn test's operations are drawn from")
)

const (
	churnDimensions = 16
	churnIDs        = 2200   // ids that are drawn from; about half of them exist
	churnFirst      = 1050   // documents that are there before the first operation
	churnGraphFrom  = 2100   // passages, of which a document has two on average: crossed again and again
	churnAll        = 20_000 // more than there ever are
)

var churnSchema = index.Schema{
	Dense:      index.ModelRef{Name: "d", Digest: "1"},
	Dimensions: churnDimensions,
	Sparse:     index.ModelRef{Name: "s", Digest: "1"},
}

// churnWords are what texts are made of. Stemming leaves them apart.
var churnWords = [...]string{"alfa", "bravo", "delta", "echo", "golf", "hotel", "kilo", "lima", "mike", "oscar", "papa", "quebec", "romeo", "tango", "victor", "zulu"}

// churnFilter is a filter, and what it says of a document.
type churnFilter struct {
	json   string
	passes func(d churned) bool
}

var churnFilters = [...]churnFilter{
	{`{"must":[{"field":"n","match":3}]}`, func(d churned) bool { return d.n == 3 }},
	{`{"must":[{"field":"n","range":{"gte":4,"lt":300}}]}`, func(d churned) bool { return d.n >= 4 && d.n < 300 }},
	{`{"must_not":[{"field":"n","in":[1,2,5]}]}`, func(d churned) bool { return d.n != 1 && d.n != 2 && d.n != 5 }},
	{`{"should":[{"field":"tag","match":"even"},{"field":"n","match":1}]}`, func(d churned) bool { return d.n%2 == 0 || d.n == 1 }},
	{`{"must":[{"field":"tag","match":"neither"}]}`, func(churned) bool { return false }},
}

// churned is a document as the test knows it.
type churned struct {
	passages []passage
	split    bool
	n        int    // in the payload
	print    uint64 // fingerprint
}

// passage is one as the test knows it.
type passage struct {
	words  []string
	dense  []float32
	sparse map[uint32]float32
}

func (d churned) payload() []byte {
	return fmt.Appendf(nil, `{"n":%d,"tag":%q}`, d.n, [...]string{"even", "odd"}[d.n%2])
}

func (d churned) fingerprint() (sum [32]byte) {
	binary.LittleEndian.PutUint64(sum[:], d.print)
	return sum
}

func (d churned) entry(id string) index.Entry {
	e := index.Entry{Document: braid.Document{ID: id, Payload: d.payload()}, Fingerprint: d.fingerprint()}
	for _, p := range d.passages {
		text := strings.Join(p.words, " ")
		made := index.Passage{Dense: p.dense, Sparse: sparseOf(p.sparse)}
		if d.split {
			made.Text, made.Start, made.End = text, len(e.Document.Text), len(e.Document.Text)+len(text)
		}
		e.Document.Text += text
		e.Passages = append(e.Passages, made)
	}
	return e
}

func sparseOf(weights map[uint32]float32) (v braid.SparseVector) {
	for _, i := range slices.Sorted(maps.Keys(weights)) {
		v.Indices, v.Values = append(v.Indices, i), append(v.Values, weights[i])
	}
	return v
}

// churn is a collection beside a plain map of what is in it. Weights are
// multiples of a quarter, so that sums of products are exact and many equal.
type churn struct {
	*testing.T
	random *rand.Rand
	prints uint64
	engine *embedded.Engine
	said   bytes.Buffer // by engines that are closed
	c      index.Collection
	m      map[string]churned
	held   []heldSet // sets of c

	searches       map[index.Method]int // dense ones
	found, missing int                  // among the best, of searches through a graph
}

func (w *churn) draw() churned {
	w.prints++
	d := churned{n: w.random.IntN(8), print: w.prints}
	passages := 1
	if d.split = w.random.IntN(2) == 0; d.split {
		passages += w.random.IntN(5)
	}
	for range passages {
		p := passage{dense: w.drawDense(), sparse: w.drawSparse(12)}
		for range 1 + w.random.IntN(12) {
			p.words = append(p.words, churnWords[min(w.random.IntN(16), w.random.IntN(16))])
		}
		d.passages = append(d.passages, p)
	}
	return d
}

// drawDense returns a vector of length 1 with four components of a half.
func (w *churn) drawDense() []float32 {
	v := make([]float32, churnDimensions)
	for _, i := range w.random.Perm(churnDimensions)[:4] {
		v[i] = float32(w.random.IntN(2)) - 0.5
	}
	return v
}

func (w *churn) drawSparse(most int) map[uint32]float32 {
	v := map[uint32]float32{}
	for range w.random.IntN(most) {
		v[uint32(min(w.random.IntN(200), w.random.IntN(200)))] = float32(1+w.random.IntN(9)) / 4
	}
	return v
}

func (w *churn) drawID() string { return fmt.Sprint("d", w.random.IntN(churnIDs)) }

// drawExisting returns the id of one of the documents, of which there is one.
func (w *churn) drawExisting() string {
	for {
		if id := w.drawID(); w.has(id) {
			return id
		}
	}
}

func (w *churn) has(id string) bool { _, ok := w.m[id]; return ok }

func (w *churn) hasPassage(h braid.Hit) bool { return h.Passage < len(w.m[h.ID].passages) }

// reopen opens the engine, again if it is open, with a threshold for the graph.
func (w *churn) reopen(dir string, graphFrom int) {
	w.Helper()
	ctx := context.Background()
	if w.engine != nil {
		if err := w.engine.Close(); err != nil {
			w.Fatal(err)
		}
	}
	w.held = nil
	var err error
	if w.engine, err = embedded.Open(ctx, dir, embedded.Options{GraphFrom: graphFrom, Log: debugLog(&w.said)}); err != nil {
		w.Fatal(err)
	}
	if w.m == nil {
		w.m = map[string]churned{}
		w.c, err = w.engine.Create(ctx, "t", churnSchema)
	} else {
		w.c, err = w.engine.Open(ctx, "t")
	}
	if err != nil {
		w.Fatal(err)
	}
}

// write makes a batch of upserts, deletes and payload changes of different
// documents and compares what it is said to have changed.
func (w *churn) write(upserts, deletes, changes []string) {
	w.Helper()
	var b index.Batch
	var want index.WriteResult
	for _, id := range upserts {
		if w.has(id) {
			want.Replaced++
		} else {
			want.Created++
		}
		w.m[id] = w.draw()
		b.Upserts = append(b.Upserts, w.m[id].entry(id))
	}
	for _, id := range changes {
		d := w.m[id]
		change := index.PayloadChange{ID: id, From: d.fingerprint()}
		w.prints++
		d.n, d.print = w.random.IntN(8), w.prints
		change.Payload, change.Fingerprint = d.payload(), d.fingerprint()
		w.m[id] = d
		b.Payloads = append(b.Payloads, change)
		want.Changed++
	}
	for _, id := range deletes {
		if w.has(id) {
			want.Deleted++
			delete(w.m, id)
		}
	}
	b.Deletes = deletes
	got, err := w.c.Write(context.Background(), b)
	if err != nil || got != want {
		w.Fatalf("write changed %+v, want %+v, error %v", got, want, err)
	}
}

// deleteWithin deletes those of many documents that pass a filter.
func (w *churn) deleteWithin() {
	w.Helper()
	f := churnFilters[w.random.IntN(len(churnFilters))]
	b := index.Batch{Within: w.filter(f)}
	deleted := 0
	for range 40 {
		id := w.drawID()
		if slices.Contains(b.Deletes, id) {
			continue
		}
		b.Deletes = append(b.Deletes, id)
		if d, ok := w.m[id]; ok && f.passes(d) {
			deleted++
			delete(w.m, id)
		}
	}
	got, err := w.c.Write(context.Background(), b)
	if err != nil || got != (index.WriteResult{Deleted: deleted}) {
		w.Fatalf("write within %s changed %+v, want %d deleted, error %v", f.json, got, deleted, err)
	}
}

// changeStale gives a document another payload that is not as said, and
// replaces another one in the same batch, which must both fail.
func (w *churn) changeStale() {
	w.Helper()
	id, other := w.drawExisting(), w.drawExisting()
	if id == other {
		return
	}
	b := index.Batch{
		Upserts:  []index.Entry{w.draw().entry(other)},
		Payloads: []index.PayloadChange{{ID: id, From: w.draw().fingerprint(), Payload: w.draw().payload()}},
	}
	if _, err := w.c.Write(context.Background(), b); braid.CodeOf(err) != braid.Conflict {
		w.Fatalf("change of a document that is another by now: error %v, want a conflict", err)
	}
}

func (w *churn) filter(f churnFilter) (filter braid.Filter) {
	w.Helper()
	if err := filter.UnmarshalJSON([]byte(f.json)); err != nil {
		w.Fatal(err)
	}
	return filter
}

// search compares all branches with the model, in all documents or in some.
func (w *churn) search() {
	w.Helper()
	ctx := context.Background()
	q := index.Query{K: 1 + w.random.IntN(20)}
	if w.random.IntN(8) == 0 {
		q.K = churnAll
	}
	f := churnFilter{passes: func(churned) bool { return true }}
	if w.random.IntN(2) == 0 {
		f = churnFilters[w.random.IntN(len(churnFilters))]
		set, err := w.c.Resolve(ctx, w.filter(f))
		if err != nil {
			w.Fatal(err)
		}
		passing := 0
		for _, d := range w.m {
			if f.passes(d) {
				passing++
			}
		}
		if set.Len() != passing {
			w.Fatalf("%s: %d documents pass, want %d", f.json, set.Len(), passing)
		}
		q.Allowed = set
	}
	var method index.Method
	q.Method = &method
	dense := w.drawDense()
	got, err := w.c.SearchDense(ctx, dense, q)
	if err != nil {
		w.Fatal(err)
	}
	w.compareDense(got, method, w.rank(q.K, f, func(d passage) (sum float64) {
		for i, x := range dense {
			sum += float64(x) * float64(d.dense[i])
		}
		return sum + 2 // so that all are hits
	}))
	q.Method = nil

	sparse := w.drawSparse(8)
	got, err = w.c.SearchSparse(ctx, sparseOf(sparse), q)
	if want := w.rank(q.K, f, func(d passage) (sum float64) {
		for i, x := range sparse {
			sum += float64(x) * float64(d.sparse[i])
		}
		return sum
	}); err != nil || !slices.Equal(got, want) {
		w.Fatalf("sparse %v, k %d in %s: got %v, want %v, error %v", sparse, q.K, f.json, got, want, err)
	}

	var words []string
	for _, i := range w.random.Perm(len(churnWords))[:1+w.random.IntN(4)] {
		words = append(words, churnWords[i])
	}
	got, err = w.c.SearchLexical(ctx, strings.Join(words, " "), q)
	if err != nil {
		w.Fatal(err)
	}
	w.compareLexical(got, w.rank(q.K, f, w.bm25(words)), w.bm25(words), words)
}

// rank returns the k best of the passages of documents that pass f, and score above
// 0.
func (w *churn) rank(k int, f churnFilter, score func(passage) float64) []braid.Hit {
	hits := []braid.Hit{}
	for id, d := range w.m {
		if !f.passes(d) {
			continue
		}
		for n, p := range d.passages {
			if s := score(p); s > 0 {
				hits = append(hits, braid.Hit{ID: id, Passage: n, Score: s})
			}
		}
	}
	slices.SortFunc(hits, func(a, b braid.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID), cmp.Compare(a.Passage, b.Passage))
	})
	return hits[:min(len(hits), k)]
}

// compareDense compares hits with the ranking, whose scores are 2 above theirs.
// Through a graph some of the best may be missing, which is counted.
func (w *churn) compareDense(got []braid.Hit, method index.Method, want []braid.Hit) {
	w.Helper()
	w.searches[method]++
	for i := range want {
		want[i].Score -= 2
	}
	if method == index.MethodExact {
		if !slices.Equal(got, want) {
			w.Fatalf("dense: got %v, want %v", got, want)
		}
		return
	}
	if len(got) != len(want) {
		w.Fatalf("dense through a graph: %d hits, want %d", len(got), len(want))
	}
	for i, hit := range got {
		if i > 0 && !got[i-1].Before(hit) || !w.hasPassage(hit) {
			w.Fatalf("dense through a graph: hit %d of %v is out of order or no more", i, got)
		}
		if hit.Score > want[i].Score {
			w.Fatalf("dense through a graph: hit %d of %v is above the best, %v", i, got, want)
		}
		if hit.Score < want[len(want)-1].Score {
			w.missing++
		} else {
			w.found++
		}
	}
}

// bm25 returns the score of the passages there are now for different words.
func (w *churn) bm25(words []string) func(passage) float64 {
	const k1, b = 1.2, 0.75
	var total float64
	df := make([]float64, len(words))
	var n float64
	for _, d := range w.m {
		for _, p := range d.passages {
			n++
			total += float64(len(p.words))
			for i, word := range words {
				if slices.Contains(p.words, word) {
					df[i]++
				}
			}
		}
	}
	return func(d passage) (sum float64) {
		for i, word := range words {
			var tf float64
			for _, other := range d.words {
				if other == word {
					tf++
				}
			}
			idf := math.Log(1 + (n-df[i]+0.5)/(df[i]+0.5))
			sum += idf * tf / (tf + k1*(1-b+b*float64(len(d.words))*n/total))
		}
		return sum
	}
}

// compareLexical compares hits with the ranking up to rounding, which may
// exchange documents whose scores are as good as equal.
func (w *churn) compareLexical(got, want []braid.Hit, score func(passage) float64, words []string) {
	w.Helper()
	const rounding = 1e-12
	if len(got) != len(want) {
		w.Fatalf("lexical %v: got %v, want %v", words, got, want)
	}
	for i, hit := range got {
		if i > 0 && !got[i-1].Before(hit) {
			w.Fatalf("lexical %v: hit %d of %v is out of order", words, i, got)
		}
		if !w.hasPassage(hit) || math.Abs(hit.Score-score(w.m[hit.ID].passages[hit.Passage])) > rounding || math.Abs(hit.Score-want[i].Score) > rounding {
			w.Fatalf("lexical %v: hit %d is %v, want %v", words, i, hit, want[i])
		}
	}
}

// compareStored compares what is kept of all documents.
func (w *churn) compareStored() {
	w.Helper()
	ctx, ids := context.Background(), slices.Sorted(maps.Keys(w.m))
	passages := 0
	for _, d := range w.m {
		passages += len(d.passages)
	}
	if got := w.c.Info(); got.Documents != len(ids) || got.Passages != passages {
		w.Fatalf("%d documents with %d passages, want %d with %d", got.Documents, got.Passages, len(ids), passages)
	}
	if got, err := w.c.IDs(ctx, "", churnIDs, nil); err != nil || !slices.Equal(got, ids) {
		w.Fatalf("%d ids, want %d, error %v", len(got), len(ids), err)
	}
	stored, err := w.c.Encoded(ctx, ids)
	if err != nil || len(stored) != len(ids) {
		w.Fatalf("%d documents are stored, want %d, error %v", len(stored), len(ids), err)
	}
	for i, id := range ids {
		if want := w.m[id].entry(id); !reflect.DeepEqual(stored[i], want) {
			w.Fatalf("stored %+v, want %+v", stored[i], want)
		}
	}
}

// some returns the ids of up to n documents that are there or not.
func (w *churn) some(n int) (ids []string) {
	for _, i := range w.random.Perm(churnIDs)[:n] {
		ids = append(ids, fmt.Sprint("d", i))
	}
	return ids
}

// TestChurn makes operations by chance and compares what a collection answers
// with a plain map. Vectors are in a graph for a part of the time, branches are
// built anew in the background and opened from what is saved.
func TestChurn(t *testing.T) {
	dir := t.TempDir()
	w := &churn{T: t, random: rand.New(rand.NewPCG(*churnSeed, 91)), searches: map[index.Method]int{}}
	t.Logf("%d operations, seed %d", *operations, *churnSeed)
	w.reopen(dir, churnGraphFrom)
	defer func() { _ = w.engine.Close() }() // again, if all goes well
	w.write(w.some(churnFirst), nil, nil)
	for step := range *operations {
		switch draw := w.random.IntN(100); {
		case draw < 35:
			w.search()
		case draw < 38:
			w.hold()
		case draw < 45:
			w.searchHeld()
		case draw < 65:
			w.write(w.some(1), nil, nil)
		case draw < 72:
			w.write(w.some(1+w.random.IntN(40)), nil, nil)
		case draw < 80:
			w.write(nil, []string{w.drawExisting()}, nil)
		case draw < 84:
			w.write(nil, w.some(1+w.random.IntN(60)), nil)
		case draw < 86:
			w.deleteWithin()
		case draw < 94:
			w.write(nil, nil, []string{w.drawExisting()})
		case draw < 97:
			ids := w.some(9)
			changes := slices.DeleteFunc(slices.Clone(ids[6:]), func(id string) bool { return !w.has(id) })
			w.write(ids[:3], ids[3:6], changes)
		default:
			w.changeStale()
		}
		if step%250 == 249 {
			w.compareStored()
			w.reopen(dir, [...]int{churnGraphFrom, churnGraphFrom, 1, -1}[w.random.IntN(4)])
			w.compareStored()
		}
	}
	w.compareStored()
	if err := w.engine.Close(); err != nil {
		t.Fatal(err)
	}
	said := w.said.String()
	compacted, saved, loaded := strings.Count(said, "index: compacted"), strings.Count(said, "index: saved"), strings.Count(said, "opened from what is saved")
	t.Logf("dense searches %v, of hits through a graph %d are the best and %d are not; compacted %d times, saved %d, opened from that %d",
		w.searches, w.found, w.missing, compacted, saved, loaded)
	if n := w.found + w.missing; float64(w.found) < 0.97*float64(n) {
		t.Errorf("%d of %d hits through a graph are the best, want 0.97 of them", w.found, n)
	}
	if strings.Contains(said, "level=WARN") || strings.Contains(said, "level=ERROR") {
		t.Errorf("the engine said %s", said)
	}
	// Compactions run in the background: what a short run meets of them is chance.
	if *operations >= 10_000 && (w.searches[index.MethodExact] == 0 || w.searches[index.MethodGraph] == 0 || compacted == 0) {
		t.Errorf("not all was met: %v dense searches, compacted %d times", w.searches, compacted)
	}
}
