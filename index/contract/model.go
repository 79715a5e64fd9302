package contract

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// dimensions is the length of the suite's dense vectors.
const dimensions = 16

// encodeDense stands in for a dense model: the text chooses four components,
// each plus or minus a half. Such vectors have length 1 and inner products that
// are multiples of a quarter, exact whatever the order of summation.
func encodeDense(text string) []float32 {
	random := rand.New(rand.NewPCG(hash(text), 0))
	v := make([]float32, dimensions)
	for _, i := range random.Perm(dimensions)[:4] {
		v[i] = float32(random.IntN(2)) - 0.5
	}
	return v
}

// encodeSparse stands in for a sparse model: an index a word, a quarter in
// weight for each letter.
func encodeSparse(text string) braid.SparseVector {
	weights := map[uint32]float32{}
	for _, word := range strings.Fields(text) {
		weights[uint32(hash(word)%5000)] = float32(len(word)) / 4
	}
	var v braid.SparseVector
	for _, i := range slices.Sorted(maps.Keys(weights)) {
		v.Indices = append(v.Indices, i)
		v.Values = append(v.Values, weights[i])
	}
	return v
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// entry makes a document that is not split, with its encodings.
func entry(id, text string) index.Entry {
	return encoded(index.Whole(braid.Document{ID: id, Text: text, Payload: payload(id)}, sha256.Sum256([]byte(text))))
}

func payload(id string) []byte { return []byte(fmt.Sprintf(`{ "src": %q }`, id)) }

// encoded fills in the encodings of an entry's passages.
func encoded(e index.Entry) index.Entry {
	for i := range e.Passages {
		text, p := e.Read(i), &e.Passages[i]
		p.Dense, p.Sparse, p.Tokens = encodeDense(text), encodeSparse(text), []uint32{uint32(len(text)), 7, 30521}
	}
	return e
}

// sections stand above passages. No text holds them otherwise.
var sections = [...]string{"foxtrot", "juliett", "november"}

// split makes a document with a passage for each of texts. In its text they stand
// one after the other; every second one is read with a section before it.
func split(id string, texts ...string) index.Entry {
	e := index.Entry{Document: braid.Document{ID: id, Format: braid.FormatMarkdown, Payload: payload(id)}}
	for i, text := range texts {
		p := index.Passage{Text: text, Start: len(e.Document.Text), End: len(e.Document.Text) + len(text)}
		if i%2 == 1 {
			p.Section = sections[i/2]
			p.Text = p.Section + " " + text
		}
		e.Document.Text += text + "\n"
		e.Passages = append(e.Passages, p)
	}
	e.Fingerprint = sha256.Sum256([]byte(e.Document.Text))
	return encoded(e)
}

// randomEntry makes a document of one to five passages, or one that is not split.
func randomEntry(random *rand.Rand, id string) index.Entry {
	if random.IntN(3) == 0 {
		return entry(id, randomText(random))
	}
	texts := make([]string, 1+random.IntN(5))
	for i := range texts {
		texts[i] = randomText(random)
	}
	return split(id, texts...)
}

// words are what texts are made of. Stemming leaves them apart.
var words = [...]string{"alfa", "bravo", "delta", "echo", "golf", "hotel", "kilo", "lima", "mike", "oscar", "papa", "quebec", "romeo", "tango", "victor", "zulu"}

func randomText(random *rand.Rand) string {
	text := make([]string, 1+random.IntN(6))
	for i := range text {
		text[i] = words[random.IntN(len(words))]
	}
	return strings.Join(text, " ")
}

// model is a collection as a plain map.
type model map[string]index.Entry

// passages counts those of all documents.
func (m model) passages() (n int) {
	for _, e := range m {
		n += len(e.Passages)
	}
	return n
}

// query bounds a retrieval, as index.Query does.
type query struct {
	k      int
	filter *braid.Filter // nil for all documents
}

// allows reports whether the documents of q include e.
func (q query) allows(t testing.TB, e index.Entry) bool {
	t.Helper()
	if q.filter == nil {
		return true
	}
	fields, err := braid.FieldsOf(e.Document.Payload)
	if err != nil {
		t.Fatal(err)
	}
	return q.filter.Passes(fields)
}

// in is q for the collection c.
func (q query) in(t testing.TB, c index.Collection) index.Query {
	t.Helper()
	if q.filter == nil {
		return index.Query{K: q.k}
	}
	return index.Query{K: q.k, Allowed: resolve(t, c, *q.filter)}
}

func resolve(t testing.TB, c index.Collection, f braid.Filter) index.Set {
	t.Helper()
	set, err := c.Resolve(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// only is the filter that the entries with these ids pass; see entry.
func only(ids ...string) *braid.Filter {
	values := []braid.Value{}
	for _, id := range ids {
		values = append(values, braid.KeywordOf(id))
	}
	return &braid.Filter{Must: []braid.Clause{braid.Condition{Field: "src", In: values}}}
}

// rank returns the best of the scored passages.
func (m model) rank(t testing.TB, q query, score func(index.Passage) (float64, bool)) []braid.Hit {
	hits := []braid.Hit{}
	for id, e := range m {
		if !q.allows(t, e) {
			continue
		}
		for n, p := range e.Passages {
			if s, ok := score(p); ok {
				hits = append(hits, braid.Hit{ID: id, Passage: n, Score: s})
			}
		}
	}
	slices.SortFunc(hits, func(a, b braid.Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), byPassage(a, b)) })
	return hits[:min(len(hits), q.k)]
}

func (m model) rankDense(t testing.TB, query []float32, q query) []braid.Hit {
	return m.rank(t, q, func(p index.Passage) (float64, bool) {
		var sum float64
		for i := range query {
			sum += float64(query[i]) * float64(p.Dense[i])
		}
		return sum, true
	})
}

func (m model) rankSparse(t testing.TB, query braid.SparseVector, q query) []braid.Hit {
	return m.rank(t, q, func(p index.Passage) (sum float64, shared bool) {
		for i, index := range query.Indices {
			if at, ok := slices.BinarySearch(p.Sparse.Indices, index); ok {
				sum += float64(query.Values[i]) * float64(p.Sparse.Values[at])
				shared = true
			}
		}
		return sum, shared
	})
}

// byPassage orders hits by what they are about.
func byPassage(a, b braid.Hit) int {
	return cmp.Or(strings.Compare(a.ID, b.ID), cmp.Compare(a.Passage, b.Passage))
}

// withWord returns the passages that hold a word of text, as hits without scores.
func (m model) withWord(text string) []braid.Hit {
	var hits []braid.Hit
	for id, e := range m {
		for n := range e.Passages {
			held := strings.Fields(e.Read(n))
			if slices.ContainsFunc(strings.Fields(text), func(word string) bool { return slices.Contains(held, word) }) {
				hits = append(hits, braid.Hit{ID: id, Passage: n})
			}
		}
	}
	slices.SortFunc(hits, byPassage)
	return hits
}

// check compares everything c shows with the model: count, documents,
// fingerprints, and for each of the texts the ranking of each branch.
func (m model) check(t testing.TB, c index.Collection, texts ...string) {
	t.Helper()
	ctx := context.Background()
	if info := c.Info(); info.Documents != len(m) || info.Passages != m.passages() {
		t.Fatalf("collection counts %d documents and %d passages, want %d and %d", info.Documents, info.Passages, len(m), m.passages())
	}
	ids := slices.Sorted(maps.Keys(m))
	stored, err := c.Get(ctx, append([]string{"no such document"}, ids...))
	if err != nil || len(stored) != len(m) {
		t.Fatalf("get returns %d documents, want %d; error %v", len(stored), len(m), err)
	}
	full, err := c.Encoded(ctx, append(slices.Clone(ids), "no such document"))
	if err != nil || len(full) != len(m) {
		t.Fatalf("%d documents with vectors, want %d; error %v", len(full), len(m), err)
	}
	prints, err := c.Fingerprints(ctx, ids)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		if want := m[id].Stored(); !reflect.DeepEqual(stored[i], want) {
			t.Fatalf("stored %+v, want %+v", stored[i], want)
		}
		if !reflect.DeepEqual(full[i], m[id]) {
			t.Fatalf("stored with vectors %+v, want %+v", full[i], m[id])
		}
		if want := (index.Fingerprint{Sum: m[id].Fingerprint, OK: true}); prints[i] != want {
			t.Fatalf("document %q has fingerprint %v, want %v", id, prints[i], want)
		}
	}
	for _, text := range texts {
		m.checkRankings(t, c, text, query{k: m.passages() + 1})
	}
}

