package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
)

var _ engine.Laid = (*Engine)(nil)

// Layout looks for tables that are clustered by an index which begins with their unit: the server
// can take each unit's rows as they come. Whether it does, its planner decides by statistics, of
// which nothing is told.
func (e *Engine) Layout(ctx context.Context, queries []engine.Query) (notes []string, err error) {
	var wanted, names []string
	for _, q := range queries {
		for _, name := range q.Tables {
			t, ok := e.catalog.Table(name)
			if !ok || t.Public || t.Unit.Kind != catalog.UnitColumn || t.Unit.Column.Is != nil || slices.Contains(names, name) {
				continue
			}
			unit := t.Unit.Column
			column := unit.Name
			if unit.From != "" {
				column = unit.From
			}
			wanted = append(wanted, fmt.Sprintf("(%d, %s::name, %s::name, %s::name, %s)", len(names), literal(t.Source.Schema), literal(t.Source.Table), literal(column), literal(unit.Type.String())))
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	t, err := e.pool.begin(ctx, nil, false)
	if err != nil {
		return nil, err
	}
	defer t.end()
	results, err := t.conn.Exec(ctx, "WITH wanted(i, s, t, c, y) AS (VALUES "+strings.Join(wanted, ", ")+`)
SELECT w.i FROM wanted AS w JOIN pg_namespace AS n ON n.nspname = w.s JOIN pg_class AS r ON r.relnamespace = n.oid AND r.relname = w.t
	JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attname = w.c AND format_type(a.atttypid, a.atttypmod) = w.y
WHERE EXISTS (SELECT FROM pg_index AS x WHERE x.indrelid = r.oid AND x.indisclustered AND x.indisvalid AND x.indpred IS NULL AND x.indkey[0] = a.attnum)
ORDER BY w.i`).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, row := range results[len(results)-1].Rows {
		var i int
		if _, err := fmt.Sscan(string(row[0]), &i); err != nil {
			return nil, err
		}
		notes = append(notes, fmt.Sprintf("%s: laid out by its unit: the server can group its rows as they come, without sorting or hashing them", names[i]))
	}
	return notes, nil
}
