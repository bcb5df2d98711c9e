package linear

import (
	"math/big"
	"strings"
	"testing"
)

func TestTextOfSolversIsRead(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"(and b (<= x 3))", "(and b (<= x 3))"},
		{"(let ((a!1 (+ x 1)) (x 5)) (< a!1 x))", "(<= x 3)"},
		{"(let ((a (not b))) (let ((b a)) (= a b)))", "true"},
		{"(<= 0 x y 3)", "(and (<= (- x) 0) (<= (+ x (- y)) 0) (<= y 3))"},
		{"(=> b (< r (/ 1 3)) (> s (- 2.5)))", "(or (not b) (<= (- r) (- (/ 1.0 3.0))) (< (- s) (/ 5.0 2.0)))"},
		{"(distinct x y 3)", "(and (not (= (+ x (- y)) 0)) (not (= x 3)) (not (= y 3)))"},
		{"(<= (+ r (* (- 2.0) (to_real x)) (- s)) 0.0)", "(<= (+ r (- s) (* (- 2.0) (to_real x))) 0.0)"},
		{"(ite b (< x 0) c)", "(and (or (not b) (<= x (- 1))) (or b c))"},
		{"(= (ite b x 1) (- x y 1))", "(= (+ x (- y) (- (ite b x 1))) 1)"},
		{"(xor b c true)", "(= b c)"},
		{"(>= (/ x 2) 1)", "(<= (- x) (- 2))"},
		{"; comment\n(= |b| c)", "(= b c)"},
		{"(>= 1.50 r)", "(<= r (/ 3.0 2.0))"},
	} {
		f, err := ParseFormula(c.text, x, y, r, s, b, Var{"c", Bool})
		if err != nil || f.String() != c.want {
			t.Errorf("%s: got %v (%v), want %s", c.text, f, err, c.want)
		}
	}
}

func TestWhatIsNotLinearArithmeticIsRefused(t *testing.T) {
	deep := strings.Repeat("(not ", maxDepth+1) + "b" + strings.Repeat(")", maxDepth+1)
	squares := "(let ((x (* 3 3))) " + strings.Repeat("(let ((x (* x x))) ", 40) + "(= x 1)" + strings.Repeat(")", 41)
	ites := "(let ((x (ite b x y))) " + strings.Repeat("(let ((x (ite (< x 1) x (+ x 1)))) ", 40) + "(= x 1)" + strings.Repeat(")", 41)
	for _, c := range []struct{ text, want string }{
		{"", "0 of them"},
		{"b b", "2 of them"},
		{"(and b", "not closed"},
		{"and b)", "unexpected )"},
		{"|b", "not closed"},
		{"(and b [)", "unexpected"},
		{"x", "is a number"},
		{"(exists ((z Int)) (< z x))", "exists is not supported"},
		{"(< (* x y) 1)", "not linear"},
		{"(< (/ 1 x) 1)", "division"},
		{"(< (/ x 0) 1)", "division"},
		{"(< (to_int r) 1)", "not supported"},
		{"(< (mod x 2) 1)", "not supported"},
		{"(< (root-obj (+ (^ x 2) (- 2)) 1) 1)", "not supported"},
		{"(= b x)", "is no number"},
		{"(and x b)", "is a number"},
		{"(ite x b b)", "condition of ite"},
		{"(not b b)", "not of 2 arguments"},
		{"()", "no application"},
		{"(not)", "no application"},
		{"((not b) b)", "not supported"},
		{"(< x 1e5)", "neither a name nor a number"},
		{"(< x 0x10)", "neither a name nor a number"},
		{"(< x \"1\")", "neither a name nor a number"},
		{"(< x z)", "z is not defined"},
		{"(|not| b)", "is not defined"},
		{"(let ((a b) (a b)) a)", "bound twice"},
		{"(let (a b) a)", "no binding"},
		{"(let b)", "BINDINGS"},
		{deep, "nested deeper"},
		{squares, "bits"},
		{ites, "written out"},
	} {
		f, err := ParseFormula(c.text, x, y, r, b)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: got %v (%v), want %s", c.text, f, err, c.want)
		}
	}
}

// As z3 4.8.12 prints them.
func TestValuesAreRead(t *testing.T) {
	m, err := ParseValues("((r (- (/ 17.0 24.0)))\n (|x| 4) (b false))", r, x, b)
	if err != nil || m[r].Cmp(big.NewRat(-17, 24)) != 0 || m[x].Cmp(big.NewRat(4, 1)) != 0 || m[b].Sign() != 0 {
		t.Errorf("got %v (%v)", m, err)
	}
	for _, text := range []string{"", "sat", "(error \"line 1\")", "((y 1))", "((x 1) (y 2))", "((x (- y)))"} {
		if m, err := ParseValues(text, x); err == nil {
			t.Errorf("%s is read as %v", text, m)
		}
	}
	if m, err := ParseValues("((x 1.5))", x); err == nil {
		t.Errorf("an integer is %v", m)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("(let ((a!1 (<= (+ x (* (- 1.0) (to_real y))) (/ 1 3)))) (and a!1 (not b) (=> b (= x (ite b y 2)))))")
	f.Add("(xor (distinct x 1 2) true)")
	f.Fuzz(func(t *testing.T, text string) {
		vars := []Var{x, y, r, s, b, c}
		g, err := ParseFormula(text, vars...)
		if err != nil {
			return
		}
		again, err := ParseFormula(g.String(), vars...)
		if err != nil || again.String() != g.String() {
			t.Fatalf("%s is printed as %s and read as %s (%v)", text, g, again, err)
		}
	})
}
