package main

import (
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/braid-search/braid/bench/corpus"
	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/topk"
)

// checked is how many queries of each collection are compared with brute force,
// and mostChecked to how many passages the lexical ones are: to analyse a
// million texts takes minutes.
const (
	checked     = 4
	mostChecked = 10_000
)

// checkSparse compares rankings with brute force, bit for bit, with and without
// a filter.
func (b *bench) checkSparse(searchers []searcher, n int) error {
	vocabulary := uint32(0)
	for _, s := range b.mixer.Sets {
		for _, v := range append(s.Vectors, s.Queries...) {
			if last := len(v.Indices) - 1; last >= 0 {
				vocabulary = max(vocabulary, v.Indices[last]+1)
			}
		}
	}
	var wg sync.WaitGroup
	faults := make([]error, len(searchers))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, s := range searchers {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			faults[i] = b.checkSparseQueries(s, b.mixer.Sets[i], n, vocabulary)
		})
	}
	wg.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) checkSparseQueries(s searcher, of *corpus.Set, n int, vocabulary uint32) error {
	half := subset(n, 0.5)
	weights := make([][]float64, checked) // of each query, by index
	var all, allowed []*topk.Collector
	for q := range checked {
		weights[q] = make([]float64, vocabulary)
		for i, index := range of.Queries[q].Indices {
			weights[q][index] = float64(of.Queries[q].Values[i])
		}
		all = append(all, topk.NewCollector(topk.Scan{K: best}))
		allowed = append(allowed, topk.NewCollector(topk.Scan{K: best, Allowed: half}))
	}
	for passage := range n {
		v := b.mixer.Vector(passage)
		for q := range checked {
			var sum float64
			for i, index := range v.Indices {
				sum += weights[q][index] * float64(v.Values[i])
			}
			if sum > 0 {
				all[q].Offer(uint32(passage), sum)
				allowed[q].Offer(uint32(passage), sum)
			}
		}
	}
	for q := range checked {
		for filter, want := range map[string]*topk.Collector{"all": all[q], "half": allowed[q]} {
			scan := topk.Scan{K: best}
			if filter == "half" {
				scan.Allowed = half
			}
			got, err := s.search(q, scan)
			if err == nil {
				err = differ(got, want.Matches(), 0)
			}
			if err != nil {
				return fmt.Errorf("sparse, query %d of %s, %s passages allowed: %w", q, s.queries, filter, err)
			}
		}
	}
	return nil
}

// checkLexical compares rankings with BM25's formula.
func (b *bench) checkLexical(searchers []searcher, n int) error {
	if n > mostChecked {
		return nil
	}
	type passage struct {
		counts map[string]float64
		length float64
	}
	analyzer := lexical.NewAnalyzer()
	passages := make([]passage, n)
	holders := map[string]float64{}
	var total float64
	for i := range passages {
		p := passage{counts: map[string]float64{}}
		for _, t := range analyzer.Terms(b.mixer.Text(i)) {
			p.counts[t.Text]++
			if t.Kind == lexical.Word || t.Kind == lexical.Whole {
				p.length++
			}
		}
		for term := range p.counts {
			holders[term]++
		}
		total += p.length
		passages[i] = p
	}
	average := total / float64(n)
	for i, s := range searchers {
		for q := range checked {
			want := topk.NewCollector(topk.Scan{K: best})
			for ord, p := range passages {
				var sum float64
				for _, t := range analyzer.QueryTerms(b.mixer.Sets[i].Data.Queries[q].Text) {
					if tf := p.counts[t.Text]; tf > 0 {
						idf := math.Log1p((float64(n) - holders[t.Text] + 0.5) / (holders[t.Text] + 0.5))
						sum += t.Weight * idf * tf / (tf + lexical.DefaultK1*(1-lexical.DefaultB+lexical.DefaultB*p.length/average))
					}
				}
				if sum > 0 {
					want.Offer(uint32(ord), sum)
				}
			}
			got, err := s.search(q, topk.Scan{K: best})
			if err == nil {
				err = differ(got, want.Matches(), 1e-9)
			}
			if err != nil {
				return fmt.Errorf("lexical, query %d of %s: %w", q, s.queries, err)
			}
		}
	}
	return nil
}
