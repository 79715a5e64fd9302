package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
)

// getSnapshot streams a snapshot of the data folder. What goes wrong after the
// first byte can only be told by dropping the connection; a snapshot that ends
// early is not restored.
func (s *Server) getSnapshot(c *gin.Context) {
	if s.opts.Snapshot == nil {
		fail(c, braid.Errorf(braid.Unavailable, "this server has no data folder to make a snapshot of"))
		return
	}
	w := &lateHeader{c: c}
	err := s.opts.Snapshot(c.Request.Context(), w)
	switch {
	case err == nil:
	case w.begun:
		_ = c.Error(err)
		s.opts.Log.ErrorContext(c.Request.Context(), "snapshot ends early", "request_id", requestID(c), "error", err)
		panic(http.ErrAbortHandler)
	default:
		fail(c, err)
	}
}

// lateHeader sends the headers of a success with the first bytes of it.
type lateHeader struct {
	c     *gin.Context
	begun bool
}

func (w *lateHeader) Write(b []byte) (int, error) {
	if !w.begun {
		w.begun = true
		w.c.Header("Content-Type", "application/zstd")
		w.c.Header("Content-Disposition", `attachment; filename="braid.snapshot"`)
		w.c.Status(http.StatusOK)
	}
	return w.c.Writer.Write(b)
}
