// Package filter resolves filters to sets of ordinals: an index of payloads in
// memory that agrees with braid.Filter.Passes on every document.
//
// It holds two things. A dictionary leads from a field and a keyword or
// boolean, and from a field that exists, to the ordinals that have it; a frequent
// entry is a roaring bitmap, a rare one an array, a unique one a single number. An
// order per field leads from an interval of numbers or instants to ordinals:
// sorted runs of pairs, each run at least twice as long as the next (the
// logarithmic method of Bentley and Saxe), so that adding n pairs takes
// O(n log n) and an interval O(log² n) and its matches.
//
// Invariants:
//   - Keys of the dictionary are the first 16 bytes of SHA-256 over field and
//     value: a long text costs no more than a short one, and two values do not
//     share an entry, chosen by an adversary neither.
//   - Ordinals ascend as they are added. One that was removed is in no set that is
//     resolved later; what was known of it stays in memory until the index is
//     built anew.
//   - Replace leaves of the payload before nothing that is found. A pair of it may
//     stay in its run, marked, until the run is merged.
//
// The package knows no ids, reads no JSON and stores nothing durably by itself.
package filter
