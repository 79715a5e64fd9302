// Package querylog writes one line of JSON per query: what was asked, how long each
// stage took, and which branch brought the best hits where. It is what a
// collection is tuned from: see docs/query-log.md.
//
// A query never waits for the log and never fails because of it. Lines go to one
// goroutine that writes them; those that find its queue full, or the disk, are
// dropped and counted. The file is rotated by size, here and not by a
// library: the ones at hand leave a goroutine behind and half a line on a full disk.
//
// What people ask is personal. The text of a query is written, replaced by a keyed
// hash, or left out, as Options.Text says; of a filter only its presence is written,
// of an API key its name, of documents ids and scores.
package querylog
