package search

import (
	"errors"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/braid-search/braid"
)

// validate reports what is wrong with the request itself, whatever the collection
// and its profile; nil if nothing is.
func (r Request) validate() error {
	if err := validateText("query", r.Query); err != nil {
		return err
	}
	mode := r.mode()
	if !slices.Contains(Modes(), mode) {
		return braid.Errorf(braid.InvalidArgument, "mode %q is unknown: use dense, sparse, lexical or hybrid", r.Mode).In("mode")
	}
	if err := r.validateWordings(mode); err != nil {
		return err
	}
	if err := r.validateNumbers(); err != nil {
		return err
	}
	if err := r.Fusion.validate(mode, r.fuses()); err != nil {
		return err
	}
	if r.Filter != nil {
		if err := r.Filter.Validate(); err != nil {
			return err
		}
	}
	if err := r.validateGroupBy(); err != nil {
		return err
	}
	return r.validateExplain()
}

// validateNumbers looks at all that have bounds of their own.
func (r Request) validateNumbers() error {
	for _, part := range []struct {
		field string
		given *float64
	}{{"min_confidence", r.MinConfidence}, {"rerank_weight", r.RerankWeight}} {
		if v := part.given; v != nil && !(*v >= 0 && *v <= 1) {
			return braid.Errorf(braid.InvalidArgument, "%s is %v, want 0 to 1", part.field, *v).In(part.field)
		}
	}
	if r.MinScore != nil && math.IsNaN(*r.MinScore) {
		return braid.Errorf(braid.InvalidArgument, "min_score is not a number").In("min_score")
	}
	for _, count := range []struct {
		field string
		given *int
		max   int
	}{
		{"budget_ms", r.BudgetMS, MaxBudgetMS},
		{"limit", r.Limit, MaxLimit},
		{"candidates", r.Candidates, MaxCandidates},
		{"rerank_depth", r.RerankDepth, MaxRerankDepth},
	} {
		if n := count.given; n != nil && (*n < 1 || *n > count.max) {
			return braid.Errorf(braid.InvalidArgument, "%s is %d, want 1 to %d", count.field, *n, count.max).In(count.field)
		}
	}
	if w := r.RerankWindow; w != nil && *w != 0 && (*w < MinRerankWindow || *w > MaxRerankWindow) {
		return braid.Errorf(braid.InvalidArgument, "rerank_window is %d, want %d to %d, or 0 for whole passages", *w, MinRerankWindow, MaxRerankWindow).In("rerank_window")
	}
	return nil
}

// validateText reports what is wrong with a text that stands in field.
func validateText(field, text string) error {
	switch {
	case len(text) > MaxQueryBytes:
		return braid.Errorf(braid.TooLarge, "%s is %d bytes, the limit is %d: shorten it", field, len(text), MaxQueryBytes).In(field)
	case !utf8.ValidString(text):
		return braid.Errorf(braid.InvalidArgument, "%s is not valid UTF-8", field).In(field)
	case strings.TrimSpace(text) == "":
		return braid.Errorf(braid.InvalidArgument, "%s is empty", field).In(field)
	}
	return nil
}

func (f *Fusion) validate(mode Mode, fuses bool) error {
	if f == nil {
		return nil
	}
	if !fuses {
		return braid.Errorf(braid.InvalidArgument, "fusion applies to mode hybrid, and to variants; this is mode %s without any", mode).In("fusion")
	}
	var sum float64
	for _, branch := range braid.Branches() {
		sum += f.weight(branch)
	}
	for branch, w := range f.Weights {
		if !slices.Contains(braid.Branches(), branch) {
			return unknownBranch(branch)
		}
		if !(w >= 0) || math.IsInf(w, 0) {
			return braid.Errorf(braid.InvalidArgument, "fusion.weights.%s is %v, want a finite number of at least 0", branch, w).In("fusion.weights." + string(branch))
		}
	}
	if sum == 0 {
		return braid.Errorf(braid.InvalidArgument, "fusion.weights are all 0: at least one branch must have a vote").In("fusion.weights")
	}
	var e *braid.Error
	if err := f.options().Validate(); errors.As(err, &e) {
		return e.In("fusion." + e.Field)
	}
	return nil
}
