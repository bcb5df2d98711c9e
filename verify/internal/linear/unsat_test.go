package linear

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/smt"
)

// Every answer is compared with those of z3 and cvc5.
func TestAnswersAreThoseOfSolvers(t *testing.T) {
	for _, solver := range []smt.Solver{smt.Z3, smt.CVC5} {
		t.Run(string(solver), func(t *testing.T) {
			if _, err := exec.LookPath(string(solver)); err != nil {
				t.Skipf("skip: missing tool %s", solver)
			}
			p, err := smt.Start(t.Context(), solver, smt.Options{Limit: 300 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			p.Command("(set-logic ALL)")
			count := map[Verdict]int{}
			for seed := range 200 {
				f, _ := newGenerator(seed).conjunction()
				got, err := Unsat(t.Context(), f, Limits{})
				if err != nil {
					t.Fatalf("seed %d: %v\n%v", seed, err, f)
				}
				count[got.Verdict]++
				p.Push()
				declarations, err := Declare(Vars(f)...)
				if err != nil {
					t.Fatal(err)
				}
				p.Command(declarations)
				p.Assert(f.String())
				want, err := p.CheckSat(t.Context())
				if err != nil {
					t.Fatalf("seed %d: %v\n%v", seed, err, f)
				}
				p.Pop()
				if want != smt.Unknown && got.Verdict != Undecided && got.Verdict.String() != want.String() {
					t.Errorf("seed %d: got %v, %s says %v\n%v", seed, got.Verdict, solver, want, f)
				}
			}
			t.Log(count)
			if count[Refuted] < 30 || count[Satisfied] < 30 || count[Undecided] > 10 {
				t.Errorf("the formulas are one-sided or too hard: %v", count)
			}
		})
	}
}

// Without any solver: what is refuted is false at random points, near which the
// bounds of these formulas lie.
func TestWhatIsRefutedIsFalse(t *testing.T) {
	for seed := range 400 {
		g := newGenerator(seed)
		f, mean := g.conjunction()
		got, err := Unsat(t.Context(), f, Limits{})
		if err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, f)
		}
		if got.Verdict == Satisfied && !mean(got.Model) {
			t.Fatalf("seed %d: %v is no model of %v", seed, got.Model, f)
		}
		if got.Verdict == Refuted {
			vars := Vars(f)
			for range 100 {
				if m := g.model(vars); mean(m) {
					t.Fatalf("seed %d: %v is a model of %v", seed, m, f)
				}
			}
		}
	}
}

// Fourier-Motzkin elimination decides small conjunctions of bounds on reals.
func TestConjunctionsAreDecidedAsByElimination(t *testing.T) {
	count := map[Verdict]int{}
	for seed := range 500 {
		g := generator{Rand: rand.New(rand.NewPCG(uint64(seed), 2)), reals: 1 + seed%4}
		var rows []inequality
		var fs []Formula
		for range 2 + g.IntN(5) {
			r := inequality{make([]*big.Rat, g.reals), g.rational(3), g.IntN(3) == 0}
			var sum Term
			for i := range r.coefs {
				r.coefs[i] = g.rational(3)
				sum = sum.Add(Var{fmt.Sprintf("r%d", i), Real}.Term().Scale(r.coefs[i]))
			}
			rows = append(rows, r)
			if r.strict {
				fs = append(fs, Lt(sum, Constant(r.limit)))
			} else {
				fs = append(fs, Le(sum, Constant(r.limit)))
			}
		}
		want := Refuted
		if feasible(rows, g.reals) {
			want = Satisfied
		}
		got, err := Unsat(t.Context(), And(fs...), Limits{})
		if err != nil || got.Verdict != want {
			t.Fatalf("seed %d: got %v (%v), want %v\n%v", seed, got.Verdict, err, want, And(fs...))
		}
		count[want]++
	}
	if count[Refuted] < 100 || count[Satisfied] < 100 {
		t.Errorf("the conjunctions are one-sided: %v", count)
	}
}

// An inequality is coefs·x <= limit, or < if strict.
type inequality struct {
	coefs  []*big.Rat
	limit  *big.Rat
	strict bool
}

func feasible(rows []inequality, variables int) bool {
	for v := range variables {
		var next []inequality
		for _, r := range rows {
			if r.coefs[v].Sign() == 0 {
				next = append(next, r)
			}
			for _, s := range rows {
				if r.coefs[v].Sign() > 0 && s.coefs[v].Sign() < 0 {
					next = append(next, r.combine(s, v))
				}
			}
		}
		rows = next
	}
	return !slices.ContainsFunc(rows, func(r inequality) bool {
		return r.limit.Sign() < 0 || r.limit.Sign() == 0 && r.strict
	})
}

// combine adds multiples of both that cancel v.
func (r inequality) combine(s inequality, v int) inequality {
	a, b := new(big.Rat).Neg(s.coefs[v]), r.coefs[v]
	mix := func(x, y *big.Rat) *big.Rat {
		z := new(big.Rat).Mul(a, x)
		return z.Add(z, new(big.Rat).Mul(b, y))
	}
	out := inequality{limit: mix(r.limit, s.limit), strict: r.strict || s.strict}
	for i := range r.coefs {
		out.coefs = append(out.coefs, mix(r.coefs[i], s.coefs[i]))
	}
	return out
}

