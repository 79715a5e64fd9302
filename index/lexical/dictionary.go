package lexical

// dictionary numbers the terms that documents hold. A number whose term no
// document holds any more goes to another term.
type dictionary struct {
	numbers map[string]uint32
	names   []string // by number
	holders []uint32 // by number: how many documents hold the term
	free    []uint32 // numbers without a term
	bytes   int64    // of all names
}

func newDictionary() dictionary { return dictionary{numbers: map[string]uint32{}} }

// number returns that of term, a new one if it has none.
func (d *dictionary) number(term []byte) uint32 {
	if n, ok := d.numbers[string(term)]; ok {
		return n
	}
	name := string(term)
	var n uint32
	if last := len(d.free) - 1; last >= 0 {
		n, d.free = d.free[last], d.free[:last]
		d.names[n] = name
	} else {
		n = uint32(len(d.names))
		d.names, d.holders = append(d.names, name), append(d.holders, 0)
	}
	d.numbers[name] = n
	d.bytes += int64(len(name))
	return n
}

// hold notes that one more document holds term n.
func (d *dictionary) hold(n uint32) { d.holders[n]++ }

// release notes that one fewer does, and forgets a term that none does.
func (d *dictionary) release(n uint32) {
	d.holders[n]--
	if d.holders[n] > 0 {
		return
	}
	d.bytes -= int64(len(d.names[n]))
	delete(d.numbers, d.names[n])
	d.names[n] = ""
	d.free = append(d.free, n)
	if len(d.free) == len(d.names) {
		*d = newDictionary()
	}
}

// restore fills in what follows from names and holders. It reports whether the
// terms with holders have different names and the others none.
func (d *dictionary) restore() bool {
	for n, name := range d.names {
		if (name == "") != (d.holders[n] == 0) {
			return false
		}
		if name == "" {
			d.free = append(d.free, uint32(n))
			continue
		}
		d.numbers[name] = uint32(n)
		d.bytes += int64(len(name))
	}
	return len(d.numbers)+len(d.free) == len(d.names)
}

func (d *dictionary) memoryBytes() int64 {
	const entryBytes = 48 // of the map, with the name's header twice
	return d.bytes + entryBytes*int64(len(d.numbers)) + 20*int64(cap(d.names)) + 4*int64(cap(d.free))
}
