package main

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench/report"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/sparse"
	"github.com/braid-search/braid/index/topk"
)

// seed is that of the filters.
const seed = 20

// best is how many passages every search asks for.
const best = 100

// shares are those of the passages that filters allow.
var shares = []float64{1, 0.5, 0.05, 0.001}

// searcher is an index at work on the queries of one collection.
type searcher struct {
	queries string // name of the collection
	count   int
	search  func(query int, scan topk.Scan) ([]topk.Match, error)
}

func (b *bench) measureSparse(ctx context.Context, n int, r *results) error {
	p, row, err := loaded(b, partSparse, n, sparse.Load)
	if err != nil {
		return err
	}
	row.MemoryBytes = p.MemoryBytes()
	r.Index = append(r.Index, row)
	var searchers []searcher
	for _, s := range b.mixer.Sets {
		searchers = append(searchers, searcher{s.Name, len(s.Queries), func(query int, scan topk.Scan) ([]topk.Match, error) {
			return p.Search(ctx, s.Queries[query], scan)
		}})
	}
	if err := b.checkSparse(searchers, n); err != nil {
		return err
	}
	defer oneCore()()
	return b.filtered(partSparse, searchers, n, r)
}

func (b *bench) measureLexical(ctx context.Context, n int, r *results) error {
	x, row, err := loaded(b, partLexical, n, func(s *snapshot.Reader, end uint64) (*lexical.Index, error) {
		return lexical.Load(s, end, lexical.Options{})
	})
	if err != nil {
		return err
	}
	row.MemoryBytes = x.MemoryBytes()
	r.Index = append(r.Index, row)
	var searchers []searcher
	for _, s := range b.mixer.Sets {
		searchers = append(searchers, searcher{s.Name, len(s.Data.Queries), func(query int, scan topk.Scan) ([]topk.Match, error) {
			return x.Search(ctx, s.Data.Queries[query].Text, scan)
		}})
	}
	if err := b.checkLexical(searchers, n); err != nil {
		return err
	}
	defer oneCore()()
	if err := b.filtered(partLexical, searchers, n, r); err != nil {
		return err
	}
	if why := b.peersInstalled(); why != "" {
		r.NotRun = []string{why}
		return nil
	}
	r.NotRun = nil
	for _, name := range peers() {
		if err := b.beside(ctx, name, x, n, r); err != nil {
			return err
		}
	}
	return nil
}

// loaded loads an index and tells what that took.
func loaded[I any](b *bench, part string, n int, read func(*snapshot.Reader, uint64) (I, error)) (I, indexRow, error) {
	row := indexRow{Part: part, Passages: n}
	var none I
	data, err := os.ReadFile(b.builtFile(part, n))
	if err == nil {
		err = json.Unmarshal(data, &row.built)
	}
	if err != nil {
		return none, row, err
	}
	before := heap()
	start := time.Now()
	index, err := load(b.snapshotFile(part, n), n, read)
	row.LoadSeconds = time.Since(start).Seconds()
	row.HeapBytes = heap() - before
	return index, row, err
}

// heap is what live objects take.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// filtered measures searches under each filter.
func (b *bench) filtered(part string, searchers []searcher, n int, r *results) error {
	for _, share := range shares {
		scan := topk.Scan{K: best, Allowed: subset(n, share)}
		rounds := make([][][]float64, len(searchers)) // by searcher and round
		for round := range b.rounds + 1 {
			for i, s := range searchers {
				seconds, _, err := s.time(scan)
				if err != nil {
					return err
				}
				if round > 0 { // the first one warms up
					rounds[i] = append(rounds[i], seconds)
				}
			}
		}
		for i, s := range searchers {
			r.Searches = append(r.Searches, searchRow{
				Part: part, Passages: n, Queries: s.queries, Filter: share,
				P50: milli(rounds[i], 0.5), P95: milli(rounds[i], 0.95),
			})
		}
	}
	return nil
}

