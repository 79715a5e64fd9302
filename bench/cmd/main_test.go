package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/braid-search/braid/bench"
)

func TestRunRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-clients 1,two", `"two" is not a number`},
		{"-parts weather", `"weather"`},
		{"-rounds -3", "rounds is -3"},
		{"scifact", `argument "scifact"`},
		{"-fast", "not defined"},
		{"peer -models", "needs an argument"},
		{"compare one.json", "two reports"},
		{"compare /nowhere.json /nowhere.json", "/nowhere.json"},
		{"compare ../config.go ../config.go", "no report of this program"},
		{"gate -before a", "want two programs"},
		{"gate -before a -after b -pairs 3", "3 pairs"},
		{"peer -library /nowhere/libonnxruntime.so -models /nowhere", "/nowhere/libonnxruntime.so"},
	} {
		var out bytes.Buffer
		err := run(context.Background(), strings.Fields(c.args), strings.NewReader(""), &out, &out)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("bench %s: %v, want %q", c.args, err, c.want)
		}
	}
}

func TestQuickened(t *testing.T) {
	quick, set := quickened(bench.Config{}), quickened(bench.Config{Rounds: 7, Clients: []int{4}})
	if quick.Rounds != 3 || len(quick.Clients) != 2 {
		t.Errorf("quick is %+v", quick)
	}
	if set.Rounds != 7 || set.Clients[0] != 4 {
		t.Errorf("what was set changed: %+v", set)
	}
}
