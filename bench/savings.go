package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/braid-search/braid/search"
)

// saving is a way to ask braid for less work in a reranked search.
type saving struct {
	name string
	ask  func(query string) search.Request
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
	list := []saving{{wayName(true), with(func(*search.Request) {})}}
	for _, window := range []int{192, 160, 128} {
		list = append(list, saving{fmt.Sprintf("rerank_window %d", window), with(func(req *search.Request) { req.RerankWindow = &window })})
	}
	for _, depth := range []int{10} {
		list = append(list, saving{fmt.Sprintf("rerank_depth %d", depth), with(func(req *search.Request) { req.RerankDepth = &depth })})
	}
	window, yes := 128, true
	return append(list,
		saving{"the defaults", func(q string) search.Request { return search.Request{Query: q, Rerank: &yes} }},
		saving{"the defaults, rerank_window 128", func(q string) search.Request {
			return search.Request{Query: q, Rerank: &yes, RerankWindow: &window}
		}})
}

// ablation measures what each saving saves, one client, against the whole work.
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
	all := savings()
	for _, s := range all[1:] {
		if err := r.compare(ctx, c.name, []metric{{name: "p50 ms"}}, r.saving(c, ours, s), r.saving(c, ours, all[0])); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) saving(c *corpus, s *server, way saving) side {
	asked := requests(c.texts(r.cfg.Reranks), func(q string) request { return s.asks(c, way.ask(q)) })
	return side{way.name, func(ctx context.Context) ([]float64, error) {
		seen, err := s.load(ctx, 1, asked)
		if err != nil {
			return nil, err
		}
		return []float64{quantile(seen.latencies, 0.5)}, nil
	}}
}
