package main

import (
	"fmt"

	"github.com/braid-search/braid/bench/corpus"
	"github.com/braid-search/braid/bench/report"
	"github.com/braid-search/braid/index"
)

// results are what was measured, in one run or several.
type results struct {
	report.Circumstances
	Rounds int            `json:"rounds"`
	Load   string         `json:"load"` // average of the machine before the last run
	Sizes  []sizeRow      `json:"sizes"`
	Charts []report.Chart `json:"charts"`
}

// sizeRow is a collection of some size.
type sizeRow struct {
	built
	Warm      opening              `json:"warm"`
	Cold      opening              `json:"cold"`       // the system held none of the files in memory
	Memory    map[string]int64     `json:"memory"`     // by structure: what it says of itself
	HeapBytes int64                `json:"heap_bytes"` // what the heap grew by
	Searches  map[string]searchRow `json:"searches"`   // by branch
	Resolve   report.Figure        `json:"resolve_ms"` // a filter that one of twenty passes
	Recall10  float64              `json:"recall_10"`  // of the dense branch, which is asked for a hundred
	Recall100 float64              `json:"recall_100"`
}

// opening is a collection that is opened and asked once.
type opening struct {
	OpenSeconds   float64      `json:"open_s"`
	AnswerSeconds float64      `json:"answer_s"` // until the answer, opening included
	CPUSeconds    float64      `json:"cpu_s"`    // of all cores, until the answer
	Method        index.Method `json:"method"`
}

// searchRow is the median of a branch's searches in milliseconds.
type searchRow struct {
	All      report.Figure `json:"all_ms"`
	Filtered report.Figure `json:"filtered_ms"`
}

// structures and branches are in the order of the report.
func structures() []string { return []string{"dense", "sparse", "lexical", "filter"} }
func branches() []string   { return structures()[:3] }

func (r *results) markdown(base string) string {
	d := report.NewDocument("What grows with a collection", r.Circumstances)
	d.Line("- whole collections of the embedded engine with its defaults; SciFact's 300 claims as queries, the best %d of each; medians of %d rounds (lowest–highest), on one core", best, r.Rounds)
	d.Line("- the load average was %s before: where it is above 1, read memory and processor time, and the seconds and milliseconds as what others made of them", r.Load)
	d.Line("- texts and sparse vectors: %s", corpus.Recipe)
	d.Line("- dense vectors: %s A passage's dense vector and its text are not of one passage.", corpus.DenseRecipe)
	d.Table("Bytes of memory a passage", append([]string{"passages"}, append(structures(), "ids and sums, about")...)...)
	for _, s := range r.Sizes {
		cells, rest := []string{fmt.Sprint(s.Passages)}, s.HeapBytes
		for _, name := range structures() {
			cells = append(cells, s.each(s.Memory[name]))
			rest -= s.Memory[name]
		}
		d.Row(append(cells, s.each(rest))...)
	}
	d.Line("\nThe last column is what the heap grew by less the rest. The dense branch compares all below 20,000 and takes memory by the megabyte.")
	d.Table("Milliseconds of a search, median", "passages", "dense", "in 5 %", "sparse", "in 5 %", "lexical", "in 5 %", "resolving the filter", "dense recall@10", "@100")
	for _, s := range r.Sizes {
		cells := []string{fmt.Sprint(s.Passages)}
		for _, name := range branches() {
			cells = append(cells, "**"+s.Searches[name].All.String()+"**", s.Searches[name].Filtered.String())
		}
		d.Row(append(cells, s.Resolve.String(), fmt.Sprintf("%.4f", s.Recall10), fmt.Sprintf("%.4f", s.Recall100))...)
	}
	d.Table("Writing", "passages", "of them written anew", "µs of processor time a passage", "s until the graph answers", "s to close", "bytes of records a passage", "bytes of saved indexes a passage")
	for _, s := range r.Sizes {
		d.Row(fmt.Sprint(s.Passages), fmt.Sprint(s.Added), fmt.Sprintf("%.0f", s.CPUMicros), fmt.Sprintf("%.1f", s.GraphSeconds), fmt.Sprintf("%.1f", s.CloseSeconds), s.each(s.RecordBytes), s.each(s.IndexBytes))
	}
	d.Line("\nPassages come with their vectors, %d a write; the processor time is that of all cores, the making of graphs and the saving of indexes in the background included. The seconds were taken while other work ran.", batch)
	d.Table("Opening, s", "passages", "open", "first dense answer", "processor time", "files not in memory: open", "first dense answer", "processor time", "by")
	for _, s := range r.Sizes {
		d.Row(fmt.Sprint(s.Passages), fmt.Sprintf("%.3f", s.Warm.OpenSeconds), fmt.Sprintf("**%.3f**", s.Warm.AnswerSeconds), fmt.Sprintf("%.2f", s.Warm.CPUSeconds), fmt.Sprintf("%.3f", s.Cold.OpenSeconds), fmt.Sprintf("**%.3f**", s.Cold.AnswerSeconds), fmt.Sprintf("%.2f", s.Cold.CPUSeconds), string(s.Cold.Method))
	}
	d.Line("\nThe processor time is that of all cores, the check of the records in the background included.")
	d.Charts(base, r.Charts)
	return d.String()
}

// each is bytes a passage.
func (s sizeRow) each(bytes int64) string {
	return fmt.Sprintf("%.0f", float64(bytes)/float64(s.Passages))
}

// charts draw all against the number of passages.
func (r *results) charts() []report.Chart {
	line := func(name string, of func(sizeRow) float64) report.Line {
		l := report.Line{Name: name}
		for _, s := range r.Sizes {
			if y := of(s); y > 0 { // the axes are logarithmic
				l.Points = append(l.Points, [2]float64{float64(s.Passages), y})
			}
		}
		return l
	}
	chart := func(name, title, unit string) report.Chart {
		return report.Chart{Name: name, Title: title, X: report.Axis{Label: "passages", Log: true}, Y: report.Axis{Label: unit, Log: true}}
	}
	searches := chart("searches", "a search, median, one core", "milliseconds")
	memory := chart("memory", "memory", "bytes a passage")
	for _, name := range branches() {
		searches.Lines = append(searches.Lines,
			line(name, func(s sizeRow) float64 { return s.Searches[name].All.Median }),
			line(name+" in 5 %", func(s sizeRow) float64 { return s.Searches[name].Filtered.Median }))
	}
	searches.Lines = append(searches.Lines, line("resolving the filter", func(s sizeRow) float64 { return s.Resolve.Median }))
	for _, name := range structures() {
		memory.Lines = append(memory.Lines, line(name, func(s sizeRow) float64 { return float64(s.Memory[name]) / float64(s.Passages) }))
	}
	times := chart("times", "writing and opening", "seconds")
	times.Lines = []report.Line{
		line("processor time of writing all, at the last price", func(s sizeRow) float64 { return s.CPUMicros * float64(s.Passages) / 1e6 }),
		line("until the first answer", func(s sizeRow) float64 { return s.Warm.AnswerSeconds }),
		line("processor time of that", func(s sizeRow) float64 { return s.Warm.CPUSeconds }),
	}
	return []report.Chart{memory, searches, times}
}
