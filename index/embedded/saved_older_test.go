package embedded_test

import (
	"bytes"
	"strings"
	"testing"
)

// TestOlderSavedFormIsSavedAnew opens folders of earlier versions and writes
// nothing: what their saved forms lack is made once and not at each start.
func TestOlderSavedFormIsSavedAnew(t *testing.T) {
	for version := range fixtures {
		t.Run(version, func(t *testing.T) {
			dir := unpackFixture(t, version)
			for start, older := range []bool{version != newestFixture, false} {
				var said bytes.Buffer
				e := openFixture(t, dir, &said)
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
				// A version need not have changed the form of every part.
				found, same := strings.Count(said.String(), "older_form=true"), strings.Count(said.String(), "older_form=false")
				if older != (found > 0) || found+same != 2 {
					t.Errorf("start %d: %d collections have an older form and %d have not, some should: %v\n%s", start, found, same, older, &said)
				}
				if saved := strings.Count(said.String(), "index: saved"); saved != found {
					t.Errorf("start %d: %d collections are saved anew, want %d:\n%s", start, saved, found, &said)
				}
			}
		})
	}
}
