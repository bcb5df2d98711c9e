package derive

import (
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// What the adapter of PostgreSQL reads tables by: see package render.

// PostgresColumns is ColumnsIn for PostgreSQL.
func (r *Reading) PostgresColumns() ([]string, error) { return r.ColumnsIn(render.Postgres) }

// PostgresField prints the reading of a column: see render.PostgresField.
func PostgresField(column, native string, t sqltype.Type) (string, bool) {
	return render.PostgresField(column, native, t)
}

// PostgresNull prints NULL of a type: see render.PostgresNull.
func PostgresNull(t sqltype.Type) string { return render.PostgresNull(t) }
