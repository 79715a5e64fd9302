package httpapi_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/internal/testenv"
)

type embeddings struct {
	Object string
	Model  string
	Data   []struct {
		Object    string
		Index     int
		Embedding json.RawMessage
		Tokens    int
		Truncated bool
	}
	Usage map[string]int
}

func floats(t *testing.T, raw json.RawMessage) []float32 {
	t.Helper()
	var v []float32
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %.80s", err, raw)
	}
	return v
}

func TestEmbeddingsInBothEncodings(t *testing.T) {
	base, _ := start(t, nil)
	var plain, packed embeddings
	mustCall(t, "POST", base+"/v1/embeddings", `{"input":"wrench","model":"`+testenv.Dense+`"}`, &plain)
	mustCall(t, "POST", base+"/v1/embeddings", `{"input":"wrench","encoding_format":"base64"}`, &packed)
	var text string
	if err := json.Unmarshal(packed.Data[0].Embedding, &text); err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(data) != 1536 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	for i, want := range floats(t, plain.Data[0].Embedding) {
		if got := binary.LittleEndian.Uint32(data[4*i:]); got != math.Float32bits(want) {
			t.Fatalf("component %d differs", i)
		}
	}
	if plain.Object != "list" || plain.Model != testenv.Dense || plain.Data[0].Object != "embedding" || plain.Usage["prompt_tokens"] != 4 || plain.Usage["total_tokens"] != 4 {
		t.Errorf("object %q, model %q, usage %v", plain.Object, plain.Model, plain.Usage)
	}
}

func TestEmbeddingsKeepOrderAndSize(t *testing.T) {
	base, _ := start(t, nil)
	var inputs []string
	for i := range 300 {
		inputs = append(inputs, strings.Repeat("valve ", 1+i%40)+fmt.Sprint(i))
	}
	body, err := json.Marshal(map[string]any{"input": inputs})
	if err != nil {
		t.Fatal(err)
	}
	var all embeddings
	mustCall(t, "POST", base+"/v1/embeddings", string(body), &all)
	if len(all.Data) != len(inputs) {
		t.Fatalf("%d vectors", len(all.Data))
	}
	for i, d := range all.Data {
		if d.Index != i {
			t.Fatalf("item %d has index %d", i, d.Index)
		}
		if i%37 != 0 {
			continue
		}
		var one embeddings
		mustCall(t, "POST", base+"/v1/embeddings", `{"input":["`+inputs[i]+`"]}`, &one)
		if !slices.Equal(floats(t, one.Data[0].Embedding), floats(t, d.Embedding)) {
			t.Errorf("item %d is another vector alone", i)
		}
	}
}

func TestWhatClientsAndProxiesAdd(t *testing.T) {
	base, _ := start(t, nil)
	for _, body := range []string{
		`{"input":"ping","model":"","encoding_format":null,"dimensions":null,"user":null,"metadata":{"x":1},"proxy_server_request":{"url":"u"}}`,
		`{"input":["ping"],"dimensions":384,"input_type":"search_query"}`,
	} {
		var out embeddings
		mustCall(t, "POST", base+"/v1/embeddings", body, &out)
		if len(out.Data) != 1 || out.Data[0].Index != 0 {
			t.Errorf("%s: %+v", body, out)
		}
	}
	var query, passage embeddings
	mustCall(t, "POST", base+"/v1/embeddings", `{"input":"ping","input_type":"query"}`, &query)
	mustCall(t, "POST", base+"/v1/embeddings", `{"input":"ping","input_type":"passage"}`, &passage)
	if query.Data[0].Tokens <= passage.Data[0].Tokens {
		t.Error("the query prefix was not put before the query")
	}
}

