// Command braid is self-hosted hybrid search in one binary.
//
// It is the only place that reads flags and the environment and that knows
// which parts the program is made of; see `braid --help`.
package main
