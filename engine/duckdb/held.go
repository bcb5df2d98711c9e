//go:build cgo

package duckdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
)

// A holding is what an instance knows of the copies of a table whose units are found by a reference: see chain. Such a copy has
// the rows that have a unit, each with its key, so that no statement looks for it again.
//
// It is of the bytes of all files on the way, and of their declarations: when one has changed, it is read no more, and statements find the units
// anew, in the files. Its rows are what the statement's own join of the tables gives: a row whose reference leads nowhere, or to a row without a unit,
// is not there, and one whose reference leads to several rows is there once for each. So whether there is a copy decides nothing but the time.
type holding struct {
	of   files         // the files of the chain
	from *attachedCopy // nil: of these there is none
}

type holdings struct {
	mu  sync.Mutex          // guards what follows, for as long as a copy is attached, and not while files are read: see turns
	all map[string]*holding // by the folded names of tables
}

func (h *holdings) of(name string) *holding {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[name]
}

// chain is a table and those by which its references find the unit, the last of which has it: the table alone if it has its unit
// itself, or one of the others is in no file that is copied.
func chain(t *catalog.Table) (all []*catalog.Table) {
	for of := t; ; of = of.Unit.References {
		if of.Public || of.Mapping != nil || of.Source.Format == catalog.DuckDB || hasBeside(t) {
			return []*catalog.Table{t}
		}
		if all = append(all, of); of.Unit.Kind != catalog.UnitReference {
			return all
		}
	}
}

// filesOfAll are the files of tables, in their order.
func filesOfAll(ctx context.Context, all []*catalog.Table) (now files, err error) {
	for _, t := range all {
		of, err := filesOf(t)
		if err != nil {
			return nil, unopened(ctx, t, err)
		}
		now = append(now, of...)
	}
	return now, nil
}

// withUnits selects what the copy of a chain's first table has: its rows in the order of their units, with the key of each unit, the unit's number, and how many rows
// that has.
func withUnits(all []*catalog.Table) string {
	last := len(all) - 1
	unit := fmt.Sprintf("t%d.%s", last, quote(all[last].Unit.Column.Name))
	from := " FROM " + quote(all[0].Name) + " AS t0"
	for i, t := range all[:last] {
		from += fmt.Sprintf(" JOIN %s AS t%d ON t%d.%s = t%d.%s", quote(all[i+1].Name), i+1, i, quote(t.Unit.Column.Name), i+1, quote(t.Unit.Referred.Name))
	}
	from += " WHERE " + unit + " IS NOT NULL"
	if all[last].Unit.Column.Type.IsInteger() {
		unit = "CAST(" + unit + " AS BIGINT)" // one encoding for all tables of the domain
	}
	return numbered("r.*", "SELECT t0.*, "+unit+" AS "+engine.UnitKey+from, engine.UnitKey, "SELECT "+unit+" AS "+engine.UnitKey+from)
}

// numbered selects columns of rows r in the order of a column with their units, with the number of each row's unit, and how many rows that has, as the column of all of the same rows says.
func numbered(columns, rows, unit, units string) string {
	return fmt.Sprintf("SELECT %s, u.n AS %s, u.m AS %s FROM (%s) AS r JOIN (SELECT %s AS k, row_number() OVER (ORDER BY %s) AS n, count(*) AS m FROM (%s) AS t GROUP BY %s) AS u ON r.%s IS NOT DISTINCT FROM u.k ORDER BY r.%s",
		columns, engine.UnitNumber, engine.UnitRows, rows, unit, unit, units, unit, unit, unit)
}

// holds reports whether queries can read these tables by copies that hold their units, of the files as they are.
func (e *Engine) holds(ctx context.Context, tables []string) bool {
	for _, t := range e.named(tables) {
		if !e.held(ctx, t) {
			return false
		}
	}
	return e.archive != nil
}

