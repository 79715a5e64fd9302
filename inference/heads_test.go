package inference

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/braid-search/braid"
)

// mixed returns n different texts of 1 to 40 words, many of equal length.
func mixed(n int) []string {
	words := strings.Fields("harbour crane moved quay dawn storm warning pump seal valve error museum lantern tram gate schedule")
	texts := make([]string, n)
	for i := range texts {
		var text []string
		for j := range 1 + (i*7)%40 {
			text = append(text, words[(i+j*j)%len(words)])
		}
		texts[i] = strings.Join(text, " ")
	}
	return texts
}

// encoder is one head under test: it returns the bits of each text's result.
type encoder struct {
	name   string
	encode func(ctx context.Context, lane Lane, texts []string) ([]string, error)
}

func openEncoders(t *testing.T, r *Runtime) []encoder {
	dense, sparse, pair := openDense(t, r), openSparse(t, r), openPair(t, r)
	return []encoder{
		{"dense", func(ctx context.Context, lane Lane, texts []string) (bits []string, err error) {
			results, _, err := dense.Embed(ctx, Request{Texts: texts, Lane: lane, Role: RolePassage})
			for _, e := range results {
				bits = append(bits, fmt.Sprintf("%x", e.Vector))
			}
			return bits, err
		}},
		{"sparse", func(ctx context.Context, lane Lane, texts []string) (bits []string, err error) {
			results, _, err := sparse.Expand(ctx, Request{Texts: texts, Lane: lane, Role: RolePassage})
			for _, e := range results {
				bits = append(bits, fmt.Sprintf("%d %x", e.Vector.Indices, e.Vector.Values))
			}
			return bits, err
		}},
		{"pair", func(ctx context.Context, lane Lane, texts []string) (bits []string, err error) {
			passages := make([]Passage, len(texts))
			for i, text := range texts {
				passages[i].Text = text
			}
			results, _, err := pair.Score(ctx, PairRequest{Query: "which crane moved", Passages: passages, Lane: lane})
			for _, s := range results {
				bits = append(bits, fmt.Sprintf("%x", math.Float32bits(s.Logit)))
			}
			return bits, err
		}},
	}
}

// A text's result has the same bits alone, in any list and beside other
// callers.
func TestResultsDoNotDependOnBatchMates(t *testing.T) {
	texts := mixed(64)
	for _, e := range openEncoders(t, openRuntime(t, Options{Slots: 4})) {
		t.Run(e.name, func(t *testing.T) {
			ctx := context.Background()
			var alone []string
			for _, text := range texts {
				bits, err := e.encode(ctx, LaneQuery, []string{text})
				if err != nil {
					t.Fatal(err)
				}
				alone = append(alone, bits...)
			}
			same := func(lane Lane, from, to int) {
				bits, err := e.encode(ctx, lane, texts[from:to])
				if err != nil {
					t.Errorf("texts %d to %d: %v", from, to, err)
					return
				}
				for i := range bits {
					if bits[i] != alone[from+i] {
						t.Errorf("text %d differs among texts %d to %d", from+i, from, to)
					}
				}
			}
			same(LaneQuery, 0, 64)
			for from := 0; from+7 <= len(texts); from += 7 {
				same(LaneQuery, from, from+7)
			}
			var callers sync.WaitGroup
			for i := range 16 {
				callers.Go(func() { same(Lane(i%2), 3*i, 3*i+2+i%8) })
			}
			callers.Wait()
		})
	}
}

// Texts of equal length do share runs of a model that is not quantised, or the
// test above would prove nothing of batches.
func TestSparseRunsShareUnits(t *testing.T) {
	s := openSparse(t, openRuntime(t, Options{}))
	sequences, _, err := s.head.tokenise(context.Background(), Request{Texts: mixed(64)})
	if err != nil {
		t.Fatal(err)
	}
	lengths := make([]int, len(sequences))
	for i, seq := range sequences {
		lengths[i] = len(seq.ids)
	}
	if units := pack(lengths, s.head.batchTokens, false); len(units) == 0 || len(units) > 48 {
		t.Errorf("64 texts make %d units, want several texts a unit", len(units))
	}
}

