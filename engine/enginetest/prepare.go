package enginetest

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// preparing: what can be planned is told from what cannot, by the tables that
// are described and no others, and without a look at any file.
func preparing(t *testing.T, open Open) {
	c := visitsIn(t, visits())
	e := open(t, c, 2)
	p, ok := e.(engine.Preparer)
	if !ok {
		t.Skip("the engine cannot tell what it can plan")
	}
	q := bounded(t, e, c, 2, 3)
	before := show(exact(t, e, q))
	text, err := os.ReadFile(c.Tables[0].Source.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(c.Tables[0].Source.Path); err != nil {
		t.Fatal(err)
	}
	described := engine.Table{Name: "visits"}
	for _, column := range c.Tables[0].Columns {
		described.Columns = append(described.Columns, engine.Column{Name: column.Name, Type: column.Type})
	}
	other := engine.Table{Name: "visits", Columns: []engine.Column{{Name: "released", Type: sqltype.DecimalOf(38, 2)}}}
	for _, x := range []struct {
		name, sql string
		tables    []engine.Table
		want      error
	}{
		{"a release", q.SQL, []engine.Table{described}, nil},
		{"nothing is read", "SELECT 1", nil, nil},
		{"other columns under a name of the catalog's", "SELECT released + 1 FROM visits", []engine.Table{other}, nil},
		{"its own columns are not there then", "SELECT u FROM visits", []engine.Table{other}, engine.ErrPlan},
		{"no such column", "SELECT nothing FROM visits", []engine.Table{described}, engine.ErrPlan},
		{"no such table", "SELECT 1 FROM nothing", []engine.Table{described}, engine.ErrPlan},
		{"no such function", "SELECT nothing(u) FROM visits", []engine.Table{described}, engine.ErrPlan},
		{"no SQL", "nothing", nil, engine.ErrPlan},
		{"no SELECT", "CREATE TABLE a (b INTEGER)", nil, engine.ErrPlan},
	} {
		if err := p.Prepare(t.Context(), x.sql, x.tables); err != x.want {
			t.Errorf("%s: %v, want %v", x.name, err, x.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Prepare(ctx, q.SQL, []engine.Table{described}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// Queries see the source all the same.
	if err := os.WriteFile(c.Tables[0].Source.Path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		if after := show(exact(t, e, q)); !slices.Equal(after, before) {
			t.Fatalf("after preparing:\n%v\nwant\n%v", after, before)
		}
	}
}
