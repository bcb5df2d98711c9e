package linear

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/smt"
)

// A generator makes random formulas.
type generator struct {
	*rand.Rand
	ints, reals, bools int
}

func (g generator) variable() Term {
	if i := g.IntN(g.ints + g.reals); i < g.ints {
		return Var{fmt.Sprintf("i%d", i), Int}.Term()
	} else {
		return Var{fmt.Sprintf("r%d", i-g.ints), Real}.Term()
	}
}

func (g generator) term(depth int) Term {
	t := Number(int64(g.IntN(9) - 4))
	if g.IntN(8) == 0 {
		t = Fraction(int64(g.IntN(9)-4), int64(g.IntN(4)+1))
	}
	for range 1 + g.IntN(3) {
		u := g.variable()
		if depth > 0 && g.IntN(4) == 0 {
			u = Ite(g.formula(depth-1), g.term(depth-1), g.term(depth-1))
		}
		k := big.NewRat(int64(g.IntN(7)-3), 1)
		if g.IntN(8) == 0 {
			k = big.NewRat(int64(g.IntN(7)-3), int64(g.IntN(4)+1))
		}
		t = t.Add(u.Scale(k))
	}
	return t
}

func (g generator) formula(depth int) Formula {
	if depth <= 0 {
		if g.bools > 0 && g.IntN(5) == 0 {
			return Var{fmt.Sprintf("b%d", g.IntN(g.bools)), Bool}.Formula()
		}
		t, u := g.term(depth), g.term(depth)
		return []func(a, b Term) Formula{Le, Lt, Eq, Ne, Ge, Gt}[g.IntN(6)](t, u)
	}
	args := make([]Formula, 2+g.IntN(3))
	for i := range args {
		args[i] = g.formula(depth - 1 - g.IntN(2))
	}
	switch g.IntN(8) {
	case 0:
		return Not(And(args...))
	case 1:
		return Iff(args[0], args[1])
	case 2:
		return If(args[0], args[1], args[len(args)-1])
	case 3:
		return Implies(args[0], args[1])
	case 4, 5:
		return Or(args...)
	}
	return And(args...)
}

func (g generator) model(vars []Var) Model {
	m := Model{}
	for _, v := range vars {
		switch v.Sort {
		case Int:
			m[v] = big.NewRat(int64(g.IntN(13)-6), 1)
		case Real:
			m[v] = big.NewRat(int64(g.IntN(25)-12), int64(g.IntN(4)+1))
		case Bool:
			m[v] = big.NewRat(int64(g.IntN(2)), 1)
		}
	}
	return m
}

// Every answer is compared with those of z3 and cvc5.
func TestAnswersAreThoseOfSolvers(t *testing.T) {
	for _, solver := range []smt.Solver{smt.Z3, smt.CVC5} {
		t.Run(string(solver), func(t *testing.T) {
			if _, err := exec.LookPath(string(solver)); err != nil {
				t.Skipf("skip: missing tool %s", solver)
			}
			p, err := smt.Start(t.Context(), solver, smt.Options{Limit: 5 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			p.Command("(set-logic ALL)")
			count := map[Verdict]int{}
			for seed := range 300 {
				g := generator{Rand: rand.New(rand.NewPCG(uint64(seed), 1))}
				g.ints, g.reals, g.bools = g.IntN(4), 1+g.IntN(4), g.IntN(3)
				var parts []Formula
				for range 1 + g.IntN(8) {
					parts = append(parts, g.formula(g.IntN(4)))
				}
				f := And(parts...)
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
			if count[Refuted] < 50 || count[Satisfied] < 50 || count[Undecided] > 10 {
				t.Errorf("the formulas are one-sided or too hard: %v", count)
			}
		})
	}
}
