package models

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/braid-search/braid"
)

// Kind says what a model computes.
type Kind string

const (
	Dense        Kind = "dense"         // one vector per text
	Sparse       Kind = "sparse"        // one weight per text and vocabulary entry
	CrossEncoder Kind = "cross-encoder" // one relevance logit per (query, passage)
)

// Form says what the output tensor of a graph holds, and so its shape.
type Form string

const (
	// HiddenStates are [batch, sequence, dimensions], to be pooled. With CLSPooling
	// a graph may give the first token's alone, [batch, 1, dimensions].
	HiddenStates      Form = "hidden-states"
	Pooled            Form = "pooled"             // [batch, dimensions]
	VocabularyWeights Form = "vocabulary-weights" // [batch, dimensions], each at least 0
	TokenLogits       Form = "token-logits"       // [batch, sequence, dimensions] over the vocabulary, to be pooled
	Logit             Form = "logit"              // [batch, 1]
)

// Pooling says how a vector per token becomes one per text.
type Pooling string

const (
	NoPooling   Pooling = "none" // the output is one vector already
	CLSPooling  Pooling = "cls"  // the first token's state
	MeanPooling Pooling = "mean" // the mean over the tokens that are not padding

	// SPLADEPooling is, of TokenLogits, log(1 + relu(x)) of the maximum x over
	// the tokens, special ones included, as in SPLADE v2 and later (Formal et al.
	// 2021).
	SPLADEPooling Pooling = "splade"
	// DoubleLogPooling is log(1 + log(1 + relu(x))), as in OpenSearch's v3 encoders.
	DoubleLogPooling Pooling = "splade-double-log"
)

// Quantization says how the weights are stored, as far as it matters to the
// caller.
type Quantization string

const (
	// NotQuantized models give a text the same output whatever its batch mates.
	NotQuantized Quantization = "none"
	// DynamicInt8 models scale activations over the whole batch, so that batch
	// mates change each other's outputs: they run one text at a time.
	DynamicInt8 Quantization = "dynamic-int8"
	// Int8 models multiply in int8 and scale the activations of each text by
	// themselves, so that batch mates do not matter.
	Int8 Quantization = "int8"
)

// ManifestFile is the name of the manifest in a model's folder.
const ManifestFile = "manifest.yaml"

// Limits on what a manifest may ask for. They bound what reading one costs.
const (
	MaxManifestBytes        = 64 << 10
	MaxNameBytes            = 64
	MaxFiles                = 64
	MaxDimensions           = 8192    // of a dense vector
	MaxVocabulary           = 1 << 24 // of a sparse vector
	MaxTokensPerText        = 1 << 17
	MaxPrefixBytes          = 4 << 10
	minTokensPerText        = 4 // [CLS] a [SEP] b: less holds no pair
	sha256HexadecimalDigits = 2 * sha256.Size
)

