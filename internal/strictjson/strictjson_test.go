package strictjson_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

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
		"unknown":        {`{"qeury":"x"}`, "qeury", "known are query, limit, tags, inner"},
		"unknown inside": {`{"inner":{"kk":1}}`, "inner.kk", "known are k"},
		"other case":     {`{"Query":"x"}`, "Query", "unknown field"},
		"twice":          {`{"query":"x","limit":1,"query":"y"}`, "query", "occurs twice"},
		"twice inside":   {`{"inner":{"k":1,"k":2}}`, "inner.k", "occurs twice"},
		"half character": {`{"query":"\ud83d"}`, "", "half a character"},
		"wrong half":     {`{"query":"\ude00\ud83d"}`, "", "half a character"},
		"halves apart":   {`{"query":"\ud83d \ude00"}`, "", "half a character"},
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

func TestWholeCharactersPass(t *testing.T) {
	for in, want := range map[string]string{`"\ud83d\ude00"`: "😀", `"\\ud83d"`: `\ud83d`, `"\u00e9\\\u0041"`: `é\A`} {
		var s sample
		if err := strictjson.Decode([]byte(`{"query":`+in+`}`), &s); err != nil || s.Query != want {
			t.Errorf("%s: got %q, %v", in, s.Query, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"query":"x"}`, `{"query":"\ud83d\ude00","inner":{"k":1}}`, `{"a":`, `{"query":"\u`, `[`, `{"query":"x","query":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s sample
		if err := strictjson.Decode(data, &s); err == nil && !utf8.ValidString(s.Query) {
			t.Fatalf("%q gave %q", data, s.Query)
		} else if err != nil && braid.CodeOf(err) != braid.InvalidArgument {
			t.Fatalf("%q: untyped %v", data, err)
		}
	})
}
