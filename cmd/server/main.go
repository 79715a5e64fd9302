package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/braid-search/braid"
)

// version is set by the linker; see the Makefile.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(exitCode(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr), os.Stderr))
}

// run is the whole program; tests start it with arguments of their own.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return root.ExecuteContext(ctx)
}

// exitCode reports err to the person at the terminal: 2 for a command that
// could never work, 3 for an evaluation below its baseline or a gain that was not confirmed, 130 for a command that
// was interrupted, 1 for the rest.
func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(stderr, "braid:", err) // nowhere left to report a failure
	var usage usageError
	var worse worseError
	switch {
	case errors.As(err, &worse):
		return 3
	case errors.As(err, &usage), braid.CodeOf(err) == braid.InvalidArgument:
		return 2
	case braid.CodeOf(err) == braid.Canceled:
		return 130
	}
	return 1
}
