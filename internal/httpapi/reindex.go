package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/strictjson"
	"github.com/braid-search/braid/search"
)

// reindexLine is a line of the answer to a reindex request: how far it is, and at
// last what was done or why not.
type reindexLine struct {
	Progress *reindexProgress      `json:"progress,omitempty"`
	Result   *search.ReindexResult `json:"result,omitempty"`
	Error    *errorDetail          `json:"error,omitempty"`
}

type reindexProgress struct {
	Done  int `json:"done"`  // documents
	Total int `json:"total"` // when it began
}

// reindexPace is how often the answer says how far it is. A line each time keeps the
// connection from looking dead.
const reindexPace = time.Second

// postReindex moves a collection to the loaded models while the caller listens;
// when he leaves it stops. What goes wrong after the first line is told in the last.
func (s *Server) postReindex(c *gin.Context) {
	var settings search.Settings
	data, err := io.ReadAll(body(c, MaxSearchBody))
	if err == nil && len(data) > 0 {
		err = strictjson.Decode(data, &settings)
	}
	if err != nil {
		fail(c, err)
		return
	}
	// The server's limit on reading a request would end the work.
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Time{}) // a recorder of a test has none
	lines := &lineWriter{c: c}
	var last time.Time
	result, err := s.service(c).Reindex(c.Request.Context(), c.Param("name"), settings, func(done, total int) {
		if time.Since(last) >= reindexPace {
			last = time.Now()
			lines.write(reindexLine{Progress: &reindexProgress{done, total}})
		}
	})
	switch {
	case err == nil:
		lines.write(reindexLine{Result: &result})
	case lines.begun:
		_ = c.Error(err)
		detail := describeError(c, err)
		lines.write(reindexLine{Error: &detail})
	default:
		fail(c, err)
	}
}

// lineWriter sends JSON lines, the headers with the first.
type lineWriter struct {
	c     *gin.Context
	begun bool
}

func (w *lineWriter) write(line reindexLine) {
	if !w.begun {
		w.begun = true
		w.c.Header("Content-Type", "application/x-ndjson")
		w.c.Status(http.StatusOK)
	}
	e := json.NewEncoder(w.c.Writer)
	e.SetEscapeHTML(false)
	_ = e.Encode(line) // a caller who left ends the context
	w.c.Writer.Flush()
}

// Reindex moves a collection to the server's models. progress, which may be nil, is
// called now and then.
func (c *Client) Reindex(ctx context.Context, name string, settings search.Settings, progress func(done, total int)) (search.ReindexResult, error) {
	in, err := json.Marshal(settings)
	if err != nil {
		return search.ReindexResult{}, err
	}
	path := collectionPath(name) + "/reindex"
	resp, err := c.do(ctx, http.MethodPost, path, bytes.NewReader(in))
	if err != nil {
		return search.ReindexResult{}, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		var line reindexLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return search.ReindexResult{}, braid.Errorf(braid.Internal, "POST %s: a line is not the JSON expected: %w", path, err)
		}
		switch {
		case line.Error != nil:
			return search.ReindexResult{}, &braid.Error{Code: line.Error.Code, Message: line.Error.Message, Field: line.Error.Field}
		case line.Result != nil:
			return *line.Result, nil
		case line.Progress != nil && progress != nil:
			progress(line.Progress.Done, line.Progress.Total)
		}
	}
	err = errors.Join(lines.Err(), ctx.Err())
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return search.ReindexResult{}, braid.Errorf(braid.CodeOf(err), "POST %s: the answer ends early: %w: run it again to go on", path, err)
}
