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
// a braid.TooLarge.
func body(c *gin.Context, limit int64) io.Reader {
	return &boundedBody{r: http.MaxBytesReader(c.Writer, c.Request.Body, limit), limit: limit}
}

type boundedBody struct {
	r     io.Reader
	limit int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		err = braid.Errorf(braid.TooLarge, "the request body is over %d bytes: send it in parts", b.limit)
	case err != nil && !errors.Is(err, io.EOF):
		err = braid.Errorf(braid.InvalidArgument, "the request body could not be read to its end: %w", err)
	}
	return n, err
}

// decode reads the request's JSON body into v, strictly. example is shown to a
// caller who sent nothing.
func decode(c *gin.Context, v any, example string) error {
	data, err := io.ReadAll(body(c, MaxSearchBody))
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return braid.Errorf(braid.InvalidArgument, "the request has no body: send JSON, for example %s", example)
	}
	return strictjson.Decode(data, v)
}
