package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/braid-search/braid/search"
)

// saving is a way to ask braid for less work in a reranked search.
type saving struct {
	name string
	ask  func(query string) search.Request
	// timed says that the answers depend on how fast the machine is: they are judged
	// where nothing else runs, one query at a time.
	timed bool
}

// savings begins with the whole work, which the others are measured against.
func savings() []saving {
	with := func(change func(*search.Request)) func(string) search.Request {
		return func(q string) search.Request {
			req := exactly(q, true)
			change(&req)
			return req
		}
	}
	list := []saving{{name: wayName(true), ask: with(func(*search.Request) {})}}
	for _, window := range []int{192, search.DefaultRerankWindow, 128} {
		list = append(list, saving{name: fmt.Sprintf("rerank_window %d", window), ask: with(func(req *search.Request) { req.RerankWindow = &window })})
	}
	depth := 10
	list = append(list, saving{name: fmt.Sprintf("rerank_depth %d", depth), ask: with(func(req *search.Request) { req.RerankDepth = &depth })})
	for _, budget := range []int{200, 100} {
		list = append(list, saving{name: fmt.Sprintf("budget_ms %d", budget), ask: with(func(req *search.Request) { req.BudgetMS = &budget }), timed: true})
	}
	window, yes := 128, true
	return append(list,
		saving{name: "the defaults", ask: func(q string) search.Request { return search.Request{Query: q, Rerank: &yes} }},
		saving{name: "the defaults, rerank_window 128", ask: func(q string) search.Request {
			return search.Request{Query: q, Rerank: &yes, RerankWindow: &window}
		}})
}

// Saving is a way of braid's to rerank, one client, in time. A ratio is how many
// times as fast it is, round by round.
type Saving struct {
	Corpus    string `json:"corpus"`
	Work      string `json:"work"`
	P50       Figure `json:"p50_ms"`
	OverWhole Figure `json:"times_whole"`
	// Peer is the fastest of the others, who do the whole work; "" where none is
	// installed.
	Peer     string `json:"peer,omitempty"`
	PeerP50  Figure `json:"peer_p50_ms"`
	OverPeer Figure `json:"times_peer"`
}

// ablation measures what each saving saves, one client, against the whole work and
// against the others who do it. In a round everybody has a turn with the same
// queries.
func (r *run) ablation(ctx context.Context) (err error) {
	c, err := r.readCorpus()
	if err != nil {
		return err
	}
	ours, err := r.startSearch(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.close()) }()
	queries := c.texts(r.cfg.Reranks)
	var ways, peers []*timedSide
	for _, s := range savings() {
		ways = append(ways, &timedSide{s.name, ours, requests(queries, func(q string) request { return ours.asks(c, s.ask(q)) }), nil})
	}
	defer func() {
		for _, p := range peers {
			err = errors.Join(err, p.asked.close())
		}
	}()
	failed := r.eachStack(ctx, func(st stack) error {
		theirs, err := r.startStack(ctx, c, st)
		if err != nil {
			return err
		}
		peers = append(peers, &timedSide{st.name, theirs, requests(queries, func(q string) request { return asksStack(q, true) }), nil})
		return nil
	})
	for round := range 1 + r.cfg.Rounds {
		r.say("%s: %d ways and %d peers, round %d", c.name, len(ways), len(peers), round)
		for _, s := range slices.Concat(ways, peers) {
			if err := s.measure(ctx, round > 0); err != nil { // the first warms up
				return errors.Join(failed, fmt.Errorf("%s: %w", s.name, err))
			}
		}
	}
	r.tellSavings(c, ways, peers)
	return errors.Join(failed, r.judgeTimed(ctx, c, ours))
}

// timedSide is one of many who have a turn in a round.
type timedSide struct {
	name  string
	asked *server
	with  []request
	p50   []float64 // by counted round
}

func (s *timedSide) measure(ctx context.Context, counted bool) error {
	seen, err := s.asked.load(ctx, 1, s.with)
	if err != nil {
		return err
	}
	if len(seen.latencies) < len(s.with) {
		return fmt.Errorf("%d of %d answers had to do without a stage", seen.partial, len(s.with))
	}
	if counted {
		s.p50 = append(s.p50, quantile(seen.latencies, 0.5))
	}
	return nil
}

// tellSavings compares; the first of the ways is the whole work.
func (r *run) tellSavings(c *corpus, ways, peers []*timedSide) {
	var fastest *timedSide
	if len(peers) > 0 {
		fastest = slices.MinFunc(peers, func(a, b *timedSide) int { return cmp.Compare(quantile(a.p50, 0.5), quantile(b.p50, 0.5)) })
	}
	for _, way := range ways {
		s := Saving{Corpus: c.name, Work: way.name, P50: figure(way.p50), OverWhole: timesAsFast(way.p50, ways[0].p50)}
		if fastest != nil {
			s.Peer, s.PeerP50, s.OverPeer = fastest.name, figure(fastest.p50), timesAsFast(way.p50, fastest.p50)
		}
		r.report.Savings = append(r.report.Savings, s)
	}
}

// timesAsFast is how many times as fast a is as b, round by round.
func timesAsFast(a, b []float64) Figure {
	return pairUp("", "", metric{}, "", "", a, b).Ratio
}

// judgeTimed judges the ways whose answers depend on the time, here where
// nothing else runs.
func (r *run) judgeTimed(ctx context.Context, c *corpus, s *server) error {
	all := savings()
	ask := func(way saving) func(string) request {
		return func(q string) request { return s.asks(c, way.ask(q)) }
	}
	queries := c.judged(r.cfg.Judged)
	whole, err := r.scores(ctx, queries, s, all[0].name, 1, ask(all[0]))
	if err != nil {
		return err
	}
	for _, way := range all {
		if !way.timed {
			continue
		}
		scores, err := r.scores(ctx, queries, s, way.name, 1, ask(way))
		if err != nil {
			return err
		}
		r.report.Answers = append(r.report.Answers, answersOf(c, s, way.name, scores, whole))
	}
	return nil
}

// savings shows what each way saves and, where its answers were judged, costs.
func (d *document) savings(r *Report) {
	if len(r.Savings) == 0 {
		return
	}
	d.table("Savings in a reranked search, 1 client", "corpus", "braid's work", "p50 ms", "times as fast as the whole work", "as the fastest peer", "peer, the whole work", "its p50 ms", "nDCG@10", "less that of braid's whole work")
	for _, s := range r.Savings {
		peer, p50, over := "–", "–", "–"
		if s.Peer != "" {
			peer, p50, over = s.Peer, number(s.PeerP50), "**"+ratio(s.OverPeer)+"**"
		}
		ndcg, difference := "–", "–"
		if a, ok := r.answersTo(s); ok {
			ndcg, difference = fmt.Sprintf("%.4f", a.NDCG), fmt.Sprintf("%+.4f ± %.4f (%d queries)", a.Difference, a.Error, a.Queries)
		}
		d.row(s.Corpus, s.Work, number(s.P50), ratio(s.OverWhole), over, peer, p50, ndcg, difference)
	}
}

// answersTo finds how good the answers of a saving are.
func (r *Report) answersTo(s Saving) (Answers, bool) {
	for _, a := range r.Answers {
		if a.Corpus == s.Corpus && a.Work == s.Work && a.Contender == braidServe {
			return a, true
		}
	}
	return Answers{}, false
}