func TestBadRequests(t *testing.T) {
	r := openRuntime(t, Options{})
	ctx := context.Background()
	for _, e := range openEncoders(t, r) {
		_, err := e.encode(ctx, LaneQuery, nil)
		wantFault(t, err, braid.InvalidArgument, "at least one")
		_, err = e.encode(ctx, LaneQuery, []string{"fine", "cut \xc3"})
		wantFault(t, err, braid.InvalidArgument, " 1 is not valid UTF-8")
		done, cancel := context.WithCancel(ctx)
		cancel()
		_, err = e.encode(done, LaneIngest, []string{"fine"})
		wantFault(t, err, braid.Canceled)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the cause of %v is lost", e.name, err)
		}
	}
	pair := openPair(t, r)
	_, _, err := pair.Score(ctx, PairRequest{Query: "\xff", Passages: []Passage{{Text: "fine"}}, Lane: LaneQuery})
	wantFault(t, err, braid.InvalidArgument, "query is not valid UTF-8")
	_, err = pair.Tokens(ctx, []string{"fine", "\xff"})
	wantFault(t, err, braid.InvalidArgument, "text 1 is not valid UTF-8")
	// Ids of another vocabulary are an error, not a read past the embeddings.
	_, _, err = pair.Score(ctx, PairRequest{Query: "query", Passages: []Passage{{Tokens: []uint32{1 << 30}}}, Lane: LaneQuery})
	wantFault(t, err, braid.Internal, "ms-marco-minilm-l12-v2")
	if _, _, err := pair.Score(ctx, PairRequest{Query: "query", Passages: []Passage{{Text: "fine"}}, Lane: LaneQuery}); err != nil {
		t.Errorf("after a failed run: %v", err)
	}
}

func TestRolesUseTheirPrefixes(t *testing.T) {
	d := openDense(t, openRuntime(t, Options{}))
	ctx := context.Background()
	query, _, err := d.Embed(ctx, Request{Texts: []string{"reset the pump"}, Role: RoleQuery})
	if err != nil {
		t.Fatal(err)
	}
	passage, _, err := d.Embed(ctx, Request{Texts: []string{"reset the pump"}, Role: RolePassage})
	if err != nil {
		t.Fatal(err)
	}
	prefixed, _, err := d.Embed(ctx, Request{Texts: []string{d.head.model.QueryPrefix + "reset the pump"}, Role: RolePassage})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(query[0].Vector, prefixed[0].Vector) || query[0].Usage != prefixed[0].Usage {
		t.Error("a query is not its prefix and its text")
	}
	if slices.Equal(query[0].Vector, passage[0].Vector) {
		t.Error("query and passage have the same vector, though the model has a query prefix")
	}
}

func TestCloseWaitsForCallsAndRefusesLaterOnes(t *testing.T) {
	r := openRuntime(t, Options{})
	encoders := openEncoders(t, r)
	texts := mixed(32)
	var callers sync.WaitGroup
	for _, e := range encoders {
		for range 4 {
			callers.Go(func() {
				for {
					bits, err := e.encode(context.Background(), LaneIngest, texts)
					if braid.CodeOf(err) == braid.Unavailable {
						return
					}
					if err != nil || len(bits) != len(texts) {
						t.Errorf("%s during close: %d results, %v", e.name, len(bits), err)
						return
					}
				}
			})
		}
	}
	callers.Go(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	callers.Wait()
	_, err := r.NewDense(openModel(t, "bge-small-en-v1.5"))
	wantFault(t, err, braid.Unavailable, "closed")
	_, err = (&Pair{head: r.heads[2]}).Tokens(context.Background(), texts)
	wantFault(t, err, braid.Unavailable, "closed")
	if info := r.Info(); len(info.Models) != 3 {
		t.Errorf("info of a closed runtime: %+v", info)
	}
}

func TestOverloadReachesTheCaller(t *testing.T) {
	r := openRuntime(t, Options{Slots: 1, QueueTokens: 8})
	sparse := openSparse(t, r)
	release := occupy(r.scheduler)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if _, _, err := sparse.Expand(context.Background(), Request{Texts: []string{"harbour crane"}}); err != nil {
			t.Error(err)
		}
	})
	for r.Info().Queue.QueryTokens == 0 {
		runtime.Gosched()
	}
	_, _, err := sparse.Expand(context.Background(), Request{Texts: []string{"a big fat potato"}})
	wantFault(t, err, braid.Overloaded, "retry")
	release()
	waiting.Wait()
}

