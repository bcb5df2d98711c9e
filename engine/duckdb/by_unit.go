//go:build cgo

package duckdb

import (
	"context"
	"sync"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb/least"
)

// leasts are the functions of package least that an instance was made to know, and those that it refuses.
type leasts struct {
	mu    sync.Mutex
	known map[least.Shape]bool
}

// byUnit is a query by the function of package least, which takes one grouping where the query's own SQL takes two. It is the
// query itself where it has no such form, or the instance refuses the function.
func (e *Engine) byUnit(ctx context.Context, q engine.Query) engine.Query {
	if q.Least == nil {
		return q
	}
	of := least.Shape{Groups: q.Least.Groups, Values: q.Least.Values}
	e.leasts.mu.Lock()
	defer e.leasts.mu.Unlock()
	known, tried := e.leasts.known[of]
	if !tried {
		err := raw(ctx, e.db, func(c *duckdb.Conn) error { return least.Register(c, of) })
		if ctx.Err() != nil {
			return q
		}
		if e.leasts.known == nil {
			e.leasts.known = map[least.Shape]bool{}
		}
		known = err == nil
		e.leasts.known[of] = known
	}
	if !known {
		q.Least = nil
	}
	return q
}
