package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/braid-search/braid"
)

// DefaultURL is the public hub.
const DefaultURL = "https://huggingface.co"

// Options configures a Client. The zero value fetches public models from the
// public hub.
type Options struct {
	// URL of the hub or a mirror; "" is DefaultURL.
	URL string
	// Token is sent as a bearer token to URL's host; "" sends none.
	Token string
	// Offline makes every call that needs the hub fail at once.
	Offline bool
	// Transport makes the requests; nil is one of the client's own.
	Transport http.RoundTripper
	// Backoff is the wait before the first retry, doubled for each further one;
	// 0 is half a second.
	Backoff time.Duration
}

const (
	defaultBackoff = 500 * time.Millisecond
	longestBackoff = 10 * time.Second
	// longestRetryAfter is how long a hub may ask us to wait; who is asked for
	// more should come back later himself.
	longestRetryAfter = 2 * time.Minute
	maxAttempts       = 5 // in a row without a new byte
	maxRedirects      = 10
	maxListingBytes   = 32 << 20
	maxListedFiles    = 100_000
	stallTimeout      = time.Minute // without a byte
)

// Validate reports every option that is not usable. The token is in no message.
func (o Options) Validate() error {
	var faults []string
	if u, err := url.Parse(o.URL); o.URL != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.User != nil) {
		faults = append(faults, fmt.Sprintf("the hub's URL is %q, want http(s)://HOST[:PORT][/PATH]", o.URL))
	}
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		faults = append(faults, "the hub token holds a blank or a character that no token has: check how it was copied")
	}
	if o.Backoff < 0 {
		faults = append(faults, fmt.Sprintf("the hub's backoff is %s, want 0 (the default) or more", o.Backoff))
	}
	if len(faults) == 0 {
		return nil
	}
	return braid.Errorf(braid.InvalidArgument, "%s", strings.Join(faults, "; "))
}

// Client talks to one hub. It is safe for concurrent use, but two calls must
// not fetch into one folder at a time.
type Client struct {
	options  Options
	base     *url.URL
	http     *http.Client
	patience time.Duration // with a connection that sends nothing
}

