package bench

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/braid-search/braid"
)

// The parts of a benchmark.
const (
	Libraries = "libraries" // inference in process, against Python libraries
	Servers   = "servers"   // the model server, against others over HTTP
	Isolation = "isolation" // queries while ingestion runs, and an idle server
	Stages    = "stages"    // what each stage of a hybrid search costs
	// Concurrency is both vectors of a query at once, against one after the other.
	Concurrency = "concurrency"
	// Load is latency against the rate at which searches arrive.
	Load = "load"
	Soak = "soak" // memory over time
)

// Parts that compare whole searches and whole ingestion with other stacks. They
// take long, need more peers installed, and are asked for.
const (
	EndToEnd = "endtoend"        // hybrid searches
	Reranked = "endtoend-rerank" // the same, reranked
	Ablation = "savings"         // what braid can be spared of a rerank
	Judged   = "answers"         // how good everybody's answers are
	Storing  = "ingestion"       // documents from the request to the disk
)

// AllParts are those there are, in the order of a report.
func AllParts() []string { return append(Parts(), EndToEnd, Reranked, Ablation, Judged, Storing, Soak) }

// Parts returns those that run by default. Soak takes long and is asked for.
func Parts() []string { return []string{Libraries, Servers, Isolation, Concurrency, Stages, Load} }

// Names of the models measured, as set-up installs them.
const (
	denseModel  = "bge-small-en-v1.5"
	sparseModel = "splade-tiny"
	pairModel   = "ms-marco-minilm-l12-v2"
)

// Config says what to measure. The zero value measures the default parts in a
// checkout that is the working directory.
type Config struct {
	Root string // of the checkout; "" is the working directory
	// Program is the server to measure; "" is bin/braid in Root.
	Program string
	// Peer is the command that runs package peer, with the flags -library,
	// -models, -dense and -pair added; empty is bin/bench peer in Root.
	Peer []string
	// Corpus is a dataset in BEIR layout that texts are cut from; "" is the demo.
	Corpus string
	Parts  []string // empty: Parts()

	Rounds    int   // counted runs of each side; default 5
	Queries   int   // short queries; default 200
	Passages  int   // passages of mixed lengths; default 256
	Reranks   int   // reranks of 20 a round; default 10
	Clients   []int // of the servers, at the same time; default 1, 4, 16
	Documents int   // of the corpus, searched in Stages; default 1000
	// SoakTime is how long Soak runs; default 10 minutes.
	SoakTime time.Duration

	// Judged is how many judged queries are asked with a rerank for the sake of
	// their answers, the first ones; default all. Without a rerank it is all.
	Judged int
	// LoadTime is how long Load runs at a rate in a round; default 10 seconds.
	LoadTime time.Duration

	// Stacks are the names of those that braid is compared with; empty for all.
	Stacks []string

	// Seen is given what was seen so far after each part, to keep it; nil for none.
	Seen func(*Report) error
	// Log gets a line a step; nil for none.
	Log io.Writer
}

// Validate reports every field that is not usable.
func (c Config) Validate() error {
	var faults []error
	for _, field := range []struct {
		name  string
		value int
	}{{"rounds", c.Rounds}, {"queries", c.Queries}, {"passages", c.Passages}, {"reranks", c.Reranks}, {"documents", c.Documents}, {"judged", c.Judged}, {"soak time", int(c.SoakTime)}, {"load time", int(c.LoadTime)}} {
		if field.value < 0 {
			faults = append(faults, fmt.Errorf("%s is %d, want 0 (the default) or more", field.name, field.value))
		}
	}
	for _, n := range c.Clients {
		if n < 1 || n > 64 {
			faults = append(faults, fmt.Errorf("clients has %d, want 1 to 64", n))
		}
	}
	all := AllParts()
	for _, name := range c.Stacks {
		if !slices.ContainsFunc(allStacks(), func(st stack) bool { return st.name == name }) {
			faults = append(faults, fmt.Errorf("stack %q is unknown", name))
		}
	}
	for _, part := range c.Parts {
		if !slices.Contains(all, part) {
			faults = append(faults, fmt.Errorf("part %q is unknown, want %s", part, strings.Join(all, ", ")))
		}
	}
	if len(faults) > 0 {
		return braid.Errorf(braid.InvalidArgument, "bench: %w", errors.Join(faults...))
	}
	return nil
}

// withDefaults returns c with every zero value replaced.
func (c Config) withDefaults() Config {
	for _, field := range []struct {
		value *int
		empty int
	}{{&c.Rounds, 5}, {&c.Queries, 200}, {&c.Passages, 256}, {&c.Reranks, 10}, {&c.Documents, 1000}} {
		if *field.value == 0 {
			*field.value = field.empty
		}
	}
	if c.SoakTime == 0 {
		c.SoakTime = 10 * time.Minute
	}
	if c.LoadTime == 0 {
		c.LoadTime = 10 * time.Second
	}
	if len(c.Parts) == 0 {
		c.Parts = Parts()
	}
	if len(c.Clients) == 0 {
		c.Clients = []int{1, 4, 16}
	}
	if c.Root == "" {
		c.Root = "."
	}
	if c.Program == "" {
		c.Program = filepath.Join(c.Root, "bin", "braid")
	}
	if len(c.Peer) == 0 {
		c.Peer = []string{filepath.Join(c.Root, "bin", "bench"), "peer"}
	}
	if c.Corpus == "" {
		c.Corpus = filepath.Join(c.Root, "demo")
	}
	if c.Seen == nil {
		c.Seen = func(*Report) error { return nil }
	}
	if c.Log == nil {
		c.Log = io.Discard
	}
	return c
}

func (c Config) modelsFolder() string       { return filepath.Join(c.Root, ".local", "models") }
func (c Config) library() string            { return filepath.Join(c.Root, ".local", "lib", "libonnxruntime.so") }
func (c Config) scratch(name string) string { return filepath.Join(c.Root, ".local", "bench", name) }
func (c Config) model(name string) string   { return filepath.Join(c.modelsFolder(), name) }
func (c Config) python(peer string) string {
	return filepath.Join(c.Root, ".local", "venv", peer, "bin", "python")
}
func (c Config) script(name string) string { return filepath.Join(c.Root, "bench", "peers", name) }
