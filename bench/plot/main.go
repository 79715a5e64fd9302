package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// chart is bench/report's Chart.
type chart struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	X     axis   `json:"x"`
	Y     axis   `json:"y"`
	Lines []struct {
		Name   string       `json:"name"`
		Points [][2]float64 `json:"points"`
	} `json:"lines"`
}

type axis struct {
	Label string `json:"label"`
	Log   bool   `json:"log"`
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "bench/plot: want the JSON files of reports")
		os.Exit(2)
	}
	for _, path := range os.Args[1:] {
		if err := drawAll(path); err != nil {
			fmt.Fprintf(os.Stderr, "bench/plot: %s: %v\n", path, err)
			os.Exit(1)
		}
	}
}

// drawAll draws the charts of the report at path beside it.
func drawAll(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var report struct {
		Charts []chart `json:"charts"`
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return err
	}
	for _, c := range report.Charts {
		p, err := c.plot()
		if err != nil {
			return fmt.Errorf("chart %s: %w", c.Name, err)
		}
		if err := p.Save(20*vg.Centimeter, 13*vg.Centimeter, strings.TrimSuffix(path, ".json")+"-"+c.Name+".svg"); err != nil {
			return fmt.Errorf("chart %s: %w", c.Name, err)
		}
	}
	return nil
}

func (c chart) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = c.Title
	c.X.set(&p.X)
	c.Y.set(&p.Y)
	p.Add(plotter.NewGrid())
	p.Legend.Left = true
	p.Legend.Top = !c.falls() // where there are no lines
	for i, l := range c.Lines {
		points := make(plotter.XYs, len(l.Points))
		for j, at := range l.Points {
			points[j].X, points[j].Y = at[0], at[1]
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, fmt.Errorf("line %s: %w", l.Name, err)
		}
		line.Color, line.Width = plotutil.Color(i), vg.Points(1.5)
		marks.Color, marks.Shape = plotutil.Color(i), draw.CircleGlyph{}
		p.Add(line, marks)
		p.Legend.Add(l.Name, line, marks)
	}
	return p, nil
}

// falls reports whether the first line ends lower than it begins.
func (c chart) falls() bool {
	if len(c.Lines) == 0 || len(c.Lines[0].Points) == 0 {
		return false
	}
	points := c.Lines[0].Points
	return points[len(points)-1][1] < points[0][1]
}

func (a axis) set(to *plot.Axis) {
	to.Label.Text = a.Label
	if a.Log {
		to.Scale = plot.LogScale{}
		to.Tick.Marker = plot.LogTicks{Prec: -1}
	}
}
