package prove

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// load are the functions with claims of a folder of verify/testdata, by name.
func load(t testing.TB, folder string) map[string]*source.Unit {
	t.Helper()
	packages, err := source.Load(t.Context(), "../../testdata", folder)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*source.Unit{}
	for _, p := range packages {
		for _, u := range p.Units {
			all[u.Name] = u
		}
	}
	return all
}

// The theorem by example: a run of the function on inputs that are c^d times those of
// a run in units makes the same decisions and returns the same times a power of c.
func TestScalingKeepsRuns(t *testing.T) {
	c := big.NewRat(3, 2)
	power := func(x *big.Rat, degree int) *big.Rat {
		y := new(big.Rat).Set(x)
		for ; degree > 0; degree-- {
			y.Mul(y, c)
		}
		for ; degree < 0; degree++ {
			y.Quo(y, c)
		}
		return y
	}
	for name, u := range load(t, "./scaled") {
		in, err := divide(t.Context(), u.Function, u.Claim)
		if err != nil {
			t.Fatal(err)
		}
		switch name {
		case "AboveThresholdInt", "NoisyMaxGeometric", "Parity":
			continue // c times a whole number is whole for whole c alone
		case "Assigned":
			continue // it has a scale that changes
		}
		if len(in.units) != 1 || in.partial() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			k := in.units[0]
			scaled, b, err := prepare(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			as := unscaled(u.Function, u.Claim)
			plain, own, err := prepare(t.Context(), as)
			if err != nil {
				t.Fatal(err)
			}
			mk := newMaker(scaled, in.c, b)
			runs := 0
			for range 200 {
				one := mk.make(false, false)
				if one == nil {
					continue
				}
				var drawn []*p.Variable
				sample := mk.sampler(one)
				one.more = func(d *p.Draw) *big.Rat { drawn = append(drawn, d.To); return sample(d) }
				m := newMachine(scaled, in.c, b, nil, one)
				m.blind, m.watched = true, true
				if m.run(); m.err != nil {
					continue
				}
				runs++
				two := &test{scalars: map[*p.Variable]pair{}, slices: map[*p.Variable][]pair{}, outcome: one.outcome}
				for v, x := range one.scalars {
					d := k.degrees[v]
					two.scalars[v] = pair{power(x.value, d), power(x.diff, d)}
				}
				two.scalars[k.unit] = pair{c, new(big.Rat)}
				for v, xs := range one.slices {
					for _, x := range xs {
						two.slices[v] = append(two.slices[v], pair{power(x.value, k.degrees[v]), power(x.diff, k.degrees[v])})
					}
				}
				for i, x := range one.samples {
					two.samples = append(two.samples, power(x, k.degrees[drawn[i]]))
				}
				n := newMachine(plain, u.Claim, own, nil, two)
				n.blind, n.watched = true, true
				n.run()
				if n.err != nil || two.next != len(two.samples) || len(m.result) != len(n.result) || len(m.visits) != len(n.visits) {
					t.Fatalf("another run: %v, %d of %d samples", n.err, two.next, len(two.samples))
				}
				for i := range m.result {
					x, _ := m.result[i].IsConstant()
					y, _ := n.result[i].IsConstant()
					if y.Cmp(x) != 0 && y.Cmp(power(x, 1)) != 0 {
						t.Fatalf("result %v in units, %v", x, y)
					}
				}
			}
			if runs < 20 {
				t.Fatalf("%d runs", runs)
			}
		})
	}
}

