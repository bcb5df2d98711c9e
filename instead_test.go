//go:build cgo

package discreet

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// Of a table of which each unit has so many rows, and which has bounds for each statement too.
const (
	inGroups  = "unit = \"who\"\nmax_groups_per_unit = 3\nmax_rows_per_group = 4"
	manyRows  = inGroups + "\nmax_rows_per_unit = 100"
	fewRows   = inGroups + "\nmax_rows_per_unit = 5"
	byKey     = "SELECT k, count(*) AS n, sum(x) AS total FROM t GROUP BY k"
	keptWords = "100 rows of a unit in \"t\", kept once, in whatever groups"
	itsWords  = "3 groups, with 4 rows of a unit in each, chosen for the statement"
)

// A statement is bounded the way that errs less, whoever looks: explained, planned, answered, priced, made of stored answers.
func TestStatementsAreBoundedTheWayThatErrsLess(t *testing.T) {
	t.Parallel()
	w := shelve(t, "zcdp", inGroups, manyRows)
	w.config.Engine = &salted{Engine: w.recorder.Engine} // which says that it keeps the same rows by a salt
	w.version()
	e, err := w.Explain(t.Context(), byKey, w.at("0.1"))
	if err != nil {
		t.Fatal(err)
	}
	if e.Bounds != itsWords || e.Instead == nil || e.Instead.Bounds != keptWords || len(e.Instead.ExpectedError) != len(e.ExpectedError) {
		t.Fatalf("bounds %q, instead %+v", e.Bounds, e.Instead)
	}
	for i, x := range e.ExpectedError {
		if y := e.Instead.ExpectedError[i]; x.Column != y.Column || !(y.Error > 10*x.Error) { // 100 for 4√3
			t.Errorf("%v instead of %v", y, x)
		}
	}
	if words := strings.Join(e.InsteadWords(), "\n"); !strings.Contains(words, itsWords+": it errs no more than by "+keptWords) || !strings.Contains(words, "by the latter n may be ") {
		t.Errorf("words: %s", words)
	}
	a := w.told(byKey, w.at("0.1"), false)
	if m := a.Mechanisms[0]; m.MaxGroupsPerUnit != 3 || m.MaxRowsPerGroup != 4 || m.Scale != e.Mechanisms[0].Scale {
		t.Errorf("answered by %+v, explained as %+v", m, e.Mechanisms[0])
	}

	// Equal questions stay equal: at other costs, confidences and in other words, sharper ones too.
	w.told(byKey, w.at("0.05"), true)
	confident := w.at("0.05")
	confident.Confidence = 0.5
	w.told(byKey, confident, true)
	w.told("SELECT sum(x), k FROM t GROUP BY k", w.at(""), true)
	const counted = "SELECT k, count(*) AS n FROM t GROUP BY k"
	fresh := w.at("0.1")
	fresh.Fresh = true
	w.told(counted, fresh, false)
	if sharper := w.told(counted, w.at("0.4"), false); !slices.ContainsFunc(sharper.Notes, func(n string) bool { return strings.Contains(n, "the average of what record") }) {
		t.Errorf("not sharpened: %v", sharper.Notes)
	}

	// An accuracy costs the least of both ways.
	o := w.at("")
	o.Accuracy, o.Fresh = Accuracy{Error: big.NewRat(50, 1)}, true
	if e, err = w.Explain(t.Context(), byKey, o); err != nil {
		t.Fatal(err)
	}
	if e.Bounds != itsWords || e.Cost.Rho.Cmp(e.Instead.Cost.Rho) >= 0 || !strings.Contains(strings.Join(e.InsteadWords(), "\n"), "by the latter it costs rho ") {
		t.Errorf("%s costs %v, instead %v: %v", e.Bounds, e.Cost.Rho, e.Instead.Cost.Rho, e.InsteadWords())
	}
	o.AtMost.Rho = must(privacy.ParseRho(e.Cost.Rho.String())) // the other way costs more
	cost := e.Cost.Rho.String()
	if _, err := w.Query(t.Context(), byKey, o); err != nil {
		t.Error(err)
	}
	o.AtMost.Rho = must(privacy.ParseRho("1e-6")) // both cost more
	var r *Refusal
	if _, err = w.Explain(t.Context(), byKey, o); !errors.As(err, &r) || !strings.Contains(r.Why, "it costs rho "+cost+",") {
		t.Errorf("of rho %s: %+v", cost, r)
	}
}

