// Package docset holds sets of ordinals, the small numbers an engine gives its
// documents in memory. A filter is resolved to one such set before retrieval,
// and every branch searches inside it.
//
// A set is a flat bitset: one bit for each ordinal up to its largest, 125 KB
// for a million documents, so that a branch asks about a candidate with one
// load. Sets do not change once they are made and may be shared.
package docset
