package search

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
)

// Kind is what a query looks like.
type Kind string

const (
	// KindIdentifier is a query of which at least a third of the words are names
	// that have to be met exactly: codes, versions, part numbers, symbols.
	KindIdentifier Kind = "identifier"
	// KindQuestion is a query that begins with a question word or ends with a
	// question mark.
	KindQuestion Kind = "question"
	// KindOther is every other query.
	KindOther Kind = "other"
)

// Routing says what a hybrid query was taken for and what followed from it.
// What the request or the collection's profile says itself is not changed.
type Routing struct {
	Kind Kind `json:"kind"`
	// Identifiers are the words of the query that are names, as written.
	Identifiers []string `json:"identifiers,omitempty"`
	// Unknown are those of Identifiers that none of the first lexical hits holds.
	Unknown []string `json:"unknown,omitempty"`
	// Agreement is by how much the votes of branches were made to count less;
	// absent where the weights do not depend on it.
	Agreement Agreement `json:"agreement,omitempty"`
}

// defaults are what a kind of query gets where nothing else is asked for.
type defaults struct {
	weights      Weights
	byAgreement  bool // see plan.weigh
	rerankWeight float64
}

func weights(dense, sparse, lexical float64) Weights {
	return Weights{braid.Dense: dense, braid.Sparse: sparse, braid.Lexical: lexical}
}

// defaults returns what was measured to be good for the query's kind
// (docs/decisions/defaults.md).
//
// Dense and SPLADE vectors tell one identifier from the next badly, and BM25 does
// it well. Otherwise dense is the best branch in most collections. SPLADE and the
// cross-encoder were trained on one kind of questions: whether this is one shows in
// how many of SPLADE's and dense's first hits are the same. The cross-encoder is
// trusted less with what is no question. A question that holds an identifier needs
// its lexical evidence, and an identifier that no document holds has none.
func (r Routing) defaults() defaults {
	switch {
	case r.Unknown != nil:
		return defaults{weights: weights(1, 1, 1), rerankWeight: 0.3}
	case r.Kind == KindIdentifier:
		return defaults{weights: weights(0.2, 0.2, 1), rerankWeight: 0.2}
	case r.Kind == KindQuestion && r.Identifiers == nil:
		return defaults{weights: weights(1, 1.6, 0.4), byAgreement: true, rerankWeight: 0.3}
	case r.Kind == KindQuestion:
		return defaults{weights: weights(1, 1, 1), rerankWeight: 0.5}
	}
	return defaults{weights: weights(1, 0.5, 0.7), rerankWeight: 0.3}
}

// fusion is how rankings are merged by default.
func (d defaults) fusion() *Fusion { return &Fusion{Method: fusion.MinMax, Weights: d.weights} }

// Route says what a query is taken for. It looks at its words, which are what
// stands between white space.
func Route(query string) Routing {
	words := strings.Fields(query)
	r := Routing{Kind: KindOther}
	for _, word := range words {
		if name := bare(word); isIdentifier(name) {
			r.Identifiers = append(r.Identifiers, name)
		}
	}
	switch {
	case 3*len(r.Identifiers) >= len(words) && len(words) > 0:
		r.Kind = KindIdentifier
	case isQuestion(words):
		r.Kind = KindQuestion
	}
	return r
}

// bare cuts off the punctuation that stands around a word in prose.
func bare(word string) string {
	return strings.TrimRight(strings.TrimLeft(word, "\"'`([{<“‘«¿¡"), "\"'`)]}>”’».,;:!?")
}

var (
	// A measure, an ordinal, a decade: 10mg, 5.5km, 3D, 1st, 1990s, 20%.
	measure = regexp.MustCompile(`^[+-]?\d+([.,]\d+)*(\p{L}{1,3}|%)$`)
	// A version or an address: 2.1, v1.18.4, 10.0.0.1, 1.0.0-rc.2.
	version = regexp.MustCompile(`^[vV]?\d+(\.\d+)+([-+.][0-9A-Za-z.-]+)?$`)
	// A symbol of a program: user_id, std::vector, softLogout, com.example.app, C++, C#.
	symbol = regexp.MustCompile(`\w_\w|\w::\w|\p{Ll}\p{Lu}|^\p{L}{2,}(\.\p{L}{2,})+$|^\p{L}(\+\+|#)$`)
)

// isIdentifier reports whether a word is a name to be met exactly: a symbol, a
// version, a word of letters and digits that is not a measure, or a number of at
// least five digits.
func isIdentifier(word string) bool {
	if utf8.RuneCountInString(word) < 2 {
		return false
	}
	if symbol.MatchString(word) || version.MatchString(word) {
		return true
	}
	letters, upper, digits := 0, 0, 0
	for _, r := range word {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) {
				upper++
			}
		case !strings.ContainsRune("-./#", r):
			return false
		}
	}
	switch {
	case digits == 0:
		return false
	case letters == 0:
		return digits >= 5
	case measure.MatchString(word):
		return upper > 0 && upper == letters && letters > 1
	}
	return true
}

// questionWords are the words that questions begin with, in lower case.
const questionWords = " who whom whose what which when where why how is are was were am do does did can could should would will has have may might "

func isQuestion(words []string) bool {
	if len(words) < 2 {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(words[len(words)-1])
	return last == '?' || last == '？' || strings.Contains(questionWords, " "+strings.ToLower(bare(words[0]))+" ")
}
