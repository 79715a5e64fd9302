package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/braid-search/braid/internal/testenv"
)

// profileFolder names a folder that gets a processor profile of each of
// BenchmarkServedSearch, of the searches alone. See scripts/bench-profile.
const profileFolder = "BRAID_TEST_PROFILES"

// BenchmarkServedSearch is a search from the request to its answer, by HTTP, one
// client. The server runs in this process. What the client does has the label
// side=client in a profile.
func BenchmarkServedSearch(b *testing.B) {
	corpus := os.Getenv("BRAID_TEST_CORPUS")
	if corpus == "" {
		corpus = filepath.Join(testenv.Root(), "demo")
	}
	data := b.TempDir()
	if said, err := program(b.Context(), "index", filepath.Join(corpus, "corpus.jsonl"), "--collection", "served", "--data", data).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, said)
	}
	b.Chdir(testenv.Root()) // where the runtime is looked for
	base := serveHere(b, data)
	queries := queriesOf(b, filepath.Join(corpus, "queries.jsonl"))
	for _, rerank := range []bool{false, true} {
		name := map[bool]string{false: "hybrid", true: "hybrid+rerank"}[rerank]
		b.Run(name, func(b *testing.B) {
			stop := profiled(b, name)
			defer stop()
			pprof.Do(b.Context(), pprof.Labels("side", "client"), func(context.Context) {
				client := &http.Client{Transport: &http.Transport{}} // whose goroutines have the label too
				defer client.CloseIdleConnections()
				for i := 0; b.Loop(); i++ {
					ask(b, client, base+"/v1/collections/served/search", map[string]any{"query": queries[i%len(queries)], "mode": "hybrid", "rerank": rerank})
				}
			})
		})
	}
}

// serveHere serves data until the benchmark ends and returns the address.
func serveHere(b *testing.B, data string) string {
	ctx, stop := context.WithCancel(context.Background())
	logged, log := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--data", data, "--models", filepath.Join(testenv.Root(), ".local", "models"), "--listen", "127.0.0.1:0"}, strings.NewReader(""), io.Discard, log)
		_ = log.Close() // never fails
	}()
	b.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.Errorf("the server: %v", err)
		}
	})
	var said strings.Builder
	for lines := bufio.NewScanner(logged); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, logged) }() // ends with the server
			return "http://" + m[1]
		}
	}
	b.Fatalf("the server ended: %s", said.String())
	return ""
}

// profiled begins a profile where one is asked for and returns what ends it.
func profiled(b *testing.B, name string) func() {
	folder := os.Getenv(profileFolder)
	if folder == "" {
		return func() {}
	}
	file, err := os.Create(filepath.Join(folder, name+".prof"))
	if err != nil {
		b.Fatal(err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		b.Fatal(err)
	}
	return func() {
		pprof.StopCPUProfile()
		if err := file.Close(); err != nil {
			b.Error(err)
		}
	}
}

func queriesOf(b *testing.B, path string) (queries []string) {
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var q struct{ Text string }
		if err := json.Unmarshal(line, &q); err != nil {
			b.Fatalf("%s: %v", path, err)
		}
		queries = append(queries, q.Text)
	}
	return queries
}

func ask(b *testing.B, client *http.Client, url string, body any) {
	sent, err := json.Marshal(body)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := client.Post(url, "application/json", bytes.NewReader(sent))
	if err != nil {
		b.Fatal(err)
	}
	answer, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // all of it was read
	if err != nil || resp.StatusCode != http.StatusOK || bytes.Contains(answer, []byte(`"degraded":`)) {
		b.Fatalf("%s answered %s: %.300s, %v", url, resp.Status, answer, err)
	}
}
