package apikeys_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/apikeys"
)

func sumOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

func TestKeys(t *testing.T) {
	set, err := apikeys.Parse(fmt.Appendf(nil, `{"keys": [
		{"name": "operator", "sha256": %q},
		{"name": "tenant a", "sha256": %q, "collections": ["docs"], "read_only": true, "filter": {"must": [{"field": "tenant", "match": "a"}]}}
	]}`, sumOf("one"), strings.ToUpper(sumOf("two"))))
	if err != nil || set.Len() != 2 {
		t.Fatal(err)
	}
	one, ok := set.Find("one")
	if !ok || one.Name != "operator" || one.Limited() || one.ReadOnly {
		t.Errorf("one is %+v", one)
	}
	two, ok := set.Find("two")
	if !ok || two.Name != "tenant a" || !two.Limited() || !two.ReadOnly || len(two.Collections) != 1 || two.Filter.Empty() {
		t.Errorf("two is %+v", two)
	}
	for _, unknown := range []string{"", "One", "one ", sumOf("one")} {
		if key, ok := set.Find(unknown); ok {
			t.Errorf("%q is %+v", unknown, key)
		}
	}
}

func TestKeysThatLimitNothingByMistake(t *testing.T) {
	sum := sumOf("k")
	for text, says := range map[string]string{
		``:            "empty",
		`{}`:          "no keys",
		`{"keys":[]}`: "no keys",
		`[]`:          "object",
		`{"keys":[{"name":"k","sha256":"` + sum + `"}],"key":[]}`:                                     `unknown field "key"`,
		`{"keys":[{"name":"k","sha256":"` + sum + `","filters":{"must":[{"field":"t","match":1}]}}]}`: `unknown field "filters"`,
		`{"keys":[{"name":"k","sha256":"` + sum + `","Filter":{"must":[{"field":"t","match":1}]}}]}`:  `unknown field "Filter"`,
		`{"keys":[{"name":"k","sha256":"` + sum + `","filter":{}}]}`:                                  "filter is empty",
		`{"keys":[{"name":"k","sha256":"` + sum + `","filter":null}]}`:                                "filter is empty",
		`{"keys":[{"name":"k","sha256":"` + sum + `","filter":{"must":[]}}]}`:                         "filter is empty",
		`{"keys":[{"name":"k","sha256":"` + sum + `","filter":{"field":"t","match":1}}]}`:             "must, should and must_not",
		`{"keys":[{"name":"k","sha256":"` + sum + `","collections":[]}]}`:                             "at least one",
		`{"keys":[{"name":"k","sha256":"` + sum + `","collections":null}]}`:                           "at least one",
		`{"keys":[{"name":"k","sha256":"` + sum + `","collections":"docs"}]}`:                         "a list",
		`{"keys":[{"name":"k","sha256":"` + sum + `","read_only":true,"read_only":false}]}`:           "twice",
		`{"keys":[{"name":"k","sha256":"` + sum + `"},{"name":"l","sha256":"` + sum + `"}]}`:          `the same key as "k"`,
		`{"keys":[{"name":"k","sha256":"` + sum + `"},{"name":"k","sha256":"` + sumOf("l") + `"}]}`:   "used twice",
		`{"keys":[{"sha256":"` + sum + `"}]}`:                                                         "name is empty",
		`{"keys":[{"name":"a\nb","sha256":"` + sum + `"}]}`:                                           "not printable",
		`{"keys":[{"name":"k"}]}`:                                                      "64 hexadecimal digits",
		`{"keys":[{"name":"k","sha256":"secret"}]}`:                                    "64 hexadecimal digits",
		`{"keys":[{"name":"` + strings.Repeat("k", 65) + `","sha256":"` + sum + `"}]}`: "the limit is 64",
		`{"keys":[{"name":"k","sha256":"` + sum + `"},null]}`:                          "name is empty",
	} {
		if _, err := apikeys.Parse([]byte(text)); braid.CodeOf(err) != braid.InvalidArgument || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want %q", text, err, says)
		}
	}
}

func TestNewKeysAreFoundByTheirEntries(t *testing.T) {
	a, entryA, err := apikeys.New("a")
	if err != nil {
		t.Fatal(err)
	}
	b, entryB, err := apikeys.New("b")
	if err != nil || a == b || len(a) < 40 || strings.Contains(entryA, a) {
		t.Fatalf("keys %q and %q, entry %s, error %v", a, b, entryA, err)
	}
	set, err := apikeys.Parse([]byte(`{"keys":[` + entryA + `,` + entryB + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	for token, name := range map[string]string{a: "a", b: "b"} {
		if key, ok := set.Find(token); !ok || key.Name != name {
			t.Errorf("the key of %s is %+v", name, key)
		}
	}
	if _, _, err := apikeys.New(""); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("no name: %v", err)
	}
	if !json.Valid([]byte(entryA)) {
		t.Errorf("entry %s", entryA)
	}
}
