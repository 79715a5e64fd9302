package inference

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
	"github.com/braid-search/braid/models/detect"
)

// families holds small models of other families than BERT's, with what Python
// makes of them; see families.py there.
const families = "../models/detect/testdata"

// familyGolden is one item of golden.json.
type familyGolden struct {
	Query  *string  `json:"query"` // of a pair
	Text   string   `json:"text"`
	Role   string   `json:"role"`
	IDs    []uint32 `json:"ids"`
	Values float32s `json:"values"`
}

func (g familyGolden) request() Request {
	role := RolePassage
	if g.Role == "query" {
		role = RoleQuery
	}
	return Request{Texts: []string{g.Text}, Role: role}
}

func familyGoldens(t *testing.T, name string) []familyGolden {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(families, "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string][]familyGolden
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	if len(all[name]) == 0 {
		t.Fatalf("no goldens for %q", name)
	}
	return all[name]
}

// addFamily installs a model the way `braid models add` does.
func addFamily(t *testing.T, folder string, opts detect.Options) *models.Model {
	t.Helper()
	opts.Name = filepath.Base(folder)
	result, err := detect.Inspect(os.DirFS(folder), opts)
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Install(t.TempDir(), result.Manifest, os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// near fails unless the two agree to within tolerance in every place.
func near(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Abs(float64(got[i])-float64(want[i])) > tolerance {
			t.Errorf("%s: value %d is %g, want %g", what, i, got[i], want[i])
			return
		}
	}
}

func TestFamiliesDense(t *testing.T) {
	r := openRuntime(t, Options{})
	for _, name := range []string{"distilbert-dense", "xlmr-dense"} {
		head, err := r.NewDense(addFamily(t, filepath.Join(families, name), detect.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range familyGoldens(t, name) {
			got, _, err := head.Embed(context.Background(), g.request())
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+" "+g.Role+" "+g.Text, got[0].Vector, g.Values, 1e-5)
			if !got[0].Truncated && got[0].Tokens != len(g.IDs) {
				t.Errorf("%s %q has %d tokens, want %d", name, g.Text, got[0].Tokens, len(g.IDs))
			}
		}
	}
}

func TestFamiliesPair(t *testing.T) {
	r := openRuntime(t, Options{})
	head, err := r.NewPair(addFamily(t, filepath.Join(families, "roberta-reranker"), detect.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range familyGoldens(t, "roberta-reranker") {
		tokens, err := head.Tokens(context.Background(), []string{g.Text})
		if err != nil {
			t.Fatal(err)
		}
		for _, passage := range []Passage{{Text: g.Text}, {Tokens: tokens[0]}} {
			got, _, err := head.Score(context.Background(), PairRequest{Query: *g.Query, Passages: []Passage{passage}})
			if err != nil {
				t.Fatal(err)
			}
			near(t, *g.Query+" / "+g.Text, []float32{got[0].Logit}, g.Values, 1e-5)
		}
	}
}

// Python's ids say that special tokens stand where this family wants them.
func TestRobertaTemplate(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(families, "roberta-reranker", "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	tok, err := newTokenizer(data)
	if err != nil {
		t.Fatal(err)
	}
	defer tok.close()
	for _, g := range familyGoldens(t, "roberta-reranker") {
		const room = 64 - 4
		q, err := tok.encode(*g.Query, room)
		if err != nil {
			t.Fatal(err)
		}
		p, err := tok.encode(g.Text, room)
		if err != nil {
			t.Fatal(err)
		}
		a, b := share(q.count, p.count, room)
		got := assemble(tok.template.pair, q.ids[:a], p.ids[:b])
		if !slices.Equal(got.ids, g.IDs) || slices.Max(got.types) != 0 {
			t.Errorf("%q / %q: ids %v, types %v, want %v", *g.Query, g.Text, got.ids, got.types, g.IDs)
		}
	}
}

func TestTokenLogitsAndQueryWeights(t *testing.T) {
	r := openRuntime(t, Options{})
	head, err := r.NewSparse(addFamily(t, filepath.Join(families, "distilbert-splade"), detect.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.SelfTest(context.Background()); err != nil {
		t.Fatal(err)
	}
	weighed := 0
	for _, g := range familyGoldens(t, "distilbert-splade") {
		got, timing, err := head.Expand(context.Background(), g.request())
		if err != nil {
			t.Fatal(err)
		}
		if err := got[0].Vector.Validate(); err != nil {
			t.Errorf("%s %q: %v", g.Role, g.Text, err)
		}
		near(t, g.Role+" "+g.Text, full(got[0].Vector, len(g.Values)), g.Values, 1e-5)
		if g.Role == "query" {
			weighed += len(got[0].Vector.Indices)
			if timing.Compute != 0 || timing.Queue != 0 {
				t.Errorf("query %q was run: %+v", g.Text, timing)
			}
		}
	}
	if weighed < 20 {
		t.Errorf("all queries together have %d weights", weighed)
	}
}

// full writes a sparse vector out.
func full(v braid.SparseVector, n int) []float32 {
	values := make([]float32, n)
	for i, index := range v.Indices {
		values[index] = v.Values[i]
	}
	return values
}

// A list and each text alone get the same bits, pooled here as in the graph.
func TestTokenLogitsDoNotDependOnBatchMates(t *testing.T) {
	r := openRuntime(t, Options{})
	head, err := r.NewSparse(addFamily(t, filepath.Join(families, "distilbert-splade"), detect.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"reset the pump", "open the valve", "tram schedule", "reset the pump", "a", ""}
	list, _, err := head.Expand(context.Background(), Request{Texts: texts, Role: RolePassage})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		alone, _, err := head.Expand(context.Background(), Request{Texts: []string{text}, Role: RolePassage})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(alone[0].Vector.Values, list[i].Vector.Values) || !slices.Equal(alone[0].Vector.Indices, list[i].Vector.Indices) {
			t.Errorf("%q differs in a list", text)
		}
	}
}

func TestPoolLogitsFindsNonFinite(t *testing.T) {
	m := models.Manifest{Dimensions: 2, Output: models.Output{Form: models.TokenLogits}, Pooling: models.SPLADEPooling}
	if got, ok := poolLogits(m, []float32{-1, 3, 1, 2}); !ok || got[0] != float32(math.Log1p(1)) || got[1] != float32(math.Log1p(3)) {
		t.Errorf("got %v, %t", got, ok)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, bad := range [][]float32{{nan, 0, 1, 1}, {1, 1, 0, nan}, {inf, 0, 1, 1}, {1, 1, 1, -inf}} {
		if _, ok := poolLogits(m, bad); ok {
			t.Errorf("%v passed", bad)
		}
	}
}

func TestBadQueryWeights(t *testing.T) {
	r := openRuntime(t, Options{})
	m := addFamily(t, filepath.Join(families, "distilbert-splade"), detect.Options{})
	for table, want := range map[string]string{
		`{}`:                        "is empty",
		`null`:                      "is empty",
		`[1]`:                       "not an object",
		`{"pump": "heavy"}`:         "not an object",
		`{"pump": 1e400}`:           "not an object",
		`{"[CLS]": -1}`:             "want 0 or more",
		`{"no such token here": 1}`: "belongs to another tokenizer",
	} {
		broken := copyOf(m, t.TempDir())
		for _, file := range []string{m.Graph, m.Tokenizer} {
			data, err := os.ReadFile(m.Path(file))
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, broken.Path(file), data)
		}
		writeFile(t, broken.Path(m.QueryWeights), []byte(table))
		_, err := r.NewSparse(broken)
		if braid.CodeOf(err) != braid.Corrupt || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want … %s", table, err, want)
		}
	}
}

func TestMiniLM(t *testing.T) {
	folder := filepath.Join(local, "minilm")
	if _, err := os.Stat(filepath.Join(folder, "all-minilm-l6-v2.onnx")); err != nil {
		t.Skip("skipped: no all-MiniLM-L6-v2: run scripts/minilm")
	}
	data, err := os.ReadFile(filepath.Join(families, "minilm_golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var goldens []struct {
		Text   string   `json:"text"`
		Tokens int      `json:"tokens"`
		Values float32s `json:"values"`
	}
	if err := json.Unmarshal(data, &goldens); err != nil {
		t.Fatal(err)
	}
	head, err := openRuntime(t, Options{}).NewDense(addFamily(t, folder, detect.Options{Pooling: models.MeanPooling}))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range goldens {
		got, _, err := head.Embed(context.Background(), Request{Texts: []string{g.Text}})
		if err != nil {
			t.Fatal(err)
		}
		if cosine := dot(got[0].Vector, g.Values); cosine < 0.99999 {
			t.Errorf("%.40q has cosine %f with the reference", g.Text, cosine)
		}
		if want := min(got[0].Tokens, 512); want != g.Tokens {
			t.Errorf("%.40q has %d tokens, want %d", g.Text, got[0].Tokens, g.Tokens)
		}
	}
}
