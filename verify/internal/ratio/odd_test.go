package ratio

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// What no front end makes is not proved, and does not panic.
func TestOddFunctions(t *testing.T) {
	x := &program.Variable{Name: "x", Sort: program.Real, Input: true}
	q := &program.Variable{Name: "q", Sort: program.Real, Slice: true, Input: true}
	n := &program.Variable{Name: "n", Sort: program.Real}
	b := &program.Variable{Name: "b", Sort: program.Bool}
	i := &program.Variable{Name: "i", Sort: program.Int}
	ref := func(v *program.Variable) program.Expression { return program.Ref{Var: v} }
	half := program.Number{Value: big.NewRat(1, 2), Sort: program.Real}
	toss := program.Draw{To: b, Law: program.Bernoulli, Parameter: half}
	endless := &program.Loop{Cond: program.Truth(true), Name: "loop"}
	for name, body := range map[string][]program.Statement{
		"no arguments":          {toss, program.Assign{To: n, Value: program.Call{Func: "exp"}}, program.Return{Values: []program.Expression{ref(n), ref(x)}}},
		"unknown function":      {toss, program.Assign{To: n, Value: program.Call{Func: "?", Args: []program.Expression{ref(x)}}}, program.Return{Values: []program.Expression{ref(n)}}},
		"never set":             {toss, program.Return{Values: []program.Expression{ref(n)}}},
		"a slice as a number":   {toss, program.Return{Values: []program.Expression{program.Binary{Op: program.Add, X: ref(q), Y: ref(x)}}}},
		"endless":               {toss, endless, program.Return{Values: []program.Expression{ref(x)}}},
		"a negative length":     {toss, program.Make{To: q, Length: program.Number{Value: big.NewRat(-1, 1)}}, program.Return{Values: []program.Expression{ref(q), ref(x)}}},
		"no scores":             {program.Draw{To: i, Law: program.Choose, Parameter: half, Scores: n}, program.Return{Values: []program.Expression{ref(i)}}},
		"noise of no scale":     {program.Draw{To: n, Law: program.Laplace, Parameter: program.Number{Value: new(big.Rat)}}, program.Return{Values: []program.Expression{program.Binary{Op: program.Add, X: ref(x), Y: ref(n)}}}},
		"a probability of two":  {program.Draw{To: b, Law: program.Bernoulli, Parameter: program.Number{Value: big.NewRat(2, 1)}}, program.If{Cond: ref(b), Then: []program.Statement{program.Return{Values: []program.Expression{program.Binary{Op: program.Gt, X: ref(x), Y: half}}}}}},
		"a branch on a number":  {program.If{Cond: ref(x), Then: []program.Statement{toss}}, program.Return{Values: []program.Expression{ref(b)}}},
		"an index out of range": {toss, program.Return{Values: []program.Expression{program.Element{Slice: q, Index: program.Number{Value: big.NewRat(-7, 2)}}, ref(x)}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &program.Function{Name: "f", Inputs: []*program.Variable{x, q}, Body: body}
			one := program.Number{Value: big.NewRat(1, 1), Sort: program.Real}
			for _, delta := range []program.Expression{nil, half} {
				c := &claim.Claim{
					Adjacent: []claim.Adjacency{{Relation: claim.Scalar, Input: x, Low: program.Unary{Op: program.Sub, X: one}, High: one}},
					Cost:     &claim.Cost{Epsilon: one},
				}
				if delta != nil {
					c.Cost.Measure, c.Cost.Delta = claim.Approximate, delta
				}
				if o, err := Prove(context.Background(), f, c); !errors.Is(err, ErrUnknown) {
					t.Errorf("proved at %v, %v", o, err)
				}
			}
		})
	}
}

// A certificate with any part changed is not that of the claim.
func TestCorruptCertificates(t *testing.T) {
	f, c := read(t, programs[0].src)
	o, err := Prove(context.Background(), f, c)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Certificate){
		"kind":    func(c *Certificate) { c.Kind = "alignment" },
		"cost":    func(c *Certificate) { c.Cost = []string{"0"} },
		"no cost": func(c *Certificate) { c.Cost = nil },
		"step":    func(c *Certificate) { c.Steps = append([]Step{{1, "x"}}, c.Steps...) },
		"no step": func(c *Certificate) { c.Steps = nil },
	} {
		changed := o.Certificate
		change(&changed)
		if err := Check(f, c, changed); !errors.Is(err, ErrCertificate) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong, claimed := read(t, programs[1].src)
	if err := Check(wrong, claimed, o.Certificate); !errors.Is(err, ErrCertificate) {
		t.Errorf("of another claim: %v", err)
	}
}

// Small inputs of what only tosses coins are evaluated before couplings are searched for.
func TestFinite(t *testing.T) {
	for body, want := range map[string]bool{
		"return src.Bernoulli(0.5)":                       true,
		"return src.Uniform(3) > 1 && src.Bernoulli(0.5)": true,
		"return src.Bernoulli(0.5) && src.Laplace(1) > x": false,
		"return x > 0": false,
		"for src.Bernoulli(0.5) {\n}\nreturn src.Uniform(2) > 0": true,
	} {
		f, _ := read(t, `
//dp:adjacent |x| <= 1
//dp:cost 1
func f(x float64, src *noise.Source) bool {
	`+body+`
}`)
		if got := Finite(f); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}
