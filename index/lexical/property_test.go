package lexical_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/topk"
)

// score ranks texts by BM25 straight from its formula.
func score(texts map[uint32]string, query string, k1, b float64) []topk.Match {
	analyzer := lexical.NewAnalyzer()
	tf, length, df, sum := map[uint32]map[string]float64{}, map[uint32]float64{}, map[string]float64{}, 0.0
	for ord, text := range texts {
		tf[ord] = map[string]float64{}
		for _, term := range analyzer.Terms(text) {
			tf[ord][term.Text]++
			if term.Kind == lexical.Word || term.Kind == lexical.Whole {
				length[ord]++
			}
		}
		sum += length[ord]
		for term := range tf[ord] {
			df[term]++
		}
	}
	n := float64(len(texts))
	var matches []topk.Match
	for ord := range texts {
		total := 0.0
		for _, term := range analyzer.QueryTerms(query) {
			if f := tf[ord][term.Text]; f > 0 {
				idf := math.Log(1 + (n-df[term.Text]+0.5)/(df[term.Text]+0.5))
				total += term.Weight * idf * f / (f + k1*(1-b+b*length[ord]*n/sum))
			}
		}
		if total > 0 {
			matches = append(matches, topk.Match{Ord: ord, Score: total})
		}
	}
	slices.SortFunc(matches, func(a, b topk.Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Ord, b.Ord))
	})
	return matches
}

// drawText draws a text of few distinct words, so that they repeat within and
// across documents.
func drawText(t *rapid.T, label string) string {
	word := rapid.SampledFrom([]string{"the", "crab", "crabs", "shell", "ERR-104", "ERR", "104", "softLogout", "東京都", "京", "C++", "C", "a"})
	return strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, label), " ")
}

// After any sequence of additions, replacements and removals, a search finds
// what the formula says about the live documents, an index made of those alone
// agrees to the last bit, and equal texts have equal scores.
func TestSearchEqualsFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := rapid.SampledFrom([]lexical.Options{{}, {K1: 0.9, B: 0.4}}).Draw(t, "options")
		x, texts := lexical.New(opts), map[uint32]string{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			ord := rapid.Uint32Range(0, 12).Draw(t, "ord")
			if rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
				x.Remove(ord)
				delete(texts, ord)
			} else {
				texts[ord] = drawText(t, "text")
				x.Add(ord, texts[ord])
			}
		}
		query := drawText(t, "query")
		got := search(x, query)
		compareToFormula(t, got, score(texts, query, cmp.Or(opts.K1, 1.2), cmp.Or(opts.B, 0.75)))

		fresh := lexical.New(opts)
		for _, ord := range slices.Backward(slices.Sorted(maps.Keys(texts))) {
			fresh.Add(ord, texts[ord])
		}
		if again := search(fresh, query); !slices.Equal(again, got) {
			t.Fatalf("%q: index of the live documents finds %v, want %v", query, again, got)
		}
		if x.Len() != len(texts) {
			t.Fatalf("index has %d documents, want %d", x.Len(), len(texts))
		}
		byText := map[string]float64{}
		for _, m := range got {
			if s, seen := byText[texts[m.Ord]]; seen && s != m.Score {
				t.Fatalf("text %q scores %v and %v", texts[m.Ord], s, m.Score)
			}
			byText[texts[m.Ord]] = m.Score
		}
		compareBounded(t, x, query, got)
	})
}

func compareToFormula(t *rapid.T, got, want []topk.Match) {
	if len(got) != len(want) {
		t.Fatalf("found %v, want %v", got, want)
	}
	scores := map[uint32]float64{}
	for _, m := range want {
		scores[m.Ord] = m.Score
	}
	for i, m := range got {
		// Two orders of equal scores differ by rounding alone.
		if s, ok := scores[m.Ord]; !ok || math.Abs(s-m.Score) > 1e-12 || math.Abs(want[i].Score-m.Score) > 1e-12 {
			t.Fatalf("match %d is %v, want %v, score %v", i, m, want[i], s)
		}
	}
}

