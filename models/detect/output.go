package detect

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/braid-search/braid/models"
)

// candidate is an output that could be read, with what it holds.
type candidate struct {
	tensor tensor
	form   models.Form
	rank   int // smaller is better; notOffered: only if asked for by name
}

const notOffered = 100

// kindOf is the only kind whose models have outputs of the form.
func kindOf(form models.Form) models.Kind {
	switch form {
	case models.Logit:
		return models.CrossEncoder
	case models.VocabularyWeights, models.TokenLogits:
		return models.Sparse
	}
	return models.Dense
}

// decideOutput chooses the output to read, and with it form, kind and
// dimensions. It reports whether it could.
func (d *inspection) decideOutput() bool {
	if refused := d.refusedTask(); refused != "" {
		d.fail("%s", refused)
		return false
	}
	candidates, why := d.candidates()
	best := notOffered
	for _, c := range candidates {
		best = min(best, c.rank)
	}
	candidates = slices.DeleteFunc(candidates, func(c candidate) bool { return c.rank > best })
	switch {
	case len(candidates) == 0:
		d.fail("no output of the graph can be read%s: its outputs are %s", why, d.listOutputs())
		return false
	case len(candidates) > 1 || best == notOffered && d.opts.Output == "":
		d.fail("it is not clear which output to read: give --output, one of %s", d.listOutputs())
		return false
	}
	c := candidates[0]
	d.manifest.Output = models.Output{Name: c.tensor.name, Form: c.form}
	d.manifest.Kind = kindOf(c.form)
	d.note("output", fmt.Sprintf("%s: %s", c.tensor, c.form), d.fromOption("output", d.opts.Output, d.graph))
	d.note("kind", string(d.manifest.Kind), d.fromOption("kind", string(d.opts.Kind), "the output's form"))
	return d.decideDimensions(c)
}

// refusedTask says why a model made for another task cannot be used, or "".
func (d *inspection) refusedTask() string {
	if d.opts.Kind != "" || d.opts.Output != "" {
		return ""
	}
	for _, architecture := range d.config.model.Architectures {
		for _, task := range []string{"ForTokenClassification", "ForQuestionAnswering", "ForCausalLM", "ForMultipleChoice", "ForConditionalGeneration"} {
			if strings.HasSuffix(architecture, task) {
				return fmt.Sprintf("%s says it is a %s, which is no embedding, SPLADE or reranking model (if it is one all the same, give --kind)", d.config.modelFrom, architecture)
			}
		}
	}
	return ""
}

func (d *inspection) listOutputs() string {
	list := make([]string, len(d.facts.outputs))
	for i, out := range d.facts.outputs {
		list[i] = out.String()
	}
	return strings.Join(list, "; ")
}

// candidates returns the outputs that can be read, and why others cannot.
func (d *inspection) candidates() (list []candidate, why string) {
	for _, out := range d.facts.outputs {
		if d.opts.Output != "" && out.name != d.opts.Output {
			continue
		}
		c, refused := d.classify(out)
		if refused == "" && d.opts.Kind != "" && kindOf(c.form) != d.opts.Kind {
			refused = fmt.Sprintf("%s holds what a %s model gives, not a %s one", out.name, kindOf(c.form), d.opts.Kind)
		}
		if refused != "" {
			why = " (" + refused + ")"
			continue
		}
		list = append(list, c)
	}
	if d.opts.Output != "" && len(list) == 0 && why == "" {
		why = fmt.Sprintf(" (none is called %q)", d.opts.Output)
	}
	return list, why
}

// classify says what an output holds, or why it cannot be read.
func (d *inspection) classify(out tensor) (candidate, string) {
	if out.kind != float32Type && out.kind != float16Type {
		return candidate{}, fmt.Sprintf("%s is %s where braid reads float32 or float16: choose another file with --file", out.name, out.kind)
	}
	c := candidate{tensor: out, rank: notOffered}
	switch len(out.dims) {
	case 3:
		if d.overVocabulary(out) {
			c.form, c.rank = models.TokenLogits, 4
			return c, ""
		}
		c.form, c.rank = models.HiddenStates, 6
		if out.name == "last_hidden_state" || out.name == "token_embeddings" {
			c.rank = 5
		}
		return c, ""
	case 2:
		return d.classifyPerText(c)
	}
	return candidate{}, fmt.Sprintf("%s has %d dimensions, want 2 or 3", out.name, len(out.dims))
}

