package search

import (
	"encoding/json"
	"maps"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// mergeAsInRFC is the algorithm of RFC 7396, section 2.
func mergeAsInRFC(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged, ok := target.(map[string]any)
	if !ok {
		merged = map[string]any{}
	}
	merged = maps.Clone(merged)
	for name, value := range changes {
		if value == nil {
			delete(merged, name)
		} else {
			merged[name] = mergeAsInRFC(merged[name], value)
		}
	}
	return merged
}

func drawObject(t *rapid.T, depth int) map[string]any {
	value := func(t *rapid.T) any {
		switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
		case kind == 0:
			return nil
		case kind <= 2 && depth > 0:
			return drawObject(t, depth-1)
		case kind == 3:
			return []any{nil, drawObject(t, 0), "]{"}
		case kind == 4:
			return rapid.String().Draw(t, "text")
		}
		return rapid.Float64().Draw(t, "number")
	}
	return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "ä\"{"}), rapid.Custom(value), 0, 4).Draw(t, "object")
}

func TestMergeEqualsRFC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target, patch := drawObject(t, 3), drawObject(t, 3)
		var texts [2]json.RawMessage
		for i, object := range []any{target, patch} {
			text, err := json.MarshalIndent(object, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			texts[i] = text
		}
		merged, err := mergePayload(texts[0], texts[1])
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := json.Unmarshal(merged, &got); err != nil || !reflect.DeepEqual(got, mergeAsInRFC(target, patch)) {
			t.Fatalf("%s with %s is %s, error %v", texts[0], texts[1], merged, err)
		}
	})
}
