package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
)

var (
	crashes = flag.Int("crashes", 20, "how often the crash test kills the writer")
	damages = flag.Int("damages", 60, "how often the damage test damages what is saved")
)

// TestMain lets the test binary stand in for a server that is killed: with
// "write", a folder and a number it writes batches until then; with "reindex" it
// changes a collection over.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "write" {
		if err := writeUntilKilled(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if len(os.Args) == 4 && os.Args[1] == "reindex" {
		first, err := strconv.Atoi(os.Args[3])
		if err == nil {
			err = reindexUntilKilled(os.Args[2], first)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

const crashBatch = 20

// writeUntilKilled stores batches of documents with running ids and prints the
// number of each batch once it is acknowledged. Of every third batch it then
// deletes the first document, printed as a negative number.
func writeUntilKilled(dir, first string) error {
	ctx := context.Background()
	e, err := embedded.Open(ctx, dir, embedded.Options{})
	if err != nil {
		return err
	}
	c, err := e.Open(ctx, "t")
	if err != nil {
		return err
	}
	batch, err := strconv.Atoi(first)
	for ; err == nil; batch++ {
		var b index.Batch
		for i := range crashBatch {
			b.Upserts = append(b.Upserts, crashEntry(batch, i))
		}
		if _, err = c.Write(ctx, b); err != nil {
			break
		}
		fmt.Println(batch)
		if batch%3 == 0 {
			if _, err = c.Write(ctx, index.Batch{Deletes: []string{crashID(batch, 0)}}); err == nil {
				fmt.Println(-batch)
			}
		}
	}
	return err
}

// crashEntry is a document of one to five passages, each of which holds the word
// that no other document has.
func crashEntry(batch, i int) index.Entry {
	id, text := crashID(batch, i), crashText(batch, i)
	if i%6 == 0 {
		return entryOf(id, text)
	}
	return splitOf(id, text, i%6)
}

func crashID(batch, i int) string { return fmt.Sprintf("b%d-%d", batch, i) }

// crashText is a word that no other document has.
func crashText(batch, i int) string {
	letters := []byte("zz")
	for n := batch*crashBatch + i + 1; n > 0; n /= 7 {
		letters = append(letters, "bdfgklm"[n%7])
	}
	return string(letters)
}

// TestKilledWhileWriting kills the writer at random moments and asserts each
// time that a plain opening shows every acknowledged batch in every branch, at
// most one more, and no part of one.
func TestKilledWhileWriting(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: kills processes for some seconds")
	}
	dir, random := t.TempDir(), rand.New(rand.NewPCG(41, 42))
	e := open(t, dir)
	if _, err := e.Create(context.Background(), "t", schema); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	written, deleted := 0, map[int]bool{} // batches 1 to written; of which the first document is deleted
	for range *crashes {
		stored, gone := runWriter(t, dir, written+1, time.Duration(random.IntN(150))*time.Millisecond)
		acknowledged := written + stored
		for _, batch := range gone {
			deleted[batch] = true
		}
		written = checkAfterCrash(t, dir, acknowledged, deleted)
	}
	t.Logf("%d documents written in %d lives", written*crashBatch, *crashes)
	if written < *crashes {
		t.Errorf("only %d batches were written: the writer was killed too soon to tell anything", written)
	}
}

// runKilled starts this program with args, kills it some time after its first word,
// and calls each with the lines that it wrote whole.
func runKilled(t *testing.T, life time.Duration, each func(line string), args ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var kill *time.Timer
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break // a line that was not finished is no acknowledgement
		}
		if err != nil {
			t.Fatal(err)
		}
		if kill == nil {
			kill = time.AfterFunc(life, func() { _ = cmd.Process.Kill() })
		}
		each(strings.TrimSpace(line))
	}
	if kill == nil {
		t.Fatal("the process ended by itself")
	}
	kill.Stop()
	_ = cmd.Wait() // killed
}

