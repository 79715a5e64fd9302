package quant

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// SerialBytes is how many bytes one goroutine of a scan reads before a second one
// pays for its start.
const SerialBytes = 8 << 20

// Goroutines is how many a scan of so many bytes is worth, at least one, if each
// pays from serial bytes on.
func Goroutines(bytes, serial int) int {
	return max(1, min(runtime.GOMAXPROCS(0), bytes/serial))
}

// Split calls do for each of parts, from 0 on, from so many goroutines, the caller's
// one of them; worker is the number of the calling one. It returns when all have
// ended, without the rest of the parts if ctx ends.
func Split(ctx context.Context, goroutines, parts int, do func(worker, part int)) {
	var next atomic.Int64
	work := func(worker int) {
		for ctx.Err() == nil {
			part := int(next.Add(1)) - 1
			if part >= parts {
				return
			}
			do(worker, part)
		}
	}
	var others sync.WaitGroup
	for worker := 1; worker < goroutines; worker++ {
		others.Go(func() { work(worker) })
	}
	work(0)
	others.Wait()
}
