package postings

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/topk"
)

// The documents of these tests have as record their terms and weights; a code
// is the weight's share of topWeight in 255 parts, rounded up.
const topWeight = 4

type document struct {
	terms   []uint32
	weights []float32
}

func (d document) codes() []uint8 {
	codes := make([]uint8, len(d.weights))
	for i, w := range d.weights {
		codes[i] = uint8(math.Ceil(float64(w) / topWeight * 255))
	}
	return codes
}

func (d document) record() []byte {
	var record []byte
	for i, term := range d.terms {
		record = binary.LittleEndian.AppendUint32(record, term)
		record = binary.LittleEndian.AppendUint32(record, math.Float32bits(d.weights[i]))
	}
	return record
}

func parse(record []byte) document {
	var d document
	for ; len(record) > 0; record = record[8:] {
		d.terms = append(d.terms, binary.LittleEndian.Uint32(record))
		d.weights = append(d.weights, math.Float32frombits(binary.LittleEndian.Uint32(record[4:])))
	}
	return d
}

// query is one of these documents, whose score with another is the inner
// product.
type query document

func (q query) score(d document) float64 {
	var sum float64
	for i, term := range q.terms {
		if at := slices.Index(d.terms, term); at >= 0 {
			sum += float64(q.weights[i]) * float64(d.weights[at])
		}
	}
	return sum
}

// build returns what Search takes, with codes that stand for themselves or,
// if table is set, for what a table says.
func (q query) build(table bool) Query {
	built := Query{Score: func(record []byte) float64 { return q.score(parse(record)) }}
	unit := topWeight / 255.0
	if table {
		built.Values = new([256]float64)
		for code := range built.Values {
			built.Values[code] = float64(code) * unit
		}
		unit = 1
	}
	for i, term := range q.terms {
		built.Terms = append(built.Terms, Term{ID: term, Weight: float64(q.weights[i]) * unit})
	}
	return built
}

// draw returns n terms of the vocabulary, some of them large numbers, with
// weights that repeat, so that scores tie.
func draw(random *rand.Rand, n, vocabulary int) document {
	var d document
	seen := map[int]bool{}
	for len(seen) < min(n, vocabulary) {
		term := random.IntN(vocabulary)
		if seen[term] {
			continue
		}
		seen[term] = true
		if term%5 == 4 {
			term += math.MaxUint32 - vocabulary
		}
		d.terms = append(d.terms, uint32(term))
		d.weights = append(d.weights, float32(1+random.IntN(5))*topWeight/5)
	}
	return d
}

// model is what an index is compared with.
type model map[uint32]document

func (m model) search(q query, scan topk.Scan) []topk.Match {
	var all []topk.Match
	for ord, d := range m {
		if score := q.score(d); score > 0 && (scan.Allowed == nil || scan.Allowed.Contains(ord)) {
			all = append(all, topk.Match{Ord: ord, Score: score})
		}
	}
	slices.SortFunc(all, func(a, b topk.Match) int {
		order := cmp.Compare(a.Ord, b.Ord)
		if scan.Before != nil && scan.Before(b.Ord, a.Ord) != scan.Before(a.Ord, b.Ord) {
			order = 1
			if scan.Before(a.Ord, b.Ord) {
				order = -1
			}
		}
		return cmp.Or(cmp.Compare(b.Score, a.Score), order)
	})
	return all[:min(len(all), max(scan.K, 0))]
}

// test is a *testing.T or a *rapid.T.
type test interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func compare(t test, x *Index, m model, q query, scan topk.Scan) {
	t.Helper()
	want := m.search(q, scan)
	for _, table := range []bool{false, true} {
		got, err := x.Search(context.Background(), q.build(table), scan)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("table %v, K %d of %d: got %v\nwant %v", table, scan.K, len(m), got, want)
		}
	}
}