// Manifest describes a model: the contract between its files and the code that
// runs them. The comments say "changes outputs" where Digest covers a field.
type Manifest struct {
	// Name identifies the model and names its folder: letters, digits, '-', '_'
	// and '.', starting with a letter or digit.
	Name string `yaml:"name"`
	// Kind decides which of the other settings apply. Changes outputs.
	Kind Kind `yaml:"kind"`
	// Licence of the weights, as an SPDX expression.
	Licence string `yaml:"licence"`
	// Source says where the files came from; for people.
	Source Source `yaml:"source"`
	// Files are all files of the model but the manifest. Their content changes
	// outputs, their names do not.
	Files []File `yaml:"files"`
	// Graph and Tokenizer are the paths of the ONNX graph and of the Hugging Face
	// tokenizer.json among Files.
	Graph     string `yaml:"graph"`
	Tokenizer string `yaml:"tokenizer"`
	// Inputs and Output name the graph's tensors. Change outputs.
	Inputs Inputs `yaml:"inputs"`
	Output Output `yaml:"output"`
	// Pooling is NoPooling unless the output has the form HiddenStates or
	// TokenLogits. Changes outputs.
	Pooling Pooling `yaml:"pooling"`
	// Normalize scales dense vectors to length 1. Changes outputs.
	Normalize bool `yaml:"normalize,omitempty"`
	// Dimensions is the length of a dense vector or the size of a sparse model's
	// vocabulary, and 0 for a cross-encoder. Changes outputs.
	Dimensions int `yaml:"dimensions,omitempty"`
	// MaxTokens is the longest input in tokens, special tokens included; longer
	// ones are cut. Changes outputs.
	MaxTokens int `yaml:"max_tokens"`
	// QueryPrefix and PassagePrefix are put before a text, byte for byte, by its
	// role. Change outputs.
	QueryPrefix   string `yaml:"query_prefix,omitempty"`
	PassagePrefix string `yaml:"passage_prefix,omitempty"`
	// Quantization of the weights. Changes outputs.
	Quantization Quantization `yaml:"quantization"`
	// QueryWeights, of a sparse model only, is the path among Files of a JSON
	// object from token to weight. Queries are then not run through the graph:
	// each distinct token of the text gets its weight from the table, special
	// tokens and those not in it get none. Changes outputs.
	QueryWeights string `yaml:"query_weights,omitempty"`
}

// Source says where a model came from.
type Source struct {
	Package  string `yaml:"package,omitempty"`  // the package that carries the files
	Version  string `yaml:"version,omitempty"`  // of that package
	Model    string `yaml:"model,omitempty"`    // what its authors call it, such as "BAAI/bge-small-en-v1.5"
	Hub      string `yaml:"hub,omitempty"`      // URL of the model hub the files came from, where Model names the repository
	Revision string `yaml:"revision,omitempty"` // commit on the hub
}

// File is one file of a model.
type File struct {
	Path   string `yaml:"path"`   // relative to the model's folder, with '/' between parts
	Size   int64  `yaml:"size"`   // bytes
	SHA256 string `yaml:"sha256"` // 64 lower-case hexadecimal digits
}

// Inputs gives the name of the graph's input tensor for each meaning. All are
// int64 [batch, sequence]. A graph may lack the optional ones; one that has an
// input not named here cannot be fed.
type Inputs struct {
	TokenIDs      string `yaml:"token_ids"`
	AttentionMask string `yaml:"attention_mask,omitempty"` // 1 for tokens, 0 for padding
	TypeIDs       string `yaml:"type_ids,omitempty"`       // 0 for a text or query, 1 for the passage of a pair
}

// Output names the float32 tensor to read and says what it holds.
type Output struct {
	Name string `yaml:"name"`
	Form Form   `yaml:"form"`
}

