package main

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/testenv"
	"github.com/braid-search/braid/models"
)

// smallModels is where models/detect keeps its small models.
func smallModels(name string) string {
	return filepath.Join(testenv.Root(), "models", "detect", "testdata", name)
}

func TestModelsAddListRemove(t *testing.T) {
	root := t.TempDir()
	for name, want := range map[string][]string{
		"distilbert-dense":  {"pooling", "mean", "1_Pooling/config.json", "self-test: 8 dimensions"},
		"xlmr-dense":        {"sentence_embedding float32 [?, 8]: pooled", "self-test: 8 dimensions"},
		"roberta-reranker":  {"cross-encoder", "self-test: logit "},
		"distilbert-splade": {"token weights of idf.json", "self-test: passage of "},
	} {
		out := mustExecute(t, "models", "add", smallModels(name), "--models", root)
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("add %s did not print %q:\n%s", name, w, out)
			}
		}
	}
	mustExecute(t, "models", "add", smallModels("distilbert-dense"), "--models", root) // again: nothing to do
	if out := mustExecute(t, "models", "verify", "--models", root); strings.Count(out, "files match") != 4 {
		t.Errorf("verify printed %s", out)
	}

	var list []listedModel
	if err := json.Unmarshal([]byte(mustExecute(t, "models", "list", "--models", root, "--json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 4 || list[0].Name != "distilbert-dense" || !list[0].Verified || list[0].Dimensions != 8 || list[0].Licence != "apache-2.0" || list[0].Bytes == 0 {
		t.Errorf("listed %+v", list)
	}
	graph := filepath.Join(root, "roberta-reranker", "model.onnx_data")
	if err := os.Truncate(graph, 10); err != nil {
		t.Fatal(err)
	}
	if out := mustExecute(t, "models", "list", "--models", root); strings.Count(out, "verified") != 3 || !strings.Contains(out, "DAMAGED") || !strings.Contains(out, "model.onnx_data has 10 bytes") {
		t.Errorf("list printed %s", out)
	}
	mustExecute(t, "models", "remove", "roberta-reranker", "--models", root)
	if _, err := os.Stat(filepath.Dir(graph)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("remove left %s: %v", filepath.Dir(graph), err)
	}
}

// What add works out from files as others ship them is, to the digest, what the
// catalogue says.
func TestModelsAddRealOnes(t *testing.T) {
	root := t.TempDir()
	catalogue, err := models.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range catalogue {
		source := t.TempDir()
		for _, file := range []string{m.Graph, m.Tokenizer} {
			if err := os.Symlink(filepath.Join(testenv.ModelsFolder(), m.Name, file), filepath.Join(source, file)); err != nil {
				t.Fatal(err)
			}
		}
		args := []string{"models", "add", source, "--models", root, "--name", m.Name, "--licence", m.Licence, "--query-prefix", m.QueryPrefix}
		if m.Kind == models.Dense {
			args = append(args, "--pooling", string(m.Pooling))
		}
		if m.Kind == models.CrossEncoder {
			args = args[:len(args)-2] // it takes no prefix
		}
		if out := mustExecute(t, args...); !strings.Contains(out, m.Digest()) {
			t.Errorf("%s got another digest than %s:\n%s", m.Name, m.Digest(), out)
		}
	}
}

func TestModelsAddWithManifest(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	mustExecute(t, "models", "add", smallModels("distilbert-dense"), "--models", root, "--query-prefix", "ask: ")
	source := filepath.Join(root, "distilbert-dense")
	mustExecute(t, "models", "add", source, "--models", other, "--name", "copy")
	m, err := models.Find(root, "distilbert-dense")
	if err != nil {
		t.Fatal(err)
	}
	moved, err := models.Find(other, "copy")
	if err != nil || moved.Digest() != m.Digest() || moved.QueryPrefix != "ask: " {
		t.Errorf("copied %+v, %v", moved, err)
	}
	if _, stderr, code := execute(t, "", "models", "add", source, "--models", other, "--pooling", "cls"); code != 2 || !strings.Contains(stderr, "--pooling") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if err := os.Truncate(filepath.Join(source, "tokenizer.json"), 5); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := execute(t, "", "models", "add", source, "--models", other, "--name", "damaged"); code != 1 || !strings.Contains(stderr, "tokenizer.json has 5 bytes") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestModelsRefuse(t *testing.T) {
	root := t.TempDir()
	mustExecute(t, "models", "add", smallModels("xlmr-dense"), "--models", root, "--name", "taken")

	// A tokenizer whose ids the graph has no rows for: fine to look at, but not
	// to run.
	misfit := t.TempDir()
	if err := os.CopyFS(misfit, os.DirFS(smallModels("distilbert-dense"))); err != nil {
		t.Fatal(err)
	}
	tokenizer, err := os.ReadFile(filepath.Join(testenv.ModelsFolder(), testenv.Dense, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(misfit, "tokenizer.json"), tokenizer, 0o600); err != nil {
		t.Fatal(err)
	}
	poisoned := t.TempDir()
	if err := os.CopyFS(poisoned, os.DirFS(smallModels("distilbert-dense"))); err != nil {
		t.Fatal(err)
	}
	graph := filepath.Join(poisoned, "onnx", "model.onnx")
	weights, err := os.ReadFile(graph)
	if err != nil {
		t.Fatal(err)
	}
	gamma := bytes.Repeat([]byte{0, 0, 0x80, 0x3f}, 8) // eight times 1
	if !bytes.Contains(weights, gamma) {
		t.Fatal("no layer norm in the graph")
	}
	if err := os.WriteFile(graph, bytes.Replace(weights, gamma, bytes.Repeat([]byte{0, 0, 0xc0, 0x7f}, 8), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	unpooled := t.TempDir()
	for _, file := range []string{"onnx/model.onnx", "tokenizer.json"} {
		data, err := os.ReadFile(filepath.Join(smallModels("distilbert-dense"), file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(unpooled, "onnx"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(unpooled, file), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"no folder":        {[]string{"add", filepath.Join(root, "absent")}, 1, []string{"absent", "no such file"}},
		"a file":           {[]string{"add", filepath.Join(misfit, "tokenizer.json")}, 1, []string{"--file"}},
		"empty folder":     {[]string{"add", t.TempDir(), "--name", "x"}, 2, []string{"no .onnx file"}},
		"name taken":       {[]string{"add", smallModels("distilbert-dense"), "--name", "taken"}, 1, []string{"another model is called \"taken\"", "--name", "braid models remove taken"}},
		"bad name":         {[]string{"add", smallModels("distilbert-dense"), "--name", "a/b"}, 2, []string{`"a/b"`}},
		"nothing stated":   {[]string{"add", unpooled, "--name", "x"}, 2, []string{"--pooling, cls or mean"}},
		"cannot be run":    {[]string{"add", misfit, "--name", "misfit"}, 1, []string{"was not added, its self-test failed"}},
		"gives NaN":        {[]string{"add", poisoned, "--name", "poisoned"}, 1, []string{`"poisoned"`, "non-finite"}},
		"bad hub name":     {[]string{"add", "hub:a/b/c"}, 2, []string{"OWNER/NAME"}},
		"bad hub URL":      {[]string{"add", "hub:a/b", "--hub-url", "nowhere"}, 2, []string{`"nowhere"`, "http(s)://"}},
		"offline":          {[]string{"add", "hub:a/b", "--offline"}, 1, []string{"offline: leave out --offline"}},
		"pull nothing":     {[]string{"pull", "absent"}, 1, []string{`"absent"`, "OWNER/NAME"}},
		"pull from set-up": {[]string{"pull", testenv.Dense}, 2, []string{"make setup"}},
		"remove nothing":   {[]string{"remove", "absent"}, 1, []string{"which holds taken"}},
		"remove elsewhere": {[]string{"remove", "../x"}, 2, []string{"letters, digits"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, stderr, code := execute(t, "", append(append([]string{"models"}, tc.args...), "--models", root)...)
			if code != tc.code {
				t.Errorf("exit %d, want %d: %s", code, tc.code, stderr)
			}
			for _, want := range tc.says {
				if !strings.Contains(stderr, want) {
					t.Errorf("%q is not in %q", want, stderr)
				}
			}
		})
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 || entries[0].Name() != "taken" {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
	mustExecute(t, "models", "add", misfit, "--models", root, "--name", "misfit", "--no-test")
}

// smallHub serves a folder as a hub does: every file directly, at any commit.
type smallHub struct {
	*httptest.Server
	folder fs.FS
	id     string

	// stallAt is a file of which the first request gets stallBytes bytes and then
	// nothing; stalled is closed when it does.
	stallAt string
	stalled chan struct{}

	mu   sync.Mutex
	main string // the commit that main is at
	seen seen
}

const stallBytes = 1000

// seen is what a hub was asked.
type seen struct {
	requests int
	tokens   map[string]bool
	fetched  []string
	ranges   map[string][]string // Range headers by file
}

func newSmallHub(t *testing.T, id, folder string) *smallHub {
	h := &smallHub{folder: os.DirFS(folder), id: id, main: strings.Repeat("a", 40), stalled: make(chan struct{}), seen: seen{tokens: map[string]bool{}, ranges: map[string][]string{}}}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

// asked returns what the hub was asked so far.
func (h *smallHub) asked() seen {
	h.mu.Lock()
	defer h.mu.Unlock()
	return seen{h.seen.requests, maps.Clone(h.seen.tokens), slices.Clone(h.seen.fetched), maps.Clone(h.seen.ranges)}
}

// moveMain lets main go on to another commit.
func (h *smallHub) moveMain(commit string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.main = commit
}

func (h *smallHub) serve(w http.ResponseWriter, r *http.Request) {
	if path := h.answer(w, r); path != "" && path == h.stallAt {
		close(h.stalled)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// answer returns the path of a file of which it sent a part only.
func (h *smallHub) answer(w http.ResponseWriter, r *http.Request) (stalling string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen.requests++
	h.seen.tokens[r.Header.Get("Authorization")] = true
	if rev, ok := strings.CutPrefix(r.URL.Path, "/api/models/"+h.id+"/revision/"); ok {
		h.list(w, rev)
		return ""
	}
	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"+h.id+"/resolve/"), "/")
	data, err := fs.ReadFile(h.folder, path)
	if err != nil {
		http.NotFound(w, r)
		return ""
	}
	h.seen.ranges[path] = append(h.seen.ranges[path], r.Header.Get("Range"))
	h.seen.fetched = append(h.seen.fetched, path)
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(data)))
	if path == h.stallAt && len(h.seen.ranges[path]) == 1 {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:stallBytes])
		return path
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	return ""
}

func (h *smallHub) list(w http.ResponseWriter, rev string) {
	commit := rev
	if rev == "main" {
		commit = h.main
	}
	var siblings []map[string]any
	_ = fs.WalkDir(h.folder, ".", func(p string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(h.folder, p)
		siblings = append(siblings, map[string]any{"rfilename": p, "size": len(data), "blobId": fmt.Sprintf("%x", sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(data)), data...)))})
		return err
	})
	siblings = append(siblings, map[string]any{"rfilename": "pytorch_model.bin", "size": 1 << 40}, map[string]any{"rfilename": "../evil", "size": 1})
	_ = json.NewEncoder(w).Encode(map[string]any{"sha": commit, "siblings": siblings})
}

func TestModelsFromAHub(t *testing.T) {
	t.Setenv("HF_TOKEN", "hf_from_environment")
	root := t.TempDir()
	h := newSmallHub(t, "acme/reranker", smallModels("roberta-reranker"))
	t.Setenv("BRAID_HUB_URL", h.URL)
	first := strings.Repeat("a", 40)

	out := mustExecute(t, "models", "add", "hub:acme/reranker", "--models", root)
	if !strings.Contains(out, first) || !strings.Contains(out, "self-test: logit") {
		t.Errorf("add printed %s", out)
	}
	m, err := models.Find(root, "reranker")
	if err != nil {
		t.Fatal(err)
	}
	if m.Source != (models.Source{Model: "acme/reranker", Hub: h.URL, Revision: first}) {
		t.Errorf("recorded source %+v", m.Source)
	}
	asked := h.asked()
	if slices.Contains(asked.fetched, "pytorch_model.bin") || !slices.Contains(asked.fetched, "model.onnx_data") {
		t.Errorf("fetched %q", asked.fetched)
	}
	if len(asked.tokens) != 1 || !asked.tokens["Bearer hf_from_environment"] {
		t.Errorf("sent tokens %v", asked.tokens)
	}

	// Main moves on; what is damaged is fetched again as it was.
	h.moveMain(strings.Repeat("b", 40))
	if err := os.Truncate(m.Path("model.onnx_data"), 5); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BRAID_HUB_URL", "https://huggingface.co") // the default: the manifest knows better
	mustExecute(t, "models", "pull", "reranker", "--models", root)
	again, err := models.Find(root, "reranker")
	if err != nil || again.Digest() != m.Digest() || again.Source.Revision != first {
		t.Errorf("pulled again: %v, source %+v", err, again.Source)
	}
	before := h.asked().requests
	if out := mustExecute(t, "models", "pull", "reranker", "--models", root, "--offline"); !strings.Contains(out, "is there") || h.asked().requests != before {
		t.Errorf("pull of a whole model printed %s after %d requests", out, h.asked().requests-before)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
}

// A process that dies while it fetches loses nothing it had.
func TestModelsFromAHubAfterAKill(t *testing.T) {
	h := newSmallHub(t, "acme/dense", smallModels("distilbert-dense"))
	h.stallAt = "tokenizer.json"
	root := t.TempDir()
	args := []string{"models", "add", "hub:acme/dense", "--hub-url", h.URL, "--models", root}
	cmd := program(t.Context(), args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-h.stalled
	part := filepath.Join(root, ".fetch-acme--dense-"+strings.Repeat("a", 40), "tokenizer.json.part")
	for info, err := os.Stat(part); err != nil || info.Size() < stallBytes; info, err = os.Stat(part) {
		time.Sleep(time.Millisecond) // until it has written what it got
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	mustExecute(t, args...)
	asked := h.asked()
	if got := asked.ranges["tokenizer.json"]; !slices.Equal(got, []string{"", fmt.Sprintf("bytes=%d-", stallBytes)}) {
		t.Errorf("asked for the ranges %q", got)
	}
	if got := asked.ranges["onnx/model.onnx"]; len(got) != 1 {
		t.Errorf("the graph was fetched %d times", len(got))
	}
}

// A flag that is missing does not cost the download.
func TestModelsFromAHubKeepsWhatItFetched(t *testing.T) {
	source := t.TempDir()
	if err := os.CopyFS(source, os.DirFS(smallModels("distilbert-dense"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(source, "1_Pooling", "config.json")); err != nil {
		t.Fatal(err)
	}
	h := newSmallHub(t, "acme/dense", source)
	root := t.TempDir()
	args := []string{"models", "pull", "acme/dense@main", "--hub-url", h.URL, "--models", root}
	if _, stderr, code := execute(t, "", args...); code != 2 || !strings.Contains(stderr, "--pooling") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	fetched := h.asked().fetched
	mustExecute(t, append(args, "--pooling", "mean")...)
	if again := h.asked().fetched[len(fetched):]; len(again) > 0 {
		t.Errorf("fetched again: %q", again)
	}
}

// MiniLM's vectors are compared with the reference in inference; here it is
// added as a person would, from files without configuration, and searched with.
func TestModelsAddMiniLM(t *testing.T) {
	source := filepath.Join(testenv.Root(), ".local", "minilm")
	if _, err := os.Stat(filepath.Join(source, "all-minilm-l6-v2.onnx")); err != nil {
		t.Skip("skipped: no all-MiniLM-L6-v2: run scripts/minilm")
	}
	root := t.TempDir()
	if out := mustExecute(t, "models", "add", source, "--models", root, "--pooling", "mean", "--licence", "Apache-2.0"); !strings.Contains(out, "self-test: 384 dimensions") {
		t.Errorf("add printed %s", out)
	}
	data := t.TempDir()
	with := []string{"--models", root, "--dense", "minilm", "--sparse", "none", "--reranker", "none", "--data", data}
	mustExecute(t, append([]string{"index", corpus(t, 20)}, with...)...)
	out := mustExecute(t, append([]string{"search", "unit number eleven in the warehouse", "--mode", "dense"}, with...)...)
	if !strings.Contains(out, "dense #1") {
		t.Errorf("search printed %s", out)
	}
}

func TestSelfTestTellsTextsApart(t *testing.T) {
	library, err := inference.FindLibrary(filepath.Join(testenv.Root(), ".local", "lib"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := selfTestConfig{library: library}
	m, err := models.Find(testenv.ModelsFolder(), testenv.Reranker)
	if err != nil {
		t.Fatal(err)
	}
	if outcome, err := cfg.selfTest(t.Context(), m); err != nil || !strings.HasPrefix(outcome, "logit ") {
		t.Errorf("got %q, %v", outcome, err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := cfg.selfTest(stopped, m); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: got %v", err)
	}
}
