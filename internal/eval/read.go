package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/braid-search/braid"
)

// MaxLineBytes bounds one line of a dataset's files.
const MaxLineBytes = 10 << 20

// source is a file of a dataset as it is read.
type source struct {
	io.Reader
	path string
}

func (s source) fault(line int, format string, args ...any) *braid.Error {
	args = append([]any{s.path, line}, args...)
	return braid.Errorf(braid.InvalidArgument, "%s line %d: "+format, args...)
}

// lines yields the lines that are not blank, with their numbers from 1 and
// without line ends and byte order mark. A line is valid until the next one.
func (s source) lines(yield func(numbered, error) bool) {
	scanner := bufio.NewScanner(s)
	scanner.Buffer(nil, MaxLineBytes+len("\r\n"))
	n := 0
	for scanner.Scan() {
		n++
		line := scanner.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if !utf8.Valid(line) {
			yield(numbered{}, s.fault(n, "not valid UTF-8"))
			return
		}
		if !yield(numbered{n, line}, nil) {
			return
		}
	}
	switch err := scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		yield(numbered{}, braid.Errorf(braid.TooLarge, "%s line %d: longer than %d bytes", s.path, n+1, MaxLineBytes))
	case err != nil:
		yield(numbered{}, braid.Errorf(braid.Internal, "%s line %d: %w", s.path, n+1, err))
	}
}

type numbered struct {
	number int
	text   []byte
}

// record is a line of corpus.jsonl or queries.jsonl. BEIR writes _id, braid's
// own documents have id. Other keys, BEIR's metadata for one, are ignored.
type record struct {
	BEIR    string          `json:"_id"`
	ID      string          `json:"id"`
	Title   string          `json:"title"`
	Text    string          `json:"text"`
	Format  braid.Format    `json:"format"`
	Payload json.RawMessage `json:"payload"`
}

func (r record) document() (braid.Document, error) {
	doc := braid.Document{ID: r.ID, Title: r.Title, Text: r.Text, Format: r.Format, Payload: r.Payload}
	switch {
	case doc.ID == "":
		doc.ID = r.BEIR
	case r.BEIR != "" && r.BEIR != r.ID:
		return doc, braid.Errorf(braid.InvalidArgument, "_id %q and id %q differ", r.BEIR, r.ID)
	}
	if bytes.Equal(doc.Payload, []byte("null")) {
		doc.Payload = nil
	}
	return doc, braid.ValidateID(doc.ID)
}

// readDocuments yields the records of a JSONL file. After an error nothing
// follows.
func readDocuments(src source) iter.Seq2[braid.Document, error] {
	return func(yield func(braid.Document, error) bool) {
		firstLine := make(map[string]int) // by id
		for line, err := range src.lines {
			if err != nil {
				yield(braid.Document{}, err)
				return
			}
			var r record
			if err := json.Unmarshal(line.text, &r); err != nil {
				yield(braid.Document{}, src.fault(line.number, "%s", explain(err)))
				return
			}
			doc, err := r.document()
			if err != nil {
				yield(braid.Document{}, src.fault(line.number, "%w", err))
				return
			}
			if first, twice := firstLine[doc.ID]; twice {
				yield(braid.Document{}, src.fault(line.number, "id %q was on line %d already", doc.ID, first))
				return
			}
			firstLine[doc.ID] = line.number
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// explain puts a decoding error in terms of the file instead of Go's types.
func explain(err error) string {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return wrong.Field + " is a JSON " + wrong.Value + ", want a string"
	case errors.As(err, &wrong):
		return "a JSON " + wrong.Value + ", want an object"
	}
	return "malformed JSON: " + err.Error()
}

// readQrels reads judgments, query, document and grade separated by tabs. The
// first line is a header unless its grade is a number: a file without header
// must not lose its first judgment.
func readQrels(src source) (map[string]Judgments, error) {
	judged := make(map[string]Judgments)
	for line, err := range src.lines {
		if err != nil {
			return nil, err
		}
		columns := strings.Split(strings.TrimRight(string(line.text), "\r\n"), "\t")
		if len(columns) != 3 {
			return nil, src.fault(line.number, "%d columns, want query-id, corpus-id and score separated by tabs", len(columns))
		}
		query, doc := columns[0], columns[1]
		grade, err := strconv.Atoi(strings.TrimSpace(columns[2]))
		if err != nil {
			if line.number == 1 {
				continue
			}
			return nil, src.fault(line.number, "score %q is not a whole number", columns[2])
		}
		if query == "" || doc == "" {
			return nil, src.fault(line.number, "query-id or corpus-id is empty")
		}
		if before, twice := judged[query][doc]; twice && before != grade {
			return nil, src.fault(line.number, "query %q judges %q again, %d and before %d", query, doc, grade, before)
		}
		if judged[query] == nil {
			judged[query] = Judgments{}
		}
		judged[query][doc] = grade
	}
	if len(judged) == 0 {
		return nil, braid.Errorf(braid.InvalidArgument, "%s holds no judgments", src.path)
	}
	return judged, nil
}
