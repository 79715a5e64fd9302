//go:build !linux

package inference

// yieldToOthers does nothing here: only Linux has a niceness for each thread.
func yieldToOthers() {}
