//go:build cgo

package datanode

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/clinic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// A table of a catalog answers by its database, and its domain's ledger pays.
func TestCatalogTable(t *testing.T) {
	dir := t.TempDir()
	c := must(catalog.Load(must(clinic.Write(dir))))
	e := must(duckdb.Open(ctx, c, duckdb.Options{}))
	defer e.Close()
	l := must(ledger.Create(ctx, filepath.Join(dir, "l"), ledger.Options{Domains: discreet.Budgets(c), Now: clock()}))
	defer l.Close()
	db := must(discreet.Open(ctx, discreet.Config{Catalog: c, Engine: e, Ledger: l}))

	node := testNode(t, privacy.AddRemove)
	if err := node.Set("visits", must(CatalogTable(db, "patient", "visits"))); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Query(ctx, "visits"); !errors.Is(err, ErrNoAccess) {
		t.Error(err)
	}
	if err := node.Configure(ctx, "visits", Adaptive{Budget: pureBudget("other", "1")}); !errors.Is(err, ErrBound) {
		t.Error(err)
	}
	if err := node.Configure(ctx, "visits", Adaptive{}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		q          Query
		want, near float64 // noise is far less than this but with probability below 1e-9
		n          int
	}{
		{Count{}, 160_000, 40_000, 1}, // of 200,000, within the bounds of a patient
		{CountWhere{Column: "sex", Text: "F"}, 100_000, 40_000, 1},
		{Mean{Column: "age"}, 50, 30, 1},
		{Sum{Column: "cost"}, 0, math.Inf(1), 1},
		{Histogram{Column: "department"}, 0, math.Inf(1), 8},
	} {
		a, err := node.QueryWith(ctx, "visits", Gaussian{Query: test.q, Rho: rho("0.02")})
		if err != nil || len(a.Values) != test.n || math.Abs(a.Value()-test.want) > test.near || len(a.Events) == 0 {
			t.Errorf("%v: %+v, %v", test.q, a, err)
		}
	}
	if sql := must((&catalogTable{table: `a"b`}).statement(CountWhere{Column: `c"`, Text: "F' OR 'a'='a"})); sql != `SELECT count(*) FROM "a""b" WHERE "c""" = 'F'' OR ''a''=''a'` {
		t.Error(sql)
	}
	before := must(l.Balance(ctx, "patient")).Spent.Rho.Rat()
	for _, m := range []Mechanism{
		Gaussian{Query: Sum{Column: "cost", Upper: 9}, Rho: rho("0.01")}, Gaussian{Query: Sum{Column: `x" FROM y --`}, Rho: rho("0.01")}, // bounds; no such column
		Gaussian{Query: Identity{}, Rho: rho("0.01")},
		Quantiles{}, Subsampled{Mechanism: Gaussian{Query: Count{}, Rho: rho("0.01")}, Rate: rat("1/2")},
	} {
		if _, err := node.QueryWith(ctx, "visits", m); err == nil {
			t.Errorf("%v is answered", m)
		}
	}
	if after := must(l.Balance(ctx, "patient")).Spent.Rho.Rat(); after.Cmp(before) != 0 {
		t.Errorf("refusals were charged: %v, then %v", before, after)
	}
	_, err := node.QueryWith(ctx, "visits", Gaussian{Query: Count{}, Rho: rho("0.1")})
	var exceeded *budget.ExceededError
	if !errors.Is(err, ErrBudgetExceeded) || !errors.As(err, &exceeded) || exceeded.Budget != "patient" || !strings.Contains(err.Error(), "patient") {
		t.Error(err)
	}
	// A mechanism by itself answers once, and is charged once.
	if err := node.Configure(ctx, "visits", Gaussian{Query: Count{}, Rho: rho("0.01")}); err != nil {
		t.Fatal(err)
	}
	first := must(node.Query(ctx, "visits"))
	if again := must(node.Query(ctx, "visits")); again.Value() != first.Value() {
		t.Error("another answer")
	}
	if spent := must(l.Balance(ctx, "patient")).Spent.Rho.Rat(); spent.Sub(spent, before).Cmp(rat("0.01")) != 0 {
		t.Errorf("charged %v", spent)
	}
	for _, a := range []Access{Unprotected{decided}, Unmetered{decided, Gaussian{Query: Count{}, Rho: rho("0.01")}}} {
		if err := node.Configure(ctx, "visits", a); err != nil {
			t.Fatal(err)
		}
		if _, err := node.Query(ctx, "visits"); !errors.Is(err, ErrNoAccess) {
			t.Errorf("%T: %v", a, err)
		}
	}
	if err := node.Transform("visits", 1, func(r []float64) []float64 { return r }); err == nil {
		t.Error("transformed")
	}
	// The ledger paid for answers about the former data. A new budget for other data does not pay for them again.
	other := pureBudget("other", "1")
	if err := node.Set("visits", Number(1)); err != nil {
		t.Fatal(err)
	}
	if err := node.Configure(ctx, "visits", Adaptive{Budget: other}); err != nil || must(other.Spent(ctx)).Epsilon.Sign() != 0 {
		t.Errorf("%v, charged %v", err, must(other.Spent(ctx)))
	}
}
