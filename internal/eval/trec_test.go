package eval_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
)

func TestRunFileKeepsTheOrder(t *testing.T) {
	d := open(t, small(), "")
	run := eval.Run{"q1": {"d1", "a", "z", "d10", "d9"}, "q2": {"d2"}}
	path := filepath.Join(t.TempDir(), "dense.run")
	if err := d.WriteRun(path, run, "braid"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(data), "q2 Q0 d2 1 1 braid\nq1 Q0 d1 1 5 braid\nq1 Q0 a 2 4 braid\n") {
		t.Errorf("wrote %s, %v", data, err)
	}
	got, err := eval.ReadRun(path)
	if err != nil || !reflect.DeepEqual(got, run) || d.Answers(got) != 2 {
		t.Errorf("read %v, %v, want %v", got, err, run)
	}
	if err := d.WriteRun(path, eval.Run{"q1": {"a b"}}, "braid"); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("white space in an id: %v, want %s", err, braid.InvalidArgument)
	}
}

func TestReadRunOrdersAsTrecEval(t *testing.T) {
	dir := write(t, map[string]string{"r.run": "q1\tQ0 d9 1 2.5 x\n\nq1 Q0 low 2 -1e3 x\r\nq1 Q0 d10 3 2.5000000001 x\nq1 Q0 top 4 3 x\n"})
	got, err := eval.ReadRun(filepath.Join(dir, "r.run"))
	if want := (eval.Run{"q1": {"top", "d9", "d10", "low"}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, %v, want %v", got, err, want)
	}
}

func TestReadRunRefuses(t *testing.T) {
	for says, text := range map[string]string{
		"line 1: 5 columns":    "q1 Q0 d1 1 2.5\n",
		"line 2: score \"x\"":  "q1 Q0 d1 1 2 t\nq1 Q0 d2 1 x t\n",
		"score \"NaN\"":        "q1 Q0 d1 1 NaN t\n",
		"line 2: query \"q1\"": "q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n",
		"no ranking":           "\n",
	} {
		dir := write(t, map[string]string{"r.run": text})
		if got, err := eval.ReadRun(filepath.Join(dir, "r.run")); braid.CodeOf(err) != braid.InvalidArgument || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %v, want %s", text, got, err, says)
		}
	}
	if _, err := eval.ReadRun(filepath.Join(t.TempDir(), "absent")); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("no file: %v", err)
	}
}
