package embedded_test

import (
	"context"
	"testing"

	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/contract"
	"github.com/braid-search/braid/index/embedded"
)

func TestContract(t *testing.T) {
	contract.Run(t, func(t *testing.T, dir string) index.Engine { return open(t, dir) })
}

func open(t testing.TB, dir string) *embedded.Engine {
	t.Helper()
	e, err := embedded.Open(context.Background(), dir, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}
