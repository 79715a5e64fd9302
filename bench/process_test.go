package bench

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench/peer"
	"github.com/braid-search/braid/models"
)

// shell is a contender made of a line of shell.
func shell(line string) library {
	return library{name: "shell", command: func(Config, models.Kind) []string { return []string{"/bin/sh", "-c", line} }}
}

// ended closes a contender, which has nothing to complain of.
func ended(t *testing.T, c *child) {
	if err := c.close(); err != nil {
		t.Error(err)
	}
}

func TestLibraryThatFails(t *testing.T) {
	cfg := Config{Root: t.TempDir()}.withDefaults()
	for _, c := range []struct{ name, line, want string }{
		{"ends at once", "echo no such model >&2; exit 3", "no such model"},
		{"is not ready", `echo '{"seconds": [1]}'; cat`, "did not say that it is ready"},
		{"does not speak JSON", "echo hello; cat", "invalid character"},
	} {
		if _, err := shell(c.line).start(context.Background(), cfg, models.Dense); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a contender that %s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestLibraryThatLosesTexts(t *testing.T) {
	cfg := Config{Root: t.TempDir()}.withDefaults()
	c, err := shell(`echo '{"ready": true}'; read job; echo '{"seconds": [1], "results": [[1]]}'; cat >/dev/null`).start(context.Background(), cfg, models.Dense)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ended(t, c) })
	if _, err := c.do(peer.Job{Task: peer.Passages, Texts: []string{"a", "b"}}); braid.CodeOf(err) != braid.Internal {
		t.Errorf("one result for two texts: %v", err)
	}
	now, peak, err := c.resident()
	if err != nil || now <= 0 || peak < now {
		t.Errorf("resident memory is %v, at its peak %v (%v)", now, peak, err)
	}
}

func TestProcessorTime(t *testing.T) {
	cfg := Config{Root: t.TempDir()}.withDefaults()
	c, err := shell(`i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo '{"ready": true}'; cat >/dev/null`).start(context.Background(), cfg, models.Dense)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ended(t, c) })
	if used, err := c.processor(); err != nil || used <= 0 {
		t.Errorf("a busy loop used %v (%v)", used, err)
	}
}

// A server may end by the signal that asks it to, or with success; anything else
// is told, every time it is asked.
func TestServerThatEnds(t *testing.T) {
	cfg := Config{Root: t.TempDir()}.withDefaults()
	for _, c := range []struct{ line, want string }{
		{"kill -TERM $$", ""},
		{"trap 'exit 0' TERM; kill -TERM $$", ""},
		{"echo the disk is full >&2; exit 4", "the disk is full"},
		{"kill -SEGV $$", "segmentation fault"},
	} {
		cmd := exec.Command("/bin/sh", "-c", c.line)
		p, err := begin(cfg, "shell", cmd, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			err := p.close()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.line, err, c.want)
			}
		}
	}
}

func TestLoad(t *testing.T) {
	var requests, now, most atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
		}
		time.Sleep(time.Millisecond)
		if requests.Add(1) == 50 {
			http.Error(w, "enough", http.StatusTooManyRequests)
		}
	}))
	defer web.Close()
	s := &server{process: &process{name: "web", log: os.DevNull}, base: web.URL, http: web.Client()}

	list := make([]request, 40)
	seen, err := s.load(context.Background(), 4, list)
	if err != nil || requests.Load() != 40 || most.Load() > 4 {
		t.Errorf("%d requests, up to %d at a time (%v), want 40 and 4", requests.Load(), most.Load(), err)
	}
	for i, ms := range seen.latencies {
		if ms < 1 {
			t.Errorf("request %d took %v ms, the server takes 1 at least", i, ms)
		}
	}
	if mean := seen.elapsed.Seconds() / 40 * 4; seen.rate() <= 0 || mean < 0.001 {
		t.Errorf("a rate of %v", seen.rate())
	}
	if _, err := s.load(context.Background(), 4, list); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("a server that refuses: %v, want its status", err)
	}
}

func TestUsageSince(t *testing.T) {
	begun := time.Now()
	before := usage{all: time.Second, own: time.Second, at: begun}
	after := usage{all: 13 * time.Second, own: 3 * time.Second, lost: 2 * time.Second, at: begun.Add(10 * time.Second)}
	if others, lost := after.since(before, 2); others != 0.5 || lost != 0.1 {
		t.Errorf("others took %v and the hypervisor %v of two cores in ten seconds, want 0.5 and 0.1", others, lost)
	}
	real, err := readUsage()
	if err != nil || real.all <= 0 || real.own <= 0 {
		t.Errorf("the usage of this machine is %+v (%v)", real, err)
	}
}
