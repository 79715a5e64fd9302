package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/braid-search/braid"
)

var allPaths = []string{"config.json", "onnx/model.onnx", "tokenizer.json"}

func resolve(t *testing.T, c *Client) *Snapshot {
	t.Helper()
	s, err := c.Resolve(t.Context(), testID, "main")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// same fails unless dir holds exactly the hub's files.
func (f *fakeHub) same(t *testing.T, dir string) {
	t.Helper()
	var found []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, p)
		}
		return err
	})
	if err != nil || !slices.Equal(found, allPaths) {
		t.Fatalf("the folder holds %q, %v", found, err)
	}
	for _, path := range allPaths {
		content, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil || string(content) != string(f.files[path]) {
			t.Errorf("%s differs: %v", path, err)
		}
	}
}

func TestFetch(t *testing.T) {
	for _, blobs := range []bool{true, false} {
		t.Run(fmt.Sprintf("listing with checksums %t", blobs), func(t *testing.T) {
			f := newFakeHub(t)
			f.blobs = blobs
			c, dir := f.client(t), t.TempDir()
			s := resolve(t, c)
			if s.Commit != testCommit || len(s.Files) != 3 {
				t.Fatalf("resolved %+v", s)
			}
			var last Progress
			if err := c.Fetch(t.Context(), s, allPaths, dir, func(p Progress) { last = p }); err != nil {
				t.Fatal(err)
			}
			f.same(t, dir)
			var total int64
			for _, content := range f.files {
				total += int64(len(content))
			}
			if last.Done != total || blobs && last.Total != total {
				t.Errorf("progress ended at %+v of %d bytes", last, total)
			}
			for _, r := range f.requests("") {
				own := r.Host == strings.TrimPrefix(f.hub.URL, "http://")
				if got := r.Header.Get("Authorization"); own != (got == "Bearer "+testToken) || !own && got != "" {
					t.Errorf("%s%s was sent the authorization %q", r.Host, r.URL.Path, got)
				}
			}
		})
	}
}

func TestFetchAgainTransfersNothing(t *testing.T) {
	f := newFakeHub(t)
	c, dir := f.client(t), t.TempDir()
	s := resolve(t, c)
	for range 2 {
		if err := c.Fetch(t.Context(), s, allPaths, dir, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(f.requests("/model.onnx")); n != 2 { // hub and CDN, once
		t.Errorf("%d requests for the graph, want 2", n)
	}
}

func TestRevisionIsPinned(t *testing.T) {
	f := newFakeHub(t)
	c, dir := f.client(t), t.TempDir()
	s := resolve(t, c)
	f.mu.Lock()
	f.commit = strings.Repeat("f", 40) // main moves on
	f.mu.Unlock()
	if err := c.Fetch(t.Context(), s, allPaths, dir, nil); err != nil {
		t.Fatal(err)
	}
	for _, r := range f.requests("") {
		if strings.Contains(r.URL.Path, "/resolve/") && !strings.Contains(r.URL.Path, "/resolve/"+testCommit+"/") {
			t.Errorf("fetched %s, not at commit %s", r.URL.Path, testCommit)
		}
	}
	f.onHub = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("X-Repo-Commit", f.commit)
		w.WriteHeader(http.StatusOK)
		return true
	}
	err := c.Fetch(t.Context(), s, allPaths, t.TempDir(), nil)
	if braid.CodeOf(err) != braid.Corrupt || !strings.Contains(err.Error(), testCommit) {
		t.Errorf("another commit: got %v", err)
	}
}

// cut sends the headers and the first n bytes of content, then drops the
// connection.
func cut(w http.ResponseWriter, content []byte, n int) {
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	w.Header().Set("ETag", `"cdn-1"`)
	_, _ = w.Write(content[:n])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func TestConnectionCutInTheMiddle(t *testing.T) {
	f := newFakeHub(t)
	graph := f.files["onnx/model.onnx"]
	f.onCDN = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") != "" {
			return false
		}
		cut(w, graph, len(graph)/2)
		return true
	}
	c, dir := f.client(t), t.TempDir()
	if err := c.Fetch(t.Context(), resolve(t, c), allPaths, dir, nil); err != nil {
		t.Fatal(err)
	}
	f.same(t, dir)
	got := f.requests("/blobs/onnx/model.onnx")
	if len(got) != 2 || got[1].Header.Get("If-Range") != `"cdn-1"` || !strings.HasPrefix(got[1].Header.Get("Range"), "bytes=") || got[1].Header.Get("Range") == "bytes=0-" {
		t.Errorf("%d requests, the last with %v", len(got), got[len(got)-1].Header)
	}
}