// classifyPerText is classify for an output [texts, values].
func (d *inspection) classifyPerText(c candidate) (candidate, string) {
	labels := len(d.config.model.Labels)
	if labels == 0 {
		labels = d.config.model.LabelCount
	}
	width, name := c.tensor.width(), c.tensor.name
	switch {
	case width == 1, width == 0 && name == "logits" && labels == 1:
		c.form, c.rank = models.Logit, 1
	case d.overVocabulary(c.tensor):
		c.form, c.rank = models.VocabularyWeights, 2
	case name == "logits":
		return candidate{}, fmt.Sprintf("logits has %d values a text, as a classifier has; a reranker has 1", max(width, int64(labels)))
	case strings.HasPrefix(name, "sentence_embedding"):
		c.form, c.rank = models.Pooled, 3
	default:
		// Among them BERT's pooler_output, which is the input of a classifier
		// and no embedding: read only if asked for.
		c.form = models.Pooled
	}
	return c, ""
}

// overVocabulary reports whether an output has a value per vocabulary entry.
// Graphs may have a few more rows than the tokenizer has ids, as padding.
func (d *inspection) overVocabulary(out tensor) bool {
	width := out.width()
	return width > 0 && (width == int64(d.config.model.Vocabulary) || d.tokenizer.vocabulary > 0 && width >= int64(d.tokenizer.vocabulary))
}

// decideDimensions takes the width of the output, or what config.json says.
func (d *inspection) decideDimensions(c candidate) bool {
	if c.form == models.Logit {
		return true
	}
	dimensions, from := int(c.tensor.width()), d.graph
	if dimensions == 0 {
		dimensions, from = max(d.config.model.Hidden, d.config.model.Dim), d.config.modelFrom
	}
	if dimensions == 0 {
		d.fail("the length of %s is stated neither by the graph nor by %s: export it with fixed dimensions", c.tensor.name, configFile)
		return false
	}
	d.manifest.Dimensions = dimensions
	d.note("dimensions", strconv.Itoa(dimensions), from)
	return true
}

// poolingFlags are the settings of sentence-transformers' older pooling module
// with the pooling each stands for.
var poolingFlags = []struct{ setting, pooling string }{
	{"pooling_mode_cls_token", "cls"},
	{"pooling_mode_mean_tokens", "mean"},
	{"pooling_mode_max_tokens", "max"},
	{"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len"},
	{"pooling_mode_weightedmean_tokens", "weightedmean"},
	{"pooling_mode_lasttoken", "lasttoken"},
}

func (d *inspection) decidePooling() {
	d.manifest.Pooling = models.NoPooling
	var allowed []string
	var stated, from string
	switch d.manifest.Output.Form {
	case models.HiddenStates:
		allowed = []string{string(models.CLSPooling), string(models.MeanPooling)}
		stated, from = d.statedPooling(), d.config.poolingFrom
		d.refuseModulesAfterPooling()
	case models.TokenLogits:
		allowed = []string{string(models.SPLADEPooling), string(models.DoubleLogPooling)}
		stated, from = d.statedActivation(), d.config.poolingFrom
	default:
		if d.opts.Pooling != "" && d.opts.Pooling != models.NoPooling {
			d.fail("--pooling is %q, but the graph pools already", d.opts.Pooling)
		}
		d.note("pooling", string(models.NoPooling), "the output's form")
		return
	}
	if d.opts.Pooling != "" {
		stated, from = string(d.opts.Pooling), "--pooling"
	}
	switch {
	case stated == "":
		d.fail("no file says how the tokens are pooled: give --pooling, %s (the model's card says which)", strings.Join(allowed, " or "))
	case !slices.Contains(allowed, stated):
		d.fail("%s says pooling %s, but braid pools %s of %s", from, stated, strings.Join(allowed, " or "), d.manifest.Output.Form)
	}
	d.manifest.Pooling = models.Pooling(stated)
	d.note("pooling", stated, from)
}

// statedPooling is what the pooling module says, "" if nothing.
func (d *inspection) statedPooling() string {
	if mode, ok := d.config.pooling["pooling_mode"].(string); ok {
		return mode
	}
	var modes []string
	for _, f := range poolingFlags {
		if on, _ := d.config.pooling[f.setting].(bool); on {
			modes = append(modes, f.pooling)
		}
	}
	return strings.Join(modes, " and ")
}

// statedActivation is the pooling that a SPLADE pooling module says, "" if none.
func (d *inspection) statedActivation() string {
	if !slices.ContainsFunc(d.config.modules, func(m module) bool { return m.kind() == "SpladePooling" }) {
		return ""
	}
	if strategy, ok := d.config.pooling["pooling_strategy"].(string); ok && strategy != "max" {
		return "by " + strategy
	}
	switch activation, _ := d.config.pooling["activation_function"].(string); activation {
	case "", "relu":
		return string(models.SPLADEPooling)
	case "log1p_relu":
		return string(models.DoubleLogPooling)
	default:
		return "after " + activation
	}
}