func TestIntegers(t *testing.T) {
	half := big.NewRat(1, 2)
	for _, c := range []struct {
		name string
		f    Formula
		want Verdict
	}{
		{"no integer lies between", And(Lt(Number(1), x.Term()), Lt(x.Term(), Number(2))), Refuted},
		{"a real does", And(Lt(Number(1), r.Term()), Lt(r.Term(), Number(2))), Satisfied},
		{"parity of one equation", Eq(x.Term().Add(x.Term()), y.Term().Add(y.Term()).Add(Number(1))), Refuted},
		{"parity of two equations", And(Eq(x.Term(), y.Term().Scale(big.NewRat(2, 1))), Eq(x.Term(), Var{"z", Int}.Term().Scale(big.NewRat(2, 1)).Add(Number(1)))), Refuted},
		{"an equation within a condition", And(Eq(x.Term(), Ite(Lt(x.Term(), Number(5)), Number(7), Number(8))), b.Formula()), Satisfied},
		{"branching", And(Le(Number(1), x.Term().Scale(big.NewRat(3, 1)).Sub(y.Term().Scale(big.NewRat(3, 1)))),
			Le(x.Term().Scale(big.NewRat(3, 1)).Sub(y.Term().Scale(big.NewRat(2, 1))), Number(2)), Ge(y.Term(), Number(0)), Le(y.Term(), Number(9))), Refuted},
		{"an integer at a real", And(Eq(x.Term(), r.Term()), Lt(Number(0), r.Term()), Lt(r.Term(), Number(1))), Refuted},
		{"an integer half a real", And(Eq(x.Term(), r.Term().Scale(half)), Lt(Number(0), r.Term()), Le(r.Term(), Number(2))), Satisfied},
		{"a strict bound next to an integer", And(Lt(x.Term(), r.Term()), Lt(r.Term(), x.Term().Add(Number(1))), Eq(x.Term(), Number(3))), Satisfied},
		{"a conditional of integers is one", And(Lt(Number(0), Ite(b.Formula(), x.Term(), y.Term())), Lt(Ite(b.Formula(), x.Term(), y.Term()), Number(1))), Refuted},
	} {
		got, err := Unsat(t.Context(), c.f, Limits{})
		if err != nil || got.Verdict != c.want {
			t.Errorf("%s: got %v (%v), want %v", c.name, got, err, c.want)
		}
	}
}

func TestNoFormulaIsNoProof(t *testing.T) {
	for _, f := range []Formula{{}, And(Formula{}, False()), And(x.Formula(), False()), And(Var{"v", Int}.Term().le0(), Var{"v", Real}.Term().le0())} {
		if got, err := Unsat(t.Context(), f, Limits{}); err == nil || got.Verdict != Undecided {
			t.Errorf("got %v for %v", got, f)
		}
	}
}

func (t Term) le0() Formula { return Le(t, Number(0)) }

func TestLimits(t *testing.T) {
	// Pigeons in holes, one real each: hard for clause learning.
	var fs []Formula
	for i := range 9 {
		hole := Var{fmt.Sprint("p", i), Int}.Term()
		fs = append(fs, Ge(hole, Number(1)), Le(hole, Number(8)))
		for j := range i {
			fs = append(fs, Ne(hole, Var{fmt.Sprint("p", j), Int}.Term()))
		}
	}
	got, err := Unsat(t.Context(), And(fs...), Limits{Conflicts: 50})
	if err != nil || got.Verdict != Undecided || got.Reason != "too many conflicts" {
		t.Errorf("got %v (%v)", got, err)
	}
	triple := x.Term().Sub(y.Term()).Scale(big.NewRat(3, 1))
	f := And(Le(triple, r.Term()), Ge(triple, r.Term()), Gt(r.Term(), Number(0)), Lt(r.Term(), Number(3)))
	got, err = Unsat(t.Context(), f, Limits{Branches: 20})
	if err != nil || got.Verdict != Undecided || got.Reason != "too many branches over integers" {
		t.Errorf("got %v (%v)", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err = Unsat(ctx, And(fs...), Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v (%v)", got, err)
	}
}

// Any text that parses is decided within limits, and never by a panic.
func FuzzUnsat(f *testing.F) {
	f.Add("(and b (< 0 (ite (< x y) (+ x r) (* 2 s))) (= (+ x y) (* 3 r)) (distinct x y 2) (xor b c (<= r s)))")
	f.Add("(let ((a (+ x (* 2 y)))) (and (<= 1 a 3) (= r (/ a 5)) (not (= s r)) (> s 9223372036854775807.5)))")
	for seed := range 20 {
		g := newGenerator(seed)
		g.ints, g.reals, g.bools = 2, 2, 2
		formula, _ := g.conjunction()
		f.Add(strings.NewReplacer("i0", "x", "i1", "y", "r0", "r", "r1", "s", "b0", "b", "b1", "c").Replace(formula.String()))
	}
	f.Fuzz(func(t *testing.T, text string) {
		formula, err := ParseFormula(text, x, y, r, s, b, c)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		yes, err := Unsat(ctx, formula, Limits{Conflicts: 300, Branches: 20})
		if err != nil && ctx.Err() == nil {
			t.Fatalf("%v\n%v", err, formula)
		}
		no, err := Unsat(ctx, Not(formula), Limits{Conflicts: 300, Branches: 20})
		if err != nil && ctx.Err() == nil {
			t.Fatalf("%v\n%v", err, formula)
		}
		if yes.Verdict == Refuted && no.Verdict == Refuted {
			t.Fatalf("neither true nor false: %v", formula)
		}
	})
}
