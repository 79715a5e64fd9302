package httpapi_test

import (
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/httpapi"
)

// The expectations stand here once more on purpose: a status is an agreement
// with clients, and a change of it should have to be made in two places.
func TestEveryCodeHasItsStatus(t *testing.T) {
	want := map[braid.Code]int{
		braid.InvalidArgument: 400, braid.Unauthenticated: 401, braid.Forbidden: 403, braid.NotFound: 404, braid.Conflict: 409, braid.TooLarge: 413,
		braid.Overloaded: 429, braid.Canceled: 499, braid.Internal: 500, braid.Corrupt: 500,
		braid.Unavailable: 503, braid.DeadlineExceeded: 504, braid.StorageFull: 507,
	}
	for _, code := range braid.Codes() {
		if httpapi.Status(code) != want[code] {
			t.Errorf("Status(%s) = %d, want %d", code, httpapi.Status(code), want[code])
		}
	}
	if len(want) != len(braid.Codes()) {
		t.Errorf("%d codes are agreed on, there are %d", len(want), len(braid.Codes()))
	}
}
