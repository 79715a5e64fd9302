package bench

import (
	"strings"
	"testing"
)

func TestAtOnceOver(t *testing.T) {
	of := func(name string, ms ...float64) *contestant {
		c := &contestant{name: name}
		for _, v := range ms {
			c.rounds = append(c.rounds, []float64{v, v, v})
		}
		return c
	}
	both := of("both", 4, 5, 6)
	a := atOnceOver("2 cores", 0.5, both, of("dense", 2, 5, 3), []*contestant{of("own", 8, 10, 12), of("spinning", 5, 5, 5), of("slow", 9, 9, 9)})
	if a.OverDense.Median != 2 || a.OverDense.Min != 1 || a.OverSerial.Min != 0.5 || a.OverSerial.Max != 0.5 {
		t.Errorf("over dense alone %+v, over serial %+v", a.OverDense, a.OverSerial)
	}
	if a.Best != "spinning" || a.OverBest.Median != 1 || a.OverBest.Max != 1.2 {
		t.Errorf("the best is %s: %+v", a.Best, a.OverBest)
	}
	var d document
	d.atOnce(&Report{AtOnce: []AtOnce{a, atOnceOver("1 core", 0.95, both, both, []*contestant{of("own", 3, 4, 7)})}})
	for _, want := range []string{"| 2 cores | p50 | 2.00 (1.00–2.00) |", "yes: slower in 1 of 3 rounds", "**no**: slower in 2 of 3 rounds"} {
		if !strings.Contains(d.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, d.String())
		}
	}
}
