package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/testenv"
	"github.com/braid-search/braid/rerank"
)

// truths are texts and what the models make of each when they have it to
// themselves, in this process and without HTTP.
type truths struct {
	texts  []string
	dense  [][]float32
	sparse []braid.SparseVector // nil if not asked for
	logits []float32            // of the texts as passages of query; nil if not asked for
	query  string

	searches []searched
}

// searched is a search and the hits an idle server found.
type searched struct {
	body []byte
	hits json.RawMessage
}

// randomTexts returns n texts of 1 to longest words.
func randomTexts(rng *rand.Rand, n, longest int) []string {
	vocabulary := strings.Fields("pump seal valve harbour crane storm quay ERR-104 torque Café 東京 node.js C++ grease inlet pressure " +
		"replace the before after every of and a with under warning bearing hydraulic 2,500 rpm shaft coupling U-0042 ü 🚀 antidisestablishment")
	texts := make([]string, n)
	for i := range texts {
		words := make([]string, 1+rng.IntN(longest))
		for j := range words {
			words[j] = vocabulary[rng.IntN(len(vocabulary))]
		}
		texts[i] = fmt.Sprintf("%d %s", i, strings.Join(words, " "))
	}
	return texts
}

// newTruths encodes each text alone.
func newTruths(t *testing.T, texts []string, allModels bool) *truths {
	t.Helper()
	runtime, set, err := testenv.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := runtime.Close(); err != nil {
			t.Error(err)
		}
	}()
	k := &truths{texts: texts, query: "which seal does the pump of quay 7 need"}
	for _, text := range texts {
		alone := inference.Request{Texts: []string{text}, Role: inference.RolePassage}
		dense, _, err := set.Dense[0].Head.Embed(t.Context(), alone)
		if err != nil {
			t.Fatal(err)
		}
		k.dense = append(k.dense, dense[0].Vector)
		if !allModels {
			continue
		}
		sparse, _, err := set.Sparse[0].Head.Expand(t.Context(), alone)
		if err != nil {
			t.Fatal(err)
		}
		k.sparse = append(k.sparse, sparse[0].Vector)
		pairs, _, err := set.Pair[0].Head.Score(t.Context(), inference.PairRequest{Query: k.query, Passages: []inference.Passage{{Text: text}}})
		if err != nil {
			t.Fatal(err)
		}
		k.logits = append(k.logits, pairs[0].Logit)
	}
	return k
}

// question is a request and the check of its answer's body.
type question struct {
	path  string
	body  []byte
	check func(answer []byte) error
}

// ask returns a question of any kind about up to most texts.
func (k *truths) ask(rng *rand.Rand, most int) question {
	picks := make([]int, 1+rng.IntN(most))
	for i := range picks {
		picks[i] = rng.IntN(len(k.texts))
	}
	kinds := []func([]int) question{k.askTEI, k.askFloat, k.askBase64, k.askSparse, k.askRerank}
	if kind := rng.IntN(len(kinds) + 1); kind < len(kinds) {
		return kinds[kind](picks)
	}
	return k.askSearch(k.searches[rng.IntN(len(k.searches))])
}

func newQuestion(path string, body any, check func([]byte) error) question {
	data, err := json.Marshal(body)
	if err != nil {
		panic(err) // strings always encode
	}
	return question{path, data, check}
}

func (k *truths) pick(picks []int) []string {
	list := make([]string, len(picks))
	for i, p := range picks {
		list[i] = k.texts[p]
	}
	return list
}

func (k *truths) askTEI(picks []int) question {
	return newQuestion("/embed", map[string]any{"inputs": k.pick(picks)}, func(answer []byte) error {
		var vectors [][]float32
		if err := json.Unmarshal(answer, &vectors); err != nil {
			return err
		}
		return k.sameVectors(picks, vectors)
	})
}

func (k *truths) askFloat(picks []int) question {
	return newQuestion("/v1/embeddings", map[string]any{"input": k.pick(picks)}, func(answer []byte) error {
		return checkOpenAI(k, picks, answer, func(v []float32) ([]float32, error) { return v, nil })
	})
}

func (k *truths) askBase64(picks []int) question {
	return newQuestion("/v1/embeddings", map[string]any{"input": k.pick(picks), "encoding_format": "base64"}, func(answer []byte) error {
		return checkOpenAI(k, picks, answer, unpack)
	})
}

