package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/braid-search/braid"
)

func TestConfigValidate(t *testing.T) {
	if err := (Config{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
	bad := Config{Rounds: -1, Queries: -2, SoakTime: -time.Second, Clients: []int{1, 0, 1000}, Parts: []string{Servers, "weather"}}
	err := bad.Validate()
	if braid.CodeOf(err) != braid.InvalidArgument {
		t.Fatalf("got %v, want InvalidArgument", err)
	}
	for _, part := range []string{"rounds is -1", "queries is -2", "soak time", "clients has 0", "clients has 1000", `"weather"`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
}
