package bench

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid/internal/testenv"
)

func TestParseCPUs(t *testing.T) {
	for list, want := range map[string][]string{"0": {"0"}, "0-2,5": {"0", "1", "2", "5"}} {
		if got, err := parseCPUs(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v, want %q", list, got, err, want)
		}
	}
	for _, list := range []string{"", "a", "3-1", "1-"} {
		if got, err := parseCPUs(list); err == nil {
			t.Errorf("%q: got %q, want an error", list, got)
		}
	}
}

// Braid's ways are measured on one core and on all, the plans of bare
// onnxruntime where it is installed.
func TestConcurrency(t *testing.T) {
	names := []string{}
	if _, err := os.Stat((Config{Root: testenv.Root()}).python("onnxruntime")); err == nil {
		names = append(names, ".local/venv/onnxruntime")
	}
	cfg := checkout(t, names...)
	cfg.Parts = []string{Concurrency}
	report, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	cpus, err := allowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	circumstances := 1
	if len(cpus) > 1 {
		circumstances = 4
	}
	want := 4 * circumstances // braid's ways
	if len(names) > 0 {
		want += 3 // the plan of one core
		if len(cpus) > 1 {
			want += 3 * 9
		}
	}
	if len(report.Generation) != want {
		t.Errorf("%d rows, want %d: %+v", len(report.Generation), want, report.Generation)
	}
	for _, s := range report.Generation {
		if s.P50.Min <= 0 || len(s.P50.Rounds) != cfg.Rounds || s.P95.Median < s.P50.Median {
			t.Errorf("%s, %s: %+v, %+v", s.Mode, s.Stage, s.P50, s.P95)
		}
	}
	if len(report.AtOnce) != 2*circumstances {
		t.Errorf("%d rows of vectors at once, want p50 and p95 for each circumstance", len(report.AtOnce))
	}
	var text strings.Builder
	if err := report.Markdown(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## Both vectors of a query", "| vectors of a query, 1 core | p50 ms | braid: dense alone |", "braid: dense and sparse at once", circumstance{cores: len(cpus), busy: len(cpus) > 1}.String()} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report does not have %q", want)
		}
	}
}
