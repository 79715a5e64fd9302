// Package inference runs the models: it turns text into dense vectors, SPLADE
// expansions and cross-encoder logits on ONNX Runtime, in this process.
//
// It is the only package that uses cgo. A Runtime owns the process's one ONNX
// Runtime environment, a scheduler and the heads opened on it:
//
//   - Dense: text → embedding (pooled, L2-normalised if the model says so)
//   - Sparse: text → weights over the vocabulary; queries by a table of token
//     weights, without a run, if the model has one
//   - Pair: (query, passage) → relevance logit
//
// A call tokenises in the caller's goroutine, is cut into units of texts of
// equal token length (of any lengths on a GPU), and its units run on the
// scheduler's slots. Where a model runs is what a run has shown, not an option.
//
// Invariants:
//   - A text's result does not depend on what it was sent with. On the CPU the
//     same text gives the same bits alone, in any list and under any load: no
//     unit holds padding, and a model quantised dynamically, whose activation
//     scale is taken over the whole input, runs one text at a time.
//     On a GPU, units are padded behind the mask, and results differ by rounding.
//   - Token ids, truncation and special tokens are those of the Python
//     tokenizers library on the same tokenizer.json. Truncation removes text
//     tokens, never special ones. As there, the literal text "[SEP]" becomes
//     the special token: a text can thereby only change its own result.
//   - A non-finite output (NaN or infinite) is an error that names the model
//     and the item; it is never returned as a value.
//   - The graph is fed exactly the inputs it declares, and a model whose inputs
//     or output are not understood is refused when it is loaded.
//   - Nothing is sent anywhere: ONNX Runtime's telemetry is off.
//
// The package does not chunk documents, choose candidates, order results or
// apply the logistic function: it returns what the models computed.
package inference
