package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/search"
)

// openDataset reads a test collection from a folder, or labelled queries from a
// file.
func openDataset(path, qrels string) (*eval.Dataset, error) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return eval.Open(path, qrels) // which says what is missing
	}
	dataset, err := eval.OpenLabels(path)
	if err == nil && len(dataset.Queries) == 0 {
		err = braid.Errorf(braid.InvalidArgument, "%s: no query has a relevant document, there is nothing to measure", path)
	}
	return dataset, err
}

// collectionOf is the collection a dataset is about where none is named.
func collectionOf(dataset *eval.Dataset) string {
	if dataset.HasCorpus() {
		return "eval-" + dataset.Name
	}
	return defaultCollection
}

// evaluation asks a dataset's queries of a collection.
type evaluation struct {
	backend    backend
	collection string
	dataset    *eval.Dataset
	stderr     io.Writer
}

// prepare sees that the collection is there. Of a test collection it is the one
// with the dataset's documents and no others.
func (e evaluation) prepare(ctx context.Context) error {
	if e.dataset.HasCorpus() {
		return indexCorpus(ctx, e.backend, e.collection, e.dataset, e.stderr)
	}
	if n := len(e.dataset.Unanswerable); n > 0 {
		_, _ = fmt.Fprintf(e.stderr, "braid: %d queries have no relevant document and are left out\n", n)
	}
	_, err := e.backend.Collection(ctx, e.collection)
	return err
}

// answers are those of all queries in one way.
type answers struct {
	run    eval.Run
	places [][]eval.Place       // of the relevant documents, by query
	times  map[string][]float64 // milliseconds by stage
}

// answerAll asks every query of the dataset in one way.
func (e evaluation) answerAll(ctx context.Context, w way, req search.Request) (answers, error) {
	depth := evalDepth
	req.Mode, req.Rerank, req.Limit = w.mode, &w.rerank, &depth
	if w.mode != search.ModeHybrid {
		req.Fusion = nil
	}
	return e.ask(ctx, w.name, req)
}

func (e evaluation) ask(ctx context.Context, what string, req search.Request) (answers, error) {
	bar := newProgress(e.stderr, what, len(e.dataset.Queries))
	defer bar.finish()
	a := answers{run: eval.Run{}, times: map[string][]float64{}}
	for _, q := range e.dataset.Queries {
		req.Query = q.Text
		answer, err := e.backend.Search(ctx, e.collection, req)
		if err != nil {
			return answers{}, fmt.Errorf("query %q: %w", q.ID, err)
		}
		if len(answer.Degraded) > 0 {
			d := answer.Degraded[0]
			return answers{}, braid.Errorf(d.Code, "query %q was answered without %s: %s", q.ID, d.Stage, d.Message)
		}
		a.run[q.ID] = documents(answer.Hits)
		a.places = append(a.places, placesOf(q.Judgments, answer.Hits))
		if err := addTimes(a.times, answer.Timings); err != nil {
			return answers{}, err
		}
		bar.add(1)
	}
	return a, nil
}

// candidates asks each branch of the collection alone, for as many documents as
// it gives to fusion.
func (e evaluation) candidates(ctx context.Context, req search.Request) (*eval.Candidates, error) {
	depth := search.DefaultCandidates
	if req.Candidates != nil {
		depth = *req.Candidates
	}
	depth = min(depth, search.MaxLimit)
	off := false
	runs := map[string]eval.Run{}
	for _, b := range braid.Branches() {
		alone := search.Request{Mode: search.Mode(b), Rerank: &off, Limit: &depth, Candidates: &depth, Syntax: &off}
		a, err := e.ask(ctx, string(b)+" alone", alone)
		if code := braid.CodeOf(err); code == braid.Unavailable || code == braid.InvalidArgument {
			continue // the mode is named on stderr already
		}
		if err != nil {
			return nil, err
		}
		runs[string(b)] = a.run
	}
	return e.dataset.Candidates(runs, depth), nil
}

// documents returns the ids of the hits, each where its best passage stands.
func documents(hits []search.Hit) []string {
	ids := make([]string, 0, len(hits))
	for _, h := range hits {
		if !slices.Contains(ids, h.ID) {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

// placesOf says where the relevant documents stood, those that were found first.
func placesOf(judged eval.Judgments, hits []search.Hit) []eval.Place {
	var places []eval.Place
	found := map[string]bool{}
	for _, h := range hits {
		if judged[h.ID] <= 0 || found[h.ID] {
			continue
		}
		found[h.ID] = true
		p := eval.Place{Document: h.ID, Grade: judged[h.ID], Rank: h.Rank, Branches: map[string]int{}}
		if h.Fused != nil {
			p.Fused = h.Fused.Rank
		}
		for b, f := range h.Branches {
			p.Branches[string(b)] = f.Rank
		}
		places = append(places, p)
	}
	var missing []eval.Place
	for id, grade := range judged {
		if grade > 0 && !found[id] {
			missing = append(missing, eval.Place{Document: id, Grade: grade})
		}
	}
	slices.SortFunc(missing, func(a, b eval.Place) int { return strings.Compare(a.Document, b.Document) })
	return append(places, missing...)
}

// addTimes notes what each stage took, under the name it has in answers.
func addTimes(times map[string][]float64, t search.Timings) error {
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	var stages map[string]float64
	if err := json.Unmarshal(data, &stages); err != nil {
		return errors.New("the times of an answer are not numbers")
	}
	for stage, ms := range stages {
		times[stage] = append(times[stage], ms)
	}
	return nil
}

// indexCorpus sees that the collection holds the dataset's documents and no
// others. Documents without text are left out: no mode could find them.
func indexCorpus(ctx context.Context, b backend, collection string, dataset *eval.Dataset, stderr io.Writer) error {
	var docs []braid.Document
	empty := 0
	for d, err := range dataset.Corpus() {
		if err != nil {
			return err
		}
		if strings.TrimSpace(d.Passage()) == "" {
			empty++
			continue
		}
		docs = append(docs, d)
	}
	if empty > 0 {
		_, _ = fmt.Fprintf(stderr, "braid: %d documents have no text and are left out\n", empty)
	}
	if _, err := b.CreateWith(ctx, collection, search.Settings{}); err != nil {
		return err
	}
	if _, err := storeAll(ctx, b, collection, slices.Values(docs), len(docs), stderr); err != nil {
		return err
	}
	info, err := b.Collection(ctx, collection)
	if err != nil {
		return err
	}
	if info.Documents != len(docs) {
		return braid.Errorf(braid.Conflict, "collection %q holds %d documents, the dataset %d: it was made from another corpus; choose another with --collection", collection, info.Documents, len(docs))
	}
	return nil
}
