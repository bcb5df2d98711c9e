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

// A dialect is what the engines write differently. Nothing leaves a database but counts.
type dialect struct{ kind catalog.Kind }

func dialectOf(c *catalog.Catalog) dialect { return dialect{c.Engine.Kind} }

// remote reports whether the records are in a database, and no source is a file.
func (d dialect) remote() bool { return d.kind == catalog.PostgreSQL || d.kind == catalog.Trino }

// number is a type in which sums of numbers do not overflow.
func (d dialect) number() string {
	if d.kind == catalog.PostgreSQL {
		return "NUMERIC"
	}
	return "DOUBLE"
}

// name is the name of a type.
func (d dialect) name(t sqltype.Type) string {
	switch {
	case t.Kind == sqltype.Text && d.kind != catalog.PostgreSQL:
		return "VARCHAR"
	case t.Kind == sqltype.Double && d.kind == catalog.PostgreSQL:
		return "DOUBLE PRECISION"
	case (t.Kind == sqltype.TimeKind || t.Kind == sqltype.TimestampKind) && d.kind == catalog.Trino:
		return strings.ToUpper(t.String()) + "(6)"
	}
	return strings.ToUpper(t.String())
}

// wide is a type in which two values of t can be subtracted.
func (d dialect) wide(t sqltype.Type) string {
	switch {
	case d.kind == catalog.PostgreSQL:
		return "NUMERIC"
	case t.IsInteger() && d.kind != catalog.Trino:
		return "HUGEINT"
	}
	return fmt.Sprintf("DECIMAL(38,%d)", t.Scale)
}

func cast(x, typ string) string { return "CAST(" + x + " AS " + typ + ")" }

// quantiles is a scalar subquery of those of Quantiles, of the numbers x of a relation.
func (d dialect) quantiles(x, from string) string {
	switch d.kind {
	case catalog.PostgreSQL:
		return "(SELECT percentile_disc(ARRAY[0.5, 0.9, 0.99, 1.0]) WITHIN GROUP (ORDER BY " + x + ") FROM " + from + ")"
	case catalog.Trino: // which has none that is exact: of each number, how many are not greater
		var all []string
		for _, percent := range []int{50, 90, 99, 100} {
			all = append(all, fmt.Sprintf("CAST(min(x) FILTER (WHERE 100 * upto >= %d * whole) AS VARCHAR)", percent))
		}
		return fmt.Sprintf("(SELECT array_join(ARRAY[%s], ',') FROM (SELECT x, sum(n) OVER (ORDER BY x) AS upto, sum(n) OVER () AS whole FROM (SELECT %s AS x, count(*) AS n FROM %s GROUP BY 1) AS t) AS t)",
			strings.Join(all, ", "), x, from)
	}
	return "(SELECT quantile_disc(" + x + ", [0.5, 0.9, 0.99, 1.0]) FROM " + from + ")"
}

// constant writes a value of type t.
func (d dialect) constant(v sqltype.Value, t sqltype.Type) string {
	return cast(literal(sqltype.Format(v)), d.name(t))
}

// rendered is the dialect of the renderer, of a database.
func (d dialect) rendered() render.Dialect {
	if d.kind == catalog.Trino {
		return render.Trino
	}
	return render.Postgres
}

// field reads a column of a database.
func (d dialect) field(column, native string, t sqltype.Type) (string, bool) {
	if d.kind == catalog.Trino {
		return render.TrinoField(column, native, t)
	}
	return render.PostgresField(column, native, t)
}

// null is NULL of a type in a database.
func (d dialect) null(t sqltype.Type) string {
	if d.kind == catalog.Trino {
		return render.TrinoNull(t)
	}
	return render.PostgresNull(t)
}

// relation reads a table of a database.
func (s *sources) relation(ctx context.Context, src *source, f *file) error {
	o, ok := s.owner.(engine.Relator)
	if !ok {
		return errors.New("it is a table of a database, and no database is open")
	}
	t := f.reading.Table
	r, err := o.Relation(ctx, t.Source.Database, t.Source.Schema, t.Source.Table)
	if err != nil {
		return err
	}
	if r.Problem != "" {
		return fmt.Errorf("%s: %s", r.Problem, r.Hint)
	}
	f.dialect = s.dialect.rendered()
	for i, field := range f.reading.Fields {
		at := slices.IndexFunc(r.Columns, func(c engine.Native) bool { return c.Name == field.Name })
		if at < 0 {
			f.missing[i], f.raw[i], f.values[i] = true, "CAST(NULL AS VARCHAR)", s.dialect.null(field.Type)
			continue
		}
		c := r.Columns[at]
		if c.Denied {
			return fmt.Errorf("column %q may not be read, or is computed when it is read", c.Name)
		}
		f.raw[i], f.types[i] = quote(c.Name), c.Type
		if f.values[i], ok = s.dialect.field(quote(c.Name), c.Native, field.Type); !ok {
			return fmt.Errorf("column %q is of type %s, which cannot be read as %s", c.Name, c.Type, field.Type)
		}
	}
	src.relation, err = f.relation(r.From, false)
	return err
}
