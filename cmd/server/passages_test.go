package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/braid-search/braid/search"
)

// handbook is Markdown of so many chapters, each of two paragraphs, about ten
// tokens and a sentence of its own.
func handbook(chapters int, own map[int]string) string {
	var b strings.Builder
	b.WriteString("# Handbook\n\nFor all who work in the halls.\n\n")
	for i := range chapters {
		fmt.Fprintf(&b, "## Machine %d\n\nMachine %d stands in hall %d. Switch it off before it is cleaned.\n\n%s\n\n", i, i, i%7, own[i])
	}
	return b.String()
}

func TestPagesAreSearchedByPassages(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	index := func() search.IngestResult {
		var result search.IngestResult
		if err := json.Unmarshal([]byte(mustExecute(t, "index", dir, "--data", data, "--passage-tokens", "128", "--json")), &result); err != nil {
			t.Fatal(err)
		}
		return result
	}
	sentence := "The warranty seal breaks at ninety degrees, and the maker pays for nothing after that."
	own := map[int]string{57: sentence}
	write("handbook.md", handbook(60, own))
	write("opening.html", "<title>Opening hours</title><nav>Home</nav><p>The canteen opens at <b>eleven</b>.")
	write("note.txt", "Bring boots.")
	write(".hidden.md", "# Not a page")
	write("picture.svg", "<svg/>")

	if r := index(); r.Created != 3 || r.Encoded != 61+2 || r.Truncated != 0 {
		t.Errorf("indexed %+v", r)
	}
	var answer search.Response
	ask := func(query string) search.Hit {
		answer = search.Response{}
		if err := json.Unmarshal([]byte(mustExecute(t, "search", query, "--data", data, "--json")), &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Hits[0]
	}
	h := ask("what happens when the warranty seal gets too hot?")
	text := handbook(60, own)
	if h.Passage == nil || h.Title != "Handbook" || !strings.HasSuffix(h.ID, "/handbook.md") {
		t.Fatalf("first hit %+v", h)
	}
	if h.Passage.Section != "Handbook > Machine 57" || h.Passage.Of != 61 || !strings.HasSuffix(h.Text, sentence) || text[h.Passage.Start:h.Passage.End] != h.Text {
		t.Errorf("passage %+v: %q", h.Passage, h.Text)
	}
	if len(answer.Hits) > 3 {
		t.Errorf("%d hits of 3 documents", len(answer.Hits))
	}
	if h := ask("when can I eat?"); h.Title != "Opening hours" || h.Text != "The canteen opens at eleven." {
		t.Errorf("of HTML: %+v", h)
	}
	if out := mustExecute(t, "search", "warranty seal", "--data", data); !strings.Contains(out, "passage 59 of 61 (Handbook > Machine 57)") {
		t.Errorf("search printed %s", out)
	}

	if r := index(); r.Unchanged != 3 || r.Encoded != 0 || r.Tokens != 0 {
		t.Errorf("indexed again: %+v", r)
	}
	own[3] = "It was repaired."
	write("handbook.md", handbook(60, own))
	if r := index(); r.Replaced != 1 || r.Unchanged != 2 || r.Encoded != 1 || r.Reused != 60 {
		t.Errorf("indexed with a section changed: %+v", r)
	}
	if h := ask("which machine was repaired?"); h.Passage == nil || h.Passage.Section != "Handbook > Machine 3" {
		t.Errorf("the changed section: %+v", h)
	}

	if _, stderr, code := execute(t, "", "index", dir, "--data", data, "--passage-tokens", "64"); code == 0 || !strings.Contains(stderr, "passages of 128 tokens") {
		t.Errorf("other settings: exit %d, %s", code, stderr)
	}
	if _, stderr, code := execute(t, "", "index", dir, filepath.Join(dir, "picture.svg"), "--data", data); code != 2 || !strings.Contains(stderr, "no page") {
		t.Errorf("no page: exit %d, %s", code, stderr)
	}
}
