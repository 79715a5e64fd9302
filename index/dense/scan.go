package dense

import (
	"context"
	"math/bits"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/dense/quant"
	"github.com/braid-search/braid/index/dense/simd"
	"github.com/braid-search/braid/index/topk"
)

const (
	// A scan of codedFrom rows, and codedPerK more for each match that is asked
	// for, takes as long whether codes are compared first or not.
	codedFrom = 500
	codedPerK = 5
)

// Search returns the best matches of query, which has as many components as
// the stored vectors. It fails only when ctx ends.
func (x *Exact) Search(ctx context.Context, query []float32, q topk.Scan) ([]topk.Match, error) {
	wanted := topk.Scan{K: q.K, Before: q.Before}
	s := &scan{Exact: x, query: query, wanted: wanted, best: topk.NewCollector(wanted)}
	count := s.choose(q)
	if q.K < 1 || count == 0 {
		return nil, nil
	}
	if (count-codedFrom)/codedPerK > q.K && s.encode() {
		s.compareBest(ctx, count)
	} else {
		s.compareAll(ctx, count)
	}
	if err := ctx.Err(); err != nil {
		return nil, braid.Errorf(braid.CodeOf(err), "dense search: %w", err)
	}
	return s.best.Matches(), nil
}

// scan is one search.
type scan struct {
	*Exact
	query  []float32
	wanted topk.Scan // of rows
	coded  quant.Query
	rows   []uint64        // a bit for each row to compare
	bounds []float32       // of the score of each row
	best   *topk.Collector // of the rows that were compared
}

// choose makes rows those that may be returned, and counts them.
func (s *scan) choose(q topk.Scan) (count int) {
	s.rows = slices.Clone(s.live)
	if q.Allowed != nil {
		allowed := q.Allowed.Words()
		s.rows = s.rows[:min(len(s.rows), len(allowed))]
		for i := range s.rows {
			s.rows[i] &= allowed[i]
		}
	}
	for _, word := range s.rows {
		count += bits.OnesCount64(word)
	}
	return count
}

// encode makes the codes of the query. It reports false if they are of no use.
func (s *scan) encode() (ok bool) {
	s.coded, ok = quant.NewQuery(s.query, make([]int8, 2*s.dim))
	return ok
}

// part is what one goroutine of a scan works in.
type part struct {
	rows     []uint32 // of a block
	products []int32
	scores   []float32
	best     *topk.Collector
	likely   quant.Best
}

// split calls do for each block, from as many goroutines as reading size bytes
// is worth, and returns what they worked in.
func (s *scan) split(ctx context.Context, size int, start func(*part), do func(p *part, block int)) []*part {
	parts := make([]*part, quant.Goroutines(size, quant.SerialBytes))
	for i := range parts {
		parts[i] = new(part)
		start(parts[i])
	}
	quant.Split(ctx, len(parts), len(s.blocks), func(worker, block int) {
		p := parts[worker]
		if p.list(s, block); len(p.rows) > 0 {
			do(p, block)
		}
	})
	return parts
}

// list makes p.rows those of a block that are to be compared.
func (p *part) list(s *scan, block int) {
	p.rows = p.rows[:0]
	first := block * s.perBlock
	last := min(first+s.perBlock, 64*len(s.rows))
	for w := first / 64; 64*w < last; w++ {
		word := s.rows[w]
		if 64*w < first {
			word &= ^uint64(0) << (first - 64*w)
		}
		if 64*w+64 > last {
			word &= 1<<(last-64*w) - 1
		}
		for ; word != 0; word &= word - 1 {
			p.rows = append(p.rows, uint32(64*w+bits.TrailingZeros64(word)-first))
		}
	}
}

// compareAll compares all rows.
func (s *scan) compareAll(ctx context.Context, count int) {
	parts := s.split(ctx, count*s.dim*4, func(p *part) { p.best = topk.NewCollector(s.wanted) }, s.compare)
	for _, p := range parts {
		for _, m := range p.best.Matches() {
			s.best.Offer(m.Ord, m.Score)
		}
	}
}

