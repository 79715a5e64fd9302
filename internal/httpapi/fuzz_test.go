package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/internal/modelset"
	"github.com/braid-search/braid/search"
)

// fuzzBody sends bodies to the real handlers of a server without models: what
// gets past decoding and validation ends with what is missing. Whatever is
// sent, the status is a known one and the answer what the document says. passed
// is the status of what is valid; on the strict routes the document must allow
// each such request, too.
func fuzzBody(f *testing.F, path string, seeds []string, passed int, refused ...int) {
	op, _ := document.operation(http.MethodPost, path)
	if op == nil {
		f.Fatalf("no operation at %s", path)
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	server := withoutModels(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(string(body))))
		if answer.Code != passed && !slices.Contains(refused, answer.Code) {
			t.Errorf("answered %d %s", answer.Code, answer.Body)
		}
		if answer.Code == passed && strings.Contains(path, "/collections/") {
			if err := requestFault(op, body); err != nil {
				t.Errorf("the document does not allow the request: %v", err)
			}
		}
		if err := responseFault(op, answer); err != nil {
			t.Errorf("answered %d %s: %v", answer.Code, answer.Body, err)
		}
	})
}

// withoutModels serves the collections "plain", lexical only and with two
// documents, and "dense", which takes no documents without its model.
func withoutModels(f *testing.F) *httpapi.Server {
	f.Helper()
	ctx := context.Background()
	engine, err := embedded.Open(ctx, f.TempDir(), embedded.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := engine.Close(); err != nil {
			f.Error(err)
		}
	})
	service := search.New(engine, search.Models{}, nil)
	if _, _, err := service.Create(ctx, "plain"); err != nil {
		f.Fatal(err)
	}
	if _, err := service.Ingest(ctx, "plain", []braid.Document{{ID: "a", Text: "a big fat potato"}, {ID: "b", Title: "wrench"}}); err != nil {
		f.Fatal(err)
	}
	if _, err := engine.Create(ctx, "dense", index.Schema{Dense: index.ModelRef{Name: "absent", Digest: "d"}, Dimensions: 4}); err != nil {
		f.Fatal(err)
	}
	return httpapi.New(httpapi.Options{Search: service, Models: &modelset.Set{}})
}

func FuzzEmbeddings(f *testing.F) {
	fuzzBody(f, "/v1/embeddings", []string{
		`{"input":"x"}`, `{"input":["x","y"],"model":"m","encoding_format":"base64","dimensions":384,"input_type":"query"}`,
		`{"input":[[1,2],[3]]}`, `{"input":[1,2]}`, `{"input":null,"user":{}}`, `{"input":["x",null]}`, `{"input":["\ud800"]}`, `[]`, ``,
	}, 404, 400, 413)
}

func FuzzEmbed(f *testing.F) {
	fuzzBody(f, "/embed", []string{
		`{"inputs":"x"}`, `{"inputs":["x"],"truncate":false,"normalize":false,"prompt_name":"query","dimensions":1}`,
		`{"inputs":[],"truncate":null}`, `{"inputs":{"text":"x"}}`, `{"inputs":"x","dimensions":1e99}`, "{\"inputs\":\"\xff\"}",
	}, 404, 400, 413)
}

func FuzzSparseEmbeddings(f *testing.F) {
	fuzzBody(f, "/v1/sparse-embeddings", []string{
		`{"input":"x"}`, `{"input":["x"],"top_k":3,"min_weight":0.5,"tokens":true,"truncate":false}`,
		`{"input":"x","top_k":0}`, `{"input":"x","min_weight":-1}`, `{"input":"x","min_weight":1e99}`, `{"input":"x","else":1}`,
	}, 404, 400, 413)
}

func FuzzSimilarity(f *testing.F) {
	fuzzBody(f, "/similarity", []string{
		`{"inputs":{"source_sentence":"x","sentences":["y","z"]},"parameters":{"truncate":false,"prompt_name":"query"}}`,
		`{"inputs":{"source_sentence":null,"sentences":"y"}}`, `{"inputs":[]}`, `{"inputs":{"source_sentence":"x"},"parameters":7}`,
	}, 404, 400, 413)
}

