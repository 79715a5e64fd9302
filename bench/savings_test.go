package bench

import (
	"strings"
	"testing"
)

// The table joins times and answers, and compares with the fastest peer.
func TestSavingsAgainstTheFastestPeer(t *testing.T) {
	r := &run{report: &Report{Answers: []Answers{
		{Corpus: "c", Contender: "a peer", Work: "window", NDCG: 0.9},
		{Corpus: "c", Contender: braidServe, Work: "window", NDCG: 0.5, Difference: -0.001, Error: 0.002, Queries: 7},
	}}}
	of := func(name string, ms ...float64) *timedSide { return &timedSide{name: name, p50: ms} }
	r.tellSavings(&corpus{name: "c"}, []*timedSide{of("whole", 100, 120), of("window", 50, 40)}, []*timedSide{of("slow", 300, 310), of("fast", 90, 110)})
	r.tellSavings(&corpus{name: "alone"}, []*timedSide{of("whole", 100, 120)}, nil)
	if s := r.report.Savings[1]; s.Peer != "fast" || s.OverPeer.Min != 1.8 || s.OverWhole.Max != 3 {
		t.Errorf("the saving is %+v", s)
	}
	var d document
	d.savings(r.report)
	for _, want := range []string{
		"| c | window | 45.0 (40.0–50.0) | 2.50 (2.00–3.00) | **2.27 (1.80–2.75)** | fast | 100 (90.0–110) | 0.5000 | -0.0010 ± 0.0020 (7 queries) |",
		"| alone | whole | 110 (100–120) | 1.00 (1.00–1.00) | – | – | – | – | – |",
	} {
		if !strings.Contains(d.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, d.String())
		}
	}
}
