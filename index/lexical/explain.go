package lexical

// Share is what one term of a query gave to a document's score: Contribution is
// Weight·IDF·Frequency/(Frequency + Norm), as Search has it to the last bit.
type Share struct {
	QueryTerm
	Frequency int     // how often the document holds the term
	IDF       float64 // of the term among the documents there are now
	Norm      float64 // k1·(1 − b + b·length/average) of the document
	// Contribution is above 0. Those of a document, added in order, are its score.
	Contribution float64
}

// Explain returns the shares of the terms that document ord holds, in the order
// of query; none when ord is not there or holds none of them.
func (x *Index) Explain(query []QueryTerm, ord uint32) []Share {
	if !x.index.Has(ord) {
		return nil
	}
	base, slope := x.opts.base(), x.opts.slope(float64(x.length)/float64(x.Len()))
	length := float64(x.documents.lengths[ord])
	var shares []Share
	for _, t := range query {
		term, known := x.terms.numbers[t.Text]
		if !known {
			continue
		}
		count, holds := x.index.Lookup(ord, term)
		if !holds {
			continue
		}
		frequency, idf := x.frequency(term, ord, count), x.idf(term)
		shares = append(shares, Share{
			QueryTerm: t, Frequency: int(frequency), IDF: idf, Norm: base + slope*length,
			Contribution: share(t.Weight*idf, float64(frequency), base, slope, length),
		})
	}
	return shares
}

// Dropped returns the stop words that QueryTerms leaves out of text, as written,
// in order and each once.
func (a *Analyzer) Dropped(text string) []string {
	var q query
	a.scan(text, forQuery, q.add)
	if !q.content {
		return nil
	}
	var words []string
	seen := map[string]bool{}
	for _, t := range q.tokens {
		word := text[t.Start:t.End]
		if t.stop && t.Kind != Part && !seen[word] {
			seen[word] = true
			words = append(words, word)
		}
	}
	return words
}

// Locate returns those of the Terms of text that are among terms.
func (a *Analyzer) Locate(text string, terms []string) []Term {
	wanted := make(map[string]string, len(terms))
	for _, t := range terms {
		wanted[t] = t
	}
	var found []Term
	a.scan(text, forIndex, func(t token) {
		if term, ok := wanted[string(t.text)]; ok {
			found = append(found, Term{Text: term, Start: t.start, End: t.end, Kind: t.kind})
		}
	})
	return found
}
