//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/sqltype"
)

// plans are queries that were planned before, each with a connection of its own, so that
// who asks the same again waits for no planner: for a small table that takes as long as
// the query. What is kept is the plan, and what DuckDB knows of files when it plans: their
// schemas and statistics. Results are not: each run reads the data again, with the salt
// that it is given.
//
// A plan holds for the files that it was made over. DuckDB itself plans anew when a view
// or a copy has changed since. The zero value is ready.
type plans struct {
	mu     sync.Mutex
	idle   []*planned // the one that was used last at the end
	closed bool
}

// maxPlans bounds the plans that wait to be used again.
const maxPlans = 32

type planned struct {
	text string
	of   files // nil where it must not be used again
	conn *sql.Conn
	stmt *duckdb.Stmt
}

func (p *planned) close() error {
	return errors.Join(p.stmt.Close(), p.conn.Close())
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

// run runs one SELECT over tables, by a plan that was made before if there is one.
func (e *Engine) run(ctx context.Context, text string, tables []string, types []sqltype.Type, args []driver.NamedValue) (rows [][]sqltype.Value, err error) {
	now, err := e.filesNow(tables)
	if err != nil {
		return nil, err
	}
	one := e.plans.take(text, now)
	if one == nil {
		if one, err = e.plan(ctx, text, tables); err != nil {
			return nil, err
		}
	}
	err = one.conn.Raw(func(any) error {
		rows, err = all(ctx, one.stmt, types, args)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, one.close())
	}
	return rows, e.plans.put(one)
}

// filesNow are the files of tables.
func (e *Engine) filesNow(tables []string) (files, error) {
	now := files{}
	for _, t := range e.named(tables) {
		of, err := filesOf(t)
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
	one := &planned{text: text, conn: conn}
	err = conn.Raw(func(c any) (err error) {
		one.stmt, err = selectStatement(c.(*duckdb.Conn), text)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if now.watched() && e.settled(now, begun) {
		one.of = now
	}
	return one, nil
}
