package ratio

import (
	"context"
	"math"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// wants reads what comments say of functions: // want: proved.
func wants(t *testing.T, u *source.Unit) string {
	t.Helper()
	m := regexp.MustCompile(`want: ([a-z-]+)`).FindStringSubmatch(u.Decl.Doc.Text())
	if m == nil {
		t.Fatalf("%s has no want", u.Name)
	}
	return m[1]
}

func units(t *testing.T, patterns ...string) []*source.Unit {
	t.Helper()
	read, err := source.Load(context.Background(), "../../testdata", patterns...)
	if err != nil {
		t.Fatal(err)
	}
	var all []*source.Unit
	for _, p := range read {
		all = append(all, p.Units...)
	}
	return all
}

// lawsOf are those of a function's draws.
func lawsOf(f *program.Function) map[program.Law]bool {
	set := map[program.Law]bool{}
	program.Each(own(f.Body, map[string]*program.Loop{}), func(s program.Statement) {
		if d, ok := s.(*program.Draw); ok {
			set[d.Law] = true
		}
	})
	return set
}

// Programs with coins, choices or a delta that are wrong are never proved; those of
// package delta that are right always.
func TestVerdicts(t *testing.T) {
	proved := 0
	for _, u := range units(t, "./right", "./wrong", "./more", "./lyu", "./fresh", "./delta", "../internal/ratio/testdata/apart") {
		if u.Function == nil || u.Claim.Cost == nil {
			continue
		}
		o, err := Prove(context.Background(), u.Function, u.Claim)
		want := wants(t, u)
		switch {
		case err == nil && want == "refuted":
			t.Errorf("%s is wrong, and proved at %s", u.Name, o.Least)
		case err == nil:
			proved++
			if err := Check(u.Function, u.Claim, o.Certificate); err != nil {
				t.Errorf("%s: %v", u.Name, err)
			}
		case want == "proved" && strings.HasSuffix(u.Package.Path(), "/delta"):
			t.Errorf("%s: %v", u.Name, err)
		}
	}
	if proved < 8 {
		t.Errorf("%d functions are proved", proved)
	}
}

// What is proved with a delta is true of small instances: what exceeds e^eps times the
// neighbour's probabilities adds up to at most delta.
func TestDeltasAreTrue(t *testing.T) {
	wanted := map[string]string{}
	for _, u := range units(t, "./delta") {
		wanted[u.Name] = wants(t, u)
	}
	for _, u := range units(t, "./delta") {
		laws := lawsOf(u.Function)
		if u.Claim.Cost.Measure != claim.Approximate {
			continue
		}
		slack := 1.0
		if laws[program.Laplace] || laws[program.Gaussian] {
			slack = 1.3 // the grid's tails are a little heavier
		}
		t.Run(u.Name, func(t *testing.T) {
			broken := false
			rapid.Check(t, func(t *rapid.T) {
				first, second := neighbours(t, u.Function, u.Claim)
				for _, s := range []store{first, second} {
					for _, r := range u.Claim.Requires {
						if (&plain{vars: s}).eval(r) == 0 {
							return
						}
					}
				}
				// As many draws as are followed quickly.
				draws := len(first[u.Function.Inputs[0]])
				if u.Name == "ProposeTestRelease" || u.Name == "GaussianSums" || u.Name == "GaussianTwice" || strings.HasPrefix(u.Name, "EitherAbove") {
					draws = 2
				}
				if draws > 2 || draws == 2 && !narrow(first, u.Function) {
					return
				}
				public := &plain{vars: first}
				epsilon, delta := public.eval(u.Claim.Cost.Epsilon), public.eval(u.Claim.Cost.Delta)
				p, q := brute(u.Function, first), brute(u.Function, second)
				for _, pair := range [][2]map[string]float64{{p, q}, {q, p}} {
					excess := 0.0
					for o, x := range pair[0] {
						excess += max(0, x-math.Exp(epsilon)*pair[1][o])
					}
					if excess > slack*delta*(1+1e-9)+1e-7 {
						broken = true
						if wanted[u.Name] == "proved" {
							t.Fatalf("%g is above %g, at %g", excess, delta, epsilon)
						}
					}
				}
			})
			if wanted[u.Name] == "refuted" && !broken {
				t.Logf("no small instance refutes it")
			}
		})
	}
}

// narrow reports that noise is narrow, so that several draws can be followed.
func narrow(s store, f *program.Function) bool {
	eps := variableNamed(f, "eps")
	return eps != nil && s[eps][0] >= 2
}
