package trino

import (
	"context"
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
// as many as statements may run at once, and each range is one query, whose pages are handed on as
// they come: memory holds a page and a batch of each. With one call a unit the cluster sorts a range
// and cuts off.
//
// Of a table whose snapshots have numbers all ranges read the one that was current at the start. Of
// another each range is read at a moment of its own, while others may write, and the guarantee
// holds even so. Which range a record is in is a function of its unit alone. So all that is read of a
// unit u is read by one query: it is a multiset M(u) that its own records made, at that moment. What is
// read of the whole table is the union D of all M(u). Fix what writers do, and leave out all records
// of a unit v at all moments: then M(v) is empty and no other M(u) changes. So D changes by the
// records of one unit, and what is released of D is as private as of a table that stands
// still. It is a state that the table may never have had, and the documentation says so.
//
// Where rows are units, the hash is one of the row's values. A row that somebody changes
// between two queries would be in two ranges, as two units: so such a table is one range
// where nothing fixes its state.
func (e *Engine) Feed(ctx context.Context, s engine.Seen, f func([]engine.Call) error) error {
	declared, ok := e.catalog.Table(s.Table)
	if !ok || declared.Public {
		return fmt.Errorf("there is no private table %q", s.Table)
	}
	r := &feed{engine: e, seen: s, unit: declared.Unit.Column, to: f, count: cap(e.places)}
	for _, name := range s.Columns {
		c, ok := declared.Column(name)
		if !ok {
			return fmt.Errorf("table %q has no column %q", s.Table, name)
		}
		r.columns = append(r.columns, c)
	}
	if r.unit == nil && !e.fixed(s.Table) {
		r.count = 1
	}
	seen, err := e.look(ctx, []*catalog.Table{declared})
	if err != nil {
		return remote.Failure(ctx, err)
	}
	r.table = seen[0]
	return remote.Failure(ctx, r.all(ctx))
}

// A feed is one reading of a table.
type feed struct {
	engine  *Engine
	seen    engine.Seen
	columns []*catalog.Column
	unit    *catalog.Column // nil where rows are units
	table   *table
	to      func([]engine.Call) error
	count   int // of ranges
}

// all reads all ranges at once. The first failure ends the others.
func (r *feed) all(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var ranges sync.WaitGroup
	for n := range r.count {
		ranges.Go(func() {
			if err := r.read(ctx, n); err != nil {
				stop(err)
			}
		})
	}
	ranges.Wait()
	return context.Cause(ctx) // the first error, or the caller's
}

// read reads one range.
func (r *feed) read(ctx context.Context, n int) error {
	if err := r.engine.enter(ctx); err != nil {
		return err
	}
	defer r.engine.leave()
	sql, types := r.text(n)
	g := calls.New(r.seen, r.to)
	err := r.engine.client.pages(ctx, withed([]string{r.table.read})+sql, func(p *page, _ int64) error {
		for _, cells := range p.Data {
			row, err := values(cells, types)
			if err != nil {
				return err
			}
			if err := g.Add(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return g.Flush()
}

// text selects what code sees in one range: the columns, and the unit if there is one. Texts are
// compared by their bytes, as everywhere. Where the unit is the row, the hash is of all that code
// sees of it: equal rows are in one range, and each is in one.
func (r *feed) text(n int) (text string, types []sqltype.Type) {
	var columns, names, order, seen []string
	add := func(c *catalog.Column) {
		names = append(names, fmt.Sprintf("v%d", len(names)))
		columns, types = append(columns, quote(c.Name)+" AS "+names[len(names)-1]), append(types, c.Type)
	}
	for i, c := range r.columns {
		add(c)
		order = append(order, fmt.Sprintf("o%d", i))
		seen = append(seen, "coalesce(CAST("+names[i]+" AS VARCHAR), '')")
	}
	key, where, of := "concat('', "+strings.Join(seen, ", ")+")", []string{}, strings.Join(names, ", ")
	if r.unit != nil {
		add(r.unit)
		unit := names[len(names)-1]
		key, where = "CAST("+unit+" AS VARCHAR)", append(where, unit+" IS NOT NULL")
		order = append([]string{fmt.Sprintf("o%d", len(r.columns))}, order...)
	}
	if r.count > 1 {
		where = append(where, fmt.Sprintf("bitwise_and(from_big_endian_64(xxhash64(to_utf8(%s))), 9223372036854775807) %% %d = %d", key, r.count, n))
	}
	all := strings.Join(names, ", ")
	text = "SELECT " + all + " FROM (SELECT " + strings.Join(columns, ", ") + " FROM " + quote(r.seen.Table) + ") AS seen"
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	if !r.seen.ByUnit {
		return transport(text, types), types
	}
	text = "SELECT " + all + " FROM (SELECT " + all + ", row_number() OVER (PARTITION BY " + names[len(names)-1] + " ORDER BY " + of + ") AS place FROM (" + text + ") AS kept) AS placed" +
		" WHERE place <= " + strconv.Itoa(calls.MaxUnitRecords)
	return transport(text, types) + " ORDER BY " + strings.Join(order, ", "), types
}
