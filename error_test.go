package braid_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/braid-search/braid"
)

func TestCodeOf(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want braid.Code
	}{
		{braid.Errorf(braid.NotFound, "no such thing"), braid.NotFound},
		{fmt.Errorf("open: %w", braid.Errorf(braid.Conflict, "in use")), braid.Conflict},
		{fmt.Errorf("wait: %w", context.Canceled), braid.Canceled},
		{context.DeadlineExceeded, braid.DeadlineExceeded},
		{io.EOF, braid.Internal},
		{braid.Errorf(braid.Overloaded, "full: %w", context.Canceled), braid.Overloaded},
	} {
		if got := braid.CodeOf(tc.err); got != tc.want {
			t.Errorf("CodeOf(%v) = %s, want %s", tc.err, got, tc.want)
		}
	}
}

func TestErrorfKeepsTheCause(t *testing.T) {
	err := braid.Errorf(braid.Corrupt, "read %q: %w", "x", io.ErrUnexpectedEOF).In("file")
	if !errors.Is(err, io.ErrUnexpectedEOF) || err.Field != "file" {
		t.Errorf("got %#v", err)
	}
	if want := `read "x": unexpected EOF`; err.Error() != want {
		t.Errorf("message %q, want %q", err, want)
	}
}

func TestPublicHidesOnlyInternalText(t *testing.T) {
	secret := fmt.Errorf("dial /var/secret: %w", io.EOF)
	if got := braid.Public(secret); got.Code != braid.Internal || strings.Contains(got.Message, "secret") {
		t.Errorf("Public(internal) = %+v", got)
	}
	wrapped := fmt.Errorf("encode dense: %w", braid.Errorf(braid.InvalidArgument, "text is empty").In("text"))
	if got := braid.Public(wrapped); got.Code != braid.InvalidArgument || got.Message != "encode dense: text is empty" || got.Field != "text" {
		t.Errorf("Public(wrapped) = %+v", got)
	}
	for _, err := range []error{context.Canceled, context.DeadlineExceeded} {
		if got := braid.Public(err); strings.Contains(got.Message, "context") {
			t.Errorf("Public(%v) = %q", err, got.Message)
		}
	}
}
