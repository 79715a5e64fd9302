// Package house holds the project's house rules as tests: which package may
// import which, what every package must have, and what code outside cmd/ must
// not do. A rule that a machine can check is checked here, so that reviews are
// about the rest.
//
// Each rule is a function from a loaded module to the places that break it. It
// is run twice: over this repository, where it must find nothing, and over a
// small module made to break it, where it must find every fault. Rules read
// source and types of this module only, so nothing needs to be built first.
//
// The package has no code besides its tests.
package house