func TestResumesAfterStopping(t *testing.T) {
	f := newFakeHub(t)
	graph := f.files["onnx/model.onnx"]
	f.onCDN = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") != "" {
			return false
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(graph)))
		_, _ = w.Write(graph[:len(graph)/2])
		w.(http.Flusher).Flush()
		<-r.Context().Done() // until the client is stopped
		return true
	}
	c, dir := f.client(t), t.TempDir()
	s := resolve(t, c)
	ctx, stop := context.WithCancel(t.Context())
	err := c.Fetch(ctx, s, []string{"onnx/model.onnx"}, dir, func(p Progress) {
		if p.Done > 0 {
			stop()
		}
	})
	if braid.CodeOf(err) != braid.Canceled {
		t.Fatalf("got %v, want %s", err, braid.Canceled)
	}
	if err := c.Fetch(t.Context(), s, allPaths, dir, nil); err != nil {
		t.Fatal(err)
	}
	f.same(t, dir)
	if got := f.requests("/blobs/onnx/model.onnx"); len(got) != 2 || got[1].Header.Get("Range") == "" {
		t.Errorf("%d requests, the last with %v", len(got), got[len(got)-1].Header)
	}
}

func TestServerThatStalls(t *testing.T) {
	f := newFakeHub(t)
	graph := f.files["onnx/model.onnx"]
	requests := 0
	f.onCDN = func(w http.ResponseWriter, r *http.Request) bool {
		switch requests++; requests {
		case 1: // not even headers
		case 2: // half of it
			w.Header().Set("Content-Length", fmt.Sprint(len(graph)))
			_, _ = w.Write(graph[:len(graph)/2])
			w.(http.Flusher).Flush()
		default:
			return false
		}
		<-r.Context().Done()
		return true
	}
	c, dir := f.client(t), t.TempDir()
	c.patience = 200 * time.Millisecond
	if err := c.Fetch(t.Context(), resolve(t, c), allPaths, dir, nil); err != nil {
		t.Fatal(err)
	}
	f.same(t, dir)
	got := f.requests("/blobs/onnx/model.onnx")
	if len(got) != 3 || got[2].Header.Get("Range") == "" {
		t.Errorf("%d requests, the last with %v", len(got), got[len(got)-1].Header)
	}
}

// What lies about from earlier must not end up in the file.
func TestPartsThatDoNotFit(t *testing.T) {
	f := newFakeHub(t)
	size := len(f.files["onnx/model.onnx"])
	for name, part := range map[string]int{"shorter": 1000, "as long": size, "longer": size + 1} {
		t.Run(name, func(t *testing.T) {
			c, dir := f.client(t), t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "onnx"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "onnx/model.onnx.part"), make([]byte, part), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := c.Fetch(t.Context(), resolve(t, c), allPaths, dir, nil); err != nil {
				t.Fatal(err)
			}
			f.same(t, dir)
		})
	}
}

func TestServersThatMisbehave(t *testing.T) {
	graph := newFakeHub(t).files["onnx/model.onnx"]
	tests := []struct {
		name string
		cdn  func(w http.ResponseWriter, r *http.Request)
		code braid.Code
		want string
	}{
		{"wrong bytes", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, len(graph))) }, braid.Corrupt, "its checksum is"},
		{"one byte more", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(append(slices.Clone(graph), 0)) }, braid.Corrupt, "more than the 640000 bytes"},
		{"short, and says it is whole", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(graph[:1000]) }, braid.Unavailable, "ended at byte 1000 of 640000"},
		{"always cut at the same place", func(w http.ResponseWriter, _ *http.Request) { cut(w, graph, 0) }, braid.Unavailable, "after 5 tries"},
		{"server errors", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, braid.Unavailable, "502, after 5 tries"},
		{"too many requests", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, braid.Overloaded, "429, 5 times"},
		{"wait an hour", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		}, braid.Overloaded, "asks to wait 1h0m0s"},
		{"redirects in a circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, braid.Corrupt, "redirects more than 10 times"},
		{"link has expired", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }, braid.Unavailable, "410"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeHub(t)
			f.onCDN = func(w http.ResponseWriter, r *http.Request) bool { test.cdn(w, r); return true }
			c, dir := f.client(t), t.TempDir()
			err := c.Fetch(t.Context(), resolve(t, c), []string{"onnx/model.onnx"}, dir, nil)
			if braid.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "onnx/model.onnx of "+testID) {
				t.Errorf("got %s: %v, want %s: … %s", braid.CodeOf(err), err, test.code, test.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "onnx/model.onnx")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a file has appeared: %v", err)
			}
		})
	}
}

