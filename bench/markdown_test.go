package bench

import (
	"strings"
	"testing"
	"time"
)

// A report shows losses as plainly as gains, and what was not run.
func TestMarkdown(t *testing.T) {
	share := 0.004
	r := Report{
		Taken: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Commit: "abc", Models: map[string]string{"m": "0123456789abcdef"},
		Machine: Machine{Processor: "A processor", Cores: 2, Features: []string{"avx2"}},
		Parts:   []Part{{Name: Libraries, LoadBefore: 0.5, LoadAfter: 2.1, Others: 0.03}},
		Comparisons: []Comparison{
			pairUp(Libraries, "passages", metric{"passages/s", true}, "braid", "peer", []float64{8, 8, 8}, []float64{10, 10, 10}),
			pairUp(Isolation, "a query", metric{"p95 ms", false}, "idle", "busy", []float64{2}, []float64{5}),
		},
		Memory:      []Memory{{Contender: "braid", Workload: "passages", After: 200, Peak: 300, Start: 1.25}},
		Saturations: []Saturation{{"queries", 16, figure([]float64{1.9}), figure([]float64{1.1})}},
		Stages:      []Stage{{"hybrid", "rerank", figure([]float64{100}), figure([]float64{150})}},
		IdleShare:   &share,
		Soak:        []Sample{{30, 250}, {61, 300}, {125, 330}},
		NotRun:      []string{"a peer: not installed"},
	}
	var text strings.Builder
	if err := r.Markdown(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"commit abc, ", "A processor, 2 cores (avx2)", "model m, 0123456789ab\n", "| libraries | 0 | 0.5, 2.1 | 3 % | 0 % |",
		"| passages | passages/s | braid | 8.00 (8.00–8.00) | peer | 10.0 (10.0–10.0) | **0.80 (0.80–0.80)** |",
		"| a query | p95 ms | idle | 2.00 (2.00–2.00) | busy | 5.00 (5.00–5.00) | **2.50 (2.50–2.50)** |",
		"| braid | passages | 200 | 300 | 1.2 |", "| queries | 16 | 1.90", "| hybrid | rerank | 100 (100–100) | 150 (150–150) |",
		"0.40 % of one core", "| 125 s | 330 | 1.10 |", "- a peer: not installed",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}
}
