package trino

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/derive"
)

var _ engine.Laid = (*Engine)(nil)

// Layout asks the planner how it groups a table by its unit alone: of a table in buckets of the unit
// it plans no exchange of rows between workers. That hangs on how the table is partitioned and on
// the number of workers; there is one way to group a single table, so that no statistics of its rows
// decide. Of what the planner says no word is passed on.
//
// A table is laid out for a statement whose only query reads it in one place, since Trino
// forgets the layout where a snapshot has a number.
func (e *Engine) Layout(ctx context.Context, queries []engine.Query) (notes []string, err error) {
	if len(queries) != 1 {
		return nil, nil
	}
	q := queries[0]
	var tables []*catalog.Table
	for _, name := range q.Tables {
		t, ok := e.catalog.Table(name)
		if ok && !t.Public && t.Unit.Kind == catalog.UnitColumn && t.Unit.Column.Is == nil && once(q.SQL, name) {
			tables = append(tables, t)
		}
	}
	seen, err := e.describe(ctx, tables)
	if err != nil {
		return nil, err
	}
	for i, t := range tables {
		unit := t.Unit.Column
		name := unit.Name
		if unit.From != "" {
			name = unit.From
		}
		at := slices.IndexFunc(seen[i].columns, func(c column) bool { return c.name == name })
		if at < 0 {
			continue
		}
		read, ok := derive.TrinoPlain(quote(name), seen[i].columns[at].native, unit.Type)
		if !ok {
			continue
		}
		plan, err := e.ask(ctx, "EXPLAIN SELECT u, array_agg(u) FROM (SELECT "+read+" AS u FROM "+relation(t)+") AS t WHERE u IS NOT NULL GROUP BY u")
		if err != nil {
			return nil, err
		}
		moves := true
		for _, row := range plan.rows {
			if text, err := row[0].asText(); err == nil && text != nil {
				moves = strings.Contains(*text, "Output partitioning: HASH")
			}
		}
		if !moves {
			notes = append(notes, fmt.Sprintf("%s: laid out by its unit: no row is moved between workers to be grouped", t.Name))
		}
	}
	return notes, nil
}
