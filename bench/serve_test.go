package bench

import "testing"

func TestMetricOf(t *testing.T) {
	const text = "# TYPE tokens histogram\ntokens_sum{model=\"ab\"} 5\ntokens_sum{model=\"a\"} 1.5e+03\nodd many\n"
	for name, want := range map[string]float64{`tokens_sum{model="a"}`: 1500, `tokens_sum{model="ab"}`: 5, "absent": 0} {
		if got, err := metricOf(text, name); err != nil || got != want {
			t.Errorf("%s is %v, %v, want %v", name, got, err, want)
		}
	}
	if _, err := metricOf(text, "odd"); err == nil {
		t.Error("a value that is no number is read")
	}
}