// Kept rows bound it where they err less, and what errs as much stays with them; a statement may name either.
func TestStatementsMayNameTheirBounds(t *testing.T) {
	t.Parallel()
	const named = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (OPTION) k, count(*) AS n, sum(x) AS total FROM t GROUP BY k"
	with := func(option string) string { return strings.Replace(named, "(OPTION)", "("+option+")", 1) }
	for _, c := range []struct {
		bounds, measure, sql string
		rows                 int64 // in a group, as mechanisms say
		either               bool
	}{
		{manyRows, "zcdp", byKey, 4, true},
		{fewRows, "zcdp", byKey, 5, true},
		{fewRows, "pure", byKey, 5, true},
		{manyRows, "pure", byKey, 4, true},
		{strings.Replace(fewRows, "= 5", "= 12", 1), "pure", byKey, 12, true}, // 12 either way
		{strings.Replace(fewRows, "= 5", "= 12", 1), "zcdp", byKey, 4, true},
		{manyRows, "zcdp", with("max_rows_contributed = 100"), 100, false},
		{manyRows, "zcdp", with("max_groups_contributed = 2"), 4, false},
		{fewRows, "zcdp", with("max_groups_contributed = 3"), 4, false},
		{fewRows, "zcdp", with("epsilon = 1"), 5, true},
		{manyRows, "zcdp", "SELECT k, count(DISTINCT who) FROM t GROUP BY k", 1, false},
		{"unit = \"who\"\nmax_rows_per_unit = 100", "zcdp", byKey, 100, false},
	} {
		w := shelve(t, c.measure, inGroups, c.bounds)
		o := w.at("0.1")
		if strings.Contains(c.sql, "epsilon") {
			o.Spend = Spend{}
		}
		e, err := w.Explain(t.Context(), c.sql, o)
		if err != nil {
			t.Errorf("%s\n%v", c.sql, err)
			continue
		}
		if e.Mechanisms[0].MaxRowsPerGroup != c.rows || (e.Instead != nil) != c.either {
			t.Errorf("%s, %s\n%s: %+v, instead %v", c.bounds, c.measure, c.sql, e.Mechanisms[0], e.Instead)
		}
	}
	for _, c := range []struct{ bounds, sql string }{
		{manyRows, with("max_rows_contributed = 99")},
		{manyRows, with("max_rows_contributed = 101")},
		{manyRows, with("max_rows_contributed = 100, max_groups_contributed = 3")},
		{manyRows, with("max_rows_contributed = 0")},
		{inGroups, with("max_rows_contributed = 12")},
		{manyRows, "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 100) free, count(*) FROM t GROUP BY free"},
		{manyRows, "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 100) count(DISTINCT who) FROM t"},
	} {
		w := shelve(t, "zcdp", inGroups, c.bounds)
		_, err := w.Explain(t.Context(), c.sql, w.at("0.1"))
		var r *Refusal
		if !errors.As(err, &r) || r.Code != "D057" {
			t.Errorf("%s: %v", c.sql, err)
		}
	}
}

