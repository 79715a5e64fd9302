// Package search is the pipeline: what happens between a request and its
// answer, and between a document and its index entries.
//
// A query starts all its branches at once (encode, then retrieve), fuses their
// rankings, fetches the documents of the best candidates and lets the
// cross-encoder reorder the top of them. A branch or a reranker that fails or
// runs out of time is left out and named in Response.Degraded; the query fails
// only when nothing is left to answer with.
//
// Ingestion encodes a batch of documents with every model of the collection,
// the models side by side, and writes the batch in one durable step. A document
// whose content is already stored is neither encoded nor written again.
//
// The package speaks no wire protocol and holds no index or model of its own:
// it is given an index.Engine and the model heads.
package search