func FuzzTokenize(f *testing.F) {
	fuzzBody(f, "/tokenize", []string{
		`{"inputs":"x"}`, `{"inputs":["x","y"],"add_special_tokens":false,"model":"m"}`, `{"inputs":[7],"prompt_name":"query"}`,
	}, 404, 400, 413)
}

func FuzzRerank(f *testing.F) {
	fuzzBody(f, "/v1/rerank", []string{
		`{"query":"x","documents":["a",{"text":"b","title":"c"}],"top_n":1,"return_documents":true}`,
		`{"query":"x","texts":["a"],"raw_scores":true,"return_text":true,"truncate":false}`,
		`{"query":"x","documents":[null]}`, `{"query":"x","documents":[{}]}`, `{"query":"","texts":[]}`, `{"query":"x","documents":{},"texts":null}`,
	}, 404, 400, 413)
}

func FuzzSearch(f *testing.F) {
	fuzzBody(f, "/v1/collections/plain/search", []string{
		`{"query":"potato"}`, `{"query":"potato err-104","explain":true}`, `{"query":"\"potato salad\" -err"}`, `{"query":"potato","highlight":true}`, `{"query":"potato","highlight":{"fragments":3,"length":20}}`, `{"query":"potato","mode":"lexical","limit":1,"candidates":1,"rerank":true,"rerank_depth":1,"min_score":0.1}`,
		`{"query":"wrench","fusion":{"method":"minmax","k":1,"weights":{"lexical":2}}}`, `{"query":"x","fusion":{"weights":{"lexical":0}}}`, `{"query":"x","fusion":{"weights":{"dense":null}}}`,
		`{"query":"potato","filter":{"must":[{"field":"n","match":1},{"should":[{"field":"a.b","in":["x",2.5,true]}]}],"must_not":[{"field":"t","range":{"gte":"2031-05-02","lt":"2031-05-02T14:30:00Z"}}]}}`,
		`{"query":"x","filter":null}`, `{"query":"x","filter":{"must":null,"should":[],"must_not":[{}]}}`, `{"query":"x","filter":{"must":[{"field":"n","exists":true,"in":null}]}}`,
		`{"query":"x","filter":{"must":[{"field":"n","range":{"gt":1,"lt":null}}]}}`, `{"query":"x","filter":{"must":[null]}}`, `{"query":"x","filter":{"field":"n","match":1}}`,
		`{"query":"x","mode":"dense"}`, `{"query":"\u0000"}`, `{"query":" "}`, `{"query":"x","limit":1e3}`, `{"query":"x","fusion":{"method":"dbsf"},"min_score":-1e308}`, `{"query":"x","fusion":{"method":""}}`,
	}, 200, 400, 413)
}

func FuzzScroll(f *testing.F) {
	fuzzBody(f, "/v1/collections/plain/scroll", []string{
		`{}`, `{"limit":1,"after":"a"}`, `{"after":null,"limit":null,"filter":null}`, `{"after":"\u0000","filter":{"should":[{"field":"n","exists":false}]}}`, `{"limit":0}`, `{"limit":1e3}`, `[]`, ``,
	}, 200, 400, 413)
}

func FuzzDocuments(f *testing.F) {
	fuzzBody(f, "/v1/collections/dense/documents", []string{
		`{"id":"a","text":"x"}`, `[{"id":"a","text":"x","payload":{"k":[1,2]}},{"_id":"b","title":"y","metadata":{}}]`,
		`{"id":"a","text":"x"}` + "\n\n" + `{"id":"a","text":"y"}`, `[{"id":"a","text":"x"}] 1`, `[`, `[]`, "\ufeff" + `{"id":"a","text":"x"}`,
		`{"id":"a","_id":"b","text":"x"}`, `{"id":null,"_id":"b","title":null,"text":"x"}`, `{"id":1}`, `{"id":"a","text":"x","payload":null}`, "[\n{\"id\":\"a\"\n",
	}, 503, 400, 413)
}
