// Package hub fetches model files from the Hugging Face hub or a mirror of it.
//
// It speaks the hub's HTTP protocol: a revision is resolved to a commit and its
// list of files (/api/models/ID/revision/REV), and files are fetched at that
// commit (/ID/resolve/COMMIT/PATH), with redirects to other hosts, ranges, and
// the checksums that the listing or the X-Linked-Etag and ETag headers state.
//
// Invariants:
//   - A branch or tag is resolved once; everything is fetched at that commit.
//   - A file appears under its name only when its size and checksum are right:
//     SHA-256 for large files (LFS), git's blob hash for the others. A file
//     that the hub gives no checksum for is refused.
//   - What was fetched stays: an interrupted file goes on where it stopped.
//   - The token goes to the hub's own scheme, host and port, and nowhere a
//     redirect leads.
//   - An offline client opens no connection.
//   - Retries, waits, sizes and redirects are bounded; every wait ends with the
//     context.
//
// The package neither chooses files (models/detect does) nor knows what they
// mean, and it reads no environment: the token comes from its caller.
package hub