// refuseModulesAfterPooling refuses layers that are not in a graph which ends
// before the pooling.
func (d *inspection) refuseModulesAfterPooling() {
	for _, m := range d.config.modules {
		switch m.kind() {
		case "Transformer", "Pooling", "Normalize", "Dropout":
		default:
			d.fail("%s names a %s module (%s), which the graph does not hold: export the whole model, so that it has an output sentence_embedding", modulesFile, m.kind(), path.Join(m.Path, poolingFile))
		}
	}
}

// decideNormalize scales to length 1 unless the model is made for the dot
// product, since braid's index compares by cosine.
func (d *inspection) decideNormalize() {
	normalize, from := true, "default: vectors are compared by cosine"
	switch {
	case d.opts.Normalize != nil:
		normalize, from = *d.opts.Normalize, "--normalize"
	case slices.ContainsFunc(d.config.modules, func(m module) bool { return m.kind() == "Normalize" }):
		from = modulesFile
	case strings.HasPrefix(d.config.prompts.Similarity, "dot"):
		normalize, from = false, d.config.promptsFrom
	}
	d.manifest.Normalize = normalize
	d.note("normalize", strconv.FormatBool(normalize), from)
}

// decideMaxTokens follows sentence-transformers: its own setting, or else the
// tokenizer's limit, both bounded by the positions the model has learnt.
func (d *inspection) decideMaxTokens() {
	positions, positionsFrom := d.positions()
	limit, from := 0, ""
	switch {
	case d.opts.MaxTokens > 0:
		limit, from = d.opts.MaxTokens, "--max-tokens"
	case d.config.maxLength > 0:
		limit, from = d.config.maxLength, d.config.maxLengthFrom
	case d.config.tokenizerMax >= 1 && d.config.tokenizerMax <= models.MaxTokensPerText:
		limit, from = int(d.config.tokenizerMax), d.config.tokenizerMaxFrom
	}
	switch {
	case limit == 0 && positions == 0:
		d.fail("no file says how many tokens the model reads: give --max-tokens (the model's card says how many)")
	case positions > 0 && d.opts.MaxTokens > positions:
		d.fail("--max-tokens is %d, but the model has %d positions", d.opts.MaxTokens, positions)
	case limit == 0 || positions > 0 && positions < limit:
		limit, from = positions, positionsFrom
	}
	d.manifest.MaxTokens = limit
	d.note("max tokens", strconv.Itoa(limit), from)
}

// offsetFamilies number positions from the padding id + 1 on, so that this many
// rows of their table are never a token's.
var offsetFamilies = []string{"roberta", "xlm-roberta", "camembert", "mpnet", "longformer"}

// positions is how many tokens the model has positions for, 0 if unknown.
func (d *inspection) positions() (int, string) {
	n, from := d.config.model.Positions, d.config.modelFrom
	if d.facts.positions > 0 && d.facts.positions <= models.MaxTokensPerText {
		n, from = int(d.facts.positions), d.graph
	}
	switch family := d.config.model.ModelType; {
	case n > 0 && slices.Contains(offsetFamilies, family):
		n -= d.config.model.PadID + 1
	case n > 0 && family == "" && d.tokenizer.family != "WordPiece":
		n -= 2 // as if it were of these families, whose padding id is 1
	}
	return max(n, 0), from
}

// promptNames are what the prompts of each role are called in the field.
var (
	queryPrompts   = []string{"query", "search_query", "retrieval.query"}
	passagePrompts = []string{"passage", "document", "search_document", "retrieval.passage", "corpus"}
)

func (d *inspection) decidePrefixes() {
	d.manifest.QueryPrefix = d.prefix("query", d.opts.QueryPrefix, queryPrompts)
	d.manifest.PassagePrefix = d.prefix("passage", d.opts.PassagePrefix, passagePrompts)
}

func (d *inspection) prefix(role string, option *string, names []string) string {
	setting, flag := role+" prefix", "--"+role+"-prefix"
	if option != nil {
		d.note(setting, strconv.Quote(*option), flag)
		return *option
	}
	for _, name := range names {
		if prompt, ok := d.config.prompts.Prompts[name]; ok {
			d.note(setting, strconv.Quote(prompt), d.config.promptsFrom)
			return prompt
		}
	}
	d.note(setting, "none", "default: no prompt is stated; "+flag+" sets one")
	return ""
}
