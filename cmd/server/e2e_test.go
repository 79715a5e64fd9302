package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/braid-search/braid/internal/testenv"
	"github.com/braid-search/braid/search"
)

// asProgram makes the test binary be the program: the tests start it as a
// process of its own, with the real main.
const asProgram = "BRAID_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program returns the command `braid args…`, run at the root of the checkout.
func program(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Dir = testenv.Root()
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// execute runs the program to its end.
func execute(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := program(t.Context(), args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func mustExecute(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, code := execute(t, "", args...)
	if code != 0 {
		t.Fatalf("braid %s: exit %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

// corpus writes n documents and returns the file.
func corpus(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"d%03d","title":"Unit %d","text":"Unit number U-%04d is stored in hall %d, shelf %d. Ask the warehouse for access.","payload":{"hall":%d}}`+"\n", i, i, i, i%7, i%13, i%7)
	}
	file := filepath.Join(t.TempDir(), "docs.jsonl")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestIndexThenSearch(t *testing.T) {
	data := t.TempDir()
	file := corpus(t, 70)
	if out := mustExecute(t, "index", file, "--data", data); !strings.Contains(out, "70 new") {
		t.Errorf("index printed %q", out)
	}
	if out := mustExecute(t, "index", file, "--data", data, "--json"); !strings.Contains(out, `"unchanged":70`) {
		t.Errorf("index again printed %q", out)
	}
	out := mustExecute(t, "search", "U-0042", "--data", data)
	if first := strings.Split(out, "\n")[1]; !strings.Contains(first, "d042") {
		t.Errorf("search printed %s", out)
	}
	for _, want := range []string{"lexical #1", "→ fused", "→ reranked #1", "ms: queue"} {
		if !strings.Contains(out, want) {
			t.Errorf("search did not print %q: %s", want, out)
		}
	}
	var answer search.Response
	if err := json.Unmarshal([]byte(mustExecute(t, "search", "hall 3", "--data", data, "--mode", "lexical", "--limit", "4", "--json")), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Hits) != 4 || answer.Mode != search.ModeLexical || answer.Reranked != 0 {
		t.Errorf("answer %+v", answer)
	}
	var inHall search.Response
	filter := `{"must":[{"field":"hall","match":3}]}`
	if err := json.Unmarshal([]byte(mustExecute(t, "search", "unit", "--data", data, "--mode", "lexical", "--limit", "70", "--filter", filter, "--json")), &inHall); err != nil {
		t.Fatal(err)
	}
	if len(inHall.Hits) != 10 || inHall.Allowed == nil || *inHall.Allowed != 10 {
		t.Errorf("%d hits in hall 3, allowed %v", len(inHall.Hits), inHall.Allowed)
	}
	if out := mustExecute(t, "search", "unit", "--data", data, "--mode", "lexical", "--filter", filter); !strings.Contains(out, "10 documents pass the filter") {
		t.Errorf("search printed %s", out)
	}
	if _, stderr, code := execute(t, "", "search", "unit", "--data", data, "--filter", `{"hall":3}`); code != 2 || !strings.Contains(stderr, "must, should and must_not") {
		t.Errorf("a bad filter: exit %d, %s", code, stderr)
	}
	if out := mustExecute(t, "search", `"U-0042" -nothing`, "--data", data); !strings.Contains(out, "with “U-0042”, without “nothing”: 1 documents") {
		t.Errorf("search for a phrase printed %s", out)
	}
	explained := mustExecute(t, "search", "U-0042", "--data", data, "--explain", "--highlight", "--limit", "2")
	for _, part := range []string{"[U-0042]", "├ lexical", "× tf 1/(1 + ", "├ sparse", "├ fused", "└ reranked", "taken for: identifier U-0042", "terms: u-0042", "expansion: "} {
		if !strings.Contains(explained, part) {
			t.Errorf("--explain does not print %q:\n%s", part, explained)
		}
	}
	if out := mustExecute(t, "search", "U-0042", "--data", data, "--compare"); !strings.Contains(out, "hybrid+rerank") {
		t.Errorf("compare printed %s", out)
	}
}

func TestEvalOnTheDemoCorpus(t *testing.T) {
	data := t.TempDir()
	var report struct {
		Dataset string
		Queries int
		Modes   map[string]map[string]float64
	}
	for range 2 { // the second time nothing is encoded again
		if err := json.Unmarshal([]byte(mustExecute(t, "eval", "demo", "--data", data, "--json")), &report); err != nil {
			t.Fatal(err)
		}
		if report.Dataset != "demo" || report.Queries < 10 || len(report.Modes) != 5 {
			t.Fatalf("report %+v", report)
		}
	}
	for mode, scores := range report.Modes {
		for _, metric := range []string{"ndcg@10", "mrr@10", "recall@20", "recall@100"} {
			if v, found := scores[metric]; !found || v < 0 || v > 1 {
				t.Errorf("%s %s is %v", mode, metric, v)
			}
		}
	}
	best := report.Modes["hybrid+rerank"]["ndcg@10"]
	for _, alone := range []string{"dense", "sparse", "lexical"} {
		if report.Modes[alone]["ndcg@10"] >= best {
			t.Errorf("on the demo, %s alone (%v) is as good as hybrid+rerank (%v)", alone, report.Modes[alone]["ndcg@10"], best)
		}
	}
}

func TestBadInputIsExplained(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	good := write("good.jsonl", `{"id":"a","text":"valve"}`)
	lines := strings.Repeat(`{"id":"%","text":"x"}`+"\n", 20)
	for i := 1; i <= 20; i++ {
		lines = strings.Replace(lines, "%", fmt.Sprint(i), 1)
	}
	bad := write("bad.jsonl", strings.Replace(lines, `{"id":"17","text":"x"}`, `{"id":"17","text":x}`, 1))
	for name, tc := range map[string]struct {
		args []string
		code int
		says string
	}{
		"unknown command":    {[]string{"serach"}, 2, "braid --help"},
		"no argument":        {[]string{"index"}, 2, "index FILE.jsonl | PAGE"},
		"unknown flag":       {[]string{"search", "x", "--top", "3"}, 2, "--help"},
		"no such file":       {[]string{"index", filepath.Join(dir, "absent.jsonl")}, 1, "absent.jsonl"},
		"line 17":            {[]string{"index", bad}, 2, "line 17: malformed JSON"},
		"empty file":         {[]string{"index", write("empty.jsonl", "\n")}, 2, "no document"},
		"unknown collection": {[]string{"search", "x", "--collection", "absent"}, 1, "absent"},
		"collection name":    {[]string{"index", good, "--collection", "../x"}, 2, "letters"},
		"empty query":        {[]string{"search", " "}, 2, "query is empty"},
		"mode":               {[]string{"search", "x", "--mode", "fuzzy"}, 2, "lexical"},
		"weights":            {[]string{"search", "x", "--weights", "dense:2"}, 2, "dense=2"},
		"no dataset":         {[]string{"eval", dir}, 1, "corpus.jsonl"},
		"eval mode":          {[]string{"eval", "demo", "--modes", "bm25"}, 2, "hybrid+rerank"},
		"unknown model":      {[]string{"search", "x", "--dense", "gte-tiny"}, 1, "bge-small-en-v1.5"},
		"model of a kind":    {[]string{"search", "x", "--dense", "splade-tiny"}, 2, "sparse"},
		"no ONNX Runtime":    {[]string{"search", "x", "--onnxruntime", good}, 1, "ONNX Runtime"},
		"no server":          {[]string{"search", "x", "--server", "http://127.0.0.1:1"}, 1, "is the server running"},
		"no file of keys":    {[]string{"serve", "--api-keys", filepath.Join(dir, "absent.json")}, 1, "absent.json"},
		"a key's limits":     {[]string{"serve", "--api-keys", write("keys.json", `{"keys":[{"name":"k","sha256":"`+strings.Repeat("0", 64)+`","filter":{}}]}`)}, 2, "limits nothing"},
		"log level":          {[]string{"serve", "--log-level", "loud"}, 2, "debug"},
		"log format":         {[]string{"serve", "--log-format", "xml"}, 2, "json"},
		"address":            {[]string{"serve", "--listen", "nowhere"}, 1, "--listen"},
	} {
		t.Run(name, func(t *testing.T) {
			args := tc.args
			if len(args) > 1 {
				args = append(args, "--data", filepath.Join(dir, "data"))
			}
			stdout, stderr, code := execute(t, "", args...)
			lines := strings.Split(strings.TrimSpace(stderr), "\n") // serve logs before it fails
			last := lines[len(lines)-1]
			if code != tc.code || !strings.Contains(last, tc.says) || !strings.HasPrefix(last, "braid: ") {
				t.Errorf("exit %d, stderr %q, want %d and %q", code, stderr, tc.code, tc.says)
			}
			if stdout != "" || strings.Contains(stderr, "goroutine") {
				t.Errorf("printed %s%s", stdout, stderr)
			}
		})
	}
}

func TestStandardInput(t *testing.T) {
	data := t.TempDir()
	stdout, stderr, code := execute(t, `[{"id":"a","text":"valve"},{"id":"b","text":"seal"}]`, "index", "-", "--data", data)
	if code != 0 || !strings.Contains(stdout, "2 new") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

func TestSearchNeedsAFolder(t *testing.T) {
	data := filepath.Join(t.TempDir(), "typo")
	_, stderr, code := execute(t, "", "search", "x", "--data", data)
	if _, err := os.Stat(data); code != 1 || !strings.Contains(stderr, "no data folder") || err == nil {
		t.Errorf("exit %d: %s (stat: %v)", code, stderr, err)
	}
}

func TestDocumentsDoNotSteerTheTerminal(t *testing.T) {
	data := t.TempDir()
	if _, stderr, code := execute(t, `{"id":"a","title":"red \u001b[31m title \u202e","text":"valve \u001b]0;owned\u0007"}`, "index", "-", "--data", data); code != 0 {
		t.Fatal(stderr)
	}
	for _, flag := range []string{"--compare", "--limit=1"} {
		if out := mustExecute(t, "search", "valve", "--data", data, flag); strings.ContainsAny(out, "\x1b\x07\u202e") || !strings.Contains(out, "red") {
			t.Errorf("%s printed %q", flag, out)
		}
	}
}

func TestWhatIsStoredNeedsNoModel(t *testing.T) {
	data, file := t.TempDir(), corpus(t, 3)
	mustExecute(t, "index", file, "--data", data)
	if out := mustExecute(t, "index", file, "--data", data, "--reranker", "none", "--sparse", "none"); !strings.Contains(out, "3 unchanged") {
		t.Errorf("index printed %s", out)
	}
	mustExecute(t, "eval", "demo", "--data", data, "--modes", "lexical")
	stdout, stderr, code := execute(t, "", "eval", "demo", "--data", data, "--dense", "none", "--sparse", "none", "--reranker", "none")
	if code != 0 || !strings.Contains(stdout, "lexical") || strings.Contains(stdout, "hybrid+rerank") || !strings.Contains(stderr, "mode hybrid+rerank is left out") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if _, stderr, code := execute(t, "", "eval", "demo", "--data", data, "--reranker", "none", "--modes", "hybrid+rerank"); code != 1 || !strings.Contains(stderr, "reranker") {
		t.Errorf("a mode that was asked for: exit %d: %s", code, stderr)
	}
}

func TestInterruptWhileStandardInputWaits(t *testing.T) {
	cmd := program(t.Context(), "index", "-", "--data", t.TempDir())
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin, `{"id":"a","text":"x"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // so that it waits for more
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // interrupted
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(stderr.String(), "nothing was stored") {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
}

func TestEnvironmentSetsFlags(t *testing.T) {
	t.Setenv("BRAID_COLLECTION", "fromenv")
	data := t.TempDir()
	if out := mustExecute(t, "index", corpus(t, 3), "--data", data); !strings.Contains(out, `"fromenv"`) {
		t.Errorf("index printed %q", out)
	}
	t.Setenv("BRAID_LIMIT", "many")
	if _, stderr, code := execute(t, "", "search", "x", "--data", data); code != 2 || !strings.Contains(stderr, "BRAID_LIMIT") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestDamagedModelIsNamed(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{testenv.Dense, testenv.Sparse, testenv.Reranker} {
		if err := os.CopyFS(filepath.Join(root, name), os.DirFS(filepath.Join(testenv.ModelsFolder(), name))); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(root, testenv.Sparse, "model.onnx")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, info.Size()/2); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := execute(t, "", "search", "x", "--models", root, "--data", t.TempDir())
	if code != 1 || !strings.Contains(stderr, testenv.Sparse) || !strings.Contains(stderr, "model.onnx") || !strings.Contains(stderr, "make setup") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	stdout, stderr, code := execute(t, "", "models", "verify", "--models", root)
	if code != 1 || !strings.Contains(stderr, "model.onnx") || !strings.Contains(stdout, testenv.Dense+": ") {
		t.Errorf("verify: exit %d: %s%s", code, stdout, stderr)
	}
	if out := mustExecute(t, "models", "list"); !strings.Contains(out, testenv.Reranker) || !strings.Contains(out, "cross-encoder") {
		t.Errorf("list printed %s", out)
	}
}

// transcript is what a process has said so far.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *transcript) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.WriteString(line + "\n")
}

func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// server is a running `braid serve`.
type server struct {
	cmd  *exec.Cmd
	base string
	log  *transcript // complete once the process has ended
	read chan struct{}
}

var listening = regexp.MustCompile(`msg=listening address=(\S+)`)

func serveOn(t *testing.T, data string, flags ...string) *server {
	t.Helper()
	args := append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, flags...)
	s := &server{cmd: program(context.Background(), args...), log: &transcript{}, read: make(chan struct{})}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it may have ended already
		<-s.read
	})
	address := make(chan string, 1)
	go func() {
		defer close(s.read)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			s.log.add(lines.Text())
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				address <- m[1]
			}
		}
	}()
	select {
	case a := <-address:
		s.base = "http://" + a
	case <-s.read:
		t.Fatalf("the server ended: %s", s.log)
	case <-time.After(2 * time.Minute):
		t.Fatal("the server does not listen")
	}
	return s
}

// stop sends sig and returns the exit code.
func (s *server) stop(t *testing.T, sig os.Signal) int {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	<-s.read
	var exit *exec.ExitError
	if err := s.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return s.cmd.ProcessState.ExitCode()
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestServeIndexSearchStop(t *testing.T) {
	data := t.TempDir()
	s := serveOn(t, data)
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, body := get(t, s.base+path); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	mustExecute(t, "index", corpus(t, 10), "--server", s.base)
	if out := mustExecute(t, "search", "U-0007", "--server", s.base); !strings.Contains(strings.Split(out, "\n")[1], "d007") {
		t.Errorf("search printed %s", out)
	}
	_, body := get(t, s.base+"/info")
	var info struct {
		Models  []struct{ Name, Kind, Digest, Licence string }
		Runtime struct{ Provider string }
		Data    struct{ Collections, Documents int }
		Limits  map[string]int
	}
	if err := json.Unmarshal([]byte(body), &info); err != nil {
		t.Fatal(err)
	}
	if len(info.Models) != 3 || info.Models[0].Name != testenv.Dense || info.Models[0].Kind != "dense" || info.Runtime.Provider != "CPUExecutionProvider" || info.Data.Documents != 10 || info.Limits["query_bytes"] != search.MaxQueryBytes {
		t.Errorf("info %s", body)
	}

	_, body = get(t, s.base+"/metrics")
	for _, want := range []string{
		`braid_runtime_info{provider="CPUExecutionProvider"`, `braid_collection_documents{collection="default"} 10`,
		`braid_inference_requests_total{code="ok",model="` + testenv.Reranker + `"}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}

	_, stderr, code := execute(t, "", "index", corpus(t, 3), "--data", data)
	if code != 1 || !strings.Contains(stderr, data) || !strings.Contains(stderr, "in use") {
		t.Errorf("second process on the folder: exit %d: %s", code, stderr)
	}
	if code := s.stop(t, syscall.SIGTERM); code != 0 || !strings.Contains(s.log.String(), "msg=stopped") {
		t.Errorf("exit %d, log %s", code, s.log)
	}
	if out := mustExecute(t, "search", "U-0007", "--data", data); !strings.Contains(out, "d007") {
		t.Errorf("after the server stopped: %s", out)
	}
}

func TestKilledWhileIndexing(t *testing.T) {
	const documents = 1200
	data, file := t.TempDir(), corpus(t, documents)
	mustExecute(t, "index", corpus(t, 1), "--data", data) // so that the collection exists

	for round := range 3 {
		cmd := program(t.Context(), "index", file, "--data", data)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Any moment will do: what must hold does not depend on it.
		time.Sleep(time.Duration(1500+rand.IntN(1500)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		t.Logf("round %d: killed", round)
	}
	var result search.IngestResult
	if err := json.Unmarshal([]byte(mustExecute(t, "index", file, "--data", data, "--json")), &result); err != nil {
		t.Fatal(err)
	}
	if result.Stored() != documents || result.Replaced != 0 {
		t.Errorf("after the kills: %+v", result)
	}
	if n := result.Unchanged; n != 1 && n != documents && n%search.IngestBatch != 0 {
		t.Errorf("half a batch is stored: %+v", result)
	}
	t.Logf("%d of %d documents were stored before the last run", result.Unchanged, documents)

	s := serveOn(t, data)
	var info struct{ Documents int }
	_, body := get(t, s.base+"/v1/collections/default")
	if err := json.Unmarshal([]byte(body), &info); err != nil || info.Documents != documents {
		t.Errorf("%d documents, want %d (%v)", info.Documents, documents, err)
	}
	for i := 0; i < documents; i += 57 {
		var answer search.Response
		if err := json.Unmarshal([]byte(mustExecute(t, "search", fmt.Sprintf("U-%04d", i), "--server", s.base, "--mode", "lexical", "--json")), &answer); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, h := range answer.Hits {
			if seen[h.ID] {
				t.Errorf("document %s occurs twice", h.ID)
			}
			seen[h.ID] = true
		}
		if want := fmt.Sprintf("d%03d", i); len(answer.Hits) == 0 || answer.Hits[0].ID != want {
			t.Errorf("%s is not found by its own number: %+v", want, answer.Hits)
		}
	}
}
