package fusion_test

import (
	"math"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
)

// ranking makes a ranking of weight 1 from ids, best first.
func ranking(branch braid.Branch, ids ...string) fusion.Ranking {
	r := fusion.Ranking{Branch: branch, Weight: 1}
	for i, id := range ids {
		r.Hits = append(r.Hits, braid.Hit{ID: id, Score: float64(len(ids) - i)})
	}
	return r
}

func weighted(weight float64, r fusion.Ranking) fusion.Ranking {
	r.Weight = weight
	return r
}

func fuse(t *testing.T, opts fusion.Options, rankings ...fusion.Ranking) []fusion.Result {
	t.Helper()
	results, err := fusion.Fuse(rankings, opts)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func ids(results []fusion.Result) string {
	var out []string
	for _, r := range results {
		out = append(out, r.ID)
	}
	return strings.Join(out, " ")
}

func scores(results []fusion.Result) map[braid.Hit]float64 {
	out := map[braid.Hit]float64{}
	for _, r := range results {
		out[r.Place()] = r.Score
	}
	return out
}

func TestFuseScores(t *testing.T) {
	dense := fusion.Ranking{Branch: braid.Dense, Weight: 2, Hits: []braid.Hit{{ID: "a", Score: 0.9}, {ID: "b", Score: 0.8}, {ID: "c", Score: 0.5}}}
	lexical := fusion.Ranking{Branch: braid.Lexical, Weight: 1, Hits: []braid.Hit{{ID: "c", Score: 11}, {ID: "d", Score: 1}}}
	// The dense scores have mean 11/15 and variance 26/900.
	sigma := math.Sqrt(26.0 / 900)
	place := func(s float64) float64 { return (s - (11.0/15 - 3*sigma)) / (6 * sigma) }

	tests := []struct {
		name string
		opts fusion.Options
		want map[string]float64
	}{
		{"zero options are RRF with k 60", fusion.Options{}, map[string]float64{
			"a": 2.0 / 61, "b": 2.0 / 62, "c": 2.0/63 + 1.0/61, "d": 1.0 / 62}},
		{"k 1", fusion.Options{K: new(1)}, map[string]float64{
			"a": 2.0 / 2, "b": 2.0 / 3, "c": 2.0/4 + 1.0/2, "d": 1.0 / 3}},
		{"min-max", fusion.Options{Method: fusion.MinMax}, map[string]float64{
			"a": 2, "b": 2 * 0.75, "c": 0 + 1, "d": 0}},
		// Two scores always lie one σ from their mean: 4/6 and 2/6.
		{"distribution", fusion.Options{Method: fusion.DBSF}, map[string]float64{
			"a": 2 * place(0.9), "b": 2 * place(0.8), "c": 2*place(0.5) + 4.0/6, "d": 2.0 / 6}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := scores(fuse(t, tt.opts, dense, lexical))
			if len(got) != len(tt.want) {
				t.Errorf("%d results, want %d: %v", len(got), len(tt.want), got)
			}
			for id, want := range tt.want {
				if math.Abs(got[braid.Hit{ID: id}]-want) > 1e-12 {
					t.Errorf("score of %s is %v, want %v", id, got[braid.Hit{ID: id}], want)
				}
			}
		})
	}
}

func TestVotesShowWhatEachBranchSaid(t *testing.T) {
	got := fuse(t, fusion.Options{Method: fusion.MinMax},
		fusion.Ranking{Branch: braid.Dense, Weight: 1, Hits: []braid.Hit{{ID: "a", Score: 0.9}, {ID: "b", Score: 0.6}, {ID: "c", Score: 0.5}}},
		fusion.Ranking{Branch: braid.Sparse, Weight: 3},
		fusion.Ranking{Branch: braid.Lexical, Weight: 2, Hits: []braid.Hit{{ID: "b", Score: 7}}})
	if ids(got) != "b a c" {
		t.Fatalf("order %q, want b a c", ids(got))
	}
	b := got[0].Votes
	if len(b) != 2 {
		t.Fatalf("b has %d votes, want those of dense and lexical: %+v", len(b), b)
	}
	if v := b[0]; v.Branch != braid.Dense || v.Rank != 2 || v.Score != 0.6 || math.Abs(v.Scaled-0.25) > 1e-12 || v.Weight != 1 || v.Contribution != v.Scaled {
		t.Errorf("dense vote %+v", v)
	}
	if want := (fusion.Vote{Branch: braid.Lexical, Rank: 1, Score: 7, Scaled: 1, Weight: 2, Contribution: 2}); b[1] != want {
		t.Errorf("lexical vote %+v, want %+v", b[1], want)
	}
}