// What one statement asks of the same rows and groups by other bounds is released by each: it is another number. Sets of ROLLUP over kept rows, which move each
// of them as far, have noise of their own where adding up thirty groups errs more. And of what a pilot prices, both pilots cost the same: noise decides.
func TestReleasesOfEitherWay(t *testing.T) {
	t.Parallel()
	rows := func(measure, bounds, sql string, o *QueryOptions) (all []int64) {
		w := shelve(t, measure, inGroups, bounds)
		if o == nil {
			o = w.at("0.1")
		}
		e, err := w.Explain(t.Context(), sql, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range e.Mechanisms {
			all = append(all, m.MaxRowsPerGroup)
		}
		return all
	}
	const each = "SELECT sum(c) FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 100) k, count(*) AS c FROM t GROUP BY k) q " +
		"UNION ALL SELECT sum(c) FROM (SELECT k, count(*) AS c FROM t GROUP BY k) q"
	if got := rows("zcdp", manyRows, each, nil); !slices.Equal(got, []int64{100, 4}) {
		t.Errorf("rows in a group: %v", got)
	}
	sets := "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 5) k, s, n, count(*) FROM t GROUP BY ROLLUP (k, s, n)"
	if got := rows("zcdp", fewRows, sets, nil); !slices.Equal(got, []int64{5, 5, 5, 5}) {
		t.Errorf("rows in a group of each set with noise of its own: %v", got)
	}
	piloted := &QueryOptions{Accuracy: Accuracy{Error: big.NewRat(1, 10), Relative: true}}
	piloted.AtMost.Rho = must(privacy.ParseRho("1"))
	if got := rows("zcdp", manyRows, "SELECT k, count(*) FROM t GROUP BY k", piloted); !slices.Equal(got, []int64{4}) {
		t.Errorf("rows in a group of a pilot: %v", got)
	}
}

// An answer by kept rows, which cut no more, serves a question that bounds of its own would bound, and says by which it was made. One by
// bounds of its own serves none by kept rows.
func TestMadeOfTheOtherWay(t *testing.T) {
	t.Parallel()
	const once = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 100) k, count(*) AS n, sum(x) AS total FROM t GROUP BY k"
	w := shelve(t, "zcdp", inGroups, manyRows)
	w.version()
	w.told(once, w.at("0.9"), false)
	a := w.told("SELECT k, sum(x) FROM t GROUP BY k", w.at("0.001"), true)
	if !slices.ContainsFunc(a.Notes, func(n string) bool { return strings.Contains(n, "each unit counts with at most 100 rows of t") }) || a.Mechanisms[0].MaxRowsPerGroup != 100 {
		t.Errorf("told as %v, %+v", a.Notes, a.Mechanisms)
	}
	w.told(byKey, w.at("0.5"), false) // more precise than that
	w = shelve(t, "zcdp", inGroups, manyRows)
	w.version()
	w.told(byKey, w.at("0.9"), false)
	free := w.at("")
	free.Free = true
	if a, err := w.Query(t.Context(), once, free); err == nil { // nor for nothing
		t.Errorf("kept rows are made of rows that bounds cut: %v", a.Rows)
	}
	w.told(once, w.at("0.000001"), false)
}

// At (ε, δ) it is by the cost that one of both errs less. What may cost nothing is answered from what was paid for, whichever that took.
func TestFreeWhicheverWay(t *testing.T) {
	t.Parallel()
	const sql = "SELECT k, n, s, count(*) FROM t GROUP BY k, n, s"
	ways := map[int64]int{}
	for _, c := range []struct{ rows, epsilon, delta string }{{"7", "1", "1e-3"}, {"9", "0.1", "1e-6"}, {"9", "8", "1e-6"}, {"12", "1", "1e-9"}} {
		w := shelve(t, "approx", "delta = 1e-3", "delta = 0.1", inGroups, "unit = \"who\"\nmax_groups_per_unit = 30\nmax_rows_per_group = 1\nmax_rows_per_unit = "+c.rows)
		w.version()
		o := w.at(c.epsilon)
		o.Spend.Delta = must(privacy.ParseDelta(c.delta))
		paid := w.told(sql, o, false).Mechanisms[0]
		free := w.at("")
		free.Free = true
		if m := w.told(sql, free, true).Mechanisms[0]; m != paid {
			t.Errorf("%v: %+v, paid for %+v", c, m, paid)
		}
		ways[paid.MaxRowsPerGroup]++
		if _, err := w.Query(t.Context(), "SELECT k, n, s, sum(x) FROM t GROUP BY k, n, s", free); err == nil {
			t.Error("what nobody paid for is free")
		}
	}
	if ways[1] != 2 {
		t.Errorf("the test is weak: %v", ways)
	}
}

