package plan

import (
	"encoding/json"
	"errors"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
	"pgregory.net/rapid"
)

// drawEvent draws a valid event of any kind, nested at most depth deep.
func drawEvent(t *rapid.T, depth int) privacy.Event {
	positive := func(name string) *big.Rat {
		return big.NewRat(rapid.Int64Range(1, 1e15).Draw(t, name), rapid.Int64Range(1, 1e12).Draw(t, name+" over"))
	}
	below1 := func(name string) *big.Rat {
		den := rapid.Int64Range(2, 1e12).Draw(t, name+" over")
		return big.NewRat(rapid.Int64Range(1, den-1).Draw(t, name), den)
	}
	whole := func(name string) int64 { return rapid.Int64Range(2, privacy.MaxCount).Draw(t, name) }
	epsilon := func() privacy.Epsilon {
		e, err := privacy.NewEpsilon(big.NewRat(rapid.Int64Range(1, 1e6).Draw(t, "eps"), rapid.Int64Range(1, 1e12).Draw(t, "eps over")))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	delta := func() privacy.Delta {
		d, err := privacy.NewDelta(below1("delta"))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	inner := func() privacy.Event { return drawEvent(t, depth-1) }
	events := func() []privacy.Event {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) privacy.Event { return drawEvent(t, depth-1) }), 1, 4).Draw(t, "events")
	}
	kinds := []func() privacy.Event{
		func() privacy.Event {
			return privacy.Laplace{Scale: positive("b"), Sensitivity: positive("sensitivity")}
		},
		func() privacy.Event {
			return privacy.DiscreteLaplace{Scale: positive("b"), Sensitivity: positive("sensitivity")}
		},
		func() privacy.Event {
			return privacy.Gaussian{Variance: positive("variance"), SensitivitySquared: positive("squared sensitivity")}
		},
		func() privacy.Event {
			l1 := positive("l1")
			return privacy.Skellam{Variance: positive("variance"), SensitivitySquared: new(big.Rat).Mul(new(big.Rat).Mul(l1, l1), below1("share")), L1: l1}
		},
		func() privacy.Event {
			return privacy.DiscreteGaussian{Variance: positive("variance"), SensitivitySquared: positive("squared sensitivity")}
		},
		func() privacy.Event {
			return privacy.Tree{Sigma: positive("sigma"), Leaves: whole("leaves"), Sensitivity: positive("sensitivity")}
		},
		func() privacy.Event { return privacy.Pure{Epsilon: epsilon()} },
		func() privacy.Event { return privacy.Approx{Epsilon: epsilon(), Delta: delta()} },
		func() privacy.Event { return privacy.Approx{Delta: delta()} },
		func() privacy.Event { return privacy.Selection{Epsilon: epsilon(), Delta: delta()} },
		func() privacy.Event { return privacy.Exponential{Epsilon: epsilon()} },
		func() privacy.Event { return privacy.PermuteAndFlip{Epsilon: epsilon()} },
		func() privacy.Event { return privacy.NoisyMax{Epsilon: epsilon()} },
		func() privacy.Event { return privacy.SparseVector{Epsilon: epsilon()} },
		func() privacy.Event { return privacy.RandomizedResponse{P: below1("p"), K: int(whole("k"))} },
		func() privacy.Event {
			rho, err := privacy.NewRho(positive("rho"))
			if err != nil {
				return privacy.GDP{Mu: big.NewRat(1, 1)}
			}
			return privacy.ZCDP{Rho: rho}
		},
		func() privacy.Event { return privacy.GDP{Mu: positive("mu")} },
		func() privacy.Event {
			var e privacy.RDP
			order := big.NewRat(1, 1)
			for range rapid.IntRange(1, 5).Draw(t, "points") {
				order = new(big.Rat).Add(order, positive("order"))
				e.Orders, e.Eps = append(e.Orders, order), append(e.Eps, positive("value"))
			}
			return e
		},
		func() privacy.Event {
			p, q := below1("p"), below1("q")
			if p.Cmp(q) == 0 {
				q = new(big.Rat).Mul(q, big.NewRat(1, 2))
			}
			rest := func(r *big.Rat) *big.Rat { return new(big.Rat).Sub(big.NewRat(1, 1), r) }
			return privacy.Pair{P: []*big.Rat{p, rest(p), new(big.Rat)}, Q: []*big.Rat{new(big.Rat), rest(q), q}}
		},
		func() privacy.Event { return privacy.Poisson{Rate: below1("rate"), Event: inner()} },
		func() privacy.Event {
			n := whole("n")
			return privacy.WithoutReplacement{M: rapid.Int64Range(1, n).Draw(t, "m"), N: n, Event: inner()}
		},
		func() privacy.Event { return privacy.WithReplacement{M: whole("m"), N: whole("n"), Event: inner()} },
		func() privacy.Event {
			return privacy.RepeatAndSelect{Mean: new(big.Rat).Add(below1("runs"), big.NewRat(1, 1)), Shape: big.NewRat(whole("shape")%100+1, 7), Event: inner()}
		},
		func() privacy.Event { return privacy.Shuffled{N: whole("n"), Event: inner()} },
		func() privacy.Event { return privacy.Repeat{Count: int(whole("count")), Event: inner()} },
		func() privacy.Event {
			return privacy.Under{Neighbours: rapid.SampledFrom([]privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne, privacy.ReplaceSpecial}).Draw(t, "relation"), Event: inner()}
		},
		func() privacy.Event { return privacy.Parallel{Events: events()} },
		func() privacy.Event { return privacy.Sum{Events: events()} },
	}
	const leaves = 19 // of kinds
	if depth == 0 {
		kinds = kinds[:leaves]
	}
	return rapid.SampledFrom(kinds).Draw(t, "kind")()
}

