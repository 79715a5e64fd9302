// Package bench measures braid beside its peers on the same work: the same
// model files, texts and machine. A Config says what to measure, Run measures
// it, and the Report says what was seen, as JSON and as Markdown.
//
// How it measures:
//   - In pairs. Braid and one peer run in turn, A B A B, and every ratio is of
//     neighbours, so that a machine that slows down slows both. Figures are
//     medians over the rounds, with the lowest and the highest beside.
//   - Warm. Each side runs the whole workload once before the first round.
//   - Apart. A contender is a process of its own, started for one kind of model,
//     so that its memory is its own; while one runs, the others wait.
//   - With its circumstances: processor, cores, commit, digests of the models, load
//     average, and what other processes took of the processor in each part.
//   - Checked. The answers are compared, so that nobody is fast by being wrong.
//
// A peer that is not installed is left out, and the report says so. The package
// reads /proc and so needs Linux. It judges nothing: there is no figure at which
// it fails.
package bench
