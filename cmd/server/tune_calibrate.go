package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/internal/tune"
)

// runCalibrate fits the confidence of answers under the collection's profile.
func (f *tuneFlags) runCalibrate(ctx context.Context, l *local, bench *tune.Bench, dataset *eval.Dataset, limit int, stdout, stderr io.Writer) error {
	models := l.set.Search()
	if models.Pair == nil {
		return braid.Errorf(braid.Unavailable, "--calibrate: no reranker is loaded: start with --reranker NAME")
	}
	bar := newProgress(stderr, "calibrating", 0)
	defer bar.finish()
	c, err := tune.Calibrate(ctx, bench, bench.Start(), dataset.Queries, dataset.Unanswerable, tune.CalibrationOptions{
		Reranker: models.PairRef, HeldOut: f.heldOut, Seed: f.seed, Limit: limit,
		Progress: func(asked, total int) { bar.to(int64(asked), int64(total)) },
	})
	if err != nil {
		return err
	}
	bar.finish()
	if err := f.printCalibration(stdout, c); err != nil {
		return err
	}
	profile := bench.Start()
	profile.Calibration = &c.Calibration
	if err := f.write(profile); err != nil || !f.apply {
		return err
	}
	if !c.Useful() {
		return worseError{fmt.Sprintf("the calibration is not applied: on the answers held out it errs more (Brier score %.4f) than one probability for all (%.4f)", c.Brier, c.Base)}
	}
	return f.set(context.WithoutCancel(ctx), l.Service, profile, stderr)
}

func (f *tuneFlags) printCalibration(out io.Writer, c *tune.Calibrated) error {
	if f.asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(c)
	}
	made := "labelled as such"
	if c.Removed {
		made = "made by removing the relevant documents"
	}
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(w, "fitted on\theld out\twith an answer\tAUC\tECE\tBrier\tone for all\t\n")
	_, _ = fmt.Fprintf(w, "%d\t%d\t%.1f %%\t%.4f\t%.4f\t%.4f\t%.4f\t\n\n", c.Dev, c.HeldOut, 100*c.Found, c.AUC, c.ECE, c.Brier, c.Base)
	_, _ = fmt.Fprintf(w, "held out answers\tconfidence\tfound something\t\n")
	for _, b := range c.Bins {
		_, _ = fmt.Fprintf(w, "%d\t%.3f\t%.3f\t\n", b.Answers, b.Confidence, b.Found)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	p := printer{out: out}
	p.line("\nqueries that nothing answers: %s; the probability holds for as many of them as here", made)
	p.json(c.Calibration)
	return p.err
}
