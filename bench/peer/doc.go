// Package peer is braid's inference as a contender: a process that takes a job a
// line and answers with an outcome a line, as the Python peers under bench/peers
// do, so that all of them are driven and measured alike.
//
// Times are taken here, around the call of a head: what is measured is the
// library, not the pipe. The package measures nothing else and compares nothing;
// bench does.
package peer