// Links to the other host are signed for a while only.
func TestLinkThatRanOut(t *testing.T) {
	f := newFakeHub(t)
	refused := false
	f.onCDN = func(w http.ResponseWriter, _ *http.Request) bool {
		if refused {
			return false
		}
		refused = true
		w.WriteHeader(http.StatusForbidden)
		return true
	}
	c, dir := f.client(t), t.TempDir()
	if err := c.Fetch(t.Context(), resolve(t, c), allPaths, dir, nil); err != nil {
		t.Fatal(err)
	}
	f.same(t, dir)
	if n := len(f.requests("/model.onnx")); n != 4 {
		t.Errorf("%d requests, want the hub and the other host twice each", n)
	}
}

func TestUnreachable(t *testing.T) {
	f := newFakeHub(t)
	f.onHub = func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, "http://127.0.0.1:1/blob?signature=secret", http.StatusFound)
		return true
	}
	_, err := f.client(t).Resolve(t.Context(), testID, "main")
	if braid.CodeOf(err) != braid.Unavailable || !strings.Contains(err.Error(), "reach 127.0.0.1:1: ") || !strings.Contains(err.Error(), "check the network") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

func TestWaitsWhenAskedTo(t *testing.T) {
	f := newFakeHub(t)
	asked := 0
	f.onHub = func(w http.ResponseWriter, _ *http.Request) bool {
		if asked++; asked > 1 {
			return false
		}
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	begun := time.Now()
	resolve(t, f.client(t))
	if waited := time.Since(begun); asked != 2 || waited < time.Second {
		t.Errorf("asked %d times within %s", asked, waited)
	}
}

func TestRefusals(t *testing.T) {
	answer := func(status int, reason string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("X-Error-Code", reason)
			w.WriteHeader(status)
			return true
		}
	}
	tests := []struct {
		name  string
		hub   func(http.ResponseWriter, *http.Request) bool
		token string
		code  braid.Code
		want  []string
	}{
		{"unknown model", answer(401, "RepoNotFound"), "", braid.NotFound, []string{"there is no model acme/tiny-embed", "HF_TOKEN"}},
		{"unknown model, with a token", answer(404, "RepoNotFound"), testToken, braid.NotFound, []string{"no model acme/tiny-embed", "check the name"}},
		{"bad token", answer(401, ""), testToken, braid.NotFound, []string{"check that the token given may read it"}},
		{"gated, without a token", answer(401, "GatedRepo"), "", braid.Unavailable, []string{"accept its terms at http://", "/acme/tiny-embed", "HF_TOKEN"}},
		{"gated, with a token", answer(403, "GatedRepo"), testToken, braid.Unavailable, []string{"accept its terms at", "check that the token"}},
		{"unknown revision", answer(404, "RevisionNotFound"), "", braid.NotFound, []string{"no such revision"}},
		{"teapot", answer(418, ""), "", braid.Unavailable, []string{"418", "check its URL"}},
		{"a web page", func(w http.ResponseWriter, _ *http.Request) bool {
			_, err := w.Write([]byte("<html>log in</html>"))
			return err == nil
		}, "", braid.Corrupt, []string{"the hub's answer about acme/tiny-embed", "check the hub's URL"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeHub(t)
			f.onHub = test.hub
			c, err := New(Options{URL: f.hub.URL, Token: test.token, Backoff: time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.Resolve(t.Context(), testID, "main")
			if braid.CodeOf(err) != test.code {
				t.Errorf("got %s: %v, want %s", braid.CodeOf(err), err, test.code)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
			if strings.Contains(err.Error(), testToken) {
				t.Errorf("the token is in %q", err)
			}
			if n := len(f.requests("")); n != 1 {
				t.Errorf("asked %d times, want once", n)
			}
		})
	}
}

func TestNoChecksum(t *testing.T) {
	f := newFakeHub(t)
	f.blobs = false
	c := f.client(t)
	s := resolve(t, c)
	f.onHub = func(w http.ResponseWriter, _ *http.Request) bool {
		_, err := w.Write([]byte("{}"))
		return err == nil
	}
	err := c.Fetch(t.Context(), s, []string{"config.json"}, t.TempDir(), nil)
	if braid.CodeOf(err) != braid.Corrupt || !strings.Contains(err.Error(), "states no checksum") {
		t.Errorf("got %v", err)
	}
}

func TestNoDowngrade(t *testing.T) {
	plain := newFakeHub(t)
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.hub.URL+r.URL.Path, http.StatusFound)
	}))
	defer secure.Close()
	c, err := New(Options{URL: secure.URL, Token: testToken, Transport: secure.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Resolve(t.Context(), testID, "main")
	if braid.CodeOf(err) != braid.Corrupt || !strings.Contains(err.Error(), "from https to http") || len(plain.requests("")) != 0 {
		t.Errorf("got %v after %d requests", err, len(plain.requests("")))
	}
}

func TestOfflineOpensNoConnection(t *testing.T) {
	f := newFakeHub(t)
	s := resolve(t, f.client(t))
	transport := &http.Transport{DialContext: func(_ context.Context, network, address string) (net.Conn, error) {
		t.Errorf("dialled %s %s", network, address)
		return nil, errors.New("no")
	}}
	c, err := New(Options{URL: f.hub.URL, Offline: true, Transport: transport, Backoff: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, resolved := c.Resolve(t.Context(), testID, "main")
	for what, err := range map[string]error{"resolve": resolved, "fetch": c.Fetch(t.Context(), s, allPaths, t.TempDir(), nil)} {
		if braid.CodeOf(err) != braid.Unavailable || !strings.Contains(err.Error(), "offline") {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

func TestFailureOfTheDisk(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "model.onnx.part", Err: syscall.ENOSPC}
	if got := failure(fmt.Errorf("copy: %w", full), 1, 0); got == nil || got.Code != braid.StorageFull || !strings.Contains(got.Message, "free some space") {
		t.Errorf("full disk: got %v", got)
	}
	c, dir := newFakeHub(t).client(t), t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "config.json.part"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := c.Fetch(t.Context(), resolve(t, c), []string{"config.json"}, dir, nil)
	if braid.CodeOf(err) != braid.Internal || !strings.Contains(err.Error(), "config.json.part") {
		t.Errorf("a folder in the way: got %v", err)
	}
}

func TestParseRef(t *testing.T) {
	for ref, want := range map[string]string{
		"BAAI/bge-small-en-v1.5":         "BAAI/bge-small-en-v1.5 main",
		"gpt2":                           "gpt2 main",
		"a/b@refs/pr/3":                  "a/b refs/pr/3",
		"a/b@" + testCommit:              "a/b " + testCommit,
		"":                               "",
		"a/b/c":                          "",
		"../b":                           "",
		"a/..":                           "",
		"a/b@":                           "",
		"a/b@x y":                        "",
		"a/b@../../../api/models":        "",
		"a/b?x=1":                        "",
		"https://huggingface.co/BAAI/b":  "",
		"a/" + strings.Repeat("b", 1000): "",
	} {
		id, rev, err := ParseRef(ref)
		if want == "" && braid.CodeOf(err) != braid.InvalidArgument || want != "" && (err != nil || id+" "+rev != want) {
			t.Errorf("%q: got %q %q %v, want %q", ref, id, rev, err, want)
		}
	}
}

// Names are data, not parts of an address.
func TestPathsAreEscaped(t *testing.T) {
	f := newFakeHub(t)
	f.files["a%41?b#c d.json"] = []byte("odd")
	c, dir := f.client(t), t.TempDir()
	if err := c.Fetch(t.Context(), resolve(t, c), []string{"a%41?b#c d.json"}, dir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Resolve(t.Context(), testID, "refs/pr/3"); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("got %v", err)
	}
	if r := f.requests("refs/pr/3"); len(r) != 1 || !strings.HasSuffix(r[0].URL.EscapedPath(), "/revision/refs%2Fpr%2F3") {
		t.Errorf("asked %v", r)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{URL: "huggingface.co"}, {URL: "ftp://x"}, {URL: "http://"}, {URL: "http://u:p@x"}, {URL: "http://x?y"}, {Token: "hf_x y"}, {Token: "hf_x\n"}, {Backoff: -1}} {
		if _, err := New(o); braid.CodeOf(err) != braid.InvalidArgument || strings.Contains(err.Error(), "hf_x") {
			t.Errorf("%+v: got %v", o, err)
		}
	}
	_, err := New(Options{URL: "x", Token: " ", Backoff: -1})
	for _, want := range []string{`"x"`, "token", "backoff"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	c, err := New(Options{})
	if err != nil || c.URL() != DefaultURL {
		t.Errorf("zero value: %v", err)
	}
}

// A listing comes from outside: nothing in it may lead out of the folder.
func FuzzParseListing(f *testing.F) {
	f.Add([]byte(`{"sha":"` + testCommit + `","siblings":[{"rfilename":"a/b.json","size":3,"blobId":"ab"},{"rfilename":"../../etc/passwd"},{"rfilename":"/etc/passwd"},{"rfilename":"C:\\x"}]}`))
	f.Add([]byte(`{"sha":"` + testCommit + `","siblings":[{"rfilename":"m","lfs":{"sha256":"00","size":-1}}]}`))
	f.Add([]byte(`{"sha":null}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseListing(testID, "main", data)
		if err != nil {
			if braid.CodeOf(err) != braid.Corrupt {
				t.Fatalf("error without its code: %v", err)
			}
			return
		}
		for _, file := range s.Files {
			if !filepath.IsLocal(file.Path) || file.Size < -1 {
				t.Fatalf("listed %+v", file)
			}
		}
	})
}
