package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/store"
	"github.com/braid-search/braid/internal/httpapi"
)

func TestSnapshotRoute(t *testing.T) {
	base, _ := start(t, nil)
	mustCall(t, "PUT", base+"/v1/collections/t", "", nil)
	client, err := httpapi.NewClient(base)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := client.Snapshot(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := store.Restore(t.Context(), &b, dir, nil); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if all, err := s.Collections(); err != nil || len(all) != 1 || all[0].Name != "t" {
		t.Errorf("restored are %v, error %v", all, err)
	}
}

// TestSnapshotThatFails fails before the first byte and after it: a client must
// not take the second for a whole one.
func TestSnapshotThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		bytes int
		code  braid.Code
	}{"at once": {0, braid.StorageFull}, "later": {100_000, braid.Internal}} {
		server := httptest.NewServer(httpapi.New(httpapi.Options{Snapshot: func(_ context.Context, w io.Writer) error {
			full := braid.Errorf(braid.StorageFull, "the disk is full")
			if c.bytes == 0 {
				return full
			}
			_, err := w.Write(make([]byte, c.bytes))
			return errors.Join(err, full)
		}}))
		t.Cleanup(server.Close)
		client, err := httpapi.NewClient(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		err = client.Snapshot(t.Context(), io.Discard)
		if braid.CodeOf(err) != c.code {
			t.Errorf("%s: error %v, want %s", name, err, c.code)
		}
		if c.bytes > 0 && !strings.Contains(err.Error(), "ends early") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	base, _ := start(t, func(o *httpapi.Options) { o.Snapshot = nil })
	if status, body := call(t, "GET", base+"/v1/snapshot", ""); status != http.StatusServiceUnavailable {
		t.Errorf("without a data folder: %d %s", status, body)
	}
}
