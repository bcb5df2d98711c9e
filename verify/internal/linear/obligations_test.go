package linear

import (
	"fmt"
	"testing"
)

// An obligation is a formula of the kind that proofs of privacy leave, with the
// verdict that it must have.
type obligation struct {
	name string
	f    Formula
	want Verdict
}

// sparseVector are the obligations of the sparse vector technique for any number n
// of queries: in units of ε/2N the threshold costs N, an answer above it 1, and the
// invariant is cnt <= N and cost <= N+cnt. The shift of an answer's noise above the
// threshold is given, which costs |shift|/2 as the scale says.
func sparseVector(above func(dq Term) Term) []obligation {
	real := func(name string) Term { return Var{name, Real}.Term() }
	integer := func(name string) Term { return Var{name, Int}.Term() }
	n, size, i, cnt := integer("N"), integer("n"), integer("i"), integer("cnt")
	cost, q, dq, eta, t := real("cost"), real("q"), real("dq"), real("eta"), real("t")
	invariant := func(i, cnt, cost Term) Formula {
		return And(Ge(n, Number(1)), Le(n, size), Ge(i, Number(0)), Le(i, size), Le(cnt, n), Le(cost, n.Add(cnt)))
	}
	again := And(Lt(cnt, n), Lt(i, size))
	adjacent := And(Le(Number(-1), dq), Le(dq, Number(1)))
	test := Ge(q.Add(eta), t)
	shift := Ite(test, above(dq), Number(0))
	test2 := Ge(q.Add(dq).Add(eta).Add(shift), t.Add(Number(1)))
	next := invariant(i.Add(Number(1)), Ite(test, cnt.Add(Number(1)), cnt), cost.Add(Abs(shift).Mul(fraction(1, 2))))
	step := And(invariant(i, cnt, cost), again, adjacent)
	return []obligation{
		{"init", And(Ge(n, Number(1)), Le(n, size), Not(invariant(Number(0), Number(0), n))), Refuted},
		{"branch", And(step, xor(test, test2)), Refuted},
		{"step", And(step, Not(next)), Refuted},
		{"exit", And(invariant(i, cnt, cost), Not(again), Gt(cost, n.Add(n))), Refuted},
	}
}

// unrolled is a sparse vector run of size queries as one formula: the branches
// agree, and the cost is within the budget (in units of ε/2N, as above). The number
// of answers above the threshold is bounded by most.
func unrolled(size, most int, above func(dq Term) Term, budget int64) Formula {
	cnt, cost := Number(0), Number(int64(most))
	t := Var{"t", Real}.Term()
	good, facts := True(), True()
	for k := range size {
		real := func(name string) Term { return Var{fmt.Sprint(name, k), Real}.Term() }
		q, dq, eta := real("q"), real("dq"), real("eta")
		facts = And(facts, Le(Number(-1), dq), Le(dq, Number(1)))
		runs := Lt(cnt, Number(int64(most)))
		test := Ge(q.Add(eta), t)
		shift := Ite(test, above(dq), Number(0))
		test2 := Ge(q.Add(dq).Add(eta).Add(shift), t.Add(Number(1)))
		good = And(good, Implies(runs, Iff(test, test2)))
		cost = cost.Add(Ite(runs, Abs(shift).Mul(fraction(1, 2)), Number(0)))
		cnt = Ite(And(runs, test), cnt.Add(Number(1)), cnt)
	}
	return And(facts, Not(And(good, Le(cost, Number(budget)))))
}

