package httpapi

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"golang.org/x/sync/semaphore"

	"github.com/braid-search/braid"
)

func TestBodiesTogetherStayInTheBudget(t *testing.T) {
	budget := semaphore.NewWeighted(4 << 20)
	body := func(size int) *budgetedBody {
		return &budgetedBody{ReadCloser: io.NopCloser(bytes.NewReader(make([]byte, size))), budget: budget}
	}
	large := body(4 << 20)
	if _, err := io.Copy(io.Discard, large); err != nil {
		t.Fatalf("a body within the budget: %v", err)
	}
	for range 20 {
		small := body(freeBody)
		if _, err := io.Copy(io.Discard, small); err != nil {
			t.Fatalf("an ordinary body beside a large one: %v", err)
		}
		small.release()
	}
	other := body(4 << 20)
	var e *braid.Error
	if _, err := io.Copy(io.Discard, other); !errors.As(err, &e) || e.Code != braid.Overloaded {
		t.Errorf("a second large one: %v", err)
	}
	other.release()
	large.release()
	if !budget.TryAcquire(4 << 20) {
		t.Error("something was not given back")
	}
}
