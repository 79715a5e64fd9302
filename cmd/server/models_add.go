package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
	"github.com/braid-search/braid/models/detect"
)

// hubPrefix marks a source that is on a hub rather than in a folder.
const hubPrefix = "hub:"

// addConfig holds the flags of models add and pull.
type addConfig struct {
	hubConfig
	selfTestConfig
	detect.Options
	kind, pooling              string
	normalize                  bool
	queryPrefix, passagePrefix string
}

func newModelsAddCommand(root func() string) *cobra.Command {
	var cfg addConfig
	cmd := &cobra.Command{
		Use:   "add DIR|hub:OWNER/NAME[@REVISION]",
		Short: "Add a model from a folder or a hub",
		Long: `Add an ONNX model as sentence-transformers, Optimum or FastEmbed lay it out: work
out from its graph and configuration what it is and how it is run, copy it, and
run it once. What no file says is asked for with a flag; a flag wins over the files.

From a hub, the revision (main if left out) is resolved to a commit, which the
manifest records. Only the graph, the tokenizer and the configuration are fetched,
and a fetch that was stopped goes on where it was. A token for private models is
read from BRAID_HUB_TOKEN or HF_TOKEN. A folder with a manifest.yaml is taken as it is.`,
		Example: `  braid models add ./all-MiniLM-L6-v2
  braid models add ./my-export --pooling mean --max-tokens 512 --name my-model
  braid models add hub:BAAI/bge-small-en-v1.5 --query-prefix "Represent this sentence for searching relevant passages: "
  braid models add hub:OWNER/NAME@COMMIT --file onnx/model_quantized.onnx`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg.complete(cmd.Flags())
			if ref, ok := strings.CutPrefix(args[0], hubPrefix); ok {
				return cfg.addFromHub(cmd, root(), ref)
			}
			return cfg.addFromFolder(cmd, root(), args[0])
		},
	}
	cfg.register(cmd.Flags())
	return cmd
}

func (c *addConfig) register(flags *pflag.FlagSet) {
	c.hubConfig.register(flags)
	c.selfTestConfig.register(flags)
	flags.StringVar(&c.Name, "name", "", "name of the model here (default: that of the folder or of the hub)")
	flags.StringVar(&c.File, "file", "", "the .onnx file, when there are several and none is model.onnx")
	flags.StringVar(&c.Licence, "licence", "", "licence of the weights, as an SPDX expression")
	flags.StringVar(&c.kind, "kind", "", "dense, sparse or cross-encoder")
	flags.StringVar(&c.Output, "output", "", "the graph's output to read")
	flags.StringVar(&c.pooling, "pooling", "", "cls or mean of hidden states; splade or splade-double-log of token logits")
	flags.BoolVar(&c.normalize, "normalize", true, "scale dense vectors to length 1")
	flags.IntVar(&c.MaxTokens, "max-tokens", 0, "the longest input in tokens, special ones included")
	flags.StringVar(&c.queryPrefix, "query-prefix", "", "put before queries, byte for byte")
	flags.StringVar(&c.passagePrefix, "passage-prefix", "", "put before passages, byte for byte")
	flags.StringVar(&c.QueryWeights, "query-weights", "", "JSON table of token weights that encodes a sparse model's queries, or none (default: idf.json if there is one)")
}

// complete takes over the flags whose absence means something.
func (c *addConfig) complete(flags *pflag.FlagSet) {
	c.Kind, c.Pooling = models.Kind(c.kind), models.Pooling(c.pooling)
	if flags.Changed("normalize") {
		c.Normalize = &c.normalize
	}
	if flags.Changed("query-prefix") {
		c.QueryPrefix = &c.queryPrefix
	}
	if flags.Changed("passage-prefix") {
		c.PassagePrefix = &c.passagePrefix
	}
}

// manifestFlags are those whose subject a manifest states.
var manifestFlags = []string{"file", "licence", "kind", "output", "pooling", "normalize", "max-tokens", "query-prefix", "passage-prefix", "query-weights"}

func (c *addConfig) addFromFolder(cmd *cobra.Command, root, dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is a file: name the folder that holds it, and the file with --file")
	}
	if err != nil {
		return braid.Errorf(braid.NotFound, "add the model in %q: %w", dir, err)
	}
	if _, err := os.Stat(filepath.Join(dir, models.ManifestFile)); err == nil {
		return c.addWithManifest(cmd, root, dir)
	}
	if c.Name == "" {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			return braid.Errorf(braid.Internal, "add the model in %q: %w", dir, err)
		}
		c.Name = nameFrom(filepath.Base(absolute))
	}
	return c.install(cmd, root, os.DirFS(dir))
}

// addWithManifest installs a folder that is a model of ours already.
func (c *addConfig) addWithManifest(cmd *cobra.Command, root, dir string) error {
	for _, flag := range manifestFlags {
		if cmd.Flags().Changed(flag) {
			return braid.Errorf(braid.InvalidArgument, "--%s says something about the model in %q, which its %s says already: leave out the flag, or remove that file to have it worked out anew", flag, dir, models.ManifestFile)
		}
	}
	m, err := models.Open(dir)
	if err != nil {
		return err
	}
	if c.Name != "" {
		m.Name = c.Name
	}
	return c.installAs(cmd, root, m.Manifest, os.DirFS(dir))
}

// nameFrom makes a model's name of a folder's: characters that no name may
// have become '-'.
func nameFrom(folder string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && models.ValidateName("a"+string(r)) == nil {
			return r
		}
		return '-'
	}, folder)
	return strings.TrimLeft(name[:min(len(name), models.MaxNameBytes)], "-_.")
}

// install works out the manifest of the model in folder, installs and tests it.
func (c *addConfig) install(cmd *cobra.Command, root string, folder fs.FS) error {
	result, err := detect.Inspect(folder, c.Options)
	if err != nil {
		return err
	}
	if err := printDecisions(cmd, result.Decisions); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(cmd.OutOrStdout()); err != nil {
		return err
	}
	return c.installAs(cmd, root, result.Manifest, folder)
}

// installAs installs and tests a model whose manifest is known. A model that
// fails its test is removed again, unless it was there before.
func (c *addConfig) installAs(cmd *cobra.Command, root string, m models.Manifest, folder fs.FS) error {
	existing, err := models.Find(root, m.Name)
	switch code := braid.CodeOf(err); {
	case err == nil && existing.Digest() != m.Digest():
		return braid.Errorf(braid.Conflict, "another model is called %q already: add this one under another --name, or remove that one: braid models remove %s", m.Name, m.Name)
	case err != nil && code != braid.NotFound && code != braid.Corrupt:
		return err
	}
	model, installErr := models.Install(root, m, folder)
	if installErr != nil {
		return installErr
	}
	outcome, err := c.selfTest(cmd.Context(), model)
	if err != nil {
		if existing == nil {
			err = errors.Join(err, models.Remove(root, m.Name))
		}
		return braid.Errorf(braid.CodeOf(err), "model %q was not added, its self-test failed: %w", m.Name, err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "added %s to %s: %.1f MiB, digest %s\nself-test: %s\n", m.Name, root, float64(m.Size())/(1<<20), m.Digest(), outcome)
	return err
}

func printDecisions(cmd *cobra.Command, decisions []detect.Decision) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 2, ' ', 0)
	for _, d := range decisions {
		_, _ = fmt.Fprintf(w, "%s\t%s\t← %s\n", d.Setting, d.Value, d.From) // buffered: Flush reports
	}
	return w.Flush()
}

// defaultName is the last part of a hub's OWNER/NAME.
func defaultName(id string) string { return nameFrom(path.Base(id)) }
