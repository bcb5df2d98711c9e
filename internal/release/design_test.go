package release

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

func eps(t *testing.T, s string) privacy.Epsilon {
	t.Helper()
	e, err := privacy.ParseEpsilon(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func del(t *testing.T, s string) privacy.Delta {
	t.Helper()
	d, err := privacy.ParseDelta(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func rho(t *testing.T, s string) privacy.Rho {
	t.Helper()
	r, err := privacy.ParseRho(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// counts is a certificate of releases that each count rows, one aggregate a
// sensitivity, with L0 groups.
func counts(measure filter.Measure, n privacy.Neighbours, private bool, groups int64, sensitivities ...int64) *stability.Certificate {
	d := &catalog.Domain{ID: "d", Measure: string(measure), Neighbours: n}
	d.Epsilon, _ = privacy.ParseEpsilon("10")
	if measure != "pure" {
		d.Delta, _ = privacy.ParseDelta("1e-6")
	}
	if measure == "zcdp" {
		d.SelectionDelta, _ = privacy.ParseDelta("5e-7")
	}
	r := &stability.Release{MaxGroups: groups, MaxRows: 1, Private: private}
	if groups > 1 || private {
		r.Keys = []stability.Key{{Expr: &plan.Ref{T: sqltype.Of(sqltype.Text)}, Name: "k"}}
	}
	for i, s := range sensitivities {
		r.Components = append(r.Components, stability.Component{Kind: stability.Rows, Grid: big.NewRat(1, 1), ArgGrid: big.NewRat(1, 1), PerGroup: big.NewInt(s), Width: big.NewInt(s)})
		r.Aggregates = append(r.Aggregates, stability.Aggregate{Function: plan.CountStar, Type: sqltype.Of(sqltype.Bigint), Components: []int{i}})
	}
	return &stability.Certificate{Domain: d, Releases: []*stability.Release{r}}
}

// What the domain's filter charges for the events of a design is never more
// than what was asked for, and where no δ has to be converted exactly that.
func TestChargeIsWhatWasAsked(t *testing.T) {
	for _, test := range []struct {
		name        string
		certificate *stability.Certificate
		spend       Spend
		exact       bool
	}{
		{"pure", counts("pure", privacy.AddRemove, false, 1, 1), Spend{Epsilon: eps(t, "0.1")}, true},
		{"pure, three aggregates", counts("pure", privacy.AddRemove, false, 7, 1, 4, 1000), Spend{Epsilon: eps(t, "0.1")}, true},
		{"pure, replace", counts("pure", privacy.ReplaceOne, false, 7, 1, 4), Spend{Epsilon: eps(t, "0.1")}, true},
		{"zcdp", counts("zcdp", privacy.AddRemove, false, 7, 1, 4, 9), Spend{Rho: rho(t, "0.01")}, true},
		{"zcdp, replace", counts("zcdp", privacy.ReplaceOne, false, 7, 1, 4, 9), Spend{Rho: rho(t, "0.01")}, true},
		{"zcdp, selection", counts("zcdp", privacy.AddRemove, true, 7, 1, 4), Spend{Rho: rho(t, "0.01"), Delta: del(t, "1e-9")}, false},
		{"zcdp, selection of default delta", counts("zcdp", privacy.ReplaceOne, true, 7, 1, 4), Spend{Rho: rho(t, "0.01")}, false},
		{"zcdp, asked in epsilon", counts("zcdp", privacy.AddRemove, false, 7, 1, 4), Spend{Epsilon: eps(t, "0.1")}, false},
		{"approx, few groups", counts("approx", privacy.AddRemove, false, 1, 1), Spend{Epsilon: eps(t, "0.1"), Delta: del(t, "1e-9")}, false},
		{"approx, many groups", counts("approx", privacy.AddRemove, false, 500, 1, 2), Spend{Epsilon: eps(t, "0.1"), Delta: del(t, "1e-9")}, false},
		{"approx, selection", counts("approx", privacy.AddRemove, true, 500, 1, 2), Spend{Epsilon: eps(t, "0.1"), Delta: del(t, "1e-9")}, false},
		{"approx, selection, replace", counts("approx", privacy.ReplaceOne, true, 2, 1, 2), Spend{Epsilon: eps(t, "0.1"), Delta: del(t, "1e-9")}, false},
		{"approx, selection alone", counts("approx", privacy.AddRemove, true, 2), Spend{Epsilon: eps(t, "0.1"), Delta: del(t, "1e-9")}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := NewDesign(test.certificate, Options{Spend: test.spend})
			if err != nil {
				t.Fatal(err)
			}
			dom := test.certificate.Domain
			f, err := filter.New(filter.Budget{Measure: filter.Measure(dom.Measure), Epsilon: dom.Epsilon, Delta: dom.Delta, SelectionDelta: dom.SelectionDelta})
			if err != nil {
				t.Fatal(err)
			}
			charge, err := f.Charge(d.Events, d.Delta)
			if err != nil {
				t.Fatal(err)
			}
			got := f.Amounts(charge)
			limit := test.spend
			if dom.Measure == "zcdp" && limit.Rho.Sign() == 0 {
				// ε-DP is ε²/2-zCDP; split evenly over two values that is ε²/4.
				limit.Rho = rho(t, "0.0025")
			}
			if dom.Measure == "zcdp" && limit.Delta.Sign() == 0 && test.certificate.Releases[0].Private {
				limit.Delta = del(t, "5e-9") // a hundredth of the domain's
			}
			// The filter rounds a charge up, by less than 1e-40.
			slack := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(39), nil))
			over := func(a, b *big.Rat) bool { return a.Cmp(new(big.Rat).Add(b, slack)) > 0 }
			if dom.Measure == "zcdp" && over(got.Rho.Rat(), limit.Rho.Rat()) || dom.Measure != "zcdp" && over(got.Epsilon.Rat(), limit.Epsilon.Rat()) || over(got.Delta.Rat(), limit.Delta.Rat()) {
				t.Errorf("charged %+v, asked %+v", got, test.spend)
			}
			if test.exact && dom.Measure == "pure" && got.Epsilon.Cmp(test.spend.Epsilon) != 0 {
				t.Errorf("charged epsilon %v, asked %v", got.Epsilon, test.spend.Epsilon)
			}
			if test.exact && dom.Measure == "zcdp" && got.Rho.Cmp(test.spend.Rho) != 0 {
				t.Errorf("charged rho %v, asked %v", got.Rho, test.spend.Rho)
			}
			// At least 95 % of what was asked is used for noise: nothing is wasted.
			if used := got.Epsilon.Float64() / test.spend.Epsilon.Float64(); dom.Measure == "approx" && used < 0.95 {
				t.Errorf("charged epsilon %v of %v", got.Epsilon, test.spend.Epsilon)
			}
		})
	}
}

// The scale of every component follows from the theorem at stability.Release.
func TestScales(t *testing.T) {
	for _, test := range []struct {
		name  string
		c     *stability.Certificate
		spend Spend
		noise string
		want  []float64 // scale of each component
	}{
		{"Laplace: L0·Δ/(ε/2)", counts("pure", privacy.AddRemove, false, 5, 1, 4), Spend{Epsilon: eps(t, "0.5")}, "discrete_laplace", []float64{20, 80}},
		{"Laplace, replace: twice 5·Δ", counts("pure", privacy.ReplaceOne, false, 5, 1, 4), Spend{Epsilon: eps(t, "0.5")}, "discrete_laplace", []float64{40, 160}},
		{"Gaussian: Δ√L0/√(2ρ/2)", counts("zcdp", privacy.AddRemove, false, 4, 1, 3), Spend{Rho: rho(t, "0.01")}, "discrete_gaussian", []float64{20, 60}},
		{"Gaussian, replace: √2 times Δ·√4", counts("zcdp", privacy.ReplaceOne, false, 4, 1, 3), Spend{Rho: rho(t, "0.01")}, "discrete_gaussian", []float64{20 * math.Sqrt2, 60 * math.Sqrt2}},
		{"Laplace, replace in the one group: Δ", counts("pure", privacy.ReplaceOne, false, 1, 1, 4), Spend{Epsilon: eps(t, "0.5")}, "discrete_laplace", []float64{4, 16}},
		{"one group, tiny δ: Laplace", counts("approx", privacy.AddRemove, false, 1, 1), Spend{Epsilon: eps(t, "0.5"), Delta: del(t, "1e-9")}, "discrete_laplace", []float64{2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := NewDesign(test.c, Options{Spend: test.spend})
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range d.Releases[0].Noise {
				if got := n.ScaleIn(big.NewRat(1, 1)); n.Name != test.noise || got < test.want[i]*(1-1e-12) || got > test.want[i]*(1+1e-12) {
					t.Errorf("component %d: %s of scale %v, want %s of %v", i, n.Name, got, test.noise, test.want[i])
				}
			}
		})
	}
}

// With many groups Gaussian noise has less variance, with one group Laplace:
// the choice rests on public parameters.
func TestMechanismOfLeastVariance(t *testing.T) {
	spend := Spend{Epsilon: eps(t, "0.5"), Delta: del(t, "1e-9")}
	last := "discrete_laplace"
	for groups := int64(1); groups < 2000; groups *= 2 {
		d, err := NewDesign(counts("approx", privacy.AddRemove, false, groups, 1, 1), Options{Spend: spend})
		if err != nil {
			t.Fatal(err)
		}
		name := d.Releases[0].Noise[0].Name
		if last == "discrete_gaussian" && name == "discrete_laplace" {
			t.Errorf("Laplace noise at %d groups, Gaussian below", groups)
		}
		last = name
	}
	if last != "discrete_gaussian" {
		t.Error("Laplace noise at 1024 groups")
	}
}

func TestWeights(t *testing.T) {
	d, err := NewDesign(counts("pure", privacy.AddRemove, false, 1, 1, 1), Options{Spend: Spend{Epsilon: eps(t, "0.4")}, Weights: []*big.Rat{big.NewRat(3, 1), big.NewRat(1, 1)}})
	if err != nil {
		t.Fatal(err)
	}
	a, b := d.Releases[0].Noise[0].ScaleIn(big.NewRat(1, 1)), d.Releases[0].Noise[1].ScaleIn(big.NewRat(1, 1))
	if a*3 < b*0.999999 || a*3 > b*1.000001 {
		t.Errorf("scales %v and %v, want 1 to 3", a, b)
	}
	for _, weights := range [][]*big.Rat{{}, {big.NewRat(1, 1)}, {big.NewRat(1, 1), new(big.Rat)}, {big.NewRat(1, 1), big.NewRat(-1, 1)}, {nil, nil}} {
		if _, err := NewDesign(counts("pure", privacy.AddRemove, false, 1, 1, 1), Options{Spend: Spend{Epsilon: eps(t, "0.4")}, Weights: weights}); err == nil {
			t.Errorf("weights %v accepted", weights)
		}
	}
}

func TestSpendsThatAreRefused(t *testing.T) {
	both := Spend{Epsilon: eps(t, "1"), Rho: rho(t, "1")}
	for _, test := range []struct {
		name  string
		c     *stability.Certificate
		spend Spend
	}{
		{"nothing", counts("pure", privacy.AddRemove, false, 1, 1), Spend{}},
		{"delta alone", counts("approx", privacy.AddRemove, false, 1, 1), Spend{Delta: del(t, "1e-9")}},
		{"epsilon and rho", counts("zcdp", privacy.AddRemove, false, 1, 1), both},
		{"rho in pure", counts("pure", privacy.AddRemove, false, 1, 1), Spend{Rho: rho(t, "1")}},
		{"rho in approx", counts("approx", privacy.AddRemove, false, 1, 1), Spend{Rho: rho(t, "1")}},
		{"delta in pure", counts("pure", privacy.AddRemove, false, 1, 1), Spend{Epsilon: eps(t, "1"), Delta: del(t, "1e-9")}},
		{"selection in pure", counts("pure", privacy.AddRemove, true, 1, 1), Spend{Epsilon: eps(t, "1")}},
		{"selection without delta", counts("approx", privacy.AddRemove, true, 1, 1), Spend{Epsilon: eps(t, "1")}},
	} {
		if d, err := NewDesign(test.c, Options{Spend: test.spend}); err == nil {
			t.Errorf("%s: designed %v", test.name, d.Events)
		}
	}
}

// A complete public domain asked for by itself reveals nothing, so it needs no cost.
func TestPublicDomainsAreFree(t *testing.T) {
	d, err := NewDesign(counts("pure", privacy.AddRemove, false, 3), Options{})
	if err != nil || len(d.Events) != 0 || len(d.Releases) != 1 {
		t.Errorf("designed %+v, %v", d, err)
	}
}
