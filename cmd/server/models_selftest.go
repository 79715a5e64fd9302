package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/models"
)

// selfTestConfig says how a model that was just added is run.
type selfTestConfig struct {
	noTest  bool
	library string
}

func (c *selfTestConfig) register(flags *pflag.FlagSet) {
	flags.BoolVar(&c.noTest, "no-test", false, "do not run the model before reporting success")
	flags.StringVar(&c.library, "onnxruntime", "", "libonnxruntime to load (default: in .local/lib here or beside the binary)")
}

// Two texts that no model worth adding takes for the same.
const (
	oneText   = "How do I reset the pump?"
	otherText = "The museum is closed on Mondays."
)

// selfTest runs the model on real texts and says what came of it.
func (c *selfTestConfig) selfTest(ctx context.Context, m *models.Model) (_ string, err error) {
	if c.noTest {
		return "skipped", nil
	}
	library := c.library
	if library == "" {
		if library, err = inference.FindLibrary(besideBinary("lib")...); err != nil {
			return "", err
		}
	}
	runtime, err := inference.Open(inference.Options{Library: library})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, runtime.Close()) }()
	test := map[models.Kind]func(context.Context, *inference.Runtime, *models.Model) (string, error){
		models.Dense: testDense, models.Sparse: testSparse, models.CrossEncoder: testPair,
	}[m.Kind]
	begun := time.Now()
	outcome, err := test(ctx, runtime, m)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, loaded and run in %d ms", outcome, time.Since(begun).Milliseconds()), nil
}

func testDense(ctx context.Context, r *inference.Runtime, m *models.Model) (string, error) {
	head, err := r.NewDense(m)
	if err != nil {
		return "", err
	}
	got, _, err := head.Embed(ctx, inference.Request{Texts: []string{oneText, otherText}, Role: inference.RolePassage})
	if err != nil {
		return "", err
	}
	if slices.Equal(got[0].Vector, got[1].Vector) {
		return "", sameOutputs("vector")
	}
	return fmt.Sprintf("%d dimensions, %d tokens read", len(got[0].Vector), got[0].Tokens), nil
}

func testSparse(ctx context.Context, r *inference.Runtime, m *models.Model) (string, error) {
	head, err := r.NewSparse(m)
	if err != nil {
		return "", err
	}
	got, _, err := head.Expand(ctx, inference.Request{Texts: []string{oneText, otherText}, Role: inference.RolePassage})
	if err != nil {
		return "", err
	}
	query, _, err := head.Expand(ctx, inference.Request{Texts: []string{oneText}, Role: inference.RoleQuery})
	if err != nil {
		return "", err
	}
	first, second := got[0].Vector, got[1].Vector
	if slices.Equal(first.Indices, second.Indices) && slices.Equal(first.Values, second.Values) {
		return "", sameOutputs("expansion")
	}
	if len(query[0].Vector.Indices) == 0 {
		return "", braid.Errorf(braid.Corrupt, "a query gets no weight at all: the token weights and the tokenizer do not belong together")
	}
	return fmt.Sprintf("passage of %d weights, query of %d", len(first.Indices), len(query[0].Vector.Indices)), nil
}

func testPair(ctx context.Context, r *inference.Runtime, m *models.Model) (string, error) {
	head, err := r.NewPair(m)
	if err != nil {
		return "", err
	}
	got, _, err := head.Score(ctx, inference.PairRequest{Query: oneText, Passages: []inference.Passage{{Text: "To reset the pump, hold the red button."}, {Text: otherText}}})
	if err != nil {
		return "", err
	}
	if got[0].Logit == got[1].Logit {
		return "", sameOutputs("logit")
	}
	return fmt.Sprintf("logit %.3f for a fitting passage, %.3f for another", got[0].Logit, got[1].Logit), nil
}

func sameOutputs(what string) error {
	return braid.Errorf(braid.Corrupt, "two different texts get the very same %s: the graph or its output is not the right one (see --file and --output)", what)
}
