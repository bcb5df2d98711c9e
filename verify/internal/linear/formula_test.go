package linear

import (
	"math/big"
	"testing"
)

// Terms and formulas are simplified, tightened, substituted, printed and read
// without a change of meaning.
func TestMeaningIsKept(t *testing.T) {
	for seed := range 200 {
		g := newGenerator(seed)
		f, mean := g.conjunction()
		u, of := g.term(2)
		vars := Vars(f, u)
		again, err := ParseFormula(f.String(), vars...)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		s, replaced := g.substitution(vars)
		for range 10 {
			m := g.model(vars)
			want := mean(m)
			if got, err := f.Eval(m); err != nil || got != want {
				t.Fatalf("seed %d: got %v (%v), want %v at %v of\n%v", seed, got, err, want, m, f)
			}
			if got, err := again.Eval(m); err != nil || got != want {
				t.Fatalf("seed %d: got %v (%v), want %v at %v of\n%v\nread from\n%v", seed, got, err, want, m, again, f)
			}
			if got, err := Not(f).Eval(m); err != nil || got == want {
				t.Fatalf("seed %d: got %v (%v), want %v at %v of the negation of\n%v", seed, got, err, !want, m, f)
			}
			if got, err := u.eval(m); err != nil || got.Cmp(of(m)) != 0 {
				t.Fatalf("seed %d: got %v (%v), want %v at %v of\n%v", seed, got, err, of(m), m, u)
			}
			if got, err := f.Subst(s).Eval(m); err != nil || got != mean(replaced(m)) {
				t.Fatalf("seed %d: got %v (%v), want %v at %v of\n%v\nwith %v", seed, got, err, mean(replaced(m)), m, f, s)
			}
			if got, err := u.Subst(s).eval(m); err != nil || got.Cmp(of(replaced(m))) != 0 {
				t.Fatalf("seed %d: got %v (%v), want %v at %v of\n%v\nwith %v", seed, got, err, of(replaced(m)), m, u, s)
			}
		}
	}
}

// substitution replaces some variables by others of the kind, and says what the
// model of a formula is after it.
func (g generator) substitution(vars []Var) (Substitution, func(Model) Model) {
	s := Substitution{}
	means := map[Var]func(Model) *big.Rat{}
	for _, v := range vars {
		if g.IntN(2) == 0 {
			continue
		}
		switch v.Sort {
		case Real:
			t, mean := g.term(1)
			s[v], means[v] = t, mean
		case Int:
			other := vars[g.IntN(len(vars))]
			if other.Sort == Int {
				s[v] = Abs(other.Term()).Add(Number(2))
				means[v] = func(m Model) *big.Rat {
					r := new(big.Rat).Abs(valueOf(m, other))
					return r.Add(r, big.NewRat(2, 1))
				}
			}
		case Bool:
			f, mean := g.formula(1)
			s[v] = f
			means[v] = func(m Model) *big.Rat {
				if mean(m) {
					return big.NewRat(1, 1)
				}
				return new(big.Rat)
			}
		}
	}
	return s, func(m Model) Model {
		out := Model{}
		for v, r := range m {
			out[v] = r
		}
		for v, mean := range means {
			out[v] = mean(m)
		}
		return out
	}
}

func TestIllSortedModelsAreRefused(t *testing.T) {
	for _, m := range []Model{{x: big.NewRat(1, 2)}, {b: big.NewRat(2, 1)}} {
		if got, err := And(Le(x.Term(), Number(3)), b.Formula()).Eval(m); err == nil && got {
			t.Errorf("%v is a model", m)
		}
	}
}