// time runs all queries once.
func (s searcher) time(scan topk.Scan) (seconds []float64, results [][]topk.Match, err error) {
	for query := range s.count {
		start := time.Now()
		matches, err := s.search(query, scan)
		seconds = append(seconds, time.Since(start).Seconds())
		if err != nil {
			return nil, nil, err
		}
		results = append(results, matches)
	}
	return seconds, results, nil
}

// subset is a random set of the passages, nil for all.
func subset(n int, share float64) *docset.Set {
	if share == 1 {
		return nil
	}
	random := rand.New(rand.NewPCG(seed, math.Float64bits(share)))
	words := make([]uint64, (n+63)/64)
	for i := range n {
		if random.Float64() < share {
			words[i/64] |= 1 << (i % 64)
		}
	}
	return docset.FromWords(words)
}

// beside measures a peer and braid in turn, on analysed queries whose terms weigh
// the same.
func (b *bench) beside(ctx context.Context, name string, x *lexical.Index, n int, r *results) (err error) {
	peer, err := b.start(ctx, name, n)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := peer.close(); err == nil {
			err = closeErr
		}
	}()
	analyzer := lexical.NewAnalyzer()
	for _, s := range b.mixer.Sets {
		j := job{K: best}
		var queries [][]lexical.QueryTerm
		for _, q := range s.Data.Queries {
			query, terms := analyzer.QueryTerms(q.Text), []string{}
			for i := range query {
				query[i].Weight = 1
				terms = append(terms, query[i].Text)
			}
			queries, j.Queries = append(queries, query), append(j.Queries, terms)
		}
		braid := searcher{s.Name, len(queries), func(query int, scan topk.Scan) ([]topk.Match, error) {
			return x.SearchTerms(ctx, queries[query], scan)
		}}
		row := peerRow{Passages: n, Peer: name, Queries: s.Name}
		var ours, theirs [][]float64
		for round := range b.rounds + 1 {
			seconds, results, err := braid.time(topk.Scan{K: best})
			if err != nil {
				return err
			}
			o, err := peer.do(j)
			if err != nil {
				return err
			}
			if round == 0 {
				row.Shared = shared(results, o.Results)
				continue
			}
			ours, theirs = append(ours, seconds), append(theirs, o.Seconds)
		}
		row.OursP50, row.TheirsP50 = milli(ours, 0.5), milli(theirs, 0.5)
		row.OursP95, row.TheirsP95 = milli(ours, 0.95), milli(theirs, 0.95)
		row.Ratio50, row.Ratio95 = ratio(theirs, ours, 0.5), ratio(theirs, ours, 0.95)
		r.Peers = append(r.Peers, row)
	}
	return nil
}

// shared is the share of ours among theirs, in the mean of the queries that
// found anything.
func shared(ours [][]topk.Match, theirs [][]int) float64 {
	var total, queries float64
	for i, matches := range ours {
		if len(matches) == 0 {
			continue
		}
		found := 0.0
		for _, m := range matches {
			if slices.Contains(theirs[i], int(m.Ord)) {
				found++
			}
		}
		total += found / float64(len(matches))
		queries++
	}
	return total / queries
}

// milli is the q-th quantile of each round in milliseconds.
func milli(rounds [][]float64, q float64) report.Figure { return report.Quantiles(rounds, q, 1000) }

// ratio is that of the q-th quantiles, round by round.
func ratio(a, b [][]float64, q float64) report.Figure {
	var values []float64
	for i := range a {
		values = append(values, report.Quantile(a[i], q)/report.Quantile(b[i], q))
	}
	return report.NewFigure(values)
}

// differ says where two rankings do, if scores differ by more than tolerance.
func differ(got, want []topk.Match, tolerance float64) error {
	if len(got) != len(want) {
		return braid.Errorf(braid.Internal, "%d passages found, want %d", len(got), len(want))
	}
	for i := range got {
		if math.Abs(got[i].Score-want[i].Score) > tolerance || tolerance == 0 && got[i].Ord != want[i].Ord {
			return braid.Errorf(braid.Internal, "at rank %d is %v, want %v", i+1, got[i], want[i])
		}
	}
	return nil
}
