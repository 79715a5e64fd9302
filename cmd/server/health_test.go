package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	s := serveOn(t, t.TempDir())
	stdout, stderr, code := execute(t, "", "health", "--server", s.base)
	if code != 0 || stdout+stderr != "" {
		t.Errorf("a ready server: exit %d, %q, %q; want 0 and silence", code, stdout, stderr)
	}
}

func TestHealthOfWhatIsNotReady(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":{"message":"self-test: model \"x\" is faulty"}}`)
	}))
	defer refusing.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, answers none
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	gone := httptest.NewServer(nil)
	gone.Close()

	for _, c := range []struct {
		server, want string
		code         int
	}{
		{refusing.URL, "is faulty", 1},
		{"http://" + silent.Addr().String(), "deadline", 1},
		{gone.URL, "refused", 1},
		{"localhost:8080", "want http://HOST:PORT", 2},
	} {
		_, stderr, code := execute(t, "", "health", "--server", c.server, "--timeout", "1s")
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, %q; want %d and %q", c.server, code, stderr, c.code, c.want)
		}
	}
}
