package rerank_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/rerank"
)

// scorerFunc scores with a function of the passages, so that each test says
// what the cross-encoder answers.
type scorerFunc func(ctx context.Context, query string, passages []rerank.Passage) ([]float32, error)

func (f scorerFunc) Score(ctx context.Context, query string, passages []rerank.Passage) ([]float32, error) {
	return f(ctx, query, passages)
}

// byText answers the logit that stands under the passage's text.
func byText(logits map[string]float32) rerank.Scorer {
	return scorerFunc(func(_ context.Context, _ string, passages []rerank.Passage) ([]float32, error) {
		out := make([]float32, len(passages))
		for i, p := range passages {
			logit, known := logits[p.Text]
			if !known {
				return nil, fmt.Errorf("passage %q was not to be scored", p.Text)
			}
			out[i] = logit
		}
		return out, nil
	})
}

// candidates makes candidates whose passage is "text of ID".
func candidates(ids ...string) []rerank.Candidate {
	out := make([]rerank.Candidate, len(ids))
	for i, id := range ids {
		out[i] = rerank.Candidate{ID: id, Passage: rerank.Passage{Text: "text of " + id}}
	}
	return out
}

func ids(items []rerank.Item) string {
	var out []string
	for _, i := range items {
		out = append(out, i.ID)
	}
	return strings.Join(out, " ")
}

