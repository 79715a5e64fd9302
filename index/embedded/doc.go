// Package embedded is the engine that lives in this process: documents and
// vectors are kept by index/store; index/dense, index/sparse and index/lexical
// answer from memory, within what index/filter resolves.
//
// Now and then, and when it is closed, what a collection has in memory is saved
// beside its records. Opening reads that and the documents that have changed
// since or, where nothing is saved that fits, builds all from the records.
//
// Each document has an ordinal, a small number by which the branches know it.
// Ordinals ascend and are not used twice: a document that is written again gets
// a new one, so that a set of ordinals never comes to mean other documents. One
// of which only the payload changes keeps its ordinals, and a log of those takes
// them out of the sets that were resolved before.
// When most ordinals stand for documents that are no more, the branches are
// built anew in the background and take the place of the old ones. Before that,
// a graph of vectors is mended around those that are no more, also in the
// background.
//
// Invariants:
//   - A write is durable before it is visible, and becomes visible in every
//     branch at one moment: the branches of a collection share one lock, and
//     searches hold it together while a write waits for its disk.
//   - Rankings do not depend on ordinals, that is on the order of writes or on
//     restarts.
//
// Lock order: Engine.ddl, collection.writes, collection.mu; Engine.mu is held
// for looking at the map only.
package embedded
