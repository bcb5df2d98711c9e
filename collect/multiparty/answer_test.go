//go:build cgo

package multiparty

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// With noise that is hardly there, a federation answers what one database of all rows would,
// in its form. At epsilon 100,000 the scale of a sum of ages is at most 0.02, so that a value
// is off by more than a half with probability below 1e-9 in all statements together.
func TestAFederationAnswersLikeOneDatabase(t *testing.T) {
	a, b, c := patients(0, 30), patients(100, 50), patients(1000, 7)
	w := layOut(t, setting{rows: [][]string{a, b, c}}).run()
	all := append(append(append([]string{}, a...), b...), c...)
	one := layOut(t, setting{rows: [][]string{all}}).run()
	for _, text := range []string{
		"SELECT count(*) AS n FROM visits",
		"SELECT ward, count(*) AS n, sum(age) AS s FROM visits GROUP BY ward ORDER BY ward",
		"SELECT avg(age), var_samp(age), stddev_pop(age), var_pop(cost), sum(cost) FROM visits WHERE ward <> 'c'",
		"SELECT ward, sum(age) / count(*) AS mean FROM visits GROUP BY ward HAVING count(*) > 10 ORDER BY ward DESC LIMIT 2",
		"SELECT count(DISTINCT patient) AS units FROM visits",
		"SELECT avg(m) FROM (SELECT patient, least(greatest(max(age), 0), 100) AS m FROM visits GROUP BY patient) AS x",
	} {
		got, err := w.ask(text, "100000")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		s := one.statement(text, "100000")
		o, err := s.options("anna")
		if err != nil {
			t.Fatal(err)
		}
		want, err := one.holders[0].Database.Query(t.Context(), text, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Rows) != len(want.Rows) || len(got.Columns) != len(want.Columns) {
			t.Fatalf("%s: %v, one database %v", text, got.Rows, want.Rows)
		}
		for i, row := range got.Rows {
			for j, v := range row {
				x, y := float(v), float(want.Rows[i][j])
				if got.Columns[j] != want.Columns[j] || math.IsNaN(x) && sqltype.Format(v) != sqltype.Format(want.Rows[i][j]) || math.Abs(x-y) > 0.5 {
					t.Errorf("%s: row %d column %s is %v, one database has %v", text, i, got.Columns[j].Name, v, want.Rows[i][j])
				}
			}
		}
		if got.Cost.Epsilon.Cmp(want.Cost.Epsilon) != 0 || len(got.Mechanisms) != len(want.Mechanisms) {
			t.Errorf("%s costs %v by %d mechanisms, at one database %v by %d", text, got.Cost.Epsilon, len(got.Mechanisms), want.Cost.Epsilon, len(want.Mechanisms))
		}
	}
}

func float(v sqltype.Value) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	case sqltype.Decimal:
		f, _ := v.Rat().Float64()
		return f
	}
	return math.NaN()
}

// The JSON is that of one database, with who had to be trusted with what.
func TestAnswersSayWhoIsTrusted(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 3), patients(9, 3)}, parties: 2}).run()
	a, err := w.ask("SELECT count(*) AS n FROM visits", "1")
	if err != nil {
		t.Fatal(err)
	}
	text := encode(t, a)
	var plain discreet.Answer
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	var with struct{ Federation Trust }
	if err := json.Unmarshal(text, &with); err != nil {
		t.Fatal(err)
	}
	f := with.Federation
	if len(f.Holders) != 2 || len(f.Parties) != 2 || f.Colluding != 1 || f.Unbounded == "" || f.Computational == "" || f.Holders[1].Holder != "h2" {
		t.Errorf("the answer says of trust: %+v", f)
	}
	for i := range w.holders {
		if w.spent(i) != 1 {
			t.Errorf("holder %d has spent %v, want 1", i, w.spent(i))
		}
	}
}

