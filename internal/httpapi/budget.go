package httpapi

import (
	"io"

	"golang.org/x/sync/semaphore"

	"github.com/braid-search/braid"
)

const (
	// MaxBodies bounds the bodies of all requests under way together. What is made
	// of a body (texts, token ids) is a few times its size.
	MaxBodies = 256 << 20

	// freeBody is what every request may bring outside the budget, so that large
	// requests never get in the way of ordinary ones.
	freeBody = 1 << 20
	// budgetStep is what a longer body takes from the budget at a time.
	budgetStep = 1 << 20
)

// budgetedBody reads a body as long as all bodies together stay in the budget.
type budgetedBody struct {
	io.ReadCloser
	budget *semaphore.Weighted
	read   int64
	held   int64 // of the budget
}

func (b *budgetedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	for b.read > freeBody+b.held {
		if !b.budget.TryAcquire(budgetStep) {
			return n, braid.Errorf(braid.Overloaded, "requests under way bring more than %d bytes together: retry later or send less at once", MaxBodies)
		}
		b.held += budgetStep
	}
	return n, err
}

// release gives back what the body held, when the request is done with it.
func (b *budgetedBody) release() { b.budget.Release(b.held) }
