package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
	"github.com/braid-search/braid/models/detect"
	"github.com/braid-search/braid/models/hub"
)

// hubConfig says which hub to ask, if any.
type hubConfig struct {
	url     string
	offline bool
}

func (c *hubConfig) register(flags *pflag.FlagSet) {
	flags.StringVar(&c.url, "hub-url", hub.DefaultURL, "model hub or a mirror of it")
	flags.BoolVar(&c.offline, "offline", false, "open no connection; fail where one is needed")
}

func (c *hubConfig) client() (*hub.Client, error) {
	return hub.New(hub.Options{URL: c.url, Token: hubToken(), Offline: c.offline})
}

// hubToken comes from the environment only: a flag would show in the list of
// processes.
func hubToken() string {
	if token := os.Getenv("BRAID_HUB_TOKEN"); token != "" {
		return token
	}
	return os.Getenv("HF_TOKEN")
}

func (c *addConfig) addFromHub(cmd *cobra.Command, root, ref string) error {
	id, rev, err := hub.ParseRef(ref)
	if err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	defer client.Close()
	snapshot, err := client.Resolve(cmd.Context(), id, rev)
	if err != nil {
		return err
	}
	graph, err := detect.Graph(snapshot.Paths(), c.File)
	if err != nil {
		return fmt.Errorf("%s at %s: %w", id, rev, err)
	}
	f := fetching{client: client, snapshot: snapshot, dir: fetchFolder(root, snapshot), stderr: cmd.ErrOrStderr()}
	if err := f.fetch(cmd.Context(), detect.Needed(snapshot.Paths(), graph)); err != nil {
		return err
	}
	weights, err := detect.Weights(os.DirFS(f.dir), graph)
	if err != nil {
		return err
	}
	if err := f.fetch(cmd.Context(), weights); err != nil {
		return err
	}
	c.File = graph
	c.Source = models.Source{Model: id, Hub: client.URL(), Revision: snapshot.Commit}
	if c.Name == "" {
		c.Name = defaultName(id)
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s at %s is commit %s\n\n", id, rev, snapshot.Commit); err != nil {
		return err
	}
	if err := c.install(cmd, root, os.DirFS(f.dir)); err != nil {
		return err
	}
	return f.clear()
}

// fetchFolder is where the files of a snapshot gather: beside the models, so
// that it is the same disk, and hidden from their list.
func fetchFolder(root string, s *hub.Snapshot) string {
	return filepath.Join(root, ".fetch-"+strings.ReplaceAll(s.ID, "/", "--")+"-"+s.Commit)
}

// fetching brings files of a snapshot into a folder that stays if it fails.
type fetching struct {
	client   *hub.Client
	snapshot *hub.Snapshot
	dir      string
	stderr   io.Writer
}

func (f *fetching) fetch(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	bar := newByteProgress(f.stderr, "fetch "+f.snapshot.ID, 0) // Fetch tells the total
	defer bar.finish()
	return f.client.Fetch(ctx, f.snapshot, paths, f.dir, func(p hub.Progress) { bar.to(p.Done, p.Total) })
}

// clear removes the folder: the installed model has its own copy.
func (f *fetching) clear() error {
	if err := os.RemoveAll(f.dir); err != nil {
		return braid.Errorf(braid.Internal, "remove the fetched files: %w", err)
	}
	return nil
}

func newModelsPullCommand(root func() string) *cobra.Command {
	var cfg addConfig
	cmd := &cobra.Command{
		Use:   "pull NAME|OWNER/NAME[@REVISION]",
		Short: "Fetch a model by name, or again one that is damaged",
		Long: `OWNER/NAME is added from the hub, as by "models add hub:OWNER/NAME". A plain NAME
is a model that was added from a hub: if its files are damaged, they are fetched
again, at the commit and with the checksums its manifest records.`,
		Example: `  braid models pull sentence-transformers/all-MiniLM-L6-v2
  braid models pull my-model`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg.complete(cmd.Flags())
			if strings.Contains(args[0], "/") {
				return cfg.addFromHub(cmd, root(), strings.TrimPrefix(args[0], hubPrefix))
			}
			return cfg.pullAgain(cmd, root(), args[0])
		},
	}
	cfg.register(cmd.Flags())
	return cmd
}

// pullAgain mends the model called name.
func (c *addConfig) pullAgain(cmd *cobra.Command, root, name string) error {
	m, err := knownManifest(root, name)
	if err != nil {
		return err
	}
	if have, err := models.Find(root, name); err == nil && have.Digest() == m.Digest() {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is there, and all its files are right\n", name)
		return err
	}
	if m.Source.Hub == "" {
		return braid.Errorf(braid.InvalidArgument, "model %q came from no hub: run `make setup` if it is one of the catalogue's, or add it again from where it came", name)
	}
	if c.url == hub.DefaultURL {
		c.url = m.Source.Hub // a mirror may be named instead
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	defer client.Close()
	snapshot, err := client.Resolve(cmd.Context(), m.Source.Model, m.Source.Revision)
	if err != nil {
		return err
	}
	f := fetching{client: client, snapshot: snapshot, dir: fetchFolder(root, snapshot), stderr: cmd.ErrOrStderr()}
	var paths []string
	for _, file := range m.Files {
		paths = append(paths, file.Path)
	}
	if err := f.fetch(cmd.Context(), paths); err != nil {
		return err
	}
	if err := c.installAs(cmd, root, m, os.DirFS(f.dir)); err != nil {
		return err
	}
	return f.clear()
}

// knownManifest returns the manifest of an installed model, damaged or not, or
// of one of the catalogue's.
func knownManifest(root, name string) (models.Manifest, error) {
	installed, err := models.List(root)
	if err != nil {
		return models.Manifest{}, err
	}
	catalogue, err := models.Catalogue()
	if err != nil {
		return models.Manifest{}, err
	}
	for _, m := range installed {
		if m.Name == name && m.Err == nil {
			return m.Manifest, nil
		}
	}
	if at := slices.IndexFunc(catalogue, func(m models.Manifest) bool { return m.Name == name }); at >= 0 {
		return catalogue[at], nil
	}
	return models.Manifest{}, braid.Errorf(braid.NotFound, "no model is called %q, here or in the catalogue: to fetch one from the hub, give OWNER/NAME", name)
}
