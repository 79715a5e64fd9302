package store

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/braid-search/braid"
)

// wrap puts what was done, with its subject, before err and gives the whole the
// code that err calls for.
func wrap(err error, format string, args ...any) *braid.Error {
	code, what := braid.CodeOf(err), fmt.Sprintf(format, args...)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
	case noSpace(err):
		return braid.Errorf(braid.StorageFull, "%s: %w: free some space on its disk", what, err)
	case pebble.IsCorruptionError(err), code == braid.Corrupt:
		return braid.Errorf(braid.Corrupt, "%s: %w: restore it from a backup, or index again into a new folder", what, err)
	}
	return braid.Errorf(code, "%s: %w", what, err)
}

// openError says why the database does not open: what is neither the system's
// refusal nor a full disk is damage, whether pebble calls it that or not.
func openError(err error) error {
	var refusal syscall.Errno
	if errors.As(err, &refusal) && refusal != syscall.ENOENT {
		return err
	}
	return braid.Errorf(braid.Corrupt, "%w", err)
}

func noSpace(err error) bool {
	return vfs.IsNoSpaceError(err) || errors.Is(err, syscall.EDQUOT)
}
