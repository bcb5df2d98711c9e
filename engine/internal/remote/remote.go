// Package remote is what adapters of databases share: what a catalog's tables are to them, and
// what they tell of failures.
package remote

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// Own reports whether a relation is a table of the catalog: by its name and with its columns.
func Own(c *catalog.Catalog, t engine.Table) bool {
	declared, ok := c.Table(t.Name)
	return ok && slices.EqualFunc(declared.Columns, t.Columns, func(a *catalog.Column, b engine.Column) bool { return a.Name == b.Name && a.Type == b.Type })
}

// Public returns the rows of a table that the catalog declares public, which rows selects from the
// relation of its name, and refuses every other.
func Public(ctx context.Context, c *catalog.Catalog, name string, rows func(sql string, types []sqltype.Type) ([][]sqltype.Value, error)) ([]engine.Column, [][]sqltype.Value, error) {
	t, ok := c.Table(name)
	if !ok || !t.Public {
		return nil, nil, fmt.Errorf("table %q is not public", name)
	}
	var columns []engine.Column
	var types []sqltype.Type
	var names []string
	for _, c := range t.Columns {
		columns, types, names = append(columns, engine.Column{Name: c.Name, Type: c.Type}), append(types, c.Type), append(names, quote(c.Name))
	}
	read, err := rows("SELECT "+strings.Join(names, ", ")+" FROM "+quote(name), types)
	return columns, read, Failure(ctx, err)
}

// Failure hides what a database says, which quotes values; that the caller gave up is no secret.
func Failure(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return engine.Fail(err)
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
