package main

import (
	"context"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/sparse"
	"github.com/braid-search/braid/index/topk"
)

// blockQueries is how many queries of each collection are looked at.
const blockQueries = 20

// blockSizes are numbers of consecutive passages whose highest weight of each
// term an index could keep, to skip them.
func blockSizes() []int { return []int{8, 32, 128} }

// blockRow is what skipping blocks could spare, if the score that is needed were
// known beforehand and telling a block's bound cost nothing: the shares that
// have to be read all the same.
type blockRow struct {
	Passages int     `json:"passages"`
	Queries  string  `json:"queries"`
	Size     int     `json:"size"`
	Blocks   float64 `json:"blocks"`   // of the blocks with a term of the query
	Postings float64 `json:"postings"` // of the postings of its terms
}

// bounded is a query with the blocks of one size under way.
type bounded struct {
	size    int
	needed  float64 // the score of the last of the best
	highest map[uint32]float64
	held    int // postings in the block
	// read and all count blocks and postings.
	readBlocks, allBlocks, readPostings, allPostings int
}

// add adds what a term of the query gives a passage of the block under way.
func (q *bounded) add(term uint32, share float64) {
	q.held++
	q.highest[term] = max(q.highest[term], share)
}

// end ends the block under way.
func (q *bounded) end() {
	if q.held == 0 {
		return
	}
	bound := 0.0
	for _, share := range q.highest {
		bound += share
	}
	q.allBlocks++
	q.allPostings += q.held
	if bound >= q.needed {
		q.readBlocks++
		q.readPostings += q.held
	}
	q.held = 0
	clear(q.highest)
}

// wants is a term's weight in a query.
type wants struct {
	query  *bounded
	weight float64
}

// measureBlocks finds out what skipping blocks could spare.
func (b *bench) measureBlocks(ctx context.Context, n int, r *results) error {
	p, _, err := loaded(b, partSparse, n, sparse.Load)
	if err != nil {
		return err
	}
	terms := map[uint32][]wants{}
	sets := make([][]*bounded, len(b.mixer.Sets))
	for i, set := range b.mixer.Sets {
		if sets[i], err = boundedQueries(ctx, p, set.Queries, terms); err != nil {
			return err
		}
	}
	for i := range n {
		v := b.mixer.Vector(i)
		for j, index := range v.Indices {
			for _, t := range terms[index] {
				t.query.add(index, t.weight*float64(v.Values[j]))
			}
		}
		for _, q := range slices.Concat(sets...) {
			if i%q.size == q.size-1 || i == n-1 {
				q.end()
			}
		}
	}
	for i, set := range b.mixer.Sets {
		for _, size := range blockSizes() {
			r.Blocks = append(r.Blocks, newBlockRow(n, set.Name, size, sets[i]))
		}
	}
	return nil
}

// newBlockRow is of the queries with blocks of size.
func newBlockRow(n int, set string, size int, queries []*bounded) blockRow {
	row, count := blockRow{Passages: n, Queries: set, Size: size}, 0.0
	for _, q := range queries {
		if q.size == size && q.allBlocks > 0 {
			row.Blocks += float64(q.readBlocks) / float64(q.allBlocks)
			row.Postings += float64(q.readPostings) / float64(q.allPostings)
			count++
		}
	}
	if count > 0 {
		row.Blocks, row.Postings = row.Blocks/count, row.Postings/count
	}
	return row
}

// boundedQueries are the first queries that have as many answers as are asked
// for, each with blocks of each size. Their terms are added to terms.
func boundedQueries(ctx context.Context, p *sparse.Postings, vectors []braid.SparseVector, terms map[uint32][]wants) (queries []*bounded, err error) {
	for _, v := range vectors {
		matches, err := p.Search(ctx, v, topk.Scan{K: best})
		if err != nil {
			return nil, err
		}
		if len(matches) < best {
			continue
		}
		for _, size := range blockSizes() {
			q := &bounded{size: size, needed: matches[best-1].Score, highest: map[uint32]float64{}}
			for i, index := range v.Indices {
				terms[index] = append(terms[index], wants{q, float64(v.Values[i])})
			}
			queries = append(queries, q)
		}
		if len(queries) == blockQueries*len(blockSizes()) {
			break
		}
	}
	return queries, nil
}
