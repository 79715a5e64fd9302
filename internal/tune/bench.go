package tune

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/search"
)

// Bench asks one collection as if it had another profile. It keeps what models
// and branches answer for as long as it lives; the collection must not change
// meanwhile. It tries one profile at a time and is not safe for concurrent use.
type Bench struct {
	service *search.Service
	trial   *trial
	start   search.Profile
}

// NewBench returns a bench for the collection called name. It fails with
// braid.NotFound when there is none and with braid.Conflict when its profile
// cannot be read.
func NewBench(ctx context.Context, engine index.Engine, models search.Models, name string) (*Bench, error) {
	kept, err := search.New(engine, models, nil).Profile(ctx, name)
	if err != nil {
		return nil, err
	}
	c, err := engine.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	t := &trial{Collection: c}
	return &Bench{service: search.New(trialEngine{engine, t}, memoise(models), nil), trial: t, start: kept.Profile}, nil
}

// Start is the profile the collection has.
func (b *Bench) Start() search.Profile { return b.start }

// branches returns those that the collection has.
func (b *Bench) branches() []braid.Branch {
	schema := b.trial.Info().Schema
	return slices.DeleteFunc(braid.Branches(), func(branch braid.Branch) bool {
		return branch == braid.Dense && schema.Dense.Name == "" || branch == braid.Sparse && schema.Sparse.Name == ""
	})
}

// Answers asks every query under profile p and hands each answer to take, which
// is called from several goroutines at once. It fails with the first error, and
// with the code of a degraded answer: a setting must not be judged by those.
func (b *Bench) Answers(ctx context.Context, p search.Profile, queries []eval.Query, limit int, take func(i int, answer *search.Response)) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	b.trial.profile.Store(&index.Profile{Version: 1, JSON: data})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(queries)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(queries) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				answer, err := b.ask(ctx, queries[i].Text, limit)
				if err != nil {
					cancel(fmt.Errorf("query %q: %w", queries[i].ID, err))
					return
				}
				take(i, answer)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (b *Bench) ask(ctx context.Context, query string, limit int) (*search.Response, error) {
	syntax := false // as in an evaluation, a quote in a query quotes
	answer, err := b.service.Search(ctx, b.trial.Info().Name, search.Request{Query: query, Limit: &limit, Syntax: &syntax})
	if err != nil {
		return nil, err
	}
	if len(answer.Degraded) > 0 {
		d := answer.Degraded[0]
		return nil, braid.Errorf(d.Code, "answered without %s: %s", d.Stage, d.Message)
	}
	return answer, nil
}

// scores measures profile p, query by query.
func (b *Bench) scores(ctx context.Context, p search.Profile, queries []eval.Query, m eval.Metric, asked func()) ([]float64, error) {
	scores := make([]float64, len(queries))
	err := b.Answers(ctx, p, queries, m.Depth(), func(i int, answer *search.Response) {
		scores[i] = m.Score(queries[i].Judgments, documents(answer.Hits))
		asked()
	})
	return scores, err
}

// documents returns the ids of the hits, each where its best passage stands.
func documents(hits []search.Hit) []string {
	ids := make([]string, 0, len(hits))
	for _, h := range hits {
		if !slices.Contains(ids, h.ID) {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

// trialEngine opens one collection with a profile on trial.
type trialEngine struct {
	index.Engine
	trial *trial
}

func (e trialEngine) Open(ctx context.Context, name string) (index.Collection, error) {
	if name == e.trial.Info().Name {
		return e.trial, nil
	}
	return e.Engine.Open(ctx, name)
}

// trial is a collection that says it has another profile, and keeps what its
// branches find.
type trial struct {
	index.Collection
	profile  atomic.Pointer[index.Profile]
	rankings memo[rankingKey, ranking]
}

// rankingKey is all that a ranking among all documents depends on.
type rankingKey struct {
	branch braid.Branch
	query  [sha256.Size]byte
	k      int
}

type ranking struct {
	hits   []braid.Hit
	method index.Method
}

func (t *trial) Profile() index.Profile { return *t.profile.Load() }

func (t *trial) SearchDense(ctx context.Context, vector []float32, q index.Query) ([]braid.Hit, error) {
	return t.find(braid.Dense, bits(nil, vector), q, func(q index.Query) ([]braid.Hit, error) {
		return t.Collection.SearchDense(ctx, vector, q)
	})
}

func (t *trial) SearchSparse(ctx context.Context, vector braid.SparseVector, q index.Query) ([]braid.Hit, error) {
	var data []byte
	for _, id := range vector.Indices {
		data = binary.LittleEndian.AppendUint32(data, id)
	}
	return t.find(braid.Sparse, bits(data, vector.Values), q, func(q index.Query) ([]braid.Hit, error) {
		return t.Collection.SearchSparse(ctx, vector, q)
	})
}

func (t *trial) SearchLexical(ctx context.Context, text string, q index.Query) ([]braid.Hit, error) {
	return t.find(braid.Lexical, []byte(text), q, func(q index.Query) ([]braid.Hit, error) {
		return t.Collection.SearchLexical(ctx, text, q)
	})
}

func (t *trial) find(branch braid.Branch, query []byte, q index.Query, retrieve func(index.Query) ([]braid.Hit, error)) ([]braid.Hit, error) {
	if q.Allowed != nil {
		return retrieve(q)
	}
	key := rankingKey{branch, sha256.Sum256(query), q.K}
	r, known := t.rankings.get(key)
	if !known {
		var err error
		own := q
		own.Method = &r.method
		if r.hits, err = retrieve(own); err != nil {
			return nil, err
		}
		t.rankings.put(key, r)
	}
	if q.Method != nil {
		*q.Method = r.method
	}
	return slices.Clone(r.hits), nil
}

func bits(data []byte, values []float32) []byte {
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return data
}