func TestSwappedPlacesTie(t *testing.T) {
	for _, method := range fusion.Methods() {
		got := fuse(t, fusion.Options{Method: method},
			ranking(braid.Dense, "z", "a", "m"), ranking(braid.Sparse, "a", "z", "m"))
		if got[0].Score != got[1].Score || ids(got) != "a z m" {
			t.Errorf("%s: %+v, want a and z with one score, a first", method, got)
		}
	}
	// With three branches the order of addition would show in the last bits.
	got := fuse(t, fusion.Options{},
		ranking(braid.Dense, "z", "y", "x"), ranking(braid.Sparse, "y", "x", "z"), ranking(braid.Lexical, "x", "z", "y"))
	if got[0].Score != got[2].Score || ids(got) != "x y z" {
		t.Errorf("rotated places: %+v, want one score and x y z", got)
	}
}

// Votes that are equal by the formula are equal in bits: 49/49 and 50/50, where
// 49·(1/49) would fall short of 1.
func TestEqualVotesOfDifferentWeightsTie(t *testing.T) {
	got := fuse(t, fusion.Options{K: new(48)},
		weighted(49, ranking(braid.Dense, "a")), weighted(50, ranking(braid.Lexical, "x", "b")))
	if ids(got) != "x a b" || got[1].Score != got[2].Score {
		t.Errorf("%+v, want x, then a and b with one score", got)
	}
}

func TestEqualTextsComeByID(t *testing.T) {
	hits := []braid.Hit{{ID: "a", Score: 3}, {ID: "b", Score: 3}, {ID: "c", Score: 3}}
	for _, method := range fusion.Methods() {
		got := fuse(t, fusion.Options{Method: method, Limit: new(2)},
			fusion.Ranking{Branch: braid.Dense, Weight: 1, Hits: hits}, fusion.Ranking{Branch: braid.Lexical, Weight: 1, Hits: hits})
		if ids(got) != "a b" {
			t.Errorf("%s: order %q, want a b", method, ids(got))
		}
	}
}

func TestEqualScores(t *testing.T) {
	// 0.1+0.1+0.1 is not 0.3: a mean taken carelessly is not the score.
	equal := func(n int) fusion.Ranking {
		r := fusion.Ranking{Branch: braid.Dense, Weight: 1}
		for i := range n {
			r.Hits = append(r.Hits, braid.Hit{ID: string(rune('a' + i)), Score: 0.1})
		}
		return r
	}
	for _, n := range []int{1, 2, 3, 7} {
		for method, want := range map[fusion.Method]float64{fusion.MinMax: 1, fusion.DBSF: 0.5} {
			for _, r := range fuse(t, fusion.Options{Method: method}, equal(n)) {
				if r.Score != want {
					t.Errorf("%s: %s of %d equal hits scores %v, want %v", method, r.ID, n, r.Score, want)
				}
			}
		}
	}
}

func TestOutlierIsHeldToRange(t *testing.T) {
	r := fusion.Ranking{Branch: braid.Lexical, Weight: 1, Hits: []braid.Hit{{ID: "outlier", Score: 1000}}}
	for i := range 50 {
		r.Hits = append(r.Hits, braid.Hit{ID: string(rune('A' + i)), Score: 1})
	}
	if got := fuse(t, fusion.Options{Method: fusion.DBSF}, r)[0]; got.ID != "outlier" || got.Score != 1 {
		t.Errorf("first is %s with %v, want the outlier with exactly 1", got.ID, got.Score)
	}
}

func TestExtremeScoresStayFinite(t *testing.T) {
	tiny := math.SmallestNonzeroFloat64
	for name, values := range map[string][]float64{
		"huge":      {math.MaxFloat64, 0, -math.MaxFloat64},
		"tiny":      {3 * tiny, 2 * tiny, tiny},
		"both":      {math.MaxFloat64, tiny, -tiny},
		"neighbour": {math.Nextafter(1, 2), 1, 1},
	} {
		for _, method := range fusion.Methods() {
			r := fusion.Ranking{Branch: braid.Dense, Weight: 1}
			for i, v := range values {
				r.Hits = append(r.Hits, braid.Hit{ID: string(rune('a' + i)), Score: v})
			}
			for _, got := range fuse(t, fusion.Options{Method: method}, r) {
				if !(got.Score >= 0 && got.Score <= 1) {
					t.Errorf("%s, %s: score of %s is %v, want 0..1", name, method, got.ID, got.Score)
				}
			}
		}
	}
}

func TestWeightZero(t *testing.T) {
	dense, lexical := ranking(braid.Dense, "a", "b"), ranking(braid.Lexical, "b", "c")
	got := fuse(t, fusion.Options{}, dense, weighted(0, lexical))
	if ids(got) != "a b" {
		t.Fatalf("order %q, want a b: a branch without votes brings in nothing", ids(got))
	}
	if v := got[1].Votes; len(v) != 2 || v[1].Rank != 1 || v[1].Contribution != 0 {
		t.Errorf("votes of b are %+v, want the lexical rank shown without contribution", v)
	}
}

func TestEmptyRankings(t *testing.T) {
	for name, rankings := range map[string][]fusion.Ranking{
		"none":                                nil,
		"one empty":                           {ranking(braid.Dense)},
		"all empty":                           {ranking(braid.Dense), ranking(braid.Lexical)},
		"the only one with a weight is empty": {ranking(braid.Dense), weighted(0, ranking(braid.Lexical, "a"))},
	} {
		for _, method := range fusion.Methods() {
			if got := fuse(t, fusion.Options{Method: method}, rankings...); len(got) != 0 {
				t.Errorf("%s, %s: %v, want no results", name, method, got)
			}
		}
	}
}

