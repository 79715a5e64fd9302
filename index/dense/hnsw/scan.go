package hnsw

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/braid-search/braid/index/dense/quant"
	"github.com/braid-search/braid/index/dense/simd"
	"github.com/braid-search/braid/index/topk"
)

const (
	// A scan of codedFrom vectors, and codedPerK more for each match that is asked
	// for, takes as long whether codes are compared first or not.
	codedFrom = 300
	codedPerK = 5
	// chunk is how many vectors a scan compares between two looks at its context.
	chunk = 1024
)

// restrict makes the live nodes in allowed those that may be returned, and counts
// them.
func (s *searcher) restrict(allowed []uint64) int {
	eligible := make([]uint64, min(len(allowed), len(s.segments)<<s.shift/64))
	count, perSegment := 0, int(s.rows()/64)
	for i := range eligible {
		if allowed[i] != 0 {
			live := atomic.LoadUint64(&s.segments[i/perSegment].live[i%perSegment])
			eligible[i] = allowed[i] & live & s.shown(64*uint64(i))
			count += bits.OnesCount64(eligible[i])
		}
	}
	s.eligible = eligible
	return count
}

// shown has a bit for each of the 64 nodes from first on that is not hidden.
func (s *searcher) shown(first uint64) uint64 {
	if first+64 <= s.hidden {
		return ^uint64(0)
	}
	if first >= s.hidden {
		return 0
	}
	return 1<<(s.hidden-first) - 1
}

// scan compares the query with every vector that may be returned, and offers
// at least the k best.
func (s *searcher) scan(ctx context.Context, query []float32, c *topk.Collector, k int) error {
	s.stats.Scanned = true
	s.list()
	s.codes = slices.Grow(s.codes[:0], 2*s.dim)[:2*s.dim]
	if (len(s.batch)-codedFrom)/codedPerK > k {
		if coded, ok := quant.NewQuery(query, s.codes); ok {
			return s.scanCodes(ctx, query, coded, c, k)
		}
	}
	all := s.batch
	for part := range slices.Chunk(all, chunk) {
		if err := stopped(ctx); err != nil {
			return err
		}
		s.batch = part
		s.offerBatch(query, c)
	}
	s.batch = all
	return nil
}

// list makes the batch all nodes that may be returned.
func (s *searcher) list() {
	s.batch = s.batch[:0]
	perSegment := int(s.rows() / 64)
	for i := range s.eligible {
		word, first := s.eligible[i], uint32(i*64)
		for ; word != 0; word &= word - 1 {
			s.batch = append(s.batch, first+uint32(bits.TrailingZeros64(word)))
		}
	}
	if s.eligible != nil {
		return
	}
	for i, seg := range s.segments {
		for w := range perSegment {
			first := uint32(i*perSegment+w) * 64
			word := atomic.LoadUint64(&seg.live[w]) & s.shown(uint64(first))
			for ; word != 0; word &= word - 1 {
				s.batch = append(s.batch, first+uint32(bits.TrailingZeros64(word)))
			}
		}
	}
}

// scanCodes compares the codes of the batch, and exactly those that can be among
// the k best.
func (s *searcher) scanCodes(ctx context.Context, query []float32, coded quant.Query, c *topk.Collector, k int) error {
	all, margin := s.batch, coded.MarginOfCodes(unitNorm)
	likely := s.bound(ctx, coded.Codes, margin, k)
	if err := stopped(ctx); err != nil {
		return err
	}
	s.stats.Scored += len(all)
	// The likely ones first: what their scores leave out is the most.
	s.chosen = likely.Rows(s.chosen[:0])
	slices.Sort(s.chosen)
	for i, at := range s.chosen {
		s.bounds[at] = float32(math.Inf(-1))
		s.chosen[i] = all[at]
	}
	s.batch = s.chosen
	s.offerBatch(query, c)
	floor := float32(c.Floor())
	s.batch, s.sharp = s.batch[:0], s.sharp[:0]
	for i, bound := range s.bounds {
		// Written so that one that is not a number passes, as below.
		if !(bound < floor) {
			s.batch, s.sharp = append(s.batch, all[i]), append(s.sharp, bound)
		}
	}
	s.sharpen(coded.Fine, margin, floor)
	s.offerBatch(query, c)
	s.chosen, s.batch = s.batch, all
	return nil
}

// scanPart is what one goroutine of a scan works in.
type scanPart struct {
	products []int32
	likely   quant.Best
}

// bound bounds the scores of the batch by their codes, from as many goroutines as
// that is worth, and returns the places of the k highest bounds. Unless ctx ends,
// bounds has them all.
func (s *searcher) bound(ctx context.Context, codes []int8, margin quant.Margin, k int) *quant.Best {
	s.bounds = slices.Grow(s.bounds[:0], len(s.batch))[:len(s.batch)]
	n := quant.Goroutines(len(s.batch)*s.dim, s.graph.serialBytes)
	s.parts = slices.Grow(s.parts[:0], n)[:n]
	for i := range s.parts {
		s.parts[i].products = slices.Grow(s.parts[i].products[:0], chunk)[:chunk]
		s.parts[i].likely.Reset(k)
	}
	quant.Split(ctx, n, (len(s.batch)+chunk-1)/chunk, func(worker, part int) {
		p, at := &s.parts[worker], part*chunk
		nodes := s.batch[at:min(at+chunk, len(s.batch))]
		simd.DotInt8Rows(codes, s.layout.codes, s.shift, nodes, p.products)
		for i, node := range nodes {
			seg, row := s.at(node)
			bound := margin.Bound(p.products[i], seg.scales[row], seg.missed[row])
			s.bounds[at+i] = bound
			p.likely.Offer(bound, uint32(at+i))
		}
	})
	likely := &s.parts[0].likely
	for i := range s.parts[1:] {
		likely.Merge(&s.parts[1+i].likely)
	}
	return likely
}

// sharpen keeps those of the batch that sharper bounds leave at or above floor.
func (s *searcher) sharpen(fine []int8, margin quant.Margin, floor float32) {
	s.products = slices.Grow(s.products[:0], len(s.batch))[:len(s.batch)]
	simd.DotInt8Rows(fine, s.layout.codes, s.shift, s.batch, s.products)
	kept := s.batch[:0]
	for i, n := range s.batch {
		seg, row := s.at(n)
		if bound := margin.Sharper(s.sharp[i], s.products[i], seg.scales[row], seg.missed[row]); !(bound < floor) {
			kept = append(kept, n)
		}
	}
	s.batch = kept
}
