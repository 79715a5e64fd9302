// Command bench measures braid beside its peers and writes what it saw as JSON
// and Markdown; `bench peer` is braid's inference as a contender in process.
package main