func TestRerankOrdersTheWindowAndKeepsTheRest(t *testing.T) {
	scorer := byText(map[string]float32{"text of a": -2, "text of b": 9.33, "text of c": 9.09})
	got, err := rerank.Rerank(t.Context(), scorer, "q", candidates("a", "b", "c", "d", "e"), rerank.Options{Depth: new(3)})
	if err != nil {
		t.Fatal(err)
	}
	want := []rerank.Item{
		{ID: "b", Scored: true, Logit: 9.33, Probability: rerank.Probability(9.33), From: 2, To: 1},
		{ID: "c", Scored: true, Logit: 9.09, Probability: rerank.Probability(9.09), From: 3, To: 2},
		{ID: "a", Scored: true, Logit: -2, Probability: rerank.Probability(-2), From: 1, To: 3},
		{ID: "d", From: 4, To: 4},
		{ID: "e", From: 5, To: 5},
	}
	for i := range want[:3] {
		want[i].Score = want[i].Probability
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestScorerSeesQueryAndPassagesOfTheWindow(t *testing.T) {
	in := candidates("a", "b", "c")
	in[1].Passage = rerank.Passage{Tokens: []uint32{7, 8}}
	var query string
	var seen []rerank.Passage
	scorer := scorerFunc(func(_ context.Context, q string, p []rerank.Passage) ([]float32, error) {
		query, seen = q, slices.Clone(p)
		return make([]float32, len(p)), nil
	})
	if _, err := rerank.Rerank(t.Context(), scorer, "what is it", in, rerank.Options{Depth: new(2)}); err != nil {
		t.Fatal(err)
	}
	if query != "what is it" || len(seen) != 2 || seen[0].Text != "text of a" || !slices.Equal(seen[1].Tokens, []uint32{7, 8}) {
		t.Errorf("scorer saw %q, %+v", query, seen)
	}
}

func TestDepth(t *testing.T) {
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("d%02d", i))
	}
	for _, tt := range []struct {
		opts rerank.Options
		want int
	}{{rerank.Options{}, 20}, {rerank.Options{Depth: new(1)}, 1}, {rerank.Options{Depth: new(30)}, 30}, {rerank.Options{Depth: new(math.MaxInt)}, 30}} {
		scored := 0
		scorer := scorerFunc(func(_ context.Context, _ string, p []rerank.Passage) ([]float32, error) {
			scored = len(p)
			return make([]float32, len(p)), nil
		})
		got, err := rerank.Rerank(t.Context(), scorer, "q", candidates(many...), tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		if scored != tt.want || tt.opts.Window(30) != tt.want || len(got) != 30 {
			t.Errorf("scored %d, window %d, want %d; %d items, want 30", scored, tt.opts.Window(30), tt.want, len(got))
		}
	}
}

func TestPartialAnswerOrdersWhatWasScored(t *testing.T) {
	for scored, want := range []string{"a b c d", "a b c d", "b a c d", "c b a d"} {
		scorer := scorerFunc(func(_ context.Context, _ string, p []rerank.Passage) ([]float32, error) {
			return []float32{1, 2, 3}[:min(scored, len(p))], nil
		})
		got, err := rerank.Rerank(t.Context(), scorer, "q", candidates("a", "b", "c", "d"), rerank.Options{Depth: new(3), Partial: true})
		if err != nil || ids(got) != want {
			t.Errorf("%d scored: order %q, error %v, want %q", scored, ids(got), err, want)
		}
		for i, item := range got {
			if item.Scored != (i < scored) || item.To != i+1 {
				t.Errorf("%d scored: item %d is %+v", scored, i+1, item)
			}
		}
	}
}

func TestTiesComeByID(t *testing.T) {
	scorer := byText(map[string]float32{"text of b": 1, "text of c": 1, "text of a": 1})
	got, err := rerank.Rerank(t.Context(), scorer, "q", candidates("b", "c", "a"), rerank.Options{})
	if err != nil || ids(got) != "a b c" {
		t.Errorf("order %q, error %v, want a b c", ids(got), err)
	}
}

// Logits far from 0 have probabilities that are equal in float64; the order
// must still be theirs.
func TestOrderIsByLogitWhereProbabilitiesAreEqual(t *testing.T) {
	scorer := byText(map[string]float32{"text of a": 40, "text of b": 41, "text of c": 42})
	got, err := rerank.Rerank(t.Context(), scorer, "q", candidates("a", "b", "c"), rerank.Options{})
	if err != nil || ids(got) != "c b a" {
		t.Fatalf("order %q, error %v, want c b a", ids(got), err)
	}
	if got[0].Probability != 1 || got[2].Probability != 1 {
		t.Errorf("probabilities %v and %v, want both 1: the test shows nothing", got[0].Probability, got[2].Probability)
	}
}

func TestNoCandidatesNoCall(t *testing.T) {
	scorer := scorerFunc(func(context.Context, string, []rerank.Passage) ([]float32, error) {
		t.Error("the scorer was called")
		return nil, nil
	})
	if got, err := rerank.Rerank(t.Context(), scorer, "q", nil, rerank.Options{}); err != nil || len(got) != 0 {
		t.Errorf("items %v, error %v, want neither", got, err)
	}
}

func TestRerankFails(t *testing.T) {
	answer := func(logits []float32, err error) rerank.Scorer {
		return scorerFunc(func(context.Context, string, []rerank.Passage) ([]float32, error) { return logits, err })
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	tests := []struct {
		name   string
		scorer rerank.Scorer
		ids    []string
		opts   rerank.Options
		code   braid.Code
		want   string
	}{
		{"depth 0", answer(nil, nil), []string{"a"}, rerank.Options{Depth: new(0)}, braid.InvalidArgument, "depth is 0"},
		{"id twice", answer(nil, nil), []string{"a", "b", "a"}, rerank.Options{}, braid.InvalidArgument, `"a" occurs twice, at positions 1 and 3`},
		{"NaN logit", answer([]float32{1, nan}, nil), []string{"a", "b"}, rerank.Options{}, braid.Corrupt, `"b", passage 2 of 2, is NaN: non-finite`},
		{"infinite logit", answer([]float32{inf, 1}, nil), []string{"a", "b"}, rerank.Options{}, braid.Corrupt, "non-finite"},
		{"too few logits", answer([]float32{1}, nil), []string{"a", "b"}, rerank.Options{}, braid.Corrupt, "1 logits for 2 passages"},
		{"too many logits", answer([]float32{1, 2, 3}, nil), []string{"a", "b"}, rerank.Options{}, braid.Corrupt, "3 logits for 2 passages"},
		{"too many logits of some", answer([]float32{1, 2, 3}, nil), []string{"a", "b"}, rerank.Options{Partial: true}, braid.Corrupt, "3 logits for 2 passages"},
		{"typed failure keeps its code", answer(nil, braid.Errorf(braid.Overloaded, "queue is full")), []string{"a"}, rerank.Options{}, braid.Overloaded, "rerank 1 passages: queue is full"},
		{"other failure is internal", answer(nil, errors.New("boom")), []string{"a"}, rerank.Options{}, braid.Internal, "boom"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := rerank.Rerank(t.Context(), tt.scorer, "q", candidates(tt.ids...), tt.opts)
			if err == nil {
				t.Fatalf("no error, items %+v", got)
			}
			if code := braid.CodeOf(err); code != tt.code {
				t.Errorf("code %s, want %s", code, tt.code)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("message %q lacks %q", err, tt.want)
			}
		})
	}
}

func TestEndOfContext(t *testing.T) {
	untilEnd := func(err error) rerank.Scorer {
		return scorerFunc(func(ctx context.Context, _ string, _ []rerank.Passage) ([]float32, error) {
			<-ctx.Done()
			if err == nil {
				err = ctx.Err()
			}
			return nil, err
		})
	}
	expired := func() (context.Context, context.CancelFunc) {
		return context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	}
	canceled := func() (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx, cancel
	}
	soon := func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(t.Context(), 50*time.Millisecond)
	}
	never := scorerFunc(func(context.Context, string, []rerank.Passage) ([]float32, error) {
		t.Error("the scorer was called after the end")
		return nil, nil
	})
	for _, tt := range []struct {
		name   string
		ctx    func() (context.Context, context.CancelFunc)
		scorer rerank.Scorer
		want   braid.Code
	}{
		{"expired before", expired, never, braid.DeadlineExceeded},
		{"canceled before", canceled, never, braid.Canceled},
		{"expires while scoring", soon, untilEnd(nil), braid.DeadlineExceeded},
		{"the scorer calls it something else", soon, untilEnd(errors.New("run terminated")), braid.DeadlineExceeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := tt.ctx()
			defer cancel()
			got, err := rerank.Rerank(ctx, tt.scorer, "q", candidates("a"), rerank.Options{})
			if err == nil || braid.CodeOf(err) != tt.want {
				t.Errorf("items %v, error %v with code %s, want code %s", got, err, braid.CodeOf(err), tt.want)
			}
		})
	}
}

