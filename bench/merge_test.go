package bench

import (
	"reflect"
	"strings"
	"testing"
)

func TestMergeKeepsWhatEachRunSaw(t *testing.T) {
	one := &Report{
		Commit: "a", Corpus: "x", Parts: []Part{{Name: EndToEnd}}, NotRun: []string{"the part soak", "the part ingestion"},
		Comparisons: []Comparison{pairUp(EndToEnd, "x: hybrid", metric{name: "p50 ms"}, "us", "them", []float64{1, 2, 3}, []float64{2, 4, 6})},
		Answers:     []Answers{{Corpus: "x", Contender: "us", NDCG: 0.5}},
	}
	two := &Report{
		Commit: "a", Corpus: "y", Parts: []Part{{Name: Storing}}, NotRun: []string{"the part soak", "the part endtoend"},
		Comparisons:  []Comparison{pairUp(Storing, "y", metric{name: "passages/s", more: true}, "us", "them", []float64{4}, []float64{2})},
		FirstAnswers: []FirstAnswer{{"y", "us", 1}},
	}
	all := Merge(one, two)
	if all.Commit != "a" || all.Corpus != "x, y" {
		t.Errorf("commit %q and corpus %q, want a and x, y", all.Commit, all.Corpus)
	}
	if want := append(one.Comparisons, two.Comparisons...); !reflect.DeepEqual(all.Comparisons, want) {
		t.Errorf("comparisons are %v, want those of both", all.Comparisons)
	}
	if len(all.Answers) != 1 || len(all.FirstAnswers) != 1 || len(all.Parts) != 2 {
		t.Errorf("merged %+v lost rows", all)
	}
	if want := []string{"the part soak"}; !reflect.DeepEqual(all.NotRun, want) {
		t.Errorf("left out are %q, want what no run did: %q", all.NotRun, want)
	}
	if one.Parts[0].Name != EndToEnd {
		t.Error("merging changed a report it was given")
	}
	var text strings.Builder
	if err := all.Markdown(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"medians of 1 to 3 rounds", "| endtoend (x) |", "**2.00 (2.00–2.00)**", "0.5000"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}
}

// Whatever a report has a list of, the merged one has of both.
func TestMergeKeepsEveryList(t *testing.T) {
	one := &Report{}
	fields := reflect.ValueOf(one).Elem()
	for i := range fields.NumField() {
		if f := fields.Field(i); f.Kind() == reflect.Slice {
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		}
	}
	one.NotRun[0] = "one peer"
	two := *one
	two.NotRun = []string{"another peer"}
	merged := reflect.ValueOf(Merge(one, &two)).Elem()
	for i := range merged.NumField() {
		if f := merged.Field(i); f.Kind() == reflect.Slice && f.Len() != 2 {
			t.Errorf("%s has %d rows of 2 reports with one each", merged.Type().Field(i).Name, f.Len())
		}
	}
}
