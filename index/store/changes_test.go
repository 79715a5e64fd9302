package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
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
	for _, c := range []change{
		{before: tally{1, 2}, after: tally{3, 4}, ids: []string{"a", "", "bc"}},
		{before: tally{1, 2}, after: tally{3, 4}, ids: []string{"a", "", "bc"}, payloads: []string{"", `{"x":1}`}},
	} {
		good := c.append(nil)
		if got, err := decodeChange(good); err != nil || !reflect.DeepEqual(got, c) {
			t.Fatalf("read %+v, want %+v, error %v", got, c, err)
		}
		whole := change{before: c.before, after: c.after, ids: c.ids}
		for n := range good {
			// Without its payloads it is a change of an earlier version.
			if _, err := decodeChange(good[:n]); braid.CodeOf(err) != braid.Corrupt && n != len(whole.append(nil)) {
				t.Errorf("cut at %d: error %v, want %s", n, err, braid.Corrupt)
			}
		}
		if _, err := decodeChange(append(good, 0)); braid.CodeOf(err) != braid.Corrupt {
			t.Errorf("one byte more: error %v, want %s", err, braid.Corrupt)
		}
	}
	more := change{ids: []string{"a"}, payloads: []string{"{}", "{}"}}
	if _, err := decodeChange(more.append(nil)); braid.CodeOf(err) != braid.Corrupt {
		t.Errorf("more payloads than documents: error %v, want %s", err, braid.Corrupt)
	}
}

// TestPatchedSince asks what has become of documents whose payloads changed, among
// other changes.
func TestPatchedSince(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{})
	defer s.Close()
	c := create(t, s, "c")
	of := func(id, payload string) index.Entry {
		e := document(id)
		e.Document.Payload = json.RawMessage(payload)
		return e
	}
	patch := func(id, from, to string) Patch { return Patch{Entry: of(id, to), Payload: json.RawMessage(from)} }
	commit := func(upserts []index.Entry, deletes []string, patches ...Patch) Version {
		t.Helper()
		if err := s.Commit(c.Number, upserts, deletes, patches...); err != nil {
			t.Fatal(err)
		}
		return versionOf(t, s, c)
	}
	start := commit([]index.Entry{of("a", `{"v":1}`), of("b", ``), of("c", `{"v":1}`), of("d", `{"v":1}`)}, nil)
	commit(nil, nil, patch("a", `{"v":1}`, `{"v":2}`), patch("b", ``, `{"v":2}`), patch("c", `{"v":1}`, `{"v":2}`))
	middle := commit([]index.Entry{of("c", `{"v":3}`)}, []string{"d"}, patch("a", `{"v":2}`, ``))
	commit([]index.Entry{of("d", `{"v":4}`)}, nil)
	commit(nil, nil, patch("c", `{"v":3}`, `{"v":4}`), patch("d", `{"v":4}`, `{"v":5}`))

	patched := func(payload string) Change { return Change{Patched: true, Payload: json.RawMessage(payload)} }
	for name, w := range map[string]struct {
		since Version
		want  map[string]Change
	}{
		"the start":  {start, map[string]Change{"a": patched(`{"v":1}`), "b": {Patched: true}, "c": {}, "d": {}}},
		"the middle": {middle, map[string]Change{"c": patched(`{"v":3}`), "d": {}}},
	} {
		v, err := s.View(c)
		if err != nil {
			t.Fatal(err)
		}
		got, known, err := v.Changes(context.Background(), w.since)
		if err := errors.Join(err, v.Close()); err != nil || !known || !reflect.DeepEqual(got, w.want) {
			t.Errorf("since %s: %v, want %v; known %v, error %v", name, got, w.want, known, err)
		}
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
	found, known, err := v.Changes(context.Background(), since)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for id := range found {
		ids[id] = true
	}
	return ids, known
}
