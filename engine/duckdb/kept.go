//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/sqltype"
)

// A kept table is what the view of Parquet files reads in place of them: the copy of an archive or, of a small
// file, its records as they are in memory, so that who asks about them neither opens the file nor plans
// anew (see plans). It holds for the files that it was made of; the view is made of the files
// again when these have changed.
type kept struct {
	into string        // the table
	size int64         // about how many bytes of memory it takes
	from *attachedCopy // where it is, if it is an archive's
}

// keptBase is a database of the kept tables, beside the catalog's names. It is in memory and
// compressed: few different texts are a dictionary, for each of whose entries DuckDB computes a
// function once.
const keptBase = "discreet_kept"

// mostHeld bounds the bytes of kept tables in one instance.
const mostHeld = 64 << 20

// keep reads an archive's copy of Parquet files, if there is one, or holds the records of a small file, where there is
// room for them. If that fails, the files are read where they are: what it fails on may be in a column that no query uses.
func (e *Engine) keep(ctx context.Context, t *catalog.Table) error {
	if t.Source.Format != catalog.Parquet || e.options.held == 0 && e.archive == nil {
		return nil
	}
	name := catalog.Fold(t.Name)
	done, err := e.turns.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	e.opening.Lock()
	_, tried := e.kept[name]
	viewed := e.viewed[name]
	e.opening.Unlock()
	if tried || len(viewed) == 0 || !viewed.watched() { // a view of no files is of those that are not settled
		return nil
	}
	path := e.pathOfCopy(ctx, t, viewed)
	e.opening.Lock()
	defer e.opening.Unlock()
	if ctx.Err() != nil || !e.viewed[name].same(viewed) {
		return ctx.Err()
	}
	e.kept[name] = nil
	err = raw(ctx, e.db, func(c *duckdb.Conn) error {
		if path != "" {
			if laid, err := e.lay(ctx, c, t, path); laid || err != nil {
				return err
			}
		}
		if t.Source.Pattern != nil || viewed[0].Size() > e.room {
			return nil
		}
		return e.hold(ctx, c, t)
	})
	if ctx.Err() != nil && e.kept[name] == nil {
		delete(e.kept, name)
		return errors.Join(ctx.Err(), err)
	}
	return nil // otherwise err says, the view reads the file or what was made of it
}

// pathOfCopy finds an archive's copy of a table's files as they are, "" if there is none. It reads them all, which must keep nobody waiting but
// who asks for the same table.
func (e *Engine) pathOfCopy(ctx context.Context, t *catalog.Table, of files) string {
	begun, err := e.spill.now()
	if err != nil || e.archive == nil || !e.settled(of, begun) {
		return ""
	}
	name, _, paths, err := e.archive.nameOf([]*catalog.Table{t}, of)
	if err != nil {
		return ""
	}
	path, err := e.archive.find(ctx, name, paths, begun)
	if err != nil {
		return ""
	}
	return path
}

// lay makes the view read an archive's copy, and reports whether it can be attached.
func (e *Engine) lay(ctx context.Context, c *duckdb.Conn, t *catalog.Table, path string) (bool, error) {
	found, err := e.attachCopy(ctx, c, path)
	if err != nil {
		return false, nil //nolint:nilerr // the files are read as if there were none
	}
	if err := show(ctx, c, t, found); err != nil {
		_, detached := c.ExecContext(context.WithoutCancel(ctx), "DETACH "+found.alias, nil)
		return false, errors.Join(err, detached)
	}
	e.kept[catalog.Fold(t.Name)] = &kept{into: found.table, from: found}
	return true, e.plans.drop() // DuckDB would plan them anew each time, as views have changed
}

// hold makes the table, unless it is too large.
func (e *Engine) hold(ctx context.Context, c *duckdb.Conn, t *catalog.Table) error {
	bigint := []sqltype.Type{sqltype.Of(sqltype.Bigint)}
	number := func(text string) (int64, error) {
		rows, err := query(ctx, c, transport(text, bigint), bigint, nil)
		if err != nil || len(rows) != 1 {
			return 0, errors.Join(err, errNotOneSelect)
		}
		n, ok := rows[0][0].(int64)
		if !ok || n < 0 {
			return 0, errors.New("the file does not say how large it is")
		}
		return n, nil
	}
	rows, err := number("SELECT sum(num_rows) FROM parquet_file_metadata([" + literal(t.Source.Path) + "])")
	if err != nil {
		return err
	}
	const width = 17 // of a value and whether it is NULL; of a text without what it has beyond
	if rows > e.room/int64(width*len(t.Columns)) {
		return nil
	}
	texts := []string{"0"}
	for _, column := range t.Columns {
		if column.Type.Kind == sqltype.Text {
			texts = append(texts, "coalesce(strlen("+quote(column.Name)+"), 0)")
		}
	}
	size, err := number("SELECT coalesce(sum(" + strings.Join(texts, " + ") + "), 0) FROM " + quote(t.Name))
	if err != nil {
		return err
	}
	if size += rows * int64(width*len(t.Columns)); size > e.room {
		return nil
	}
	into := fmt.Sprintf("%s.main.kept_%d", keptBase, e.made.Add(1))
	if _, err := c.ExecContext(ctx, "CREATE TABLE "+into+" AS FROM "+quote(t.Name), nil); err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, "CREATE OR REPLACE VIEW "+quote(t.Name)+" AS FROM "+into, nil); err != nil {
		_, dropped := c.ExecContext(context.WithoutCancel(ctx), "DROP TABLE "+into, nil)
		return errors.Join(err, dropped)
	}
	e.kept[catalog.Fold(t.Name)] = &kept{into: into, size: size}
	e.room -= size
	// What is written to a checkpoint is compressed. While others run that is refused: then texts have no dictionaries.
	_, _ = c.ExecContext(ctx, "CHECKPOINT "+keptBase, nil)
	return e.plans.drop() // DuckDB would plan them anew each time, as views have changed
}

// replaced forgets the kept table of a view that was made of the file again.
func (e *Engine) replaced(ctx context.Context, conn *sql.Conn, name string) error {
	k := e.kept[name]
	delete(e.kept, name)
	if k == nil {
		return nil
	}
	e.room += k.size
	err := e.plans.drop() // which hold it
	drop := "DROP TABLE IF EXISTS " + k.into
	if k.from != nil {
		drop = "DETACH " + k.from.alias
	}
	_, dropped := conn.ExecContext(context.WithoutCancel(ctx), drop)
	return errors.Join(err, dropped)
}
