package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/braid-search/braid/internal/testenv"
)

// contract is openapi.yaml, held against what the server really does.
type contract struct{ doc *openapi3.T }

func loadContract(ctx context.Context) (contract, error) {
	data, err := os.ReadFile("openapi.yaml")
	if err != nil {
		return contract{}, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		return contract{}, err
	}
	return contract{doc}, doc.Validate(ctx, openapi3.EnableExamplesValidation(), openapi3.EnableSchemaPatternValidation())
}

// hold passes requests on to next and reports every way in which request and
// answer are not what the document says. A request it does not allow may be
// refused only.
func (c contract) hold(t *testing.T, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			sent = nil // the sender went away; next will find out, too
		}
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(sent), broken{err}))
		answer := httptest.NewRecorder()
		asked := r.Clone(r.Context()) // gin corrects the path in place
		next.ServeHTTP(answer, r)
		if r.Context().Err() == nil && err == nil {
			if fault := c.fault(asked, sent, answer); fault != nil {
				t.Errorf("%s %s answered %d: %v\nsent %.300s\ngot %.300s", asked.Method, asked.URL.EscapedPath(), answer.Code, fault, sent, answer.Body)
			}
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the client may be gone
	})
}

// broken fails as the body before it did; a nil error is its end.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) {
	if b.err == nil {
		return 0, io.EOF
	}
	return 0, b.err
}

func (c contract) fault(r *http.Request, sent []byte, answer *httptest.ResponseRecorder) error {
	if answer.Code == http.StatusMovedPermanently || answer.Code == http.StatusTemporaryRedirect {
		if !strings.HasSuffix(r.URL.Path, "/") {
			return fmt.Errorf("the path has no slash too many")
		}
		return nil
	}
	op, params := c.operation(r.Method, r.URL.EscapedPath())
	if op == nil {
		if answer.Code != http.StatusNotFound && answer.Code != http.StatusMethodNotAllowed {
			return fmt.Errorf("the route is not in the document")
		}
		return visit(c.doc.Components.Schemas["Error"], answer.Body.Bytes())
	}
	if answer.Code < 300 {
		for _, p := range params {
			if err := p.schema.Value.VisitJSON(p.value); err != nil {
				return fmt.Errorf("path: %w", err)
			}
		}
		if err := requestFault(op, sent); err != nil {
			return fmt.Errorf("the document does not allow the request: %w", err)
		}
	}
	return responseFault(op, answer)
}

// param is a part of a path that the document leaves open.
type param struct {
	schema *openapi3.SchemaRef
	value  string
}

// operation finds what serves a request; extra slashes do not count.
func (c contract) operation(method, path string) (*openapi3.Operation, []param) {
	for template, item := range c.doc.Paths.Map() {
		var params []param
		want, got := segments(template), segments(path)
		matches := len(want) == len(got)
		for i := 0; matches && i < len(want); i++ {
			if name, isParam := strings.CutPrefix(want[i], "{"); isParam {
				p := item.Parameters.GetByInAndName("path", strings.TrimSuffix(name, "}"))
				params = append(params, param{p.Schema, got[i]})
				continue
			}
			matches = want[i] == got[i]
		}
		if op := item.GetOperation(method); matches && op != nil {
			return op, params
		}
	}
	return nil, nil
}

func segments(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" })
}

func requestFault(op *openapi3.Operation, sent []byte) error {
	switch {
	case op.RequestBody == nil && len(sent) > 0:
		return fmt.Errorf("it has a body")
	case op.RequestBody == nil:
		return nil
	case len(sent) == 0 && op.RequestBody.Value.Required:
		return fmt.Errorf("it has no body")
	case len(sent) == 0:
		return nil
	}
	content := op.RequestBody.Value.Content
	if content["application/x-ndjson"] != nil {
		sent = bytes.TrimLeft(sent, "\ufeff \t\r\n") // of files from Windows
	}
	if !json.Valid(sent) && content["application/x-ndjson"] != nil {
		lines := slices.DeleteFunc(bytes.Split(sent, []byte("\n")), func(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 })
		sent = slices.Concat([]byte("["), bytes.Join(lines, []byte(",")), []byte("]"))
	}
	return visit(content["application/json"].Schema, sent, openapi3.VisitAsRequest())
}

