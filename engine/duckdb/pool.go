//go:build cgo

package duckdb

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"sync"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Pool is an engine in which statements that run at once take nothing from one another:
// each runs in an instance of its own, with a fixed share of the memory and of the disk. So
// whether a statement fails for want of them does not depend on what else runs. The shares
// are fixed because nothing is known of how much a statement needs that would not depend on
// the data. Processors are not divided: who waits for one does not fail.
//
// Parquet and DuckDB files are read where they are, by every instance; text files and small
// Parquet files are copied once for each, the latter into an eighth of its memory at most. What
// statements over those gather before chance decides is kept in as much.
type Pool struct {
	catalog *catalog.Catalog
	options Options // of an instance for statements
	front   *Engine // for public tables

	free  chan struct{} // one for each instance that is idle or was never needed
	mu    sync.Mutex
	idle  []*Engine // the one that was used last is used next
	lives []*Engine // all that are open: another is opened when none of these is idle
}

var (
	_ engine.Engine   = (*Pool)(nil)
	_ engine.Preparer = (*Pool)(nil)
)

// Of the memory, an instance for statements has three parts, what post-processes its answer
// one, and public tables have one. Of the disk all have the same.
const (
	privateParts = 3
	scratchParts = 1
	frontParts   = 1
)

// OpenPool opens a pool in which a number of statements run at once, and divides among them
// what the options give to one.
func OpenPool(ctx context.Context, c *catalog.Catalog, o Options, statements int) (*Pool, error) {
	if statements < 1 {
		return nil, errors.New("open pool: it runs no statement")
	}
	memory, err := bytesOf(ctx, o.Memory)
	if err != nil {
		return nil, err
	}
	disk, err := freeBytes(o.Temp)
	if err != nil {
		return nil, err
	}
	n := int64(statements)
	part := memory / ((privateParts+scratchParts)*n + frontParts)
	if disk > 0 {
		o.disk = fmt.Sprintf("%dKiB", max(1, disk/10*9/(2*n+1)>>10))
	}
	share := func(parts int64) string { return fmt.Sprintf("%dKiB", max(1, part*parts>>10)) }
	o.scratch = share(scratchParts)
	front := o
	front.Memory, o.Memory, o.held = share(frontParts), share(privateParts), min(mostHeld, part*privateParts/8)
	p := &Pool{catalog: c, options: o, free: make(chan struct{}, statements)}
	if p.front, err = Open(ctx, c, front); err != nil {
		return nil, err
	}
	for range statements {
		p.free <- struct{}{}
	}
	return p, nil
}

// take waits for an instance that is idle.
func (p *Pool) take(ctx context.Context) (*Engine, error) {
	select {
	case <-p.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e := p.waiting(); e != nil {
		return e, nil
	}
	e, err := Open(ctx, p.catalog, p.options)
	if err != nil {
		p.free <- struct{}{}
		return nil, failure(ctx, err) // the front has opened the same: nobody's statement is at fault
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lives = append(p.lives, e)
	return e, nil
}

// waiting takes an instance that is open and idle, or nil.
func (p *Pool) waiting() *Engine {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	e := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	return e
}

func (p *Pool) give(e *Engine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, e)
	p.free <- struct{}{}
}

// in runs f in an instance of its own. One that a failure has made unusable is replaced.
func (p *Pool) in(ctx context.Context, f func(*Engine) error) error {
	e, err := p.take(ctx)
	if err != nil {
		return err
	}
	err = f(e)
	if err != nil && ctx.Err() == nil {
		e = p.mended(ctx, e)
	}
	p.give(e)
	return err
}

// mended returns an instance that answers: the same, or another in its place.
func (p *Pool) mended(ctx context.Context, e *Engine) *Engine {
	if _, err := e.db.ExecContext(ctx, "SELECT 1"); err == nil || ctx.Err() != nil {
		return e
	}
	another, err := Open(ctx, p.catalog, p.options)
	if err != nil {
		return e // the next statement tries again
	}
	p.mu.Lock()
	for i := range p.lives {
		if p.lives[i] == e {
			p.lives[i] = another
		}
	}
	p.mu.Unlock()
	_ = e.Close() // it failed before
	return another
}

// Dialect returns "duckdb".
func (p *Pool) Dialect() string { return p.front.Dialect() }

// Keeps is that of its catalog.
func (p *Pool) Keeps() string { return p.front.Keeps() }

// Exact runs a release's query.
func (p *Pool) Exact(ctx context.Context, q engine.Query) (x *engine.Exact, err error) {
	err = p.in(ctx, func(e *Engine) error {
		x, err = e.Exact(ctx, q)
		return err
	})
	return x, err
}

// Prepare plans a statement over empty tables.
func (p *Pool) Prepare(ctx context.Context, text string, tables []engine.Table) error {
	return p.in(ctx, func(e *Engine) error { return e.Prepare(ctx, text, tables) })
}

// Public returns the rows of a public table. It waits for no statement.
func (p *Pool) Public(ctx context.Context, table string) ([]engine.Column, [][]sqltype.Value, error) {
	return p.front.Public(ctx, table)
}

// Scratch opens an empty instance.
func (p *Pool) Scratch(ctx context.Context) (engine.Scratch, error) { return p.front.Scratch(ctx) }

// Close ends all instances.
func (p *Pool) Close() error {
	err := p.front.Close()
	for _, e := range p.lives {
		err = errors.Join(err, e.Close())
	}
	return err
}

var written = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([KMGTkmgt]?)(i?)B$`)

// bytesOf is a size of memory as DuckDB writes it; of none, what an instance takes by itself.
func bytesOf(ctx context.Context, size string) (int64, error) {
	if size == "" {
		db, err := connect(Options{}, "", true)
		if err != nil {
			return 0, fmt.Errorf("open duckdb: %w", err)
		}
		defer db.Close()
		if err := db.QueryRowContext(ctx, "SELECT current_setting('memory_limit')").Scan(&size); err != nil {
			return 0, fmt.Errorf("read size of memory: %w", err)
		}
	}
	m := written.FindStringSubmatch(size)
	if m == nil {
		return 0, fmt.Errorf("%q is no size of memory", size)
	}
	r, ok := new(big.Rat).SetString(m[1])
	if !ok {
		return 0, fmt.Errorf("%q is no size of memory", size)
	}
	base := int64(1000)
	if m[3] != "" {
		base = 1024
	}
	for range map[string]int{"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "k": 1, "m": 2, "g": 3, "t": 4}[m[2]] {
		r.Mul(r, new(big.Rat).SetInt64(base))
	}
	n := new(big.Int).Quo(r.Num(), r.Denom())
	if !n.IsInt64() {
		return 0, fmt.Errorf("%q is no size of memory", size)
	}
	return n.Int64(), nil
}
