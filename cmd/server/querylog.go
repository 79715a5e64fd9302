package main

import (
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/braid-search/braid/internal/querylog"
)

// What a query log takes of the disk: ten files of about thirty thousand queries
// each.
const (
	queryLogBytes = 64 << 20
	queryLogKeep  = 9
)

// queryLogConfig holds the flags of the query log.
type queryLogConfig struct{ file, text string }

func (c *queryLogConfig) register(flags *pflag.FlagSet) {
	flags.StringVar(&c.file, "query-log", "", "write a line of JSON about each search to this file: what was asked, what was found, how long it took (see docs/query-log.md)")
	flags.StringVar(&c.text, "query-log-text", string(querylog.TextFull), "what it keeps of a query's text: full, hash or none")
}

// open opens the log that the flags ask for; nil if they ask for none.
func (c queryLogConfig) open(log *slog.Logger) (*querylog.Log, error) {
	if c.file == "" {
		return nil, nil
	}
	return querylog.Open(querylog.Options{Path: c.file, Text: querylog.Text(c.text), MaxBytes: queryLogBytes, Keep: queryLogKeep, Log: log})
}

// countsOf is what the metrics count of a log; nil for none.
func countsOf(l *querylog.Log) func() (written, dropped uint64) {
	if l == nil {
		return nil
	}
	return func() (uint64, uint64) { return l.Written(), l.Dropped() }
}