func responseFault(op *openapi3.Operation, answer *httptest.ResponseRecorder) error {
	documented := op.Responses.Status(answer.Code)
	if documented == nil {
		return fmt.Errorf("the document has no such status")
	}
	for name, h := range documented.Value.Headers {
		if err := headerFault(h.Value, answer.Header().Values(name)); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	if len(documented.Value.Content) == 0 {
		if answer.Body.Len() > 0 {
			return fmt.Errorf("the document has no body")
		}
		return nil
	}
	mediaType, _, err := mime.ParseMediaType(answer.Header().Get("Content-Type"))
	if err != nil {
		return err
	}
	content := documented.Value.Content[mediaType]
	switch {
	case content == nil:
		return fmt.Errorf("the document has no %s", mediaType)
	case mediaType != "application/json":
		return nil
	}
	return visit(content.Schema, answer.Body.Bytes(), openapi3.VisitAsResponse(), openapi3.EnableFormatValidation())
}

func headerFault(h *openapi3.Header, values []string) error {
	if len(values) != 1 {
		return fmt.Errorf("it is there %d times", len(values))
	}
	if !h.Schema.Value.Type.Is("integer") {
		return h.Schema.Value.VisitJSON(values[0])
	}
	n, err := strconv.Atoi(values[0])
	if err != nil {
		return err
	}
	return h.Schema.Value.VisitJSON(float64(n))
}

func visit(schema *openapi3.SchemaRef, data []byte, opts ...openapi3.SchemaValidationOption) error {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	return schema.Value.VisitJSON(value, opts...)
}

// Every operation is called with every example of the document, and succeeds.
func TestDocumentedExamplesWork(t *testing.T) {
	base, _ := start(t, nil)
	fill := strings.NewReplacer("{name}", "docs", "{id}", "err-104", "{model}", testenv.Sparse)
	type request struct{ method, path, body string }
	var requests []request
	for template, item := range document.doc.Paths.Map() {
		for method, op := range item.Operations() {
			for _, body := range examples(t, op) {
				requests = append(requests, request{method, fill.Replace(template), body})
			}
		}
	}
	// Things are made before they are used and used before they are deleted.
	phase := func(r request) string {
		order := map[string]string{"PUT": "0 ", "POST": "1 ", "PATCH": "2 ", "GET": "3 ", "DELETE": "4 "}[r.method]
		if r.method == http.MethodDelete {
			return order + strconv.Itoa(100-len(r.path))
		}
		return order + r.path
	}
	slices.SortFunc(requests, func(a, b request) int { return strings.Compare(phase(a), phase(b)) })
	for _, r := range requests {
		if status, body := call(t, r.method, base+r.path, r.body); status >= 300 {
			t.Errorf("%s %s %s: %d %s", r.method, r.path, r.body, status, body)
		}
	}
}

// examples are the bodies that the document shows, or none.
func examples(t *testing.T, op *openapi3.Operation) []string {
	t.Helper()
	if op.RequestBody == nil {
		return []string{""}
	}
	content := op.RequestBody.Value.Content["application/json"]
	values := []any{content.Example}
	if content.Example == nil {
		values = nil
		for _, e := range content.Examples {
			values = append(values, e.Value.Value)
		}
	}
	if len(values) == 0 {
		t.Errorf("%s shows no example", op.OperationID)
	}
	var bodies []string
	for _, v := range values {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(data))
	}
	return bodies
}

func TestServedDocumentIsTheOneTested(t *testing.T) {
	base, _ := start(t, nil)
	file, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if status, body := call(t, "GET", base+"/openapi.yaml", ""); status != 200 || body != string(file) {
		t.Errorf("%d, %d bytes, the file has %d", status, len(body), len(file))
	}
}

// The contract must be able to fail: answers and requests that are not in it.
func TestContractFindsFaults(t *testing.T) {
	answer := func(status int, mediaType, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("X-Request-Id", "r")
		w.WriteHeader(status)
		_, _ = w.WriteString(body) // a recorder takes all
		return w
	}
	const jsonType = "application/json; charset=utf-8"
	good := `{"deleted":"x"}`
	for name, tc := range map[string]struct {
		method, path, body string
		answer             *httptest.ResponseRecorder
		says               string
	}{
		"in order":         {"DELETE", "/v1/collections/t", "", answer(200, jsonType, good), ""},
		"unknown route":    {"GET", "/v1/else", "", answer(200, jsonType, good), "not in the document"},
		"status":           {"DELETE", "/v1/collections/t", "", answer(202, jsonType, good), "no such status"},
		"media type":       {"DELETE", "/v1/collections/t", "", answer(200, "text/html", good), "no text/html"},
		"unknown field":    {"DELETE", "/v1/collections/t", "", answer(200, jsonType, `{"deleted":"x","n":1}`), `"n"`},
		"missing field":    {"DELETE", "/v1/collections/t", "", answer(200, jsonType, `{}`), `"deleted"`},
		"path":             {"DELETE", "/v1/collections/.t", "", answer(200, jsonType, good), "path"},
		"error shape":      {"GET", "/nowhere", "", answer(404, jsonType, `{"error":"no"}`), "error"},
		"accepted request": {"POST", "/v1/collections/t/search", `{"query":"x","limit":0}`, answer(200, jsonType, good), "does not allow"},
		"unasked body":     {"GET", "/info", `{}`, answer(200, jsonType, good), "it has a body"},
		"no Retry-After":   {"POST", "/embed", `{"inputs":"x"}`, answer(429, jsonType, `{"error":{"code":"overloaded","message":"m","request_id":"r"}}`), "Retry-After"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, nil)
			err := document.fault(r, []byte(tc.body), tc.answer)
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %q", err, tc.says)
			}
		})
	}
}
