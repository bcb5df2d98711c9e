//go:build cgo

package gateway_test

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

var (
	anna = gateway.Asker{Account: gatewaytest.Analyst, Door: "http"}
	olga = gateway.Asker{Account: gatewaytest.Owner, Door: "http"}
)

func rho(t testing.TB, text string) gateway.Options {
	r, err := privacy.ParseRho(text)
	if err != nil {
		t.Fatal(err)
	}
	return gateway.Options{Spend: discreet.Spend{Rho: r}}
}

const grouped = "SELECT department, count(*) AS visits FROM visits GROUP BY department"

// TestNothingIsChargedWithoutAnAmount: the catalog's default is for the shell alone.
func TestNothingIsChargedWithoutAnAmount(t *testing.T) {
	g := gatewaytest.New(t)
	_, err := g.Query(t.Context(), anna, grouped, gateway.Options{})
	var r *discreet.Refusal
	if !errors.As(err, &r) || r.Code != "D070" || !strings.Contains(r.Hint, `"rho"`) {
		t.Fatalf("without an amount: %v", err)
	}
	a, err := g.Query(t.Context(), anna, "SELECT name FROM departments ORDER BY name", gateway.Options{})
	if err != nil || len(a.Rows) == 0 {
		t.Fatalf("what is public needs no amount: %v", err)
	}
	if a, err = g.Query(t.Context(), anna, grouped, rho(t, "0.01")); err != nil || a.Cost.Rho.String() != "0.01" {
		t.Fatalf("with an amount: %v", err)
	}
	for _, again := range []string{grouped, "select  department, COUNT(*) as visits from visits group by 1", "SELECT v.department, count(*) AS visits FROM visits AS v GROUP BY v.department"} {
		b, err := g.Query(t.Context(), anna, again, rho(t, "0.01"))
		if err != nil || !b.Reused || !reflect.DeepEqual(a.Rows, b.Rows) || !reflect.DeepEqual(a.Remaining, b.Remaining) {
			t.Errorf("%s: not the stored answer: %v", again, err)
		}
	}
	own, err := g.History(t.Context(), anna, ledger.Selection{})
	if err != nil || len(own) != 1 || own[0].Analyst != "anna" {
		t.Errorf("anna's history: %v %v", own, err)
	}
	if all, err := g.History(t.Context(), olga, ledger.Selection{}); err != nil || len(all) <= 1 {
		t.Errorf("an owner's history: %v %v", all, err)
	}
}

// TestRepetitions: what is the same statement is free; what differs in anything that the
// answer says or depends on is charged, as is another analyst's, and what is to be fresh.
func TestRepetitions(t *testing.T) {
	g := gatewaytest.New(t)
	ask := func(who gateway.Asker, sql string, o gateway.Options) *discreet.Answer {
		t.Helper()
		a, err := g.Query(t.Context(), who, sql, o)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return a
	}
	first := ask(anna, grouped, rho(t, "0.001"))
	parameterized := func(text string) gateway.Options {
		o := rho(t, "0.001")
		o.Parameters = []discreet.Parameter{{Text: &text}}
		return o
	}
	wide := rho(t, "0.001")
	wide.Confidence = 0.99
	fresh := rho(t, "0.001")
	fresh.Fresh = true
	const by = "SELECT count(*) AS n FROM visits WHERE sex = $1"
	for _, c := range []struct {
		name string
		who  gateway.Asker
		sql  string
		o    gateway.Options
		free bool
	}{
		{"the same", anna, grouped, rho(t, "0.001"), true},
		{"the amount in another spelling", anna, grouped, rho(t, "1e-3"), true},
		{"another amount", anna, grouped, rho(t, "0.002"), false},
		{"another analyst", olga, grouped, rho(t, "0.001"), false},
		{"another confidence", anna, grouped, wide, false},
		{"another name of a column", anna, strings.Replace(grouped, "AS visits", "AS n", 1), rho(t, "0.001"), false},
		{"another filter", anna, strings.Replace(grouped, "GROUP", "WHERE age > 40 GROUP", 1), rho(t, "0.001"), false},
		{"one column", anna, "SELECT count(age) AS n FROM visits", rho(t, "0.001"), false},
		{"another column of the same bounds", anna, "SELECT count(cost) AS n FROM visits", rho(t, "0.001"), false},
		{"another filter of an aggregate", anna, "SELECT count(age) FILTER (WHERE sex = 'F') AS n FROM visits", rho(t, "0.001"), false},
		{"another key of the same domain", anna, "SELECT CASE WHEN sex = 'F' THEN 'M' ELSE 'F' END AS k, count(*) AS n FROM visits GROUP BY 1", rho(t, "0.001"), false},
		{"another order", anna, grouped + " ORDER BY 2", rho(t, "0.001"), false},
		{"a parameter", anna, by, parameterized("F"), false},
		{"the parameter again", anna, by, parameterized("F"), true},
		{"the parameter as a constant", anna, strings.Replace(by, "$1", "'F'", 1), rho(t, "0.001"), true},
		{"another parameter", anna, by, parameterized("M"), false},
		{"fresh", anna, grouped, fresh, false},
	} {
		if a := ask(c.who, c.sql, c.o); a.Reused != c.free {
			t.Errorf("%s: reused is %v", c.name, a.Reused)
		}
	}
	if a := ask(anna, grouped, rho(t, "0.001")); reflect.DeepEqual(a.Rows, first.Rows) {
		t.Error("after a fresh answer the one before is returned")
	}
}

// TestEqualStatementsAtOnce: of equal statements that run at once, one is charged.
func TestEqualStatementsAtOnce(t *testing.T) {
	g := gatewaytest.New(t)
	var wait sync.WaitGroup
	var charged atomic.Int64
	for i := range 20 {
		wait.Go(func() {
			o := rho(t, "0.01")
			if i%2 == 1 {
				o.IdempotencyKey = strconv.Itoa(i) // names the request, not another question
			}
			a, err := g.Query(t.Context(), anna, grouped, o)
			if err != nil {
				t.Error(err)
			} else if !a.Reused {
				charged.Add(1)
			}
		})
	}
	wait.Wait()
	if charged.Load() != 1 {
		t.Errorf("%d of 20 equal statements were charged", charged.Load())
	}
}

// TestStoredAnswerIsTheCallers: whoever gets a stored answer may change it; the next one
// is as it was.
func TestStoredAnswerIsTheCallers(t *testing.T) {
	g := gatewaytest.New(t)
	ask := func() *discreet.Answer {
		a, err := g.Query(t.Context(), anna, grouped, rho(t, "0.001"))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := ask()
	said := func(a *discreet.Answer) string {
		text := fmt.Sprint(a.Rows, a.Notes[:len(first.Notes)])
		for _, row := range a.Intervals {
			text += fmt.Sprint(*row[1])
		}
		return text
	}
	want := said(first)
	for range 3 {
		a := ask()
		if !a.Reused || len(a.Notes) != len(first.Notes)+1 || said(a) != want {
			t.Errorf("%s, not %s", said(a), want)
		}
		a.Rows[0][0], a.Notes[0] = "changed", "changed"
		*a.Intervals[0][1] = discreet.Interval{}
	}
}
