//go:build cgo

package duckdb

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/internal/calls"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/records"
	"github.com/discreet-dp/discreet/sqltype"
)

// madeBy is the one part that a mapped table has.
func (e *Engine) madeBy(r *derive.Reading) ([]part, error) {
	return []part{{open: func(ctx context.Context) (records.Reader, []int, error) { return e.mapped(ctx, r) }}}, nil
}

// mapped runs a table's Map over the records of the table that it maps.
func (e *Engine) mapped(ctx context.Context, reading *derive.Reading) (records.Reader, []int, error) {
	t := reading.Table
	m := t.Mapping
	code := e.options.Maps[t.Name]
	if code.Feed == nil {
		if err := e.fresh(ctx, []string{m.Of.Name}); err != nil {
			return nil, nil, err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	r := &mappedReader{table: t, code: code, rows: make(chan []records.Record, 4), stop: stop}
	batches := make(chan []engine.Call, 4)
	hand := func(batch []engine.Call) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case batches <- batch:
			return nil
		}
	}
	var workers sync.WaitGroup
	r.all.Go(func() {
		defer close(batches)
		if code.Feed != nil {
			r.fail(code.Feed(ctx, hand))
			return
		}
		r.fail(raw(ctx, e.db, func(c *duckdb.Conn) error { return r.read(ctx, c, hand) }))
	})
	for range cmp.Or(code.AtOnce, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for b := range batches {
				if err := r.run(ctx, b); err != nil {
					r.fail(err)
				}
			}
		})
	}
	r.all.Go(func() {
		workers.Wait()
		close(r.rows)
	})
	at := make([]int, len(t.Columns))
	for i := range at {
		at[i] = i
	}
	return r, at, nil
}

// A mappedReader yields the rows that code makes. Their order is chance: nothing
// that reads a table may depend on it.
type mappedReader struct {
	table *catalog.Table
	code  engine.Map
	rows  chan []records.Record
	stop  context.CancelFunc
	all   sync.WaitGroup

	next []records.Record // of those received

	mu  sync.Mutex
	err error // the first
}

// fail ends everything.
func (r *mappedReader) fail(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
		r.stop()
	}
}

// read sends the records to the workers. Rows without a unit are in no statement,
// so no code sees them.
func (r *mappedReader) read(ctx context.Context, c *duckdb.Conn, to func([]engine.Call) error) error {
	m := r.table.Mapping
	seen := engine.Seen{ByUnit: m.ByUnit, Room: r.code.Room}
	var columns []string
	var types []sqltype.Type
	for _, column := range m.Columns {
		seen.Columns = append(seen.Columns, column.Name)
		columns, types = append(columns, quote(column.Name)), append(types, column.Type)
	}
	text := " FROM " + quote(m.Of.Name)
	unit := m.Of.Unit.Column
	if unit != nil {
		text += " WHERE " + quote(unit.Name) + " IS NOT NULL"
		columns, types = append(columns, quote(unit.Name)), append(types, unit.Type)
	}
	if m.ByUnit {
		text += " ORDER BY " + quote(unit.Name) + ", " + strings.Join(columns[:len(m.Columns)], ", ")
	}
	g := calls.New(seen, to)
	if err := each(ctx, c, transport("SELECT "+strings.Join(columns, ", ")+text, types), types, nil, g.Add); err != nil {
		return err
	}
	return g.Flush()
}

// run maps a batch and hands its rows on.
func (r *mappedReader) run(ctx context.Context, batch []engine.Call) error {
	var out []records.Record
	all, err := r.code.Rows(ctx, batch)
	if err != nil {
		return err
	}
	if len(all) != len(batch) {
		return fmt.Errorf("a map made rows of %d calls for %d", len(all), len(batch))
	}
	for i, s := range batch {
		made := all[i]
		unit, err := r.unit(s, len(made) > 0)
		if err != nil {
			return err
		}
		for n, row := range made {
			if int64(n) == r.table.Mapping.Outputs {
				break
			}
			if len(unit)+len(row) != len(r.table.Columns) {
				return fmt.Errorf("a map made a row of %d values for table %q", len(row), r.table.Name)
			}
			record := records.Record{Fields: unit[:len(unit):len(unit)]}
			for _, v := range row {
				record.Fields = append(record.Fields, field(v))
			}
			out = append(out, record)
		}
	}
	if len(out) == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case r.rows <- out:
		return nil
	}
}

// unit is the field that carries the unit, if the table has one.
func (r *mappedReader) unit(s engine.Call, needed bool) ([][]byte, error) {
	switch {
	case r.table.Unit.Kind == catalog.UnitRow:
		return nil, nil
	case s.Unit != nil:
		return [][]byte{field(s.Unit)}, nil
	case !needed:
		return nil, nil
	}
	key, err := r.code.Unit()
	return [][]byte{[]byte(key)}, err
}

// field is a value as the text that DuckDB casts back to it.
func field(v sqltype.Value) []byte {
	if v == nil {
		return nil
	}
	return []byte(sqltype.Format(v))
}

// Next returns the next row.
func (r *mappedReader) Next() (records.Record, error) {
	for len(r.next) == 0 {
		batch, open := <-r.rows
		if !open {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.err != nil {
				return records.Record{}, r.err
			}
			return records.Record{}, io.EOF
		}
		r.next = batch
	}
	out := r.next[0]
	r.next = r.next[1:]
	return out, nil
}

// Skipped returns 0: code makes no malformed records.
func (*mappedReader) Skipped() int64 { return 0 }

// Close ends what runs.
func (r *mappedReader) Close() error {
	r.stop()
	go func() { // let those go that wait to hand rows on
		for range r.rows {
		}
	}()
	r.all.Wait()
	return nil
}

// fed reports whether the records of a mapped table come from elsewhere.
func (e *Engine) fed(t *catalog.Table) bool { return e.options.Maps[t.Name].Feed != nil }

// filesOf are the files of a table. One that is fed has none, so that what code made of it when it
// was first read stays.
func (e *Engine) filesOf(t *catalog.Table) (files, error) {
	if e.fed(t) {
		return files{}, nil
	}
	return filesOf(t)
}
