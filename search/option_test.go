package search

import "testing"

func TestStandsAsOption(t *testing.T) {
	for text, want := range map[string]bool{
		"compile with -Wall": true, "use --Wall.": true, "extensions (/Wall), you": true, "-Wall": true, "`-Wall`": true, "Wall or -Wall": true, "-Wall=2": true,
		"": false, "Wall": false, "the Wall": false, "fire-Wall": false, "and/Wall": false, "---Wall": false, "https://Wall": false, "-Walls": false, "-wall": false, "- Wall": false, "-Wall2": false, "2-Wall": false,
	} {
		if got := standsAsOption(text, "Wall"); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