// An explanation is free, the same noise as the answer's, and says what each holder would charge. With
// fewer parties who may collude there is less noise (of 2 and of 1 the stated bound is the same), and the answer says who is trusted.
func TestExplanationsAreFree(t *testing.T) {
	const text = "SELECT ward, count(*) AS n FROM visits GROUP BY ward"
	var errors []float64
	for _, colluding := range []int{0, 3, 2, 1} {
		w := layOut(t, setting{rows: [][]string{patients(0, 3), patients(9, 3)}, parties: 4, colluding: colluding}).run()
		o := AskOptions{Federation: w.federation, Identity: w.identity("anna"), Now: time.Now, Patience: 20 * time.Second, Wait: pause}
		e, err := Explain(t.Context(), o, w.statement(text, "1"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range w.holders {
			if w.spent(i) != 0 {
				t.Errorf("holder %d has spent %v for an explanation", i, w.spent(i))
			}
		}
		for i, p := range w.parties {
			var tasks int
			if err := p.db.QueryRow("SELECT count(*) FROM tasks").Scan(&tasks); err != nil || tasks != 0 {
				t.Errorf("party %d has %d tasks of an explanation: %v", i, tasks, err)
			}
		}
		a, err := Ask(t.Context(), o, w.statement(text, "1"))
		if err != nil {
			t.Fatal(err)
		}
		if e.Cost.Epsilon.Cmp(a.Cost.Epsilon) != 0 || e.Mechanisms[0] != a.Mechanisms[0] || len(e.Federation.Holders) != 2 || e.Federation.Holders[1].Holder != "h2" {
			t.Errorf("the explanation says %v %+v, the answer %v %+v", e.Cost, e.Mechanisms, a.Cost, a.Mechanisms)
		}
		if want := w.federation.colluding(); a.Federation.Colluding != want || !strings.Contains(a.Federation.Parties[0].With, map[bool]string{true: "one of all", false: "collude with nobody, and each adds its share"}[want == 3]) {
			t.Errorf("with %d who may collude the answer says %+v", want, a.Federation)
		}
		errors = append(errors, e.ExpectedError[0].Error)
	}
	if errors[0] != errors[1] || errors[1] <= errors[2] || errors[2] < errors[3] {
		t.Errorf("with 3, 3, 2 and 1 of 4 parties who may collude the errors are %v", errors)
	}
}

// Shares of Gaussian noise are bounded in rho: a budget in rho takes them, with a little more variance than
// the whole noise has; one that charges a Gaussian by its own epsilon at a delta refuses, and is not charged.
func TestSharesOfGaussianNoise(t *testing.T) {
	for _, c := range []struct {
		measure   string
		spend     discreet.Spend
		colluding int
		shares    mechanism.Sharing
		ok        bool
	}{
		{"zcdp", discreet.Spend{}, 1, "", true}, {"approx", discreet.Spend{}, 1, "", false}, {"approx", discreet.Spend{}, 2, "", true},
		{"zcdp", discreet.Spend{}, 1, "skellam", true}, {"approx", discreet.Spend{}, 1, "skellam", false},
	} {
		w := layOut(t, setting{rows: [][]string{patients(0, 3)}, colluding: c.colluding, shares: c.shares, measure: c.measure, budget: "5\ndelta = 1e-6", change: []map[string]string{{"max_groups_per_unit = 2": "max_groups_per_unit = 3"}}}).run()
		var err error
		if c.measure == "zcdp" {
			c.spend.Rho, err = privacy.ParseRho("0.01")
		} else if c.spend.Epsilon, err = privacy.ParseEpsilon("1"); err == nil {
			c.spend.Delta, err = privacy.ParseDelta("9e-7")
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewStatement("SELECT ward, count(*), avg(age), avg(cost), var_samp(age), var_samp(cost), sum(age) FROM visits GROUP BY ward", &discreet.QueryOptions{Spend: c.spend})
		if err != nil {
			t.Fatal(err)
		}
		a, err := Ask(t.Context(), AskOptions{Federation: w.federation, Identity: w.identity("anna"), Now: time.Now, Patience: 5 * time.Second, Wait: pause}, s)
		if (err == nil) != c.ok {
			t.Errorf("%s, %d who may collude: %v", c.measure, c.colluding, err)
		}
		if err == nil && a.Mechanisms[0].Mechanism != "discrete_gaussian" {
			t.Errorf("%s: the noise is %s: this tests nothing", c.measure, a.Mechanisms[0].Mechanism)
		}
		if err != nil && w.spent(0) != 0 {
			t.Errorf("a refusal was charged %v", w.spent(0))
		}
		if err != nil {
			continue
		}
		// What is known of shares is their rho; and the answer says how they were drawn.
		if events := fmt.Sprint(a.Cost.Events); (c.colluding == 1) != strings.Contains(events, "zcdp(") || (c.colluding == 1) == strings.Contains(events, "gaussian") {
			t.Errorf("%s, %d who may collude, shares %q: the events are %s", c.measure, c.colluding, c.shares, events)
		}
		if said := strings.Contains(a.Federation.Parties[0].With, "Skellam"); said != (c.shares == mechanism.BySkellam) {
			t.Errorf("shares %q: a party is trusted to %s", c.shares, a.Federation.Parties[0].With)
		}
		for i, p := range w.parties {
			var told string
			if err := p.db.QueryRow("SELECT demand FROM tasks").Scan(&told); err != nil || strings.Contains(told, `"skellam"`) != (c.shares == mechanism.BySkellam) {
				t.Errorf("party %d, shares %q: it was asked for %.200s; %v", i, c.shares, told, err)
			}
		}
	}
}

// Members that trust different numbers of parties do no task together.
func TestMembersAgreeOnWhoMayCollude(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 3)}, parties: 3}).run()
	mine := *w.federation
	mine.Colluding = 1
	_, err := Ask(t.Context(), AskOptions{Federation: &mine, Identity: w.identity("anna"), Now: time.Now, Patience: time.Second, Wait: pause}, w.statement("SELECT count(*) FROM visits", "1"))
	var d *diagnostic.Diagnostic
	if !errors.As(err, &d) || d.Code != "D244" || w.spent(0) != 0 {
		t.Errorf("an asker who wants less noise than the holder gets %v, and the holder has spent %v", err, w.spent(0))
	}
}

