package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/braid-search/braid"
)

// linked are the headers by which the hub describes a file that another host
// serves.
type linked struct {
	etag   string
	size   int64 // -1: not stated
	commit string
}

// get requests u and follows redirects. It returns the last response, whatever
// its status, and what the hub's own responses said on the way.
func (c *Client) get(ctx context.Context, u *url.URL, header http.Header) (*http.Response, linked, error) {
	said := linked{size: -1}
	if c.options.Offline {
		return nil, said, braid.Errorf(braid.Unavailable, "offline: leave out --offline, or add the model from a folder")
	}
	for range maxRedirects {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, said, err
		}
		for name, values := range header {
			req.Header[name] = values
		}
		req.Header.Set("Accept-Encoding", "identity") // sizes and ranges are those of the file
		req.Header.Set("User-Agent", "braid")
		own := c.own(u)
		if own && c.options.Token != "" {
			req.Header.Set("Authorization", "Bearer "+c.options.Token)
		}
		resp, err := c.http.Do(req)
		if err != nil {
			return nil, said, unreachable(ctx, u, err)
		}
		if own {
			said.read(resp.Header, resp.StatusCode)
		}
		location := resp.Header.Get("Location")
		if resp.StatusCode < 300 || resp.StatusCode > 399 || location == "" {
			return resp, said, nil
		}
		_ = resp.Body.Close() // a redirect's body says nothing
		next, err := u.Parse(location)
		if err != nil {
			return nil, said, fatal{braid.Errorf(braid.Corrupt, "the hub redirects to %q: %w", location, err)}
		}
		if u.Scheme == "https" && next.Scheme != "https" {
			return nil, said, fatal{braid.Errorf(braid.Corrupt, "the hub redirects from https to %s://%s: refused", next.Scheme, next.Host)}
		}
		u = next
	}
	return nil, said, fatal{braid.Errorf(braid.Corrupt, "the hub redirects more than %d times", maxRedirects)}
}

// unreachable names the host where the library's error has the whole address,
// whose query may be a signature.
func unreachable(ctx context.Context, u *url.URL, err error) error {
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return fmt.Errorf("reach %s: %w", u.Host, err)
}

// own reports whether u is on the hub itself, to which the token may go.
func (c *Client) own(u *url.URL) bool {
	return u.Scheme == c.base.Scheme && strings.EqualFold(u.Host, c.base.Host)
}

func (l *linked) read(h http.Header, status int) {
	if l.commit == "" {
		l.commit = h.Get("X-Repo-Commit")
	}
	if etag := h.Get("X-Linked-Etag"); etag != "" {
		l.etag = etag
	} else if etag := h.Get("ETag"); etag != "" && l.etag == "" && status < 300 {
		l.etag = etag
	}
	if size, err := strconv.ParseInt(h.Get("X-Linked-Size"), 10, 64); err == nil && size >= 0 {
		l.size = size
	}
}

// fatal marks an error that no retry can mend.
type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

// later is the hub's request to come back.
type later struct {
	status int
	wait   time.Duration // 0: not stated
}

func (l later) Error() string { return fmt.Sprintf("the hub answers %d", l.status) }

