//go:build cgo

package gateway_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// admittedStatements have columns of which it depends on the options which are noisy.
var admittedStatements = []string{
	"SELECT mode() WITHIN GROUP (ORDER BY department) AS often FROM visits",
	"SELECT sex, mode() WITHIN GROUP (ORDER BY department) AS often FROM visits GROUP BY sex",
	"SELECT department, count(*) AS n, avg(cost) FROM visits GROUP BY department",
	"SELECT percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY age) FROM visits",
	"SELECT department, sex, count(*) FROM visits GROUP BY ROLLUP (department, sex)",
	"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 2) department, count(*) FROM visits GROUP BY department",
	"SELECT name, beds FROM departments",
}

// TestColumnsAreThoseThatWereAdmitted: a statement is described, explained, admitted and answered in the same columns, by the same options, at first, stored, and
// from what others have paid for. What is not admitted is charged nothing, and is a refusal to whoever counts outcomes.
func TestColumnsAreThoseThatWereAdmitted(t *testing.T) {
	w := gatewaytest.Open(t, t.TempDir())
	if _, err := w.Ledger.NewVersion(t.Context(), "", "", gatewaytest.Noon); err != nil {
		t.Fatal(err)
	}
	near := gateway.Options{Accuracy: discreet.Accuracy{Error: big.NewRat(20_000, 1)}}
	confident := rho(t, "0.00003")
	confident.Confidence = 0.6
	weighted := rho(t, "0.00003")
	weighted.Weights = []*big.Rat{big.NewRat(1, 1), big.NewRat(3, 1)}
	epsilon, err := privacy.ParseEpsilon("0.004")
	if err != nil {
		t.Fatal(err)
	}
	spent := func() string {
		t.Helper()
		all, err := w.Budget(t.Context(), olga)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(all[0].Spent)
	}
	no := errors.New("other columns")
	told, differ := 0, false
	for _, sql := range admittedStatements {
		var first []discreet.Column
		for name, o := range map[string]gateway.Options{
			"rho": rho(t, "0.00003"), "more rho": rho(t, "0.00004"), "accuracy": near, "confidence": confident, "weights": weighted, "epsilon": {Spend: discreet.Spend{Epsilon: epsilon}},
			"none": {}, "free": {Free: true},
		} {
			at := name + ": " + sql
			d, err := w.Describe(t.Context(), anna, sql, nil, o)
			if err != nil {
				t.Errorf("%s\nis not described: %v", at, err)
				continue
			}
			if first == nil {
				first = d.Columns
			}
			differ = differ || !slices.Equal(first, d.Columns)
			for range 2 {
				before, was := spent(), 0
				refusing := o
				refusing.Admit = func(columns []discreet.Column) error {
					if was++; !slices.Equal(columns, d.Columns) {
						t.Errorf("%s\nis described as %+v and admitted as %+v", at, d.Columns, columns)
					}
					return no
				}
				_, err := w.Query(t.Context(), anna, sql, refusing)
				if was > 0 && (!errors.Is(err, no) || !errors.Is(err, gateway.ErrColumns) || gateway.Of(err) != gateway.Refused) || was == 0 && err == nil {
					t.Errorf("%s\nis not admitted: %v", at, err)
				}
				if now := spent(); now != before {
					t.Errorf("%s\nis not admitted and charged: %s after %s", at, now, before)
				}
				admitting := o
				admitting.Admit = func(columns []discreet.Column) error {
					was++
					return nil
				}
				a, err := w.Query(t.Context(), anna, sql, admitting)
				if err != nil {
					continue
				}
				if told++; was < 2 || !slices.Equal(a.Columns, d.Columns) {
					t.Errorf("%s\nis described as %+v and answered as %+v (stored: %v)", at, d.Columns, a.Columns, a.Reused)
				}
				if e, err := w.Explain(t.Context(), anna, sql, o); err != nil || !slices.Equal(e.Columns, a.Columns) {
					t.Errorf("%s\nis explained as %+v and answered as %+v (%v)", at, e, a.Columns, err)
				}
			}
		}
	}
	if told < 40 || !differ {
		t.Errorf("the test is weak: %d answers, columns that differ: %v", told, differ)
	}
}

// TestReloadBetween: where a catalog was read that gives a statement other columns than were described, it is not admitted, and nothing is charged.
func TestReloadBetween(t *testing.T) {
	r := newReloader(t)
	const sql = "SELECT department, sum(cost) AS cost FROM visits GROUP BY department"
	d, err := r.Describe(t.Context(), anna, sql, nil, rho(t, "0.001"))
	if err != nil {
		t.Fatal(err)
	}
	o, was := rho(t, "0.001"), 0
	o.Admit = func(columns []discreet.Column) error {
		if was++; !slices.Equal(columns, d.Columns) {
			return errors.New("other columns")
		}
		return nil
	}
	if _, err := r.Query(t.Context(), anna, sql, o); err != nil || was != 1 {
		t.Fatal(err)
	}
	c := r.changed(t, `cost = { type = "double", lower = 0, upper = 3000 }`, `cost = { type = "integer", lower = 0, upper = 3000 }`)
	r.accept(t, c)
	if err := r.reload(t, c); err != nil {
		t.Fatal(err)
	}
	before, err := r.Ledger.Balance(t.Context(), d.Domain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Query(t.Context(), anna, sql, o); !errors.Is(err, gateway.ErrColumns) {
		t.Errorf("of other columns: %v", err)
	}
	after, err := r.Ledger.Balance(t.Context(), d.Domain)
	if err != nil || fmt.Sprint(after.Spent) != fmt.Sprint(before.Spent) {
		t.Errorf("charged: %v after %v (%v)", after.Spent, before.Spent, err)
	}
	if d, err = r.Describe(t.Context(), anna, sql, nil, o); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Query(t.Context(), anna, sql, o); err != nil {
		t.Errorf("described anew: %v", err)
	}
}
