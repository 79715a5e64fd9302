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

// Graph chooses the graph among the paths of a model's files: the one that file
// names (a path, or the last part of one), or else the only one, or else the
// one called model.onnx. Errors are braid.InvalidArgument and list the choices.
func Graph(paths []string, file string) (string, error) {
	var graphs []string
	for _, p := range paths {
		if path.Ext(p) == ".onnx" {
			graphs = append(graphs, p)
		}
	}
	slices.Sort(graphs)
	if len(graphs) == 0 {
		return "", braid.Errorf(braid.InvalidArgument, "the model has no .onnx file: export it first, for instance with Optimum: optimum-cli export onnx --model MODEL FOLDER")
	}
	wanted := file
	if file == "" {
		if len(graphs) == 1 {
			return graphs[0], nil
		}
		wanted = "model.onnx"
	}
	var matches []string
	for _, g := range graphs {
		if g == file {
			return g, nil
		}
		if path.Base(g) == wanted {
			matches = append(matches, g)
		}
	}
	if len(matches) == 1 {
		return matches[0], nil
	}
	if file != "" && len(matches) == 0 {
		return "", braid.Errorf(braid.InvalidArgument, "the model has no file %q: --file takes one of %s", file, strings.Join(graphs, ", "))
	}
	return "", braid.Errorf(braid.InvalidArgument, "the model has several graphs: choose one with --file: %s", strings.Join(graphs, ", "))
}

// Needed returns those of paths that Inspect reads for graph, the graph itself
// and its tokenizer included. Weights outside the graph are not among them;
// see Weights.
func Needed(paths []string, graph string) []string {
	names := []string{tokenizerFile, weightsFile, modulesFile, routerFile, promptsFile, lengthFile, configFile, tokenizerNotes}
	var needed []string
	for _, p := range paths {
		if p == graph || p == cardFile || slices.Contains(names, path.Base(p)) && strings.Count(p, "/") <= 2 {
			needed = append(needed, p)
		}
	}
	return needed
}

// Weights returns the paths of the files beside the graph that hold its
// weights. Errors are braid.Corrupt for a file that is no whole ONNX graph.
func Weights(folder fs.FS, graph string) ([]string, error) {
	facts, err := openGraph(folder, graph)
	if err != nil {
		return nil, err
	}
	return weightPaths(graph, facts)
}

func weightPaths(graph string, facts graphFacts) ([]string, error) {
	var paths []string
	for _, w := range facts.weights {
		p := path.Join(path.Dir(graph), w)
		if path.IsAbs(w) || !fs.ValidPath(p) {
			return nil, braid.Errorf(braid.Corrupt, "%s keeps weights in %q, which is not inside the model's folder: export it again", graph, w)
		}
		paths = append(paths, p)
	}
	return paths, nil
}

func openGraph(folder fs.FS, graph string) (graphFacts, error) {
	info, err := fs.Stat(folder, graph)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("it is not a regular file")
	}
	if err != nil {
		return graphFacts{}, braid.Errorf(braid.NotFound, "read graph %s: %w", graph, err)
	}
	file, err := folder.Open(graph)
	if err != nil {
		return graphFacts{}, braid.Errorf(braid.NotFound, "read graph %s: %w", graph, err)
	}
	defer file.Close()
	facts, err := readGraph(file, info.Size())
	if err != nil {
		return graphFacts{}, braid.Errorf(braid.Corrupt, "read graph %s: %w: fetch or export it again", graph, err)
	}
	return facts, nil
}

// locate returns the first of the search folders' files called name, or "".
func (c *config) locate(folder fs.FS, name string) string {
	for _, dir := range c.dirs {
		file := path.Join(dir, name)
		if info, err := fs.Stat(folder, file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

// tokenizer returns the path of the tokenizer: the nearest tokenizer.json, or
// the only file beside the graph whose name ends so.
func (c *config) tokenizer(folder fs.FS) string {
	if file := c.locate(folder, tokenizerFile); file != "" {
		return file
	}
	matches, err := fs.Glob(folder, path.Join(c.dirs[0], "*"+tokenizerFile))
	if err != nil || len(matches) != 1 {
		return ""
	}
	return matches[0]
}

// describe hashes the files of the manifest.
func describe(folder fs.FS, paths []string) ([]models.File, error) {
	var files []models.File
	for _, p := range paths {
		file, err := models.Describe(folder, p)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}