// checkRankings compares each branch's answer for text with the model.
func (m model) checkRankings(t testing.TB, c index.Collection, text string, q query) {
	t.Helper()
	m.checkIn(t, c, text, q, q.in(t, c))
}

// checkIn is checkRankings where q in terms of c is known.
func (m model) checkIn(t testing.TB, c index.Collection, text string, q query, in index.Query) {
	t.Helper()
	ctx := context.Background()
	vector, sparse := encodeDense(text), encodeSparse(text)
	got, err := c.SearchDense(ctx, vector, in)
	if want := m.rankDense(t, vector, q); err != nil || !slices.Equal(got, want) {
		t.Fatalf("dense %q, k %d: got %v, want %v, error %v", text, q.k, got, want, err)
	}
	got, err = c.SearchSparse(ctx, sparse, in)
	if want := m.rankSparse(t, sparse, q); err != nil || !slices.Equal(got, want) {
		t.Fatalf("sparse %q, k %d: got %v, want %v, error %v", text, q.k, got, want, err)
	}
	m.checkLexical(t, c, text, q, in)
}

// checkLexical asserts that the hits are the passages that hold a word, best
// first, and that K and Allowed cut the full ranking and change nothing else.
func (m model) checkLexical(t testing.TB, c index.Collection, text string, q query, in index.Query) {
	t.Helper()
	full, err := c.SearchLexical(context.Background(), text, index.Query{K: m.passages() + 1})
	if err != nil {
		t.Fatal(err)
	}
	var found []braid.Hit
	for i, hit := range full {
		found = append(found, braid.Hit{ID: hit.ID, Passage: hit.Passage})
		if !(hit.Score > 0) || i > 0 && !full[i-1].Before(hit) {
			t.Fatalf("lexical %q: hit %d of %v is out of order", text, i, full)
		}
	}
	slices.SortFunc(found, byPassage)
	if want := m.withWord(text); !slices.Equal(found, want) {
		t.Fatalf("lexical %q: found %v, want %v", text, found, want)
	}
	want := []braid.Hit{}
	for _, hit := range full {
		if len(want) < q.k && q.allows(t, m[hit.ID]) {
			want = append(want, hit)
		}
	}
	got, err := c.SearchLexical(context.Background(), text, in)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("lexical %q, k %d: got %v, want %v, error %v", text, q.k, got, want, err)
	}
}