// Nor do members that share noise in different ways, and no noise is shared where each party adds all of it.
func TestMembersAgreeOnShares(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 3)}, parties: 3, colluding: 1}).run()
	mine := *w.federation
	mine.Shares = mechanism.BySkellam
	_, err := Ask(t.Context(), AskOptions{Federation: &mine, Identity: w.identity("anna"), Now: time.Now, Patience: time.Second, Wait: pause}, w.statement("SELECT count(*) FROM visits", "1"))
	var d *diagnostic.Diagnostic
	if !errors.As(err, &d) || d.Code != "D244" || w.spent(0) != 0 {
		t.Errorf("an asker who wants other shares than the holder gets %v, and the holder has spent %v", err, w.spent(0))
	}
	for shares, colluding := range map[mechanism.Sharing]int{"laplace": 1, "skellam": 2, "Skellam": 1} {
		if mine.Shares, mine.Colluding = shares, colluding; mine.check() == nil {
			t.Errorf("a federation that shares noise as %q, of whose parties %d may collude, is taken", shares, colluding)
		}
	}
}

// What is refused, costs nothing, and names the holder.
func TestRefused(t *testing.T) {
	rows := [][]string{patients(0, 3), patients(9, 3)}
	common := map[string]string{"# domain": "units_elsewhere = true"}
	for name, c := range map[string]struct {
		setting
		text, code, says string
	}{
		"distinct values": {setting{rows: rows}, "SELECT count(DISTINCT age) FROM visits", "D240", "count(DISTINCT"},
		"min":             {setting{rows: rows}, "SELECT min(age) FROM visits", "D240", "a quantile"},
		"max":             {setting{rows: rows}, "SELECT max(age) FROM visits", "D240", "a quantile"},
		"a choice":        {setting{rows: rows}, "SELECT mode() WITHIN GROUP (ORDER BY ward) FROM visits", "D240", "mode cannot be chosen"},
		"private groups":  {setting{rows: rows, measure: "approx", budget: "5\ndelta = 1e-6"}, "SELECT free, count(*) FROM visits GROUP BY free", "D072", ""},
		"nothing private": {setting{rows: rows}, "SELECT 1", "D240", "nothing of private"},
		"no cost":         {setting{rows: rows}, "", "D070", ""},
		"units at both":   {setting{rows: rows, change: []map[string]string{common}}, "SELECT count(DISTINCT patient) FROM visits", "D240", "units"},
		"a unit's rows together": {setting{rows: rows, change: []map[string]string{common}},
			"SELECT avg(m) FROM (SELECT patient, least(greatest(max(age), 0), 100) AS m FROM visits GROUP BY patient) AS x", "D240", "a unit's rows"},
		"a join at holders that share units": {setting{rows: rows, change: []map[string]string{common}},
			"SELECT count(*) FROM visits a JOIN visits b ON a.patient = b.patient", "D240", "join"},
		"other bounds of an average": {setting{rows: rows, change: []map[string]string{nil, {"upper = 100": "upper = 90"}}}, "SELECT avg(age) FROM visits", "D241", "bounds"},
		"other domains":              {setting{rows: rows, change: []map[string]string{nil, {`"a", "b", "c"`: `"a", "b"`}}}, "SELECT ward, count(*) FROM visits GROUP BY ward", "D241", "domain"},
		"another relation":           {setting{rows: rows, change: []map[string]string{nil, {"# domain": `neighbours = "replace-one"`}}}, "SELECT count(*) FROM visits", "D241", "relation"},
		"another measure":            {setting{rows: rows, change: []map[string]string{nil, {`measure = "pure"`: `measure = "approx"`, "# domain": "delta = 1e-6"}}}, "SELECT count(*) FROM visits", "D241", "measure"},
		"an unknown table at one":    {setting{rows: rows, change: []map[string]string{nil, {"tables.visits": "tables.stays"}}}, "SELECT count(*) FROM visits", "", "h2"},
	} {
		t.Run(name, func(t *testing.T) {
			w := layOut(t, c.setting).run()
			text, epsilon := c.text, "1"
			if text == "" {
				text, epsilon = "SELECT count(*) FROM visits", "0"
			}
			_, err := w.ask(text, epsilon)
			var d *diagnostic.Diagnostic
			var r *discreet.Refusal
			code, message := "", ""
			switch {
			case errors.As(err, &d):
				code, message = d.Code, d.Message+d.Why
			case errors.As(err, &r):
				code, message = r.Code, r.Message+r.Why
			}
			if code == "" || c.code != "" && code != c.code || !strings.Contains(message, c.says) {
				t.Errorf("refused with %v, want %s that says %q", err, c.code, c.says)
			}
			for i := range w.holders {
				if w.spent(i) != 0 {
					t.Errorf("holder %d was charged %v for a refusal", i, w.spent(i))
				}
			}
		})
	}
}

