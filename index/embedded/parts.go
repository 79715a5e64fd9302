package embedded

import (
	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/filter"
	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/sparse"
	"github.com/braid-search/braid/index/store"
)

// directory is the part that says which documents there are, and of which
// version of the collection all parts are. Its form of version 1 has no numbers of
// passages: each document has one.
func (b *branches) directory(version *store.Version) part {
	return part{
		name: "documents", version: 2,
		save: func(w *snapshot.Writer) { b.saveDirectory(w, *version) },
		load: func(r *snapshot.Reader) error { return b.loadDirectory(r, version) },
	}
}

const sumBytes = len(slot{}.fingerprint)

func (b *branches) saveDirectory(w *snapshot.Writer, version store.Version) {
	w.Uint64s([]uint64{version.Sequence, version.Count, version.Sum})
	// Passages after the first have no id, as those that are no more.
	ids := make([]string, len(b.slots))
	counts := make([]uint16, len(b.slots))
	sums := make([]byte, 0, len(b.slots)*sumBytes)
	for i, s := range b.slots {
		if s.passage == 0 {
			ids[i], counts[i] = s.id, s.count
		}
		sums = append(sums, s.fingerprint[:]...)
	}
	w.Strings(ids)
	w.Uint8s(sums)
	w.Uint16s(counts)
}

func (b *branches) loadDirectory(r *snapshot.Reader, version *store.Version) error {
	numbers, ids, sums := r.Uint64s(), r.Strings(), r.Uint8s()
	counts := make([]uint16, 0)
	if r.Version() > 1 {
		counts = r.Uint16s()
	} else {
		for range ids {
			counts = append(counts, 1)
		}
	}
	if r.Err() == nil && (len(numbers) != 3 || len(sums) != len(ids)*sumBytes || len(counts) != len(ids)) {
		r.Fail("%d numbers, %d ids, %d bytes of fingerprints and %d numbers of passages", len(numbers), len(ids), len(sums), len(counts))
	}
	if err := r.Err(); err != nil {
		return err
	}
	*version = store.Version{Sequence: numbers[0], Count: numbers[1], Sum: numbers[2]}
	b.ords = make(map[string]uint32, version.Count)
	b.slots = make([]slot, len(ids))
	live, end := 0, 0 // end is of the passages of the document before
	for i, id := range ids {
		if id == "" {
			continue
		}
		if counts[i] == 0 || i < end || int(counts[i]) > len(ids)-i {
			r.Fail("document %d has %d passages, with the one before up to %d of %d", i, counts[i], end, len(ids))
			return r.Err()
		}
		live++
		b.ords[id] = uint32(i)
		b.begin(uint32(i))
		end = i + int(counts[i])
		for n := range counts[i] {
			b.slots[i+int(n)] = slot{id: id, passage: n, count: counts[i]}
		}
		b.slots[i].fingerprint = [sumBytes]byte(sums[i*sumBytes:])
		b.passages += int(counts[i])
	}
	if len(b.ords) != live || uint64(live) != version.Count {
		r.Fail("%d documents with %d ids, want %d", live, len(b.ords), version.Count)
	}
	return r.Err()
}

// parts are the branches and the filter. Their load replaces them and expects
// that the documents are loaded.
func (b *branches) parts() []part {
	end := func() uint64 { return uint64(len(b.slots)) }
	// complete compares a part's count of passages with the collection's.
	complete := func(r *snapshot.Reader, n int) error {
		if n != b.passages {
			r.Fail("it holds %d passages, want %d", n, b.passages)
		}
		return r.Err()
	}
	parts := []part{{
		name: string(braid.Lexical), version: 1,
		save: func(w *snapshot.Writer) { b.lexical.Save(w) },
		load: func(r *snapshot.Reader) error {
			x, err := lexical.Load(r, end(), lexical.Options{})
			if err != nil {
				return err
			}
			b.lexical = x
			return complete(r, x.Len())
		},
	}, {
		name: "filter", version: 1,
		save: func(w *snapshot.Writer) { b.filter.Save(w) },
		load: func(r *snapshot.Reader) error {
			x, err := filter.Load(r, end())
			if err != nil {
				return err
			}
			b.filter = x
			return complete(r, x.Len())
		},
	}}
	if b.dense != nil {
		parts = append(parts, part{
			name: string(braid.Dense), version: 3,
			save: func(w *snapshot.Writer) { b.dense.Save(w) },
			load: func(r *snapshot.Reader) error {
				x, err := dense.LoadIndex(r, end(), b.dense.Dimensions(), b.dense.Options())
				if err != nil {
					return err
				}
				b.dense = x
				return complete(r, x.Len())
			},
		})
	}
	if b.sparse != nil {
		parts = append(parts, part{
			name: string(braid.Sparse), version: 1,
			save: func(w *snapshot.Writer) { b.sparse.Save(w) },
			load: func(r *snapshot.Reader) error {
				x, err := sparse.Load(r, end())
				if err != nil {
					return err
				}
				b.sparse = x
				return r.Err() // passages without weights are in no list
			},
		})
	}
	return parts
}