// ParseManifest reads one manifest, refuses fields it does not know, and
// validates it. Errors are braid.InvalidArgument.
func ParseManifest(data []byte) (Manifest, error) {
	var m Manifest
	if err := decodeStrict(data, &m); err != nil {
		return Manifest{}, err
	}
	if err := m.Validate(); err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// decodeStrict reads the one YAML document in data into target. The library
// bounds nesting and what aliases expand to.
func decodeStrict(data []byte, target any) error {
	if len(data) > MaxManifestBytes {
		return braid.Errorf(braid.InvalidArgument, "manifest has more than %d bytes", MaxManifestBytes)
	}
	if err := yaml.Load(data, target, yaml.WithKnownFields()); err != nil {
		return braid.Errorf(braid.InvalidArgument, "manifest cannot be read: %w", err)
	}
	return nil
}

// Validate reports every fault of the manifest in one error, each with the
// value at fault, or nil. It looks at no file.
func (m Manifest) Validate() error {
	var f faults
	if err := ValidateName(m.Name); err != nil {
		f.add("%s", err)
	}
	f.check(m.Licence != "", "licence is empty: state the licence of the weights, such as Apache-2.0")
	m.validateFiles(&f)
	f.check(m.Inputs.TokenIDs != "", "inputs.token_ids is empty: name the graph's input for token ids")
	f.check(distinct(m.Inputs.Names()), "inputs %q name a tensor twice", m.Inputs.Names())
	f.check(m.Output.Name != "", "output.name is empty: name the graph's output to read")
	m.validateShape(&f)
	f.check(m.MaxTokens >= minTokensPerText && m.MaxTokens <= MaxTokensPerText, "max_tokens is %d, want %d to %d", m.MaxTokens, minTokensPerText, MaxTokensPerText)
	for _, prefix := range []struct{ field, value string }{{"query_prefix", m.QueryPrefix}, {"passage_prefix", m.PassagePrefix}} {
		f.check(len(prefix.value) <= MaxPrefixBytes, "%s has %d bytes, the limit is %d", prefix.field, len(prefix.value), MaxPrefixBytes)
		f.check(utf8.ValidString(prefix.value), "%s is not valid UTF-8", prefix.field)
		f.check(prefix.value == "" || m.Kind != CrossEncoder, "%s is %.40q, but a cross-encoder takes none", prefix.field, prefix.value)
	}
	f.oneOf("quantization", string(m.Quantization), string(NotQuantized), string(Int8), string(DynamicInt8))
	return f.err(m.Name)
}

func (m Manifest) validateFiles(f *faults) {
	f.check(len(m.Files) <= MaxFiles, "files has %d entries, the limit is %d", len(m.Files), MaxFiles)
	paths := make([]string, len(m.Files))
	for i, file := range m.Files {
		paths[i] = file.Path
		f.check(localPath(file.Path), "files[%d].path is %q: want a path inside the model's folder, such as model.onnx", i, file.Path)
		f.check(!strings.EqualFold(file.Path, ManifestFile), "files[%d].path is %q, which is the manifest itself", i, file.Path)
		f.check(file.Size > 0, "files[%d].size is %d, want the bytes of %q", i, file.Size, file.Path)
		f.check(isSHA256(file.SHA256), "files[%d].sha256 is %.80q, want %d lower-case hexadecimal digits", i, file.SHA256, sha256HexadecimalDigits)
	}
	f.check(distinct(paths), "files %q name a path twice", paths)
	f.check(slices.Contains(paths, m.Graph), "graph is %q, which is not among the files %q", m.Graph, paths)
	f.check(slices.Contains(paths, m.Tokenizer), "tokenizer is %q, which is not among the files %q", m.Tokenizer, paths)
	if m.QueryWeights != "" {
		f.check(m.Kind == Sparse, "query_weights is %q, but only a sparse model has any", m.QueryWeights)
		f.check(slices.Contains(paths, m.QueryWeights), "query_weights is %q, which is not among the files %q", m.QueryWeights, paths)
	}
}

// validateShape checks that kind, output form, pooling and dimensions agree.
func (m Manifest) validateShape(f *faults) {
	var forms []string
	dimensions := 0 // the largest there may be
	switch m.Kind {
	case Dense:
		forms, dimensions = []string{string(HiddenStates), string(Pooled)}, MaxDimensions
	case Sparse:
		forms, dimensions = []string{string(VocabularyWeights), string(TokenLogits)}, MaxVocabulary
	case CrossEncoder:
		forms = []string{string(Logit)}
	default:
		f.oneOf("kind", string(m.Kind), string(Dense), string(Sparse), string(CrossEncoder))
		return
	}
	f.oneOf("output.form", string(m.Output.Form), forms...)
	if dimensions == 0 {
		f.check(m.Dimensions == 0, "dimensions is %d, but a %s has none", m.Dimensions, m.Kind)
	} else {
		f.check(m.Dimensions >= 1 && m.Dimensions <= dimensions, "dimensions is %d, want 1 to %d for a %s model", m.Dimensions, dimensions, m.Kind)
	}
	switch m.Output.Form {
	case HiddenStates:
		f.oneOf("pooling", string(m.Pooling), string(CLSPooling), string(MeanPooling))
	case TokenLogits:
		f.oneOf("pooling", string(m.Pooling), string(SPLADEPooling), string(DoubleLogPooling))
	default:
		f.oneOf("pooling", string(m.Pooling), string(NoPooling))
	}
	f.check(!m.Normalize || m.Kind == Dense, "normalize is true, but only dense vectors are normalised")
}

// ValidateName reports why name cannot name a model, or nil.
func ValidateName(name string) error {
	if name == "" || len(name) > MaxNameBytes {
		return braid.Errorf(braid.InvalidArgument, "model name %.80q has %d bytes, want 1 to %d", name, len(name), MaxNameBytes)
	}
	for i := range len(name) {
		c := name[i]
		alphanumeric := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alphanumeric && (i == 0 || c != '-' && c != '_' && c != '.') {
			return braid.Errorf(braid.InvalidArgument, "model name %q: use letters, digits, '-', '_' and '.', starting with a letter or digit", name)
		}
	}
	return nil
}

// Names returns the tensor names in use.
func (in Inputs) Names() []string {
	return slices.DeleteFunc([]string{in.TokenIDs, in.AttentionMask, in.TypeIDs}, func(name string) bool { return name == "" })
}

// Digest identifies what the model computes: the SHA-256, as 64 hexadecimal
// digits, of the contents of its files and of the settings that change its
// outputs. Name, licence, source and file names are not part of it. The
// manifest must be valid.
func (m Manifest) Digest() string {
	role := func(file File) string {
		switch file.Path {
		case m.Graph:
			return "graph " + file.SHA256
		case m.Tokenizer:
			return "tokenizer " + file.SHA256
		case m.QueryWeights:
			return "query weights " + file.SHA256
		}
		return "other " + file.SHA256
	}
	contents := make([]string, len(m.Files))
	for i, file := range m.Files {
		contents[i] = role(file)
	}
	slices.Sort(contents)
	h := sha256.New()
	fmt.Fprintf(h, "braid model 1\n%q\n", contents) // raise the number when the lines below change
	fmt.Fprintf(h, "%q %q\n", m.Inputs, m.Output)
	fmt.Fprintf(h, "%q %q %t %d %d %q %q %q\n", m.Kind, m.Pooling, m.Normalize, m.Dimensions, m.MaxTokens, m.QueryPrefix, m.PassagePrefix, m.Quantization)
	return hex.EncodeToString(h.Sum(nil))
}

// Size is the sum of the sizes of the model's files in bytes.
func (m Manifest) Size() int64 {
	var n int64
	for _, file := range m.Files {
		n += file.Size
	}
	return n
}

// localPath reports whether p is a plain relative path that stays in its
// folder on every system.
func localPath(p string) bool {
	return p != "." && path.Clean(p) == p && filepath.IsLocal(p) && !strings.ContainsAny(p, `\:`) &&
		utf8.ValidString(p) && !strings.ContainsFunc(p, unicode.IsControl)
}

func isSHA256(s string) bool {
	return len(s) == sha256HexadecimalDigits && strings.Trim(s, "0123456789abcdef") == ""
}

func distinct(names []string) bool {
	sorted := slices.Sorted(slices.Values(names))
	return len(slices.Compact(sorted)) == len(names)
}

// faults collects what is wrong, so that a manifest is mended in one go.
type faults []string

func (f *faults) add(format string, args ...any) {
	*f = append(*f, fmt.Sprintf(format, args...))
}

func (f *faults) check(ok bool, format string, args ...any) {
	if !ok {
		f.add(format, args...)
	}
}

func (f *faults) oneOf(field, value string, allowed ...string) {
	f.check(slices.Contains(allowed, value), "%s is %q, want one of %q", field, value, allowed)
}

func (f faults) err(name string) error {
	if len(f) == 0 {
		return nil
	}
	return braid.Errorf(braid.InvalidArgument, "manifest of model %.80q: %s", name, strings.Join(f, "; "))
}
