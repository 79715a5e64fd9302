package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/internal/selfbench"
	"github.com/braid-search/braid/search"
)

// LengthStage is what a stage of a search took at one length of the query, on an
// idle server or a busy one.
type LengthStage struct {
	Load   string `json:"load"`
	Tokens int    `json:"tokens"` // of the query as typed, without prefix and special tokens
	Stage
}

const (
	idleServer = "idle"
	// busyServer has others clients that search with both vectors, one search
	// after the other.
	busyServer = "busy"
	// lengthQueries is how many queries of one length a round asks at most.
	lengthQueries = 10
)

// queryLengths are the lengths measured, in tokens. The last one is cut by the
// models, whose limit the prefix and the special tokens count towards.
func queryLengths() []int { return []int{4, 16, 64, 256, 512} }

// timed is an answer's timings and what the client waited.
type timed struct {
	search.Timings
	wall float64 // milliseconds
}

// lengthTimings are the stages by length: those of an answer and HTTP, which is
// what the client waited beyond the search itself.
func lengthTimings() []selfbench.Timing {
	return slices.DeleteFunc(selfbench.Timings(), func(t selfbench.Timing) bool { return t.Name == "total" })
}

// stagesByLength asks queries of several lengths in every way, idle and busy.
func (r *run) stagesByLength(ctx context.Context, client *httpapi.Client, collection string) error {
	ask := func(ctx context.Context, query string, way asked) (timed, error) {
		begun := time.Now()
		answer, err := client.Search(ctx, collection, search.Request{Query: query, Mode: way.mode, Rerank: &way.rerank})
		if err != nil {
			return timed{}, err
		}
		if len(answer.Degraded) > 0 {
			return timed{}, fmt.Errorf("search of %d bytes: it was degraded: %v", len(query), answer.Degraded)
		}
		return timed{answer.Timings, milliseconds(time.Since(begun))}, nil
	}
	stream := wordStream{words: strings.Fields(strings.Join(r.texts.passages, " "))}
	for _, tokens := range queryLengths() {
		queries := make([]string, min(lengthQueries, max(2, r.cfg.Queries/33)))
		for i := range queries {
			var err error
			if queries[i], err = ofLength(ctx, client, collection, &stream, tokens); err != nil {
				return err
			}
		}
		round := func(ctx context.Context) (map[string][]timed, error) {
			seen := map[string][]timed{}
			for _, query := range queries {
				for _, way := range ways() {
					t, err := ask(ctx, query, way)
					if err != nil {
						return nil, err
					}
					seen[way.name] = append(seen[way.name], t)
				}
			}
			return seen, nil
		}
		if err := r.idleAndBusy(ctx, client, collection, tokens, round); err != nil {
			return err
		}
	}
	return nil
}

// idleAndBusy takes the rounds of one length in turn on an idle server and a busy
// one.
func (r *run) idleAndBusy(ctx context.Context, client *httpapi.Client, collection string, tokens int, round func(context.Context) (map[string][]timed, error)) error {
	r.say("queries of %d tokens in every mode, idle and busy", tokens)
	if _, err := round(ctx); err != nil { // warms up
		return err
	}
	seen := map[string][]map[string][]timed{}
	for range r.cfg.Rounds {
		quiet, err := round(ctx)
		if err != nil {
			return err
		}
		var busy map[string][]timed
		err = beside(ctx, func(ctx context.Context) error {
			off := false
			_, err := client.Search(ctx, collection, search.Request{Query: r.texts.queries[0], Mode: search.ModeHybrid, Rerank: &off})
			return err
		}, func() (err error) {
			busy, err = round(ctx)
			return err
		})
		if err != nil {
			return err
		}
		seen[idleServer], seen[busyServer] = append(seen[idleServer], quiet), append(seen[busyServer], busy)
	}
	for _, load := range []string{idleServer, busyServer} {
		r.tellLength(load, tokens, seen[load])
	}
	return nil
}

