package httpapi

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
)

const (
	requestIDHeader   = "X-Request-Id"
	maxRequestIDBytes = 128
)

// observe gives the request an id, the caller's own if it is printable, and
// logs the request when it is done.
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

	status, level := c.Writer.Status(), slog.LevelInfo
	switch {
	case c.FullPath() == "/healthz" || c.FullPath() == "/readyz" && status == http.StatusOK:
		level = slog.LevelDebug
	case status >= 500:
		level = slog.LevelError
	}
	attrs := []slog.Attr{
		slog.String("request_id", id), slog.String("method", c.Request.Method), slog.String("path", c.Request.URL.Path),
		slog.Int("status", status), slog.Duration("took", time.Since(start)),
	}
	if err := c.Errors.Last(); err != nil {
		attrs = append(attrs, slog.String("code", string(braid.CodeOf(err.Err))), slog.String("err", err.Err.Error()))
	}
	s.opts.Log.LogAttrs(c.Request.Context(), level, "request", attrs...)
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
		if p == http.ErrAbortHandler {
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
