package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Circumstances are those of the last run that a report has figures of.
type Circumstances struct {
	Taken     time.Time `json:"taken"` // its end
	Commit    string    `json:"commit"`
	Go        string    `json:"go"`
	Processor string    `json:"processor"`
	Cores     int       `json:"cores"`
}

// Now returns the circumstances; root is that of the checkout.
func Now(ctx context.Context, root string) Circumstances {
	c := Circumstances{Taken: time.Now().UTC(), Commit: "unknown", Go: runtime.Version(), Processor: processor(), Cores: runtime.NumCPU()}
	if name, err := exec.CommandContext(ctx, "git", "-C", root, "describe", "--always", "--dirty", "--abbrev=12").Output(); err == nil {
		c.Commit = strings.TrimSpace(string(name))
	}
	return c
}

func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(info)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// Read reads OUT.json into v, or does nothing where it is not there.
func Read(out string, v any) error {
	data, err := os.ReadFile(out + ".json")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("read %s.json: %w", out, err)
	}
	return nil
}

// Write writes v to OUT.json and markdown to OUT.md.
func Write(out string, v any, markdown string) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(out+".json", append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(out+".md", []byte(markdown), 0o644)
}

// Document is Markdown in the making.
type Document struct{ text strings.Builder }

// NewDocument returns one with a title and the circumstances.
func NewDocument(title string, c Circumstances) *Document {
	d := &Document{}
	d.Line("# %s, %s\n", title, c.Taken.Format("2006-01-02 15:04 MST"))
	d.Line("- commit %s, %s, %s, %d cores", c.Commit, c.Go, c.Processor, c.Cores)
	return d
}

// Line writes a line.
func (d *Document) Line(format string, args ...any) { fmt.Fprintf(&d.text, format+"\n", args...) }

// Table begins a table under a heading.
func (d *Document) Table(title string, columns ...string) {
	d.Line("\n## %s\n\n| %s |\n|%s", title, strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
}

// Row writes a row of the table.
func (d *Document) Row(cells ...string) { d.Line("| %s |", strings.Join(cells, " | ")) }

// Charts shows the files that bench/plot makes of charts; base is the name of the
// report without its folder.
func (d *Document) Charts(base string, charts []Chart) {
	for _, c := range charts {
		d.Line("\n![%s](%s-%s.svg)", c.Title, base, c.Name)
	}
}

func (d *Document) String() string { return d.text.String() }

// Chart is lines in a plane. A report has its charts under the key "charts".
type Chart struct {
	Name  string `json:"name"` // of the file: OUT-NAME.svg
	Title string `json:"title"`
	X     Axis   `json:"x"`
	Y     Axis   `json:"y"`
	Lines []Line `json:"lines"`
}

// Axis is one of a chart.
type Axis struct {
	Label string `json:"label"`
	Log   bool   `json:"log,omitempty"` // all values are above 0
}

// Line is a named line through points, in order.
type Line struct {
	Name   string       `json:"name"`
	Points [][2]float64 `json:"points"`
}
