package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is what was measured, in one run or several.
type report struct {
	Taken     time.Time   `json:"taken"` // the last run's end
	Commit    string      `json:"commit"`
	Go        string      `json:"go"`
	Processor string      `json:"processor"`
	Cores     int         `json:"cores"`
	Recipe    string      `json:"recipe"`
	Rounds    int         `json:"rounds"`
	Sets      []setRow    `json:"sets"`
	Index     []indexRow  `json:"index"`
	Searches  []searchRow `json:"searches"`
	Peers     []peerRow   `json:"peers"`
	NotRun    []string    `json:"not_run,omitempty"`
}

// setRow is a collection.
type setRow struct {
	Name         string  `json:"name"`
	Passages     int     `json:"passages"`
	Queries      int     `json:"queries"`
	VectorLength float64 `json:"entries_a_vector"`
	QueryLength  int     `json:"entries_a_query_p50"`
}

// indexRow is an index of some size.
type indexRow struct {
	Part     string `json:"part"`
	Passages int    `json:"passages"`
	built
	LoadSeconds float64 `json:"load_s"`
	MemoryBytes int64   `json:"memory_bytes"` // what the index says of itself
	HeapBytes   int64   `json:"heap_bytes"`   // what the heap grew by
}

// searchRow is the time of searches.
type searchRow struct {
	Part     string  `json:"part"`
	Passages int     `json:"passages"`
	Queries  string  `json:"queries"`
	Filter   float64 `json:"filter"` // share of passages allowed
	P50      figure  `json:"p50_ms"`
	P95      figure  `json:"p95_ms"`
}

// peerRow is a peer beside braid; a ratio above 1 means that braid is faster.
type peerRow struct {
	Passages  int     `json:"passages"`
	Peer      string  `json:"peer"`
	Queries   string  `json:"queries"`
	OursP50   figure  `json:"ours_p50_ms"`
	TheirsP50 figure  `json:"theirs_p50_ms"`
	OursP95   figure  `json:"ours_p95_ms"`
	TheirsP95 figure  `json:"theirs_p95_ms"`
	Ratio50   figure  `json:"ratio_p50"`
	Ratio95   figure  `json:"ratio_p95"`
	Shared    float64 `json:"shared"` // of our first 100, among theirs
}

func readReport(out string) (*report, error) {
	var r report
	data, err := os.ReadFile(out + ".json")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &r, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("read %s.json: %w", out, err)
	}
	return &r, nil
}

