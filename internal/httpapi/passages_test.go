package httpapi_test

import (
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/search"
)

func TestPassages(t *testing.T) {
	base, _ := start(t, nil)
	url := base + "/v1/collections/long"
	var info index.Info
	mustCall(t, "PUT", url, `{"passages":{"tokens":32,"overlap":8}}`, &info)
	if info.Schema.Passages != (index.PassageSize{Tokens: 32, Overlap: 8}) {
		t.Errorf("made with %+v", info.Schema.Passages)
	}
	for _, tt := range []struct {
		name, method, url, body string
		status                  int
		want                    string
	}{
		{"the same settings", "PUT", url, `{"passages":{"tokens":32}}`, 200, `"passages":{"tokens":32,"overlap":8}`},
		{"no settings", "PUT", url, "", 200, `"tokens":32`},
		{"null", "PUT", url, `{"passages":null}`, 200, `"tokens":32`},
		{"others", "PUT", url, `{"passages":{"tokens":64}}`, 409, "other settings"},
		{"too short", "PUT", base + "/v1/collections/new", `{"passages":{"tokens":3}}`, 400, `"field":"passages.tokens"`},
		{"no setting", "PUT", base + "/v1/collections/new", `{"passages":{"length":3}}`, 400, "unknown field"},
		{"format", "POST", url + "/documents", `[{"id":"a","text":"x","format":"pdf"}]`, 400, `format`},
		{"group", "POST", url + "/search", `{"query":"x","group_by":"page"}`, 400, `"field":"group_by"`},
	} {
		if status, body := call(t, tt.method, tt.url, tt.body); status != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s: %d %s, want %d %s", tt.name, status, body, tt.status, tt.want)
		}
	}

	var result search.IngestResult
	mustCall(t, "POST", url+"/documents", `[{"id":"pumps","format":"markdown","text":"# Pumps\n\n## Seals\n\nA seal is changed every year.\n\n## Valves\n\nA valve is oiled every month.\n"}]`, &result)
	if result.Encoded != 2 {
		t.Errorf("ingested %+v", result)
	}
	var answer search.Response
	mustCall(t, "POST", url+"/search", `{"query":"how often is a valve oiled?","highlight":true,"explain":true}`, &answer)
	if len(answer.Hits) != 1 {
		t.Fatalf("%d hits", len(answer.Hits))
	}
	h := answer.Hits[0]
	if h.Passage == nil || h.Passage.Section != "Pumps > Valves" || h.Text != "A valve is oiled every month." {
		t.Fatalf("hit %+v of %+v", h, h.Passage)
	}
	marked := map[string]bool{}
	for _, m := range h.Highlights.Text {
		marked[h.Text[m.Start:m.End]] = true
	}
	if !marked["valve"] || !marked["oiled"] || marked["seal"] {
		t.Errorf("highlighted %v", marked)
	}
	mustCall(t, "POST", url+"/search", `{"query":"every","group_by":"passage"}`, &answer)
	if len(answer.Hits) != 2 || answer.Hits[0].Passage.Number == answer.Hits[1].Passage.Number {
		t.Errorf("passages %+v", answer.Hits)
	}
	var d braid.Document
	mustCall(t, "GET", url+"/documents/pumps", "", &d)
	if d.Format != braid.FormatMarkdown || d.Text[h.Passage.Start:h.Passage.End] != h.Text {
		t.Errorf("document %+v", d)
	}
}
