package postings

// searchTerm is searchWindow for a query of one term. A posting's code alone
// bounds its document's score, and its place in the list is where the rest of it
// is: no sums are needed.
func (s *search[E]) searchTerm(number int, w *window[E]) {
	var allowed bitset
	if s.scan.Allowed != nil {
		var n int
		if allowed, n = s.intersect(number, w); n == 0 {
			return
		}
	} else if w.gone > 0 {
		allowed = w.alive
	}
	step := s.step(0, s.factor(number)*s.scale)
	from, to := s.neededCode(step), topCode+1
	if from == 1 {
		// As in searchWindow: the documents with the K highest codes tell what is
		// needed.
		from = s.kthCode(allowed)
		s.offerCodes(number, allowed, from, to)
		from, to = s.neededCode(step), from
	}
	if from < to {
		s.offerCodes(number, allowed, from, to)
	}
}

// neededCode is the smallest code of a document that can be among the best, at
// least 1; topCode+1 if there is none.
func (s *search[E]) neededCode(step uint32) int {
	return int(min(uint64(s.needed())+uint64(step)-1, (topCode+1)*uint64(step)) / uint64(step))
}

// kthCode returns the highest code that K of the postings at hand reach, or 1.
func (s *search[E]) kthCode(allowed bitset) int {
	var counts [topCode + 1]int
	for _, l := range s.lists {
		for at, offset := range l.offsets {
			if allowed == nil || allowed.has(uint32(offset)) {
				counts[l.codes[at]]++
			}
		}
	}
	code := topCode
	for n := counts[code]; n < s.scan.K && code > 1; n += counts[code] {
		code--
	}
	return code
}

// offerCodes offers the documents of the postings at hand that have a code in
// [from, to).
func (s *search[E]) offerCodes(number int, allowed bitset, from, to int) {
	first := uint32(number) << s.x.bits
	for _, l := range s.lists {
		for at, code := range l.codes {
			if int(code) < from || int(code) >= to {
				continue
			}
			offset := uint32(l.offsets[at])
			if allowed == nil || allowed.has(offset) {
				s.best.Offer(first+offset, s.query.Share(0, first+offset, l.exact[at]))
			}
		}
	}
}
