package inference

import (
	"context"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
)

// The catalogue's dense graph gives the first token's state alone, [texts, 1,
// dimensions]. That is noticed, and it cannot be pooled in another way.
func TestGraphOfTheFirstToken(t *testing.T) {
	r := openRuntime(t, Options{})
	d := openDense(t, r)
	if got := d.head.session.graph.outputShape(2, 7); !slices.Equal(got, []int64{2, 1, 384}) {
		t.Errorf("output for 2 texts of 7 tokens is %v, want [2 1 384]", got)
	}
	m := openModel(t, "bge-small-en-v1.5")
	m.Pooling = models.MeanPooling
	_, err := r.NewDense(m)
	wantFault(t, err, braid.Corrupt, m.Name, "last_hidden_state", "first token's alone", "cls")
}

// Texts that share a run each get their own state, on a graph that has one a text.
func TestTextsShareARunOfTheFirstToken(t *testing.T) {
	m := openModel(t, "bge-small-en-v1.5")
	m.Quantization = models.NotQuantized // lets texts share a run
	d, err := openRuntime(t, Options{}).NewDense(m)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"crane", "potato", "storm"}
	together, _, err := d.Embed(context.Background(), Request{Texts: texts})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		alone, _, err := d.Embed(context.Background(), Request{Texts: []string{text}})
		if err != nil {
			t.Fatal(err)
		}
		// Apart from what batch mates do to the scales of a run.
		if cosine := dot(alone[0].Vector, together[i].Vector); cosine < 0.98 {
			t.Errorf("%s: cosine %.4f between a run of its own and a shared one", text, cosine)
		}
	}
}
