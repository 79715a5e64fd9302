package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/strictjson"
)

// Limits of one request to a model route.
const (
	MaxInputs    = 2048     // texts; also passages of a rerank
	MaxModelBody = 64 << 20 // bytes
	MaxInputText = 1 << 20  // bytes of one text

	// A request up to these sizes is one that somebody waits for and goes before
	// the lists of bulk work.
	interactiveInputs = 32
	interactiveBytes  = 32 << 10
)

// decodeOpen reads a body in a wire format of others: fields this server does
// not know are ignored, as its clients and the proxies before it add their own.
func decodeOpen(c *gin.Context, v any, limit int64, example string) error {
	data, err := read(c, limit, example)
	if err != nil {
		return err
	}
	return strictjson.DecodeOpen(data, v)
}

// texts is one text or a list of them, as the client likes.
type texts struct {
	list []string
	// fault says what is wrong with what was sent, after the name of the field,
	// which UnmarshalJSON does not know; check reports it.
	fault string
}

// UnmarshalJSON refuses token ids, which OpenAI's format allows and some clients
// send by default: they are of another model's vocabulary.
func (t *texts) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	var items []json.RawMessage
	switch {
	case bytes.Equal(data, []byte("null")):
		return nil
	case data[0] == '"':
		items = []json.RawMessage{data}
	case data[0] != '[':
		t.fault = " must be a string or an array of strings"
		return nil
	default:
		if err := json.Unmarshal(data, &items); err != nil {
			return err
		}
	}
	t.list = make([]string, len(items))
	for i, item := range items {
		switch c := item[0]; {
		case c == '"':
			if err := json.Unmarshal(item, &t.list[i]); err != nil {
				return err
			}
		case c == '[' || c >= '0' && c <= '9':
			t.fault = fmt.Sprintf("[%d] is made of token ids, which belong to another model's vocabulary: send text (LangChain's OpenAIEmbeddings: check_embedding_ctx_length=False)", i)
			return nil
		default:
			t.fault = fmt.Sprintf("[%d] is not a string", i)
			return nil
		}
	}
	return nil
}

// check bounds a list of texts; field is their name in the request.
func check(t texts, field string) error {
	list := t.list
	if t.fault != "" {
		return braid.Errorf(braid.InvalidArgument, "%s%s", field, t.fault).In(field)
	}
	if len(list) == 0 {
		return braid.Errorf(braid.InvalidArgument, "%s is empty: send a text or a list of texts", field).In(field)
	}
	if len(list) > MaxInputs {
		return braid.Errorf(braid.TooLarge, "%s has %d items, the limit is %d: send several requests", field, len(list), MaxInputs).In(field)
	}
	for i, text := range list {
		if len(text) > MaxInputText {
			return braid.Errorf(braid.TooLarge, "%s[%d] is %d bytes, the limit is %d", field, i, len(text), MaxInputText).In(field)
		}
		if text == "" {
			return braid.Errorf(braid.InvalidArgument, "%s[%d] is empty: a text without characters has no meaning to encode", field, i).In(field)
		}
	}
	return nil
}

// lane lets requests that somebody waits for go before lists.
func lane(list []string) inference.Lane {
	size := 0
	for _, text := range list {
		size += len(text)
	}
	if len(list) > interactiveInputs || size > interactiveBytes {
		return inference.LaneBulk
	}
	return inference.LaneQuery
}

// bounded is the context of a model call: somebody waits for an interactive one,
// and is told when the wait gets too long.
func (s *Server) bounded(c *gin.Context, in inference.Lane) (context.Context, context.CancelFunc) {
	if in == inference.LaneQuery {
		return context.WithTimeout(c.Request.Context(), s.opts.ModelTimeout)
	}
	return context.WithCancel(c.Request.Context())
}

// role reads the names that clients give to the two sides of a search; absent
// means the text as it is, which is how passages are encoded.
func role(name, field string) (inference.Role, error) {
	switch strings.ToLower(name) {
	case "", "passage", "document", "search_document":
		return inference.RolePassage, nil
	case "query", "search_query":
		return inference.RoleQuery, nil
	}
	return 0, braid.Errorf(braid.InvalidArgument, "%s %q is unknown: use query or passage (also search_query, search_document, document)", field, name).In(field)
}
