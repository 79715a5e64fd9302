// Package report is what the reports of the index benchmarks have in common: the
// circumstances, figures of several rounds, tables in Markdown, and charts, which
// the module bench/plot draws.
//
// A report OUT is two files: OUT.json, which holds everything, and OUT.md.
//
// It also has the frame of the programs that make reports, Main.
package report
