package report

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	values := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0: 1, 0.5: 2, 0.51: 3, 0.95: 4, 1: 4} {
		if got := Quantile(values, q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if got, want := Quantiles([][]float64{{1, 2}, {5, 6}, {3, 4}}, 1, 10), (Figure{40, 20, 60}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWrittenIsRead(t *testing.T) {
	type report struct {
		Circumstances
		Figure Figure  `json:"figure"`
		Charts []Chart `json:"charts"`
	}
	out := filepath.Join(t.TempDir(), "report")
	var read report
	if err := Read(out, &read); err != nil {
		t.Errorf("there is none: %v", err)
	}
	written := report{Circumstances: Circumstances{Commit: "c", Taken: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)}, Figure: Figure{2, 1, 3}}
	written.Charts = []Chart{{Name: "curve", Title: "a curve", Lines: []Line{{Name: "one", Points: [][2]float64{{1, 2}}}}}}
	d := NewDocument("Title", written.Circumstances)
	d.Table("Heading", "a", "b")
	d.Row("1", written.Figure.String())
	d.Charts("report", written.Charts)
	if err := Write(out, written, d.String()); err != nil {
		t.Fatal(err)
	}
	if err := Read(out, &read); err != nil || read.Figure != written.Figure || read.Commit != "c" || read.Charts[0].Lines[0].Points[0] != [2]float64{1, 2} {
		t.Errorf("read %+v, error %v", read, err)
	}
	for _, want := range []string{"# Title, 2026-01-02 03:04 UTC\n", "| a | b |\n| --- | --- |\n| 1 | 2 (1–3) |", "![a curve](report-curve.svg)"} {
		if !strings.Contains(d.String(), want) {
			t.Errorf("lacks %q:\n%s", want, d)
		}
	}
}