// held looks for the copy of a table, and attaches it.
func (e *Engine) held(ctx context.Context, t *catalog.Table) bool {
	all, name := chain(t), catalog.Fold(t.Name)
	if e.archive == nil || len(all) < 2 {
		return false
	}
	done, err := e.turns.take(ctx, name)
	if err != nil {
		return false
	}
	defer done()
	begun, err := e.spill.now()
	if err != nil {
		return false
	}
	now, err := filesOfAll(ctx, all)
	if err != nil || !now.watched() || !e.settled(now, begun) {
		return false
	}
	had := e.holdings.of(name)
	if had != nil && had.of.same(now) {
		return had.from != nil
	}
	copied, _, paths, err := e.archive.nameOf(all, now)
	if err != nil {
		return false
	}
	fresh := &holding{of: now}
	path, err := e.archive.find(ctx, copied, paths, begun)
	if ctx.Err() != nil {
		return false
	}
	found := err == nil
	e.holdings.mu.Lock()
	defer e.holdings.mu.Unlock()
	err = raw(ctx, e.db, func(c *duckdb.Conn) error {
		if had != nil && had.from != nil {
			delete(e.holdings.all, name)
			if _, err := c.ExecContext(context.WithoutCancel(ctx), "DETACH "+had.from.alias, nil); err != nil {
				return err
			}
		}
		if !found {
			return nil
		}
		from, err := e.attachCopy(ctx, c, path)
		if err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, "CREATE OR REPLACE VIEW "+quote(engine.LaidName(t.Name))+" AS FROM "+from.table, nil); err != nil {
			_, detached := c.ExecContext(context.WithoutCancel(ctx), "DETACH "+from.alias, nil)
			return errors.Join(err, detached)
		}
		fresh.from = from
		return nil
	})
	if err = errors.Join(err, e.plans.drop()); err != nil {
		return false
	}
	if e.holdings.all == nil {
		e.holdings.all = map[string]*holding{}
	}
	e.holdings.all[name] = fresh
	return found
}

// keepHeld makes the copy that holds a chain's units, of its files as they are, if there is none.
func (e *Engine) keepHeld(ctx context.Context, all []*catalog.Table, now files) error {
	name, of, paths, err := e.archive.nameOf(all, now)
	if err != nil {
		return err
	}
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name
	}
	begun, err := e.spill.now()
	if err != nil {
		return err
	}
	if _, err := e.archive.find(ctx, name, paths, begun); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	there, err := wayTo(paths)
	if err != nil {
		return errFilesChanged
	}
	if err := e.fresh(ctx, names); err != nil {
		return err
	}
	var read files // what the tables are read of
	for _, t := range all {
		if s := e.copyOf(t.Name); s != nil {
			of, err := s.now(ctx)
			if err != nil {
				return err
			}
			read = append(read, of...)
		} else {
			read = append(read, e.views(t)...)
		}
	}
	if !read.same(now) {
		return errFilesChanged
	}
	return raw(ctx, e.db, func(c *duckdb.Conn) error {
		return e.archive.keep(ctx, c, withUnits(all), fmt.Sprintf("discreet_archived_%d", e.made.Add(1)), name, of, paths, func() bool {
			after, err := filesOfAll(ctx, all)
			then, gone := wayTo(paths)
			return err == nil && gone == nil && now.same(after) && there.same(then)
		})
	})
}

// heldForm is a query over copies that hold units, if there are such, and the tables that are then read as they are.
func (e *Engine) heldForm(ctx context.Context, q engine.Query) (engine.Query, []string) {
	if h := q.Held; h != nil && e.holds(ctx, h.Copies) {
		q.SQL, q.Groups, q.Least, q.Totals = h.SQL, "", h.Least, h.Totals
		return q, h.Tables
	}
	q.Held = nil
	return q, q.Tables
}

// hasBeside reports whether a table has a column of a name that copies use beside its own.
func hasBeside(t *catalog.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c *catalog.Column) bool {
		name := strings.ToLower(c.Name)
		return slices.Contains([]string{engine.UnitKey, engine.UnitNumber, engine.UnitRows}, name) || strings.HasPrefix(name, engine.FixedColumn) || strings.HasPrefix(name, engine.PlaceColumn)
	})
}
