package inference

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
)

// head is what the three kinds of head share: a model's tokenizer and session,
// and the way from texts to output rows.
type head struct {
	runtime     *Runtime
	model       *models.Model
	tokenizer   *tokenizer
	session     *session
	batchTokens int // 0: one text a run
	selfTest    func(context.Context) error
	forecast    forecast // of this model's runs
}

// open loads a model of the given kind. The caller must have begun a call.
func (r *Runtime) open(m *models.Model, kind models.Kind, batchTokens int) (*head, []byte, error) {
	if m.Kind != kind {
		return nil, nil, braid.Errorf(braid.InvalidArgument, "model %q is of kind %s, want %s", m.Name, m.Kind, kind)
	}
	file, err := os.ReadFile(m.TokenizerPath())
	if err != nil {
		return nil, nil, loadError(m, "tokenizer", err)
	}
	tok, err := newTokenizer(file)
	if err != nil {
		return nil, nil, loadError(m, "tokenizer", err)
	}
	if room := m.MaxTokens - overhead(tok.template.pair); room < 2 {
		tok.close()
		return nil, nil, braid.Errorf(braid.InvalidArgument, "model %q: max_tokens %d leaves no room beside the special tokens", m.Name, m.MaxTokens)
	}
	session, err := openSession(graphOf(m), r.options, r.device)
	if err != nil {
		tok.close()
		return nil, nil, loadError(m, "graph", err)
	}
	return &head{runtime: r, model: m, tokenizer: tok, session: session, batchTokens: budget(batchTokens, m.Manifest, session.where)}, file, nil
}

// budget is how many tokens a run takes together, where asked is the option.
func budget(asked int, m models.Manifest, w where) int {
	switch {
	case m.Quantization == models.DynamicInt8:
		return 0
	case asked > 0:
		return asked
	case w.provider == cpuProvider:
		return defaultBatchTokens
	case m.Kind == models.Sparse:
		return cudaSparseBatchTokens
	}
	return cudaBatchTokens
}

// tooLong is for an item that would have to be cut and must not be.
func (h *head) tooLong(what string, item int, u Usage) error {
	return braid.Errorf(braid.TooLarge, "%s %d has %d tokens, model %q reads %d: shorten it or let it be cut", what, item, u.Tokens, h.model.Name, h.model.MaxTokens)
}

func loadError(m *models.Model, part string, err error) error {
	code := braid.Corrupt
	if braid.CodeOf(err) == braid.Unavailable { // the device, not the file
		code = braid.Unavailable
	}
	return braid.Errorf(code, "load %s of model %q: %w", part, m.Name, err)
}

// graphOf reads from the manifest what the graph must look like.
func graphOf(m *models.Model) graph {
	width := m.Dimensions
	if m.Kind == models.CrossEncoder {
		width = 1
	}
	inputs := map[string]input{
		m.Inputs.TokenIDs:      inputIDs,
		m.Inputs.AttentionMask: inputMask,
		m.Inputs.TypeIDs:       inputTypes,
	}
	delete(inputs, "") // optional ones not named
	return graph{
		path:    m.GraphPath(),
		inputs:  inputs,
		output:  m.Output.Name,
		perText: m.Output.Form != models.HiddenStates && m.Output.Form != models.TokenLogits,
		cls:     m.Pooling == models.CLSPooling,
		width:   width,
		alone:   m.Quantization == models.DynamicInt8,
	}
}

// add makes an opened head part of the runtime, which closes it.
func (r *Runtime) add(h *head) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heads = append(r.heads, h)
}

func (h *head) info() ModelInfo {
	m := h.model.Manifest
	return ModelInfo{
		Name:         m.Name,
		Kind:         string(m.Kind),
		Digest:       h.model.Digest(),
		Quantization: string(m.Quantization),
		MaxTokens:    m.MaxTokens,
		Dimensions:   m.Dimensions,
		BatchTokens:  h.batchTokens,
		Provider:     h.session.where.provider,
		CPUNodes:     h.session.where.cpuNodes,
		Fallback:     h.session.where.fallback,
	}
}

