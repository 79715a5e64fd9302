package detect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Names of the files that are read, besides the graph.
const (
	modulesFile    = "modules.json"
	poolingFile    = "config.json" // in the folder of a pooling module
	routerFile     = "router_config.json"
	promptsFile    = "config_sentence_transformers.json"
	lengthFile     = "sentence_bert_config.json"
	configFile     = "config.json"
	tokenizerNotes = "tokenizer_config.json"
	tokenizerFile  = "tokenizer.json"
	weightsFile    = "idf.json"
	cardFile       = "README.md"
)

const (
	maxConfigBytes    = 1 << 20
	maxModules        = 64
	maxTokenizerBytes = 64 << 20 // XLM-R's has 17 MB
)

// config is what the configuration files state; each value knows its file.
type config struct {
	dirs []string // where files are looked for, nearest to the graph first

	modules []module // of sentence-transformers, in order; nil without modules.json
	model   struct {
		Architectures []string       `json:"architectures"`
		ModelType     string         `json:"model_type"`
		Positions     int            `json:"max_position_embeddings"`
		Hidden        int            `json:"hidden_size"`
		Dim           int            `json:"dim"` // DistilBERT's hidden_size
		Vocabulary    int            `json:"vocab_size"`
		PadID         int            `json:"pad_token_id"`
		Labels        map[string]any `json:"id2label"`
		LabelCount    int            `json:"num_labels"`
	}
	modelFrom string

	pooling     map[string]any // of a pooling module
	poolingFrom string

	prompts struct {
		Prompts    map[string]string `json:"prompts"`
		Similarity string            `json:"similarity_fn_name"`
	}
	promptsFrom string

	maxLength     int // sentence_bert_config.json
	maxLengthFrom string

	tokenizerMax     float64 // tokenizer_config.json; 1e30 stands for "no limit"
	tokenizerMaxFrom string

	licence     string
	licenceFrom string
}

// module is an entry of modules.json.
type module struct {
	Path string `json:"path"`
	Type string `json:"type"`
}

// kind is the module's class without its package.
func (m module) kind() string { return m.Type[strings.LastIndexByte(m.Type, '.')+1:] }

// readConfig reads what files there are around the graph. Files that are there
// but cannot be read are errors.
func readConfig(folder fs.FS, graph string) (*config, error) {
	c := &config{dirs: searchFolders(graph)}
	if _, err := c.read(folder, modulesFile, &c.modules); err != nil {
		return nil, err
	}
	for i := 0; i < len(c.modules); i++ { // a router adds modules
		if err := c.readModule(folder, c.modules[i]); err != nil {
			return nil, err
		}
	}
	var length struct {
		Max int `json:"max_seq_length"`
	}
	var notes struct {
		Max float64 `json:"model_max_length"`
	}
	steps := []struct {
		file string
		into any
		from *string
	}{
		{configFile, &c.model, &c.modelFrom},
		{promptsFile, &c.prompts, &c.promptsFrom},
		{lengthFile, &length, &c.maxLengthFrom},
		{tokenizerNotes, &notes, &c.tokenizerMaxFrom},
	}
	for _, s := range steps {
		var err error
		if *s.from, err = c.read(folder, s.file, s.into); err != nil {
			return nil, err
		}
	}
	c.maxLength, c.tokenizerMax = length.Max, notes.Max
	return c, c.readCard(folder)
}

// searchFolders lists where a graph's configuration may lie: beside it, and
// above the onnx folder.
func searchFolders(graph string) []string {
	dirs := []string{path.Dir(graph)}
	for dir := dirs[0]; dir != "."; dir = path.Dir(dir) {
		dirs = append(dirs, path.Dir(dir))
	}
	return dirs
}

// readModule reads the settings of one module of sentence-transformers.
func (c *config) readModule(folder fs.FS, m module) error {
	if m.Path != "" && !fs.ValidPath(m.Path) {
		return fmt.Errorf("%s names the folder %q, which is not inside the model", modulesFile, m.Path)
	}
	switch m.kind() {
	case "Transformer", "MLMTransformer":
		if m.Path != "" && !slices.Contains(c.dirs, m.Path) {
			c.dirs = append(c.dirs, m.Path)
		}
	case "Router":
		return c.readRouter(folder, m)
	case "Pooling", "SpladePooling":
		from := path.Join(m.Path, poolingFile)
		found, err := readJSON(folder, from, &c.pooling)
		if err != nil {
			return err
		}
		if found {
			c.poolingFrom = from
		}
	}
	return nil
}

