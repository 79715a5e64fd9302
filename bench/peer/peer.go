package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/modelset"
)

// Task is what a job asks for.
type Task string

const (
	Queries  Task = "queries"  // each text alone, one after the other
	Passages Task = "passages" // all texts in one call
	Rerank   Task = "rerank"   // all texts against Query in one call
	Generate Task = "generate" // each text alone, in every way of Way
)

// Job is a line of input.
type Job struct {
	Task  Task     `json:"task"`
	Query string   `json:"query,omitempty"` // Rerank only
	Texts []string `json:"texts"`
	// Pause is how many seconds to rest before each measurement of Generate.
	Pause float64 `json:"pause,omitempty"`
}

// Outcome is a line of output.
type Outcome struct {
	// Ready is the first line's: the model is loaded.
	Ready bool `json:"ready,omitempty"`
	// Seconds has the wall time of each call.
	Seconds []float64 `json:"seconds"`
	// Results has a row a text: its vector, or its one score.
	Results [][]float32 `json:"results"`
	// Tokens counts each text's tokens, special ones and a pair's query included.
	// Python peers leave it out.
	Tokens []int `json:"tokens,omitempty"`
	// Ways has, of Generate, the wall time of each text by way, in seconds.
	Ways map[Way][]float64 `json:"ways,omitempty"`
}

// Options says what to run.
type Options struct {
	Library string // path of libonnxruntime
	Models  string // folder that holds the models
	Dense   string // name of the dense model; "" for none
	Sparse  string // name of the sparse model; "" for none
	Pair    string // name of the cross-encoder; "" for none
}

// Serve answers jobs from in until it ends. It fails on the first job that fails.
func Serve(ctx context.Context, opts Options, in io.Reader, out io.Writer) (err error) {
	runtime, err := inference.Open(inference.Options{Library: opts.Library})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runtime.Close()) }()
	set, err := modelset.Load(runtime, opts.Models, modelset.Names{Dense: list(opts.Dense), Sparse: list(opts.Sparse), Pair: list(opts.Pair)})
	if err != nil {
		return err
	}
	answers := json.NewEncoder(out)
	if err := answers.Encode(Outcome{Ready: true}); err != nil {
		return fmt.Errorf("announce readiness: %w", err)
	}
	for jobs := json.NewDecoder(in); ; {
		var job Job
		if err := jobs.Decode(&job); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return braid.Errorf(braid.InvalidArgument, "read job: %w: want one JSON object a line", err)
		}
		outcome, err := do(ctx, set, job)
		if err != nil {
			return err
		}
		if err := answers.Encode(outcome); err != nil {
			return fmt.Errorf("write outcome: %w", err)
		}
	}
}

func list(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

func do(ctx context.Context, set *modelset.Set, job Job) (Outcome, error) {
	var o Outcome
	switch job.Task {
	case Queries:
		for _, text := range job.Texts {
			if err := o.embed(ctx, set, []string{text}, inference.LaneQuery); err != nil {
				return o, err
			}
		}
		return o, nil
	case Passages:
		return o, o.embed(ctx, set, job.Texts, inference.LaneIngest)
	case Rerank:
		return o, o.score(ctx, set, job)
	case Generate:
		return o, o.generate(ctx, set, job)
	}
	return o, braid.Errorf(braid.InvalidArgument, "task %q is unknown: use queries, passages, rerank or generate", job.Task)
}

// embed takes texts as they are: whoever makes the workload has put prefixes
// before them, so that every contender reads the same text.
func (o *Outcome) embed(ctx context.Context, set *modelset.Set, texts []string, lane inference.Lane) error {
	model, err := set.FindDense("")
	if err != nil {
		return err
	}
	begun := time.Now()
	vectors, _, err := model.Head.Embed(ctx, inference.Request{Texts: texts, Role: inference.RolePassage, Lane: lane})
	o.Seconds = append(o.Seconds, time.Since(begun).Seconds())
	for _, v := range vectors {
		o.Results = append(o.Results, v.Vector)
		o.Tokens = append(o.Tokens, v.Tokens)
	}
	return err
}

func (o *Outcome) score(ctx context.Context, set *modelset.Set, job Job) error {
	model, err := set.FindPair("")
	if err != nil {
		return err
	}
	passages := make([]inference.Passage, len(job.Texts))
	for i, text := range job.Texts {
		passages[i].Text = text
	}
	begun := time.Now()
	scores, _, err := model.Head.Score(ctx, inference.PairRequest{Query: job.Query, Passages: passages, Lane: inference.LaneQuery})
	o.Seconds = append(o.Seconds, time.Since(begun).Seconds())
	for _, s := range scores {
		o.Results = append(o.Results, []float32{s.Logit})
		o.Tokens = append(o.Tokens, s.Tokens)
	}
	return err
}