func TestModelRoutesRefuse(t *testing.T) {
	base, _ := start(t, nil)
	many, err := json.Marshal(map[string]any{"input": make([]string, httpapi.MaxInputs+1)})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("water ", 600)
	for name, tc := range map[string]struct {
		path, body string
		status     int
		says       string
	}{
		"encoding":             {"/v1/embeddings", `{"input":"x","encoding_format":"md5"}`, 400, "float or base64"},
		"unknown model":        {"/v1/embeddings", `{"input":"x","model":"gpt"}`, 404, testenv.Dense},
		"model of a kind":      {"/v1/embeddings", `{"input":"x","model":"` + testenv.Reranker + `"}`, 400, "cross-encoder"},
		"dimensions":           {"/v1/embeddings", `{"input":"x","dimensions":64}`, 400, "384"},
		"token ids":            {"/v1/embeddings", `{"input":[[1,2],[3]]}`, 400, "check_embedding_ctx_length"},
		"one text's token ids": {"/v1/embeddings", `{"input":[1,2]}`, 400, "token ids"},
		"no input":             {"/v1/embeddings", `{}`, 400, "input is empty"},
		"empty list":           {"/v1/embeddings", `{"input":[]}`, 400, "input is empty"},
		"empty text":           {"/v1/embeddings", `{"input":["x",""]}`, 400, "input[1]"},
		"number":               {"/v1/embeddings", `{"input":7}`, 400, `"field":"input"`},
		"null in the list":     {"/v1/embeddings", `{"input":["x",null]}`, 400, "input[1] is not a string"},
		"too many":             {"/v1/embeddings", string(many), 413, fmt.Sprint(httpapi.MaxInputs)},
		"input type":           {"/v1/embeddings", `{"input":"x","input_type":"image"}`, 400, "search_query"},
		"no body":              {"/v1/embeddings", ``, 400, "no body"},
		"not JSON":             {"/embed", `inputs=x`, 400, "malformed"},
		"embed, nothing":       {"/embed", `{"inputs":[]}`, 400, "inputs is empty"},
		"embed, whole":         {"/embed", `{"inputs":"` + long + `","truncate":false}`, 413, "602 tokens"},
		"embed, from the left": {"/embed", `{"inputs":"x","truncation_direction":"Left"}`, 400, "right end"},
		"texts, top_n 0":       {"/rerank", `{"query":"x","texts":["a"],"top_n":0}`, 400, "top_n is 0"},
		"similar, no source":   {"/similarity", `{"inputs":{"sentences":["x"]}}`, 400, "source_sentence"},
		"similar, to nothing":  {"/similarity", `{"inputs":{"source_sentence":"x","sentences":[]}}`, 400, "inputs.sentences is empty"},
		"sparse, nothing":      {"/embed_sparse", `{"inputs":[]}`, 400, "inputs is empty"},
		"sparse, strict":       {"/v1/sparse-embeddings", `{"input":"x","topk":3}`, 400, "unknown field"},
		"sparse, top_k 0":      {"/v1/sparse-embeddings", `{"input":"x","top_k":0}`, 400, "top_k is 0"},
		"rerank, no form":      {"/rerank", `{"query":"x"}`, 400, "documents"},
		"rerank, both forms":   {"/rerank", `{"query":"x","texts":["a"],"documents":["a"]}`, 400, "not both"},
		"rerank, no query":     {"/v1/rerank", `{"documents":["a"]}`, 400, "query is empty"},
		"rerank, no text":      {"/v1/rerank", `{"query":"x","documents":["a",{"title":"b"}]}`, 400, `documents[1] has no string under \"text\"`},
		"rerank, top_n 0":      {"/v2/rerank", `{"query":"x","documents":["a"],"top_n":0}`, 400, "top_n is 0"},
		"rerank, wrong kind":   {"/v2/rerank", `{"query":"x","documents":["a"],"model":"` + testenv.Sparse + `"}`, 400, "sparse model"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := call(t, "POST", base+tc.path, tc.body)
			if status != tc.status || !strings.Contains(body, tc.says) || !strings.Contains(body, `{"error":{"code":`) {
				t.Errorf("got %d %s, want %d and %q", status, body, tc.status, tc.says)
			}
		})
	}
	if status, body := call(t, "GET", base+"/v1/models/gpt", ""); status != 404 || !strings.Contains(body, testenv.Sparse) {
		t.Errorf("unknown model: %d %s", status, body)
	}
}

