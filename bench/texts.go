package bench

import (
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
)

// texts are what the contenders read. They depend on the corpus and the
// configuration only.
type texts struct {
	queries   []string // as users type them
	prefix    string   // of a query, that the dense model wants
	prefixed  []string // the same as the dense model reads them
	passages  []string
	reranked  []string // the 20 of a rerank
	documents []braid.Document
}

const (
	queryWords      = 8
	rerankWords     = 60
	rerankPassages  = 20
	fewestWords     = 30 // of a passage; the mean is about 150 tokens
	mostWords       = 175
	seed            = 20
	defaultQrelsSet = ""
)

// readTexts cuts the texts from the corpus.
func readTexts(cfg Config, queryPrefix string) (*texts, error) {
	dataset, err := eval.Open(filepath.Clean(cfg.Corpus), defaultQrelsSet)
	if err != nil {
		return nil, err
	}
	t := texts{prefix: queryPrefix}
	stream := wordStream{}
	for doc, err := range dataset.Corpus() {
		if err != nil {
			return nil, err
		}
		stream.words = append(stream.words, strings.Fields(doc.Text)...)
		if len(t.documents) < cfg.Documents && doc.Validate() == nil {
			t.documents = append(t.documents, doc)
		}
	}
	if len(stream.words) == 0 || len(dataset.Queries) == 0 {
		return nil, braid.Errorf(braid.InvalidArgument, "corpus %q has no text or no queries to cut texts from", cfg.Corpus)
	}
	for i := range cfg.Queries {
		words := strings.Fields(dataset.Queries[i%len(dataset.Queries)].Text)
		t.queries = append(t.queries, strings.Join(words[:min(queryWords, len(words))], " "))
		t.prefixed = append(t.prefixed, queryPrefix+t.queries[i])
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for range cfg.Passages {
		t.passages = append(t.passages, stream.take(fewestWords+random.IntN(mostWords-fewestWords)))
	}
	for range rerankPassages {
		t.reranked = append(t.reranked, stream.take(rerankWords))
	}
	return &t, nil
}

// wordStream is the corpus as one text, from the beginning again at its end.
type wordStream struct {
	words []string
	next  int
}

func (s *wordStream) take(n int) string {
	taken := make([]string, n)
	for i := range taken {
		taken[i] = s.words[s.next%len(s.words)]
		s.next++
	}
	return strings.Join(taken, " ")
}
