package detect

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
)

// Options settle what the files leave open, and win where both speak. The zero
// value takes everything from the files, but a manifest needs a Name.
type Options struct {
	Name    string        // of the model; see models.ValidateName
	File    string        // the graph, when there are several; see Graph
	Source  models.Source // recorded as it is
	Licence string        // of the weights, as an SPDX expression

	Kind      models.Kind
	Output    string // name of the tensor to read
	Pooling   models.Pooling
	Normalize *bool
	MaxTokens int

	QueryPrefix, PassagePrefix *string
	// QueryWeights is the path of a token-weight table, or None for a model that
	// comes with one that is not wanted.
	QueryWeights string
}

// None as Options.QueryWeights leaves the table out.
const None = "none"

// UnknownLicence is recorded when no file states one: an SPDX reference that
// says just that.
const UnknownLicence = "LicenseRef-unknown"

// Validate reports every option that is not usable.
func (o Options) Validate() error {
	var faults []string
	if err := models.ValidateName(o.Name); err != nil {
		faults = append(faults, err.Error())
	}
	allow := func(flag, value string, allowed ...string) {
		if value != "" && !slices.Contains(allowed, value) {
			faults = append(faults, fmt.Sprintf("--%s is %q, want one of %s", flag, value, strings.Join(allowed, ", ")))
		}
	}
	allow("kind", string(o.Kind), string(models.Dense), string(models.Sparse), string(models.CrossEncoder))
	allow("pooling", string(o.Pooling), string(models.NoPooling), string(models.CLSPooling), string(models.MeanPooling), string(models.SPLADEPooling), string(models.DoubleLogPooling))
	if o.MaxTokens < 0 || o.MaxTokens > models.MaxTokensPerText {
		faults = append(faults, fmt.Sprintf("--max-tokens is %d, want at most %d", o.MaxTokens, models.MaxTokensPerText))
	}
	if len(faults) == 0 {
		return nil
	}
	return braid.Errorf(braid.InvalidArgument, "%s", strings.Join(faults, "; "))
}

// Result is a manifest and how it came about.
type Result struct {
	Manifest  models.Manifest
	Decisions []Decision
}

// Decision is one setting with where its value comes from.
type Decision struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
	From    string `json:"from"` // a file, an option, or "default: why"
}

// Inspect works out the manifest of the model in folder. It reads and hashes
// every file the manifest names. Errors: braid.InvalidArgument for what the
// files leave open or braid cannot run (all of it at once, with the options to
// give), braid.NotFound for a missing file, braid.Corrupt for a broken one.
func Inspect(folder fs.FS, opts Options) (*Result, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	paths, err := listFiles(folder)
	if err != nil {
		return nil, err
	}
	graph, err := Graph(paths, opts.File)
	if err != nil {
		return nil, err
	}
	d := &inspection{folder: folder, opts: opts, graph: graph}
	if err := d.read(); err != nil {
		return nil, err
	}
	d.decide()
	if len(d.open) > 0 {
		return nil, braid.Errorf(braid.InvalidArgument, "model %q cannot be added as it is: %s", opts.Name, strings.Join(d.open, "; "))
	}
	if err := d.addFiles(); err != nil {
		return nil, err
	}
	if err := d.manifest.Validate(); err != nil {
		return nil, err
	}
	return &Result{Manifest: d.manifest, Decisions: d.decisions}, nil
}

const (
	maxListed = 10_000 // entries of a model's folder
	maxLevels = 4      // of folders in it
)

// listFiles returns the paths of the files in folder, hidden ones left out.
func listFiles(folder fs.FS) ([]string, error) {
	var paths []string
	entries := 0
	err := fs.WalkDir(folder, ".", func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entries++; entries > maxListed {
			return fmt.Errorf("it has more than %d files: name the folder of one model", maxListed)
		}
		hidden := p != "." && strings.HasPrefix(entry.Name(), ".")
		if entry.IsDir() && (hidden || strings.Count(p, "/") >= maxLevels) {
			return fs.SkipDir
		}
		if !entry.IsDir() && !hidden {
			paths = append(paths, p)
		}
		return nil
	})
	if err != nil {
		return nil, braid.Errorf(braid.NotFound, "read the model's folder: %w", err)
	}
	return paths, nil
}

// inspection is one run of Inspect.
type inspection struct {
	folder fs.FS
	opts   Options
	graph  string

	facts     graphFacts
	config    *config
	tokenizer tokenizerFacts

	manifest  models.Manifest
	decisions []Decision
	open      []string // what could not be worked out or cannot be run
}

