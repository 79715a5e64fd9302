// Package embedded is the engine that lives in this process: documents and
// vectors are kept by index/store, and index/dense, index/sparse and
// index/lexical answer from memory. Opening reads every record once and builds
// the branches from them.
//
// Each document has an ordinal, a small number by which the branches know it.
// A deleted document's ordinal goes to the next new one, so memory follows the
// largest number of documents the collection has held since it was opened, not
// the number of writes.
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