func unpack(packed string) ([]float32, error) {
	raw, err := base64.StdEncoding.DecodeString(packed)
	vector := make([]float32, 0, len(raw)/4)
	for ; len(raw) >= 4; raw = raw[4:] {
		vector = append(vector, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	return vector, err
}

func checkOpenAI[E any](k *truths, picks []int, answer []byte, vector func(E) ([]float32, error)) error {
	var list struct {
		Data []struct {
			Index     int
			Embedding E
		}
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return err
	}
	vectors := make([][]float32, len(list.Data))
	for i, item := range list.Data {
		if item.Index != i {
			return fmt.Errorf("item %d has index %d", i, item.Index)
		}
		var err error
		if vectors[i], err = vector(item.Embedding); err != nil {
			return err
		}
	}
	return k.sameVectors(picks, vectors)
}

// sameVectors wants the very bits.
func (k *truths) sameVectors(picks []int, vectors [][]float32) error {
	if len(vectors) != len(picks) {
		return fmt.Errorf("%d vectors for %d texts", len(vectors), len(picks))
	}
	for i, p := range picks {
		if !slices.Equal(vectors[i], k.dense[p]) {
			return fmt.Errorf("text %d of %d, %q: another vector than alone", i, len(picks), k.texts[p])
		}
	}
	return nil
}

func (k *truths) askSparse(picks []int) question {
	return newQuestion("/embed_sparse", map[string]any{"inputs": k.pick(picks)}, func(answer []byte) error {
		var vectors [][]struct {
			Index uint32
			Value float32
		}
		if err := json.Unmarshal(answer, &vectors); err != nil {
			return err
		}
		if len(vectors) != len(picks) {
			return fmt.Errorf("%d sparse vectors for %d texts", len(vectors), len(picks))
		}
		for i, p := range picks {
			var got braid.SparseVector
			for _, entry := range vectors[i] {
				got.Indices, got.Values = append(got.Indices, entry.Index), append(got.Values, entry.Value)
			}
			if err := nearSparse(got, k.sparse[p]); err != nil {
				return fmt.Errorf("text %d of %d, %q: %w", i, len(picks), k.texts[p], err)
			}
		}
		return nil
	})
}

// nearSparse allows what batches of float32 models may differ by.
func nearSparse(got, want braid.SparseVector) error {
	const tolerance = 1e-4
	if !slices.Equal(got.Indices, want.Indices) {
		return fmt.Errorf("%d entries, other ones than the %d alone", len(got.Indices), len(want.Indices))
	}
	for i, v := range got.Values {
		if math.Abs(float64(v-want.Values[i])) > tolerance {
			return fmt.Errorf("weight of %d is %v, alone it is %v", got.Indices[i], v, want.Values[i])
		}
	}
	return nil
}

func (k *truths) askRerank(picks []int) question {
	return newQuestion("/v1/rerank", map[string]any{"query": k.query, "documents": k.pick(picks)}, func(answer []byte) error {
		var ranking struct {
			Results []struct {
				Index int
				Score float64 `json:"relevance_score"`
			}
		}
		if err := json.Unmarshal(answer, &ranking); err != nil {
			return err
		}
		order := make([]int, len(picks))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(k.logits[picks[b]], k.logits[picks[a]])
		})
		if len(ranking.Results) != len(order) {
			return fmt.Errorf("%d results for %d documents", len(ranking.Results), len(order))
		}
		for i, r := range ranking.Results {
			if want := rerank.Probability(k.logits[picks[order[i]]]); r.Index != order[i] || r.Score != want {
				return fmt.Errorf("place %d has document %d with %v, want %d with %v", i, r.Index, r.Score, order[i], want)
			}
		}
		return nil
	})
}

func (k *truths) askSearch(s searched) question {
	return question{"/v1/collections/soak/search", s.body, func(answer []byte) error {
		hits, err := hitsOf(answer)
		if err == nil && !bytes.Equal(hits, s.hits) {
			err = fmt.Errorf("%s: other hits than an idle server found", s.body)
		}
		return err
	}}
}

func hitsOf(answer []byte) (json.RawMessage, error) {
	var found struct {
		Hits     json.RawMessage
		Degraded json.RawMessage
	}
	err := json.Unmarshal(answer, &found)
	if err == nil && found.Degraded != nil {
		err = fmt.Errorf("degraded: %s", found.Degraded)
	}
	return found.Hits, err
}

// fill makes a collection of the first texts and learns the hits of a few
// searches while the server does nothing else.
func (k *truths) fill(t *testing.T, base string) {
	t.Helper()
	var docs []braid.Document
	for i, text := range k.texts[:40] {
		docs = append(docs, braid.Document{ID: fmt.Sprintf("d%02d", i), Text: text})
	}
	data, err := json.Marshal(docs)
	if err != nil {
		t.Fatal(err)
	}
	mustSend(t, http.MethodPut, base+"/v1/collections/soak", nil)
	mustSend(t, http.MethodPost, base+"/v1/collections/soak/documents", data)
	for _, query := range []string{"pump seal", "storm warning at the quay", "ERR-104", "U-0042 grease", "東京"} {
		for _, mode := range []string{"hybrid", "dense", "sparse", "lexical"} {
			body := fmt.Appendf(nil, `{"query": %q, "mode": %q, "limit": 5, "rerank_depth": 5}`, query, mode)
			hits, err := hitsOf(mustSend(t, http.MethodPost, base+"/v1/collections/soak/search", body))
			if err != nil {
				t.Fatal(err)
			}
			k.searches = append(k.searches, searched{body, hits})
		}
	}
}

func mustSend(t *testing.T, method, url string, body []byte) []byte {
	t.Helper()
	status, answer, err := send(t.Context(), http.DefaultClient, method, url, bytes.NewReader(body))
	if err != nil || status >= 300 {
		t.Fatalf("%s %s: %d %s %v", method, url, status, answer, err)
	}
	return answer
}

// send makes one request and reads the whole answer.
func send(ctx context.Context, client *http.Client, method, url string, body io.Reader) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}
