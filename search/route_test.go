package search

import (
	"slices"
	"testing"
)

func TestRoute(t *testing.T) {
	for _, c := range []struct {
		query string
		kind  Kind
		names []string
	}{
		{"C2065", KindIdentifier, []string{"C2065"}},
		{"ERR-104", KindIdentifier, []string{"ERR-104"}},
		{"wd-40", KindIdentifier, []string{"wd-40"}},
		{"GHSA-2g5j-5x95-r6hr", KindIdentifier, []string{"GHSA-2g5j-5x95-r6hr"}},
		{"tokio 1.18.4", KindIdentifier, []string{"1.18.4"}},
		{"v2.1 changes", KindIdentifier, []string{"v2.1"}},
		{"user_id", KindIdentifier, []string{"user_id"}},
		{"softLogout()", KindIdentifier, []string{"softLogout("}},
		{"std::vector", KindIdentifier, []string{"std::vector"}},
		{"C++ templates", KindIdentifier, []string{"C++"}},
		{"c#", KindIdentifier, []string{"c#"}},
		{"978316148", KindIdentifier, []string{"978316148"}},
		{"\"LNK2019\"", KindIdentifier, []string{"LNK2019"}},
		{"how do I fix the compiler error C2065?", KindQuestion, []string{"C2065"}},
		{"Who is the MVP of the first tournament", KindQuestion, nil},
		{"the pump leaks, what now?", KindQuestion, nil},
		{"When?", KindOther, nil},
		{"running shoes", KindOther, nil},
		{"5% of mortality is due to low birth weight.", KindOther, nil},
		{"10mg aspirin", KindOther, nil},
		{"the 1990s", KindOther, nil},
		{"21st century", KindOther, nil},
		{"1,000 genomes", KindOther, nil},
		{"year 2023", KindOther, nil},
		{"What", KindOther, nil},
		{"???", KindOther, nil},
		{"東京都", KindOther, nil},
		{"\xff\xfe", KindOther, nil},
		{"   ", KindOther, nil},
	} {
		got := Route(c.query)
		if got.Kind != c.kind || !slices.Equal(got.Identifiers, c.names) {
			t.Errorf("Route(%q) = %v, want %s %q", c.query, got, c.kind, c.names)
		}
	}
}
