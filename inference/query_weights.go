package inference

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
)

// queryWeights reads the model's token-weight table: by token id, 0 for tokens
// that it does not list and for special ones. This is the query side of
// inference-free SPLADE (Geng et al. 2024, "Towards competitive search relevance
// for inference-free learned sparse retrievers"), where the weight is an idf.
func queryWeights(m *models.Model, tokenizer []byte, tokens []string) ([]float32, error) {
	data, err := os.ReadFile(m.Path(m.QueryWeights))
	if err != nil {
		return nil, err
	}
	var table map[string]float32
	if err := json.Unmarshal(data, &table); err != nil {
		return nil, fmt.Errorf("%s is not an object of token and weight: %w", m.QueryWeights, err)
	}
	if len(table) == 0 {
		return nil, errors.New("the table is empty")
	}
	ids := make(map[string]int, len(tokens))
	for id, token := range tokens {
		ids[token] = id
	}
	weights := make([]float32, m.Dimensions)
	for token, weight := range table {
		id, known := ids[token]
		if !known || id >= len(weights) {
			return nil, fmt.Errorf("token %q is not in the vocabulary: the table belongs to another tokenizer", token)
		}
		if weight < 0 || math.IsInf(float64(weight), 0) {
			return nil, fmt.Errorf("token %q has weight %g, want 0 or more", token, weight)
		}
		weights[id] = weight
	}
	special, err := specialIDs(tokenizer)
	if err != nil {
		return nil, err
	}
	for _, id := range special {
		if int(id) < len(weights) {
			weights[id] = 0
		}
	}
	return weights, nil
}

// weigh gives each distinct token its weight.
func weigh(ids []uint32, weights []float32) braid.SparseVector {
	var v braid.SparseVector
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if int(id) < len(weights) && weights[id] > 0 {
			v.Indices = append(v.Indices, id)
			v.Values = append(v.Values, weights[id])
		}
	}
	return v
}
