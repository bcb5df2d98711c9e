//go:build cgo

package discreet

import (
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/privacy"
)

// An unsteady engine has one table that moves.
type unsteady struct {
	engine.Engine
	name string
}

func (u unsteady) Moving(tables []string) []string {
	if slices.Contains(tables, u.name) {
		return []string{u.name}
	}
	return nil
}

// An answer says which table it read several times, each time perhaps in another state: by several
// queries, or in several places of one.
func TestMovingTablesAreNoted(t *testing.T) {
	db, r := staged(t, 5)
	db.config.Engine = unsteady{r, "t"}
	epsilon, err := privacy.ParseEpsilon("100")
	if err != nil {
		t.Fatal(err)
	}
	noted := func(notes []string) string {
		for _, n := range notes {
			if strings.Contains(n, "no snapshots") {
				return n
			}
		}
		return ""
	}
	for _, c := range []struct{ sql, note string }{
		{"SELECT count(*) FROM t", ""},
		{"SELECT k, count(*) FROM t GROUP BY k", ""},
		{"SELECT (SELECT count(*) FROM t WHERE x > 3), (SELECT count(*) FROM t)", "t: its 2 readings may have seen different states of it: the engine has no snapshots of this table"},
		{"SELECT count(*) FROM t AS a JOIN t AS b ON b.who = a.who", "t: its 2 readings may have seen different states of it: the engine has no snapshots of this table"},
	} {
		a, err := db.Query(t.Context(), c.sql, &QueryOptions{Spend: Spend{Epsilon: epsilon}})
		if err != nil {
			t.Fatal(c.sql, err)
		}
		if got := noted(a.Notes); got != c.note {
			t.Errorf("%s: %q, want %q", c.sql, got, c.note)
		}
	}
	mapped := &catalog.Catalog{Tables: []*catalog.Table{{Name: "mapped", Mapping: &catalog.Mapping{Of: &catalog.Table{Name: "visits"}}}}}
	db = &Database{config: Config{Catalog: mapped, Engine: unsteady{nil, "mapped"}}}
	got := noted(db.moving(&compiled{queries: []engine.Query{{SQL: `SELECT count(*) FROM "mapped"`, Tables: []string{"mapped"}}}}))
	if got != "mapped: records of different units may be of different moments: the engine has no snapshots of visits" {
		t.Errorf("what code made: %q", got)
	}
}
