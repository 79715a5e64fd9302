package contract

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

func testNames(t *testing.T, h *harness) {
	ctx := context.Background()
	for _, name := range []string{"", ".", "..", "-a", "_a", "a/b", "../a", "a b", "ä", "a\x00", strings.Repeat("a", index.MaxNameBytes+1)} {
		_, err := h.engine.Create(ctx, name, fullSchema())
		wantCode(t, "create "+name, err, braid.InvalidArgument)
		_, err = h.engine.Open(ctx, name)
		wantCode(t, "open "+name, err, braid.NotFound)
		wantCode(t, "drop "+name, h.engine.Drop(ctx, name), braid.NotFound)
	}
	for _, name := range []string{"a", "A", "0", "a.b-c_d", strings.Repeat("z", index.MaxNameBytes)} {
		if got := h.create(name).Info().Name; got != name {
			t.Errorf("created %q, called %q", name, got)
		}
	}
}

func testSchemas(t *testing.T, h *harness) {
	for what, spoil := range map[string]func(*index.Schema){
		"no dimensions":              func(s *index.Schema) { s.Dimensions = 0 },
		"negative dimensions":        func(s *index.Schema) { s.Dimensions = -1 },
		"too many dimensions":        func(s *index.Schema) { s.Dimensions = index.MaxDimensions + 1 },
		"dimensions without a model": func(s *index.Schema) { s.Dense = index.ModelRef{} },
		"model without a digest":     func(s *index.Schema) { s.Sparse.Digest = "" },
		"model without a name":       func(s *index.Schema) { s.Pair.Name = "" },
		"passages that only overlap": func(s *index.Schema) { s.Passages = index.PassageSize{Tokens: 10, Overlap: 10} },
		"negative passages":          func(s *index.Schema) { s.Passages.Tokens = -1 },
	} {
		schema := fullSchema()
		spoil(&schema)
		_, err := h.engine.Create(context.Background(), "t", schema)
		wantCode(t, what, err, braid.InvalidArgument)
	}
	if infos, err := h.engine.List(context.Background()); err != nil || len(infos) != 0 {
		t.Errorf("after refused schemas: list is %v, error %v", infos, err)
	}
}

func testCreateOpenDropList(t *testing.T, h *harness) {
	ctx := context.Background()
	before := time.Now().Add(-time.Second)
	for _, name := range []string{"b", "a", "C"} {
		h.create(name)
	}
	_, err := h.engine.Create(ctx, "a", fullSchema())
	wantCode(t, "create again", err, braid.Conflict)
	write(t, h.create("d"), index.Batch{Upserts: []index.Entry{entry("1", "alfa")}})
	h.reopen("a")
	infos, err := h.engine.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, info := range infos {
		names = append(names, info.Name)
		if info.Schema != fullSchema() || info.Created.Before(before) || info.Created.After(time.Now().Add(time.Second)) {
			t.Errorf("info %+v: schema or time of creation is not what it was created with", info)
		}
		for _, branch := range braid.Branches() {
			if bytes, ok := info.MemoryBytes[branch]; !ok || bytes < 0 {
				t.Errorf("collection %q tells no memory of its %s branch", info.Name, branch)
			}
		}
		want := 0
		if info.Name == "d" {
			want = 1
		}
		if info.Documents != want {
			t.Errorf("collection %q has %d documents, want %d", info.Name, info.Documents, want)
		}
	}
	if got := strings.Join(names, " "); got != "C a b d" {
		t.Errorf("list is %q, want names ascending", got)
	}
	if err := h.engine.Drop(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "drop again", h.engine.Drop(ctx, "a"), braid.NotFound)
	h.reopen("b")
	_, err = h.engine.Open(ctx, "a")
	wantCode(t, "open after drop and reopen", err, braid.NotFound)
}

func testDropAndCreateAgain(t *testing.T, h *harness) {
	old := h.create("t")
	write(t, old, index.Batch{Upserts: []index.Entry{entry("1", "alfa bravo"), entry("2", "bravo")}})
	if err := h.engine.Drop(context.Background(), "t"); err != nil {
		t.Fatal(err)
	}
	wantAllFail(t, old, braid.NotFound)
	fresh := h.create("t")
	wantAllFail(t, old, braid.NotFound)
	model{}.check(t, fresh, "alfa bravo")
	write(t, fresh, index.Batch{Upserts: []index.Entry{entry("2", "lima")}})
	want := model{"2": entry("2", "lima")}
	want.check(t, fresh, "alfa bravo", "lima")
	want.check(t, h.reopen("t"), "alfa bravo", "lima")
}

func testClose(t *testing.T, h *harness) {
	ctx := context.Background()
	c := h.create("t")
	for range 2 {
		if err := h.engine.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wantAllFail(t, c, braid.Unavailable)
	_, err := h.engine.Create(ctx, "u", fullSchema())
	wantCode(t, "create", err, braid.Unavailable)
	_, err = h.engine.Open(ctx, "t")
	wantCode(t, "open", err, braid.Unavailable)
	wantCode(t, "drop", h.engine.Drop(ctx, "t"), braid.Unavailable)
	_, err = h.engine.List(ctx)
	wantCode(t, "list", err, braid.Unavailable)
}

func testContext(t *testing.T, h *harness) {
	c := h.create("t")
	write(t, c, index.Batch{Upserts: []index.Entry{entry("1", "alfa")}})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for what, err := range callAll(ctx, c) {
		wantCode(t, what, err, braid.Canceled)
	}
	_, err := h.engine.Create(ctx, "u", fullSchema())
	wantCode(t, "create", err, braid.Canceled)
	wantCode(t, "drop", h.engine.Drop(ctx, "t"), braid.Canceled)
	model{"1": entry("1", "alfa")}.check(t, c, "alfa")
}

// callAll calls every method that can fail, with arguments that are right.
func callAll(ctx context.Context, c index.Collection) map[string]error {
	errs := map[string]error{}
	_, errs["write"] = c.Write(ctx, index.Batch{Upserts: []index.Entry{entry("9", "zulu")}})
	_, errs["get"] = c.Get(ctx, []string{"1"})
	_, errs["fingerprints"] = c.Fingerprints(ctx, []string{"1"})
	_, errs["resolve"] = c.Resolve(ctx, braid.Filter{})
	_, errs["ids"] = c.IDs(ctx, "", 1, nil)
	_, errs["dense"] = c.SearchDense(ctx, encodeDense("alfa"), index.Query{K: 1})
	_, errs["sparse"] = c.SearchSparse(ctx, encodeSparse("alfa"), index.Query{K: 1})
	_, errs["lexical"] = c.SearchLexical(ctx, "alfa", index.Query{K: 1})
	return errs
}

func wantAllFail(t *testing.T, c index.Collection, code braid.Code) {
	t.Helper()
	for what, err := range callAll(context.Background(), c) {
		wantCode(t, what, err, code)
	}
	if info := c.Info(); info.Name != "t" || info.Documents != 0 {
		t.Errorf("info of a collection that is gone: %+v", info)
	}
}
