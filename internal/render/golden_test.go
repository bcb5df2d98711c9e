package render_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// clinic is the catalog of the goldens.
func clinic(t testing.TB) *catalog.Catalog {
	table := func(name string, columns ...string) *catalog.Table {
		out := &catalog.Table{Name: name}
		for i := 0; i < len(columns); i += 2 {
			typ, err := sqltype.Parse(columns[i+1])
			if err != nil {
				t.Fatal(err)
			}
			out.Columns = append(out.Columns, &catalog.Column{Name: columns[i], Type: typ})
		}
		return out
	}
	return &catalog.Catalog{Tables: []*catalog.Table{
		table("visits", "patient_id", "bigint", "department", "text", "age", "integer", "cost", "double",
			"paid", "decimal(10,2)", "seen_at", "timestamp", "day", "date", "urgent", "boolean"),
		table("patients", "patient_id", "bigint", "name", "text", "born", "date"),
		table("departments", "name", "text", "floor", "smallint"),
	}}
}

// TestGolden holds statements, their plans and the SQL that is rendered. Run
// with -rewrite to accept a change.
func TestGolden(t *testing.T) {
	cat := clinic(t)
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			n, err := compile(cat, d.Input)
			if err != nil {
				return err.Error() + "\n"
			}
			out := plan.Format(n)
			if d.Cmd == "plan" {
				return out
			}
			sql, err := render.Relation(n)
			if err != nil {
				return err.Error() + "\n"
			}
			return out + sql + "\n"
		})
	})
}

func compile(cat *catalog.Catalog, text string) (plan.Node, error) {
	q, err := sqlparse.Parse(text)
	if err != nil {
		return nil, err
	}
	n, err := bind.Bind(q, cat)
	var d *diagnostic.Diagnostic
	if errors.As(err, &d) {
		var b strings.Builder
		d.In("query", text).Write(&b)
		return nil, errors.New(strings.TrimSpace(b.String()))
	}
	return n, err
}
