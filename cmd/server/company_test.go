package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/braid-search/braid/internal/httpapi"
)

// A vector is the same to the bit whatever else is encoded with it or at the
// same time: alone, in one list of all, and in the lists of 16 clients at once.
// With -soak there are 1,000 texts.
func TestVectorsDoNotDependOnCompany(t *testing.T) {
	n := 20
	if *soakFor > 0 {
		n = 1000
	}
	k := newTruths(t, randomTexts(rand.New(rand.NewPCG(1, 2)), n, 400), false)
	s := serveOn(t, t.TempDir())
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}

	for i := range all {
		if err := answered(t, s.base, k.askTEI([]int{i})); err != nil {
			t.Fatalf("alone: %v", err)
		}
	}
	for _, whole := range []question{k.askTEI(all), k.askBase64(all)} {
		if err := answered(t, s.base, whole); err != nil {
			t.Errorf("all in one list: %v", err)
		}
	}

	// Every text is asked for twice, in lists of 1 to 40 shuffled texts.
	rng := rand.New(rand.NewPCG(3, 4))
	work := make(chan question, 2*n) // room for lists of one text each
	kinds := []func([]int) question{k.askTEI, k.askFloat, k.askBase64}
	for _, order := range [][]int{rng.Perm(n), rng.Perm(n)} {
		for len(order) > 0 {
			size := min(1+rng.IntN(40), len(order))
			work <- kinds[rng.IntN(len(kinds))](order[:size])
			order = order[size:]
		}
	}
	close(work)
	var clients sync.WaitGroup
	for range 16 {
		clients.Go(func() {
			for q := range work {
				if err := answered(t, s.base, q); err != nil {
					t.Errorf("16 clients: %v", err)
				}
			}
		})
	}
	clients.Wait()
}

// answered asks q and checks the answer.
func answered(t *testing.T, base string, q question) error {
	status, answer, err := send(t.Context(), http.DefaultClient, http.MethodPost, base+q.path, bytes.NewReader(q.body))
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%d %s", status, answer)
	}
	if err == nil {
		err = q.check(answer)
	}
	return err
}

// The longest list a client may send is taken whole; one text more is refused
// with the number.
func TestLongestList(t *testing.T) {
	s := serveOn(t, t.TempDir())
	ask := func(n int) (int, []byte) {
		body, err := json.Marshal(map[string]any{"inputs": slices.Repeat([]string{"seal"}, n)})
		if err != nil {
			t.Fatal(err)
		}
		status, answer, err := send(t.Context(), http.DefaultClient, http.MethodPost, s.base+"/embed", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return status, answer
	}
	var vectors [][]float32
	status, answer := ask(httpapi.MaxInputs)
	if err := json.Unmarshal(answer, &vectors); err != nil || status != http.StatusOK || len(vectors) != httpapi.MaxInputs {
		t.Fatalf("%d texts: status %d, %d vectors, %v", httpapi.MaxInputs, status, len(vectors), err)
	}
	for i, v := range vectors {
		if !slices.Equal(v, vectors[0]) {
			t.Fatalf("vector %d of equal texts differs", i)
		}
	}
	status, answer = ask(httpapi.MaxInputs + 1)
	if limit := fmt.Sprint(httpapi.MaxInputs); status != http.StatusRequestEntityTooLarge || !strings.Contains(string(answer), limit) {
		t.Errorf("one more: %d %s", status, answer)
	}
}