func TestLimit(t *testing.T) {
	all := ranking(braid.Dense, "a", "b", "c")
	for limit, want := range map[int]string{1: "a", 2: "a b", 3: "a b c", 4: "a b c", math.MaxInt: "a b c"} {
		if got := ids(fuse(t, fusion.Options{Limit: &limit}, all)); got != want {
			t.Errorf("limit %d: %q, want %q", limit, got, want)
		}
	}
}

func TestFuseRefuses(t *testing.T) {
	ok := ranking(braid.Dense, "a", "b")
	hits := func(hits ...braid.Hit) []fusion.Ranking {
		return []fusion.Ranking{{Branch: braid.Sparse, Weight: 1, Hits: hits}}
	}
	tests := []struct {
		name     string
		opts     fusion.Options
		rankings []fusion.Ranking
		want     string // part of the message
	}{
		{"k 0", fusion.Options{K: new(0)}, []fusion.Ranking{ok}, "k is 0"},
		{"k negative", fusion.Options{K: new(-60)}, []fusion.Ranking{ok}, "k is -60"},
		{"k without RRF", fusion.Options{Method: fusion.MinMax, K: new(60)}, []fusion.Ranking{ok}, "k belongs to rrf"},
		{"limit 0", fusion.Options{Limit: new(0)}, []fusion.Ranking{ok}, "limit is 0"},
		{"limit negative", fusion.Options{Limit: new(-1)}, []fusion.Ranking{ok}, "limit is -1"},
		{"unknown method", fusion.Options{Method: "borda"}, []fusion.Ranking{ok}, `"borda" is not one of ["rrf" "minmax" "dbsf"]`},
		{"negative weight", fusion.Options{}, []fusion.Ranking{weighted(-0.5, ok)}, `weight of branch "dense" is -0.5`},
		{"NaN weight", fusion.Options{}, []fusion.Ranking{weighted(math.NaN(), ok)}, "NaN"},
		{"infinite weight", fusion.Options{}, []fusion.Ranking{weighted(math.Inf(1), ok)}, "+Inf"},
		{"weights overflow", fusion.Options{}, []fusion.Ranking{weighted(math.MaxFloat64, ok), weighted(math.MaxFloat64, ranking(braid.Sparse, "a"))}, "add up to more"},
		{"all weights zero", fusion.Options{}, []fusion.Ranking{weighted(0, ok), weighted(0, ranking(braid.Sparse, "a"))}, "all weights are 0"},
		{"branch twice", fusion.Options{}, []fusion.Ranking{ok, ok}, `branch "dense" occurs twice`},
		{"id twice, equal scores", fusion.Options{}, hits(braid.Hit{ID: "a", Score: 1}, braid.Hit{ID: "a", Score: 1}), `"sparse" holds "a" twice, at ranks 1 and 2`},
		{"id twice, far apart", fusion.Options{}, hits(braid.Hit{ID: "a", Score: 3}, braid.Hit{ID: "b", Score: 2}, braid.Hit{ID: "a", Score: 1}), "at ranks 1 and 3"},
		{"NaN score", fusion.Options{}, hits(braid.Hit{ID: "a", Score: math.NaN()}), `score of "a" at rank 1 is NaN`},
		{"infinite score", fusion.Options{}, hits(braid.Hit{ID: "a", Score: math.Inf(-1)}), "non-finite"},
		{"score order", fusion.Options{}, hits(braid.Hit{ID: "a", Score: 1}, braid.Hit{ID: "b", Score: 2}), "not sorted"},
		{"id order in a tie", fusion.Options{}, hits(braid.Hit{ID: "b", Score: 1}, braid.Hit{ID: "a", Score: 1}), "not sorted"},
		{"passage order in a tie", fusion.Options{}, hits(braid.Hit{ID: "a", Passage: 1, Score: 1}, braid.Hit{ID: "a", Score: 1}), "not sorted"},
		{"passage twice", fusion.Options{}, hits(braid.Hit{ID: "a", Passage: 2, Score: 1}, braid.Hit{ID: "a", Passage: 2, Score: 1}), `holds passage 2 of "a" twice`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := fusion.Fuse(tt.rankings, tt.opts)
			if err == nil {
				t.Fatalf("no error, results %v", got)
			}
			if code := braid.CodeOf(err); code != braid.InvalidArgument {
				t.Errorf("code %s, want %s", code, braid.InvalidArgument)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("message %q lacks %q", err, tt.want)
			}
		})
	}
}

func TestValidateListsEveryProblem(t *testing.T) {
	err := fusion.Options{Method: "borda", K: new(0), Limit: new(-3)}.Validate()
	for _, part := range []string{"borda", "k is 0", "limit is -3"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v lacks %q", err, part)
		}
	}
}
