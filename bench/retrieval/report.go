package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/braid-search/braid/bench/corpus"
	"github.com/braid-search/braid/bench/report"
)

// results are what was measured, in one run or several.
type results struct {
	report.Circumstances
	Recipe   string      `json:"recipe"`
	Rounds   int         `json:"rounds"`
	Sets     []setRow    `json:"sets"`
	Index    []indexRow  `json:"index"`
	Searches []searchRow `json:"searches"`
	Peers    []peerRow   `json:"peers"`
	Blocks   []blockRow  `json:"blocks"`
	NotRun   []string    `json:"not_run,omitempty"`
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
	Part     string        `json:"part"`
	Passages int           `json:"passages"`
	Queries  string        `json:"queries"`
	Filter   float64       `json:"filter"` // share of passages allowed
	P50      report.Figure `json:"p50_ms"`
	P95      report.Figure `json:"p95_ms"`
}

// peerRow is a peer beside braid; a ratio above 1 means that braid is faster.
type peerRow struct {
	Passages  int           `json:"passages"`
	Peer      string        `json:"peer"`
	Queries   string        `json:"queries"`
	OursP50   report.Figure `json:"ours_p50_ms"`
	TheirsP50 report.Figure `json:"theirs_p50_ms"`
	OursP95   report.Figure `json:"ours_p95_ms"`
	TheirsP95 report.Figure `json:"theirs_p95_ms"`
	Ratio50   report.Figure `json:"ratio_p50"`
	Ratio95   report.Figure `json:"ratio_p95"`
	Shared    float64       `json:"shared"` // of our first 100, among theirs
}

// write fills in the circumstances and writes both forms.
func (r *results) write(ctx context.Context, b *bench, out string) error {
	r.Circumstances, r.Recipe, r.Rounds = report.Now(ctx, b.root), corpus.Recipe, b.rounds
	r.Sets = nil
	for _, s := range b.mixer.Sets {
		row := setRow{Name: s.Name, Passages: len(s.Passages), Queries: len(s.Queries)}
		for _, v := range s.Vectors {
			row.VectorLength += float64(len(v.Indices)) / float64(len(s.Vectors))
		}
		var lengths []float64
		for _, q := range s.Queries {
			lengths = append(lengths, float64(len(q.Indices)))
		}
		row.QueryLength = int(report.Quantile(lengths, 0.5))
		r.Sets = append(r.Sets, row)
	}
	r.sort()
	return report.Write(out, r, r.markdown())
}

// sort orders rows that were measured at different times.
func (r *results) sort() {
	part := func(name string) int { return slices.Index([]string{partSparse, partLexical}, name) }
	queries := func(name string) int { return slices.Index(collections, name) }
	slices.SortStableFunc(r.Index, func(a, b indexRow) int {
		return cmp.Or(part(a.Part)-part(b.Part), a.Passages-b.Passages)
	})
	slices.SortStableFunc(r.Searches, func(a, b searchRow) int {
		return cmp.Or(part(a.Part)-part(b.Part), queries(a.Queries)-queries(b.Queries), a.Passages-b.Passages, cmp.Compare(b.Filter, a.Filter))
	})
	slices.SortStableFunc(r.Blocks, func(a, b blockRow) int {
		return cmp.Or(queries(a.Queries)-queries(b.Queries), a.Passages-b.Passages, a.Size-b.Size)
	})
	slices.SortStableFunc(r.Peers, func(a, b peerRow) int {
		return cmp.Or(queries(a.Queries)-queries(b.Queries), a.Passages-b.Passages, cmp.Compare(a.Peer, b.Peer))
	})
}

func (r *results) markdown() string {
	d := report.NewDocument("Sparse and lexical retrieval", r.Circumstances)
	line, table := d.Line, d.Table
	line("- a measurement uses one core")
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
	table("What skipping blocks could not spare (sparse)", "queries", "passages", "passages a block", "blocks read", "postings read")
	for _, i := range r.Blocks {
		line("| %s | %d | %d | %.1f %% | %.1f %% |", i.Queries, i.Passages, i.Size, 100*i.Blocks, 100*i.Postings)
	}
	line("\nOf %d queries each: the blocks of consecutive passages, among those with a term of the query, whose highest weights add up to the score of the last of the best, which is taken to be known beforehand.", blockQueries)
	if len(r.NotRun) > 0 {
		line("\n## Not run\n")
		for _, why := range r.NotRun {
			line("- %s", why)
		}
	}
	return d.String()
}

// searches writes one row for all filters of a size.
func (r *results) searches(line func(string, ...any), table func(string, ...string), part string) {
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
