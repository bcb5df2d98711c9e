//go:build cgo

package release_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// jointly tells how far one unit, or two, move the vector in one group that shared noise hides (internal/release/blend.go), where that is farther
// than the theorem says; the differences of the components give the vector. Each component alone can move as little as it
// may, and the vector farther: a row that is counted as one without a value, and summed, say.
func jointly(r *stability.Release, diff []*big.Int, units int64) string {
	text := func(e plan.Expr) string {
		if e == nil {
			return ""
		}
		return plan.FormatExpr(e)
	}
	find := func(kind stability.ComponentKind, of stability.Component, arg plan.Expr) int {
		for i, c := range r.Components {
			if c.Kind != kind || text(c.Filter) != text(of.Filter) || text(c.Arg) != text(arg) {
				continue
			}
			if kind == stability.Rows || c.LowerUnits.Cmp(of.LowerUnits) == 0 && c.UpperUnits.Cmp(of.UpperUnits) == 0 && c.ArgGrid.Cmp(of.ArgGrid) == 0 {
				return i
			}
		}
		return -1
	}
	times := func(a *big.Int, b int64) *big.Int { return new(big.Int).Mul(a, big.NewInt(b)) }
	product := func(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }
	for i, s := range r.Components {
		if s.Kind != stability.Sum {
			continue
		}
		counted := find(stability.Rows, s, s.Arg)
		if counted < 0 {
			continue
		}
		n := diff[counted]
		without := new(big.Int) // rows that have no value
		if all := find(stability.Rows, s, nil); all >= 0 {
			without.Sub(diff[all], n)
		}
		var terms []*big.Int
		width := new(big.Int).Sub(s.UpperUnits, s.LowerUnits)
		if q := find(stability.Squares, s, s.Arg); q >= 0 {
			c := r.Components[q]
			half := new(big.Int).Sub(c.UpperUnits, c.Center)
			if other := new(big.Int).Sub(c.Center, c.LowerUnits); other.Cmp(half) > 0 {
				half = other
			}
			whole, double := product(product(half, half), n), times(half, 2)
			off := new(big.Int).Add(diff[i], product(n, new(big.Int).Sub(s.Center, c.Center)))
			squares := new(big.Int).Lsh(diff[q], c.Shift)
			terms = []*big.Int{
				new(big.Int).Add(new(big.Int).Sub(whole, product(double, off)), squares),
				times(new(big.Int).Sub(whole, squares), 2),
				new(big.Int).Add(new(big.Int).Add(whole, product(double, off)), squares),
			}
			if width = product(double, double); c.Shift > 0 {
				width.Add(width, new(big.Int).Lsh(big.NewInt(4), c.Shift))
			}
		} else {
			terms = []*big.Int{
				new(big.Int).Add(diff[i], product(n, new(big.Int).Sub(s.Center, s.LowerUnits))),
				new(big.Int).Sub(product(n, new(big.Int).Sub(s.UpperUnits, s.Center)), diff[i]),
			}
		}
		norm := product(width, new(big.Int).Abs(without))
		for _, t := range terms {
			norm.Add(norm, new(big.Int).Abs(t))
		}
		if most := times(product(r.Components[counted].PerGroup, width), units); norm.Cmp(most) > 0 {
			return fmt.Sprintf("the terms of component %d move by %v, noise that is shared hides %v", i, norm, most)
		}
	}
	for _, set := range r.Exclusive {
		norm := new(big.Int)
		for _, i := range set {
			norm.Add(norm, new(big.Int).Abs(diff[i]))
		}
		if most := times(r.Components[set[0]].PerGroup, units); norm.Cmp(most) > 0 {
			return fmt.Sprintf("components %d, to which a row adds one at most, move by %v together, not by %v at most", set, norm, most)
		}
	}
	return ""
}

// sharedExample has a unit, the first, that D' lacks: of more rows than it may have most have no value, and others values beyond the bounds.
func sharedExample() *example {
	x := stageExample("SELECT k, count(*), count(i), sum(i), avg(i), var_pop(i) FROM t0 GROUP BY k")
	x.d["t0"] = slices.DeleteFunc(x.d["t0"], func(r row) bool { return r[0] == "1" })
	for n := range 6 {
		for _, value := range []any{nil, nil, nil, []string{"12", "-5"}[n%2]} {
			x.d["t0"] = append(x.d["t0"], row{"1", value, fmt.Sprint(n), fmt.Sprint(n)})
		}
	}
	return x
}

// sumOfMissing has values that are missing added to sums and squares, and not counted: each component moves no farther than it may.
func sumOfMissing(b *plan.Bounded) {
	for i, c := range b.Contributions {
		call, computed := c.Value.(*plan.Call)
		if c.Kind == plan.Added && computed {
			b.Contributions[i].Value = &plan.Call{Function: plan.Coalesce, T: call.T, Args: []plan.Expr{call, &plan.Literal{Value: int64(4), T: call.T}}}
		}
	}
}

// TestSharedNoiseIsSound holds what shared noise hides against a unit whose values are missing, and beyond their bounds.
func TestSharedNoiseIsSound(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	var seen coverage
	if err := m.check(sharedExample(), pipeline{}, &seen); err != nil || seen.moved == 0 {
		t.Fatal(err, seen.refused)
	}
	err := m.check(sharedExample(), pipeline{planted: true, plan: func(_ *stability.Release, b *plan.Bounded) { sumOfMissing(b) }}, &seen)
	var v *violation
	if !errors.As(err, &v) {
		t.Errorf("planted: missing values are summed: %v", err)
	} else {
		t.Logf("planted: missing values are summed: %s", v.what)
	}
}

