package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/braid-search/braid"
)

// Progress says how far a call of Fetch is.
type Progress struct {
	File  string // being fetched
	Done  int64  // bytes of all files, those of earlier calls included
	Total int64  // bytes of all files, as far as the listing says
}

// Fetch brings the files at paths into dir, under the same paths, and checks
// them. Files that are there and right are left alone; one that was interrupted
// goes on where it stopped. progress, if not nil, is called from this goroutine
// for every piece. Errors are those of Resolve, braid.StorageFull, and
// braid.Corrupt for a file that is not what the hub says; after one, what was
// fetched is kept for the next call.
func (c *Client) Fetch(ctx context.Context, s *Snapshot, paths []string, dir string, progress func(Progress)) error {
	var files []File
	p := Progress{}
	for _, want := range paths {
		f, ok := s.find(want)
		if !ok || !localPath(want) {
			return braid.Errorf(braid.NotFound, "the model %s has no file %q at commit %s", s.ID, want, s.Commit)
		}
		files = append(files, f)
		p.Total += max(f.Size, 0)
	}
	for _, f := range files {
		d := &download{client: c, snapshot: s, file: f, target: filepath.Join(dir, filepath.FromSlash(f.Path)), moved: func(n int64) {
			p.File = f.Path
			p.Done += n
			if progress != nil {
				progress(p)
			}
		}}
		if err := d.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// download is one file on its way.
type download struct {
	client   *Client
	snapshot *Snapshot
	file     File // as far as the listing says; the headers add to it
	target   string
	moved    func(int64) // bytes that are there; negative when they are given up

	counted int64 // bytes reported so far
	mended  bool  // whether it was started over once
}

// part is where the bytes go until they are all there, and etag what the
// serving host calls them.
func (d *download) part() string { return d.target + ".part" }
func (d *download) etag() string { return d.target + ".part.etag" }

func (d *download) run(ctx context.Context) error {
	if d.check(d.target) == nil {
		d.count(d.file.Size)
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(d.target), 0o755); err != nil {
		return braid.Errorf(braid.Internal, "fetch %s: %w", d.file.Path, err)
	}
	subject := fmt.Sprintf("fetch %s of %s", d.file.Path, d.snapshot.ID)
	err := d.client.retry(ctx, subject, func(ctx context.Context) (bool, error) {
		before := fileSize(d.part())
		err := d.attempt(ctx)
		return fileSize(d.part()) > before, err
	})
	if err != nil {
		return err
	}
	if err := os.Rename(d.part(), d.target); err != nil {
		return braid.Errorf(braid.Internal, "%s: %w", subject, err)
	}
	_ = os.Remove(d.etag()) // of no more use, and in no one's way
	return nil
}

// count reports how many bytes of the file are there.
func (d *download) count(n int64) {
	if n != d.counted {
		d.moved(n - d.counted)
		d.counted = n
	}
}

// attempt makes one request for what is missing and checks the whole. nil means
// that the part is the file.
func (d *download) attempt(ctx context.Context) error {
	offset := fileSize(d.part())
	if d.file.Size >= 0 && offset > d.file.Size {
		offset = 0
	}
	if offset > 0 && offset == d.file.Size && d.file.SHA256+d.file.Blob != "" {
		d.count(offset)
		return d.finish()
	}
	ctx, dog := d.client.watch(ctx)
	defer dog.stop()
	header := http.Header{}
	if offset > 0 {
		header.Set("Range", "bytes="+strconv.FormatInt(offset, 10)+"-")
		// Without a tag the checksum shows whether the halves fit.
		if tag, err := os.ReadFile(d.etag()); err == nil && len(tag) > 0 {
			header.Set("If-Range", string(tag))
		}
	}
	resp, said, err := d.client.get(ctx, d.url(), header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := d.learn(said); err != nil {
		return err
	}
	switch {
	case resp.StatusCode == http.StatusPartialContent && rangeStart(resp.Header) == offset:
	case resp.StatusCode == http.StatusOK:
		offset = 0
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable, resp.StatusCode == http.StatusPartialContent:
		return errors.Join(fmt.Errorf("the server does not go on at byte %d (%s)", offset, resp.Status), os.Truncate(d.part(), 0))
	default:
		return d.client.refusal(resp, d.snapshot.ID)
	}
	if err := os.WriteFile(d.etag(), []byte(strongTag(resp.Header.Get("ETag"))), 0o644); err != nil {
		return err
	}
	if err := d.receive(dog.body(ctx, resp.Body), offset, resp.ContentLength); err != nil {
		return err
	}
	return d.finish()
}

func (d *download) url() *url.URL {
	elements := []string{d.snapshot.ID, "resolve", d.snapshot.Commit}
	for _, name := range strings.Split(d.file.Path, "/") {
		elements = append(elements, url.PathEscape(name))
	}
	return d.client.base.JoinPath(elements...)
}

// learn adds what the hub's headers say to what its listing said.
func (d *download) learn(said linked) error {
	if said.commit != "" && said.commit != d.snapshot.Commit {
		return fatal{braid.Errorf(braid.Corrupt, "the hub serves commit %.40q where %s was asked for", said.commit, d.snapshot.Commit)}
	}
	if d.file.Size < 0 {
		d.file.Size = said.size
	}
	if d.file.SHA256 != "" || d.file.Blob != "" {
		return nil
	}
	switch tag := strings.Trim(strings.TrimPrefix(said.etag, "W/"), `"`); {
	case hexadecimal.MatchString(tag) && len(tag) == 2*sha256.Size:
		d.file.SHA256 = tag
	case hexadecimal.MatchString(tag) && len(tag) == 2*sha1.Size:
		d.file.Blob = tag
	default:
		return fatal{braid.Errorf(braid.Corrupt, "the hub states no checksum for it (etag %.80q): use a hub or mirror that does", said.etag)}
	}
	return nil
}

var hexadecimal = regexp.MustCompile(`^[0-9a-f]+$`)

// receive appends body to the part from offset on. length is what the response
// promises, or -1.
func (d *download) receive(body io.Reader, offset, length int64) error {
	file, err := os.OpenFile(d.part(), os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	err = d.copyFrom(file, body, offset, length)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

func (d *download) copyFrom(file *os.File, body io.Reader, offset, length int64) error {
	if err := file.Truncate(offset); err != nil {
		return err
	}
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	d.count(offset)
	at, buffer := offset, make([]byte, 256<<10)
	for {
		n, err := body.Read(buffer)
		if d.file.Size >= 0 && at+int64(n) > d.file.Size {
			return fatal{braid.Errorf(braid.Corrupt, "the server sends more than the %d bytes the hub states", d.file.Size)}
		}
		if _, err := file.Write(buffer[:n]); err != nil {
			return err
		}
		at += int64(n)
		d.count(at)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	switch {
	case length >= 0 && at-offset != length:
		return fmt.Errorf("the response ended after %d of %d bytes", at-offset, length)
	case d.file.Size >= 0 && at != d.file.Size:
		return fmt.Errorf("the response ended at byte %d of %d", at, d.file.Size)
	}
	d.file.Size = at
	return nil
}

// finish checks the part. A wrong one is thrown away, and fetched anew once: a
// file that was put together from two requests may just have been damaged here.
func (d *download) finish() error {
	fault := d.check(d.part())
	if fault == nil {
		return nil
	}
	d.count(0)
	_ = os.Remove(d.etag()) // may be missing
	if err := os.Remove(d.part()); err != nil {
		return err
	}
	if d.mended {
		return fatal{braid.Errorf(braid.Corrupt, "%w, twice: the hub or what lies between is at fault: try again later, or another hub URL", fault)}
	}
	d.mended = true
	return fault
}

// check compares a file on disk with what is known of it.
func (d *download) check(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if d.file.Size >= 0 && info.Size() != d.file.Size {
		return fmt.Errorf("it has %d bytes where the hub states %d", info.Size(), d.file.Size)
	}
	var sum hash.Hash
	want := d.file.SHA256
	switch {
	case want != "":
		sum = sha256.New()
	case d.file.Blob != "":
		want, sum = d.file.Blob, sha1.New()
		fmt.Fprintf(sum, "blob %d\x00", info.Size())
	default:
		return errors.New("no checksum is known")
	}
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if found := hex.EncodeToString(sum.Sum(nil)); found != want {
		return fmt.Errorf("its checksum is %s where the hub states %s", found, want)
	}
	d.file.Size = info.Size()
	return nil
}

// fileSize is 0 for a file that is not there.
func fileSize(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// strongTag returns a tag that If-Range may use, or "".
func strongTag(tag string) string {
	if strings.HasPrefix(tag, `"`) {
		return tag
	}
	return ""
}

// rangeStart reads the first byte's place from a Content-Range, or -1.
func rangeStart(h http.Header) int64 {
	text, ok := strings.CutPrefix(h.Get("Content-Range"), "bytes ")
	first, _, _ := strings.Cut(text, "-")
	start, err := strconv.ParseInt(first, 10, 64)
	if !ok || err != nil {
		return -1
	}
	return start
}

// localPath reports whether a path of the hub's may be written to disk.
func localPath(p string) bool {
	return p != "." && fs.ValidPath(p) && path.Clean(p) == p && filepath.IsLocal(p) && utf8.ValidString(p) &&
		!strings.ContainsAny(p, `\:`) && !strings.ContainsFunc(p, unicode.IsControl)
}