// compare compares p.rows of a block exactly.
func (s *scan) compare(p *part, block int) {
	n := len(p.rows)
	p.scores = slices.Grow(p.scores[:0], n)[:n]
	simd.DotRows(s.query, [][]float32{s.blocks[block].vectors}, 31, p.rows, p.scores)
	for i, row := range p.rows {
		p.best.Offer(uint32(block*s.perBlock)+row, float64(p.scores[i]))
	}
}

// compareBest compares the codes of all rows, and exactly those that can be
// among the best.
func (s *scan) compareBest(ctx context.Context, count int) {
	s.bounds = make([]float32, len(s.blocks)*s.perBlock)
	parts := s.split(ctx, count*s.dim, func(p *part) { p.likely.Reset(s.wanted.K) }, s.bound)
	if ctx.Err() != nil {
		return
	}
	likely := &parts[0].likely
	for _, p := range parts[1:] {
		likely.Merge(&p.likely)
	}
	// The likely ones first: what their scores leave out is the most.
	rows := likely.Rows(nil)
	slices.Sort(rows)
	s.compareRows(parts[0], rows)
	rows = rows[:0]
	floor := float32(s.best.Floor())
	for row, bound := range s.bounds[:min(len(s.bounds), 64*len(s.rows))] {
		// Written so that one that is not a number passes.
		if !(bound < floor) && s.rows[row/64]>>(row%64)&1 != 0 {
			rows = append(rows, uint32(row))
		}
	}
	s.compareRows(parts[0], s.sharpen(rows, floor))
}

// sharpen keeps those of rows that sharper bounds leave at or above floor.
func (s *scan) sharpen(rows []uint32, floor float32) []uint32 {
	kept := rows[:0]
	for _, row := range rows {
		b, at := &s.blocks[int(row)/s.perBlock], int(row)%s.perBlock
		margin := s.coded.Margin(b.norm)
		product := simd.DotInt8(s.coded.Fine, b.codes[at*s.dim:][:s.dim])
		if bound := margin.Sharper(s.bounds[row], product, b.scales[at], b.missed[at]); !(bound < floor) {
			kept = append(kept, row)
		}
	}
	return kept
}

// compareRows compares rows, in ascending order, exactly, and takes them out.
func (s *scan) compareRows(p *part, rows []uint32) {
	p.best = s.best
	for len(rows) > 0 {
		block := int(rows[0]) / s.perBlock
		first := uint32(block * s.perBlock)
		p.rows = p.rows[:0]
		for len(rows) > 0 && rows[0] < first+uint32(s.perBlock) {
			p.rows = append(p.rows, rows[0]-first)
			s.rows[rows[0]/64] &^= 1 << (rows[0] % 64)
			rows = rows[1:]
		}
		s.compare(p, block)
	}
}

// bound compares the codes of p.rows of a block.
func (s *scan) bound(p *part, block int) {
	b := &s.blocks[block]
	margin := s.coded.Margin(b.norm)
	first := block * s.perBlock
	bounds := s.bounds[first:][:s.perBlock]
	if n := len(p.rows); 2*n < s.perBlock {
		p.products = slices.Grow(p.products[:0], n)[:n]
		simd.DotInt8Rows(s.coded.Codes, [][]int8{b.codes}, 31, p.rows, p.products)
	} else {
		p.products = slices.Grow(p.products[:0], s.perBlock)[:s.perBlock]
		end := p.rows[n-1] + 1
		simd.DotInt8Block(s.coded.Codes, b.codes, p.products[:end])
		for i, row := range p.rows {
			p.products[i] = p.products[row]
		}
	}
	for i, row := range p.rows {
		bound := margin.Bound(p.products[i], b.scales[row], b.missed[row])
		bounds[row] = bound
		p.likely.Offer(bound, uint32(first)+row)
	}
}
