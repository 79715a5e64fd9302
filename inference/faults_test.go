package inference

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
)

// withNaN copies a model and makes one value of a float32 initializer NaN.
func withNaN(t *testing.T, m *models.Model, tensor string, at int) *models.Model {
	t.Helper()
	data, err := os.ReadFile(m.GraphPath())
	if err != nil {
		t.Fatal(err)
	}
	// In a serialised TensorProto raw_data (field 9) follows the name.
	_, after, found := bytes.Cut(data, append([]byte(tensor), 9<<3|2))
	if !found {
		t.Fatalf("no initializer %q with raw data in %s", tensor, m.GraphPath())
	}
	size, n := binary.Uvarint(after)
	if n <= 0 || uint64(4*at+4) > size {
		t.Fatalf("initializer %q has %d bytes, no value %d", tensor, size, at)
	}
	binary.LittleEndian.PutUint32(after[n+4*at:], math.Float32bits(float32(math.NaN())))
	broken := copyOf(m, t.TempDir())
	writeFile(t, broken.GraphPath(), data)
	tokenizer, err := os.ReadFile(m.TokenizerPath())
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, broken.TokenizerPath(), tokenizer)
	return broken
}

func copyOf(m *models.Model, dir string) *models.Model {
	c := &models.Model{Manifest: m.Manifest, Dir: dir}
	c.Name += "-broken"
	return c
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantFault fails unless err is of the code and its message holds every part.
func wantFault(t *testing.T, err error, code braid.Code, parts ...string) {
	t.Helper()
	if braid.CodeOf(err) != code {
		t.Errorf("got %v (%s), want %s", err, braid.CodeOf(err), code)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestNonFiniteOutputIsAnError(t *testing.T) {
	r := openRuntime(t, Options{})
	healthy := openSparse(t, r)
	ctx := context.Background()
	texts := Request{Texts: []string{"goodbye", strings.Repeat("hello ", 50)}}

	dense, err := r.NewDense(withNaN(t, openModel(t, "bge-small-en-v1.5"), "embeddings.LayerNorm.weight", 7))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = dense.Embed(ctx, texts)
	wantFault(t, err, braid.Corrupt, "bge-small-en-v1.5-broken", "item ", "non-finite")

	pair, err := r.NewPair(withNaN(t, openModel(t, "ms-marco-minilm-l12-v2"), "bert.encoder.layer.3.output.LayerNorm.weight", 0))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = pair.Score(ctx, PairRequest{Query: "query", Passages: []Passage{{Text: "passage"}}, Lane: LaneQuery})
	wantFault(t, err, braid.Corrupt, "ms-marco-minilm-l12-v2-broken", "item 0", "non-finite")

	wantFault(t, r.SelfTest(ctx), braid.Corrupt, "bge-small-en-v1.5-broken", "ms-marco-minilm-l12-v2-broken")

	// One position's embedding is broken: only texts that reach it fail.
	const position, hidden = 20, 128
	sparse, err := r.NewSparse(withNaN(t, openModel(t, "splade-tiny"), "position_embeddings", position*hidden+5))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = sparse.Expand(ctx, texts)
	wantFault(t, err, braid.Corrupt, "splade-tiny-broken", "item 1", "non-finite")
	got, _, err := sparse.Expand(ctx, Request{Texts: []string{"goodbye"}})
	if err != nil || len(got[0].Vector.Indices) == 0 {
		t.Errorf("a text that does not meet the fault: %v, %v", got, err)
	}
	if _, _, err := healthy.Expand(ctx, texts); err != nil {
		t.Errorf("another model: %v", err)
	}
}

func TestLoadRefusesWhatItDoesNotUnderstand(t *testing.T) {
	r := openRuntime(t, Options{})
	for _, c := range []struct {
		name  string
		edit  func(*models.Manifest)
		code  braid.Code
		parts []string
	}{
		{"kind", func(m *models.Manifest) { m.Kind = models.Sparse }, braid.InvalidArgument, []string{"sparse", "dense"}},
		{"unnamed input", func(m *models.Manifest) { m.Inputs.TypeIDs = "" }, braid.Corrupt, []string{"unknown input", "token_type_ids"}},
		{"no token ids", func(m *models.Manifest) {
			m.Inputs = models.Inputs{TokenIDs: "tokens", AttentionMask: "attention_mask"}
		}, braid.Corrupt, []string{"unknown input", "input_ids"}},
		{"output name", func(m *models.Manifest) { m.Output.Name = "pooler_output" }, braid.Corrupt, []string{"no output", "pooler_output", "last_hidden_state"}},
		{"output form", func(m *models.Manifest) { m.Output.Form = models.Pooled; m.Pooling = models.NoPooling }, braid.Corrupt, []string{"rank 2"}},
		{"dimensions", func(m *models.Manifest) { m.Dimensions = 768 }, braid.Corrupt, []string{"384", "768"}},
		{"room", func(m *models.Manifest) { m.MaxTokens = 4 }, braid.InvalidArgument, []string{"max_tokens 4"}},
		{"graph file", func(m *models.Manifest) { m.Graph = m.Tokenizer }, braid.Corrupt, []string{"graph"}},
		{"tokenizer file", func(m *models.Manifest) { m.Tokenizer = m.Graph }, braid.Corrupt, []string{"tokenizer"}},
		{"missing file", func(m *models.Manifest) { m.Graph = "missing.onnx" }, braid.Corrupt, []string{"missing.onnx"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := openModel(t, "bge-small-en-v1.5")
			c.edit(&m.Manifest)
			_, err := r.NewDense(m)
			wantFault(t, err, c.code, append(c.parts, m.Name)...)
		})
	}
	if models := r.Info().Models; len(models) != 0 {
		t.Errorf("refused models are listed: %v", models)
	}
}

func TestTruncatedGraphIsAnError(t *testing.T) {
	m := openModel(t, "splade-tiny")
	data, err := os.ReadFile(m.GraphPath())
	if err != nil {
		t.Fatal(err)
	}
	broken := copyOf(m, t.TempDir())
	writeFile(t, broken.GraphPath(), data[:len(data)/2])
	tokenizer, err := os.ReadFile(m.TokenizerPath())
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, broken.TokenizerPath(), tokenizer)
	_, err = openRuntime(t, Options{}).NewSparse(broken)
	wantFault(t, err, braid.Corrupt, broken.Name, "graph")
}

func TestOpenRefusesBadOptions(t *testing.T) {
	_, err := Open(Options{Slots: -1, QueueTokens: -2, BatchTokens: -3, SparseBatchTokens: -4, Device: "tpu"})
	wantFault(t, err, braid.InvalidArgument, "slots is -1", "queue tokens is -2", "batch tokens is -3", "sparse batch tokens is -4", "library", `"tpu"`)

	missing := filepath.Join(t.TempDir(), "libonnxruntime.so")
	_, err = Open(Options{Library: missing})
	wantFault(t, err, braid.Unavailable, missing)
	writeFile(t, missing, []byte("not a library"))
	_, err = Open(Options{Library: missing})
	wantFault(t, err, braid.Unavailable, missing)
	openRuntime(t, Options{}) // a failed Open leaves the place free
}
