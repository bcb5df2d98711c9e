package linear

import (
	"math/big"
	"strings"
	"testing"
)

var (
	x = Var{"x", Int}
	y = Var{"y", Int}
	r = Var{"r", Real}
	s = Var{"s", Real}
	b = Var{"b", Bool}
	c = Var{"c", Bool}
)

func TestFormulasPrintAsSMTLIB(t *testing.T) {
	for _, c := range []struct {
		is   Formula
		want string
	}{
		{Le(x.Term(), y.Term()), "(<= (+ x (- y)) 0)"},
		{Lt(x.Term(), y.Term()), "(<= (+ x (- y)) (- 1))"},
		{Lt(x.Term().Scale(big.NewRat(4, 1)), Number(7)), "(<= x 1)"},
		{Gt(x.Term().Scale(big.NewRat(1, 2)), fraction(1, 3)), "(<= (- x) (- 1))"},
		{Eq(x.Term().Scale(big.NewRat(2, 1)), Number(7)), "false"},
		{Eq(Number(2), x.Term()), "(= x 2)"},
		{Ne(x.Term(), Number(2)), "(not (= x 2))"},
		{Lt(r.Term(), fraction(-1, 3)), "(< r (- (/ 1.0 3.0)))"},
		{Le(r.Term(), x.Term().Scale(big.NewRat(3, 2))), "(<= (+ (* 2.0 r) (* (- 3.0) (to_real x))) 0.0)"},
		{Not(Le(r.Term(), s.Term())), "(< (+ (- r) s) 0.0)"},
		{Le(Abs(x.Term()), Number(1)), "(<= (ite (<= (- x) 0) x (- x)) 1)"},
		{Le(Ite(b.Formula(), x.Term(), r.Term()), Number(1)), "(<= (ite b (to_real x) r) 1.0)"},
		{Le(Ite(b.Formula(), x.Term(), Number(2)).Add(r.Term()), Number(1)), "(<= (+ r (ite b (to_real x) 2.0)) 1.0)"},
		{Iff(b.Formula(), Not(c2())), "(= b (not c))"},
		{And(b.Formula(), Or(b.Formula(), True()), c2(), b.Formula()), "(and b c)"},
		{And(b.Formula(), Not(b.Formula())), "false"},
		{Or(Le(r.Term(), Number(0)), Gt(r.Term(), Number(0))), "true"},
		{Or(Le(x.Term(), Number(0)), Ge(x.Term(), Number(1))), "true"},
		{Var{"a b", Bool}.Formula(), "|a b|"},
		{Var{"", Bool}.Formula(), "||"},
		{Var{"not", Bool}.Formula(), "|not|"},
		{Var{"1x", Bool}.Formula(), "|1x|"},
		{Var{"x!0", Bool}.Formula(), "x!0"},
		{If(b.Formula(), c2(), Not(c2())), "(and (or (not b) c) (or b (not c)))"},
	} {
		if got := c.is.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func c2() Formula { return c.Formula() }

func TestWhatMakesNoSenseCarriesItsError(t *testing.T) {
	for _, c := range []struct {
		is   Expr
		want string
	}{
		{Formula{}, "left out"},
		{And(False(), Formula{}), "left out"},
		{Not(Formula{}), "left out"},
		{Iff(False(), Formula{}), "left out"},
		{Le(b.Term(), Number(0)), "no number"},
		{x.Formula(), "no truth value"},
		{fraction(1, 0), "division by 0"},
		{x.Term().Mul(y.Term()), "not linear"},
		{Ite(x.Formula(), Number(1), Number(2)).Add(x.Term()), "no truth value"},
		{Lt(x.Term(), Number(1)).Subst(Substitution{x: r.Term()}), "cannot replace x of sort Int"},
		{Lt(x.Term(), Number(1)).Subst(Substitution{x: y.Term().Scale(big.NewRat(1, 2))}), "cannot replace x of sort Int"},
		{b.Formula().Subst(Substitution{b: x.Term()}), "cannot replace b of sort Bool"},
		{Var{"a|b", Bool}.Formula(), "no SMT-LIB symbol"},
	} {
		err := c.is.Err()
		if err == nil {
			_, err = c.is.SMT(Bool)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(c.is.String(), c.want) {
			t.Errorf("got %v (%v), want %s", err, c.is, c.want)
		}
	}
}

func TestScript(t *testing.T) {
	got, err := Script(And(Le(x.Term(), r.Term()), b.Formula()))
	want := "(set-logic QF_LIRA)\n(declare-const b Bool)\n(declare-const r Real)\n(declare-const x Int)\n(assert (<= (+ (- r) (to_real x)) 0.0))\n(assert b)\n(check-sat)\n"
	if err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}
