//go:build cgo

package duckdb

import (
	"context"
	"sync"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb/least"
)

// functions are those of package least that an instance was made to know, by their names, and those that it refuses.
type functions struct {
	mu    sync.Mutex
	known map[string]bool
}

// byUnit is a query over copies, or by a function of package least: over copies by one that adds up what it reads, and otherwise by one that takes one grouping
// where the query's own SQL takes two. It is the query itself where it has no such form, or the instance refuses the function.
// Which form is asked depends on whether there is a copy, and decides nothing: all keep the same groups and rows.
func (e *Engine) byUnit(ctx context.Context, q engine.Query) engine.Query {
	if w := q.Whole; w != nil {
		if e.laid(ctx, q.Tables) {
			q.SQL = w.SQL
			return q
		}
		q.Whole = nil
	}
	if t := q.Totals; t != nil {
		f := least.Totals{Values: t.Values, Totals: t.Totals}
		if (q.Held != nil || e.laid(ctx, q.Tables)) && e.functions.know(ctx, e, f.Name(), f.Register) {
			q.Least = nil
			return q
		}
		q.Totals = nil
	}
	if l := q.Least; l != nil {
		of := least.Shape{Groups: l.Groups, Values: l.Values}
		if !e.functions.know(ctx, e, of.Name(), func(c *duckdb.Conn) error { return least.Register(c, of) }) {
			q.Least = nil
		}
	}
	return q
}

// know makes a function known, and reports whether it is.
func (f *functions) know(ctx context.Context, e *Engine, name string, register func(*duckdb.Conn) error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	known, tried := f.known[name]
	if !tried {
		err := raw(ctx, e.db, register)
		if ctx.Err() != nil {
			return false
		}
		if f.known == nil {
			f.known = map[string]bool{}
		}
		known = err == nil
		f.known[name] = known
	}
	return known
}

// laid reports whether the one table of a query is read from an archive's copy that queries by its units read.
func (e *Engine) laid(ctx context.Context, tables []string) bool {
	all := e.named(tables)
	if len(tables) != 1 || len(all) != 1 || !readByUnits(all[0]) {
		return false
	}
	if s := e.copyOf(tables[0]); s != nil {
		select {
		case <-ctx.Done():
			return false
		case <-s.turn:
		}
		defer func() { s.turn <- struct{}{} }()
		return s.from != nil
	}
	return e.overCopies(tables)
}