func TestWholeRefusesWhatWouldBeCut(t *testing.T) {
	r := openRuntime(t, Options{})
	dense, sparse, pair := openDense(t, r), openSparse(t, r), openPair(t, r)
	long := strings.Repeat("water ", 600)
	for _, tc := range []struct {
		name string
		run  func(whole bool, text string) error
	}{
		{"dense", func(whole bool, text string) error {
			_, _, err := dense.Embed(t.Context(), Request{Texts: []string{"fine", text}, Whole: whole})
			return err
		}},
		{"sparse", func(whole bool, text string) error {
			_, _, err := sparse.Expand(t.Context(), Request{Texts: []string{"fine", text}, Whole: whole})
			return err
		}},
		{"pair", func(whole bool, text string) error {
			_, _, err := pair.Score(t.Context(), PairRequest{Query: "q", Passages: []Passage{{Text: "fine"}, {Text: text}}, Whole: whole})
			return err
		}},
	} {
		if err := tc.run(true, "short"); err != nil {
			t.Errorf("%s, whole and short: %v", tc.name, err)
		}
		if err := tc.run(false, long); err != nil {
			t.Errorf("%s, may be cut: %v", tc.name, err)
		}
		if err := tc.run(true, long); braid.CodeOf(err) != braid.TooLarge || !strings.Contains(err.Error(), " 1 has 6") {
			t.Errorf("%s, whole and long: %v", tc.name, err)
		}
	}
}

// TestLengthOneOfAnyModel asks a model whose vectors have any length for vectors
// of length 1, as search does.
func TestLengthOneOfAnyModel(t *testing.T) {
	r := openRuntime(t, Options{})
	m := *openModel(t, "bge-small-en-v1.5")
	m.Normalize = false
	d, err := r.NewDense(&m)
	if err != nil {
		t.Fatal(err)
	}
	lengths := map[Length]float64{}
	for _, length := range []Length{LengthOfManifest, LengthRaw, LengthOne} {
		out, _, err := d.Embed(t.Context(), Request{Texts: []string{"water"}, Length: length})
		if err != nil {
			t.Fatal(err)
		}
		lengths[length] = math.Sqrt(dot(out[0].Vector, out[0].Vector))
	}
	if lengths[LengthOfManifest] != lengths[LengthRaw] || math.Abs(lengths[LengthRaw]-1) < 0.01 || math.Abs(lengths[LengthOne]-1) > 1e-6 {
		t.Errorf("lengths are %v", lengths)
	}
}

func TestRawVectorsKeepTheirLength(t *testing.T) {
	dense := openDense(t, openRuntime(t, Options{}))
	unit, _, err := dense.Embed(t.Context(), Request{Texts: []string{"water"}})
	if err != nil {
		t.Fatal(err)
	}
	raw, _, err := dense.Embed(t.Context(), Request{Texts: []string{"water"}, Length: LengthRaw})
	if err != nil {
		t.Fatal(err)
	}
	if !normalise(raw[0].Vector) || !slices.Equal(raw[0].Vector, unit[0].Vector) {
		t.Error("the raw vector, normalised, is not the normalised one")
	}
	again, _, err := dense.Embed(t.Context(), Request{Texts: []string{"water"}, Length: LengthRaw})
	if err != nil {
		t.Fatal(err)
	}
	if length := math.Sqrt(dot(again[0].Vector, again[0].Vector)); math.Abs(length-1) < 0.01 {
		t.Errorf("the raw vector has length %v", length)
	}
}
