package httpapi

import (
	"errors"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/strictjson"
)

// body returns the request's body bounded to limit bytes; reading past that is
// a braid.TooLarge. A body that says it is larger is thrown away as it comes: a
// client that is cut off while it sends would not read why.
func body(c *gin.Context, limit int64) io.Reader {
	if c.Request.ContentLength > limit {
		if budgeted, ok := c.Request.Body.(*budgetedBody); ok {
			_, _ = io.CopyN(io.Discard, budgeted.ReadCloser, limit) // as far as it goes
		}
		return failingBody{tooLong(limit)}
	}
	return &boundedBody{r: http.MaxBytesReader(c.Writer, c.Request.Body, limit), limit: limit}
}

type failingBody struct{ err error }

func (b failingBody) Read([]byte) (int, error) { return 0, b.err }

func tooLong(limit int64) error {
	return braid.Errorf(braid.TooLarge, "the request body is over %d bytes: send it in parts", limit)
}

type boundedBody struct {
	r     io.Reader
	limit int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	var over *http.MaxBytesError
	var typed *braid.Error
	switch {
	case errors.As(err, &typed):
	case errors.As(err, &over):
		err = tooLong(b.limit)
	case err != nil && !errors.Is(err, io.EOF):
		err = braid.Errorf(braid.InvalidArgument, "the request body could not be read to its end: %w", err)
	}
	return n, err
}

// read returns the whole body of at most limit bytes. example is shown to a
// caller who sent nothing.
func read(c *gin.Context, limit int64, example string) ([]byte, error) {
	data, err := io.ReadAll(body(c, limit))
	if err == nil && len(data) == 0 {
		err = braid.Errorf(braid.InvalidArgument, "the request has no body: send JSON, for example %s", example)
	}
	return data, err
}

// decode reads the request's JSON body into v, strictly.
func decode(c *gin.Context, v any, limit int64, example string) error {
	data, err := read(c, limit, example)
	if err != nil {
		return err
	}
	return strictjson.Decode(data, v)
}
