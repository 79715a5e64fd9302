package tune

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/search"
)

const (
	// MinQueries is how many labelled queries there must be: with fewer a gain of
	// the usual size cannot be told from chance.
	MinQueries = 20
	// FewQueries is how many there should be.
	FewQueries = 100
)

// Split divides queries at random, by the seed, so that a share of each kind is
// held out. Both parts keep the order of queries. It fails with
// braid.InvalidArgument when share leaves a part without queries.
func Split(queries []eval.Query, share float64, seed uint64) (dev, heldOut []eval.Query, err error) {
	if !(share > 0 && share < 1) {
		return nil, nil, braid.Errorf(braid.InvalidArgument, "the share held out is %v, want more than 0 and less than 1", share)
	}
	if len(queries) < MinQueries {
		return nil, nil, braid.Errorf(braid.InvalidArgument, "there are %d labelled queries, tuning needs at least %d and better %d: with fewer a gain cannot be told from chance", len(queries), MinQueries, FewQueries)
	}
	kinds := map[search.Kind][]int{}
	for i, q := range queries {
		kind := search.Route(q.Text).Kind
		kinds[kind] = append(kinds[kind], i)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	var order []int
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		members := kinds[kind]
		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		order = append(order, members...)
	}
	// Every 1/share-th of the order is held out, so each kind gives its share.
	out := make([]bool, len(queries))
	for n, i := range order {
		out[i] = math.Floor(float64(n+1)*share) > math.Floor(float64(n)*share)
	}
	for i, q := range queries {
		if out[i] {
			heldOut = append(heldOut, q)
		} else {
			dev = append(dev, q)
		}
	}
	if len(dev) == 0 || len(heldOut) == 0 {
		return nil, nil, braid.Errorf(braid.InvalidArgument, "holding %v of %d queries out leaves %d to tune on and %d to test on: use a share nearer 0.5", share, len(queries), len(dev), len(heldOut))
	}
	return dev, heldOut, nil
}