func TestTEIRoutes(t *testing.T) {
	base, _ := start(t, nil)
	var single, list, raw [][]float32
	mustCall(t, "POST", base+"/embed", `{"inputs":"a big fat potato"}`, &single)
	mustCall(t, "POST", base+"/embed", `{"inputs":["wrench","a big fat potato"],"normalize":true,"truncate":true}`, &list)
	mustCall(t, "POST", base+"/embed", `{"inputs":"a big fat potato","normalize":false}`, &raw)
	var root [][]float32
	mustCall(t, "POST", base+"/", `{"inputs":"a big fat potato","truncation_direction":"Right"}`, &root)
	if !slices.Equal(root[0], single[0]) {
		t.Error("/ and /embed give different vectors")
	}
	if !slices.Equal(single[0], list[1]) || len(single[0]) != 384 {
		t.Error("one text and a list give different vectors")
	}
	var length float64
	for _, x := range raw[0] {
		length += float64(x) * float64(x)
	}
	if math.Abs(length-1) < 1e-3 {
		t.Errorf("normalize false gives a vector of squared length %v", length)
	}

	var alike []float64
	mustCall(t, "POST", base+"/similarity", `{"inputs":{"source_sentence":"a big fat potato","sentences":["wrench","a big fat potato"]},"parameters":{"truncate":true}}`, &alike)
	var want float64
	for i, x := range single[0] {
		want += float64(x) * float64(list[0][i])
	}
	if len(alike) != 2 || math.Abs(alike[0]-want) > 1e-6 || math.Abs(alike[1]-1) > 1e-6 {
		t.Errorf("similarities %v, want %v and 1", alike, want)
	}

	type weight struct {
		Index uint32
		Value float32
	}
	var one, third [][]weight
	mustCall(t, "POST", base+"/embed_sparse", `{"inputs":"a big fat potato","normalize":true,"truncate":true}`, &one)
	mustCall(t, "POST", base+"/embed_sparse", `{"inputs":["x","a longer text of some words","a big fat potato","y"]}`, &third)
	if !slices.Equal(one[0], third[2]) || len(one[0]) != 17 {
		t.Errorf("%d entries, the same in a list: %v", len(one[0]), slices.Equal(one[0], third[2]))
	}

	var sparse struct {
		Data []struct {
			Indices []uint32
			Values  []float32
			Tokens  []string
		}
	}
	mustCall(t, "POST", base+"/v1/sparse-embeddings", `{"input":"a big fat potato","top_k":3,"tokens":true,"min_weight":2}`, &sparse)
	got := sparse.Data[0]
	if !slices.IsSorted(got.Indices) || len(got.Indices) != 2 || !slices.Contains(got.Tokens, "fat") || !slices.Contains(got.Tokens, "potato") {
		t.Errorf("the two largest weights over 2 are %+v", got)
	}
	for path, want := range map[string]string{"/info": `"model_id":"` + testenv.Dense + `"`, "/v1/models": `"id":"` + testenv.Sparse + `"`, "/v1/models/" + testenv.Reranker: "cross-encoder"} {
		if status, body := call(t, "GET", base+path, ""); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, _ := call(t, "GET", base+"/health", ""); status != 200 {
		t.Errorf("/health: %d", status)
	}
}

var france = []string{
	"I had a turkey sandwich.",
	"Paris is the capital of France.",
	"Berlin is the capital of Germany.",
	"The capital of France is Paris.",
	"France is a country in Europe.",
	"Paris is the capital and most populous city of France.",
}

// best is the order of france for the query, by position.
var best = []int{3, 1, 5, 2, 4, 0}

const capital = "what is the capital of france"

func TestRerankForms(t *testing.T) {
	base, _ := start(t, nil)
	list, err := json.Marshal(france)
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		Index          int
		RelevanceScore *float64        `json:"relevance_score"`
		Score          *float64        `json:"score"`
		Document       json.RawMessage `json:"document"`
		Text           *string         `json:"text"`
	}
	var reference []float64
	for _, path := range []string{"/rerank", "/v1/rerank", "/v2/rerank"} {
		var answer struct{ Results []result }
		mustCall(t, "POST", base+path, `{"query":"`+capital+`","documents":`+string(list)+`,"top_n":null,"return_documents":false,"max_chunks_per_doc":3,"overlap_tokens":80,"rank_fields":["text"]}`, &answer)
		for i, r := range answer.Results {
			if r.Index != best[i] || r.RelevanceScore == nil || r.Document != nil {
				t.Errorf("%s, place %d: %+v", path, i, r)
			}
			if i > 0 && *r.RelevanceScore >= *answer.Results[i-1].RelevanceScore {
				t.Errorf("%s: scores do not fall at place %d", path, i)
			}
			reference = append(reference, *r.RelevanceScore)
		}

		var scores, logits []result
		mustCall(t, "POST", base+path, `{"query":"`+capital+`","texts":`+string(list)+`}`, &scores)
		mustCall(t, "POST", base+path, `{"query":"`+capital+`","texts":`+string(list)+`,"raw_scores":true,"return_text":true}`, &logits)
		for i, r := range scores {
			if r.Index != best[i] || *r.Score != reference[i] || r.Text != nil {
				t.Errorf("%s, texts, place %d: %+v", path, i, r)
			}
			if sigmoid := 1 / (1 + math.Exp(-*logits[i].Score)); math.Abs(sigmoid-*r.Score) > 1e-9 {
				t.Errorf("%s: sigmoid of the raw score is %v, the score %v", path, sigmoid, *r.Score)
			}
			if *logits[i].Text != france[best[i]] {
				t.Errorf("%s: text %q", path, *logits[i].Text)
			}
		}
	}
	var two []result
	mustCall(t, "POST", base+"/rerank", `{"query":"`+capital+`","texts":`+string(list)+`,"top_n":2}`, &two)
	if len(two) != 2 || two[0].Index != best[0] || two[1].Index != best[1] {
		t.Errorf("texts with top_n 2: %+v", two)
	}
	if reference[0] < 0.9998 || reference[5] > 2e-5 || math.Abs(reference[3]-0.0844) > 0.02 {
		t.Errorf("scores %v", reference[:6])
	}

	var objects struct{ Results []result }
	mustCall(t, "POST", base+"/v1/rerank", `{"query":"`+capital+`","documents":["I had a turkey sandwich.",{"text":"The capital of France is Paris.","title":"x","id":7}],"top_k":1,"return_documents":true}`, &objects)
	if len(objects.Results) != 1 || objects.Results[0].Index != 1 || *objects.Results[0].RelevanceScore != reference[0] || string(objects.Results[0].Document) != `{"text":"The capital of France is Paris."}` {
		t.Errorf("objects: %+v", objects.Results)
	}
}

