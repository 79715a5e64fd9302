// Plot draws the charts of benchmark reports as SVG, beside them:
//
//	go -C bench/plot run . ../results/DATE-dense.json
//
// It is a module of its own so that braid does not depend on what draws.
package main
