package store

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// TestChangesSince takes versions at random moments and asks of each later what
// has changed, across openings, beside changes of another collection.
func TestChangesSince(t *testing.T) {
	random := rand.New(rand.NewPCG(51, 52))
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	c, other := create(t, s, "c"), create(t, s, "other")
	type past struct {
		version Version
		changed map[string]bool
	}
	var pasts []past
	stored := map[string]bool{}
	for step := range 300 {
		switch random.IntN(10) {
		case 0:
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, dir, Options{})
		case 1:
			pasts = append(pasts, past{versionOf(t, s, c), map[string]bool{}})
		case 2:
			if err := s.Commit(other.Number, []index.Entry{document("x")}, nil); err != nil {
				t.Fatal(err)
			}
		default:
			var upserts []index.Entry
			var deletes []string
			for _, n := range random.Perm(20)[:1+random.IntN(4)] {
				id := fmt.Sprint("d", n)
				if stored[id] && random.IntN(2) == 0 {
					deletes = append(deletes, id)
					delete(stored, id)
				} else {
					upserts = append(upserts, document(id))
					stored[id] = true
				}
				for _, p := range pasts {
					p.changed[id] = true
				}
			}
			if err := s.Commit(c.Number, upserts, deletes); err != nil {
				t.Fatal(err)
			}
		}
		if step%20 != 19 {
			continue
		}
		for i, p := range pasts {
			ids, known := changes(t, s, c, p.version)
			if !known || !maps.Equal(ids, p.changed) {
				t.Fatalf("step %d: since version %d changed %v, want %v; known %v", step, i, slices.Sorted(maps.Keys(ids)), slices.Sorted(maps.Keys(p.changed)), known)
			}
		}
	}
	defer s.Close()

	// What is forgotten cannot be told, the rest still can.
	middle := len(pasts) / 2
	if err := s.Forget(c, pasts[middle].version); err != nil {
		t.Fatal(err)
	}
	for i, p := range pasts {
		ids, known := changes(t, s, c, p.version)
		lost := p.version.Sequence < pasts[middle].version.Sequence && p.version.tally() != pasts[middle].version.tally()
		if known == lost || known && !maps.Equal(ids, p.changed) {
			t.Errorf("after forgetting, since version %d of %d: known %v", i, middle, known)
		}
	}
}

// TestChangesOfAnotherPast asks for versions that never were.
func TestChangesOfAnotherPast(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{})
	defer s.Close()
	c := create(t, s, "c")
	for i := range 5 {
		if err := s.Commit(c.Number, []index.Entry{document(fmt.Sprint(i))}, nil); err != nil {
			t.Fatal(err)
		}
	}
	now := versionOf(t, s, c)
	for name, v := range map[string]Version{
		"of the future":    {Sequence: now.Sequence + 1, Count: now.Count, Sum: now.Sum},
		"with another sum": {Sequence: now.Sequence - 2, Count: now.Count - 2, Sum: 7},
		"as of now, other": {Sequence: now.Sequence, Count: now.Count, Sum: 7},
	} {
		if _, known := changes(t, s, c, v); known {
			t.Errorf("the changes since a version %s are known", name)
		}
	}
	if ids, known := changes(t, s, c, Version{}); !known || len(ids) != 5 {
		t.Errorf("since the empty collection: %v, known %v", ids, known)
	}
}

func TestViewGet(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{})
	defer s.Close()
	c := create(t, s, "c")
	if err := s.Commit(c.Number, []index.Entry{document("a")}, nil); err != nil {
		t.Fatal(err)
	}
	v, err := s.View(c)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := s.Commit(c.Number, []index.Entry{document("b")}, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if e, ok, err := v.Get("a"); err != nil || !ok || e.Document.ID != "a" {
		t.Errorf("a: %v, %v, %v; want it, though it was deleted later", e.Document, ok, err)
	}
	if _, ok, err := v.Get("b"); err != nil || ok {
		t.Errorf("b: %v, %v; want none, it came later", ok, err)
	}
}

// TestDropForgetsChanges uses a name again.
func TestDropForgetsChanges(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{})
	defer s.Close()
	c := create(t, s, "c")
	if err := s.Commit(c.Number, []index.Entry{document("a")}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Drop(c); err != nil {
		t.Fatal(err)
	}
	left := 0
	if err := s.scan(context.Background(), []byte("l"), []byte("m"), func([]byte, []byte) error { left++; return nil }); err != nil || left > 0 {
		t.Errorf("%d changes are left of a dropped collection, error %v", left, err)
	}
}

func TestDamagedChange(t *testing.T) {
	good := appendChange(nil, tally{1, 2}, tally{3, 4}, []string{"a", "", "bc"})
	before, after, ids, err := decodeChange(good)
	if err != nil || before != (tally{1, 2}) || after != (tally{3, 4}) || !slices.Equal(ids, []string{"a", "", "bc"}) {
		t.Fatalf("read %v %v %q, error %v", before, after, ids, err)
	}
	for n := range good {
		if _, _, _, err := decodeChange(good[:n]); braid.CodeOf(err) != braid.Corrupt {
			t.Errorf("cut at %d: error %v, want %s", n, err, braid.Corrupt)
		}
	}
	if _, _, _, err := decodeChange(append(good, 0)); braid.CodeOf(err) != braid.Corrupt {
		t.Errorf("one byte more: error %v, want %s", err, braid.Corrupt)
	}
}

func versionOf(t *testing.T, s *Store, c Collection) Version {
	t.Helper()
	v, err := s.View(c)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	return v.Version()
}

func changes(t *testing.T, s *Store, c Collection, since Version) (map[string]bool, bool) {
	t.Helper()
	v, err := s.View(c)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	ids, known, err := v.Changes(context.Background(), since)
	if err != nil {
		t.Fatal(err)
	}
	return ids, known
}
