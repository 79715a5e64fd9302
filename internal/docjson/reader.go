package docjson

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/strictjson"
)

// MaxDocumentBytes bounds the JSON of one document: the largest text with half
// of it escaped, its payload and title. A longer line is refused unread, a longer
// element of an array as soon as it was read.
const MaxDocumentBytes = 16 << 20

// jsonSpace is what may stand around a JSON value.
const jsonSpace = " \t\r\n"

// Reader reads documents one after the other. It is not safe for concurrent use.
type Reader struct {
	in    *bufio.Reader
	array *json.Decoder  // set when the input is an array
	seen  map[string]int // id → count at its first use
	count int            // documents read, or lines in NDJSON
	begun bool
}

// NewReader returns a Reader of r, which stays the caller's to close.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10), seen: map[string]int{}}
}

// wire is a document as it is sent. BEIR's "_id" and "metadata" are accepted for
// "id" and "payload".
type wire struct {
	ID       string          `json:"id"`
	BEIR     string          `json:"_id"`
	Title    string          `json:"title"`
	Text     string          `json:"text"`
	Format   braid.Format    `json:"format"`
	Payload  json.RawMessage `json:"payload"`
	Metadata json.RawMessage `json:"metadata"`
}

// document puts the two spellings together.
func (w wire) document() (braid.Document, error) {
	d := braid.Document{ID: w.ID, Title: w.Title, Text: w.Text, Format: w.Format, Payload: given(w.Payload)}
	switch {
	case w.ID != "" && w.BEIR != "":
		return d, braid.Errorf(braid.InvalidArgument, `the document has both "id" and "_id": send one`).In("id")
	case w.BEIR != "":
		d.ID = w.BEIR
	}
	switch metadata := given(w.Metadata); {
	case metadata == nil:
	case d.Payload != nil:
		return d, braid.Errorf(braid.InvalidArgument, `the document has both "payload" and "metadata": send one`).In("payload")
	default:
		d.Payload = metadata
	}
	return d, d.Validate()
}

// given is nil for a value that is absent or null.
func given(raw json.RawMessage) json.RawMessage {
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	return raw
}

// Next returns the next document, io.EOF after the last one, or what is wrong
// with it. After an error other than io.EOF the Reader is of no more use.
func (r *Reader) Next() (braid.Document, error) {
	if !r.begun {
		r.begun = true
		if err := r.begin(); err != nil {
			return braid.Document{}, err
		}
	}
	raw, err := r.raw()
	if err != nil {
		return braid.Document{}, err
	}
	var w wire
	if err := strictjson.Decode(raw, &w); err != nil {
		return braid.Document{}, r.at(err)
	}
	d, err := w.document()
	if err != nil {
		return braid.Document{}, r.at(err)
	}
	if first, dup := r.seen[d.ID]; dup {
		return braid.Document{}, r.at(braid.Errorf(braid.InvalidArgument, "document id %q was used before, at %s: send each id once", d.ID, r.place(first)).In("id"))
	}
	r.seen[d.ID] = r.count
	return d, nil
}

// begin looks at the first byte to tell an array from lines.
func (r *Reader) begin() error {
	for {
		b, err := r.in.Peek(1)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return io.EOF
			}
			return r.readError(err)
		}
		switch b[0] {
		case '\n':
			r.count++ // an empty first line still counts as one
			fallthrough
		case ' ', '\t', '\r':
			_, _ = r.in.Discard(1) // cannot fail: the byte was peeked
			continue
		case '[':
			r.count = 0
			r.array = json.NewDecoder(r.in)
			if _, err := r.array.Token(); err != nil {
				return r.readError(err)
			}
			return nil
		}
		if bom, _ := r.in.Peek(3); bytes.Equal(bom, []byte("\ufeff")) {
			_, _ = r.in.Discard(3)
			continue
		}
		return nil
	}
}

// raw returns the JSON of the next document.
func (r *Reader) raw() ([]byte, error) {
	if r.array != nil {
		return r.element()
	}
	for {
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.Trim(line, jsonSpace); len(line) > 0 {
			return line, nil
		}
	}
}

func (r *Reader) element() ([]byte, error) {
	if !r.array.More() {
		if _, err := r.array.Token(); err != nil {
			return nil, r.readError(err)
		}
		if _, err := r.array.Token(); !errors.Is(err, io.EOF) {
			return nil, braid.Errorf(braid.InvalidArgument, "more data follows the array at byte %d: send one array", r.array.InputOffset())
		}
		return nil, io.EOF
	}
	var raw json.RawMessage
	r.count++
	if err := r.array.Decode(&raw); err != nil {
		return nil, r.readError(err)
	}
	if len(raw) > MaxDocumentBytes {
		return nil, r.at(tooLong())
	}
	return raw, nil
}

// line returns the next line without its end, or io.EOF when there is none.
func (r *Reader) line() ([]byte, error) {
	var line []byte
	r.count++
	for {
		part, err := r.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxDocumentBytes:
			return nil, r.at(tooLong())
		case err == nil:
			return line, nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, r.readError(err)
		}
	}
}

func tooLong() *braid.Error {
	return braid.Errorf(braid.TooLarge, "the document's JSON is over %d bytes, and its text may have %d: split the document", MaxDocumentBytes, braid.MaxTextBytes)
}

func (r *Reader) place(count int) string {
	if r.array != nil {
		return fmt.Sprintf("documents[%d]", count-1)
	}
	return fmt.Sprintf("line %d", count)
}

// at puts the place of the current document in front of err.
func (r *Reader) at(err error) error {
	var e *braid.Error
	if !errors.As(err, &e) {
		return err
	}
	placed := braid.Errorf(e.Code, "%s: %w", r.place(r.count), err)
	placed.Field = e.Field
	return placed
}

// readError is for input that ends or breaks off: a typed error of the reader
// underneath (a body over its limit) is passed on as it is.
func (r *Reader) readError(err error) error {
	var e *braid.Error
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &e):
		return err
	case errors.As(err, &syntax):
		return r.at(braid.Errorf(braid.InvalidArgument, "malformed JSON at byte %d of the array: %s", syntax.Offset, syntax))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return r.at(braid.Errorf(braid.InvalidArgument, "the input ends in the middle of the array"))
	}
	return fmt.Errorf("read documents: %w", err)
}
