// Package store keeps the documents of the embedded engine on disk, with what
// the encoders made of them, in one pebble database per data folder:
//
//	records/      the database
//	acknowledged  the newest commit that was reported as done
//	reserve       space given up when the disk is full
//
// One database for all collections means one log, one lock and one set of
// buffers, and makes creating and dropping a collection single commits that
// happen or do not. A collection is known by a number that is never used
// again, so that its documents lie in one key range, dropped as a whole.
//
// Invariants:
//   - A commit that returned nil is on stable storage. After an error none of
//     it is read in this process; when it was the disk that failed, the next
//     process may find the commit whole, never a part of it.
//   - A folder is used by one process at a time.
//   - A write the folder has acknowledged and lost (a file cut short, a disk
//     that lied) is reported by Open, see Loss. Damage that pebble's checksums
//     find is an error of code braid.Corrupt that names the file.
//   - A disk that is full, or a log that cannot be written, refuses commits;
//     reads go on and the process lives.
//   - Every record begins with its format number, and every length read from
//     disk is checked against the bytes there before memory is taken for it.
//
// Commits are serial: each is an fsync, while making its vectors takes
// hundreds of times as long. The package does not index anything and keeps no
// documents in memory.
package store
