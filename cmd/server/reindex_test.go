package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/internal/testenv"
	"github.com/braid-search/braid/models"
	"github.com/braid-search/braid/search"
)

// twoDenseModels returns a folder of models with a second dense one: the first with
// a tokenizer that keeps capital letters, which is another encoder.
func twoDenseModels(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{testenv.Dense, testenv.Sparse, testenv.Reranker} {
		if err := os.CopyFS(filepath.Join(folder, name), os.DirFS(filepath.Join(testenv.ModelsFolder(), name))); err != nil {
			t.Fatal(err)
		}
	}
	second := filepath.Join(folder, "cased")
	if err := os.CopyFS(second, os.DirFS(filepath.Join(folder, testenv.Dense))); err != nil {
		t.Fatal(err)
	}
	edit := func(file string, pairs ...string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(second, file))
		if err != nil {
			t.Fatal(err)
		}
		changed := string(text)
		for i := 0; i < len(pairs); i += 2 {
			if strings.Count(changed, pairs[i]) != 1 {
				t.Fatalf("%s does not have %q once", file, pairs[i])
			}
			changed = strings.Replace(changed, pairs[i], pairs[i+1], 1)
		}
		if err := os.WriteFile(filepath.Join(second, file), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	describe := func() (size, hash string) {
		t.Helper()
		file, err := models.Describe(os.DirFS(second), "tokenizer.json")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint("size: ", file.Size, "\n"), file.SHA256
	}
	size, hash := describe()
	edit("tokenizer.json", `"lowercase": true`, `"lowercase": false`)
	newSize, newHash := describe()
	edit("manifest.yaml", "name: "+testenv.Dense+"\n", "name: cased\n", size, newSize, hash, newHash)
	return folder
}

func askServer(t *testing.T, server, collection, mode, query string) search.Response {
	t.Helper()
	var answer search.Response
	out := mustExecute(t, "search", query, "--server", server, "--collection", collection, "--mode", mode, "--json")
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// longCorpus is a corpus of texts that take a model a while.
func longCorpus(t *testing.T, n int) string {
	t.Helper()
	file := corpus(t, n)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const last = "Ask the warehouse for access."
	long := strings.ReplaceAll(string(text), last, last+strings.Repeat(" Crates are counted twice and the number is written on the list at the door.", 10))
	if err := os.WriteFile(file, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestReindexMovesToAnotherModel moves a collection of a running server to another
// model. The server is killed in the middle; what serves until the end are the old
// vectors, and then the new ones are as if the collection had been made with them.
func TestReindexMovesToAnotherModel(t *testing.T) {
	const documents = 400
	folder, data, file := twoDenseModels(t), t.TempDir(), longCorpus(t, documents)
	old := serveOn(t, data, "--models", folder, "--dense", testenv.Dense)
	mustExecute(t, "index", file, "--server", old.base)
	queries := []string{"where is unit 17", "shelf 3 of hall 5", "ask the warehouse"}
	var before []search.Response
	for _, q := range queries {
		before = append(before, askServer(t, old.base, "default", "dense", q))
	}
	if code := old.stop(t, syscall.SIGTERM); code != 0 {
		t.Fatalf("the server stops with %d", code)
	}

	_, stderr, _ := execute(t, "", "search", "unit", "--mode", "dense", "--data", data, "--models", folder, "--dense", "cased")
	if !strings.Contains(stderr, "braid reindex") {
		t.Errorf("a search with another model says %s", stderr)
	}

	both := []string{"--models", folder, "--dense", "cased," + testenv.Dense}
	s := serveOn(t, data, both...)
	oldServes := func() {
		t.Helper()
		for i, q := range queries {
			got := askServer(t, s.base, "default", "dense", q)
			if len(got.Degraded) > 0 || !slices.EqualFunc(got.Hits, before[i].Hits, func(a, b search.Hit) bool { return a.ID == b.ID && a.Score == b.Score }) {
				t.Fatalf("%q: got %+v, want %+v", q, got, before[i])
			}
		}
	}
	oldServes()
	client, err := httpapi.NewClient(s.base)
	if err != nil {
		t.Fatal(err)
	}
	reached := make(chan int, 100)
	ended := make(chan error, 1)
	go func() {
		_, err := client.Reindex(t.Context(), "default", search.Settings{}, func(done, _ int) { reached <- done })
		ended <- err
	}()
	oldServes()
	select {
	case done := <-reached:
		if done >= documents {
			t.Fatalf("%d documents are done before the server could be killed", done)
		}
	case err := <-ended:
		t.Fatalf("reindexing ended before the server could be killed: %v", err)
	}
	s.stop(t, syscall.SIGKILL)
	if err := <-ended; err == nil {
		t.Fatal("the reindexing was done before the server was killed")
	}

	s = serveOn(t, data, both...)
	if !strings.Contains(s.log.String(), "interrupted") {
		t.Errorf("after the kill the server does not tell what was not finished:\n%s", s.log)
	}
	oldServes()
	var result search.ReindexResult
	if err := json.Unmarshal([]byte(mustExecute(t, "reindex", "default", "--server", s.base, "--json")), &result); err != nil {
		t.Fatal(err)
	}
	if result.Documents != documents || result.Kept == 0 || result.Kept+result.Remade != documents {
		t.Errorf("after the kill: %+v", result)
	}
	t.Logf("%d of %d documents were remade before the kill", result.Kept, documents)

	var info index.Info
	if _, body := get(t, s.base+"/v1/collections/default"); json.Unmarshal([]byte(body), &info) != nil || info.Schema.Dense.Name != "cased" || info.Documents != documents {
		t.Errorf("the collection is %+v", info)
	}
	mustExecute(t, "index", file, "--server", s.base, "--collection", "made")
	for _, mode := range []string{"dense", "sparse", "lexical", "hybrid"} {
		for i, q := range queries {
			got, want := askServer(t, s.base, "default", mode, q), askServer(t, s.base, "made", mode, q)
			same := func(a, b search.Hit) bool { return a.ID == b.ID && a.Score == b.Score }
			if len(got.Degraded) > 0 || !slices.EqualFunc(got.Hits, want.Hits, same) {
				t.Errorf("%s %q: got %+v, want %+v", mode, q, got.Hits, want.Hits)
			}
			if mode == "dense" && slices.EqualFunc(got.Hits, before[i].Hits, same) {
				t.Errorf("%q is answered as by the old model", q)
			}
		}
	}

	// Of a folder that nobody uses, and back.
	if _, stderr, code := execute(t, "", "reindex", "default", "--data", data, "--models", folder); code != 1 || !strings.Contains(stderr, "--server") {
		t.Errorf("reindexing a folder in use: exit %d: %s", code, stderr)
	}
	s.stop(t, syscall.SIGTERM)
	offline := []string{"reindex", "default", "--data", data, "--models", folder}
	if out := mustExecute(t, offline...); !strings.Contains(out, fmt.Sprint(documents, " documents")) || !strings.Contains(out, "moved") {
		t.Errorf("reindexing back prints %s", out)
	}
	if out := mustExecute(t, offline...); !strings.Contains(out, "already") {
		t.Errorf("reindexing again prints %s", out)
	}
	s = serveOn(t, data, "--models", folder)
	oldServes()
}
