package discreet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// certify analyses a statement, and reads the values of public tables on which the analysis depends, if they are not given.
func (db *Database) certify(ctx context.Context, bound plan.Node, given stability.Options) (*stability.Certificate, stability.Public, error) {
	if given.Public = maps.Clone(given.Public); given.Public == nil {
		given.Public = stability.Public{}
	}
	for {
		certificate, unread, refused := stability.AnalyzeWith(bound, given)
		if len(unread) == 0 {
			return certificate, given.Public, refused
		}
		for _, d := range unread {
			var err error
			if given.Public[d.FromColumn], err = db.readPublic(ctx, d); err != nil {
				return nil, nil, err
			}
		}
	}
}

// publicValues returns the values of each bounding key's public domain, sorted, reading
// public tables where the domain says so, and refuses cross products of what is released that are
// too large. It runs before private data is touched.
func (db *Database) publicValues(ctx context.Context, r *stability.Release, public stability.Public, known render.Stages) ([][]sqltype.Value, error) {
	if r.Private {
		return nil, nil
	}
	keys := r.Bounding()
	out := make([][]sqltype.Value, len(keys))
	for i, k := range keys {
		if k.Numbered != nil {
			for v := range len(known[k.Numbered.Index]) {
				out[i] = append(out[i], int64(v+1))
			}
			continue
		}
		for _, d := range k.Domain {
			values, err := db.enumerate(ctx, public, d, k.Expr)
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], values...)
		}
		out[i] = distinct(out[i])
	}
	cells := 1
	for _, values := range r.Displayed(out) {
		if cells *= len(values); cells > release.MaxCells {
			return nil, diagnostic.New("D051", r.Span, "the grouping keys' public domains have more than %d combinations", release.MaxCells).
				Because("every combination is published, empty or not").
				Try("group by fewer or coarser keys")
		}
	}
	return out, nil
}

// loadPublic fills a scratch instance with public tables.
func (db *Database) loadPublic(ctx context.Context, scratch engine.Scratch, tables []string) error {
	for _, name := range tables {
		columns, rows, err := db.config.Engine.Public(ctx, name)
		if err != nil {
			return err
		}
		if err := scratch.Load(ctx, name, columns, rows); err != nil {
			return err
		}
	}
	return nil
}

// readPublic reads the distinct values of a public table's column.
func (db *Database) readPublic(ctx context.Context, d *catalog.PublicDomain) ([]sqltype.Value, error) {
	if db.config.Engine == nil {
		return nil, errors.New("read public domain: no engine")
	}
	columns, rows, err := db.config.Engine.Public(ctx, d.FromTable.Name)
	if err != nil {
		return nil, fmt.Errorf("read public domain %s.%s: %w", d.FromTable.Name, d.FromColumn.Name, err)
	}
	at := slices.IndexFunc(columns, func(c engine.Column) bool { return c.Name == d.FromColumn.Name })
	if at < 0 {
		return nil, fmt.Errorf("read public domain: table %s has no column %s", d.FromTable.Name, d.FromColumn.Name)
	}
	values := make([]sqltype.Value, len(rows))
	for i, row := range rows {
		values[i] = row[at]
	}
	return distinct(canonical([][]sqltype.Value{values})[0]), nil
}

// enumerate lists a public domain's values as values of a key's type.
func (db *Database) enumerate(ctx context.Context, public stability.Public, d *catalog.PublicDomain, key plan.Expr) ([]sqltype.Value, error) {
	if d.FromTable == nil {
		n, ok := d.Size()
		if !ok || n > release.MaxCells {
			return nil, diagnostic.New("D051", key.Place(), "a grouping key's public domain has more than %d values", release.MaxCells).
				Try("group by a coarser key")
		}
		return slices.Collect(d.All(key.Type())), nil
	}
	values, known := public[d.FromColumn]
	if !known {
		var err error
		if values, err = db.readPublic(ctx, d); err != nil {
			return nil, err
		}
	}
	return stability.OfType(values, key.Type()), nil
}

// distinct returns the values that are not NULL, each once, in their order. A range of numbers
// comes in order: then nothing is printed to tell values apart.
func distinct(values []sqltype.Value) []sqltype.Value {
	values = slices.DeleteFunc(values, func(v sqltype.Value) bool { return v == nil })
	rises := true
	for i := 1; i < len(values) && rises; i++ {
		rises = sqltype.Compare(values[i-1], values[i]) < 0
	}
	if rises {
		return values
	}
	seen := map[string]bool{}
	values = slices.DeleteFunc(values, func(v sqltype.Value) bool {
		key := sqltype.Key(v)
		before := seen[key]
		seen[key] = true
		return before
	})
	slices.SortFunc(values, sqltype.Compare)
	return values
}
