package bench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Results that were written do not make the next ones those of another program.
func TestCommitMindsAllButResults(t *testing.T) {
	root := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := commit(context.Background(), root); got != "unknown" {
		t.Errorf("outside of a checkout: %q", got)
	}
	write("main.go", "a")
	write("bench/results/x.md", "a")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first"}} {
		if said, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, said)
		}
	}
	clean := commit(context.Background(), root)
	if len(clean) != 12 {
		t.Errorf("the commit is %q, want 12 digits", clean)
	}
	write("bench/results/x.md", "b")
	if got := commit(context.Background(), root); got != clean {
		t.Errorf("with a new result it is %q, want %q", got, clean)
	}
	write("main.go", "b")
	if got := commit(context.Background(), root); !strings.HasSuffix(got, "-dirty") {
		t.Errorf("with another program it is %q, want it dirty", got)
	}
}
