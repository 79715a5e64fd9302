// Package metrics counts what the process does and shows it in the text format
// of Prometheus.
//
// A Metrics has a registry of its own: nothing is global, and two of them in one
// process do not see each other. It is an inference.Observer; package httpapi
// tells it of requests and answers. Gauges are read when they are asked for, from
// the functions given to Watch.
//
// Every label has few values: a route is a pattern, never a path, and no text,
// id or name that a caller chose becomes a label, but for the names of
// collections that exist.
//
// docs/metrics.md lists the metrics.
package metrics
