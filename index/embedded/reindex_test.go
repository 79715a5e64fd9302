package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
)

// reindexed is the schema after n changes over.
func reindexed(n int) index.Schema {
	s := schema
	s.Passages.Tokens = 1 + n%2
	return s
}

// remadeFor gives documents as many passages as the schema's passages have tokens,
// which shows what they were made for.
func remadeFor(s index.Schema, e index.Entry) index.Entry {
	return splitOf(e.Document.ID, crashWord(e.Document.ID), s.Passages.Tokens)
}

// crashWord is a word that no other document has.
func crashWord(id string) string {
	n, err := strconv.Atoi(strings.TrimPrefix(id, "d-"))
	if err != nil {
		panic(err)
	}
	return crashText(n, 0)
}

// reindexUntilKilled changes a collection over again and again, and stores
// documents meanwhile. It prints the number of each that is acknowledged, and
// "over" when the collection has changed over.
func reindexUntilKilled(dir string, first int) error {
	ctx := context.Background()
	e, err := embedded.Open(ctx, dir, embedded.Options{})
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	go func() {
		for n := first; ; n++ {
			id := fmt.Sprint("d-", n)
			for {
				c, err := e.Open(ctx, "t")
				if err != nil {
					failed <- err
					return
				}
				made := remadeFor(c.Info().Schema, splitOf(id, crashWord(id), 1))
				if _, err = c.Write(ctx, index.Batch{Upserts: []index.Entry{made}}); err == nil {
					break // else it has just changed over
				}
			}
			fmt.Println(n)
		}
	}()
	go func() {
		for {
			c, err := e.Open(ctx, "t")
			if err != nil {
				failed <- err
				return
			}
			to := reindexed(c.Info().Schema.Passages.Tokens)
			_, err = e.Reindex(ctx, "t", to, func(_ context.Context, entries []index.Entry) ([]index.Entry, error) {
				made := make([]index.Entry, len(entries))
				for i, entry := range entries {
					made[i] = remadeFor(to, entry)
				}
				return made, nil
			}, nil)
			if err != nil {
				failed <- err
				return
			}
			fmt.Println("over")
		}
	}()
	return <-failed
}

// TestKilledWhileReindexing kills such a process at random moments. Each time the
// collection has all acknowledged documents, and all of them are of one schema, the
// collection's.
func TestKilledWhileReindexing(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: kills processes for some seconds")
	}
	ctx, dir, random := context.Background(), t.TempDir(), rand.New(rand.NewPCG(61, 62))
	e := open(t, dir)
	if _, err := e.Create(ctx, "t", reindexed(0)); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	stored, overs, unfinished := 0, 0, 0
	for range *crashes {
		acknowledged, changes := runReindexer(t, dir, stored+1, time.Duration(random.IntN(300))*time.Millisecond)
		stored, overs = max(stored, acknowledged), overs+changes
		var said strings.Builder
		e, err := embedded.Open(ctx, dir, embedded.Options{Log: debugLog(&said)})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(said.String(), "reindexing was interrupted") {
			unfinished++
		}
		infos, err := e.List(ctx)
		if err != nil || len(infos) != 1 || infos[0].Name != "t" {
			t.Fatalf("collections are %+v, error %v", infos, err)
		}
		// One document may be stored and not yet acknowledged.
		if n := infos[0].Documents; n != stored && n != stored+1 {
			t.Fatalf("%d documents, %d were acknowledged", n, stored)
		}
		stored = infos[0].Documents
		c, err := e.Open(ctx, "t")
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= stored; n++ {
			wantReindexed(t, c, fmt.Sprint("d-", n))
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d documents; changed over %d times in %d lives, %d of which ended in the middle of it", stored, overs, *crashes, unfinished)
	if overs == 0 || unfinished == 0 {
		t.Errorf("not all was met: changed over %d times, %d times not to the end", overs, unfinished)
	}
}

// wantReindexed asserts that a document is as the schema of c says.
func wantReindexed(t *testing.T, c index.Collection, id string) {
	t.Helper()
	want := remadeFor(c.Info().Schema, splitOf(id, crashWord(id), 1))
	got, err := c.Get(context.Background(), []string{id})
	if err != nil || len(got) != 1 || len(got[0].Passages) != len(want.Passages) || got[0].Document.Text != want.Document.Text {
		t.Fatalf("%s is %+v, want %d passages, error %v", id, got, len(want.Passages), err)
	}
	hits, err := c.SearchLexical(context.Background(), crashWord(id), index.Query{K: 10})
	if err != nil || len(hits) != len(want.Passages) || hits[0].ID != id {
		t.Fatalf("%s is found as %v, error %v", id, hits, err)
	}
}

// runReindexer kills one some time after its first word, and returns the newest
// document that it acknowledged and how often it changed over.
func runReindexer(t *testing.T, dir string, first int, life time.Duration) (newest, overs int) {
	t.Helper()
	runKilled(t, life, func(line string) {
		var err error
		if line == "over" {
			overs++
		} else if newest, err = strconv.Atoi(line); err != nil {
			t.Fatal(err)
		}
	}, "reindex", dir, strconv.Itoa(first))
	return newest, overs
}
