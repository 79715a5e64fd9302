package httpapi

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
)

const (
	requestIDHeader   = "X-Request-Id"
	maxRequestIDBytes = 128
)

// observe gives the request an id, the caller's own if it is printable, and
// counts and logs the request when it is done.
func (s *Server) observe(c *gin.Context) {
	id := c.GetHeader(requestIDHeader)
	if !printable(id) {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		id = hex.EncodeToString(b[:])
	}
	c.Header(requestIDHeader, id)
	start := time.Now()
	c.Next()

	status, took := c.Writer.Status(), time.Since(start)
	s.opts.Metrics.Request(c.FullPath(), c.Request.Method, status, took)
	level := slog.LevelInfo
	switch {
	case status >= 500:
		level = slog.LevelError
	case polled(c.FullPath()):
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("request_id", id), slog.String("method", c.Request.Method), slog.String("route", c.FullPath()), slog.String("path", c.Request.URL.Path),
		slog.Int("status", status), slog.Float64("took_ms", milliseconds(took)),
	}
	if key, known := caller(c); known {
		attrs = append(attrs, slog.String("caller", key.Name))
	}
	if value, known := c.Get(spentKey); known {
		use := value.(spent)
		attrs = append(attrs, slog.Int("tokens", use.tokens))
		if use.queue > 0 {
			s.opts.Metrics.Queued(c.FullPath(), use.queue)
			attrs = append(attrs, slog.Float64("queue_ms", milliseconds(use.queue)))
		}
	}
	if err := c.Errors.Last(); err != nil {
		attrs = append(attrs, slog.String("code", string(braid.CodeOf(err.Err))), slog.String("err", chain(err.Err)))
	}
	s.opts.Log.LogAttrs(c.Request.Context(), level, "request", attrs...)
}

// polled reports whether machines ask the route all the time.
func polled(route string) bool {
	return route == "/healthz" || route == "/health" || route == "/readyz" || route == "/metrics"
}

// spentKey is where a handler leaves what its request cost, for the log.
const spentKey = "spent"

type spent struct {
	tokens int
	queue  time.Duration // 0 where it is not known
}

// chain is the text of err and of those of its causes that the text leaves out.
func chain(err error) string {
	text := err.Error()
	for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
		if more := cause.Error(); !strings.Contains(text, more) {
			text += ": " + more
		}
	}
	return text
}

func requestID(c *gin.Context) string { return c.Writer.Header().Get(requestIDHeader) }

func printable(id string) bool {
	if id == "" || len(id) > maxRequestIDBytes {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

// recover turns a panic of a handler into a 500 with the stack in the log. The
// server goes on.
func (s *Server) recover(c *gin.Context) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if err, is := p.(error); is && errors.Is(err, http.ErrAbortHandler) {
			panic(p) // net/http's own way of dropping a connection
		}
		err := braid.Errorf(braid.Internal, "panic: %v", p)
		s.opts.Log.ErrorContext(c.Request.Context(), "panic in handler", "request_id", requestID(c), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		if c.Writer.Written() {
			c.Abort()
			return
		}
		fail(c, err)
	}()
	c.Next()
}
