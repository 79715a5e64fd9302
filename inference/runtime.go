package inference

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/braid-search/braid"
)

// environment holds the right to the ONNX Runtime environment, of which the
// library allows one a process. The state it guards is the library's own.
var environment = make(chan struct{}, 1)

// Runtime owns the process's ONNX Runtime environment, the slots models run on
// and the heads opened on it. All methods are safe for concurrent use, Close
// included.
type Runtime struct {
	options   Options
	device    device
	fallback  string // why device is the CPU where auto was asked for, or ""
	version   string
	scheduler *scheduler

	mu       sync.Mutex
	closed   bool
	heads    []*head
	calls    sync.WaitGroup // calls into heads under way
	shutdown sync.Once
}

// Open loads libonnxruntime and starts the slots. It fails with braid.Conflict
// while another Runtime of the process is open. It sets ORT_DISABLE_TELEMETRY in
// the environment of the process, so that ONNX Runtime reports to nobody.
func Open(opts Options) (*Runtime, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	select {
	case environment <- struct{}{}:
	default:
		return nil, braid.Errorf(braid.Conflict, "inference is already open in this process: close the other Runtime first")
	}
	if err := silenceTelemetry(); err != nil {
		<-environment
		return nil, err
	}
	ort.SetSharedLibraryPath(opts.Library)
	// Its log goes to standard error unasked; every failure is returned as well.
	if err := ort.InitializeEnvironment(ort.WithLogLevelFatal()); err != nil {
		<-environment
		return nil, braid.Errorf(braid.Unavailable, "load ONNX Runtime from %q: %w", opts.Library, err)
	}
	found, fallback, err := chooseDevice(opts.Device)
	opts = opts.withDefaults(found)
	if err == nil {
		err = openArena(opts.Arena)
	}
	if err != nil {
		_ = ort.DestroyEnvironment() // the first failure is the one to know
		<-environment
		return nil, err
	}
	return &Runtime{
		options:   opts,
		device:    found,
		fallback:  fallback,
		version:   ort.GetVersion(),
		scheduler: newScheduler(opts.Slots, opts.QueueTokens, opts.BulkTokens),
	}, nil
}

// silenceTelemetry keeps ONNX Runtime from reporting to its makers. Its released
// builds do so from 1.29 on unless this variable is set when it starts: names and
// hashes of models, and an identifier of the machine, kept in the user's cache
// folder. The call that switches it off later comes after the first event.
func silenceTelemetry() error {
	if err := os.Setenv("ORT_DISABLE_TELEMETRY", "1"); err != nil {
		return braid.Errorf(braid.Internal, "switch off the telemetry of ONNX Runtime: %w", err)
	}
	return nil
}

// Close refuses further calls with braid.Unavailable, lets those under way
// finish, then frees the heads and the environment. To leave sooner, end the
// calls' contexts first. Close is idempotent; every call returns when the
// runtime is closed.
func (r *Runtime) Close() error {
	var err error
	r.shutdown.Do(func() { err = r.close() })
	return err
}

func (r *Runtime) close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.calls.Wait()
	r.scheduler.close()
	for _, h := range r.heads {
		h.close()
	}
	err := ort.DestroyEnvironment()
	<-environment
	if err != nil {
		return braid.Errorf(braid.Internal, "close ONNX Runtime: %w", err)
	}
	return nil
}

// begin admits a call, which must end with r.calls.Done.
func (r *Runtime) begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return braid.Errorf(braid.Unavailable, "inference is closed")
	}
	r.calls.Add(1)
	return nil
}

// Info describes a runtime at one moment.
type Info struct {
	Version  string      `json:"onnxruntime"`        // of ONNX Runtime
	Library  string      `json:"library"`            // path it was loaded from
	Provider string      `json:"provider"`           // execution provider that all models run on, or MixedProviders
	Fallback string      `json:"fallback,omitempty"` // why no model runs on a GPU though auto was asked for
	Slots    int         `json:"slots"`              // model runs at once
	Queue    QueueInfo   `json:"queue"`
	Models   []ModelInfo `json:"models"` // in the order they were opened
}

// MixedProviders is Info.Provider when some models run on a GPU and some do not;
// ModelInfo.Provider tells which.
const MixedProviders = "mixed"

// QueueInfo counts tokens waiting for a slot.
type QueueInfo struct {
	QueryTokens   int `json:"query_tokens"`
	BulkTokens    int `json:"bulk_tokens"`    // of LaneIngest and LaneBulk together
	QueryCapacity int `json:"query_capacity"` // tokens that may wait in LaneQuery
	BulkCapacity  int `json:"bulk_capacity"`  // tokens that may wait before LaneBulk is refused
}

// ModelInfo describes an open head.
type ModelInfo struct {
	Name         string `json:"name"`
	Kind         string `json:"kind"`
	Digest       string `json:"digest"`
	Quantization string `json:"quantization"`
	MaxTokens    int    `json:"max_tokens"`
	Dimensions   int    `json:"dimensions,omitempty"`
	BatchTokens  int    `json:"batch_tokens"`        // 0: one text a run
	Provider     string `json:"provider"`            // execution provider it runs on, as a run has shown
	CPUNodes     int    `json:"cpu_nodes,omitempty"` // on a GPU: nodes of the graph that run on the CPU all the same
	Fallback     string `json:"fallback,omitempty"`  // why it does not run on the GPU the runtime has
}

// Info may be called on a closed runtime.
func (r *Runtime) Info() Info {
	r.mu.Lock()
	heads := slices.Clone(r.heads)
	r.mu.Unlock()
	queries, ingests := r.scheduler.waiting()
	info := Info{
		Version:  r.version,
		Library:  r.options.Library,
		Provider: cpuProvider,
		Fallback: r.fallback,
		Slots:    r.options.Slots,
		Queue:    QueueInfo{QueryTokens: queries, BulkTokens: ingests, QueryCapacity: r.options.QueueTokens, BulkCapacity: r.options.BulkTokens},
		Models:   []ModelInfo{},
	}
	for i, h := range heads {
		info.Models = append(info.Models, h.info())
		switch provider := h.session.where.provider; {
		case i == 0:
			info.Provider = provider
		case info.Provider != provider:
			info.Provider = MixedProviders
		}
	}
	return info
}

// SelfTest runs one inference on every open head, in the query lane, and
// returns the faults found, each naming its model. A model whose weights hold a
// NaN that every text meets fails here.
func (r *Runtime) SelfTest(ctx context.Context) error {
	r.mu.Lock()
	heads := slices.Clone(r.heads)
	r.mu.Unlock()
	var faults []error
	for _, h := range heads {
		if err := h.selfTest(ctx); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return braid.Errorf(braid.CodeOf(faults[0]), "self-test: %w", errors.Join(faults...))
}