// Statements with counts and sums to which each row adds one at most.
var exclusiveStatements = []string{
	"SELECT k, count(*) FILTER (WHERE i < 5), count(*) FILTER (WHERE i >= 5), count(*) FROM t0 GROUP BY k",
	"SELECT k, sum(CASE WHEN i IN (0, 1) THEN 1 ELSE 0 END), count(CASE WHEN i = 9 THEN j END), sum((i > 1 AND i < 9)::int) FROM t0 GROUP BY k",
	"SELECT sum(i) FILTER (WHERE j = 0), sum(CASE WHEN j IN (1, 2) THEN i END), sum(CASE WHEN j > 2 THEN i ELSE 0 END) FROM t0",
	"SELECT k, j, countif(i > 4), countif(NOT (i > 4)) FROM t0 GROUP BY ROLLUP (k, j)",
}

// exclusiveExample has a unit with many rows under each condition, and values that are missing.
func exclusiveExample(statement string) *example {
	x := stageExample(statement)
	x.d["t0"] = slices.DeleteFunc(x.d["t0"], func(r row) bool { return r[0] == "1" })
	for n := range 6 {
		for _, value := range []any{"0", "1", "6", "9", "9", nil, "12", "-5"} {
			x.d["t0"] = append(x.d["t0"], row{"1", value, fmt.Sprint(n), fmt.Sprint(n)})
		}
	}
	return x
}

// TestExclusiveComponentsAreSound holds noise whose cost is shared by components of which each row adds to one against a unit that has many rows under each condition, and
// values that are missing. Where a row adds to all of them none moves farther than it may alone.
func TestExclusiveComponentsAreSound(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	for _, statement := range exclusiveStatements {
		x := exclusiveExample(statement)
		cat, err := catalog.Parse("catalog.toml", x.text)
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := m.certify(t.Context(), x, pipeline{}, "d", statement, cat)
		if err != nil || len(certificate.Releases[0].Exclusive) != 1 {
			t.Fatalf("%s: no components are exclusive: %v", statement, err)
		}
		var seen coverage
		if err := m.check(x, pipeline{}, &seen); err != nil || seen.moved == 0 {
			t.Fatal(statement, err, seen.refused)
		}
		err = m.check(x, pipeline{planted: true, plan: func(r *stability.Release, b *plan.Bounded) {
			for i, c := range r.Components { // as much as a row may, whatever the condition
				most := int64(1)
				if c.Kind == stability.Sum {
					most = c.UpperUnits.Int64()
				}
				b.Contributions[i].Value = &plan.Literal{Value: most, T: sqltype.Of(sqltype.Bigint)}
			}
		}}, &seen)
		var v *violation
		if !errors.As(err, &v) {
			t.Errorf("planted: a row of %s adds to all: %v", statement, err)
		} else {
			t.Logf("planted: a row adds to all: %s", v.what)
		}
	}
}

// special holds a rival against noise and costs that are shared and against stages, for constants that could have been released: none, and many.
func (s *rival) special(t *testing.T) {
	t.Helper()
	var c coverage
	holds := func(ctx context.Context) error {
		if err := s.check(ctx, sharedExample(), &c); err != nil {
			return err
		}
		x := exclusiveExample("")
		x.statements = exclusiveStatements
		if err := s.check(ctx, x, &c); err != nil {
			return err
		}
		x = stageExample("")
		x.statements = stageStatements
		s.stages = func(of *stability.Certificate, which int) render.Stages {
			over := render.Stages{}
			for i, stage := range of.Stages {
				if stage.Public() {
					continue
				}
				rows := stageRows(stage, 3*which)
				for j, row := range rows {
					if row == nil { // NULLs
						rows[j] = make([]sqltype.Value, len(stage.Plan.Columns()))
					}
				}
				over[i] = rows
			}
			return over
		}
		defer func() { s.stages = nil }()
		return s.check(ctx, x, &c)
	}
	before := s.compared
	if err := holds(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.lacking > 0 || s.compared-before < len(exclusiveStatements)+2*len(stageStatements) {
		t.Errorf("%s lacks %d, and %d are compared", s.name, s.lacking, s.compared-before)
	}
	s.bent = sumOfMissing
	defer func() { s.bent = nil }()
	var v *violation
	if err := s.check(t.Context(), sharedExample(), &c); !errors.As(err, &v) {
		t.Errorf("planted: missing values are summed: %v", err)
	} else {
		t.Logf("planted: missing values are summed: %s", v.what)
	}
	s.bent = func(b *plan.Bounded) {
		for i := range b.Contributions {
			b.Contributions[i].Value = &plan.Literal{Value: int64(1), T: sqltype.Of(sqltype.Bigint)}
		}
	}
	if err := s.check(t.Context(), exclusiveExample(exclusiveStatements[0]), &c); !errors.As(err, &v) {
		t.Errorf("planted: a row adds to each column: %v", err)
	} else {
		t.Logf("planted: a row adds to each column: %s", v.what)
	}
}