// TestSearchEqualsBruteForce drives an index of small windows and a map through
// the same changes: documents mostly appended, also late, removed, and ordinals
// used again; filters that allow everything to nothing, ties in either order, K
// from none to more than there is.
func TestSearchEqualsBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		vocabulary := rapid.IntRange(1, 40).Draw(t, "vocabulary")
		removals := rapid.IntRange(0, 90).Draw(t, "removals in percent")
		x, m, end := newIndex(6), model{}, uint32(0)
		for range rapid.IntRange(0, 12).Draw(t, "rounds") {
			for range random.IntN(120) {
				ord := end
				if random.IntN(10) == 0 {
					ord = random.Uint32N(end + 1 + random.Uint32N(150))
				}
				end = max(end, ord+1)
				if _, ok := m[ord]; random.IntN(100) < removals || ok {
					ord = random.Uint32N(end)
					_, ok := m[ord]
					if x.Remove(ord) != ok {
						t.Fatalf("removing %d says %v, was there %v", ord, !ok, ok)
					}
					delete(m, ord)
					continue
				}
				m[ord] = draw(random, random.IntN(12), vocabulary)
				x.Add(ord, m[ord].terms, m[ord].codes(), m[ord].record())
			}
			if x.Len() != len(m) {
				t.Fatalf("length %d, want %d", x.Len(), len(m))
			}
			scan := topk.Scan{K: []int{0, 1, 2, 10, 50, 1000}[random.IntN(6)]}
			if share := random.IntN(4); share > 0 {
				scan.Allowed = subset(random, end+70, []float64{0.5, 0.05, 0.003}[share-1])
			}
			if random.IntN(2) == 0 {
				scan.Before = func(a, b uint32) bool { return a > b }
			}
			compare(t, x, m, query(draw(random, 1+random.IntN(10), vocabulary)), scan)
		}
		for ord := range end + 100 {
			got, want := x.Record(ord), m[ord].record()
			if _, ok := m[ord]; ok != (got != nil) || !slices.Equal(got, want) {
				t.Fatalf("record of %d is %v, want %v", ord, got, want)
			}
		}
	})
}

func subset(random *rand.Rand, limit uint32, share float64) *docset.Set {
	var ords []uint32
	for ord := range limit {
		if random.Float64() < share {
			ords = append(ords, ord)
		}
	}
	return docset.Of(ords...)
}

// TestFullWindows fills more than a window of real size and removes much of
// the first.
func TestFullWindows(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	x, m := New(), model{}
	const n = 70_000
	for ord := range uint32(n) {
		m[ord] = draw(random, 1+random.IntN(3), 2000)
		x.Add(ord, m[ord].terms, m[ord].codes(), m[ord].record())
	}
	queries := []query{query(draw(random, 5, 2000)), query(draw(random, 50, 2000))}
	check := func() {
		t.Helper()
		for _, q := range queries {
			compare(t, x, m, q, topk.Scan{K: 100})
			for _, share := range []float64{0.5, 0.05, 0.001} {
				compare(t, x, m, q, topk.Scan{K: 100, Allowed: subset(random, n, share)})
			}
		}
	}
	check()
	before := x.MemoryBytes()
	for ord := range uint32(50_000) {
		if ord%3 > 0 {
			x.Remove(ord)
			delete(m, ord)
		}
	}
	check()
	if after := x.MemoryBytes(); after > before*8/10 {
		t.Errorf("%d bytes, %d before half was removed", after, before)
	}
}

// TestManyEqual has more documents of one score than are asked for.
func TestManyEqual(t *testing.T) {
	x, m := newIndex(7), model{}
	for ord := range uint32(1000) {
		m[ord] = document{terms: []uint32{1}, weights: []float32{topWeight}}
		x.Add(ord, m[ord].terms, m[ord].codes(), m[ord].record())
	}
	q := query{terms: []uint32{1, 2}, weights: []float32{0.1, 1e9}}
	for _, k := range []int{1, 7, 500, 2000} {
		compare(t, x, m, q, topk.Scan{K: k})
		compare(t, x, m, q, topk.Scan{K: k, Before: func(a, b uint32) bool { return a > b }})
	}
}

// TestLooseCodes has codes that say nothing but that a term is there.
func TestLooseCodes(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	x, m := newIndex(8), model{}
	for ord := range uint32(3000) {
		m[ord] = draw(random, 4, 30)
		codes := m[ord].codes()
		for i := range codes {
			codes[i] = 255
		}
		x.Add(ord, m[ord].terms, codes, m[ord].record())
	}
	for range 20 {
		compare(t, x, m, query(draw(random, 5, 30)), topk.Scan{K: 10})
	}
}

// TestMostTerms asks for more terms than bounds are added up for.
func TestMostTerms(t *testing.T) {
	x := New()
	d := document{terms: []uint32{mostTerms + 5}, weights: []float32{1}}
	x.Add(3, d.terms, d.codes(), d.record())
	q := Query{Score: func([]byte) float64 { return 1 }}
	for id := range uint32(mostTerms + 10) {
		q.Terms = append(q.Terms, Term{ID: id, Weight: 1})
	}
	if got, err := x.Search(context.Background(), q, topk.Scan{K: 2}); err != nil || !slices.Equal(got, []topk.Match{{Ord: 3, Score: 1}}) {
		t.Errorf("got %v, error %v", got, err)
	}
}

