package eval

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/braid-search/braid"
)

// Results are the scores of several modes of search on one dataset, query by
// query. Save keeps them in a file, to compare later ones with.
type Results struct {
	Dataset string   `json:"dataset"`
	Qrels   string   `json:"qrels"`
	Metrics []string `json:"metrics"` // as ParseMetric reads them
	Queries []string `json:"queries"` // their ids

	// Modes holds the scores by mode and metric, in the order of Queries.
	Modes map[string]map[string][]float64 `json:"modes"`

	Texts   []string `json:"texts,omitempty"`   // of Queries
	Classes []string `json:"classes,omitempty"` // of Queries, as Classify found them
	// Places holds, by mode and in the order of Queries, where the relevant
	// documents stood. A mode that was read from a run file has none.
	Places map[string][][]Place `json:"places,omitempty"`
}

// Results returns results without a mode.
func (d *Dataset) Results() *Results {
	r := &Results{Dataset: d.Name, Qrels: d.Qrels, Modes: map[string]map[string][]float64{}}
	for _, q := range d.Queries {
		r.Queries, r.Texts = append(r.Queries, q.ID), append(r.Texts, q.Text)
	}
	return r
}

// Score measures a run and keeps its scores under the mode. A query the run does
// not answer scores 0; answers to queries that are not judged are ignored. Each
// call has the same metrics.
func (d *Dataset) Score(r *Results, mode string, run Run, metrics []Metric) error {
	scores := make(map[string][]float64, len(metrics))
	r.Metrics = r.Metrics[:0]
	for _, m := range metrics {
		r.Metrics = append(r.Metrics, m.String())
	}
	for _, q := range d.Queries {
		if err := checkOnce(run[q.ID]); err != nil {
			return braid.Errorf(braid.CodeOf(err), "query %q: %w", q.ID, err)
		}
		for _, m := range metrics {
			scores[m.String()] = append(scores[m.String()], m.Score(q.Judgments, run[q.ID]))
		}
	}
	r.Modes[mode] = scores
	return nil
}

// Mean returns the mean score of a mode over the queries.
func (r *Results) Mean(mode, metric string) float64 { return average(r.Modes[mode][metric]) }

// Report is what is printed of results: means by mode and Key of the metric.
type Report struct {
	Dataset string                        `json:"dataset"`
	Qrels   string                        `json:"qrels"`
	Queries int                           `json:"queries"`
	Modes   map[string]map[string]float64 `json:"modes"`
	Changes []Change                      `json:"changes,omitempty"` // since a baseline
	Details *Details                      `json:"details,omitempty"` // where asked for
}

// Report returns the means.
func (r *Results) Report() Report {
	report := Report{Dataset: r.Dataset, Qrels: r.Qrels, Queries: len(r.Queries), Modes: map[string]map[string]float64{}}
	for mode := range r.Modes {
		report.Modes[mode] = map[string]float64{}
		for _, name := range r.Metrics {
			report.Modes[mode][key(name)] = r.Mean(mode, name)
		}
	}
	return report
}

// key is Metric.Key by name.
func key(name string) string {
	m, err := ParseMetric(name)
	if err != nil {
		return name
	}
	return m.Key()
}

// Save writes the results to a file, over one that is there.
func (r *Results) Save(path string) error {
	data, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(path, append(data, '\n'), 0o644)
	}
	if err != nil {
		return braid.Errorf(braid.Internal, "save results: %w", err)
	}
	return nil
}

// LoadResults reads a file of Save. It fails with braid.NotFound when there is
// none and with braid.InvalidArgument when it is malformed.
func LoadResults(path string) (*Results, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, braid.Errorf(braid.NotFound, "load results: %s does not exist: write it with --out", path)
	}
	if err != nil {
		return nil, braid.Errorf(braid.Internal, "load results: %w", err)
	}
	var r Results
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, braid.Errorf(braid.InvalidArgument, "load results: %s: malformed JSON: %w", path, err)
	}
	if err := r.check(); err != nil {
		return nil, braid.Errorf(braid.InvalidArgument, "load results: %s: %w", path, err)
	}
	return &r, nil
}

func (r *Results) check() error {
	if len(r.Queries) == 0 || len(r.Metrics) == 0 {
		return errors.New("holds no queries or metrics: it was not written by --out")
	}
	ids := slices.Sorted(slices.Values(r.Queries))
	if len(slices.Compact(ids)) < len(r.Queries) {
		return errors.New("a query is there twice")
	}
	for _, name := range r.Metrics {
		if _, err := ParseMetric(name); err != nil {
			return err
		}
	}
	if n := len(r.Texts); n > 0 && n != len(r.Queries) {
		return braid.Errorf(braid.InvalidArgument, "holds %d texts of %d queries", n, len(r.Queries))
	}
	for mode, places := range r.Places {
		if len(places) != len(r.Queries) {
			return braid.Errorf(braid.InvalidArgument, "mode %s has %d places for %d queries", mode, len(places), len(r.Queries))
		}
	}
	for mode, scores := range r.Modes {
		for _, name := range r.Metrics {
			if len(scores[name]) != len(r.Queries) {
				return braid.Errorf(braid.InvalidArgument, "mode %s has %d scores of %s for %d queries", mode, len(scores[name]), name, len(r.Queries))
			}
		}
	}
	return nil
}
