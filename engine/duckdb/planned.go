//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// plans are queries that were planned before, each with a connection of its own, so that
// who asks the same again waits for no planner: for a small table that takes as long as
// the query. What is kept is the plan, and what DuckDB knows of the tables when it plans.
// Results are not: each run reads the data again, with the salt that it is given.
//
// DuckDB plans anew, each time that it runs, whatever has parameters or reads Parquet files:
// so the salt comes from a table function (see salts), and plans over tables in DuckDB alone
// are kept, which copies are. A plan holds for the files that it was made over. DuckDB itself plans anew
// when a view or a copy has changed since. The zero value is ready.
//
// Of a plan that is used again, over tables that are kept, what does not depend on the salt is
// kept as well: see groups.
type plans struct {
	mu     sync.Mutex
	idle   []*planned // the one that was used last at the end
	closed bool
}

// maxPlans bounds the plans that wait to be used again.
const maxPlans = 32

type planned struct {
	text   string
	of     files // nil where it must not be used again
	conn   *sql.Conn
	stmt   *duckdb.Stmt
	salt   *atomic.Int64 // what the next run reads
	number int64         // of the salt
	groups *groups       // nil where nothing is kept
	tried  bool          // whether it was tried to keep them
	forget func()
}

func (p *planned) close() error {
	p.forget()
	err := p.stmt.Close()
	if p.groups != nil {
		err = errors.Join(err, p.groups.drop(p.conn))
	}
	return errors.Join(err, p.conn.Close())
}

// take returns an idle plan of a text over files as they are, or nil.
func (p *plans) take(text string, now files) *planned {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if one := p.idle[i]; one.text == text && one.of.same(now) {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			return one
		}
	}
	return nil
}

// put keeps a plan, in place of the one that was unused for longest.
func (p *plans) put(one *planned) error {
	p.mu.Lock()
	if p.closed || one.of == nil {
		p.mu.Unlock()
		return one.close()
	}
	p.idle = append(p.idle, one)
	var last *planned
	if len(p.idle) > maxPlans {
		last, p.idle = p.idle[0], p.idle[1:]
	}
	p.mu.Unlock()
	if last == nil {
		return nil
	}
	return last.close()
}

// drop closes what is idle: plans hold tables and files that are no more.
func (p *plans) drop() (err error) {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, one := range idle {
		err = errors.Join(err, one.close())
	}
	return err
}

// close closes all plans, also those that are put back later.
func (p *plans) close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	return p.drop()
}

// run runs one slice of a query, in which salt, slices and slice are parameters, by a plan
// that was made before if there is one.
func (e *Engine) run(ctx context.Context, q engine.Query, types []sqltype.Type, slices, slice int64) (rows [][]sqltype.Value, err error) {
	text := q.SQL
	switch {
	case q.Totals != nil:
		text = q.Totals.SQL
	case q.Least != nil:
		text = q.Least.SQL
	}
	text = transport(text, types)
	read := q.Tables
	if q.Held != nil {
		read = q.Held.Tables // the others are copies
	}
	if slices > 1 || !e.keeps(read) {
		text = substitute(text, map[string]string{"salt": fmt.Sprint(q.Salt), "slices": fmt.Sprint(slices), "slice": fmt.Sprint(slice)})
		err = raw(ctx, e.db, func(c *duckdb.Conn) error {
			rows, err = query(ctx, c, text, types, nil)
			return err
		})
		return rows, err
	}
	now, err := e.filesNow(q.Tables)
	if err != nil {
		return nil, err
	}
	one := e.plans.take(text, now)
	if one == nil {
		if one, err = e.plan(ctx, text, q.Tables); err != nil {
			return nil, err
		}
	} else {
		e.gather(ctx, one, q, types)
	}
	one.salt.Store(q.Salt)
	err = one.conn.Raw(func(any) error {
		rows, err = all(ctx, one.stmt, types, nil)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, one.close())
	}
	return rows, e.plans.put(one)
}

// keeps reports whether tables are in DuckDB, where they do not change but by us, or in files
// of its own.
func (e *Engine) keeps(tables []string) bool {
	e.opening.Lock()
	defer e.opening.Unlock()
	for _, t := range e.named(tables) {
		name := catalog.Fold(t.Name)
		if e.copied[name] == nil && e.kept[name] == nil && t.Source.Format != catalog.DuckDB {
			return false
		}
	}
	return true
}

// filesNow are the files of tables.
func (e *Engine) filesNow(tables []string) (files, error) {
	now := files{}
	for _, t := range e.named(tables) {
		of, err := e.filesOf(t)
		if err != nil {
			return nil, err
		}
		now = append(now, of...)
	}
	return now, nil
}

// plan plans one SELECT on a connection of its own.
func (e *Engine) plan(ctx context.Context, text string, tables []string) (*planned, error) {
	begun, err := e.spill.now()
	if err != nil {
		return nil, err
	}
	now, err := e.filesNow(tables)
	if err != nil {
		return nil, err
	}
	conn, err := e.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	number, salt := e.salts.add()
	one := &planned{text: text, conn: conn, salt: salt, number: number, forget: func() { e.salts.remove(number) }}
	err = conn.Raw(func(c any) (err error) {
		one.stmt, err = selectStatement(c.(*duckdb.Conn), fixed(text, number))
		return err
	})
	if err != nil {
		one.forget()
		return nil, errors.Join(err, conn.Close())
	}
	if now.watched() && e.settled(now, begun) {
		one.of = now
	}
	return one, nil
}