// Each party's noise meets the largest holder's sensitivity, or, where units may lie at
// several, the sum. The faults that this test was made for are "the smallest holder's" (a
// scale of 3) and "the largest" of holders that share units (5).
func TestNoiseMeetsTheLargestHolderOrTheSum(t *testing.T) {
	rows := [][]string{patients(0, 3), patients(9, 3), patients(20, 3)}
	wide := map[string]string{"max_rows_per_group = 3": "max_rows_per_group = 5"}
	replaced := map[string]string{"# domain": `neighbours = "replace-one"`}
	for name, c := range map[string]struct {
		change []map[string]string
		text   string
		want   float64
	}{
		"alike":            {nil, "SELECT count(*) FROM visits", 3},
		"the largest":      {[]map[string]string{nil, wide}, "SELECT count(*) FROM visits", 5},
		"the largest sum":  {[]map[string]string{nil, nil, {"lower = 0, upper = 100": "lower = -10, upper = 200"}}, "SELECT sum(age) FROM visits", 600},
		"groups of a unit": {[]map[string]string{{"max_groups_per_unit = 2": "max_groups_per_unit = 1"}, nil, wide}, "SELECT ward, count(*) FROM visits GROUP BY ward", 10},
		"the sum":          {[]map[string]string{wide, {"# domain": "units_elsewhere = true"}}, "SELECT count(*) FROM visits", 11},
		// Where units are replaced, counts are what two units' are apart: with three groups and two
		// for a unit, they share one. Sums double.
		"replaced":           {[]map[string]string{replaced, replaced, replaced}, "SELECT count(*) FROM visits", 3},
		"replaced, by group": {[]map[string]string{replaced, replaced, replaced}, "SELECT ward, count(*) FROM visits GROUP BY ward", 9},
		"replaced, a sum":    {[]map[string]string{replaced, replaced, replaced}, "SELECT sum(age) FROM visits", 600},
		"the sum of squares": {[]map[string]string{{"# domain": "units_elsewhere = true"}}, "SELECT avg(age) FROM visits", 9},
	} {
		t.Run(name, func(t *testing.T) {
			w := layOut(t, setting{rows: rows, change: c.change}).run()
			a, err := w.ask(c.text, "1")
			if err != nil {
				t.Fatal(err)
			}
			m := a.Mechanisms[0]
			if scale := c.want * float64(len(a.Mechanisms)); m.Sensitivity != c.want || m.Scale != scale {
				t.Errorf("noise of scale %v for a sensitivity of %v, want %v for %v", m.Scale, m.Sensitivity, scale, c.want)
			}
			for i := range w.holders {
				if w.spent(i) != 1 {
					t.Errorf("holder %d has spent %v, want 1", i, w.spent(i))
				}
			}
		})
	}
}

