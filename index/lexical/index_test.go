package lexical_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/topk"
)

// indexOf returns an index over texts; document i+1 is texts[i].
func indexOf(texts ...string) *lexical.Index {
	x := lexical.New(lexical.Options{})
	for i, text := range texts {
		x.Add(uint32(i+1), text)
	}
	return x
}

func search(x *lexical.Index, text string) []topk.Match {
	return best(x, text, topk.Scan{K: 100})
}

// best is a search that nothing stops.
func best(x *lexical.Index, text string, scan topk.Scan) []topk.Match {
	matches, err := x.Search(context.Background(), text, scan)
	if err != nil {
		panic(err)
	}
	return matches
}

func ordinals(matches []topk.Match) []uint32 {
	var ords []uint32
	for _, m := range matches {
		ords = append(ords, m.Ord)
	}
	return ords
}

// Identifiers whose punctuation is their meaning are found as a whole first,
// and by their parts.
func TestIdentifiersWholeAndByParts(t *testing.T) {
	x := indexOf("C++ templates", "C# generics", ".NET runtime", "the C language",
		"valve AR-7 spare", "valve AR 9, lot 7", "column user_id is null",
		"call softLogout() first", "Meyer-Landrut archive")
	for _, tc := range []struct {
		query string
		first uint32
	}{
		{"C++", 1}, {"c++", 1}, {"C#", 2}, {"c#", 2}, {".NET", 3}, {".net", 3},
		{"C language", 4}, {"c", 4}, {"AR-7", 5}, {"ar-7", 5}, {"user_id", 7}, {"USER_ID", 7}, {"userid", 7},
		{"softLogout", 8}, {"softlogout", 8}, {"SOFTLOGOUT", 8}, {"softLogout()", 8},
		{"meyer-landrut", 9}, {"Meyer-Landrut", 9}, {"MeyerLandrut", 9},
		{"user", 7}, {"logout", 8}, {"landrut", 9},
	} {
		got := ordinals(search(x, tc.query))
		if len(got) == 0 || got[0] != tc.first {
			t.Errorf("%q found %v, want %d first", tc.query, got, tc.first)
		}
	}
	for query, want := range map[string][]uint32{"C++": {1}, "C#": {2}, "C": {4}, "C language": {4}} {
		if got := ordinals(search(x, query)); !slices.Equal(got, want) {
			t.Errorf("%q found %v, want %v only", query, got, want)
		}
	}
}

func TestUnspacedScripts(t *testing.T) {
	x := indexOf("東京都は日本の首都です", "大阪は食べ物で有名です", "数据库索引损坏后如何修复",
		"한국어 검색 품질 점검", "GitHub备份脚本上传失败")
	for _, tc := range []struct {
		query string
		want  []uint32
	}{
		{"首都", []uint32{1}}, {"索引", []uint32{3}}, {"검색", []uint32{4}}, {"备份", []uint32{5}},
		{"github", []uint32{5}}, {"有名", []uint32{2}}, {"京", []uint32{1}}, {"GitHub备份", []uint32{5}},
	} {
		if got := ordinals(search(x, tc.query)); !slices.Equal(got, tc.want) {
			t.Errorf("%q found %v, want %v", tc.query, got, tc.want)
		}
	}
}

// A term that half of the documents or all of them hold still scores above
// zero, and the shorter or richer document comes first.
func TestCommonTermsScore(t *testing.T) {
	x := indexOf("harbour crane manual", "harbour gate", "tram schedule", "museum hours")
	got := search(x, "harbour")
	if want := []uint32{2, 1}; !slices.Equal(ordinals(got), want) {
		t.Fatalf("harbour found %v, want %v", got, want)
	}
	// Lengths are 3, 2, 2 and 2 words.
	idf, average := math.Ln2, 9.0/4
	for i, length := range []float64{2, 3} {
		want := idf / (1 + 1.2*(0.25+0.75*length/average))
		if math.Abs(got[i].Score-want) > 1e-12 {
			t.Errorf("score %d is %v, want %v", i, got[i].Score, want)
		}
	}

	x = indexOf("lantern lantern lantern", "lantern blue", "lantern red")
	got = search(x, "lantern")
	if want := []uint32{1, 2, 3}; !slices.Equal(ordinals(got), want) || got[2].Score <= 0 || got[1].Score != got[2].Score {
		t.Errorf("lantern found %v, want %v with positive scores, the last two equal", got, want)
	}
	if with := search(x, "lantern tram"); !slices.Equal(with, got) {
		t.Errorf("an unknown word changes scores: %v, want %v", with, got)
	}
	if one := search(indexOf("lantern"), "lantern"); len(one) != 1 || one[0].Score <= 0 {
		t.Errorf("collection of one: %v", one)
	}
}
