//go:build cgo

package gateway_test

import (
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// TestReuse: once the owner has declared a version of the data, an answer serves whoever may ask for it
// and asks for no more precision. Whoever may not is refused or charged as if nobody had asked.
func TestReuse(t *testing.T) {
	w := gatewaytest.Open(t, t.TempDir())
	for _, name := range []string{"bert", "carl", "dora"} {
		if err := w.People.Add(t.Context(), "olga", name, people.Analyst, gatewaytest.Password); err != nil {
			t.Fatal(err)
		}
	}
	spent := func() string {
		t.Helper()
		all, err := w.Budget(t.Context(), asker(t, w, "olga"))
		if err != nil {
			t.Fatal(err)
		}
		return all[0].Spent.Rho.String()
	}
	ask := func(name, sql string, o gateway.Options, free bool) *discreet.Answer {
		t.Helper()
		before := spent()
		e, err := w.Explain(t.Context(), asker(t, w, name), sql, o)
		if err != nil || e.Reused != free {
			t.Errorf("%s is told that it is free: %v, %v", name, e.Reused, err)
		}
		a, err := w.Query(t.Context(), asker(t, w, name), sql, o)
		if err != nil {
			t.Fatal(err)
		}
		if a.Reused != free || (spent() == before) != free {
			t.Errorf("%s is told a stored answer: %v; spent %s, before %s", name, a.Reused, spent(), before)
		}
		return a
	}
	version := func() {
		t.Helper()
		if _, err := w.Ledger.NewVersion(t.Context(), "", "", gatewaytest.Noon); err != nil {
			t.Fatal(err)
		}
	}
	const sql = "SELECT department /* annas own words */, count(*) AS n, avg(age) AS a FROM visits GROUP BY department"
	other := strings.Replace(sql, "department /* annas own words */", "visits.department", 1)
	ask("anna", sql, rho(t, "0.01"), false)
	ask("bert", other, rho(t, "0.01"), false)
	ask("bert", other, rho(t, "0.01"), true) // his own
	version()
	ask("bert", other, rho(t, "0.002"), false)
	first := ask("anna", sql, rho(t, "0.01"), false)
	for _, amount := range []string{"0.01", "0.004"} {
		a := ask("bert", other, rho(t, amount), true)
		if fmt.Sprint(a.Rows) != fmt.Sprint(first.Rows) || a.Cost.Rho.Sign() != 0 || len(a.Cost.Events) != 0 || a.Statement != other || a.Remaining.Rho.Sign() <= 0 {
			t.Errorf("bert is told %v, not %v, for %+v", a.Rows, first.Rows, a.Cost)
		}
		if !reflect.DeepEqual(a.Mechanisms, first.Mechanisms) || strings.Contains(fmt.Sprint(a), "annas") {
			t.Errorf("an answer of other noise, or in others' words: %+v", a)
		}
	}
	confident := rho(t, "0.004")
	confident.Confidence = 0.5
	ask("bert", other, confident, false)
	weighed := rho(t, "0.01")
	weighed.Weights = []*big.Rat{big.NewRat(1, 1), big.NewRat(9, 1)}
	ask("bert", other, weighed, true) // the count and the average have one noise, whatever they weigh
	const apart = "SELECT department, count(*) AS n, count(*) FILTER (WHERE age > 50) AS o FROM visits GROUP BY department"
	ask("anna", apart, rho(t, "0.001"), false)
	weighed.Spend = rho(t, "0.001").Spend
	ask("bert", apart, weighed, false) // of the one less, of the other more
	anew := rho(t, "0.001")
	anew.Fresh = true
	ask("bert", other, anew, false)
	ask("anna", strings.Replace(sql, "avg(age)", "avg(cost)", 1), rho(t, "0.001"), false)

	// Without the right nobody is told that somebody asked.
	if err := w.People.Tables(t.Context(), "olga", "carl", []string{"departments"}); err != nil {
		t.Fatal(err)
	}
	said := func(sql string) string {
		_, err := w.Query(t.Context(), asker(t, w, "carl"), sql, rho(t, "0.01"))
		_, unexplained := w.Explain(t.Context(), asker(t, w, "carl"), sql, rho(t, "0.01"))
		return refused(t, err) + refused(t, unexplained)
	}
	if asked, not := said(sql), said(strings.Replace(sql, "avg", "sum", 1)); asked != strings.ReplaceAll(not, "sum(", "avg(") {
		t.Errorf("a table that carl may not see: what was asked is refused by\n%s\nand what was not by\n%s", asked, not)
	}
	if err := w.People.Limit(t.Context(), "olga", "dora", "patient", allowance(t, "0.003")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Query(t.Context(), asker(t, w, "dora"), sql, rho(t, "0.01")); gateway.Of(err) != gateway.Waiting {
		t.Errorf("over dora's limit: %v", err)
	}
	if e, err := w.Explain(t.Context(), asker(t, w, "dora"), sql, rho(t, "0.01")); err != nil || e.Reused {
		t.Errorf("over dora's limit it is explained as free: %v, %v", e.Reused, err)
	}
	ask("dora", sql, rho(t, "0.003"), false) // what there is tells more than she may ask for
	if err := w.People.Hours(t.Context(), "olga", "dora", &people.Hours{Days: []string{"mon"}, From: "08:00", To: "09:00", Zone: "UTC"}); err != nil {
		t.Fatal(err)
	}
	if a, err := w.Query(t.Context(), asker(t, w, "dora"), sql, rho(t, "0.003")); err == nil {
		t.Errorf("outside of dora's hours: %+v", a)
	}
	version()
	ask("bert", other, rho(t, "0.001"), false)
}
