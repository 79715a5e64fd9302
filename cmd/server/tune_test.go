package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/braid-search/braid/internal/tune"
	"github.com/braid-search/braid/search"
)

func TestTuneAndApply(t *testing.T) {
	data := t.TempDir()
	// Each code is in two documents.
	var docs, queries strings.Builder
	for i := range 120 {
		code := fmt.Sprintf("%08X", uint32(i/2+1)*2654435761)
		fmt.Fprintf(&docs, `{"id":"d%d","text":"The unit %s is stored in hall %d."}`+"\n", i, code, i%2)
		if i < 80 && i%2 == 0 {
			fmt.Fprintf(&queries, `{"text":"%s","relevant":["d%d","d%d"]}`+"\n", code, i, i+1)
		}
	}
	mustExecute(t, "index", write(t, "docs.jsonl", docs.String()), "--data", data)
	labels := write(t, "labels.jsonl", queries.String())
	// A profile that finds only one of them.
	blind := write(t, "blind.json", `{"candidates":1,"rerank":false,"fusion":{"method":"rrf","weights":{"dense":1,"sparse":0,"lexical":0}}}`)
	mustExecute(t, "profile", "set", blind, "--data", data)

	out := filepath.Join(t.TempDir(), "tuned.json")
	args := []string{"tune", labels, "--data", data, "--rerank-depths", "10", "--candidates", "50", "--out", out, "--apply"}
	stdout, stderr, code := execute(t, "", append(args, "--json")...)
	if code != 0 || !strings.Contains(stderr, "40 labelled queries are few") || !strings.Contains(stderr, "profile version 2") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	var r tune.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Verdict != tune.Confirmed || r.HeldOut.After < 0.9 || len(r.Steps) == 0 {
		t.Errorf("report %s", stdout)
	}
	var kept search.VersionedProfile
	if err := json.Unmarshal([]byte(mustExecute(t, "profile", "show", "--data", data)), &kept); err != nil || !reflect.DeepEqual(kept.Profile, r.Profile) {
		t.Errorf("kept %+v, %v, want %+v", kept, err, r.Profile)
	}
	if written := mustExecute(t, "profile", "set", out, "--data", data); !strings.Contains(written, `"version": 3`) {
		t.Errorf("the file is not a profile: %s", written)
	}
	// Now there is nothing to gain.
	stdout, stderr, code = execute(t, "", args...)
	if code != 0 || !strings.Contains(stdout, "unchanged: nothing gained enough") || strings.Contains(stderr, "version 4") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

func TestTuneRefuses(t *testing.T) {
	for says, args := range map[string][]string{
		"there are 15 labelled queries, tuning needs at least 20": {"demo"},
		"--metric":                 {"demo", "--metric", "MAP"},
		"rerank_depth is 0":        {"demo", "--rerank-depths", "0"},
		"candidates is 99999":      {"demo", "--candidates", "99999"},
		"does not exist":           {"absent.jsonl"},
		"the share held out is 1.": {write(t, "l.tsv", "q\td\n"), "--held-out", "1.5"},
	} {
		if _, stderr, code := execute(t, "", append([]string{"tune", "--data", t.TempDir()}, args...)...); code == 0 || !strings.Contains(stderr, says) {
			t.Errorf("%v: exit %d: %s, want %q", args, code, stderr, says)
		}
	}
}

func TestTuneCalibrates(t *testing.T) {
	data := t.TempDir()
	mustExecute(t, "index", corpus(t, 60), "--data", data)
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, `{"text":"in which hall is unit number U-%04d","relevant":["d%03d"]}`+"\n", 3*i, 3*i)
		fmt.Fprintf(&b, `{"text":"who won the football cup in %d","relevant":[]}`+"\n", 1960+i)
	}
	out := filepath.Join(t.TempDir(), "calibrated.json")
	stdout, stderr, code := execute(t, "", "tune", write(t, "labels.jsonl", b.String()), "--data", data, "--calibrate", "--apply", "--out", out, "--json")
	if code != 0 || !strings.Contains(stderr, "profile version 1") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	var c tune.Calibrated
	if err := json.Unmarshal([]byte(stdout), &c); err != nil || c.Removed || c.AUC < 0.99 || c.HeldOut != 20 {
		t.Errorf("calibrated %+v, %v", c, err)
	}
	for query, found := range map[string]bool{"in which hall is unit number U-0003": true, "who won the football cup in 1999": false} {
		var answer search.Response
		if err := json.Unmarshal([]byte(mustExecute(t, "search", "--data", data, "--json", "--min-confidence", "0.5", query)), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.NoAnswerProbability == nil || (len(answer.Hits) > 0) != found {
			t.Errorf("%s: %d hits, %v", query, len(answer.Hits), answer.NoAnswerProbability)
		}
	}
	stdout, _, code = execute(t, "", "tune", write(t, "labels.jsonl", b.String()), "--data", data, "--calibrate")
	if code != 0 || !strings.Contains(stdout, "labelled as such") || !strings.Contains(stdout, `"slope":`) {
		t.Errorf("exit %d: %s", code, stdout)
	}
}