// What has no degree is not put in units, and says why.
func TestNoUnits(t *testing.T) {
	all := load(t, "./scaled")
	traps := load(t, "../internal/prove/testdata/traps")
	for name, want := range map[string]string{
		"NoUnit":     "degree",
		"Square":     "degree",
		"Halves":     "is rounded",
		"HalvesReal": "is rounded",
		"Squares":    "degree",
		"CostsUnit":  "degree",
		"Less":       "a constant",
		"Scores":     "degree",
	} {
		u := all[name]
		if _, err := scale(u.Function, u.Claim, units(u.Claim)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{"Rounded": "degree", "Steps": "degree"} {
		u := traps[name]
		if _, err := scale(u.Function, u.Claim, units(u.Claim)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	u := traps["Signed"]
	s, err := scale(u.Function, u.Claim, units(u.Claim))
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := s.justified(u.Function, u.Claim).hold(t.Context()); ok || err != nil {
		t.Errorf("Signed: c is positive: %v", err)
	}
}

// A certificate in units is believed in nothing either.
func TestCorruptedUnits(t *testing.T) {
	all := load(t, "./scaled")
	u := all["AboveThresholdInt"]
	right := func() *Certificate {
		return newCertificate(u.Function, u.Claim, []string{"c"}, []Orientation{{
			Direction:  "forward",
			Alignment:  []Shift{{0, "", "c"}, {1, "", "cond((x + discreteLaplace2) >= t, c - diff(x), 0)"}},
			Invariants: []Invariant{{0, "(<= cost 2.0)"}},
		}})
	}
	if err := Check(t.Context(), u.Function, u.Claim, right()); err != nil {
		t.Fatal(err)
	}
	for name, corrupt := range map[string]func(c *Certificate){
		"no units":           func(c *Certificate) { c.Units = nil },
		"a unit twice":       func(c *Certificate) { c.Units = []string{"c", "c"} },
		"another input":      func(c *Certificate) { c.Units = []string{"t"} },
		"what is private":    func(c *Certificate) { c.Units = []string{"q"} },
		"no input":           func(c *Certificate) { c.Units = []string{"C"} },
		"eps too":            func(c *Certificate) { c.Units = []string{"c", "eps"} },
		"1 for c":            func(c *Certificate) { c.Orientations[0].Alignment[0].Expr = "1" },
		"c squared":          func(c *Certificate) { c.Orientations[0].Alignment[0].Expr = "c * c" },
		"half of c":          func(c *Certificate) { c.Orientations[0].Alignment[0].Expr = "c / 2" },
		"half of c, times":   func(c *Certificate) { c.Orientations[0].Alignment[0].Expr = "1/2 * c" },
		"twice c":            func(c *Certificate) { c.Orientations[0].Alignment[0].Expr = "2 * c" },
		"a mixed condition":  func(c *Certificate) { c.Orientations[0].Alignment[0].Expr = "cond(t > 7, c, c)" },
		"cost of c":          func(c *Certificate) { c.Orientations[0].Invariants[0].Formula = "(<= cost (* 2.0 (to_real c)))" },
		"a unit as a number": func(c *Certificate) { c.Orientations[0].Alignment[0].Expr = "c - c" },
	} {
		cert := right()
		corrupt(cert)
		if err := Check(t.Context(), u.Function, u.Claim, cert); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, name := range []string{"NoUnit", "Square", "Double"} {
		wrong := all[name]
		cert := right()
		cert.Program = Hash(wrong.Function, wrong.Claim)
		for i, x := range cert.Orientations[0].Alignment {
			cert.Orientations[0].Alignment[i].Expr = strings.ReplaceAll(x.Expr, "discreteLaplace", "laplace")
		}
		if err := Check(t.Context(), wrong.Function, wrong.Claim, cert); err == nil {
			t.Errorf("%s is proved by the certificate of AboveThresholdInt", name)
		}
	}
}

// The parity of x + 2k shows whatever k is: that k would have to move by half is seen,
// with numbers for units and without.
func TestWholeShifts(t *testing.T) {
	u := load(t, "./scaled")["Parity"]
	cert := newCertificate(u.Function, u.Claim, []string{"c"}, []Orientation{{
		Direction: "forward", Alignment: []Shift{{0, "", "-1/2 * diff(x)"}},
	}})
	if err := Check(t.Context(), u.Function, u.Claim, cert); !errors.Is(err, ErrCertificate) || !strings.Contains(err.Error(), "whole") {
		t.Error(err)
	}
	in, err := named(u.Function, u.Claim, []string{"c"})
	if err != nil {
		t.Fatal(err)
	}
	// Of reals it is a proof, so that nothing but this stands in its way.
	s, b, err := prepare(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	x, err := parseExpression("-1/2 * diff(x)", variables(s.f, nil))
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(s, in.c, b, map[*p.Draw]p.Expression{s.draws[0]: x}, nil)
	m.run()
	for _, o := range m.obligations {
		if r, err := linear.Unsat(context.Background(), m.refutation(o, nil), linear.Limits{}); err != nil || r.Verdict != linear.Refuted {
			t.Errorf("%s: %v", m.describe(o), err)
		}
	}
}
