// Package apikeys reads the keys that callers of the server bring and what each
// of them may see and do, from a file that holds no key: a key is known by its
// SHA-256.
//
// Keys are meant to be made by New, from 256 random bits, so that a hash gives no
// way back to its key and none can be guessed. Passwords that people choose are
// not kept safe by it.
package apikeys
