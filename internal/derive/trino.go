package derive

import (
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// What the adapter of Trino reads tables by: see package render.

// TrinoSalt stands in a rendered statement for the salt: see render.TrinoSalt.
const TrinoSalt = render.TrinoSalt

// TrinoColumns is ColumnsIn for Trino.
func (r *Reading) TrinoColumns() ([]string, error) { return r.ColumnsIn(render.Trino) }

// TrinoField prints the reading of a column: see render.TrinoField.
func TrinoField(column, native string, t sqltype.Type) (string, bool) {
	return render.TrinoField(column, native, t)
}

// TrinoPlain is TrinoField of a column that is of the type: see render.TrinoPlain.
func TrinoPlain(column, native string, t sqltype.Type) (string, bool) {
	return render.TrinoPlain(column, native, t)
}

// TrinoNull prints NULL of a type: see render.TrinoNull.
func TrinoNull(t sqltype.Type) string { return render.TrinoNull(t) }
