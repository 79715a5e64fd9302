package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/braid-search/braid/search"
)

func TestProfile(t *testing.T) {
	base, _ := twoTenants(t)
	url := base + "/v1/collections/docs/profile"
	ask := func(body string) search.Response {
		t.Helper()
		var answer search.Response
		status, _, got := as(t, "operator", "POST", base+"/v1/collections/docs/search", body)
		if err := json.Unmarshal([]byte(got), &answer); status != 200 || err != nil {
			t.Fatalf("search: %d %s", status, got)
		}
		return answer
	}
	for _, step := range []struct {
		name, method, body string
		status             int
		want               string
	}{
		{"reader", "GET", "", 200, `{"version":0,"profile":{}}`},
		{"operator", "PUT", `{"candidates":1,"rerank":false}`, 200, `{"version":1,"profile":{"candidates":1,"rerank":false}}`},
		{"reader", "GET", "", 200, `{"version":1,"profile":{"candidates":1,"rerank":false}}`},
		{"reader", "PUT", `{}`, 403, "may only read"},
		{"reader", "DELETE", "", 403, "may only read"},
		{"a", "PUT", `{}`, 403, "filter"},
		{"stranger", "GET", "", 404, "does not exist"},
		{"stranger", "PUT", `{}`, 404, "does not exist"},
		{"operator", "PUT", `{"candidate":1}`, 400, "unknown field"},
		{"operator", "PUT", `{"candidates":0}`, 400, `"field":"candidates"`},
		{"operator", "PUT", `{"fusion":{"weights":{"dense":0,"sparse":0,"lexical":0}}}`, 400, "all 0"},
		{"operator", "PUT", `{"limit":3}`, 400, "unknown field"},
		{"operator", "PUT", `[]`, 400, "object"},
	} {
		status, _, body := as(t, step.name, step.method, url, step.body)
		if status != step.status || !strings.Contains(body, step.want) {
			t.Errorf("%s %s as %s: %d %s, want %d %s", step.method, step.body, step.name, status, body, step.status, step.want)
		}
	}
	if a := ask(`{"query":"inlet pressure"}`); a.ProfileVersion != 1 || a.Candidates["lexical"] != 1 || a.Reranked != 0 {
		t.Errorf("with the profile: version %d, candidates %v, reranked %d", a.ProfileVersion, a.Candidates, a.Reranked)
	}
	if a := ask(`{"query":"inlet pressure","candidates":3,"rerank":true}`); a.Candidates["lexical"] != 3 || a.Reranked == 0 {
		t.Errorf("over the profile: candidates %v, reranked %d", a.Candidates, a.Reranked)
	}
	if status, _, body := as(t, "operator", "DELETE", url, ""); status != 200 || body != `{"version":2,"profile":{}}`+"\n" && body != `{"version":2,"profile":{}}` {
		t.Errorf("DELETE: %d %s", status, body)
	}
	if a := ask(`{"query":"inlet pressure"}`); a.ProfileVersion != 0 || a.Candidates["lexical"] < 2 {
		t.Errorf("without it: version %d, candidates %v", a.ProfileVersion, a.Candidates)
	}
}
