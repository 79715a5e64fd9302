package httpapi_test

import (
	"strings"
	"testing"

	"github.com/braid-search/braid/internal/testenv"
)

func TestTokenize(t *testing.T) {
	base, _ := start(t, nil)
	for body, want := range map[string]string{
		`{"inputs":"é wrench"}`: `[[{"id":101,"text":"[CLS]","special":true,"start":null,"stop":null},` +
			`{"id":1041,"text":"é","special":false,"start":0,"stop":1},` +
			`{"id":16255,"text":"wren","special":false,"start":2,"stop":6},{"id":2818,"text":"ch","special":false,"start":6,"stop":8},` +
			`{"id":102,"text":"[SEP]","special":true,"start":null,"stop":null}]]`,
		`{"inputs":["é"," "],"add_special_tokens":false,"model":"` + testenv.Reranker + `"}`: `[[{"id":1041,"text":"é","special":false,"start":0,"stop":1}],[]]`,
	} {
		status, got := call(t, "POST", base+"/tokenize", body)
		if status != 200 || strings.TrimSpace(got) != want {
			t.Errorf("%s: %d %s", body, status, got)
		}
	}
	for name, tc := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"nothing":       {`{"inputs":[]}`, 400, "inputs is empty"},
		"prompt":        {`{"inputs":"x","prompt_name":"query"}`, 400, "prompt_name"},
		"unknown model": {`{"inputs":"x","model":"gpt"}`, 404, testenv.Sparse},
		"too much":      {`{"inputs":"` + strings.Repeat("x ", 600_000) + `"}`, 413, "1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			if status, got := call(t, "POST", base+"/tokenize", tc.body); status != tc.status || !strings.Contains(got, tc.says) {
				t.Errorf("got %d %s, want %d and %q", status, got, tc.status, tc.says)
			}
		})
	}
}
