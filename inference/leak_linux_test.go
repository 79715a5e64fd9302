package inference

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"testing"
)

// residentKB is the process's resident set, as the kernel counts it.
func residentKB(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := bytes.Cut(status, []byte("VmRSS:"))
	kb, err := strconv.Atoi(string(bytes.Fields(after)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return kb
}

// One output of the sparse model is 120 KB: 2,000 of them kept would be 240 MB.
func TestRunsKeepNoMemory(t *testing.T) {
	s := openSparse(t, openRuntime(t, Options{}))
	expand := func(runs int) {
		for range runs {
			if _, _, err := s.Expand(context.Background(), Request{Texts: []string{"a big fat potato"}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	expand(200) // let buffers and arenas reach their size
	before := residentKB(t)
	expand(2000)
	if grown := residentKB(t) - before; grown > 32<<10 {
		t.Errorf("2,000 runs left %d KB behind", grown)
	}
}
