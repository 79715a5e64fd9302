// Package detect works out a model's manifest from a folder as
// sentence-transformers, Optimum or FastEmbed lay it out: an ONNX graph, a
// tokenizer.json and configuration files, at the root or in onnx/.
//
// What the graph says comes first (tensor names, types and shapes, quantised
// operators, files with weights), then the configuration of
// sentence-transformers (modules.json and what it names), then that of
// transformers (config.json, tokenizer_config.json). Options win over all of
// them. Every setting is reported with where it comes from.
//
// Invariants:
//   - Pooling, kind and length are never guessed: one that is stated nowhere is
//     an error that names the option to give. Two settings have defaults, which
//     are reported as such: vectors are normalised, and there is no prefix.
//   - A model that braid cannot run as its authors mean it (a dense layer after
//     the pooling, several labels, an unknown input) is refused with the reason.
//   - What is read is bounded: sizes, nesting and counts of a graph, sizes of
//     configuration files. A graph is streamed, its weights are never in memory.
//
// The package runs nothing: whether the model works is for inference to say.
package detect