// compareBounded compares searches with small K, a set of allowed documents and
// another tie order with what the full ranking says.
func compareBounded(t *rapid.T, x *lexical.Index, query string, full []topk.Match) {
	k := rapid.IntRange(0, 5).Draw(t, "k")
	allowed := docset.Where(1000, func(ord uint32) bool { return ord%3 != 0 })
	descending := func(a, b uint32) bool { return a > b }
	want := slices.Clone(full)
	slices.SortFunc(want, func(a, b topk.Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Ord, a.Ord))
	})
	want = slices.DeleteFunc(want, func(m topk.Match) bool { return !allowed.Contains(m.Ord) })
	want = want[:min(k, len(want))]
	if got := best(x, query, topk.Scan{K: k, Allowed: allowed, Before: descending}); !slices.Equal(got, want) {
		t.Fatalf("%q, best %d allowed: found %v, want %v", query, k, got, want)
	}
}

// Lengths that grow and fall a hundredfold, and words repeated a thousand times,
// leave the best as the formula has them.
func TestLengthsDrift(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 9))
	x, texts := lexical.New(lexical.Options{}), map[uint32]string{}
	for ord := range uint32(600) {
		length := 3 + int(ord)
		if ord > 400 {
			length = 5
		}
		texts[ord] = words(random, random.IntN(length))
		if ord%100 == 50 {
			texts[ord] += strings.Repeat("waa ", 1000)
		}
		x.Add(ord, texts[ord])
		if ord >= 250 {
			x.Remove(ord - 250)
			delete(texts, ord-250)
		}
		if ord%20 != 0 {
			continue
		}
		query := words(random, 4) + "waa"
		want := score(texts, query, 1.2, 0.75)
		got := best(x, query, topk.Scan{K: 10})
		for i, m := range got {
			if math.Abs(m.Score-want[i].Score) > 1e-12 {
				t.Fatalf("after %d documents, match %d is %v, want %v", ord, i, m, want[i])
			}
		}
		if len(got) != min(10, len(want)) {
			t.Fatalf("after %d documents: %d matches of %d", ord, len(got), len(want))
		}
	}
}

// A document with the identifier comes before documents with nothing but its
// parts, though they repeat them and are shorter, as long as lengths are of
// one order.
func TestWholeBeforeParts(t *testing.T) {
	for _, tc := range []struct{ whole, parts string }{
		{"AR-7", "AR 7"}, {"ERR-104", "ERR 104"}, {"v2.1", "2.1 v"}, {"CVE-2021-44228", "CVE 2021 44228"},
		{"GHSA-vq23-5h4f-vwpv", "GHSA vq23 5h4f vwpv"}, {"user_id", "user id"}, {"node.js", "node js"},
		{"softLogout", "soft logout"}, {"Meyer-Landrut", "Meyer Landrut"}, {"C2065", "C 2065"},
		{"WD-40", "WD 40"}, {"TCP/IP", "TCP IP"}, {"x86-64", "x86 64"}, {"std::vector", "std vector"},
	} {
		x := lexical.New(lexical.Options{})
		for i := range uint32(100) {
			x.Add(i, filler(int(i), 60))
		}
		x.Add(100, strings.Repeat(tc.parts+" ", 3)+filler(100, 50))
		x.Add(101, tc.parts+" "+filler(101, 40))
		x.Add(102, filler(102, 80)+" "+tc.whole)
		x.Add(103, tc.parts+" "+filler(103, 60))
		for _, query := range []string{tc.whole, strings.ToLower(tc.whole), "notes on " + tc.whole} {
			if got := ordinals(search(x, query)); len(got) == 0 || got[0] != 102 {
				t.Errorf("%q found %v, want 102 first", query, got)
			}
		}
		for part := range strings.FieldsSeq(tc.parts) {
			if got := ordinals(search(x, part)); len(part) > 1 && !slices.Contains(got, 102) {
				t.Errorf("%q does not find %q: %v", part, tc.whole, got)
			}
		}
	}
}

