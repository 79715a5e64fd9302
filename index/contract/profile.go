package contract

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// testProfile sees that a profile is kept as it was given, that each change has
// a version of its own, and that documents come and go without it.
func testProfile(t *testing.T, h *harness) {
	ctx := context.Background()
	c, other := h.create("t"), h.create("other")
	is := func(when string, c index.Collection, version uint64, profile string) {
		t.Helper()
		if got := c.Profile(); got.Version != version || string(got.JSON) != profile {
			t.Errorf("%s: profile %d %q, want %d %q", when, got.Version, got.JSON, version, profile)
		}
	}
	set := func(profile string) {
		t.Helper()
		var given json.RawMessage
		if profile != "" {
			given = json.RawMessage(profile)
		}
		got, err := c.SetProfile(ctx, given)
		if err != nil || string(got.JSON) != profile || got.Version != c.Profile().Version {
			t.Fatalf("set %q: %+v, error %v", profile, got, err)
		}
	}
	is("new", c, 0, "")
	set(`{"a":1}`)
	write(t, c, index.Batch{Upserts: []index.Entry{entry("1", "alfa")}})
	set(`{"b":[2]}`)
	is("set twice", c, 2, `{"b":[2]}`)
	is("the other one", other, 0, "")
	for what, bad := range map[string]string{"a number": `1`, "null": `null`, "cut": `{"a"`, "a list": `[]`} {
		_, err := c.SetProfile(ctx, json.RawMessage(bad))
		wantCode(t, what, err, braid.InvalidArgument)
	}
	_, err := c.SetProfile(ctx, json.RawMessage(`{"a":"`+strings.Repeat("a", index.MaxProfileBytes)+`"}`))
	wantCode(t, "too large", err, braid.TooLarge)
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	_, err = c.SetProfile(stopped, json.RawMessage(`{}`))
	wantCode(t, "canceled", err, braid.Canceled)
	is("after refusals", c, 2, `{"b":[2]}`)

	c = h.reopen("t")
	is("reopened", c, 2, `{"b":[2]}`)
	if n := c.Info().Documents; n != 1 {
		t.Errorf("%d documents, want 1", n)
	}
	set("")
	is("taken away", c, 3, "")
	c = h.reopen("t")
	is("taken away and reopened", c, 3, "")
	set(`{}`)
	is("set again", c, 4, `{}`)

	if err := h.engine.Drop(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	_, err = c.SetProfile(ctx, json.RawMessage(`{}`))
	wantCode(t, "dropped", err, braid.NotFound)
	is("made again", h.create("t"), 0, "")
}
