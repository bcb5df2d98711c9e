package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// A dialect is what DuckDB and PostgreSQL, which is remote, write differently. Nothing leaves a
// database but counts.
type dialect struct{ remote bool }

func dialectOf(c *catalog.Catalog) dialect { return dialect{c.Engine.Remote()} }

// number is a type in which sums of numbers do not overflow.
func (d dialect) number() string {
	if d.remote {
		return "NUMERIC"
	}
	return "DOUBLE"
}

// name is the name of a type.
func (d dialect) name(t sqltype.Type) string {
	switch {
	case t.Kind == sqltype.Text && !d.remote:
		return "VARCHAR"
	case t.Kind == sqltype.Double && d.remote:
		return "DOUBLE PRECISION"
	}
	return strings.ToUpper(t.String())
}

// wide is a type in which two values of t can be subtracted.
func (d dialect) wide(t sqltype.Type) string {
	switch {
	case d.remote:
		return "NUMERIC"
	case t.IsInteger():
		return "HUGEINT"
	}
	return fmt.Sprintf("DECIMAL(38,%d)", t.Scale)
}

// quantiles aggregates those of Quantiles.
func (d dialect) quantiles(x string) string {
	if d.remote {
		return "percentile_disc(ARRAY[0.5, 0.9, 0.99, 1.0]) WITHIN GROUP (ORDER BY " + x + ")"
	}
	return "quantile_disc(" + x + ", [0.5, 0.9, 0.99, 1.0])"
}

// constant writes a value of type t.
func (d dialect) constant(v sqltype.Value, t sqltype.Type) string {
	return "CAST(" + literal(sqltype.Format(v)) + " AS " + d.name(t) + ")"
}

// relation reads a table of a database.
func (s *sources) relation(ctx context.Context, src *source, f *file) error {
	o, ok := s.owner.(engine.Relator)
	if !ok {
		return errors.New("it is a table of a database, and no database is open")
	}
	t := f.reading.Table
	r, err := o.Relation(ctx, t.Source.Schema, t.Source.Table)
	if err != nil {
		return err
	}
	if r.Problem != "" {
		return fmt.Errorf("%s: %s", r.Problem, r.Hint)
	}
	f.dialect = render.Postgres
	for i, field := range f.reading.Fields {
		at := slices.IndexFunc(r.Columns, func(c engine.Native) bool { return c.Name == field.Name })
		if at < 0 {
			f.missing[i], f.raw[i], f.values[i] = true, "CAST(NULL AS TEXT)", render.PostgresNull(field.Type)
			continue
		}
		c := r.Columns[at]
		if c.Denied {
			return fmt.Errorf("column %q may not be read, or is computed when it is read", c.Name)
		}
		f.raw[i], f.types[i] = quote(c.Name), c.Type
		if f.values[i], ok = render.PostgresField(quote(c.Name), c.Native, field.Type); !ok {
			return fmt.Errorf("column %q is of type %s, which cannot be read as %s", c.Name, c.Type, field.Type)
		}
	}
	src.relation, err = f.relation(r.From, false)
	return err
}
