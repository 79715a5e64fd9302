package contract

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// otherSchema is that of the collections that testReindex turns others into.
func otherSchema() index.Schema {
	s := fullSchema()
	s.Dense.Digest = "d2"
	s.Passages = index.PassageSize{}
	return s
}

// remade makes of a document a passage for each of its words, in capitals, which
// other models encode otherwise.
func remade(e index.Entry) index.Entry {
	d := e.Document
	made := index.Entry{Document: d, Fingerprint: e.Fingerprint}
	made.Fingerprint[0] ^= 0xff
	for _, word := range strings.Fields(d.Text) {
		made.Passages = append(made.Passages, index.Passage{Text: "other " + word})
	}
	return encoded(made)
}

func remakeAll(entries []index.Entry) []index.Entry {
	all := make([]index.Entry, len(entries))
	for i, e := range entries {
		all[i] = remade(e)
	}
	return all
}

func (m model) remade() model {
	all := model{}
	for id, e := range m {
		all[id] = remade(e)
	}
	return all
}

// testReindex gives a collection another schema while it is searched and written,
// after some attempts that were interrupted.
func testReindex(t *testing.T, h *harness) {
	ctx, random := context.Background(), rand.New(rand.NewPCG(51, 52))
	c, m := h.create("t"), model{}
	if _, err := c.SetProfile(ctx, []byte(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	created := c.Info().Created
	upsert := func(c index.Collection, id string) {
		m[id] = randomEntry(random, id)
		write(t, c, index.Batch{Upserts: []index.Entry{m[id]}})
	}
	for i := range 300 {
		upsert(c, fmt.Sprintf("doc-%03d", i))
	}
	drop := func(c index.Collection, id string) {
		delete(m, id)
		write(t, c, index.Batch{Deletes: []string{id}})
	}

	// Two attempts end after some documents, one because of remake.
	for attempt := range 2 {
		seen := 0
		ended, cancel := context.WithCancel(ctx)
		_, err := h.engine.Reindex(ended, "t", otherSchema(), func(_ context.Context, entries []index.Entry) ([]index.Entry, error) {
			if seen += len(entries); seen > 100 && attempt == 0 {
				cancel()
			} else if seen > 100 {
				return nil, braid.Errorf(braid.Overloaded, "enough")
			}
			return remakeAll(entries), nil
		}, nil)
		cancel()
		wantCode(t, "interrupted", err, []braid.Code{braid.Canceled, braid.Overloaded}[attempt])
		m.check(t, c, "alfa bravo", "other")
		c = h.reopen("t")
		m.check(t, c, "alfa bravo", "other")
		if infos, err := h.engine.List(ctx); err != nil || len(infos) != 1 || infos[0].Schema != fullSchema() {
			t.Fatalf("collections are %+v, error %v", infos, err)
		}
		// What was remade is out of date here and there.
		upsert(c, fmt.Sprintf("doc-%03d", attempt))
		drop(c, fmt.Sprintf("doc-%03d", 10+attempt))
		id := fmt.Sprintf("doc-%03d", 20+attempt)
		e := m[id]
		change := index.PayloadChange{ID: id, From: e.Fingerprint, Payload: []byte(`{"src":"changed"}`), Fingerprint: [32]byte{byte(attempt)}}
		e.Document.Payload, e.Fingerprint = change.Payload, change.Fingerprint
		m[id] = e
		write(t, c, index.Batch{Payloads: []index.PayloadChange{change}})
	}

	calls, last := 0, 0
	done, err := h.engine.Reindex(ctx, "t", otherSchema(), func(_ context.Context, entries []index.Entry) ([]index.Entry, error) {
		for _, e := range entries {
			if !slices.EqualFunc(e.Passages, m[e.Document.ID].Passages, func(a, b index.Passage) bool { return slices.Equal(a.Dense, b.Dense) && a.Text == b.Text }) {
				t.Errorf("what is to be remade of %s is %+v, want %+v", e.Document.ID, e, m[e.Document.ID])
			}
		}
		all := remakeAll(entries)
		if calls++; calls == 1 {
			m.check(t, c, "alfa bravo", "other")
			_, err := h.engine.Reindex(ctx, "t", otherSchema(), func(context.Context, []index.Entry) ([]index.Entry, error) { return nil, nil }, nil)
			wantCode(t, "a second one at a time", err, braid.Conflict)
		}
		if calls <= 3 {
			for range 20 {
				upsert(c, fmt.Sprintf("doc-%03d", random.IntN(320)))
			}
			drop(c, fmt.Sprintf("doc-%03d", 30+calls))
			m.check(t, c, "alfa bravo")
		}
		return all, nil
	}, func(done, total int) {
		if done <= last || done > total {
			t.Errorf("%d of %d are done after %d", done, total, last)
		}
		last = done
	})
	if err != nil {
		t.Fatal(err)
	}
	if done.Kept < 50 || done.Kept > 130 || done.Remade < len(m)-done.Kept {
		t.Errorf("%+v of %d documents", done, len(m))
	}

	// Who has the old collection may finish reading.
	m.check(t, c, "alfa bravo", "other")
	_, err = c.Write(ctx, index.Batch{Deletes: []string{"doc-000"}})
	wantCode(t, "write to what was replaced", err, braid.Unavailable)
	_, err = c.SetProfile(ctx, nil)
	wantCode(t, "set the profile of what was replaced", err, braid.Unavailable)
	m.check(t, c, "alfa bravo")

	want := m.remade()
	for range 2 {
		c = h.open("t")
		want.check(t, c, "other alfa", "bravo", "other")
		if info := c.Info(); info.Name != "t" || info.Schema != otherSchema() || !info.Created.Equal(created) {
			t.Errorf("info is %+v, want it made at %s", info, created)
		}
		if p := c.Profile(); string(p.JSON) != `{"a":1}` || p.Version != 1 {
			t.Errorf("profile is %+v", p)
		}
		e := remade(randomEntry(random, "new"))
		want["new"] = e
		write(t, c, index.Batch{Upserts: []index.Entry{e}})
		want.check(t, c, "other alfa", "bravo")
		c = h.reopen("t")
	}
	if infos, err := h.engine.List(ctx); err != nil || len(infos) != 1 {
		t.Errorf("collections are %+v, error %v", infos, err)
	}
}

// testReindexOfWhatGoes drops a collection, closes the engine, and changes what is
// wanted, while it is reindexed or after.
func testReindexOfWhatGoes(t *testing.T, h *harness) {
	ctx := context.Background()
	m := model{}
	fill := func(c index.Collection) {
		var b index.Batch
		for i := range 200 {
			id := fmt.Sprintf("doc-%03d", i)
			m[id] = split(id, "alfa", "bravo")
			b.Upserts = append(b.Upserts, m[id])
		}
		write(t, c, b)
	}
	fill(h.create("t"))
	reindex := func(schema index.Schema, during func()) (index.Reindexed, error) {
		return h.engine.Reindex(ctx, "t", schema, func(_ context.Context, entries []index.Entry) ([]index.Entry, error) {
			during()
			return remakeAll(entries), nil
		}, nil)
	}
	_, err := reindex(index.Schema{Dimensions: 3}, func() {})
	wantCode(t, "a schema that is not valid", err, braid.InvalidArgument)
	_, err = h.engine.Reindex(ctx, "none", otherSchema(), nil, nil)
	wantCode(t, "a collection that is not there", err, braid.NotFound)

	_, err = reindex(otherSchema(), func() {
		if err := h.engine.Drop(ctx, "t"); err != nil && braid.CodeOf(err) != braid.NotFound {
			t.Error(err)
		}
	})
	wantCode(t, "dropped meanwhile", err, braid.NotFound)
	_, err = h.engine.Open(ctx, "t")
	wantCode(t, "open what was dropped", err, braid.NotFound)

	// Made again meanwhile, it is another collection.
	fill(h.create("t"))
	calls := 0
	_, err = reindex(otherSchema(), func() {
		if calls++; calls == 4 {
			if err := h.engine.Drop(ctx, "t"); err != nil {
				t.Error(err)
			}
			h.create("t")
		}
	})
	wantCode(t, "dropped and made again meanwhile", err, braid.NotFound)
	c := h.open("t")
	model{}.check(t, c, "alfa")
	fill(c)

	// With another schema what was remade is of no use.
	calls = 0
	_, err = h.engine.Reindex(ctx, "t", otherSchema(), func(_ context.Context, entries []index.Entry) ([]index.Entry, error) {
		if calls++; calls == 2 {
			return entries[1:], nil
		}
		return remakeAll(entries), nil
	}, nil)
	wantCode(t, "a document is lost", err, braid.Internal)
	third := otherSchema()
	third.Sparse.Digest = "s3"
	done, err := reindex(third, func() {})
	if want := (index.Reindexed{Remade: 200}); err != nil || done != want {
		t.Errorf("%+v, want %+v, error %v", done, want, err)
	}
	// And again before the first one's old collection is gone.
	if _, err = reindex(fullSchema(), func() {}); err != nil {
		t.Error(err)
	}
	m.remade().remade().check(t, h.open("t"), "other alfa")
	if err := h.engine.Drop(ctx, "t"); err != nil {
		t.Error(err)
	}
	model{}.check(t, h.create("t"), "alfa", "other")
	m = model{}
	fill(h.open("t"))

	calls = 0
	_, err = reindex(otherSchema(), func() {
		if calls++; calls == 2 {
			if err := h.engine.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	wantCode(t, "closed meanwhile", err, braid.Unavailable)
	m.check(t, h.reopen("t"), "alfa")
	if done, err = reindex(otherSchema(), func() {}); err != nil || done.Kept == 0 || done.Kept+done.Remade != len(m) {
		t.Errorf("%+v of %d documents, error %v", done, len(m), err)
	}
	m.remade().check(t, h.reopen("t"), "other alfa")
}
