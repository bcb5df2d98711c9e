//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"io/fs"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// ShapeOf, MaxShapes and Shapes are of the statements that need not be planned again.
func ShapeOf(text string, tables []engine.Table) string { return shapeOf(text, tables) }

const MaxShapes = maxShapes

// Shapes are how many are known, and their bytes.
func Shapes(e *Engine) (number, bytes int) { return len(e.shapes.set), e.shapes.size }

// Behind runs a statement in the instance itself, behind the wall that lets
// only a SELECT within a SELECT through.
func Behind(ctx context.Context, e *Engine, s engine.Scratch, text string) error {
	db := e.db
	if s != nil {
		db = s.(*scratch).db
	}
	_, err := db.ExecContext(ctx, text)
	return err
}

// Unwrapped runs text as the one statement that a query is, without the SELECT
// around it.
func Unwrapped(ctx context.Context, e *Engine, text string) error {
	return raw(ctx, e.db, func(c *duckdb.Conn) error {
		_, err := query(ctx, c, text, []sqltype.Type{sqltype.Of(sqltype.Text)}, nil)
		return err
	})
}

// DB is the pool of an Engine, an engine.Scratch or an engine.Owner.
func DB(of any) *sql.DB {
	switch of := of.(type) {
	case *Engine:
		return of.db
	case *scratch:
		return of.db
	}
	return of.(*owner).db
}

// Plans is how many plans wait to be used again.
func Plans(e *Engine) int {
	e.plans.mu.Lock()
	defer e.plans.mu.Unlock()
	return len(e.plans.idle)
}

// Gathered is how many of them have groups, and how many bytes more there is room for.
func Gathered(e *Engine) (plans int, room int64) {
	e.plans.mu.Lock()
	defer e.plans.mu.Unlock()
	for _, p := range e.plans.idle {
		if p.groups != nil {
			plans++
		}
	}
	return plans, e.groups.Load()
}

// Gather plans a query over the views as they are, whatever has become of their files since, and
// says whether groups are kept of it.
func Gather(ctx context.Context, e *Engine, q engine.Query) (bool, error) {
	types := []sqltype.Type{sums, sums}
	one, err := e.plan(ctx, transport(q.SQL, types), q.Tables)
	if err != nil {
		return false, err
	}
	e.gather(ctx, one, q, types)
	return one.groups != nil, one.close()
}

// Restless are options by which files must have been left alone for a time before anything is
// kept of them.
func Restless(o Options, d time.Duration) Options {
	o.restless = d
	return o
}

// Held are options by which Parquet files of so many bytes are kept.
func Held(o Options, bytes int64) Options {
	o.held = bytes
	return o
}

// Kept is how many Parquet files are kept, and how many bytes more there is room for.
func Kept(e *Engine) (files int, room int64) {
	e.opening.Lock()
	defer e.opening.Unlock()
	for _, k := range e.kept {
		if k != nil {
			files++
		}
	}
	return files, e.room
}

// Substitute puts texts in place of a query's parameters.
var Substitute = substitute

// BytesOf is a size of memory.
var BytesOf = bytesOf

// MemoryOf is what all instances of a pool may take together, with a scratch instance for
// each statement.
func MemoryOf(ctx context.Context, temp, memory string, statements int) (sum int64, err error) {
	p, err := OpenPool(ctx, &catalog.Catalog{}, Options{Memory: memory, Temp: temp}, statements)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	sizes := []string{p.front.options.Memory}
	for range statements {
		if _, err := p.take(ctx); err != nil {
			return 0, err
		}
	}
	for _, e := range p.lives {
		sizes = append(sizes, e.options.Memory, e.options.scratch)
	}
	for _, s := range sizes {
		n, err := bytesOf(ctx, s)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// Lives is how many instances for statements a pool has opened.
func Lives(p *Pool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lives)
}

// Takes reports whether a plan of a text over files is used for another text over files.
func Takes(text string, of []fs.FileInfo, asked string, now []fs.FileInfo) bool {
	var p plans
	return p.put(&planned{text: text, of: of}) == nil && p.take(asked, now) != nil
}

// Fresh makes tables ready to be read, as a query does.
func Fresh(ctx context.Context, e *Engine, tables ...string) error { return e.fresh(ctx, tables) }
