// Package docjson reads documents from JSON: an array of objects, or one object
// a line (NDJSON). The server's document route and the command line share it, so
// that both say the same about the same fault.
//
// Each document is validated as it is read, and an id may occur once; the error
// names the place: "line 17" or "documents[16]".
package docjson
