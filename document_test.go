package braid_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/braid-search/braid"
)

func TestDocumentValidate(t *testing.T) {
	ok := braid.Document{ID: "a", Text: "valve"}
	for name, tc := range map[string]struct {
		edit  func(*braid.Document)
		code  braid.Code
		field string
	}{
		"plain":               {func(*braid.Document) {}, "", ""},
		"title only":          {func(d *braid.Document) { d.Text, d.Title = "", "valve" }, "", ""},
		"slash and space":     {func(d *braid.Document) { d.ID = "docs/a b.md" }, "", ""},
		"payload":             {func(d *braid.Document) { d.Payload = json.RawMessage(` {"n":1} `) }, "", ""},
		"no id":               {func(d *braid.Document) { d.ID = "" }, braid.InvalidArgument, "id"},
		"id of 2 KB":          {func(d *braid.Document) { d.ID = strings.Repeat("x", 2048) }, braid.TooLarge, "id"},
		"id of dots":          {func(d *braid.Document) { d.ID = ".." }, braid.InvalidArgument, "id"},
		"id with C1 control":  {func(d *braid.Document) { d.ID = "a\u009b" }, braid.InvalidArgument, "id"},
		"id with newline":     {func(d *braid.Document) { d.ID = "a\nb" }, braid.InvalidArgument, "id"},
		"id not UTF-8":        {func(d *braid.Document) { d.ID = "a\xff" }, braid.InvalidArgument, "id"},
		"no text":             {func(d *braid.Document) { d.Text = "" }, braid.InvalidArgument, "text"},
		"blank text":          {func(d *braid.Document) { d.Text = " \n\t" }, braid.InvalidArgument, "text"},
		"text not UTF-8":      {func(d *braid.Document) { d.Text = "caf\xe9" }, braid.InvalidArgument, "text"},
		"title not UTF-8":     {func(d *braid.Document) { d.Title = "caf\xe9" }, braid.InvalidArgument, "title"},
		"text over the limit": {func(d *braid.Document) { d.Text = strings.Repeat("x", braid.MaxTextBytes+1) }, braid.TooLarge, "text"},
		"long title":          {func(d *braid.Document) { d.Title = strings.Repeat("x", braid.MaxTitleBytes+1) }, braid.TooLarge, "title"},
		"payload array":       {func(d *braid.Document) { d.Payload = json.RawMessage(`[1]`) }, braid.InvalidArgument, "payload"},
		"payload broken":      {func(d *braid.Document) { d.Payload = json.RawMessage(`{"n":`) }, braid.InvalidArgument, "payload"},
		"payload empty":       {func(d *braid.Document) { d.Payload = json.RawMessage{} }, braid.InvalidArgument, "payload"},
		"payload too large": {func(d *braid.Document) {
			d.Payload = json.RawMessage(`{"n":"` + strings.Repeat("x", braid.MaxPayloadBytes) + `"}`)
		}, braid.TooLarge, "payload"},
	} {
		t.Run(name, func(t *testing.T) {
			d := ok
			tc.edit(&d)
			err := d.Validate()
			var e *braid.Error
			if errors.As(err, &e) != (tc.code != "") {
				t.Fatalf("Validate() = %v", err)
			}
			if e != nil && (e.Code != tc.code || e.Field != tc.field) {
				t.Errorf("Validate() = %s in %q (%s), want %s in %q", e.Code, e.Field, e, tc.code, tc.field)
			}
		})
	}
}

func TestPassage(t *testing.T) {
	for _, tc := range []struct{ title, text, want string }{
		{"t", "x", "t x"}, {"", "x", "x"}, {"t", "", "t"},
	} {
		if got := (braid.Document{Title: tc.title, Text: tc.text}).Passage(); got != tc.want {
			t.Errorf("Passage(%q, %q) = %q, want %q", tc.title, tc.text, got, tc.want)
		}
	}
}

func TestVectorsAreChecked(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, v := range map[string]braid.SparseVector{
		"lengths differ": {Indices: []uint32{1}},
		"not ascending":  {Indices: []uint32{2, 1}, Values: []float32{1, 1}},
		"repeated":       {Indices: []uint32{2, 2}, Values: []float32{1, 1}},
		"zero":           {Indices: []uint32{1}, Values: []float32{0}},
		"negative":       {Indices: []uint32{1}, Values: []float32{-1}},
		"NaN":            {Indices: []uint32{1}, Values: []float32{nan}},
		"infinite":       {Indices: []uint32{1}, Values: []float32{inf}},
	} {
		if err := v.Validate(); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("%s: Validate() = %v", name, err)
		}
	}
	if err := (braid.SparseVector{Indices: []uint32{1, 5}, Values: []float32{.5, 2}}).Validate(); err != nil {
		t.Error(err)
	}
	if err := (braid.SparseVector{}).Validate(); err != nil {
		t.Error(err)
	}
	for name, v := range map[string][]float32{"short": {1}, "NaN": {nan, 1}, "infinite": {1, inf}, "zero": {0, 0}} {
		if err := braid.ValidateDense(v, 2); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("%s: ValidateDense() = %v", name, err)
		}
	}
	if err := braid.ValidateDense([]float32{1, 0}, 2); err != nil {
		t.Error(err)
	}
}
