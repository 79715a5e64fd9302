package lexical

// What the terms of one compound in a query count for; a plain word counts 1.
// A document that has the compound as written gets all three, one that has it
// in another spelling the last two, one that has only its parts the last. So
// little for the parts that repeating them does not outweigh the whole at like
// length, and so much that low-dose finds "low dose": more lost the first, less
// lost quality on prose.
const (
	exactWeight  = 0.6
	joinedWeight = 0.6
	partsWeight  = 0.8 // shared out among the parts
)

// QueryTerms returns the terms to look for, in the order of their first
// occurrence, each once. A word that the query repeats counts as often as it
// is there. Stop words are left out unless there is nothing else to look for:
// "to be or not to be" looks for all its words, "the crab" for one. Keeping
// them made prose no better, and every document a hit.
func (a *Analyzer) QueryTerms(text string) []QueryTerm {
	var q query
	a.scan(text, forQuery, q.add)
	return q.terms()
}

// query collects the tokens of a query, which are weighed when all are known.
type query struct {
	tokens  []occurrence
	shapes  []shape // by group
	content bool    // there is a word or compound that is no stop word
}

type occurrence struct {
	Term
	stop  bool
	group int
}

// shape says what terms a compound has.
type shape struct {
	word, joined bool
	parts        int
}

func (q *query) add(t token) {
	for len(q.shapes) <= t.group {
		q.shapes = append(q.shapes, shape{})
	}
	shape := &q.shapes[t.group]
	switch t.kind {
	case Word:
		shape.word = true
	case Joined:
		shape.joined = true
	case Part:
		if !t.stop {
			shape.parts++
		}
	}
	q.content = q.content || t.kind != Part && !t.stop
	q.tokens = append(q.tokens, occurrence{
		Term: Term{Text: string(t.text), Start: t.start, End: t.end, Kind: t.kind},
		stop: t.stop, group: t.group,
	})
}

func (q *query) terms() []QueryTerm {
	terms := make([]QueryTerm, 0, len(q.tokens))
	places := make(map[string]int, len(q.tokens))
	for _, t := range q.tokens {
		if t.stop && q.content {
			continue
		}
		place, known := places[t.Text]
		if !known {
			place = len(terms)
			places[t.Text] = place
			terms = append(terms, QueryTerm{Term: t.Term})
		}
		terms[place].Weight += q.shapes[t.group].weight(t.Kind)
	}
	return terms
}

func (s shape) weight(k Kind) float64 {
	switch {
	case k == Part:
		return partsWeight / float64(max(s.parts, 1))
	case k == Joined:
		return joinedWeight
	case k == Whole && (s.joined || s.word):
		return exactWeight
	case k == Whole: // the only spelling there is
		return exactWeight + joinedWeight
	}
	return 1
}
