package embedded

import (
	"context"
	"time"

	"github.com/braid-search/braid/index/dense"
)

// vacuumIfDue starts a vacuum of the graph in the background if it pays and if
// nothing runs that it would be in the way of: a compaction makes another graph,
// a save would wait for it. writes is held, or nobody uses the collection yet.
func (c *collection) vacuumIfDue() {
	if c.vacuum != nil || c.saving || c.changed != nil || !c.littered() {
		return
	}
	ctx, cancel := context.WithCancel(c.stopped)
	c.vacuum = cancel
	graph := c.dense // a compaction may put another one in its place
	c.background.Go(func() { c.runVacuum(ctx, graph) })
}

// runVacuum mends graph while searches and writes go on.
func (c *collection) runVacuum(ctx context.Context, graph *dense.Index) {
	started, removed := time.Now(), graph.Removed()
	err := graph.Vacuum(ctx)
	c.writes.Lock()
	defer c.writes.Unlock()
	c.vacuum()
	c.vacuum = nil
	if c.gone != nil {
		return
	}
	if err == nil { // else it was ended, and a later write tries again
		c.log.Debug("index: vacuumed", "collection", c.recorded.Name, "removed", removed, "seconds", time.Since(started).Seconds())
	}
	c.saveIfDue()
}
