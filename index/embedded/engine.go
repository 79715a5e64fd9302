package embedded

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/store"
)

// Options configure an Engine. The zero value works.
type Options struct {
	// Log receives what happens beside the calls: a slow opening, damage, a
	// full disk; nil discards it.
	Log *slog.Logger
	// ReserveBytes is disk space kept for finishing what is under way when the
	// disk is full; 0 is store.DefaultReserveBytes.
	ReserveBytes int64
	// GraphFrom is the number of passages from which a collection's dense
	// vectors are searched through a graph, which finds nearly all of the best
	// instead of all; 0 is dense.DefaultGraphFrom, below 0 is never.
	GraphFrom int
	// Progress is called now and then while Open reads records, from one
	// goroutine; may be nil.
	Progress func(Progress)
}

// Progress says how far Open is with one collection.
type Progress struct {
	Collection  string
	Done, Total int // documents
}

// Engine is an index.Engine on a data folder.
type Engine struct {
	store *store.Store
	log   *slog.Logger
	dense dense.Options

	ddl sync.Mutex // held by Create, Drop and Close, and to begin and end a Reindex

	mu          sync.RWMutex // guards the fields below
	collections map[string]*collection
	shadows     map[string]*collection // that a Reindex fills, by the names of their collections
	retired     map[string]*retired    // that were replaced
	closed      bool
}

var _ index.Engine = (*Engine)(nil)

// Open opens the data folder dir, which is made if it does not exist, and
// reads all its collections into memory. It fails with braid.Conflict when the
// folder is in use, with braid.Corrupt when it is damaged, and with ctx.
func Open(ctx context.Context, dir string, opts Options) (*Engine, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	records, err := store.Open(dir, store.Options{Log: opts.Log, ReserveBytes: opts.ReserveBytes})
	if err != nil {
		return nil, err
	}
	e := &Engine{store: records, log: opts.Log, dense: dense.Options{GraphFrom: opts.GraphFrom}, collections: map[string]*collection{},
		shadows: map[string]*collection{}, retired: map[string]*retired{}}
	if err := e.load(ctx, opts.Progress); err != nil {
		_ = records.Close()
		return nil, err
	}
	return e, nil
}

func (e *Engine) load(ctx context.Context, progress func(Progress)) error {
	recorded, err := e.store.Collections()
	if err != nil {
		return err
	}
	for _, r := range recorded {
		if of, ok := r.ShadowOf(); ok {
			e.openShadow(of, r)
			continue
		}
		started := time.Now()
		c := newCollection(e, r)
		if err := e.read(ctx, c, progress); err != nil {
			return err
		}
		e.collections[r.Name] = c
		if took := time.Since(started); took > time.Second {
			e.log.Info("index: collection read", "collection", r.Name, "documents", r.Documents, "seconds", took.Seconds())
		}
	}
	// Not before, since reading records takes from the opening of others.
	for _, c := range e.collections {
		c.verifyIfUnread()
	}
	return nil
}

// read builds the branches of a collection that nobody uses yet.
func (e *Engine) read(ctx context.Context, c *collection, progress func(Progress)) error {
	view, err := e.store.View(c.recorded)
	if err != nil {
		return err
	}
	return errors.Join(c.open(ctx, view, progress), view.Close())
}

// Loss returns the acknowledged writes that Open found missing from the data
// folder, or nil.
func (e *Engine) Loss() *store.Loss { return e.store.Loss() }

// Backup writes a backup of all collections to w; see store.Backup. Calls go on
// meanwhile.
func (e *Engine) Backup(ctx context.Context, w io.Writer) error {
	return e.store.Backup(ctx, w, nil)
}

// Create implements index.Engine.
func (e *Engine) Create(ctx context.Context, name string, schema index.Schema) (index.Collection, error) {
	if err := index.ValidateName(name); err != nil {
		return nil, err
	}
	if err := schema.Validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, braid.Errorf(braid.CodeOf(err), "create collection %q: %w", name, err)
	}
	e.ddl.Lock()
	defer e.ddl.Unlock()
	switch _, err := e.find(name); braid.CodeOf(err) {
	case braid.NotFound:
	case braid.Unavailable:
		return nil, err
	default:
		return nil, braid.Errorf(braid.Conflict, "collection %q exists: drop it first or use another name", name).In("name")
	}
	recorded, err := e.store.Create(name, schema, time.Now().UTC())
	if err != nil {
		return nil, err
	}
	c := newCollection(e, recorded)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.collections[name] = c
	return c, nil
}

// Open implements index.Engine.
func (e *Engine) Open(ctx context.Context, name string) (index.Collection, error) {
	if err := ctx.Err(); err != nil {
		return nil, braid.Errorf(braid.CodeOf(err), "open collection %q: %w", name, err)
	}
	c, err := e.find(name)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Drop implements index.Engine. It returns when the disk space is free, which
// takes a moment for a large collection.
func (e *Engine) Drop(ctx context.Context, name string) error {
	e.ddl.Lock()
	defer e.ddl.Unlock()
	c, err := e.find(name)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return braid.Errorf(braid.CodeOf(err), "drop collection %q: %w", name, err)
	}
	if err := e.dropShadow(name); err != nil {
		return err
	}
	if err := c.drop(); err != nil {
		return err
	}
	e.mu.Lock()
	delete(e.collections, name)
	e.mu.Unlock()
	e.store.Reclaim(ctx, c.recorded)
	return nil
}

// List implements index.Engine.
func (e *Engine) List(ctx context.Context) ([]index.Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, braid.Errorf(braid.CodeOf(err), "list collections: %w", err)
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return nil, errClosed()
	}
	infos := make([]index.Info, 0, len(e.collections))
	for _, c := range e.collections {
		infos = append(infos, c.Info())
	}
	slices.SortFunc(infos, func(a, b index.Info) int { return strings.Compare(a.Name, b.Name) })
	return infos, nil
}

// Close implements index.Engine.
func (e *Engine) Close() error {
	e.ddl.Lock()
	defer e.ddl.Unlock()
	e.mu.Lock()
	e.closed = true
	open, shadows, replaced := e.collections, e.shadows, e.retired
	e.collections, e.shadows, e.retired = nil, nil, nil
	e.mu.Unlock()
	closeShadows(shadows, replaced)
	for _, c := range open {
		c.close()
	}
	return e.store.Close()
}

// find returns the open collection called name.
func (e *Engine) find(name string) (*collection, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return nil, errClosed()
	}
	c, ok := e.collections[name]
	if !ok {
		return nil, errNotFound(name)
	}
	return c, nil
}

func errClosed() error { return braid.Errorf(braid.Unavailable, "the index is closed") }

func errNotFound(name string) error {
	return braid.Errorf(braid.NotFound, "collection %.80q does not exist", name).In("name")
}
