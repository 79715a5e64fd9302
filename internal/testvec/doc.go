// Package testvec draws the vectors that tests of indexes are made of.
package testvec