func TestCostHeaders(t *testing.T) {
	base, _ := start(t, nil)
	req, err := http.NewRequestWithContext(t.Context(), "POST", base+"/embed", strings.NewReader(`{"inputs":["wrench","`+strings.Repeat("water ", 600)+`"]}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for name, want := range map[string]string{"X-Compute-Tokens": "606", "X-Compute-Truncated": "1", "X-Compute-Characters": "3606"} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if timing := resp.Header.Get("Server-Timing"); !strings.Contains(timing, "compute;dur=") || !strings.Contains(timing, "queue;dur=") {
		t.Errorf("Server-Timing is %q", timing)
	}
	for _, name := range []string{"X-Total-Time", "X-Tokenization-Time", "X-Queue-Time", "X-Inference-Time"} {
		if resp.Header.Get(name) == "" {
			t.Errorf("no %s", name)
		}
	}
}

func TestPathsNameWhatTheyName(t *testing.T) {
	base, _ := start(t, nil)
	for _, path := range []string{"/v1/rerank/", "//v1/rerank", "//v1//rerank"} {
		if status, answer := call(t, "POST", base+path, `{"query":"x","documents":["a"]}`); status != 200 {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	c := base + "/v1/collections/t"
	mustCall(t, "PUT", c, "", nil)
	mustCall(t, "POST", c+"/documents", `[{"id":"a b/c","text":"one"},{"id":"a+b/c","text":"two"},{"id":"a//b","text":"three"},{"id":"a%2Fb","text":"four"}]`, nil)
	for _, id := range []string{"a b/c", "a+b/c", "a//b", "a%2Fb"} {
		var d struct{ ID string }
		mustCall(t, "GET", c+"/documents/"+url.PathEscape(id), "", &d)
		if d.ID != id {
			t.Errorf("asked for %q, got %q", id, d.ID)
		}
	}
	mustCall(t, "DELETE", c+"/documents/a+b%2Fc", "", nil)
	mustCall(t, "GET", c+"/documents/a%20b%2Fc", "", nil)
	for _, path := range []string{"/documents/..", "/documents/%2E%2E", "/documents/."} {
		for _, method := range []string{"DELETE", "GET"} {
			if status, body := call(t, method, c+path, ""); status < 300 {
				t.Errorf("%s %s: %d %s", method, path, status, body)
			}
		}
	}
	mustCall(t, "GET", c, "", nil) // the collection is still there
}
