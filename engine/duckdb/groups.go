//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// Groups are a table of what a plan computes before the salt decides anything: what units add
// to their groups, or, where nothing is left to chance, the whole result. Who asks the same
// again waits for that no more. They are as exact and as private as the tables that they were
// made of, and stay where those are. No salt and no noise is in them: each answer has its own.
//
// They are made when a plan is used for the second time, over tables that are kept, and are of
// the files that the plan is of: no plan is used after one of its files has changed.
type groups struct {
	name string // a table of the plan's connection alone
	size int64  // about how many bytes it takes
	room *atomic.Int64
}

func (g *groups) drop(conn *sql.Conn) error {
	_, err := conn.ExecContext(context.Background(), "DROP TABLE IF EXISTS "+g.name)
	g.room.Add(g.size)
	return err
}

// wide is about how many bytes a value takes, beyond those of a long text.
const wide = 17

// overCopies reports whether one of the tables is read from an archive's copy. It may be so large that to gather its groups takes
// longer than many answers by unit.
func (e *Engine) overCopies(tables []string) bool {
	e.opening.Lock()
	defer e.opening.Unlock()
	for _, t := range e.named(tables) {
		if k := e.kept[catalog.Fold(t.Name)]; k != nil && k.from != nil {
			return true
		}
	}
	return false
}

// gather makes the groups of a plan, if it may have any and there is room for them, and plans
// the rest over them. Where that fails, the plan remains as it is.
func (e *Engine) gather(ctx context.Context, one *planned, q engine.Query, types []sqltype.Type) {
	if one.groups != nil || one.tried || q.Totals != nil || q.Held != nil || q.Least != nil && e.overCopies(q.Tables) {
		return
	}
	one.tried = true
	text, rest := q.Groups, ""
	name := fmt.Sprintf("temp.main.discreet_groups_%d", one.number)
	switch {
	case !strings.Contains(q.SQL, "$salt"):
		text, rest = q.SQL, "SELECT * FROM "+name
	case text == "" || strings.Contains(text, "$salt") || strings.Count(q.SQL, "("+text+")") != 1:
		return
	default:
		rest = strings.Replace(q.SQL, "("+text+")", name, 1)
	}
	e.opening.Lock() // no view is made of another file meanwhile
	defer e.opening.Unlock()
	if !e.keptOf(q.Tables, one.of) {
		return
	}
	made := &groups{name: name, room: &e.groups}
	err := one.conn.Raw(func(c any) error {
		conn := c.(*duckdb.Conn)
		if err := made.fill(ctx, conn, fixed(text, one.number)); err != nil {
			return err
		}
		stmt, err := selectStatement(conn, fixed(transport(rest, types), one.number))
		if err != nil {
			return err
		}
		before := one.stmt
		one.stmt = stmt
		return before.Close()
	})
	if one.groups = made; err != nil {
		one.groups = nil
		_ = made.drop(one.conn) // what is wrong with the connection shows when the plan is run
	}
}

// keptOf reports whether all tables are held in memory, and are of these files.
func (e *Engine) keptOf(tables []string, of files) bool {
	var viewed files
	for _, t := range e.named(tables) {
		name := catalog.Fold(t.Name)
		if e.kept[name] == nil {
			return false
		}
		viewed = append(viewed, e.viewed[name]...)
	}
	return len(viewed) > 0 && viewed.same(of)
}

var errNoRoom = errors.New("there is no room for the groups")

// fill makes the table of a SELECT, unless it is too large, and takes the room for it.
func (g *groups) fill(ctx context.Context, c *duckdb.Conn, text string) error {
	most := g.room.Load() / wide
	if _, err := c.ExecContext(ctx, fmt.Sprintf("CREATE TEMP TABLE %s AS SELECT * FROM (%s) AS t LIMIT %d", g.name, text, most+1), nil); err != nil {
		return err
	}
	columns, err := query(ctx, c, "SELECT name, type FROM pragma_table_info("+literal(g.name)+")", []sqltype.Type{sqltype.Of(sqltype.Text), sqltype.Of(sqltype.Text)}, nil)
	if err != nil {
		return err
	}
	sizes := []string{fmt.Sprint("count(*) * ", wide*len(columns))}
	for _, column := range columns {
		if column[1] == "VARCHAR" {
			sizes = append(sizes, fmt.Sprintf("coalesce(sum(strlen(%s)), 0)", quote(column[0].(string))))
		}
	}
	bigint := []sqltype.Type{sqltype.Of(sqltype.Bigint)}
	rows, err := query(ctx, c, transport("SELECT "+strings.Join(sizes, " + ")+" FROM "+g.name, bigint), bigint, nil)
	if err != nil {
		return err
	}
	size, ok := rows[0][0].(int64)
	if !ok {
		return errNoRoom
	}
	if g.room.Add(-size) < 0 {
		g.room.Add(size)
		return errNoRoom
	}
	g.size = size
	return nil
}