func (h *head) close() {
	h.session.close()
	h.tokenizer.close()
}

// prefix is what the manifest puts before a text of the given role.
func (h *head) prefix(role Role) string {
	if role == RoleQuery {
		return h.model.QueryPrefix
	}
	return h.model.PassagePrefix
}

// tokenise encodes single texts, ready to run.
func (h *head) tokenise(ctx context.Context, req Request) ([]sequence, []Usage, error) {
	if len(req.Texts) == 0 {
		return nil, nil, braid.Errorf(braid.InvalidArgument, "no texts: send at least one")
	}
	special := overhead(h.tokenizer.template.single)
	limit := h.model.MaxTokens - special
	prefix := h.prefix(req.Role)
	sequences := make([]sequence, len(req.Texts))
	usage := make([]Usage, len(req.Texts))
	err := h.forEach(ctx, len(req.Texts), func(i int) error {
		e, err := h.tokenizer.encode(prefix+req.Texts[i], limit)
		if err != nil {
			return braid.Errorf(braid.InvalidArgument, "text %d %w", i, err)
		}
		sequences[i] = assemble(h.tokenizer.template.single, e.ids)
		usage[i] = Usage{Tokens: e.count + special, Truncated: e.count > limit}
		if req.Whole && usage[i].Truncated {
			return h.tooLong("text", i, usage[i])
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return sequences, usage, nil
}

// forEach calls work for each of n items, on as many goroutines as models run
// at once, until one fails or ctx ends. The error is that of the first item that
// fails, whatever the order of work.
func (h *head) forEach(ctx context.Context, n int, work func(item int) error) error {
	var next atomic.Int64
	var failed atomic.Bool
	errs := make([]error, n)
	loop := func() {
		for !failed.Load() && ctx.Err() == nil {
			item := int(next.Add(1)) - 1
			if item >= n {
				return
			}
			if errs[item] = work(item); errs[item] != nil {
				failed.Store(true)
			}
		}
	}
	var others sync.WaitGroup
	for range min(h.runtime.options.Slots, n) - 1 {
		others.Go(loop)
	}
	loop()
	others.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return contextError(ctx)
	}
	return nil
}

// compute runs the sequences and hands each one's output to keep, which copies
// what it needs of it and reports what is wrong with it. keep is called for
// several items at once, never twice for one.
func (h *head) compute(ctx context.Context, lane Lane, sequences []sequence, keep func(item int, output []float32) error) (queue, compute time.Duration, err error) {
	lengths := make([]int, len(sequences))
	for i, s := range sequences {
		lengths[i] = len(s.ids)
	}
	return h.runtime.scheduler.do(ctx, lane, pack(lengths, h.batchTokens, h.session.padded()), func(slot int, items []int) error {
		return h.runUnit(slot, sequences, items, keep)
	})
}

// runUnit runs the sequences of one unit and hands over their outputs.
func (h *head) runUnit(slot int, sequences []sequence, items []int, keep func(item int, output []float32) error) error {
	batch := make([]sequence, len(items))
	tokens := 0
	for i, item := range items {
		batch[i] = sequences[item]
		tokens += len(batch[i].ids)
	}
	start := time.Now()
	defer h.reportRun(batch, start)
	output, err := h.session.run(slot, batch)
	if err != nil {
		return braid.Errorf(braid.Internal, "run model %q: %w", h.model.Name, err)
	}
	h.forecast.add(tokens, time.Since(start))
	width := len(output) / len(items)
	for i, item := range items {
		own := h.session.graph.outputSize(len(sequences[item].ids))
		if err := keep(item, output[i*width:i*width+own]); err != nil {
			return err
		}
	}
	return nil
}

// faulty is the error for an output that must not be used.
func (h *head) faulty(item int, what string) error {
	return braid.Errorf(braid.Corrupt, "model %q, item %d: the output is %s: the model file is faulty or cannot represent this text", h.model.Name, item, what)
}

const nonFinite = "non-finite (NaN or infinite)"