// runWriter starts a writer at batch first, kills it some time after its first
// word, and returns how many batches it acknowledged and which deletions.
func runWriter(t *testing.T, dir string, first int, life time.Duration) (stored int, deleted []int) {
	t.Helper()
	runKilled(t, life, func(line string) {
		batch, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		if batch < 0 {
			deleted = append(deleted, -batch)
		} else if stored++; batch != first+stored-1 {
			t.Fatalf("batch %d follows %d", batch, first+stored-2)
		}
	}, "write", dir, strconv.Itoa(first))
	return stored, deleted
}

// checkAfterCrash opens the folder and returns how many batches are there. Each
// document of the newest batches and of one in twenty others is looked for in
// every branch, the rest by id.
func checkAfterCrash(t *testing.T, dir string, acknowledged int, deleted map[int]bool) int {
	t.Helper()
	ctx := context.Background()
	e := open(t, dir)
	defer e.Close()
	if e.Loss() != nil {
		t.Fatalf("a loss is reported: %+v", e.Loss())
	}
	c, err := e.Open(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	written, want := acknowledged, 0
	// One batch, or one deletion, may be durable and not yet acknowledged.
	if found(t, c, acknowledged+1, 1) {
		written++
	}
	for batch := 1; batch <= written+1; batch++ {
		look := known
		if batch > acknowledged-20 || (batch+acknowledged)%20 == 0 {
			look = found
		}
		for i := range crashBatch {
			exists := look(t, c, batch, i)
			if batch == written && i == 0 && !exists && batch%3 == 0 {
				deleted[batch] = true
			}
			if should := batch <= written && (i > 0 || !deleted[batch]); exists != should {
				t.Fatalf("%s after batch %d: found %v", crashID(batch, i), acknowledged, exists)
			}
			if exists {
				want++
			}
		}
	}
	if got := c.Info().Documents; got != want {
		t.Fatalf("count is %d, want %d", got, want)
	}
	return written
}

// known says whether the collection has a document of this id.
func known(t *testing.T, c index.Collection, batch, i int) bool {
	t.Helper()
	prints, err := c.Fingerprints(context.Background(), []string{crashID(batch, i)})
	if err != nil {
		t.Fatal(err)
	}
	return prints[0].OK
}

// found says whether a document is there, and asserts that all ways to it
// agree.
func found(t *testing.T, c index.Collection, batch, i int) bool {
	t.Helper()
	ctx, q := context.Background(), index.Query{K: 10}
	id, want := crashID(batch, i), crashEntry(batch, i)
	last := want.Passages[len(want.Passages)-1]
	got, err := c.Get(ctx, []string{id})
	if err != nil {
		t.Fatal(err)
	}
	lexical, err := c.SearchLexical(ctx, crashText(batch, i), q)
	if err != nil {
		t.Fatal(err)
	}
	value := braid.KeywordOf(id)
	alone, err := c.Resolve(ctx, braid.Filter{Must: []braid.Clause{braid.Condition{Field: "id", Match: &value}}})
	if err != nil {
		t.Fatal(err)
	}
	q.Allowed = alone
	sparse, err := c.SearchSparse(ctx, last.Sparse, q)
	if err != nil {
		t.Fatal(err)
	}
	dense, err := c.SearchDense(ctx, last.Dense, q)
	if err != nil {
		t.Fatal(err)
	}
	there := len(got) == 1
	passages := len(got) * len(want.Passages)
	best := braid.Hit{ID: id, Passage: len(want.Passages) - 1}
	if there && (!reflect.DeepEqual(got[0], want.Stored()) || lexical[0].ID != id || dense[0].Score < 0.999 || dense[0].Passage != best.Passage || sparse[0].Passage != best.Passage) ||
		len(lexical) != passages || len(sparse) < len(got) || len(dense) != passages || alone.Len() != len(got) {
		t.Fatalf("%s: get %+v, lexical %v, sparse %v, dense %v, %d pass", id, got, lexical, sparse, dense, alone.Len())
	}
	return there
}