// The theorem of JoinOffers: whatever holders declare, the joint distance is at least any
// neighbour's, computed from the holders' own bounds.
func TestJointDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "holders")
		elsewhere := rapid.Bool().Draw(t, "elsewhere")
		var names []string
		var offers []*discreet.Offer
		worst, sum := int64(0), int64(0)
		for i := range n {
			groups, per := rapid.Int64Range(1, 9).Draw(t, "groups"), rapid.Int64Range(1, 1000).Draw(t, "per")
			o := &discreet.Offer{Neighbours: "add-remove", Elsewhere: elsewhere && i == n-1, Releases: []discreet.OfferedRelease{{MaxGroups: groups,
				Components: []discreet.OfferedComponent{{Kind: "rows", PerGroup: string(encodeInt(per))}}}}}
			names, offers = append(names, string(rune('a'+i))), append(offers, o)
			worst, sum = max(worst, groups*per), sum+groups*per
		}
		joint, err := discreet.JoinOffers(names, offers)
		if err != nil {
			t.Fatal(err)
		}
		var per int64
		if err := json.Unmarshal([]byte(joint.Releases[0].Components[0].PerGroup), &per); err != nil {
			t.Fatal(err)
		}
		need := worst
		if elsewhere {
			need = sum
		}
		if got := per * joint.Releases[0].MaxGroups; got < need {
			t.Fatalf("the joint distance is %d, a neighbour's %d", got, need)
		}
	})
}

// A number of a million digits takes seconds to read; no member is to pay that.
func TestLongSensitivitiesAreNotRead(t *testing.T) {
	o := &discreet.Offer{Releases: []discreet.OfferedRelease{{MaxGroups: 1, Components: []discreet.OfferedComponent{{PerGroup: strings.Repeat("1", 401)}}}}}
	if _, err := discreet.JoinOffers([]string{"h"}, []*discreet.Offer{o}); err == nil {
		t.Error("a sensitivity of 401 digits is read")
	}
}

// An owner's approval is for the holders and the parties that it names.
func TestApprovalsBindHoldersAndParties(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 3)}, parties: 2}).run()
	s := w.statement(countAll, "1")
	prepared, payer, err := w.holders[0].prepare(t.Context(), w.federation.Askers[0], &s)
	if err != nil {
		t.Fatal(err)
	}
	offer, err := prepared.Offer()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range []struct {
		holder  string
		parties discreet.Parties
	}{{"h1", discreet.Parties{Number: 2, Colluding: 1}}, {"h2", discreet.Parties{Number: 2, Colluding: 1}}, {"h1", discreet.Parties{Number: 3, Colluding: 2}}, {"h1", discreet.Parties{Number: 3, Colluding: 1}}, {"h1", discreet.Parties{Number: 3, Colluding: 1, Shares: mechanism.BySkellam}}} {
		j, err := prepared.Joint([]string{c.holder}, []*discreet.Offer{offer}, c.parties)
		if err != nil {
			t.Fatal(err)
		}
		r, err := j.Request(payer, "task")
		if err != nil {
			t.Fatal(err)
		}
		if seen[string(r.Repetition)] {
			t.Errorf("an approval for others holds for %v", c)
		}
		seen[string(r.Repetition)] = true
	}
}

func encodeInt(n int64) []byte { text, _ := json.Marshal(n); return text }

// A budget for ten answers ten of fifty that ask at once, and is spent, no more. Askers meet
// the holders in one order, so that both admit the same ten.
func TestFiftyAtOnceAgainstABudgetForTen(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 30), patients(99, 30)}, parties: 2, budget: "10"}).run()
	var all sync.WaitGroup
	answered, other := make(chan *Answer, 50), make(chan error, 50)
	for range 50 {
		all.Go(func() {
			a, err := w.ask("SELECT count(*) AS n FROM visits", "1")
			if err != nil {
				other <- err
				return
			}
			answered <- a
		})
	}
	all.Wait()
	close(other)
	if len(answered) != 10 {
		t.Errorf("%d of 50 were answered, want 10", len(answered))
	}
	for err := range other {
		var d *diagnostic.Diagnostic
		if !errors.As(err, &d) || d.Code != "D076" {
			t.Errorf("refused with %v, want D076", err)
		}
	}
	for i := range w.holders {
		if w.spent(i) != 10 {
			t.Errorf("holder %d has spent %v, want 10", i, w.spent(i))
		}
	}
}

