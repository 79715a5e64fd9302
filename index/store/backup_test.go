package store

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// backupOf makes a store of n documents and returns it with its backup.
func backupOf(t *testing.T, n int) (*Store, Collection, []byte) {
	t.Helper()
	s := openStore(t, t.TempDir(), Options{})
	c := create(t, s, "c")
	for i := range n {
		if err := s.Commit(c.Number, []index.Entry{document(fmt.Sprintf("%05d", i))}, nil); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	var last, total int64
	if err := s.Backup(context.Background(), &b, func(done, all int64) { last, total = done, all }); err != nil {
		t.Fatal(err)
	}
	if last == 0 || last != total {
		t.Errorf("progress ends at %d of %d bytes", last, total)
	}
	return s, c, b.Bytes()
}

func TestRestoreEqualsBackup(t *testing.T) {
	s, c, backup := backupOf(t, 50)
	want := contents(t, s, c)
	// What comes after the backup is not in it.
	if err := s.Commit(c.Number, []index.Entry{document("later")}, []string{"00003"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for name, dir := range map[string]string{"new": filepath.Join(t.TempDir(), "a", "b"), "empty": empty} {
		if err := Restore(context.Background(), bytes.NewReader(backup), dir, nil); err != nil {
			t.Fatalf("%s folder: %v", name, err)
		}
		restored := openStore(t, dir, Options{})
		all, err := restored.Collections()
		if err != nil || len(all) != 1 || all[0].Name != "c" {
			t.Fatalf("%s folder: collections %v, error %v", name, all, err)
		}
		if restored.Loss() != nil {
			t.Errorf("%s folder: a loss is reported: %+v", name, restored.Loss())
		}
		if got := contents(t, restored, all[0]); !slices.Equal(got, want) {
			t.Errorf("%s folder: %d documents, want %d", name, len(got), len(want))
		}
		if err := restored.Commit(all[0].Number, []index.Entry{document("new")}, nil); err != nil {
			t.Errorf("%s folder: write after the restore: %v", name, err)
		}
		if err := restored.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := Restore(context.Background(), bytes.NewReader(backup), empty, nil); braid.CodeOf(err) != braid.Conflict {
		t.Errorf("restore over a data folder: %v, want %s", err, braid.Conflict)
	}
}

// TestBackupWhileWriting commits batches of three meanwhile: a backup holds
// whole ones only, and all that were acknowledged before it began.
func TestBackupWhileWriting(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{})
	defer s.Close()
	c := create(t, s, "c")
	stop, done := make(chan struct{}), make(chan int)
	commits := make(chan int, 1)
	commits <- 0
	go func() {
		n := 0
		defer func() { done <- n }()
		for {
			select {
			case <-stop:
				return
			default:
			}
			var batch []index.Entry
			for i := range 3 {
				batch = append(batch, document(fmt.Sprintf("%05d", 3*n+i)))
			}
			if err := s.Commit(c.Number, batch, nil); err != nil {
				t.Error(err)
				return
			}
			n++
			<-commits
			commits <- n
		}
	}()
	for range 5 {
		before := <-commits
		commits <- before
		var b bytes.Buffer
		if err := s.Backup(context.Background(), &b, nil); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "restored")
		if err := Restore(context.Background(), &b, dir, nil); err != nil {
			t.Fatal(err)
		}
		restored := openStore(t, dir, Options{})
		all, err := restored.Collections()
		if err != nil {
			t.Fatal(err)
		}
		if n := len(contents(t, restored, all[0])); n%3 != 0 || n < 3*before {
			t.Errorf("%d documents in a backup that began after %d", n, 3*before)
		}
		if err := restored.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if <-done == 0 {
		t.Error("nothing was written meanwhile")
	}
	if _, err := os.Stat(filepath.Join(s.dir, checkpointFolder)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the backup left %s: %v", checkpointFolder, err)
	}
}

// TestDamagedBackup flips and cuts bytes at random. Each time nothing is
// restored, and the folder is as if nothing had been tried.
func TestDamagedBackup(t *testing.T) {
	s, _, backup := backupOf(t, 5)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(61, 62))
	dir := filepath.Join(t.TempDir(), "restored")
	for range 300 {
		damaged, what := bytes.Clone(backup), "cut"
		if random.IntN(2) == 0 {
			damaged = damaged[:random.IntN(len(damaged))]
		} else {
			what = "flipped"
			damaged[random.IntN(len(damaged))] ^= 1 << random.IntN(8)
		}
		err := Restore(context.Background(), bytes.NewReader(damaged), dir, nil)
		if err == nil && what == "flipped" {
			// Some bits of the compressed form mean nothing. What came out has
			// been compared with the manifest.
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if code := braid.CodeOf(err); code != braid.Corrupt && code != braid.Conflict {
			t.Fatalf("%s: error %v, want %s", what, err, braid.Corrupt)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%s: the folder was left: %v", what, err)
		}
	}
}

// TestForeignArchive offers archives that would write elsewhere or hold what no
// data folder has.
func TestForeignArchive(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	for name, header := range map[string]tar.Header{
		"above":     {Name: "../outside", Typeflag: tar.TypeReg},
		"below":     {Name: "records/../../outside", Typeflag: tar.TypeReg},
		"absolute":  {Name: outside, Typeflag: tar.TypeReg},
		"link":      {Name: "records/x", Typeflag: tar.TypeSymlink, Linkname: outside},
		"elsewhere": {Name: "indexes/x", Typeflag: tar.TypeReg},
		"nothing":   {Name: "records/", Typeflag: tar.TypeDir},
	} {
		var b bytes.Buffer
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		archive := tar.NewWriter(z)
		if err := errors.Join(archive.WriteHeader(&header), archive.Close(), z.Close()); err != nil {
			t.Fatal(err)
		}
		err = Restore(context.Background(), &b, filepath.Join(t.TempDir(), "restored"), nil)
		if braid.CodeOf(err) != braid.Corrupt {
			t.Errorf("%s: error %v, want %s", name, err, braid.Corrupt)
		}
		if _, err := os.Stat(outside); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: it was written", name)
		}
	}
	for name, b := range map[string][]byte{"empty": nil, "text": []byte("not an archive")} {
		if err := Restore(context.Background(), bytes.NewReader(b), filepath.Join(t.TempDir(), "restored"), nil); braid.CodeOf(err) != braid.Corrupt {
			t.Errorf("%s: error %v, want %s", name, err, braid.Corrupt)
		}
	}
}

func TestBackupStopsWithContext(t *testing.T) {
	s, _, backup := backupOf(t, 5)
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Backup(ctx, &bytes.Buffer{}, nil); braid.CodeOf(err) != braid.Canceled {
		t.Errorf("backup: error %v, want %s", err, braid.Canceled)
	}
	dir := filepath.Join(t.TempDir(), "restored")
	if err := Restore(ctx, bytes.NewReader(backup), dir, nil); braid.CodeOf(err) != braid.Canceled {
		t.Errorf("restore: error %v, want %s", err, braid.Canceled)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was left: %v", err)
	}
}

// TestLaterBackup asserts that a backup of a later version is refused with both
// versions.
func TestLaterBackup(t *testing.T) {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(z)
	m := []byte(`{"format":9,"files":{}}`)
	err = archive.WriteHeader(&tar.Header{Name: manifestName, Typeflag: tar.TypeReg, Size: int64(len(m))})
	_, writeErr := archive.Write(m)
	if err := errors.Join(err, writeErr, archive.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	err = Restore(context.Background(), &b, filepath.Join(t.TempDir(), "restored"), nil)
	if braid.CodeOf(err) != braid.Conflict || !strings.Contains(err.Error(), "format 9, this version reads 1") {
		t.Errorf("error %v, want %s with the versions", err, braid.Conflict)
	}
}
