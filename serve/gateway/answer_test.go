//go:build cgo

package gateway_test

import (
	"context"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/ledger"
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

	// An older version did not store whose release it is. The ledger knows, where no key names it.
	whole, err := discreet.Open(t.Context(), discreet.Config{Catalog: config.Catalog, Engine: config.Engine, Ledger: config.Ledger, Now: config.Now})
	if err != nil {
		t.Fatal(err)
	}
	for key, refused := range map[string]bool{"": false, "older": true} {
		o := discreet.QueryOptions{Analyst: "older", Repeat: key == "", IdempotencyKey: key, Spend: rho(t, "0.01").Spend}
		s, err := whole.Prepare(t.Context(), charged, &o)
		if err != nil {
			t.Fatal(err)
		}
		reservation, err := config.Ledger.Reserve(t.Context(), s.Request(discreet.Payer{}))
		if err != nil {
			t.Fatal(err)
		}
		if err := config.Ledger.Commit(t.Context(), reservation, []byte(`{"released":[{"columns":[],"rows":[]}],"cost":{}}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Answer(t.Context(), discreet.Payer{}); errors.Is(err, ledger.ErrIdempotencyKey) != refused {
			t.Errorf("what an older version stored under the key %q: %v", key, err)
		}
	}
}

// TestKeyedAnswersAreOfOneStatement: what an idempotency key stands for is no answer to what
// is asked otherwise, or by another catalog. Each option is looked at here.
func TestKeyedAnswersAreOfOneStatement(t *testing.T) {
	const text = "SELECT g.department, g.paid, d.name FROM (SELECT department, sum(cost) AS paid, count(*) FROM visits GROUP BY department) AS g CROSS JOIN departments AS d ORDER BY 1, 3"
	for _, bytes := range []int64{400, 1 << 20} { // what is stored is what was released, or the answer
		dir := t.TempDir()
		r := reloader{World: gatewaytest.Open(t, dir, func(c *gateway.Config) {
			c.Engine.Close()
			var err error
			if c.Engine, err = duckdb.Open(t.Context(), c.Catalog, duckdb.Options{Threads: 1, Temp: dir, Answer: bytes}); err != nil {
				t.Fatal(err)
			}
		}), dir: dir}
		whole, err := os.ReadFile(filepath.Join(dir, "discreet.toml"))
		if err != nil {
			t.Fatal(err)
		}
		r.text = string(whole)
		asked := text
		if bytes > 400 {
			asked = strings.Replace(text, "departments AS d", "(SELECT name FROM departments ORDER BY name LIMIT 1) AS d", 1)
		}
		keyed := rho(t, "0.01")
		keyed.IdempotencyKey = "k"
		if _, err = r.Query(t.Context(), anna, asked, keyed); (err == nil) != (bytes > 400) {
			t.Fatal(err)
		}
		answered := func(what string, o gateway.Options, want bool) {
			t.Helper()
			a, err := r.Query(t.Context(), anna, asked, o)
			var refused *discreet.Refusal
			switch {
			case want && (err != nil || !a.Reused || a.Confidence != 0.95):
				t.Errorf("%s: %v", what, err)
			case !want && !(errors.As(err, &refused) && errors.Is(err, ledger.ErrIdempotencyKey)):
				t.Errorf("%s: %v", what, err)
			}
		}
		for field := range reflect.TypeFor[gateway.Options]().Fields() {
			o := keyed
			switch field.Name {
			case "Spend":
				o.Spend = rho(t, "0.02").Spend
			case "Accuracy":
				o.Spend, o.Accuracy = discreet.Spend{}, discreet.Accuracy{Error: big.NewRat(1_000_000, 1)}
			case "Weights":
				o.Weights = []*big.Rat{big.NewRat(2, 1), big.NewRat(1, 1)}
			case "Confidence":
				o.Confidence = 0.5
			case "Parameters":
				one := "1"
				o.Parameters = []discreet.Parameter{{Text: &one}}
			case "Fresh", "Free", "Finish", "IdempotencyKey", "Admit", "Ends": // they say when something is charged
				continue
			default:
				t.Fatalf("does %s change an answer?", field.Name)
			}
			answered(field.Name, o, false)
		}
		wide := func(c *catalog.Catalog) {
			t.Helper()
			r.accept(t, c)
			if _, err := r.Reload(t.Context(), c, func(ctx context.Context) (engine.Engine, error) {
				return duckdb.Open(ctx, c, duckdb.Options{Threads: 1, Temp: dir, Answer: 1 << 20})
			}); err != nil {
				t.Fatal(err)
			}
		}
		for what, change := range map[string][2]string{
			"bounds":  {"lower = 0, upper = 3000", "lower = 0, upper = 2000"},
			"a type":  {`cost = { type = "double", lower = 0, upper = 3000 }`, `cost = { type = "integer", lower = 0, upper = 3000 }`},
			"groups":  {"max_groups_per_unit = 12", "max_groups_per_unit = 2"},
			"nothing": {"[tables.visits]", "# read again\n[tables.visits]"},
		} {
			wide(r.changed(t, change[0], change[1]))
			// A whole answer says by itself what it is; only its columns must be those that are expected.
			answered(what, keyed, what == "nothing" || bytes > 400 && what != "a type")
		}
	}
}
