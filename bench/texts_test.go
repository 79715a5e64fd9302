package bench

import (
	"reflect"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/testenv"
)

func TestTexts(t *testing.T) {
	cfg := Config{Root: testenv.Root(), Queries: 30, Passages: 40, Documents: 5}.withDefaults()
	texts, err := readTexts(cfg, "prefix: ")
	if err != nil {
		t.Fatal(err)
	}
	if len(texts.queries) != 30 || len(texts.passages) != 40 || len(texts.reranked) != rerankPassages || len(texts.documents) != 5 {
		t.Errorf("got %d queries, %d passages, %d to rerank, %d documents", len(texts.queries), len(texts.passages), len(texts.reranked), len(texts.documents))
	}
	for i, query := range texts.queries {
		if n := len(strings.Fields(query)); n < 1 || n > queryWords || texts.prefixed[i] != "prefix: "+query {
			t.Errorf("query %q, prefixed %q", query, texts.prefixed[i])
		}
	}
	lengths := map[int]bool{}
	for _, passage := range texts.passages {
		n := len(strings.Fields(passage))
		if lengths[n] = true; n < fewestWords || n >= mostWords {
			t.Errorf("a passage has %d words", n)
		}
	}
	if len(lengths) < 10 {
		t.Errorf("passages have %d different lengths only", len(lengths))
	}
	again, err := readTexts(cfg, "prefix: ")
	if err != nil || !reflect.DeepEqual(texts, again) {
		t.Errorf("the texts differ from run to run (%v)", err)
	}
}

func TestTextsWithoutCorpus(t *testing.T) {
	_, err := readTexts(Config{Corpus: t.TempDir()}.withDefaults(), "")
	if braid.CodeOf(err) != braid.NotFound {
		t.Errorf("got %v, want NotFound", err)
	}
}
