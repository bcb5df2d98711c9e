package render_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/render"
)

// What has no form in PostgreSQL in which no value can make a statement fail is refused by name, and
// has one in DuckDB.
func TestPostgresRefuses(t *testing.T) {
	c := nastyCatalog(t)
	for _, f := range []string{"var_pop", "var_samp", "stddev_pop", "stddev_samp"} {
		n, err := compile(c, "SELECT "+f+"(b) FROM t")
		if err != nil {
			t.Fatal(err)
		}
		var d *diagnostic.Diagnostic
		if sql, err := render.Postgres.Relation(n); !errors.As(err, &d) || d.Code != "D106" || !strings.Contains(d.Message, "PostgreSQL") || !strings.Contains(d.Message, f) {
			t.Errorf("%s: %v %s", f, err, sql)
		}
		if _, err := render.Relation(n); err != nil {
			t.Errorf("%s in DuckDB: %v", f, err)
		}
	}
}
