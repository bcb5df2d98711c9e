package workplace

import (
	"context"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

// A fed engine answers over mapped tables whose records are in a database. What the code makes of
// them is kept here, by the engine that keeps it where records are files; so a release is the same
// query over the same rows, wherever the records are.
type fed struct {
	engine.Engine // which keeps what the code makes
	catalog       *catalog.Catalog
	source        engine.Engine // the database, which closes it
}

// Public are the rows of a public table, which is in the database.
func (f *fed) Public(ctx context.Context, table string) ([]engine.Column, [][]sqltype.Value, error) {
	return f.source.Public(ctx, table)
}

// Prepare refuses a statement that reads tables of the database beside what code made, and one whose
// records cannot be read.
func (f *fed) Prepare(ctx context.Context, sql string, tables []engine.Table) error {
	for _, t := range tables {
		declared, ok := f.catalog.Table(t.Name)
		switch {
		case !ok:
			continue
		case declared.Mapping == nil:
			return diagnostic.New("D146", diagnostic.Span{}, "table %q cannot be combined with what the module makes", t.Name).
				Because("it is in a database, and what the module makes is kept in this process").
				Try("ask about mapped alone; the module can be shown any column of the table that is mapped (--columns)")
		}
		if p, ok := f.source.(engine.Preparer); ok {
			of := engine.Table{Name: declared.Mapping.Of.Name}
			for _, c := range declared.Mapping.Of.Columns {
				of.Columns = append(of.Columns, engine.Column{Name: c.Name, Type: c.Type})
			}
			if err := p.Prepare(ctx, "SELECT 1", []engine.Table{of}); err != nil {
				return err
			}
		}
	}
	if p, ok := f.Engine.(engine.Preparer); ok {
		return p.Prepare(ctx, sql, tables)
	}
	return nil
}

// Moving are the mapped tables whose records are read in no one state: where rows are units, one query reads them.
func (f *fed) Moving(tables []string) (moving []string) {
	u, ok := f.source.(engine.Unsteady)
	if !ok {
		return nil
	}
	for _, name := range tables {
		t, ok := f.catalog.Table(name)
		if ok && t.Mapping != nil && t.Mapping.Of.Unit.Kind != catalog.UnitRow && len(u.Moving([]string{t.Mapping.Of.Name})) > 0 {
			moving = append(moving, name)
		}
	}
	return moving
}

// PreparePost is of the engine that post-processes.
func (f *fed) PreparePost(ctx context.Context, sql string, tables []engine.Table) error {
	return engine.PreparePost(ctx, f.Engine, sql, tables)
}

// Close closes the database, and what it keeps beside it.
func (f *fed) Close() error { return f.source.Close() }
