// Package strictjson decodes JSON that came from outside and says in a person's
// words what is wrong with it: unknown and misplaced fields, wrong types, broken
// UTF-8 and trailing data are errors, never ignored (DecodeOpen lets unknown
// fields pass). null means absent.
package strictjson
