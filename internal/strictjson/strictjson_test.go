package strictjson_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/strictjson"
)

type sample struct {
	Query string   `json:"query"`
	Limit *int     `json:"limit"`
	Tags  []string `json:"tags"`
	Inner *struct {
		K float64 `json:"k"`
	} `json:"inner"`
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	for name, tc := range map[string]struct{ in, field, says string }{
		"empty":          {"", "", "empty"},
		"blank":          {" \n", "", "empty"},
		"unknown":        {`{"qeury":"x"}`, "qeury", "known are query, limit, tags, inner, inner.k"},
		"unknown inside": {`{"inner":{"kk":1}}`, "kk", "inner.k"},
		"wrong type":     {`{"limit":"ten"}`, "limit", "limit must be a whole number in range, got string"},
		"fraction":       {`{"limit":1.5}`, "limit", "whole number"},
		"huge number":    {`{"limit":1e99}`, "limit", "whole number"},
		"inner type":     {`{"inner":{"k":"x"}}`, "inner.k", "a number"},
		"array":          {`[1]`, "", "must be an object, got array"},
		"cut":            {`{"query":"x"`, "", "ends in the middle"},
		"syntax":         {`{"query":x}`, "", "byte 10"},
		"two values":     {`{"query":"x"} {}`, "", "more data follows"},
		"not UTF-8":      {"{\"query\":\"caf\xe9\"}", "", "byte 13"},
		"NaN":            {`{"inner":{"k":NaN}}`, "", "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			var s sample
			err := strictjson.Decode([]byte(tc.in), &s)
			var e *braid.Error
			if !errors.As(err, &e) || e.Code != braid.InvalidArgument {
				t.Fatalf("Decode(%q) = %v", tc.in, err)
			}
			if e.Field != tc.field || !strings.Contains(e.Message, tc.says) {
				t.Errorf("Decode(%q) = %q in field %q, want %q in %q", tc.in, e.Message, e.Field, tc.says, tc.field)
			}
		})
	}
}

func TestNullMeansAbsent(t *testing.T) {
	var s sample
	if err := strictjson.Decode([]byte(`{"query":"x","limit":null,"tags":null,"inner":null}`), &s); err != nil {
		t.Fatal(err)
	}
	if s.Query != "x" || s.Limit != nil || s.Tags != nil || s.Inner != nil {
		t.Errorf("got %+v", s)
	}
}

func TestDecodeOpenIgnoresOnlyUnknownFields(t *testing.T) {
	var s sample
	if err := strictjson.DecodeOpen([]byte(`{"query":"x","metadata":{"a":[1]},"proxy":null}`), &s); err != nil || s.Query != "x" {
		t.Errorf("got %+v, %v", s, err)
	}
	if err := strictjson.DecodeOpen([]byte(`{"query":7,"metadata":{}}`), &s); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("wrong type: %v", err)
	}
}
