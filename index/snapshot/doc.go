// Package snapshot is the file form of an index: typed arrays, one after
// another, each with its length and a checksum, so that opening a collection
// reads arrays as they were in memory instead of building them again.
//
// A stream is a header (magic, kind, version), sections, and an end mark. A
// section is its type (1 byte), its number of elements (8 bytes), the elements,
// and xxHash64 over all of that and the section's number in the stream (8
// bytes): sections cannot be changed, cut, dropped or swapped unseen. All
// numbers are little-endian.
//
// A stream that is not as it was written gives braid.Corrupt, one of another
// kind or a newer version braid.Conflict. Checksums do not say that the content
// makes sense: who loads an index checks what it relies on.
//
// The first error of a Writer or Reader stays: later calls do nothing, and
// reads return zero values.
package snapshot
