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

// documents is the part that says which documents there are, and of which
// version of the collection all parts are.
func (b *branches) documents(version *store.Version) part {
	const sumBytes = len(slot{}.fingerprint)
	return part{
		name: "documents",
		save: func(w *snapshot.Writer) {
			w.Uint64s([]uint64{version.Sequence, version.Count, version.Sum})
			ids := make([]string, len(b.slots))
			sums := make([]byte, 0, len(b.slots)*sumBytes)
			for i, s := range b.slots {
				ids[i] = s.id
				sums = append(sums, s.fingerprint[:]...)
			}
			w.Strings(ids)
			w.Uint8s(sums)
		},
		load: func(r *snapshot.Reader) error {
			numbers, ids, sums := r.Uint64s(), r.Strings(), r.Uint8s()
			if r.Err() == nil && (len(numbers) != 3 || len(sums) != len(ids)*sumBytes) {
				r.Fail("%d numbers, %d ids and %d bytes of fingerprints", len(numbers), len(ids), len(sums))
			}
			if err := r.Err(); err != nil {
				return err
			}
			*version = store.Version{Sequence: numbers[0], Count: numbers[1], Sum: numbers[2]}
			live := 0
			b.ords = make(map[string]uint32, version.Count)
			b.slots = make([]slot, len(ids))
			for i, id := range ids {
				if id == "" {
					continue
				}
				live++
				b.ords[id] = uint32(i)
				b.slots[i] = slot{id: id, fingerprint: [sumBytes]byte(sums[i*sumBytes:])}
			}
			if len(b.ords) != live || uint64(live) != version.Count {
				r.Fail("%d documents with %d ids, want %d", live, len(b.ords), version.Count)
			}
			return r.Err()
		},
	}
}

// parts are the branches and the filter. Their load replaces them and expects
// that the documents are loaded.
func (b *branches) parts() []part {
	end := func() uint64 { return uint64(len(b.slots)) }
	// complete compares a part's count of documents with the collection's.
	complete := func(r *snapshot.Reader, n int) error {
		if n != len(b.ords) {
			r.Fail("it holds %d documents, want %d", n, len(b.ords))
		}
		return r.Err()
	}
	parts := []part{{
		name: string(braid.Lexical),
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
		name: "filter",
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
			name: string(braid.Dense),
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
			name: string(braid.Sparse),
			save: func(w *snapshot.Writer) { b.sparse.Save(w) },
			load: func(r *snapshot.Reader) error {
				x, err := sparse.Load(r, end())
				if err != nil {
					return err
				}
				b.sparse = x
				return r.Err() // documents without weights are in no list
			},
		})
	}
	return parts
}
