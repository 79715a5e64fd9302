package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/store"
	"github.com/braid-search/braid/internal/httpapi"
)

func newSnapshotCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Copy a data folder into a file, and back",
		Long: `Copy a data folder into a file, and back.

  braid snapshot create notes.snapshot                      of a folder nobody uses
  braid snapshot create notes.snapshot --server URL         of a running server
  braid snapshot restore notes.snapshot --data new-folder

A snapshot holds all collections as they were at one moment, documents and
vectors, but no models. It is compressed and checked: what was cut or changed is
not restored.`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSnapshotCreateCommand(), newSnapshotRestoreCommand())
	return cmd
}

func newSnapshotCreateCommand() *cobra.Command {
	var data, server, key string
	cmd := &cobra.Command{
		Use:   "create FILE",
		Short: "Write a snapshot to FILE, or - for standard output",
		Args:  exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			write := func(ctx context.Context, w io.Writer) error { return writeSnapshot(ctx, data, w, cmd.ErrOrStderr()) }
			if server != "" {
				write = func(ctx context.Context, w io.Writer) error { return fetchSnapshot(ctx, server, key, w) }
			}
			if args[0] == "-" {
				return write(cmd.Context(), cmd.OutOrStdout())
			}
			return writeWhole(args[0], func(w io.Writer) error { return write(cmd.Context(), w) })
		},
	}
	cmd.Flags().StringVar(&data, "data", "braid-data", "folder to copy; no process may use it")
	cmd.Flags().StringVar(&server, "server", "", "copy the data folder of the server at this address instead")
	registerKey(cmd.Flags(), &key)
	return cmd
}

func newSnapshotRestoreCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a data folder from FILE, or - for standard input",
		Args:  exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "-" {
				return restoreSnapshot(cmd.Context(), cmd.InOrStdin(), 0, data, cmd.ErrOrStderr())
			}
			f, err := os.Open(args[0])
			if err != nil {
				return braid.Errorf(braid.InvalidArgument, "open the snapshot: %w", err)
			}
			defer func() { _ = f.Close() }() // read only
			info, err := f.Stat()
			if err != nil {
				return braid.Errorf(braid.Internal, "open the snapshot: %w", err)
			}
			return restoreSnapshot(cmd.Context(), f, info.Size(), data, cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&data, "data", "braid-data", "folder to make; it must not exist or be empty")
	return cmd
}

// writeSnapshot writes one of a folder that no process uses.
func writeSnapshot(ctx context.Context, data string, w, stderr io.Writer) (err error) {
	// Opening would make the folder.
	if _, err := os.Stat(data); err != nil {
		return braid.Errorf(braid.NotFound, "data folder: %w", err)
	}
	folder, err := store.Open(data, store.Options{})
	if braid.CodeOf(err) == braid.Conflict {
		return fmt.Errorf("%w; a running server is reached with --server URL", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	bar := newByteProgress(stderr, "snapshot of "+data, 0)
	defer bar.finish()
	return folder.Backup(ctx, w, bar.to)
}

// snapshot writes one of the folder in use.
func (l *local) snapshot(ctx context.Context, w io.Writer) error {
	return l.engine.Backup(ctx, w)
}

func fetchSnapshot(ctx context.Context, server, key string, w io.Writer) error {
	client, err := httpapi.NewClient(server)
	if err != nil {
		return err
	}
	return errors.Join(client.WithKey(key).Snapshot(ctx, w), client.Close())
}

func restoreSnapshot(ctx context.Context, r io.Reader, size int64, data string, stderr io.Writer) error {
	bar := newByteProgress(stderr, "restoring "+data, size)
	defer bar.finish()
	return store.Restore(ctx, r, data, func(done int64) { bar.to(done, max(size, done)) })
}

// writeWhole writes a file that appears under its name only when it is whole
// and on the disk.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	if _, err := os.Stat(path); err == nil {
		return braid.Errorf(braid.Conflict, "%q exists: choose another name or remove it", path)
	}
	unfinished := path + ".unfinished"
	f, err := os.OpenFile(unfinished, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return braid.Errorf(braid.InvalidArgument, "make %q: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(unfinished)
		}
	}()
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			return braid.Errorf(braid.StorageFull, "write %q: its disk is full: free some space there or choose another place", path)
		}
		return fmt.Errorf("write %q: %w", path, err)
	}
	return os.Rename(unfinished, path)
}
