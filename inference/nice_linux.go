package inference

import (
	"runtime"
	"syscall"
)

// ingestNice is the niceness of threads that run ingestion: a third of the weight
// of other threads where there is not enough for all. With 10 queries were no
// faster, with 0 their p95 under ingestion was a third longer.
const ingestNice = 5

// yieldToOthers keeps the calling goroutine on a thread of its own until it
// ends, and has the operating system run other threads rather than this one.
func yieldToOthers() {
	runtime.LockOSThread()
	// It can fail where the environment forbids it; queries are slower then.
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), ingestNice)
}