// tellLength adds a length's stages to the report.
func (r *run) tellLength(load string, tokens int, rounds []map[string][]timed) {
	add := func(way, stage string, of func(map[string][]timed) []float64) {
		var p50, p95 []float64
		for _, round := range rounds {
			values := of(round)
			p50, p95 = append(p50, quantile(values, 0.5)), append(p95, quantile(values, 0.95))
		}
		if slices.Max(p95) > 0 { // the stage runs in this mode
			r.report.Lengths = append(r.report.Lengths, LengthStage{load, tokens, Stage{way, stage, figure(p50), figure(p95)}})
		}
	}
	every := func(way string, of func(timed) float64) func(map[string][]timed) []float64 {
		return func(round map[string][]timed) (values []float64) {
			for _, t := range round[way] {
				values = append(values, of(t))
			}
			return values
		}
	}
	add(vectorsOf, "dense alone", every("dense", func(t timed) float64 { return generation(t.Timings) }))
	add(vectorsOf, "sparse alone", every("sparse", func(t timed) float64 { return generation(t.Timings) }))
	add(vectorsOf, "one after the other", func(round map[string][]timed) (values []float64) {
		for i, t := range round["dense"] {
			values = append(values, generation(t.Timings)+generation(round["sparse"][i].Timings))
		}
		return values
	})
	add(vectorsOf, "at once", every("hybrid", func(t timed) float64 { return generation(t.Timings) }))
	for _, way := range ways() {
		for _, t := range lengthTimings() {
			add(way.name, t.Name, every(way.name, func(seen timed) float64 { return t.Of(seen.Timings) }))
		}
		add(way.name, "HTTP", every(way.name, func(t timed) float64 { return t.wall - t.Total }))
		add(way.name, "total", every(way.name, func(t timed) float64 { return t.wall }))
	}
}

// vectorsOf is the mode under which the times of a query's vectors stand.
const vectorsOf = "vectors"

// ofLength cuts a query of so many tokens from the stream. The server counts
// them; what lacks is filled up with a word of one token.
func ofLength(ctx context.Context, client *httpapi.Client, collection string, stream *wordStream, tokens int) (string, error) {
	const special = 2
	words := strings.Fields(stream.take(tokens))
	for len(words) > 0 {
		query := strings.Join(words, " ")
		answer, err := client.Search(ctx, collection, search.Request{Query: query, Mode: search.ModeSparse, Rerank: new(bool)})
		if err != nil {
			return "", err
		}
		count := answer.Query.Tokens - special
		if count <= tokens {
			return query + strings.Repeat(" a", tokens-count), nil
		}
		words = words[:min(len(words)-1, len(words)*tokens/count)]
	}
	return strings.TrimSpace(strings.Repeat(" a", tokens)), nil
}

// lengths shows a table a load: all stages of a full search and the vectors of
// each mode, by length.
func (d *document) lengths(r *Report) {
	for _, load := range []string{idleServer, busyServer} {
		var rows []Stage
		cells := map[[2]string]map[int]Figure{}
		for _, s := range r.Lengths {
			if s.Load != load || s.Mode != vectorsOf && s.Mode != "hybrid+rerank" && s.Stage.Stage != "total" {
				continue
			}
			at := [2]string{s.Mode, s.Stage.Stage}
			if cells[at] == nil {
				cells[at] = map[int]Figure{}
				rows = append(rows, s.Stage)
			}
			cells[at][s.Tokens] = s.P50
		}
		if len(rows) == 0 {
			continue
		}
		head := []string{"mode", "stage"}
		for _, tokens := range queryLengths() {
			head = append(head, fmt.Sprintf("%d tokens", tokens))
		}
		d.table(fmt.Sprintf("Stages by the length of the query, p50 in ms, %s server", load), head...)
		for _, s := range rows {
			row := []string{s.Mode, s.Stage}
			for _, tokens := range queryLengths() {
				cell := ""
				if f, ok := cells[[2]string{s.Mode, s.Stage}][tokens]; ok {
					cell = number(f)
				}
				row = append(row, cell)
			}
			d.row(row...)
		}
	}
}
