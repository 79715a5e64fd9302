// Package contract is the test suite every index.Engine passes. An engine's own
// tests call Run; what is particular to one engine (crashes, full disks, speed)
// is tested there.
//
// The suite uses vectors whose inner products are exact in float32, so that
// rankings are compared with brute force bit for bit, ties included.
package contract