// filler returns n words, most of them the document's own.
func filler(doc, n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "word%c%c ", 'a'+rune((doc*7+i*i)%26), 'a'+rune((doc+i)%26))
	}
	return text.String()
}

// Churn leaves nothing behind.
func TestMemoryAfterChurn(t *testing.T) {
	x := lexical.New(lexical.Options{})
	x.Add(9, "x")
	x.Remove(9)
	empty := x.MemoryBytes()
	var largest int64
	for round := range uint32(300) {
		for i := range uint32(10) {
			if round > 0 {
				x.Remove(10*(round-1) + i)
			}
			x.Add(10*round+i, fmt.Sprintf("%s shared ERR-%d", roundName(round), 100*round+i))
		}
		if round == 30 {
			largest = x.MemoryBytes() * 3 / 2
		}
	}
	// Beside the documents there are eight bytes for each ordinal ever used.
	if got := x.MemoryBytes() - 8*3000; got > largest {
		t.Errorf("%d bytes after 300 rounds, %d after 30", got, largest*2/3)
	}
	if got := len(search(x, roundName(298))); got != 0 {
		t.Errorf("a replaced text has %d hits", got)
	}
	if got := len(search(x, "shared "+roundName(299))); got != 10 {
		t.Errorf("found %d documents, want 10", got)
	}
	for ord := range uint32(3000) {
		x.Remove(ord)
	}
	if x.Len() != 0 || x.MemoryBytes() != empty || len(search(x, "shared")) != 0 {
		t.Errorf("%d documents and %d bytes left, want 0 and %d", x.Len(), x.MemoryBytes(), empty)
	}
}

func roundName(round uint32) string {
	return "x" + string(rune('a'+round/20)) + string(rune('a'+round%20))
}

// Searches and analyses run side by side; under the race detector this fails
// if they share anything they write.
func TestConcurrentSearches(t *testing.T) {
	x := indexOf("ERR-104 crab", "crab shell", "東京都 Straße")
	want := search(x, "crab err-104 straße 東京")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				x.Analyze("crab ERR-104 東京都 Straße running")
				if got := search(x, "crab err-104 straße 東京"); !slices.Equal(got, want) {
					t.Errorf("found %v, want %v", got, want)
					return
				}
			}
		})
	}
	group.Wait()
}

func TestOptionsValidate(t *testing.T) {
	for _, opts := range []lexical.Options{{}, {K1: 0.9, B: 0.4}, {B: 1}} {
		if err := opts.Validate(); err != nil {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	for _, tc := range []struct {
		opts  lexical.Options
		names []string
	}{
		{lexical.Options{K1: -1, B: 2}, []string{"k1 is -1", "b is 2"}},
		{lexical.Options{K1: math.NaN()}, []string{"k1 is NaN"}},
		{lexical.Options{K1: math.Inf(1)}, []string{"k1 is +Inf"}},
		{lexical.Options{B: math.NaN()}, []string{"b is NaN"}},
		{lexical.Options{B: -0.1}, []string{"b is -0.1"}},
	} {
		err := tc.opts.Validate()
		for _, name := range tc.names {
			if braid.CodeOf(err) != braid.InvalidArgument || !strings.Contains(err.Error(), name) {
				t.Errorf("%+v: %v, want invalid_argument with %q", tc.opts, err, name)
			}
		}
	}
}

func ExampleIndex_Search() {
	x := lexical.New(lexical.Options{})
	x.Add(1, "harbour crane manual")
	x.Add(2, "harbour gate")
	x.Add(3, "tram schedule")
	matches, err := x.Search(context.Background(), "harbours", topk.Scan{K: 10})
	if err != nil {
		fmt.Println(err)
	}
	for _, m := range matches {
		fmt.Printf("%d %.3f\n", m.Ord, m.Score)
	}
	// Output:
	// 2 0.227
	// 1 0.191
}