// noisyMax are the obligations of report noisy max, by a coupling for each output o:
// the noise of item o is shifted by 1-dq, and the others' not at all.
func noisyMax() []obligation {
	real := func(name string) Term { return Var{name, Real}.Term() }
	integer := func(name string) Term { return Var{name, Int}.Term() }
	size, i, o, arg1, arg2 := integer("n"), integer("i"), integer("o"), integer("arg1"), integer("arg2")
	best1, best2, cost, q, dq, eta := real("best1"), real("best2"), real("cost"), real("q"), real("dq"), real("eta")
	invariant := func(i, arg1, arg2, best1, best2, cost Term) Formula {
		return And(
			Ge(i, Number(1)), Le(i, size), Lt(arg1, i), Lt(arg2, i),
			Implies(Le(i, o), And(Le(best2, best1.Add(Number(1))), Eq(cost, Number(0)))),
			Implies(And(Lt(o, i), Eq(arg1, o)), And(Eq(arg2, o), Ge(best2, best1.Add(Number(1))))),
			Le(cost, Number(2)), Ge(cost, Number(0)))
	}
	adjacent := And(Le(Number(-1), dq), Le(dq, Number(1)), Ge(size, Number(1)), Ge(o, Number(0)))
	shift := Ite(Eq(i, o), Number(1).Sub(dq), Number(0))
	x1, x2 := q.Add(eta), q.Add(dq).Add(eta).Add(shift)
	new1, new2 := Gt(x1, best1), Gt(x2, best2)
	next := invariant(i.Add(Number(1)), Ite(new1, i, arg1), Ite(new2, i, arg2), Ite(new1, x1, best1), Ite(new2, x2, best2), cost.Add(Abs(shift)))
	first := invariant(Number(1), Number(0), Number(0), x1.Subst(Substitution{Var{"i", Int}: Number(0)}), x2.Subst(Substitution{Var{"i", Int}: Number(0)}), Abs(shift).Subst(Substitution{Var{"i", Int}: Number(0)}))
	now := invariant(i, arg1, arg2, best1, best2, cost)
	return []obligation{
		{"init", And(adjacent, Not(first)), Refuted},
		{"step", And(now, adjacent, Lt(i, size), Not(next)), Refuted},
		{"exit", And(now, adjacent, Eq(i, size), Lt(o, size), Eq(arg1, o), Not(And(Eq(arg2, o), Le(cost, Number(2))))), Refuted},
	}
}

func oneMinus(dq Term) Term { return Number(1).Sub(dq) }
func two(Term) Term         { return Number(2) }

func allObligations() []obligation {
	var all []obligation
	add := func(family string, os ...obligation) {
		for _, o := range os {
			o.name = family + " " + o.name
			all = append(all, o)
		}
	}
	add("sparse vector, 1-dq:", sparseVector(oneMinus)...)
	add("sparse vector, 2:", sparseVector(two)...)
	add("noisy max:", noisyMax()...)
	for _, n := range []int{3, 5} {
		add("unrolled", obligation{fmt.Sprint(n, " of 1"), unrolled(n, 1, oneMinus, 2), Refuted})
		add("unrolled", obligation{fmt.Sprint(n, " of 2"), unrolled(n, 2, oneMinus, 4), Refuted})
		add("unrolled", obligation{fmt.Sprint(n, " of 2, too cheap"), unrolled(n, 2, oneMinus, 3), Satisfied})
		add("unrolled", obligation{fmt.Sprint(n, " of 1, no shift"), unrolled(n, 1, func(Term) Term { return Number(0) }, 3), Satisfied})
	}
	return all
}

func TestObligations(t *testing.T) {
	for _, o := range allObligations() {
		got, err := Unsat(t.Context(), o.f, Limits{})
		if err != nil || got.Verdict != o.want {
			t.Errorf("%s: got %v (%v), want %v", o.name, got, err, o.want)
		}
	}
}

func BenchmarkObligations(b *testing.B) {
	for _, o := range allObligations() {
		b.Run(o.name, func(b *testing.B) {
			steps := 0
			for b.Loop() {
				got, err := Unsat(b.Context(), o.f, Limits{})
				if err != nil || got.Verdict != o.want {
					b.Fatalf("got %v (%v), want %v", got, err, o.want)
				}
				steps = got.Steps
			}
			b.ReportMetric(float64(steps), "steps")
		})
	}
}
