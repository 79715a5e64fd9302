package braid

import (
	"context"
	"errors"
	"fmt"
)

// Code says what kind of failure an Error is. The set is closed: Codes lists
// it, and the HTTP layer maps each one to exactly one status.
type Code string

const (
	InvalidArgument  Code = "invalid_argument"  // the request is malformed; the same request will always fail
	TooLarge         Code = "too_large"         // a part of the request is over a documented limit
	NotFound         Code = "not_found"         // the named collection, document or model does not exist
	Unauthenticated  Code = "unauthenticated"   // the request brings no API key, or one that is not known
	Forbidden        Code = "forbidden"         // the API key does not allow it
	Conflict         Code = "conflict"          // the state forbids it: name taken, folder in use, other models
	Overloaded       Code = "overloaded"        // a queue is full; the same request may pass later
	Unavailable      Code = "unavailable"       // not ready, closing, or a needed part is switched off
	DeadlineExceeded Code = "deadline_exceeded" // the time the request had is over
	Canceled         Code = "canceled"          // the caller went away
	StorageFull      Code = "storage_full"      // the disk refuses writes; reads go on
	Corrupt          Code = "corrupt"           // a file or an output is not what its checksum or contract says
	Internal         Code = "internal"          // a fault of this program
)

// Codes returns every code.
func Codes() []Code {
	return []Code{InvalidArgument, TooLarge, NotFound, Unauthenticated, Forbidden, Conflict, Overloaded, Unavailable, DeadlineExceeded, Canceled, StorageFull, Corrupt, Internal}
}

// Error is the error every package returns across its border. Message is for
// the caller: lower case, it names the subject, the cause and, where there is
// one, the fix.
type Error struct {
	Code    Code
	Message string
	Field   string // the request field at fault, or ""
	Err     error  // the cause, or nil; for logs
}

// Errorf makes an Error. A %w verb records the cause, whose text is then part
// of the message.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// In returns a copy of the error that names field as the one at fault.
func (e *Error) In(field string) *Error {
	c := *e
	c.Field = field
	return &c
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first *Error in err's chain. Context errors
// without one are DeadlineExceeded and Canceled, anything else is Internal.
func CodeOf(err error) Code {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.DeadlineExceeded):
		return DeadlineExceeded
	case errors.Is(err, context.Canceled):
		return Canceled
	}
	return Internal
}

// Public returns what a caller may see of err: the code, the whole text when
// the fault is the caller's or the state's, and only "internal error" for a
// fault of this program, whose text belongs into the log.
func Public(err error) *Error {
	public := &Error{Code: CodeOf(err), Message: err.Error()}
	var e *Error
	if errors.As(err, &e) {
		public.Field = e.Field
	}
	switch public.Code {
	case Internal:
		public.Message = "internal error"
	case DeadlineExceeded:
		if e == nil {
			public.Message = "the time allowed for the request is over"
		}
	case Canceled:
		if e == nil {
			public.Message = "the request was canceled"
		}
	}
	return public
}
