package main

import (
	"context"
	"flag"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// soakFor is for
//
//	go test ./cmd/server -run 'Soak|Company' -soak 5m -timeout 30m -v
var soakFor = flag.Duration("soak", 0, "how long clients ask in the soak test; without it the soak is skipped and the list test takes fewer texts")

const (
	soakClients = 16
	soakFiles   = 4               // that may be open more; a leak has hundreds
	soakLong    = 2 * time.Minute // from here on memory and the idle processor are judged
	// soakIdle is how long an idle server is watched.
	soakIdle = 5 * time.Second
)

// 16 clients ask at once, in every good and bad way there is. Each answer is
// compared with what the model says of the text alone. Afterwards the server
// holds what it held before: goroutines, threads, files, memory; and does
// nothing.
func TestSoak(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("skipped: no /proc to read the server's memory from")
	}
	duration := *soakFor
	if duration == 0 {
		t.Skip("skipped: it is told how long to ask, with -soak 5m")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	k := newTruths(t, append(randomTexts(rng, 60, 25), randomTexts(rng, 6, 400)...), true)
	s := serveOn(t, t.TempDir())
	k.fill(t, s.base)
	http.DefaultClient.CloseIdleConnections()

	// The first fifth is for caches and pools to fill.
	outcomes := map[string]int{}
	soak(t, s.base, k, duration/5, 1, outcomes)
	warm := settled(t, s)
	soak(t, s.base, k, duration-duration/5, 2, outcomes)
	after := settled(t, s)
	time.Sleep(soakIdle)
	idle := usageOf(t, s.cmd.Process.Pid)

	t.Logf("after %s: %s, of it in use %d", duration/5, warm.usage, warm.inUse>>20)
	t.Logf("after %s: %s, of it in use %d", duration, after.usage, after.inUse>>20)
	t.Logf("%s of CPU in %s of doing nothing", idle.cpu-after.cpu, soakIdle)
	for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
		t.Logf("%7d %s", outcomes[outcome], outcome)
	}
	// Caches and pools are not full after four seconds, and the race detector keeps
	// notes on all memory ever used, over which collecting takes longer.
	long := *soakFor >= soakLong
	if long && after.inUse > warm.inUse*13/10 {
		t.Errorf("memory in use grew from %d to %d MiB", warm.inUse>>20, after.inUse>>20)
	}
	// The storage engine opens and closes files of its own at its own time.
	if after.files > warm.files+soakFiles {
		t.Errorf("open files grew from %d to %d", warm.files, after.files)
	}
	// The Go runtime keeps threads it once needed for calls into C; their number
	// is bounded by such calls at once.
	if after.threads > warm.threads+soakClients {
		t.Errorf("threads grew from %d to %d", warm.threads, after.threads)
	}
	if busy := idle.cpu - after.cpu; long && busy > soakIdle/100 {
		t.Errorf("an idle server used %s of CPU in %s", busy, soakIdle)
	}

	fresh := serveOn(t, t.TempDir())
	settled(t, fresh)
	want, got := goroutines(t, fresh), goroutines(t, s)
	t.Logf("goroutines by who started them: %v", got)
	for by, n := range got {
		if n > want[by] {
			t.Errorf("%d goroutines started by %s are left, a fresh server has %d", n, by, want[by])
		}
	}
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "panic in handler") {
			t.Errorf("the server logged %s", line)
		}
	}
}

// soak lets the clients ask for a time.
func soak(t *testing.T, base string, k *truths, duration time.Duration, seed uint64, outcomes map[string]int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	var huge sync.Mutex
	clients := make([]*soakClient, soakClients)
	var running sync.WaitGroup
	for i := range clients {
		clients[i] = &soakClient{
			base: base, http: &http.Client{Transport: &http.Transport{}}, rng: rand.New(rand.NewPCG(seed, uint64(i))),
			truths: k, huge: &huge, outcomes: map[string]int{},
		}
		running.Go(func() {
			if err := clients[i].run(ctx); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	running.Wait()
	for _, c := range clients {
		for outcome, n := range c.outcomes {
			outcomes[outcome] += n
		}
	}
}

// atRest is the usage of a server that has nothing to do.
type atRest struct {
	usage
	// inUse is the resident memory less what the Go runtime has free and keeps.
	inUse int // bytes
}

// atRestNow subtracts the free memory, which follows the largest requests of
// late, not what is still held.
func atRestNow(t *testing.T, s *server, u usage) atRest {
	t.Helper()
	free := metric(t, s, "go_memstats_heap_idle_bytes") - metric(t, s, "go_memstats_heap_released_bytes")
	return atRest{u, u.resident - int(free)}
}

// metric reads one number without labels off /metrics.
func metric(t *testing.T, s *server, name string) float64 {
	t.Helper()
	_, page := get(t, s.base+"/metrics")
	for line := range strings.Lines(page) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("/metrics lacks %s: %s", name, page)
	return 0
}

// collect makes the Go runtime of a server at rest collect garbage, which is in
// use until then. It does so when there is as much again as was alive the last
// time; the buffers of these requests are that.
func collect(t *testing.T, s *server) {
	t.Helper()
	const collections, enough = "go_gc_duration_seconds_count", 3
	client := &soakClient{base: s.base, http: &http.Client{Transport: &http.Transport{}}}
	defer client.http.CloseIdleConnections()
	before := metric(t, s, collections)
	for range 1000 {
		if _, err := client.oversize(t.Context(), question{}); err != nil {
			t.Fatal(err)
		}
		if metric(t, s, collections) >= before+enough {
			return
		}
	}
	t.Fatal("the server's Go runtime does not collect garbage")
}

// settled waits until the server has come to rest.
func settled(t *testing.T, s *server) atRest {
	t.Helper()
	collect(t, s)
	http.DefaultClient.CloseIdleConnections()
	const noise = 1 << 20
	last := usageOf(t, s.cmd.Process.Pid)
	for range 120 {
		time.Sleep(time.Second)
		now := usageOf(t, s.cmd.Process.Pid)
		if now.cpu-last.cpu <= clockTick && now.files == last.files && last.resident-now.resident < noise {
			rest := atRestNow(t, s, now)
			http.DefaultClient.CloseIdleConnections()
			return rest
		}
		last = now
	}
	t.Fatalf("the server does not come to rest: %s", last)
	return atRest{}
}

var createdBy = regexp.MustCompile(`(?m)^created by (\S+)`)

// goroutines ends the server with SIGQUIT, whereupon the Go runtime prints the
// stacks of all goroutines, and returns who had started how many of them. Those
// of the runtime itself come and go.
func goroutines(t *testing.T, s *server) map[string]int {
	t.Helper()
	s.stop(t, syscall.SIGQUIT)
	_, dump, found := strings.Cut(s.log.String(), "SIGQUIT: quit")
	if !found {
		t.Fatalf("no list of goroutines: %s", s.log)
	}
	started := map[string]int{}
	for _, by := range createdBy.FindAllStringSubmatch(dump, -1) {
		if !strings.HasPrefix(by[1], "runtime.") {
			started[by[1]]++
		}
	}
	if started["github.com/braid-search/braid/cmd/server.serve"] == 0 {
		t.Fatalf("the list of goroutines lacks the server's own: %s", dump)
	}
	return started
}
