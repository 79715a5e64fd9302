package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/braid-search/braid/bench/peer"
	"github.com/braid-search/braid/models"
	"github.com/braid-search/braid/search"
)

const ingestionCollection = "ingestion"

// sending is how documents are sent: so many a request, by clients that send
// requests at the same time.
type sending struct{ size, clients int }

func (s sending) title(all int) string {
	return httpLoad{name: fmt.Sprintf("%d passages, %d a request", all, s.size), clients: s.clients}.title()
}

// receiver is a server that stores documents. Each gets an id of its own, so
// that everything sent is new to it.
type receiver struct {
	*server
	sent int
	body func([]plainDocument) request
}

// requests are bodies with all texts.
func (s *receiver) requests(texts []string, size int) []request {
	var list []request
	for part := range slices.Chunk(texts, size) {
		docs := make([]plainDocument, len(part))
		for i, text := range part {
			docs[i] = plainDocument{strconv.Itoa(s.sent), text}
			s.sent++
		}
		list = append(list, s.body(docs))
	}
	return list
}

func toBraid(docs []plainDocument) request {
	body, _ := json.Marshal(docs) // strings always encode
	return request{"/v1/collections/" + ingestionCollection + "/documents", body}
}

func toStack(docs []plainDocument) request {
	body, _ := json.Marshal(map[string]any{"documents": docs}) // as above
	return request{"/documents", body}
}

// ingestion measures documents from the request to where they are durable and
// can be found in every branch, against other stacks, and against the encoding
// alone, which nobody can beat.
func (r *run) ingestion(ctx context.Context) (err error) {
	if err := r.clear("data-ingestion"); err != nil {
		return err
	}
	s, err := startServed(ctx, r.cfg, "data-ingestion")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if _, err := s.client.Create(ctx, ingestionCollection); err != nil {
		return err
	}
	ours := &receiver{server: s.server, body: toBraid}
	tokens, err := r.countTokens(ctx, ours)
	if err != nil {
		return err
	}
	if err := r.againstLimit(ctx, ours, tokens); err != nil {
		return err
	}
	err = r.eachStack(ctx, func(st stack) error { return r.ingestionOf(ctx, ours, st, tokens) })
	return errors.Join(err, r.remember(s.process, "ingestion", s.started.Seconds()))
}

// countTokens stores all passages once and returns how many tokens they have.
func (r *run) countTokens(ctx context.Context, ours *receiver) (int, error) {
	answer, err := ours.post(ctx, ours.requests(r.texts.passages, len(r.texts.passages))[0])
	if err != nil {
		return 0, err
	}
	var stored search.IngestResult
	if err := json.NewDecoder(bytes.NewReader(answer)).Decode(&stored); err != nil {
		return 0, fmt.Errorf("read what was stored: %w", err)
	}
	return stored.Tokens, nil
}

func ingestionMetrics() []metric {
	return []metric{{name: "passages/s", more: true}, {name: "tokens/s", more: true}, {name: "processor ms a passage"}}
}

func (r *run) rates(tokens int, took, spent time.Duration) []float64 {
	passages := float64(len(r.texts.passages))
	return []float64{passages / took.Seconds(), float64(tokens) / took.Seconds(), milliseconds(spent) / passages}
}

func (r *run) receives(s *receiver, how sending, tokens int) side {
	return side{s.name, func(ctx context.Context) ([]float64, error) {
		bodies := s.requests(r.texts.passages, how.size)
		seen, spent, err := s.spent(func() (loaded, error) { return s.load(ctx, how.clients, bodies) })
		if err != nil {
			return nil, err
		}
		return r.rates(tokens, seen.elapsed, spent), nil
	}}
}

// encodingAlone is the limit.
func encodingAlone() library {
	return library{
		name: "onnxruntime in process, encoding and one write",
		command: func(cfg Config, _ models.Kind) []string {
			return []string{cfg.python("qdrant"), cfg.script("ingest_peer.py"), cfg.modelsFolder(), cfg.scratch("ingest-limit")}
		},
		needs:   func(cfg Config) string { return cfg.python("qdrant") },
		install: "bench/peers/install qdrant",
	}
}

func (r *run) againstLimit(ctx context.Context, ours *receiver, tokens int) (err error) {
	l := encodingAlone()
	if r.leaveOut(l.missing(r.cfg)) {
		return nil
	}
	limit, err := l.start(ctx, r.cfg, models.Dense)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, limit.close()) }()
	job := peer.Job{Task: peer.Passages, Texts: r.texts.passages}
	theirs := side{l.name, func(context.Context) ([]float64, error) {
		before, err := limit.processor()
		if err != nil {
			return nil, err
		}
		outcome, err := limit.do(job)
		if err != nil {
			return nil, err
		}
		after, err := limit.processor() // with the reading and writing of the job, which are little
		return r.rates(tokens, time.Duration(outcome.Seconds[0]*float64(time.Second)), after-before), err
	}}
	for _, how := range []sending{{len(r.texts.passages), 1}, {batch, 2}} {
		if err := r.compare(ctx, how.title(len(r.texts.passages)), ingestionMetrics(), r.receives(ours, how, tokens), theirs); err != nil {
			return err
		}
	}
	return r.remember(limit.process, "ingestion", 0)
}

func (r *run) ingestionOf(ctx context.Context, ours *receiver, st stack, tokens int) (err error) {
	folder := filepath.Join("stacks", "ingestion-"+st.environment)
	if err := r.clear(folder); err != nil {
		return err
	}
	s, err := st.serve(ctx, r.cfg, r.cfg.scratch(folder))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	theirs := &receiver{server: s, body: toStack}
	how := sending{batch, 1}
	if err := r.compare(ctx, how.title(len(r.texts.passages)), ingestionMetrics(), r.receives(ours, how, tokens), r.receives(theirs, how, tokens)); err != nil {
		return err
	}
	return r.remember(s.process, "ingestion", s.started.Seconds())
}
