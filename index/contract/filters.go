package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// someFilters are filters over the payloads of payloadOf.
var someFilters = []string{
	`{}`,
	`{"must":[{"field":"n","match":3}]}`,
	`{"must":[{"field":"n","in":[]}]}`,
	`{"must_not":[{"field":"n","in":[]}]}`,
	`{"must":[{"field":"n","in":[1,2,9007199254740993]}]}`,
	`{"must":[{"field":"n","range":{"gte":2,"lt":4}}]}`,
	`{"must":[{"field":"n","range":{"gt":9007199254740992}}]}`,
	`{"must":[{"field":"at","range":{"gte":"2031-01-03","lt":"2031-01-05T12:00:00Z"}}]}`,
	`{"must":[{"field":"n","exists":false}]}`,
	`{"must":[{"field":"of.kind","match":"even"}],"must_not":[{"field":"n","match":2},{"field":"tags","match":true}]}`,
	`{"should":[{"field":"tags","match":"b"},{"must":[{"field":"tags","match":"a"},{"field":"of.kind","match":"odd"}]}]}`,
}

func parse(t testing.TB, text string) *braid.Filter {
	t.Helper()
	var f braid.Filter
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	return &f
}

// payloadOf makes payloads of all kinds of values.
func payloadOf(random *rand.Rand) json.RawMessage {
	n := random.IntN(6)
	value := []string{fmt.Sprint(n), "null", "[]", fmt.Sprintf("[%d,null,%d]", n, n+1), "9007199254740993"}[random.IntN(5)]
	tags := []string{`[]`, `["a"]`, `["a","b"]`, `"b"`, `[true,"a"]`}[random.IntN(5)]
	kind := []string{"even", "odd"}[n%2]
	return json.RawMessage(fmt.Sprintf(`{"n":%s,"tags":%s,"of":{"kind":%q},"at":"2031-01-0%dT0%d:00:00Z"}`, value, tags, kind, n+1, n))
}

// fillWithPayloads stores some documents with payloads, and writes some of them
// again and deletes some.
func fillWithPayloads(t *testing.T, c index.Collection, random *rand.Rand) model {
	t.Helper()
	m := model{}
	for range 3 {
		var batch index.Batch
		for _, i := range random.Perm(200)[:120] {
			e := randomEntry(random, fmt.Sprintf("doc-%03d", i))
			e.Document.Payload = payloadOf(random)
			m[e.Document.ID] = e
			batch.Upserts = append(batch.Upserts, e)
		}
		write(t, c, batch)
		batch = index.Batch{}
		for _, i := range random.Perm(200)[:20] {
			id := fmt.Sprintf("doc-%03d", i)
			delete(m, id)
			batch.Deletes = append(batch.Deletes, id)
		}
		write(t, c, batch)
	}
	return m
}

