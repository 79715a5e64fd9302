package postings

import (
	"cmp"
	"context"
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

// The exact postings of these tests are weights; a code is the weight's share of
// topWeight in topCode parts, rounded up.
const topWeight = 4

type document struct {
	terms   []uint32
	weights []float32
}

func (d document) codes() []uint8 {
	codes := make([]uint8, len(d.weights))
	for i, w := range d.weights {
		codes[i] = codeOf(w)
	}
	return codes
}

func codeOf(w float32) uint8 { return uint8(math.Ceil(float64(w) / topWeight * topCode)) }

func add(x *Index[float32], ord uint32, d document) { x.Add(ord, d.terms, d.codes(), d.weights) }

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

// build returns what Search takes. With factors, codes count for half in every
// other window, and weights for twice as much to make up for it.
func (q query) build(factors bool) Query[float32] {
	built := Query[float32]{Share: func(term int, _ uint32, w float32) float64 {
		return float64(q.weights[term]) * float64(w)
	}}
	unit := topWeight / float64(topCode)
	if factors {
		unit *= 2
		built.Factor = func(window int) float64 { return 1 - 0.5*float64(window%2) }
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

func compare(t test, x *Index[float32], m model, q query, scan topk.Scan) {
	t.Helper()
	want := m.search(q, scan)
	for _, factors := range []bool{false, true} {
		got, err := x.Search(context.Background(), q.build(factors), scan)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("factors %v, K %d of %d: got %v\nwant %v", factors, scan.K, len(m), got, want)
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
		x, m, end := newIndex[float32](6), model{}, uint32(0)
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
				add(x, ord, m[ord])
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
			compare(t, x, m, query(draw(random, 1, vocabulary)), scan)
		}
		for ord := range end + 100 {
			if _, ok := m[ord]; x.Has(ord) != ok {
				t.Fatalf("has %d: %v, want %v", ord, !ok, ok)
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
	x, m := New[float32](), model{}
	const n = 70_000
	for ord := range uint32(n) {
		m[ord] = draw(random, 1+random.IntN(3), 2000)
		add(x, ord, m[ord])
	}
	queries := []query{query(draw(random, 5, 2000)), query(draw(random, 50, 2000)), query(draw(random, 1, 20)), query(draw(random, 1, 2000))}
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
	x, m := newIndex[float32](7), model{}
	for ord := range uint32(1000) {
		m[ord] = document{terms: []uint32{1}, weights: []float32{topWeight}}
		add(x, ord, m[ord])
	}
	for _, q := range []query{{terms: []uint32{1, 2}, weights: []float32{0.1, 1e9}}, {terms: []uint32{1}, weights: []float32{0.1}}} {
		for _, k := range []int{1, 7, 500, 2000} {
			compare(t, x, m, q, topk.Scan{K: k})
			compare(t, x, m, q, topk.Scan{K: k, Before: func(a, b uint32) bool { return a > b }})
		}
	}
}

// TestLooseCodes has codes that say nothing but that a term is there.
func TestLooseCodes(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	x, m := newIndex[float32](8), model{}
	for ord := range uint32(3000) {
		m[ord] = draw(random, 4, 30)
		codes := m[ord].codes()
		for i := range codes {
			codes[i] = 255
		}
		x.Add(ord, m[ord].terms, codes, m[ord].weights)
	}
	for range 20 {
		compare(t, x, m, query(draw(random, 5, 30)), topk.Scan{K: 10})
		compare(t, x, m, query(draw(random, 1, 30)), topk.Scan{K: 10})
	}
}

// TestMostTerms asks for more terms than bounds are added up for.
func TestMostTerms(t *testing.T) {
	x := New[float32]()
	d := document{terms: []uint32{mostTerms + 5}, weights: []float32{1}}
	add(x, 3, d)
	q := Query[float32]{Share: func(int, uint32, float32) float64 { return 1 }}
	for id := range uint32(mostTerms + 10) {
		q.Terms = append(q.Terms, Term{ID: id, Weight: 1})
	}
	if got, err := x.Search(context.Background(), q, topk.Scan{K: 2}); err != nil || !slices.Equal(got, []topk.Match{{Ord: 3, Score: 1}}) {
		t.Errorf("got %v, error %v", got, err)
	}
}

func TestRecode(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	x, m := newIndex[float32](6), model{}
	for ord := range uint32(200) {
		m[ord] = draw(random, 6, 20)
		x.Add(ord, m[ord].terms, make([]uint8, len(m[ord].terms)), m[ord].weights) // codes that are wrong
	}
	for window := range x.Windows() {
		x.Recode(window, func(part Part[float32], i int) uint8 {
			if d := m[part.First+uint32(part.Offsets[i])]; d.weights[slices.Index(d.terms, part.Term)] != part.Exact[i] {
				t.Fatalf("posting %d of %v is not of %v", i, part, d)
			}
			return codeOf(part.Exact[i])
		})
	}
	for range 20 {
		compare(t, x, m, query(draw(random, 5, 20)), topk.Scan{K: 10})
	}
}

// TestScratchIsLeftClean stops a search and starts others with its memory.
func TestScratchIsLeftClean(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	x, m := newIndex[float32](6), model{}
	for ord := range uint32(1000) {
		m[ord] = draw(random, 6, 20)
		add(x, ord, m[ord])
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
	var steps, portable, want [1 << windowBits]uint32
	lengths := []int{1000, 2047, 2048, 2049, 2056, 5000, 1 << windowBits}
	for n := range 100 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		var l coded
		for _, offset := range random.Perm(1 << windowBits)[:n] {
			l.offsets, l.codes = append(l.offsets, uint16(offset)), append(l.codes, uint8(random.Uint32()))
		}
		then := coded{l.offsets[:min(n, random.IntN(5))], l.codes}
		addSteps(&steps, l, then, 77)
		addStepsGo(&portable, l, 77)
		for i, offset := range l.offsets {
			want[offset] += 77 * uint32(l.codes[i])
		}
		if steps != want || portable != want {
			t.Fatalf("wrong sums of %d postings", n)
		}
	}
}

func TestFirstRun(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	for n := range 400 {
		sums := make([]uint32, n)
		for i := range sums {
			if random.IntN(40) == 0 {
				sums[i] = []uint32{1, 5, 6, 2*sumUnits - 1}[random.IntN(4)]
			}
		}
		for _, needed := range []uint32{1, 6, 2*sumUnits - 1} {
			for at := 0; at <= n+run; at += run {
				want, mask := at, uint32(0)
				for ; want < n; want += run {
					for i := range min(run, n-want) {
						if sums[want+i] >= needed {
							mask |= 1 << i
						}
					}
					if mask != 0 {
						break
					}
				}
				for name, f := range map[string]func([]uint32, int, uint32) (int, uint32){"fast": firstRun, "portable": firstRunGo} {
					got, gotMask := f(sums, at, needed)
					if gotMask != mask || mask != 0 && got != want {
						t.Fatalf("%s: first run of %v from %d, needed %d: %d with %b, want %d with %b", name, sums, at, needed, got, gotMask, want, mask)
					}
				}
			}
		}
	}
}

// TestKth: at least k documents reach it, and not many more, as long as they are
// spread.
func TestKth(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	for n := range 300 {
		sums := make([]uint32, 1+random.IntN(1+n*n/4))
		for i := range sums {
			if random.IntN(3) > 0 {
				sums[i] = random.Uint32N(uint32(random.Uint64N(2*sumUnits))) + 1
			}
		}
		var allowed bitset
		if n%2 == 0 {
			for i := range sums {
				if i%3 > 0 {
					allowed.add(uint32(i))
				}
			}
		}
		var usable []uint32
		for i, sum := range sums {
			if sum > 0 && (allowed == nil || allowed.has(uint32(i))) {
				usable = append(usable, sum)
			}
		}
		slices.Sort(usable)
		for _, k := range []int{1, 2, 10, 100} {
			got := view{sums: sums, allowed: allowed}.kth(k)
			if len(usable) < k {
				if got != 1 {
					t.Fatalf("%d of %d is %d, want 1: there are too few", k, len(usable), got)
				}
				continue
			}
			want := float64(usable[len(usable)-k])
			least := float64(usable[max(0, len(usable)-k-k/3-3)])
			if f := float64(got); f < 1 || f > want*(1+1e-6) || f < least*(1-1.0/32) {
				t.Fatalf("%d of %d is %d, want about %v", k, len(usable), got, want)
			}
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	random := rand.New(rand.NewPCG(15, 16))
	for _, n := range []int{1_000, 100_000} {
		x := New[float32]()
		for ord := range uint32(n) {
			add(x, ord, draw(random, 100, 1000))
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
