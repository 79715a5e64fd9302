package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/search"
)

// TestReindexRoute splits a collection anew, as clients and as curl do.
func TestReindexRoute(t *testing.T) {
	base, _ := start(t, nil)
	mustCall(t, "PUT", base+"/v1/collections/t", "", nil)
	text := strings.Repeat("The pump is cleaned once a week with warm water and a soft brush. ", 40)
	mustCall(t, "POST", base+"/v1/collections/t/documents", `[{"id":"1","text":"`+text+`"},{"id":"2","text":"short"}]`, nil)
	client, err := httpapi.NewClient(base)
	if err != nil {
		t.Fatal(err)
	}
	before, err := client.Reindex(t.Context(), "t", search.Settings{}, nil)
	if err != nil || !before.Unchanged || before.Documents != 2 {
		t.Errorf("nothing to do: %+v, error %v", before, err)
	}
	tokens := 64
	var done, total int
	got, err := client.Reindex(t.Context(), "t", search.Settings{Passages: &search.PassageSettings{Tokens: &tokens}}, func(d, n int) { done, total = d, n })
	if err != nil || got.Unchanged || got.Remade != 2 || got.Passages <= before.Passages {
		t.Errorf("split anew: %+v after %+v, error %v", got, before, err)
	}
	if done != 2 || total != 2 {
		t.Errorf("told that %d of %d are done, want 2 of 2", done, total)
	}
	info, err := client.Collection(t.Context(), "t")
	if err != nil || info.Schema.Passages.Tokens != tokens || info.Passages != got.Passages {
		t.Errorf("the collection is %+v, error %v", info, err)
	}

	one := 1
	_, err = client.Reindex(t.Context(), "t", search.Settings{Passages: &search.PassageSettings{Tokens: &one}}, nil)
	if braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("passages of one token: %v", err)
	}
	if _, err = client.Reindex(t.Context(), "none", search.Settings{}, nil); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("a collection that is not there: %v", err)
	}
	for sent, want := range map[string]int{"": http.StatusOK, "{}": http.StatusOK, `{"passage":1}`: http.StatusBadRequest, "[": http.StatusBadRequest} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/collections/t/reindex", strings.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%q: status %d, want %d", sent, resp.StatusCode, want)
		}
	}
}

// TestReindexIsForOwners asserts that who may see or change only a part of a
// collection cannot have all of it made anew.
func TestReindexIsForOwners(t *testing.T) {
	base, _ := twoTenants(t)
	if status, _, body := as(t, "a", "POST", base+"/v1/collections/docs/reindex", ""); status != http.StatusForbidden || strings.Contains(body, secret) {
		t.Errorf("as a tenant: %d %s", status, body)
	}
	if status, _, body := as(t, "operator", "POST", base+"/v1/collections/docs/reindex", ""); status != http.StatusOK || !strings.Contains(body, `"unchanged":true`) {
		t.Errorf("as the operator: %d %s", status, body)
	}
}