// passing returns the ids of the documents that pass f, ascending.
func (m model) passing(t testing.TB, f *braid.Filter) []string {
	var ids []string
	for id, e := range m {
		if (query{filter: f}).allows(t, e) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// testFilters compares what is found with filters with brute force over the
// documents that pass, in every branch.
func testFilters(t *testing.T, h *harness) {
	random := rand.New(rand.NewPCG(41, 42))
	c := h.create("t")
	m := fillWithPayloads(t, c, random)
	check := func() {
		for _, text := range someFilters {
			f := parse(t, text)
			not := &braid.Filter{MustNot: []braid.Clause{*f}}
			for _, f := range []*braid.Filter{f, not} {
				if got, want := resolve(t, c, *f).Len(), len(m.passing(t, f)); got != want {
					t.Errorf("%s: %d documents pass, want %d", text, got, want)
				}
				for _, k := range []int{1, 5, m.passages()} {
					m.checkRankings(t, c, randomText(random), query{k: k, filter: f})
				}
			}
		}
	}
	check()
	c = h.reopen("t")
	check()
}

// foreign is a set that no collection has resolved.
type foreign struct{}

func (foreign) Len() int { return 1 }

func testSetsAreOfOneCollection(t *testing.T, h *harness) {
	ctx := context.Background()
	a, b := h.create("a"), h.create("t")
	for _, c := range []index.Collection{a, b} {
		write(t, c, index.Batch{Upserts: []index.Entry{entry("1", "alfa")}})
	}
	if err := h.engine.Drop(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	again := h.create("a")
	write(t, again, index.Batch{Upserts: []index.Entry{entry("1", "alfa")}})
	other := h.newEngine(t, t.TempDir())
	t.Cleanup(func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	})
	elsewhere, err := other.Create(ctx, "a", fullSchema())
	if err != nil {
		t.Fatal(err)
	}
	old := resolve(t, again, braid.Filter{})
	again = h.reopen("a")
	for what, set := range map[string]index.Set{
		"another collection":                resolve(t, h.open("t"), braid.Filter{}),
		"another engine":                    resolve(t, elsewhere, braid.Filter{}),
		"a collection that was of the name": old,
		"nobody":                            foreign{},
	} {
		q := index.Query{K: 1, Allowed: set}
		_, err := again.SearchDense(ctx, encodeDense("alfa"), q)
		wantCode(t, what+", dense", err, braid.InvalidArgument)
		_, err = again.SearchSparse(ctx, encodeSparse("alfa"), q)
		wantCode(t, what+", sparse", err, braid.InvalidArgument)
		_, err = again.SearchLexical(ctx, "alfa", q)
		wantCode(t, what+", lexical", err, braid.InvalidArgument)
		_, err = again.IDs(ctx, "", 1, set)
		wantCode(t, what+", ids", err, braid.InvalidArgument)
	}
}

// testSetsOutliveWrites searches in a set while the documents of it, and their
// numbers in the engine, become others: what is found has to pass the filter.
func testSetsOutliveWrites(t *testing.T, h *harness) {
	ctx := context.Background()
	c := h.create("t")
	mine, others := parse(t, `{"must":[{"field":"of","match":"me"}]}`), []byte(`{"of":"others"}`)
	of := func(id, text string, payload []byte) index.Entry {
		e := split(id, text, "echo "+text)
		e.Document.Payload = payload
		return e
	}
	var batch index.Batch
	for i := range 20 {
		batch.Upserts = append(batch.Upserts, of(fmt.Sprint("mine-", i), "alfa", []byte(`{"of":"me"}`)))
	}
	write(t, c, batch)
	set := resolve(t, c, *mine)
	for round := range 60 {
		// Enough to let an engine clear up what is no more.
		batch = index.Batch{}
		for i := range 20 {
			id := fmt.Sprint("a-", i) // in the order of ids, these come first
			if i < 10 {
				id = fmt.Sprint("mine-", i)
			}
			batch.Upserts = append(batch.Upserts, of(id, "alfa "+words[(round+i)%len(words)], others))
		}
		if round%2 == 1 {
			batch.Upserts = append(batch.Upserts, of("mine-19", "alfa", []byte(fmt.Sprintf(`{"of":"me","round":%d}`, round))))
		}
		write(t, c, batch)
		q := index.Query{K: 100, Allowed: set}
		dense, err := c.SearchDense(ctx, encodeDense("alfa"), q)
		if err != nil {
			t.Fatal(err)
		}
		sparse, err := c.SearchSparse(ctx, encodeSparse("alfa"), q)
		if err != nil {
			t.Fatal(err)
		}
		lexical, err := c.SearchLexical(ctx, "alfa", q)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := c.IDs(ctx, "", 100, set)
		if err != nil {
			t.Fatal(err)
		}
		for _, hits := range [][]braid.Hit{dense, sparse, lexical} {
			var found []string // each with both passages
			for _, hit := range hits {
				if hit.Passage == 0 {
					found = append(found, hit.ID)
				}
			}
			if len(found)*2 != len(hits) {
				t.Fatalf("%d first passages among %v", len(found), hits)
			}
			wantMine(t, found)
		}
		wantMine(t, ids)
	}
	if got := resolve(t, c, *mine).Len(); got != 10 {
		t.Errorf("%d documents are in a new set, want 10", got)
	}
}

// wantMine asserts that found are the documents that testSetsOutliveWrites left
// as they were, and perhaps the one it wrote again.
func wantMine(t *testing.T, found []string) {
	t.Helper()
	found = slices.Clone(found)
	slices.Sort(found)
	want := []string{"mine-10", "mine-11", "mine-12", "mine-13", "mine-14", "mine-15", "mine-16", "mine-17", "mine-18"}
	if !slices.Equal(found, want) && !slices.Equal(found, append(want, "mine-19")) {
		t.Fatalf("found %v, want %v and perhaps mine-19", found, want)
	}
}

func testBadFilters(t *testing.T, h *harness) {
	ctx := context.Background()
	c := h.create("t")
	bad := braid.Filter{Must: []braid.Clause{braid.Condition{Field: "n"}}}
	_, err := c.Resolve(ctx, bad)
	wantCode(t, "resolve", err, braid.InvalidArgument)
	_, err = c.Write(ctx, index.Batch{Upserts: []index.Entry{entry("1", "alfa")}, Within: bad})
	wantCode(t, "write", err, braid.InvalidArgument)
	model{}.check(t, c, "alfa")
}

// testIDs lists ids in pages of several lengths, of all documents and of sets.
func testIDs(t *testing.T, h *harness) {
	ctx, random := context.Background(), rand.New(rand.NewPCG(43, 44))
	c := h.create("t")
	if ids, err := c.IDs(ctx, "", 5, nil); err != nil || len(ids) != 0 {
		t.Errorf("an empty collection has the ids %q, error %v", ids, err)
	}
	m := fillWithPayloads(t, c, random)
	for _, id := range []string{"B", "a", "aa", "ä", "doc", "zz"} {
		m[id] = entry(id, "alfa")
		write(t, c, index.Batch{Upserts: []index.Entry{m[id]}})
	}
	for _, text := range someFilters {
		f := parse(t, text)
		set := resolve(t, c, *f)
		for _, limit := range []int{1, 7, 50, 1000} {
			var got []string
			after := ""
			for {
				ids, err := c.IDs(ctx, after, limit, set)
				if err != nil || len(ids) > limit {
					t.Fatalf("after %q: %d ids of at most %d, error %v", after, len(ids), limit, err)
				}
				if len(ids) == 0 {
					break
				}
				got = append(got, ids...)
				after = ids[len(ids)-1]
			}
			if want := m.passing(t, f); !slices.Equal(got, want) {
				t.Fatalf("%s, %d at a time: got %q, want %q", text, limit, got, want)
			}
		}
	}
	all, err := c.IDs(ctx, "", 1000, nil)
	if want := slices.Sorted(maps.Keys(m)); err != nil || !slices.Equal(all, want) {
		t.Errorf("got %q, want %q, error %v", all, want, err)
	}
	_, err = c.IDs(ctx, "", 0, nil)
	wantCode(t, "limit 0", err, braid.InvalidArgument)
}

// testPayloads changes payloads, which must leave everything else as it was.
func testPayloads(t *testing.T, h *harness) {
	ctx := context.Background()
	c, m := h.create("t"), model{}
	for _, id := range []string{"1", "2", "3"} {
		m[id] = split(id, "alfa bravo "+id, "echo", "alfa")
		write(t, c, index.Batch{Upserts: []index.Entry{m[id]}})
	}
	change := func(id, payload string, print byte) index.PayloadChange {
		e := m[id]
		done := index.PayloadChange{ID: id, From: e.Fingerprint, Fingerprint: [32]byte{print}}
		if payload != "" {
			done.Payload = json.RawMessage(payload)
		}
		e.Document.Payload, e.Fingerprint = done.Payload, done.Fingerprint
		m[id] = e
		return done
	}
	got := write(t, c, index.Batch{
		Payloads: []index.PayloadChange{change("1", `{"n": 7}`, 1), change("2", "", 2)},
		Upserts:  []index.Entry{entry("4", "echo")},
		Deletes:  []string{"3"},
	})
	if want := (index.WriteResult{Created: 1, Changed: 2, Deleted: 1}); got != want {
		t.Errorf("result %+v, want %+v", got, want)
	}
	m["4"] = entry("4", "echo")
	delete(m, "3")
	seven := parse(t, `{"must":[{"field":"n","match":7}]}`)
	check := func() {
		t.Helper()
		m.check(t, c, "alfa bravo 1", "echo")
		m.checkRankings(t, c, "alfa", query{k: 5, filter: seven})
		if n := resolve(t, c, *seven).Len(); n != 1 {
			t.Errorf("%d documents have the new payload, want 1", n)
		}
	}
	check()
	for what, bad := range map[string]struct {
		change index.PayloadChange
		code   braid.Code
	}{
		"a document that is not there": {index.PayloadChange{ID: "9"}, braid.Conflict},
		"one that was deleted":         {index.PayloadChange{ID: "3", From: split("3", "alfa bravo 3", "echo", "alfa").Fingerprint}, braid.Conflict},
		"one that has changed":         {index.PayloadChange{ID: "1", From: split("1", "alfa bravo 1", "echo", "alfa").Fingerprint}, braid.Conflict},
		"no object":                    {index.PayloadChange{ID: "1", From: [32]byte{1}, Payload: []byte(`[1]`)}, braid.InvalidArgument},
		"an id that is written, too":   {index.PayloadChange{ID: "5", From: [32]byte{1}}, braid.InvalidArgument},
	} {
		_, err := c.Write(ctx, index.Batch{Upserts: []index.Entry{entry("5", "alfa")}, Payloads: []index.PayloadChange{bad.change}})
		wantCode(t, what, err, bad.code)
	}
	check()
	c = h.reopen("t")
	check()
}

// testWithin lets batches touch a part of the documents only.
func testWithin(t *testing.T, h *harness) {
	ctx := context.Background()
	c, m := h.create("t"), model{}
	for _, id := range []string{"a1", "a2", "b1"} {
		e := split(id, "alfa "+id, "bravo")
		e.Document.Payload = []byte(fmt.Sprintf(`{"of":%q}`, id[:1]))
		m[id] = e
		write(t, c, index.Batch{Upserts: []index.Entry{e}})
	}
	within := *parse(t, `{"must":[{"field":"of","match":"a"}]}`)
	for what, batch := range map[string]index.Batch{
		"replace": {Upserts: []index.Entry{entry("new", "alfa"), entry("b1", "echo")}},
		"change":  {Payloads: []index.PayloadChange{{ID: "b1", From: m["b1"].Fingerprint}}, Deletes: []string{"a1"}},
	} {
		batch.Within = within
		_, err := c.Write(ctx, batch)
		wantCode(t, what, err, braid.Conflict)
		m.check(t, c, "alfa", "echo")
	}
	a2 := entry("a2", "echo")
	a2.Document.Payload = m["a2"].Document.Payload
	got := write(t, c, index.Batch{
		Upserts: []index.Entry{entry("new", "alfa"), a2},
		Deletes: []string{"a1", "b1", "never was"},
		Within:  within,
	})
	if want := (index.WriteResult{Created: 1, Replaced: 1, Deleted: 1}); got != want {
		t.Errorf("result %+v, want %+v", got, want)
	}
	m["new"], m["a2"] = entry("new", "alfa"), a2
	delete(m, "a1")
	m.check(t, c, "alfa", "echo")
}