// readRouter adds the modules that encode documents; those for queries are a
// token-weight table, which is found by its own name.
func (c *config) readRouter(folder fs.FS, m module) error {
	var router struct {
		Types     map[string]string   `json:"types"`
		Structure map[string][]string `json:"structure"`
	}
	if _, err := readJSON(folder, path.Join(m.Path, routerFile), &router); err != nil {
		return err
	}
	for _, inner := range router.Structure["document"] {
		if router.Types[inner] != "" && len(c.modules) < maxModules {
			c.modules = append(c.modules, module{Path: path.Join(m.Path, inner), Type: router.Types[inner]})
		}
	}
	return nil
}

// read looks for a file in the search folders and decodes the first found. It
// returns its path, or "".
func (c *config) read(folder fs.FS, name string, into any) (string, error) {
	for _, dir := range c.dirs {
		file := path.Join(dir, name)
		found, err := readJSON(folder, file, into)
		if err != nil {
			return "", err
		}
		if found {
			return file, nil
		}
	}
	return "", nil
}

// readCard takes the licence from the front matter of the model card.
func (c *config) readCard(folder fs.FS) error {
	data, err := readBounded(folder, cardFile, maxConfigBytes)
	if err != nil {
		return nil // a card is for people; one that cannot be read costs the licence
	}
	text, ok := strings.CutPrefix(string(data), "---\n")
	front, _, closed := strings.Cut(text, "\n---")
	var card struct {
		Licence any `yaml:"license"`
	}
	if !ok || !closed || yaml.Load([]byte(front), &card) != nil {
		return nil
	}
	if licence, ok := card.Licence.(string); ok {
		c.licence, c.licenceFrom = licence, cardFile
	}
	return nil
}

// readJSON decodes a file that may be missing. Unknown fields are none of our
// business.
func readJSON(folder fs.FS, name string, into any) (bool, error) {
	data, err := readBounded(folder, name, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	return true, nil
}

// readBounded reads a regular file of at most limit bytes.
func readBounded(folder fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(folder, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	file, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return data, err
}

// tokenizerFacts is what matters here of a tokenizer.json.
type tokenizerFacts struct {
	family     string // for people
	vocabulary int    // number of ids, that of added tokens included
	special    bool   // whether it puts special tokens around a text
}

func readTokenizer(folder fs.FS, name string) (tokenizerFacts, error) {
	data, err := readBounded(folder, name, maxTokenizerBytes)
	if err != nil {
		return tokenizerFacts{}, fmt.Errorf("read %s: %w", name, err)
	}
	var file struct {
		Model struct {
			Type  string          `json:"type"`
			Vocab json.RawMessage `json:"vocab"`
		} `json:"model"`
		AddedTokens []struct {
			ID int `json:"id"`
		} `json:"added_tokens"`
		PostProcessor struct {
			Type string `json:"type"`
		} `json:"post_processor"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return tokenizerFacts{}, fmt.Errorf("read %s: %w", name, err)
	}
	t := tokenizerFacts{family: file.Model.Type, special: file.PostProcessor.Type != ""}
	if file.Model.Type == "Unigram" {
		var list []json.RawMessage
		if err := json.Unmarshal(file.Model.Vocab, &list); err != nil {
			return t, fmt.Errorf("read %s: model.vocab: %w", name, err)
		}
		t.vocabulary = len(list)
	} else {
		var ids map[string]int
		if err := json.Unmarshal(file.Model.Vocab, &ids); err != nil {
			return t, fmt.Errorf("read %s: model.vocab: %w", name, err)
		}
		for _, id := range ids {
			t.vocabulary = max(t.vocabulary, id+1)
		}
	}
	for _, token := range file.AddedTokens {
		t.vocabulary = max(t.vocabulary, token.ID+1)
	}
	return t, nil
}
