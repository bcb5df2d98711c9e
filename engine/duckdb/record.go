//go:build cgo

package duckdb

import (
	"context"
	"fmt"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

var _ engine.Recorder = (*Engine)(nil)

// EachRecord calls f with each record of a table. A unit that is reached by
// references is joined to: a record whose reference does not resolve has none, and
// where a referred key is not unique each copy carries its own unit.
func (e *Engine) EachRecord(ctx context.Context, table string, columns []string, f func(unit string, values []sqltype.Value) error) error {
	t, ok := e.catalog.Table(table)
	if !ok || t.Mapping != nil {
		return fmt.Errorf("there are no records of a table %q", table)
	}
	var names []string
	var types []sqltype.Type
	for _, name := range columns {
		c, ok := t.Column(name)
		if !ok {
			return fmt.Errorf("table %q has no column %q", table, name)
		}
		names, types = append(names, "t0."+quote(c.Name)), append(types, c.Type)
	}
	read := []string{t.Name}
	text := " FROM " + quote(t.Name) + " AS t0"
	owner := t
	for ; owner.Unit.Kind == catalog.UnitReference; owner = owner.Unit.References {
		next := owner.Unit.References
		text += fmt.Sprintf(" JOIN %s AS t%d ON t%d.%s = t%d.%s", quote(next.Name), len(read),
			len(read)-1, quote(owner.Unit.Column.Name), len(read), quote(owner.Unit.Referred.Name))
		read = append(read, next.Name)
	}
	unit := owner.Unit.Column // nil of rows that are units, and of public tables
	if unit != nil {
		name := fmt.Sprintf("t%d.%s", len(read)-1, quote(unit.Name))
		text += " WHERE " + name + " IS NOT NULL"
		names, types = append(names, name), append(types, unit.Type)
	}
	if err := e.fresh(ctx, read); err != nil {
		return failure(ctx, err)
	}
	var refused error // by f, in its own words
	err := raw(ctx, e.db, func(c *duckdb.Conn) error {
		return each(ctx, c, transport("SELECT "+strings.Join(names, ", ")+text, types), types, nil, func(row []sqltype.Value) error {
			key := ""
			if unit != nil {
				key = sqltype.Key(row[len(columns)])
			}
			refused = f(key, row[:len(columns):len(columns)])
			return refused
		})
	})
	if refused != nil {
		return refused
	}
	return failure(ctx, err)
}
