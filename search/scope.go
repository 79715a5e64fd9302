package search

import (
	"context"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// Scope is what one caller may see and do. The zero Scope is everything.
type Scope struct {
	// Caller is what the caller is called in messages and logs.
	Caller string
	// Filter is what a document has to pass to be there for the caller, who may
	// store nothing that does not pass it. A caller with a filter neither makes
	// nor deletes collections.
	Filter braid.Filter
	// Collections are those that are there for the caller; nil is all.
	Collections []string
	// ReadOnly refuses everything that changes something.
	ReadOnly bool
}

// Within returns the service as a caller of the given scope has it. Whatever is
// outside the scope does not exist for the caller: it is not found, not counted,
// and in no score's list of candidates.
func (s *Service) Within(scope Scope) *Service {
	within := *s
	within.scope = scope
	return &within
}

func (s Scope) everything() bool { return s.Filter.Empty() && s.Collections == nil }

// has reports whether a collection of that name is there for the caller, if it
// exists at all.
func (s Scope) has(name string) bool {
	return s.Collections == nil || slices.Contains(s.Collections, name)
}

// open returns a collection of the scope.
func (s *Service) open(ctx context.Context, name string) (index.Collection, error) {
	if !s.scope.has(name) {
		// As the engine says it of one that does not exist.
		return nil, braid.Errorf(braid.NotFound, "collection %.80q does not exist", name).In("name")
	}
	return s.engine.Open(ctx, name)
}

// openToWrite is open for a caller who is about to change documents.
func (s *Service) openToWrite(ctx context.Context, name string) (index.Collection, error) {
	if err := s.mayWrite(); err != nil {
		return nil, err
	}
	return s.open(ctx, name)
}

// CanWrite reports why the caller may not change documents of the collection
// called name, which includes that it is not there, or nil.
func (s *Service) CanWrite(ctx context.Context, name string) error {
	_, err := s.openToWrite(ctx, name)
	return err
}

func (s *Service) mayWrite() error {
	if s.scope.ReadOnly {
		return braid.Errorf(braid.Forbidden, "%s may only read", s.scope.caller())
	}
	return nil
}

// mayOwn reports why the caller may not make or delete the collection, or nil.
func (s *Service) mayOwn(name string) error {
	switch {
	case !s.scope.has(name):
		return braid.Errorf(braid.Forbidden, "%s is limited to other collections than %.80q", s.scope.caller(), name).In("name")
	case !s.scope.Filter.Empty():
		return braid.Errorf(braid.Forbidden, "%s is limited to documents that pass its filter, and may not make or delete collections", s.scope.caller())
	}
	return s.mayWrite()
}

func (s Scope) caller() string {
	if s.Caller == "" {
		return "the caller"
	}
	return "the API key \"" + s.Caller + "\""
}

// mayStore reports why the caller may not store d, or nil. d has to pass the
// filter, and to go on to pass it when any field that the filter names is left
// with one of its values: otherwise {"tenant": ["a", "b"]} would put a document
// of a's before b.
func (s Scope) mayStore(d braid.Document) error {
	if s.Filter.Empty() {
		return nil
	}
	fields, err := braid.FieldsOf(d.Payload)
	if err != nil {
		return err
	}
	if !s.Filter.Passes(fields) {
		return braid.Errorf(braid.Forbidden, "document %q: its payload does not pass the filter of %s, which sees and stores no others", d.ID, s.caller()).In("payload")
	}
	for _, name := range fieldNames(s.Filter) {
		values := fields[name]
		tried := map[braid.Value]bool{}
		for i, v := range values {
			if tried[v] {
				continue
			}
			tried[v] = true
			if fields[name] = values[i : i+1]; !s.Filter.Passes(fields) {
				return braid.Errorf(braid.Forbidden, "document %q: field %q has a value besides that does not pass the filter of %s", d.ID, name, s.caller()).In("payload")
			}
		}
		if len(values) > 0 {
			fields[name] = values
		}
	}
	return nil
}

// fieldNames returns the fields that a filter asks about, some perhaps twice.
func fieldNames(f braid.Filter) []string {
	var names []string
	for _, c := range slices.Concat(f.Must, f.Should, f.MustNot) {
		switch c := c.(type) {
		case braid.Condition:
			names = append(names, c.Field)
		case braid.Filter:
			names = append(names, fieldNames(c)...)
		}
	}
	return names
}

// visible is a collection's Info for the caller: the documents in the scope,
// and no sizes that tell of others.
func (s *Service) visible(ctx context.Context, c index.Collection) (index.Info, error) {
	info := c.Info()
	if s.scope.Filter.Empty() {
		return info, nil
	}
	set, err := c.Resolve(ctx, s.scope.Filter)
	if err != nil {
		return index.Info{}, err
	}
	info.Documents = set.Len()
	info.MemoryBytes, info.FilterBytes = map[braid.Branch]int64{}, 0
	return info, nil
}
