//go:build cgo

package gateway_test

import (
	"errors"
	"strings"
	"testing"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// TestAnswersAreBounded: an answer over the bound is refused. One that was charged is charged
// once, and answered from what is stored where the bound lets it.
func TestAnswersAreBounded(t *testing.T) {
	dir := t.TempDir()
	var config gateway.Config
	bounded := func(bytes int64) func(*gateway.Config) {
		return func(c *gateway.Config) {
			e, err := duckdb.Open(t.Context(), c.Catalog, duckdb.Options{Threads: 1, Temp: dir, Answer: bytes})
			if err != nil {
				t.Fatal(err)
			}
			if c.Engine != nil {
				c.Engine.Close()
			}
			c.Engine = e
			config = *c
		}
	}
	narrow := gatewaytest.Open(t, dir, bounded(400))
	refused := func(sql string, o gateway.Options, why string) {
		t.Helper()
		_, err := narrow.Query(t.Context(), anna, sql, o)
		var r *discreet.Refusal
		if !errors.As(err, &r) || r.Code != "D221" || !strings.Contains(r.Why, why) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	const public = "SELECT a.name AS n, b.name AS m FROM departments AS a CROSS JOIN departments AS b"
	refused(public, gateway.Options{}, "nothing was charged")
	if _, err := narrow.Query(t.Context(), anna, public+" LIMIT 2", gateway.Options{}); err != nil {
		t.Errorf("a page of it: %v", err)
	}
	const charged = "SELECT g.department, g.visits, d.name FROM (" + grouped + ") AS g CROSS JOIN departments AS d ORDER BY 1, 3"
	keyed := rho(t, "0.01")
	keyed.IdempotencyKey = "k"
	refused(charged, keyed, "charged once")
	refused(charged, keyed, "charged once")
	refused(charged, rho(t, "0.01"), "charged once")
	balances, err := narrow.Budget(t.Context(), anna)
	if err != nil || balances[0].Spent.Rho.String() != "0.01" || balances[0].Uncommitted != 0 || balances[0].Suspended {
		t.Errorf("spent %+v, %v", balances, err)
	}

	config.Engine = nil
	bounded(1 << 20)(&config)
	wide, err := gateway.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer wide.Close()
	a, err := wide.Query(t.Context(), anna, charged, rho(t, "0.01"))
	if err != nil {
		t.Fatal(err)
	}
	departments, err := wide.Query(t.Context(), anna, "SELECT name FROM departments", gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := len(departments.Rows)
	if !a.Reused || len(a.Rows) != n*n || a.Cost.Rho.String() != "0.01" || len(a.Cost.Events) == 0 || a.Remaining.Rho.String() != balances[0].Remaining.Rho.String() || a.Intervals[0][1] == nil {
		t.Errorf("the stored release gives %d rows of %d, %+v", len(a.Rows), n*n, a)
	}
	b, err := wide.Query(t.Context(), anna, charged, keyed)
	if err != nil || b.Rows[0][1] != a.Rows[0][1] {
		t.Errorf("by its key: %v, %v", b, err)
	}
}