// New returns a client; it connects to nothing yet.
func New(opts Options) (*Client, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if opts.URL == "" {
		opts.URL = DefaultURL
	}
	if opts.Backoff == 0 {
		opts.Backoff = defaultBackoff
	}
	if opts.Transport == nil {
		opts.Transport = http.DefaultTransport.(*http.Transport).Clone() // with its proxy settings, not its connections
	}
	base, err := url.Parse(strings.TrimRight(opts.URL, "/"))
	if err != nil {
		return nil, braid.Errorf(braid.InvalidArgument, "the hub's URL: %w", err)
	}
	return &Client{options: opts, base: base, patience: stallTimeout, http: &http.Client{
		Transport: opts.Transport,
		// Redirects are followed by hand: the headers of each hop matter, and
		// the library's own rule would send the token to sub-domains.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// URL is the hub's address, as given or the default.
func (c *Client) URL() string { return c.base.String() }

var (
	repoID   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,95}(/[A-Za-z0-9_][A-Za-z0-9._-]{0,95})?$`)
	revision = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/+-]{0,254}$`)
	commit   = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// ParseRef splits OWNER/NAME[@REVISION]; the revision is "main" if left out.
func ParseRef(ref string) (id, rev string, err error) {
	id, rev, given := strings.Cut(ref, "@")
	if !given {
		rev = "main"
	}
	if !repoID.MatchString(id) || strings.Contains(id, "..") {
		return "", "", braid.Errorf(braid.InvalidArgument, "%q names no model of a hub: want OWNER/NAME or OWNER/NAME@REVISION", ref)
	}
	if !revision.MatchString(rev) || strings.Contains(rev, "..") {
		return "", "", braid.Errorf(braid.InvalidArgument, "%q is no revision: want a branch, a tag or a commit", rev)
	}
	return id, rev, nil
}

// Snapshot is a model repository at one commit.
type Snapshot struct {
	ID     string // OWNER/NAME
	Commit string // 40 hexadecimal digits
	Files  []File
}

// File is one file of a snapshot.
type File struct {
	Path   string
	Size   int64  // bytes, or -1 if the listing does not say
	SHA256 string // of a large file, or ""
	Blob   string // git's hash of any other file, or ""
}

// Paths returns the paths of all files.
func (s *Snapshot) Paths() []string {
	paths := make([]string, len(s.Files))
	for i, f := range s.Files {
		paths[i] = f.Path
	}
	return paths
}

// find returns the file at path.
func (s *Snapshot) find(path string) (File, bool) {
	for _, f := range s.Files {
		if f.Path == path {
			return f, true
		}
	}
	return File{}, false
}

// listing is the hub's answer about a revision; fields not read are left out.
type listing struct {
	SHA      string `json:"sha"`
	Siblings []struct {
		Path string `json:"rfilename"`
		Size *int64 `json:"size"`
		Blob string `json:"blobId"`
		LFS  *struct {
			SHA256 string `json:"sha256"`
			Size   int64  `json:"size"`
		} `json:"lfs"`
	} `json:"siblings"`
}

// Resolve looks up the commit that rev of a model is at, and its files. Errors:
// braid.NotFound (no such model or revision, or a private one),
// braid.Unavailable (offline, unreachable, access not granted),
// braid.Overloaded (the hub wants us to wait), braid.Corrupt (an answer that is
// not a hub's).
func (c *Client) Resolve(ctx context.Context, id, rev string) (*Snapshot, error) {
	u := c.base.JoinPath("api", "models", id, "revision", url.PathEscape(rev))
	u.RawQuery = "blobs=true"
	subject := fmt.Sprintf("look up %s at %s on %s", id, rev, c.base.Host)
	var data []byte
	err := c.retry(ctx, subject, func(ctx context.Context) (bool, error) {
		ctx, dog := c.watch(ctx)
		defer dog.stop()
		resp, _, err := c.get(ctx, u, nil)
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return false, c.refusal(resp, id)
		}
		data, err = io.ReadAll(io.LimitReader(dog.body(ctx, resp.Body), maxListingBytes+1))
		return false, err
	})
	if err != nil {
		return nil, err
	}
	return parseListing(id, rev, data)
}

func parseListing(id, rev string, data []byte) (*Snapshot, error) {
	broken := func(what string, args ...any) error {
		return braid.Errorf(braid.Corrupt, "the hub's answer about %s: %s: check the hub's URL", id, fmt.Sprintf(what, args...))
	}
	if len(data) > maxListingBytes {
		return nil, broken("more than %d bytes", maxListingBytes)
	}
	var l listing
	if err := json.Unmarshal(data, &l); err != nil {
		return nil, broken("%s", err)
	}
	if !commit.MatchString(l.SHA) {
		return nil, broken("commit %.60q, want 40 hexadecimal digits", l.SHA)
	}
	if commit.MatchString(rev) && rev != l.SHA {
		return nil, broken("commit %s where %s was asked for", l.SHA, rev)
	}
	if len(l.Siblings) > maxListedFiles {
		return nil, broken("%d files, the limit is %d", len(l.Siblings), maxListedFiles)
	}
	s := &Snapshot{ID: id, Commit: l.SHA}
	for _, sibling := range l.Siblings {
		if !localPath(sibling.Path) {
			continue // nothing that may be written to disk
		}
		f := File{Path: sibling.Path, Size: -1, Blob: sibling.Blob}
		if sibling.Size != nil && *sibling.Size >= 0 {
			f.Size = *sibling.Size
		}
		if sibling.LFS != nil {
			f.SHA256, f.Blob = sibling.LFS.SHA256, "" // the blob is the pointer's
		}
		s.Files = append(s.Files, f)
	}
	return s, nil
}
