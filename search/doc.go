// Package search is the pipeline: what happens between a request and its
// answer, and between a document and its index entries.
//
// What is encoded, ranked and judged are passages: the parts that package split
// cuts a document into, or all of a document that is not split. Documents are what
// is stored, filtered and, unless asked otherwise, answered, each by its best passage.
//
// A query starts all its branches at once (encode, then retrieve), fuses their
// rankings, fetches the documents of the best candidates and lets the
// cross-encoder reorder the top of them. A branch or a reranker that fails or
// runs out of time is left out and named in Response.Degraded; the query fails
// only when nothing is left to answer with.
//
// Ingestion encodes the passages of a batch of documents with every model of the
// collection, the models side by side, and writes the batch in one durable step. A
// document whose content is already stored is neither encoded nor written again, and
// of one that changed only passages that read otherwise are encoded.
//
// The package speaks no wire protocol and holds no index or model of its own:
// it is given an index.Engine and the model heads.
package search