// A subset of holders, and the same question again, charge anew, each who is asked.
func TestSubsetsAndRepetitionsChargeAnew(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 3), patients(9, 4)}, parties: 2}).run()
	const text = "SELECT count(*) AS n FROM visits"
	for i, c := range []struct {
		holders []string
		want    int64
		spent   [2]float64
	}{{nil, 7, [2]float64{1000, 1000}}, {nil, 7, [2]float64{2000, 2000}}, {[]string{"h2"}, 4, [2]float64{2000, 3000}}, {[]string{"h1"}, 3, [2]float64{3000, 3000}}} {
		a, err := w.askAs("anna", text, "1000", c.holders...)
		if err != nil {
			t.Fatal(err)
		}
		if a.Rows[0][0] != c.want {
			t.Errorf("question %d: %v, want %d", i, a.Rows[0][0], c.want)
		}
		if got := [2]float64{w.spent(0), w.spent(1)}; got != c.spent {
			t.Errorf("after question %d the holders have spent %v, want %v", i, got, c.spent)
		}
	}
}

// A holder's accounts, limits and approvals hold: who has no account is refused; what is over a
// limit waits, and is answered once its owner has granted it, once.
func TestHoldersAsk(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 3), patients(9, 4)}, parties: 2}).run()
	h := w.holders[0]
	h.People = w.people[0]
	offer := encode(t, w.statement("SELECT count(*) AS n FROM visits", "1"))
	got, _ := w.as("bob", w.federation.Holders[0], http.MethodPost, "/offers", offer)
	w.expect("while there is no account", "", got)
	if err := w.people[0].Add(t.Context(), "test", "anna", people.Analyst, ""); err != nil {
		t.Fatal(err)
	}
	const text = "SELECT count(*) AS n FROM visits"
	code := func(err error) string {
		var d *diagnostic.Diagnostic
		if errors.As(err, &d) {
			return d.Code
		}
		return ""
	}
	got, _ = w.as("bob", w.federation.Holders[0], http.MethodPost, "/offers", offer)
	w.expect("with no account among others", unauthorized, got)
	if _, err := w.askAs("bob", text, "1"); code(err) != "D244" {
		t.Errorf("bob, who has no account, gets %v", err)
	}
	one := w.statement(text, "1").Epsilon
	most := ledger.Allowance{}
	most.Amounts.Epsilon = one
	if err := w.people[0].Limit(t.Context(), "test", "anna", "patient", &most); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ask(text, "1"); err != nil {
		t.Errorf("within the limit: %v", err)
	}
	if _, err := w.ask(text, "2"); code(err) != "D245" {
		t.Errorf("over the limit: %v", err)
	}
	waiting, err := w.people[0].Approvals(t.Context(), false)
	if err != nil || len(waiting) != 1 {
		t.Fatalf("%d statements wait: %v", len(waiting), err)
	}
	if err := w.people[0].Grant(t.Context(), "olga", waiting[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ask(text, "2"); err != nil {
		t.Errorf("granted: %v", err)
	}
	if _, err := w.ask(text, "2"); code(err) != "D245" {
		t.Errorf("granted once, asked twice: %v", err)
	}
	if waiting, err = w.people[0].Approvals(t.Context(), false); err != nil || len(waiting) != 1 {
		t.Fatalf("%d statements wait: %v", len(waiting), err)
	}
	if err := w.people[0].Deny(t.Context(), "olga", waiting[0].ID, "not this year"); err != nil {
		t.Fatal(err)
	}
	_, err = w.ask(text, "2")
	var d *diagnostic.Diagnostic
	if !errors.As(err, &d) || d.Code != "D245" || !strings.Contains(d.Why, "not this year") {
		t.Errorf("denied: %v", err)
	}
	if w.spent(0) != 3 || w.spent(1) != 3 {
		t.Errorf("spent %v and %v, want 3: h2 is asked after h1", w.spent(0), w.spent(1))
	}
}
