package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/internal/calls"
	"github.com/discreet-dp/discreet/engine/internal/remote"
	"github.com/discreet-dp/discreet/sqltype"
)

var _ engine.Feeder = (*Engine)(nil)

// Feed hands out what code sees of a table. The table is divided into ranges of a hash of the unit,
// so that each unit is wholly in one, and as many connections as there may be read a range each, in
// one state of the data: the first connection's, which it exports. What comes of a range is a stream:
// the server sorts and cuts off.
//
// The first connection holds the table, so that the others read the table that it looked at. One
// that cannot begin (there is none left, or somebody waits to change the table, behind whom it
// waits) reads nothing, and its range is read by the rest.
func (e *Engine) Feed(ctx context.Context, s engine.Seen, f func([]engine.Call) error) error {
	declared, ok := e.catalog.Table(s.Table)
	if !ok || declared.Public {
		return fmt.Errorf("there is no private table %q", s.Table)
	}
	var columns []*catalog.Column
	for _, name := range s.Columns {
		c, ok := declared.Column(name)
		if !ok {
			return fmt.Errorf("table %q has no column %q", s.Table, name)
		}
		columns = append(columns, c)
	}
	first, err := e.begin(ctx, []string{s.Table}, false, nil)
	if err != nil {
		return remote.Failure(ctx, err)
	}
	defer first.end()
	r := &feed{engine: e, seen: s, columns: columns, table: first.tables[0], to: f, count: cap(e.pool.places)}
	return remote.Failure(ctx, r.all(ctx, first))
}

// A feed is one reading of a table.
type feed struct {
	engine  *Engine
	seen    engine.Seen
	columns []*catalog.Column
	table   *table // as the first connection holds it
	to      func([]engine.Call) error
	count   int // of ranges
}

func (r *feed) all(ctx context.Context, first *transaction) error {
	ranges := make(chan int, r.count)
	for n := range r.count {
		ranges <- n
	}
	close(ranges)
	snapshot := ""
	if r.count > 1 {
		_, err := first.run(ctx, asked{sql: "SELECT pg_catalog.pg_export_snapshot()", row: func(values [][]byte) error {
			snapshot = string(values[0])
			return nil
		}})
		if err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	joining, late := context.WithCancel(ctx) // there is nothing left to read for who has not begun
	var others sync.WaitGroup
	for range r.count - 1 {
		others.Go(func() {
			t, err := r.join(joining, snapshot)
			if err != nil {
				return
			}
			defer t.end()
			if err := r.read(ctx, t, ranges); err != nil {
				stop(err)
			}
		})
	}
	if err := r.read(ctx, first, ranges); err != nil {
		stop(err)
	}
	late()
	others.Wait()
	return context.Cause(ctx) // the first error, or the caller's
}

// join begins another transaction in the state that a snapshot names.
func (r *feed) join(ctx context.Context, snapshot string) (*transaction, error) {
	same := false
	t, err := r.engine.pool.start(ctx, false, append([]asked{
		{sql: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"},
		{sql: "SET TRANSACTION SNAPSHOT " + literal(snapshot)},
		{sql: "LOCK TABLE " + r.table.relation + " IN ACCESS SHARE MODE"},
		{sql: settings},
	}, looked([]*catalog.Table{r.table.declared}, func(values [][]byte) error {
		same = string(values[1]) == r.table.mark
		return nil
	}, nil)...))
	if err == nil && !same { // its name leads to another table now
		t.end()
		return nil, errors.New("the table is another")
	}
	return t, err
}

// read reads ranges as long as there are any.
func (r *feed) read(ctx context.Context, t *transaction, ranges <-chan int) error {
	for n := range ranges {
		if err := ctx.Err(); err != nil {
			return err
		}
		g := calls.New(r.seen, r.to)
		text, types := r.text(n)
		reading := func(texts [][]byte) error {
			row := make([]sqltype.Value, len(types))
			for i, text := range texts {
				var err error
				if row[i], err = value(text, types[i]); err != nil {
					return fmt.Errorf("column %d: %w", i, err)
				}
			}
			return g.Add(row)
		}
		if _, err := t.run(ctx, asked{sql: with([]string{r.table.read}) + text, row: reading}); err != nil {
			return err
		}
		if err := g.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// text selects what code sees in one range: the columns, and the unit if there is one.
// Texts are compared by their bytes, as everywhere. Where the unit is the row, the range is that of
// all that code sees of it: rows that are equal are in one, and each is in one.
func (r *feed) text(n int) (text string, types []sqltype.Type) {
	var columns, names []string
	add := func(c *catalog.Column) (name string) {
		name = fmt.Sprintf("v%d", len(names))
		column := quote(c.Name)
		if c.Type.Kind == sqltype.Text {
			column += ` COLLATE "C"`
		}
		columns, names, types = append(columns, column+" AS "+name), append(names, name), append(types, c.Type)
		return name
	}
	for _, c := range r.columns {
		add(c)
	}
	seen := strings.Join(names, ", ")
	unit, key := "", "ROW("+seen+")"
	if c := r.table.declared.Unit.Column; c != nil {
		unit = add(c)
		key = unit
	}
	var where []string
	if unit != "" {
		where = append(where, unit+" IS NOT NULL")
	}
	if r.count > 1 {
		where = append(where, fmt.Sprintf(`(hashtextextended(CAST(%s AS TEXT) COLLATE "C", 0) & 9223372036854775807) %% %d = %d`, key, r.count, n))
	}
	all := strings.Join(names, ", ")
	text = "SELECT " + all + " FROM (SELECT " + strings.Join(columns, ", ") + " FROM " + quote(r.seen.Table) + ") AS seen"
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	if !r.seen.ByUnit {
		return transport(text, types), types
	}
	text = "SELECT " + all + " FROM (SELECT " + all + ", row_number() OVER (PARTITION BY " + unit + " ORDER BY " + seen + ") AS place FROM (" + text + ") AS kept) AS placed" +
		" WHERE place <= " + strconv.Itoa(calls.MaxUnitRecords)
	order := []string{fmt.Sprintf("o%d", len(r.columns))}
	for i := range r.columns {
		order = append(order, fmt.Sprintf("o%d", i))
	}
	return transport(text, types) + " ORDER BY " + strings.Join(order, ", "), types
}
