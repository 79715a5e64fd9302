package inference

import (
	"context"
	"strings"
	"testing"
)

// words returns a text of n words, each one token.
func words(n int) string {
	list := strings.Fields("the harbour crane was moved to the third quay before dawn because of a storm warning")
	var text []string
	for i := range n {
		text = append(text, list[i%len(list)])
	}
	return strings.Join(text, " ")
}

// passages returns n texts of 40 to 260 tokens, 150 in the mean.
func passages(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = words(38 + i*37%221)
	}
	return texts
}

func BenchmarkQueryDense(b *testing.B) {
	d := openDense(b, openRuntime(b, Options{}))
	for b.Loop() {
		if _, _, err := d.Embed(context.Background(), Request{Texts: []string{"how do I reset the pump?"}}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkQuerySparse(b *testing.B) {
	s := openSparse(b, openRuntime(b, Options{}))
	for b.Loop() {
		if _, _, err := s.Expand(context.Background(), Request{Texts: []string{"how do I reset the pump?"}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkQueryBoth encodes a query for both branches at once, as a search
// does.
func BenchmarkQueryBoth(b *testing.B) {
	r := openRuntime(b, Options{})
	d, s := openDense(b, r), openSparse(b, r)
	req := Request{Texts: []string{"how do I reset the pump?"}}
	for b.Loop() {
		done := make(chan error)
		go func() {
			_, _, err := s.Expand(context.Background(), req)
			done <- err
		}()
		if _, _, err := d.Embed(context.Background(), req); err != nil {
			b.Fatal(err)
		}
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPassagesDense(b *testing.B) {
	d := openDense(b, openRuntime(b, Options{}))
	texts := passages(256)
	for b.Loop() {
		if _, _, err := d.Embed(context.Background(), Request{Texts: texts, Role: RolePassage, Lane: LaneIngest}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "passages/s")
}

func BenchmarkPassagesSparse(b *testing.B) {
	s := openSparse(b, openRuntime(b, Options{}))
	texts := passages(256)
	for b.Loop() {
		if _, _, err := s.Expand(context.Background(), Request{Texts: texts, Role: RolePassage, Lane: LaneIngest}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "passages/s")
}

// BenchmarkRerank20 scores 20 passages of 60 words, whose tokens are stored.
func BenchmarkRerank20(b *testing.B) {
	p := openPair(b, openRuntime(b, Options{}))
	tokens, err := p.Tokens(context.Background(), []string{words(60)})
	if err != nil {
		b.Fatal(err)
	}
	list := make([]Passage, 20)
	for i := range list {
		list[i].Tokens = tokens[0]
	}
	for b.Loop() {
		if _, _, err := p.Score(context.Background(), PairRequest{Query: "how do I reset the pump?", Passages: list, Lane: LaneQuery}); err != nil {
			b.Fatal(err)
		}
	}
}