// Nothing is lost, the window is a ranking by logit, the rest does not move.
func TestRerankIsAPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		in := make([]rerank.Candidate, n)
		logits := map[string]float32{}
		for i, id := range rapid.SliceOfNDistinct(rapid.IntRange(0, 99), n, n, rapid.ID).Draw(t, "ids") {
			in[i].ID = fmt.Sprintf("d%02d", id)
			in[i].Passage.Text = in[i].ID
			logits[in[i].ID] = rapid.OneOf(rapid.SampledFrom([]float32{-1, 0, 1}), rapid.Float32Range(-12, 12)).Draw(t, "logit")
		}
		depth := rapid.IntRange(1, 50).Draw(t, "depth")
		got, err := rerank.Rerank(t.Context(), byText(logits), "q", in, rerank.Options{Depth: &depth})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != n {
			t.Fatalf("%d items from %d candidates", len(got), n)
		}
		for i, item := range got {
			if item.To != i+1 || in[item.From-1].ID != item.ID {
				t.Fatalf("item %+v stands at %d and came from another place", item, i+1)
			}
			if inWindow := i < depth; item.Scored != inWindow || inWindow && item.Logit != logits[item.ID] {
				t.Fatalf("item %+v, depth %d, logit %v", item, depth, logits[item.ID])
			}
			if i >= depth && item.From != item.To {
				t.Fatalf("item %+v outside the window moved", item)
			}
			if i > 0 && i < depth {
				before := got[i-1]
				if before.Logit < item.Logit || before.Logit == item.Logit && before.ID > item.ID {
					t.Fatalf("%+v stands before %+v", before, item)
				}
			}
		}
	})
}

func TestProbability(t *testing.T) {
	for logit, want := range map[float32]float64{
		0: 0.5, 1: 0.7310585786300049, -1: 0.2689414213699951,
		9.33: 0.99991128, -11.11: 1.4961e-5, // a good and a bad answer of the MS MARCO cross-encoder
		math.MaxFloat32: 1, -math.MaxFloat32: 0,
	} {
		if got := rerank.Probability(logit); math.Abs(got-want) > 1e-8 {
			t.Errorf("probability of %v is %v, want %v", logit, got, want)
		}
	}
	if got := rerank.Probability(-100); got == 0 || math.Abs(got/3.720075976020836e-44-1) > 1e-12 {
		t.Errorf("probability of -100 is %v, want e^-100 with all digits", got)
	}
}

func TestProbabilityNeverFalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float32Range(-200, 200).Draw(t, "a"), rapid.Float32Range(-200, 200).Draw(t, "b")
		pa, pb := rerank.Probability(min(a, b)), rerank.Probability(max(a, b))
		if !(0 <= pa && pa <= pb && pb <= 1) {
			t.Fatalf("probabilities %v and %v of logits %v and %v", pa, pb, min(a, b), max(a, b))
		}
	})
}

// TestWeightSharesTheOrder: at 0 the first stage decides, at 1 the cross-encoder,
// in between the sum of what both say, each scaled over the scored candidates.
func TestWeightSharesTheOrder(t *testing.T) {
	scorer := byText(map[string]float32{"text of a": -4, "text of b": 4, "text of c": 2, "text of d": 9})
	list := candidates("a", "b", "c", "d")
	for i, score := range []float64{3, 2, 1.5, 1} {
		list[i].Score = score
	}
	for _, c := range []struct {
		weight float64
		want   string
		scores []float64
	}{
		{0, "a b c d", []float64{1, 1.0 / 3, 0}},
		{0.25, "a b c d", []float64{0.75, 0.5, 0.25 * 0.75}},
		{0.75, "b c a d", []float64{0.75 + 0.25/3, 0.75 * 0.75, 0.25}},
	} {
		got, err := rerank.Rerank(t.Context(), scorer, "q", list, rerank.Options{Depth: new(3), Weight: &c.weight})
		if err != nil || ids(got) != c.want {
			t.Errorf("weight %v: %q, error %v, want %q", c.weight, ids(got), err, c.want)
			continue
		}
		for i, want := range c.scores {
			if d := got[i].Score - want; d > 1e-12 || d < -1e-12 {
				t.Errorf("weight %v: %s has score %v, want %v", c.weight, got[i].ID, got[i].Score, want)
			}
		}
	}
	for _, weight := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := rerank.Rerank(t.Context(), scorer, "q", list, rerank.Options{Weight: &weight}); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("weight %v: error %v, want InvalidArgument", weight, err)
		}
	}
	// Equal judgements and scores: by id.
	same := byText(map[string]float32{"text of a": 1, "text of b": 1})
	got, err := rerank.Rerank(t.Context(), same, "q", candidates("b", "a"), rerank.Options{Weight: new(0.5)})
	if err != nil || ids(got) != "a b" || got[0].Score != 1 {
		t.Errorf("equal: %+v, error %v", got, err)
	}
}