// write fills in the circumstances and writes both forms.
func (r *report) write(ctx context.Context, b *bench, out string) error {
	r.Taken, r.Go, r.Cores, r.Recipe, r.Rounds = time.Now().UTC(), runtime.Version(), runtime.NumCPU(), recipe, b.rounds
	r.Commit = "unknown"
	if name, err := exec.CommandContext(ctx, "git", "-C", b.root, "describe", "--always", "--dirty", "--abbrev=12").Output(); err == nil {
		r.Commit = strings.TrimSpace(string(name))
	}
	r.Processor = processor()
	r.Sets = nil
	for _, s := range b.mixer.sets {
		row := setRow{Name: s.name, Passages: len(s.passages), Queries: len(s.queries)}
		for _, v := range s.vectors {
			row.VectorLength += float64(len(v.Indices)) / float64(len(s.vectors))
		}
		var lengths []float64
		for _, q := range s.queries {
			lengths = append(lengths, float64(len(q.Indices)))
		}
		row.QueryLength = int(quantile(lengths, 0.5))
		r.Sets = append(r.Sets, row)
	}
	r.sort()
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(out+".json", append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(out+".md", []byte(r.markdown()), 0o644)
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

// sort orders rows that were measured at different times.
func (r *report) sort() {
	part := func(name string) int { return slices.Index([]string{partSparse, partLexical}, name) }
	queries := func(name string) int { return slices.Index(collections, name) }
	slices.SortStableFunc(r.Index, func(a, b indexRow) int {
		return cmp.Or(part(a.Part)-part(b.Part), a.Passages-b.Passages)
	})
	slices.SortStableFunc(r.Searches, func(a, b searchRow) int {
		return cmp.Or(part(a.Part)-part(b.Part), queries(a.Queries)-queries(b.Queries), a.Passages-b.Passages, cmp.Compare(b.Filter, a.Filter))
	})
	slices.SortStableFunc(r.Peers, func(a, b peerRow) int {
		return cmp.Or(queries(a.Queries)-queries(b.Queries), a.Passages-b.Passages, cmp.Compare(a.Peer, b.Peer))
	})
}

func (r *report) markdown() string {
	var d strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&d, format+"\n", args...) }
	table := func(title string, columns ...string) {
		line("\n## %s\n\n| %s |\n|%s", title, strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
	}
	line("# Sparse and lexical retrieval, %s\n", r.Taken.Format("2006-01-02 15:04 MST"))
	line("- commit %s, %s, %s, %d cores, of which a measurement uses one", r.Commit, r.Go, r.Processor, r.Cores)
	line("- the best %d of each query; medians of %d rounds over all queries of a collection (lowest–highest)", best, r.Rounds)
	line("- %s", r.Recipe)
	line("- rankings compared with brute force: %d queries of each collection, sparse at every size, bit for bit and with a filter, lexical up to %d passages", checked, mostChecked)

	table("Collections", "collection", "passages", "entries a vector", "queries", "entries a query, p50")
	for _, s := range r.Sets {
		line("| %s | %d | %.0f | %d | %d |", s.Name, s.Passages, s.VectorLength, s.Queries, s.QueryLength)
	}
	for _, part := range []string{partSparse, partLexical} {
		r.searches(line, table, part)
	}
	table("Lexical beside peers, p50 and p95 in ms", "queries", "passages", "peer", "braid p50", "peer p50", "ratio", "braid p95", "peer p95", "ratio", "shared")
	for _, p := range r.Peers {
		line("| %s | %d | %s | %s | %s | **%s** | %s | %s | **%s** | %.3f |", p.Queries, p.Passages, p.Peer,
			p.OursP50, p.TheirsP50, p.Ratio50, p.OursP95, p.TheirsP95, p.Ratio95, p.Shared)
	}
	line("\nThe queries are analysed beforehand, and their terms weigh the same. A ratio above 1 means that braid is faster.")
	table("Memory and building", "part", "passages", "postings a passage", "bytes a passage", "heap bytes a passage", "bytes a posting", "µs to add", "slowest add, ms", "file, MB", "load, s")
	for _, i := range r.Index {
		n := float64(i.Passages)
		line("| %s | %d | %.0f | %.0f | %.0f | %.2f | %.1f | %.1f | %.1f | %.2f |", i.Part, i.Passages, float64(i.Entries)/n,
			float64(i.MemoryBytes)/n, float64(i.HeapBytes)/n, float64(i.MemoryBytes)/float64(i.Entries), i.AddMicros, i.SlowestMilli, float64(i.FileBytes)/1e6, i.LoadSeconds)
	}
	if len(r.NotRun) > 0 {
		line("\n## Not run\n")
		for _, why := range r.NotRun {
			line("- %s", why)
		}
	}
	return d.String()
}

// searches writes one row for all filters of a size.
func (r *report) searches(line func(string, ...any), table func(string, ...string), part string) {
	columns := []string{"queries", "passages", "p50", "p95"}
	for _, share := range shares[1:] {
		columns = append(columns, fmt.Sprintf("p50, %g %% allowed", 100*share))
	}
	table(strings.ToUpper(part[:1])+part[1:]+", ms", columns...)
	var cells []string
	flush := func() {
		if len(cells) > 0 {
			line("| %s |", strings.Join(cells, " | "))
		}
		cells = nil
	}
	for _, s := range r.Searches {
		if s.Part != part {
			continue
		}
		if s.Filter == 1 {
			flush()
			cells = []string{s.Queries, fmt.Sprint(s.Passages), "**" + s.P50.String() + "**", s.P95.String()}
			continue
		}
		cells = append(cells, s.P50.String())
	}
	flush()
}

func (f figure) String() string { return fmt.Sprintf("%.3g (%.3g–%.3g)", f.Median, f.Min, f.Max) }