func TestRecode(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	x, m := newIndex(6), model{}
	for ord := range uint32(100) {
		m[ord] = draw(random, 6, 20)
		x.Add(ord, m[ord].terms, m[ord].codes(), m[ord].record())
	}
	var table [256]uint8
	for code := range table {
		table[code] = uint8(max(code, 100)) // looser, and no less
	}
	x.Recode(&table)
	for _, w := range x.windows {
		for _, l := range slices.Concat([]list{w.list}, w.freshLists) {
			if len(l.codes) > 0 && slices.Min(l.codes) < 100 {
				t.Fatalf("codes %v", l.codes)
			}
		}
	}
	compare(t, x, m, query(draw(random, 5, 20)), topk.Scan{K: 10})
}

// TestScratchIsLeftClean stops a search and starts others with its memory.
func TestScratchIsLeftClean(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	x, m := newIndex(6), model{}
	for ord := range uint32(1000) {
		m[ord] = draw(random, 6, 20)
		x.Add(ord, m[ord].terms, m[ord].codes(), m[ord].record())
	}
	q := query(draw(random, 5, 20))
	for stop := range 20 {
		ctx := &countdown{Context: context.Background(), left: stop}
		got, err := x.Search(ctx, q.build(false), topk.Scan{K: 10})
		if stopped := ctx.left < 0; stopped != (err != nil) || stopped && (braid.CodeOf(err) != braid.Canceled || got != nil) {
			t.Fatalf("stopped %v: got %v, error %v", stopped, got, err)
		}
		compare(t, x, m, q, topk.Scan{K: 10})
	}
}

// countdown ends at the left-th time it is asked.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestSums compares the loops over postings with plain ones, in every length
// up to some turns and beyond what is asked for ahead.
func TestSums(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	var steps, portable, tables, wantSteps, wantTables [1 << windowBits]uint32
	var table [256]uint32
	for i := range table {
		table[i] = random.Uint32N(1 << 20)
	}
	lengths := []int{1000, 2047, 2048, 2049, 2056, 5000, 1 << windowBits}
	for n := range 100 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		var l list
		for _, offset := range random.Perm(1 << windowBits)[:n] {
			l.offsets, l.codes = append(l.offsets, uint16(offset)), append(l.codes, uint8(random.Uint32()))
		}
		then := list{l.offsets[:min(n, random.IntN(5))], l.codes}
		addSteps(&steps, l, then, 77)
		addStepsGo(&portable, l, 77)
		addTable(&tables, l, &table)
		for i, offset := range l.offsets {
			wantSteps[offset] += 77 * uint32(l.codes[i])
			wantTables[offset] += table[l.codes[i]]
		}
		if steps != wantSteps || portable != wantSteps || tables != wantTables {
			t.Fatalf("wrong sums of %d postings", n)
		}
	}
}

func TestNext(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	for n := range 200 {
		sums := make([]uint32, n)
		for i := range sums {
			if random.IntN(20) == 0 {
				sums[i] = []uint32{1, 5, 6, 2*sumUnits - 1}[random.IntN(4)]
			}
		}
		for _, needed := range []uint32{1, 6, 2*sumUnits - 1} {
			for at := 0; at <= n; at++ {
				want := at
				for want < n && sums[want] < needed {
					want++
				}
				if got, portable := next(sums, at, needed), nextGo(sums, at, needed); got != want || portable != want {
					t.Fatalf("next of %v at %d, needed %d: %d and %d, want %d", sums, at, needed, got, portable, want)
				}
			}
		}
	}
}

// TestKth: at least k documents reach it, and of those below nothing is lost.
func TestKth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sums := rapid.SliceOfN(rapid.Uint32Range(0, 2*sumUnits), 1, 100).Draw(t, "sums")
		k := rapid.IntRange(1, 120).Draw(t, "k")
		var allowed bitset
		if rapid.Bool().Draw(t, "filtered") {
			for i := range sums {
				if i%3 > 0 {
					allowed.add(uint32(i))
				}
			}
		}
		got := view{sums: sums, allowed: allowed}.kth(k)
		var usable []uint32
		for i, sum := range sums {
			if sum > 0 && (allowed == nil || allowed.has(uint32(i))) {
				usable = append(usable, sum)
			}
		}
		slices.Sort(usable)
		if len(usable) < k {
			if got != 1 {
				t.Fatalf("%d of %v is %d, want 1: there are too few", k, usable, got)
			}
			return
		}
		want := float64(usable[len(usable)-k])
		if f := float64(got); f < 1 || f > want*(1+1e-6) || f < want*(1-1.0/32) {
			t.Fatalf("%d of %v is %d, want about %v", k, usable, got, want)
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	random := rand.New(rand.NewPCG(15, 16))
	for _, n := range []int{1_000, 100_000} {
		x := New()
		for ord := range uint32(n) {
			d := draw(random, 100, 1000)
			x.Add(ord, d.terms, d.codes(), d.record())
		}
		q := query(draw(random, 40, 1000)).build(false)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Search(context.Background(), q, topk.Scan{K: 100}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