// refusal turns a response that is not a success into an error, and closes
// nothing.
func (c *Client) refusal(resp *http.Response, id string) error {
	page := c.base.JoinPath(id).String()
	reason := resp.Header.Get("X-Error-Code")
	authorised := "set HF_TOKEN or BRAID_HUB_TOKEN to a token that may read it"
	if c.options.Token != "" {
		authorised = "check that the token given may read it"
	}
	switch status := resp.StatusCode; {
	case status == http.StatusTooManyRequests || status >= 500:
		return later{status: status, wait: retryAfter(resp.Header.Get("Retry-After"))}
	case !c.own(resp.Request.URL):
		// A link that has run out, most likely: the hub gives a new one.
		return fmt.Errorf("%s answers %s", resp.Request.URL.Host, resp.Status)
	case reason == "GatedRepo" || status == http.StatusForbidden:
		return fatal{braid.Errorf(braid.Unavailable, "access to %s is not granted (%d): accept its terms at %s and %s", id, status, page, authorised)}
	case reason == "RevisionNotFound":
		return fatal{braid.Errorf(braid.NotFound, "the model %s has no such revision: see %s", id, page)}
	case reason == "EntryNotFound":
		return fatal{braid.Errorf(braid.NotFound, "the model %s has no such file at this revision", id)}
	case status == http.StatusUnauthorized:
		// The hub says so too when there is no such model, so as not to tell.
		return fatal{braid.Errorf(braid.NotFound, "there is no model %s, or it is private (401): check the name, or %s", id, authorised)}
	case status == http.StatusNotFound:
		return fatal{braid.Errorf(braid.NotFound, "there is no model %s at this revision (404): check the name and revision at %s", id, page)}
	default:
		return fatal{braid.Errorf(braid.Unavailable, "the hub answers %s: check its URL", resp.Status)}
	}
}

// retryAfter reads seconds or a date; 0 if there is neither.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 && seconds <= 1<<20 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// retry calls try until it succeeds, fails for good, or has failed maxAttempts
// times in a row without progress. subject begins every error.
func (c *Client) retry(ctx context.Context, subject string, try func(context.Context) (progress bool, err error)) error {
	wait := c.options.Backoff
	for failures := 1; ; failures++ {
		progress, err := try(ctx)
		if err == nil {
			return nil
		}
		if progress {
			failures, wait = 1, c.options.Backoff
		}
		if ctx.Err() != nil {
			return braid.Errorf(braid.CodeOf(ctx.Err()), "%s: stopped: %w", subject, ctx.Err())
		}
		pause := wait/2 + rand.N(wait/2+1) // spread, so that clients do not come back together
		wait = min(2*wait, longestBackoff)
		var busy later
		if errors.As(err, &busy) && busy.wait > 0 {
			pause = busy.wait
		}
		if final := failure(err, failures, pause); final != nil {
			return braid.Errorf(final.Code, "%s: %w", subject, final)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// failure returns what to report when another try would be no use, else nil.
func failure(err error, failures int, pause time.Duration) *braid.Error {
	var typed *braid.Error
	var busy later
	var disk *fs.PathError
	switch {
	case errors.As(err, &typed):
		return typed
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return braid.Errorf(braid.StorageFull, "%w: free some space and try again; what was fetched is kept", err)
	case errors.As(err, &disk):
		return braid.Errorf(braid.Internal, "%w", err)
	case errors.As(err, &busy) && pause > longestRetryAfter:
		return braid.Errorf(braid.Overloaded, "%w and asks to wait %s: try again then", err, pause.Round(time.Second))
	case failures < maxAttempts:
		return nil
	case errors.As(err, &busy) && busy.status == http.StatusTooManyRequests:
		return braid.Errorf(braid.Overloaded, "%w, %d times: try again later", err, failures)
	}
	return braid.Errorf(braid.Unavailable, "%w, after %d tries: check the network and the hub's URL, and try again: what was fetched is kept", err, failures)
}

// watchdog ends a request when no byte arrives for a while.
type watchdog struct {
	patience time.Duration
	timer    *time.Timer
	cancel   context.CancelCauseFunc
}

// watch returns a context for one request, and what guards it until stop.
func (c *Client) watch(ctx context.Context) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	stalled := func() { cancel(fmt.Errorf("no data for %s", c.patience)) }
	return ctx, &watchdog{patience: c.patience, timer: time.AfterFunc(c.patience, stalled), cancel: cancel}
}

func (w *watchdog) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// body reads from in, each byte putting the end off.
func (w *watchdog) body(ctx context.Context, in io.Reader) io.Reader {
	return readerFunc(func(b []byte) (int, error) {
		n, err := in.Read(b)
		if n > 0 {
			w.timer.Reset(w.patience)
		}
		if err != nil && context.Cause(ctx) != nil {
			err = context.Cause(ctx)
		}
		return n, err
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
