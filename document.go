package braid

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits on a document. They bound what one record costs in memory and on disk
// and keep every id printable in a log line.
const (
	MaxIDBytes      = 512
	MaxTitleBytes   = 8 << 10
	MaxTextBytes    = 1 << 20
	MaxPayloadBytes = 64 << 10
)

// Document is what a caller stores and gets back, identified by ID within its
// collection. Storing a document under an ID that exists replaces it.
type Document struct {
	// ID is chosen by the caller: 1 to MaxIDBytes bytes of valid UTF-8 with no
	// control characters, and neither "." nor "..".
	ID string `json:"id"`
	// Title is optional; it is searched together with Text.
	Title string `json:"title,omitempty"`
	// Text is what is searched. A document has a title or a text, or both.
	Text string `json:"text"`
	// Format says how Text is to be read; "" is FormatText.
	Format Format `json:"format,omitempty"`
	// Payload is a JSON object returned with every hit as it was sent, keys in
	// order and numbers with all their digits, but for white space; nil means none.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// Format is how a document's text is written.
type Format string

const (
	FormatText     Format = "text"     // plain
	FormatMarkdown Format = "markdown" // CommonMark
	FormatHTML     Format = "html"
)

// Passage is the text of the document as the models and the lexical index see
// it: title and text with one space between.
func (d Document) Passage() string {
	switch {
	case d.Title == "":
		return d.Text
	case d.Text == "":
		return d.Title
	}
	return d.Title + " " + d.Text
}

// Validate reports the first rule the document breaks as an *Error whose Field
// names the part at fault.
func (d Document) Validate() error {
	if err := ValidateID(d.ID); err != nil {
		return err
	}
	for _, part := range []struct {
		field, value string
		limit        int
	}{{"title", d.Title, MaxTitleBytes}, {"text", d.Text, MaxTextBytes}} {
		if len(part.value) > part.limit {
			return Errorf(TooLarge, "document %q: %s is %d bytes, the limit is %d: split the document", d.ID, part.field, len(part.value), part.limit).In(part.field)
		}
		if !utf8.ValidString(part.value) {
			return Errorf(InvalidArgument, "document %q: %s is not valid UTF-8", d.ID, part.field).In(part.field)
		}
	}
	if strings.TrimSpace(d.Title) == "" && strings.TrimSpace(d.Text) == "" {
		return Errorf(InvalidArgument, "document %q: text is empty: a document needs a title or a text", d.ID).In("text")
	}
	switch d.Format {
	case "", FormatText, FormatMarkdown, FormatHTML:
	default:
		return Errorf(InvalidArgument, "document %q: format %.40q is not known: use %q, %q or %q", d.ID, d.Format, FormatText, FormatMarkdown, FormatHTML).In("format")
	}
	if d.Payload != nil {
		if len(d.Payload) > MaxPayloadBytes {
			return Errorf(TooLarge, "document %q: payload is %d bytes, the limit is %d", d.ID, len(d.Payload), MaxPayloadBytes).In("payload")
		}
		if p := bytes.TrimSpace(d.Payload); len(p) == 0 || p[0] != '{' || !json.Valid(p) || !utf8.Valid(p) {
			return Errorf(InvalidArgument, "document %q: payload must be a JSON object", d.ID).In("payload")
		}
	}
	return nil
}

// ValidateID reports why id cannot identify a document, or nil.
func ValidateID(id string) error {
	switch {
	case id == "":
		return Errorf(InvalidArgument, "document id is empty").In("id")
	case len(id) > MaxIDBytes:
		return Errorf(TooLarge, "document id is %d bytes, the limit is %d", len(id), MaxIDBytes).In("id")
	case id == "." || id == "..":
		return Errorf(InvalidArgument, "document id %q is a path segment that clients and proxies resolve: choose another", id).In("id")
	case !utf8.ValidString(id):
		return Errorf(InvalidArgument, "document id %s is not valid UTF-8", strconv.QuoteToASCII(id)).In("id")
	}
	for _, r := range id {
		if unicode.IsControl(r) {
			return Errorf(InvalidArgument, "document id %q holds a control character", id).In("id")
		}
	}
	return nil
}