// What costs the least at an accuracy need not err the least at a cost: there the sum over all values decides, and here their product. An answer to the
// one serves the other all the same.
func TestAccuracyIsServedWhicheverWay(t *testing.T) {
	t.Parallel()
	const sql = "SELECT 'x', count(*) FROM t UNION ALL SELECT k, count(*) FROM t GROUP BY k"
	w := shelve(t, "zcdp", inGroups, "unit = \"who\"\nmax_groups_per_unit = 3\nmax_rows_per_group = 10\nmax_rows_per_unit = 12")
	w.version()
	o := w.at("")
	o.Accuracy = Accuracy{Error: big.NewRat(20, 1)}
	paid := w.told(sql, o, false)
	if e, err := w.Explain(t.Context(), sql, &QueryOptions{Spend: w.at("0.01").Spend, NoDefault: true}); err != nil || paid.Mechanisms[0].MaxRowsPerGroup != 12 || e.Mechanisms[0].MaxRowsPerGroup != 10 {
		t.Fatalf("the test is weak: %+v, %v", paid.Mechanisms, err)
	}
	w.told(sql, w.at("0.01"), true)
	w.told("SELECT k, count(*) FROM t GROUP BY k", w.at("0.01"), true)
}

// Holders of a federation say that kept rows move counts the farthest in one group, so that the noise of all is that of T rows, too, and not of T rows
// in each of many groups.
func TestKeptRowsInAFederation(t *testing.T) {
	t.Parallel()
	joint := func(own string, others ...string) *Explanation {
		w := shelve(t, "zcdp", inGroups, own)
		var names []string
		var offers []*Offer
		var s *Statement
		for i, bounds := range append([]string{own}, others...) {
			p, err := shelve(t, "zcdp", inGroups, bounds).plan(t.Context(), byKey, w.at("0.1"))
			if err != nil {
				t.Fatal(err)
			}
			o, err := p.Offer()
			if err != nil {
				t.Fatal(err)
			}
			names, offers = append(names, string(rune('a'+i))), append(offers, o)
			if s == nil {
				s = p
			}
		}
		j, err := s.Joint(names, offers, Parties{Number: 2, Colluding: 1})
		if err != nil {
			t.Fatal(err)
		}
		e, err := j.Explain(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	few := strings.Replace(fewRows, "= 5", "= 4", 1)
	for _, c := range []struct {
		own, other  string
		sensitivity float64 // of counts
	}{
		{few, fewRows, 5},
		{fewRows, few, 5},
		{manyRows, manyRows, 4 * math.Sqrt(3)},
		{fewRows, manyRows, 5 * math.Sqrt(3)}, // five rows in a group, three groups
		{manyRows, fewRows, 5 * math.Sqrt(3)},
	} {
		e := joint(c.own, c.other)
		if got := e.Mechanisms[0].Sensitivity; math.Abs(got-c.sensitivity) > 1e-9 {
			t.Errorf("%s, %s: sensitivity %v, want %v", c.own, c.other, got, c.sensitivity)
		}
		if e.Instead != nil || strings.Contains(strings.Join(e.Certificate.Releases[0].Words, "\n"), "at most 0 rows") {
			t.Errorf("explained as %v, instead %v", e.Certificate.Releases[0].Words, e.Instead)
		}
	}
}
