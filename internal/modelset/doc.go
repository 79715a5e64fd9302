// Package modelset loads the models a process runs and finds them by name.
//
// A set has any number of models of each kind; the first one named is the
// default of its kind: what a request that names none gets, and what collections
// are made for. The set does not own the runtime: closing that closes the heads.
package modelset