// read collects the facts that decide needs.
func (d *inspection) read() (err error) {
	if d.facts, err = openGraph(d.folder, d.graph); err != nil {
		return err
	}
	if d.config, err = readConfig(d.folder, d.graph); err != nil {
		return braid.Errorf(braid.Corrupt, "model %q: %w: fetch it again", d.opts.Name, err)
	}
	d.manifest = models.Manifest{Name: d.opts.Name, Source: d.opts.Source, Graph: d.graph}
	d.manifest.Tokenizer = d.config.tokenizer(d.folder)
	if d.manifest.Tokenizer == "" {
		return braid.Errorf(braid.NotFound, "model %q has no %s beside %s or above it: save the tokenizer in its fast form (tokenizer.save_pretrained of transformers writes it)", d.opts.Name, tokenizerFile, d.graph)
	}
	if d.tokenizer, err = readTokenizer(d.folder, d.manifest.Tokenizer); err != nil {
		return braid.Errorf(braid.Corrupt, "model %q: %w: fetch it again", d.opts.Name, err)
	}
	return nil
}

// decide settles everything but the files. The order matters: the output's form
// gives the kind, which gives the rest.
func (d *inspection) decide() {
	d.note("graph", d.graph, d.fromOption("file", d.opts.File, "the folder"))
	d.note("tokenizer", d.tokenizer.family+" in "+d.manifest.Tokenizer, d.manifest.Tokenizer)
	if !d.tokenizer.special {
		d.fail("its %s adds no special tokens (no post_processor), which braid's models need", d.manifest.Tokenizer)
	}
	d.decideInputs()
	if !d.decideOutput() {
		return
	}
	d.decidePooling()
	if d.manifest.Kind == models.Dense {
		d.decideNormalize()
	}
	d.decideMaxTokens()
	if d.manifest.Kind != models.CrossEncoder {
		d.decidePrefixes()
	}
	if d.manifest.Kind == models.Sparse {
		d.decideQueryWeights()
	}
	d.decideQuantization()
	d.decideLicence()
}

func (d *inspection) note(setting, value, from string) {
	d.decisions = append(d.decisions, Decision{Setting: setting, Value: value, From: from})
}

func (d *inspection) fail(format string, args ...any) {
	d.open = append(d.open, fmt.Sprintf(format, args...))
}

// fromOption names the option as the source when it was given.
func (d *inspection) fromOption(flag, value, otherwise string) string {
	if value != "" {
		return "--" + flag
	}
	return otherwise
}

// addFiles hashes what the manifest names.
func (d *inspection) addFiles() error {
	weights, err := weightPaths(d.graph, d.facts)
	if err != nil {
		return err
	}
	paths := append([]string{d.graph}, weights...)
	paths = append(paths, d.manifest.Tokenizer)
	if d.manifest.QueryWeights != "" {
		paths = append(paths, d.manifest.QueryWeights)
	}
	d.manifest.Files, err = describe(d.folder, paths)
	return err
}

func (d *inspection) decideInputs() {
	roles := map[string]*string{
		"input_ids":      &d.manifest.Inputs.TokenIDs,
		"attention_mask": &d.manifest.Inputs.AttentionMask,
		"token_type_ids": &d.manifest.Inputs.TypeIDs,
	}
	var names []string
	for _, in := range d.facts.inputs {
		role, known := roles[in.name]
		switch {
		case !known:
			d.fail("the graph reads %q, which braid cannot feed: export it for feature extraction, without a cache", in.name)
			continue
		case in.kind != int64Type || len(in.dims) != 2:
			d.fail("the graph's input %s is not int64 [texts, tokens]: export it with the usual input types", in)
		case in.dims[0] > 0 || in.dims[1] > 0:
			d.fail("the graph's input %s has a fixed size: export it with dynamic axes", in)
		}
		*role = in.name
		names = append(names, in.name)
	}
	if d.manifest.Inputs.TokenIDs == "" {
		d.fail("the graph has no input input_ids")
	}
	d.note("inputs", strings.Join(names, ", "), d.graph)
}

func (d *inspection) decideQuantization() {
	switch {
	case d.facts.dynamicInt8:
		d.manifest.Quantization = models.DynamicInt8
	case d.facts.int8:
		d.manifest.Quantization = models.Int8
	default:
		d.manifest.Quantization = models.NotQuantized
	}
	d.note("quantization", string(d.manifest.Quantization), d.graph)
}

func (d *inspection) decideLicence() {
	from := d.fromOption("licence", d.opts.Licence, d.config.licenceFrom)
	d.manifest.Licence = d.opts.Licence
	if d.manifest.Licence == "" {
		d.manifest.Licence = d.config.licence
	}
	if d.manifest.Licence == "" {
		d.manifest.Licence, from = UnknownLicence, "default: no file states it; --licence does"
	}
	d.note("licence", d.manifest.Licence, from)
}

// decideQueryWeights takes the token-weight table that OpenSearch's document
// encoders bring for their queries.
func (d *inspection) decideQueryWeights() {
	table, from := d.opts.QueryWeights, "--query-weights"
	switch table {
	case None:
		return
	case "":
		if table = d.config.locate(d.folder, weightsFile); table == "" {
			return
		}
		from = table
	default:
		table = path.Clean(table)
	}
	d.manifest.QueryWeights = table
	d.note("queries", "token weights of "+table+", no model run", from)
}
