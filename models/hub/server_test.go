package hub

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testID     = "acme/tiny-embed"
	testCommit = "0123456789abcdef0123456789abcdef01234567"
	testToken  = "hf_secret"
)

// fakeHub is a hub with one model, and the other host that serves its large
// files, as the real one does.
type fakeHub struct {
	hub, cdn *httptest.Server

	mu     sync.Mutex
	commit string            // where main is
	files  map[string][]byte // at every commit
	large  map[string]bool   // served by the other host
	blobs  bool              // whether the listing has sizes and checksums
	// onHub and onCDN, if set, may answer a request instead; they return true
	// when they did.
	onHub, onCDN func(w http.ResponseWriter, r *http.Request) bool
	seen         []*http.Request // in order, both hosts
}

func newFakeHub(t *testing.T) *fakeHub {
	t.Helper()
	f := &fakeHub{
		commit: testCommit,
		blobs:  true,
		files: map[string][]byte{
			"config.json":     []byte(`{"model_type": "bert"}`),
			"tokenizer.json":  []byte(strings.Repeat("tokenizer ", 1000)),
			"onnx/model.onnx": []byte(strings.Repeat("0123456789abcdef", 40_000)),
		},
		large: map[string]bool{"onnx/model.onnx": true},
	}
	f.cdn = httptest.NewServer(http.HandlerFunc(f.serveCDN))
	f.hub = httptest.NewServer(http.HandlerFunc(f.serveHub))
	t.Cleanup(func() { f.hub.Close(); f.cdn.Close() })
	return f
}

// client returns a client of the hub that waits next to nothing before retries.
func (f *fakeHub) client(t *testing.T) *Client {
	t.Helper()
	c, err := New(Options{URL: f.hub.URL, Token: testToken, Backoff: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (f *fakeHub) note(r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, r.Clone(r.Context()))
}

// requests returns the requests for a path so far.
func (f *fakeHub) requests(suffix string) []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []*http.Request
	for _, r := range f.seen {
		if strings.HasSuffix(r.URL.Path, suffix) {
			list = append(list, r)
		}
	}
	return list
}

func sha256Of(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func blobOf(b []byte) string {
	sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(b)), b...))
	return hex.EncodeToString(sum[:])
}

func (f *fakeHub) serveHub(w http.ResponseWriter, r *http.Request) {
	f.note(r)
	if f.onHub != nil && f.onHub(w, r) {
		return
	}
	if rest, ok := strings.CutPrefix(r.URL.Path, "/api/models/"+testID+"/revision/"); ok {
		f.serveListing(w, r, rest)
		return
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/"+testID+"/resolve/")
	commit, path, _ := strings.Cut(rest, "/")
	content, found := f.files[path]
	if !ok || !found {
		w.Header().Set("X-Error-Code", "EntryNotFound")
		http.Error(w, "no such file", http.StatusNotFound)
		return
	}
	w.Header().Set("X-Repo-Commit", commit)
	if f.large[path] {
		w.Header().Set("X-Linked-Etag", `"`+sha256Of(content)+`"`)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(content)))
		http.Redirect(w, r, f.cdn.URL+"/blobs/"+path, http.StatusFound)
		return
	}
	w.Header().Set("ETag", `"`+blobOf(content)+`"`)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(content)))
}

func (f *fakeHub) serveListing(w http.ResponseWriter, r *http.Request, rev string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if rev != "main" && rev != f.commit {
		w.Header().Set("X-Error-Code", "RevisionNotFound")
		http.Error(w, "no such revision", http.StatusNotFound)
		return
	}
	siblings := []map[string]any{}
	for path, content := range f.files {
		s := map[string]any{"rfilename": path}
		if f.blobs && r.URL.Query().Get("blobs") == "true" {
			s["size"], s["blobId"] = len(content), blobOf(content)
			if f.large[path] {
				s["blobId"] = blobOf([]byte("pointer"))
				s["lfs"] = map[string]any{"sha256": sha256Of(content), "size": len(content), "pointerSize": 134}
			}
		}
		siblings = append(siblings, s)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": testID, "sha": f.commit, "siblings": siblings, "tags": []string{"onnx"},
	})
}

func (f *fakeHub) serveCDN(w http.ResponseWriter, r *http.Request) {
	f.note(r)
	if f.onCDN != nil && f.onCDN(w, r) {
		return
	}
	content := f.files[strings.TrimPrefix(r.URL.Path, "/blobs/")]
	w.Header().Set("ETag", `"cdn-1"`)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(content)))
}