// Every event reads back from its text and its JSON as itself.
func TestEventsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t, 4)
		if err := e.Validate(); err != nil {
			t.Fatalf("%v: %v", e, err)
		}
		readsBack(t, e)
	})
}

func readsBack(t rapid.TB, e privacy.Event) {
	t.Helper()
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatalf("%v: %v", e, err)
	}
	back, err := UnmarshalEvent(data)
	if err != nil {
		t.Fatalf("%v is written %s: %v", e, data, err)
	}
	if again, err := json.Marshal(back); err != nil || string(again) != string(data) || back.String() != e.String() {
		t.Fatalf("%v is written %s, read back as %v, written %s (%v)", e, data, back, again, err)
	}
	p, err := Parse(e.String())
	if err != nil {
		t.Fatalf("%v: %v", e, err)
	}
	// The text does not tell a sum of one from that one.
	if back, err = p.Event(); err != nil || back.String() != e.String() {
		t.Fatalf("%v reads back as %v, %v", e, back, err)
	}
	if p, err = Parse(p.String()); err != nil {
		t.Fatalf("%v is printed as %v: %v", e, p, err)
	}
	if back, err = p.Event(); err != nil || back.String() != e.String() {
		t.Fatalf("%v is printed as %v, read back as %v, %v", e, p, back, err)
	}
}

// A plan may be read from anything without harm, and what it reads as can be
// written and read again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"14063 * poisson(256/60000, gaussian(1.1))", "ceil(60*60000/256) * (pure(0.1) + zcdp(1/8))", "?*pure(0.1)", "gaussian(2*?)",
		"rdp(2: 0.5, 4: 1)", "pair(0.5: 0.25, 1/2: 3/4)", `rdp("f")`, `pair("`, "pair(?: 1)", "parallel(laplace(1), tree(sqrt(2), 8))", "randomized_response(exp(1)/(1+exp(1)), k=2)", "pure(-ln(1/?))",
		"shuffled(1e6, randomized_response(0.75))", "without_replacement(m=10, n=100, event=approx(1, 1e-6))", `{"sum":[{"pure":{"eps":"?"}}]}`,
		"2*3*pure(1)", "((pure(1)))", "pure(1) + ", "pure(1e999*1e999)", "gausian(1)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Parse(s)
		if err != nil {
			checkPlace(t, s, err)
			return
		}
		back, err := Parse(p.String())
		if err != nil || back.String() != p.String() || back.Parameter().Name != p.Parameter().Name {
			t.Fatalf("%q is printed as %v, read back as %v, %v", s, p, back, err)
		}
		if !p.Unknown() {
			e, err := p.Event()
			if err != nil {
				t.Fatal(err)
			}
			readsBack(t, e)
			return
		}
		for _, x := range []*big.Rat{big.NewRat(1, 1), big.NewRat(-1, 1), big.NewRat(1, 3), big.NewRat(1, 1e18), big.NewRat(1e18, 1), new(big.Rat)} {
			if e, err := p.With(x); err == nil {
				readsBack(t, e)
			} else {
				checkPlace(t, s, err)
			}
		}
	})
}

func FuzzUnmarshalEvent(f *testing.F) {
	for _, s := range []string{
		`{"gaussian":{"sigma":"sqrt(2)"}}`, `{"repeat":{"count":3,"event":{"pure":{"eps":1}}}}`, `{"approx":{"eps":1,"delta":1e-9}}`,
		`{"sum":[{"pure":{"eps":1}},{"zcdp":{"rho":"1/8"}}]}`, `{"rdp":{"orders":[2,4.5],"eps":[0.5,1]}}`, `{"parallel":{"events":[{"gdp":{"mu":1}}]}}`,
		`{"poisson":{"rate":0.01,"event":{"laplace":{"b":2}}}}`, `{"tree":{"sigma":1,"leaves":8}}`, `{"pure":{"eps":null}}`, `{"pure":{"eps":1},"pure":{}}`, `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := UnmarshalEvent(data)
		if err != nil {
			checkPlace(t, string(data), err)
			return
		}
		readsBack(t, e)
	})
}

// checkPlace asks for an error with a place within the text.
func checkPlace(t *testing.T, text string, err error) {
	t.Helper()
	var e *SyntaxError
	if !errors.As(err, &e) || e.Offset < 0 || e.Length < 0 || e.Offset+e.Length > len(text) || e.Message == "" {
		t.Fatalf("%q: %#v", text, err)
	}
}
