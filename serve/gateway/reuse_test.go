//go:build cgo

package gateway_test

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
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
	ask("bert", other, confident, true) // of the same noisy values
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

// TestMadeOfStoredAnswers: without an amount, or where nothing may be charged, what was released answers whoever may ask, at no
// cost. Who may not is refused as if nobody had asked.
func TestMadeOfStoredAnswers(t *testing.T) {
	w := gatewaytest.Open(t, t.TempDir())
	for _, name := range []string{"bert", "carl", "dora"} {
		if err := w.People.Add(t.Context(), "olga", name, people.Analyst, gatewaytest.Password); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Ledger.NewVersion(t.Context(), "", "", gatewaytest.Noon); err != nil {
		t.Fatal(err)
	}
	const fine, coarse = "SELECT department, sex, count(*) AS annas FROM visits GROUP BY department, sex", "SELECT sex, count(*) FROM visits GROUP BY sex"
	stored, err := w.Query(t.Context(), asker(t, w, "anna"), fine, rho(t, "0.01"))
	if err != nil {
		t.Fatal(err)
	}
	women := int64(0)
	for _, row := range stored.Rows {
		if row[1] == "F" {
			women += row[2].(int64)
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
	before, free := spent(), rho(t, "0.01")
	free.Free = true
	for _, o := range []gateway.Options{{}, free} {
		e, err := w.Explain(t.Context(), asker(t, w, "bert"), coarse, o)
		if err != nil || !e.Reused || e.Cost.Rho.Sign() != 0 {
			t.Fatalf("it is explained as %+v, %v", e, err)
		}
		a, err := w.Query(t.Context(), asker(t, w, "bert"), coarse, o)
		if err != nil || !a.Reused || a.Cost.Rho.Sign() != 0 || a.Remaining.Rho.Sign() <= 0 || strings.Contains(fmt.Sprint(a), "annas") {
			t.Fatalf("bert is told %+v, %v", a, err)
		}
		for _, row := range a.Rows {
			if row[0] == "F" && row[1] != women {
				t.Errorf("of women %v, not %d", row, women)
			}
		}
		if m := a.Mechanisms; len(m) != 1 || m[0].Scale != stored.Mechanisms[0].Scale || m[0].Terms != len(stored.Rows)/2 || !strings.Contains(fmt.Sprint(a.Notes), fmt.Sprintf("made of up to %d groups", len(stored.Rows)/2)) {
			t.Errorf("the bounds and the noise are not told: %+v, %v", m, a.Notes)
		}
	}
	const turned = "SELECT sex, department, count(*) FROM visits GROUP BY sex, department" // of which nothing else is left out
	if a, err := w.Query(t.Context(), asker(t, w, "bert"), turned, rho(t, "0.0001")); err != nil || !a.Reused {
		t.Errorf("what would be less precise is charged: %v", err)
	}
	if spent() != before {
		t.Errorf("%s is spent, after %s", spent(), before)
	}
	if a, err := w.Query(t.Context(), asker(t, w, "bert"), coarse, rho(t, "0.01")); err != nil || a.Reused {
		t.Errorf("what would be more precise is not charged: %v", err)
	}

	said := func(name, sql string) string {
		t.Helper()
		_, err := w.Query(t.Context(), asker(t, w, name), sql, gateway.Options{})
		_, unexplained := w.Explain(t.Context(), asker(t, w, name), sql, gateway.Options{})
		return refused(t, err) + refused(t, unexplained)
	}
	const never = "SELECT sex, sum(age) FROM visits GROUP BY sex"
	if err := w.People.Tables(t.Context(), "olga", "carl", []string{"departments"}); err != nil {
		t.Fatal(err)
	}
	if err := w.People.Limit(t.Context(), "olga", "dora", "patient", allowance(t, "0.003")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"carl", "dora"} {
		department := strings.Replace(coarse, "sex", "department", 2)
		if asked, not := said(name, department), said(name, strings.Replace(never, "sex", "department", 2)); asked != strings.ReplaceAll(not, "sum(age)", "count(*)") {
			t.Errorf("what was released refuses %s by\n%s\nand what was not by\n%s", name, asked, not)
		}
	}
	if _, err := w.Ledger.NewVersion(t.Context(), "", "", gatewaytest.Noon); err != nil {
		t.Fatal(err)
	}
	if asked, not := said("bert", coarse), said("bert", never); asked != strings.ReplaceAll(not, "sum(age)", "count(*)") {
		t.Errorf("in another version bert is refused by\n%s\nand %s", asked, not)
	}
}

// TestExplainAgreesWithQuery: whatever is named, and whoever asks, with and without an owner's grant, explain says that a statement is answered
// from the books if and only if it is, and refuses it if and only if it is refused; but what an owner must decide is explained.
func TestExplainAgreesWithQuery(t *testing.T) {
	w := gatewaytest.Open(t, t.TempDir())
	for _, name := range []string{"bert", "dora", "emma"} {
		if err := w.People.Add(t.Context(), "olga", name, people.Analyst, gatewaytest.Password); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"dora", "emma"} { // what emma asks at a cost is granted
		if err := w.People.Limit(t.Context(), "olga", name, "patient", allowance(t, "0.00003")); err != nil {
			t.Fatal(err)
		}
	}
	const fine, stored = "SELECT department, sex, count(*) FROM visits GROUP BY department, sex", "0.0001"
	told := map[string]int{}
	for _, sql := range []string{
		fine, "SELECT sex, department, count(*) FROM visits GROUP BY sex, department", // as precise, of all that was released
		"SELECT sex, count(*) FROM visits GROUP BY sex", "SELECT sex, sum(age) FROM visits GROUP BY sex",
	} {
		for _, cost := range []string{"", "0.00002", stored, "0.0002"} {
			o := gateway.Options{}
			if cost != "" {
				o = rho(t, cost)
			}
			if _, err := w.Ledger.NewVersion(t.Context(), "", "", gatewaytest.Noon); err != nil {
				t.Fatal(err)
			}
			granted := false
			if cost == stored || cost == "0.0002" { // while nothing is stored
				var p *gateway.Pending
				if _, err := w.Query(t.Context(), asker(t, w, "emma"), sql, o); !errors.As(err, &p) {
					t.Fatalf("over emma's limit: %v", err)
				}
				id, _ := strconv.ParseInt(p.Approval, 10, 64)
				if err := w.People.Grant(t.Context(), "olga", id); err != nil {
					t.Fatal(err)
				}
				granted = true
			}
			if _, err := w.Query(t.Context(), asker(t, w, "anna"), fine, rho(t, stored)); err != nil {
				t.Fatal(err)
			}
			for _, how := range []string{"free", "free and fresh", "", "fresh"} {
				o.Free, o.Fresh = strings.Contains(how, "free"), strings.Contains(how, "fresh")
				for _, name := range []string{"dora", "emma", "bert"} {
					words := fmt.Sprintf("%s asks %s at %q, %s", name, sql, cost, how)
					e, unexplained := w.Explain(t.Context(), asker(t, w, name), sql, o)
					a, err := w.Query(t.Context(), asker(t, w, name), sql, o)
					switch waits := gateway.Of(err) == gateway.Waiting; {
					case waits && (unexplained != nil || e.Reused):
						t.Errorf("%s, and waits for an owner; explained %+v, %v", words, e, unexplained)
					case waits:
						told["waits"]++
					case err != nil && (unexplained == nil || refused(t, err) != refused(t, unexplained)):
						t.Errorf("%s, and is refused: %v; explained: %v", words, err, unexplained)
					case err != nil:
						told["refused"]++
					case unexplained != nil || e.Reused != a.Reused:
						t.Errorf("%s, and is told a stored answer: %v; explained %+v, %v", words, a.Reused, e, unexplained)
					default:
						if !a.Reused && e.Cost.Rho.String() != a.Cost.Rho.String() {
							t.Errorf("%s, and is charged %v; explained %v", words, a.Cost.Rho, e.Cost.Rho)
						}
						told[fmt.Sprintf("granted %v, stored %v", granted && name == "emma", a.Reused)]++
					}
				}
			}
		}
	}
	for _, of := range []string{"waits", "refused", "granted false, stored false", "granted false, stored true", "granted true, stored false", "granted true, stored true"} {
		if told[of] == 0 {
			t.Errorf("the test is weak: nobody %s: %v", of, told)
		}
	}
}
