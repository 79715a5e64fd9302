package bench

import (
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/braid-search/braid"
)

// LoadSVG draws latency against the rate of arrivals: a line a workload and
// quantile, on a logarithmic scale. It fails with braid.NotFound when
// the report has no loads.
func (r *Report) LoadSVG(w io.Writer) error {
	if len(r.Loads) == 0 {
		return braid.Errorf(braid.NotFound, "the report has no loads to draw: run the part %s", Load)
	}
	p := plot.New()
	p.Title.Text = "Latency of searches that arrive by themselves, from the moment each was due"
	p.X.Label.Text = "arrivals, % of the capacity"
	p.Y.Label.Text = "milliseconds"
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	hues := []color.Color{color.RGBA{R: 31, G: 119, B: 180, A: 255}, color.RGBA{R: 214, G: 90, B: 20, A: 255}}
	dashes := [][]vg.Length{nil, {vg.Points(6), vg.Points(3)}, {vg.Points(2), vg.Points(3)}}
	for n, workload := range r.loadWorkloads() {
		for q, of := range []struct {
			name string
			of   func(RateLoad) float64
		}{{"p50", func(l RateLoad) float64 { return l.P50.Median }}, {"p95", func(l RateLoad) float64 { return l.P95.Median }}, {"p99", func(l RateLoad) float64 { return l.P99.Median }}} {
			var points plotter.XYs
			for _, l := range r.Loads {
				if l.Workload == workload {
					points = append(points, plotter.XY{X: 100 * l.Share, Y: of.of(l)})
				}
			}
			line, err := plotter.NewLine(points)
			if err != nil {
				return fmt.Errorf("draw loads: %w", err)
			}
			line.Color, line.Dashes, line.Width = hues[n%len(hues)], dashes[q], vg.Points(1.5)
			p.Add(line)
			p.Legend.Add(workload+", "+of.name, line)
		}
	}
	drawing, err := p.WriterTo(18*vg.Centimeter, 11*vg.Centimeter, "svg")
	if err != nil {
		return fmt.Errorf("draw loads: %w", err)
	}
	if _, err := drawing.WriteTo(w); err != nil {
		return fmt.Errorf("write drawing: %w", err)
	}
	return nil
}
