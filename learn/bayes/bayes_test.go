package bayes

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/feature"
	"github.com/discreet-dp/discreet/learn/internal/fixed"
	"github.com/discreet-dp/discreet/learn/internal/learntest"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// What an example adds to moments is within the sensitivity, and at the ends attains it.
func TestMomentsAreBounded(t *testing.T) {
	s := moments()
	most := new(big.Rat)
	rapid.Check(t, func(t *rapid.T) {
		z := rapid.OneOf(rapid.Float64Range(-1, 1), rapid.SampledFrom([]float64{-1, 1, 0})).Draw(t, "z")
		a, b, c := moment(z)
		l1 := big.NewRat(a+max(b, -b)+max(c, -c), 1)
		l2 := big.NewRat(a*a+b*b+c*c, 1)
		if l1.Cmp(s.L1) > 0 || l2.Cmp(s.L2Squared) > 0 {
			t.Fatalf("%v adds (%d, %d, %d)", z, a, b, c)
		}
		if l2.Cmp(most) > 0 {
			most = l2
		}
	})
	if most.Cmp(s.L2Squared) != 0 {
		t.Errorf("the most was %v, the sensitivity is %v", most, s.L2Squared)
	}
}

// The moments of the example that moves them most tell no more than μ = √(2ρ); with half
// the noise they do.
func TestAudit(t *testing.T) {
	one := learntest.Labelled(2, []int32{1}, []float32{1})
	b := learntest.Purse(t, filter.ZCDP, privacy.AddRemove)
	bound := func(rho string) float64 {
		tr, err := newTraining(b, one, Options{Options: learntest.Concentrated(t, rho), Features: []feature.Feature{{Lower: -1, Upper: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		above := func(x ...int64) func() bool {
			return func() bool {
				n, err := tr.of[0].Add(noise.System(), x, fixed.Places)
				if err != nil {
					t.Fatal(err)
				}
				return (n[0]+n[1]+n[2]/2)/2.25 > 0.5 // along (1, 1, 1/2)
			}
		}
		one, first, second := moment(1)
		return learntest.MuBound(t, 6000, above(one, first, second), above(0, 0, 0))
	}
	// A feature has half of ρ.
	if mu := bound("1"); mu > 1 {
		t.Errorf("at mu 1 they show %v", mu)
	}
	if mu := bound("4"); mu <= 1 {
		t.Errorf("half the noise shows only %v: the audit sees nothing", mu)
	}
}

// Half the noise on the count of classes alone is caught: it has half of the guarantee here.
func TestAuditOfCounts(t *testing.T) {
	one := learntest.Labelled(2, []int32{1}, []float32{1})
	b := learntest.Purse(t, filter.Pure, privacy.AddRemove)
	bound := func(epsilon string) float64 {
		tr, err := newTraining(b, one, Options{Options: learntest.Pure(t, epsilon), Features: []feature.Feature{{Values: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		above := func(n int64) func() bool {
			return func() bool {
				a, err := tr.classes.Add(noise.System(), []int64{n}, 0)
				if err != nil {
					t.Fatal(err)
				}
				return a[0] >= 1
			}
		}
		return learntest.EpsilonBound(t, 6000, 0, above(1), above(0))
	}
	if e := bound("2"); e > 1 {
		t.Errorf("a count at half of epsilon 2 shows %v", e)
	}
	if e := bound("4"); e <= 1 {
		t.Errorf("half the noise shows only %v: the audit sees nothing", e)
	}
}

// Of 40 runs 0.971 ± 0.0004 were right: what is asked for lies more than 100 deviations away.
func TestLearns(t *testing.T) {
	var x [][]float32
	var labels []int32
	for i := range 6000 {
		label := int32(i % 2)
		u := (float32(i%101)/50 - 1) / 4
		v := i / 2 % 5
		f := []float32{u - 0.4 + 0.8*float32(label), 0, 0, 0}
		if v == 0 { // a fifth has the other class's value
			f[2+1-label] = 1
		} else {
			f[2+label] = 1
		}
		if i%7 == 0 {
			f[0], f[1] = 0, 1 // missing
		}
		x, labels = append(x, f), append(labels, label)
	}
	set := learntest.Labelled(2, labels, x...)
	features := []feature.Feature{{Lower: -1, Upper: 1, Null: true}, {At: 2, Values: 2}}
	for _, cuts := range []int{0, 8} {
		for _, guarantee := range []cost.Options{learntest.Pure(t, "1"), learntest.Approx(t, "1", "0.00001")} {
			b := learntest.Purse(t, filter.Approx, privacy.AddRemove)
			m, err := Train(t.Context(), noise.System(), b, set, Options{Options: guarantee, Features: features, Cuts: cuts})
			if err != nil {
				t.Fatal(err)
			}
			right := 0
			for i, f := range x {
				if m.Class(f) == int(labels[i]) {
					right++
				}
			}
			if share := float64(right) / float64(len(x)); share < 0.9 {
				t.Errorf("%d cuts: %v are right", cuts, share)
			}
			spent, err := b.Spent(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if e, _ := spent.Epsilon.Rat().Float64(); e > 1 || e < 1-1e-6 {
				t.Errorf("charged %v", e)
			}
		}
	}
}

func TestCalibration(t *testing.T) {
	set := learntest.Labelled(2, nil)
	tr, err := newTraining(learntest.Purse(t, filter.ZCDP, privacy.AddRemove), set, Options{Options: learntest.Concentrated(t, "0.5"), Features: []feature.Feature{{Lower: 0, Upper: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tr.of[0].Deviation(fixed.Places), 1.5/math.Sqrt(2*0.25); math.Abs(got-want) > 1e-6 {
		t.Errorf("deviation %v of a number's moments, want %v", got, want)
	}
}

func TestRefusals(t *testing.T) {
	set := learntest.Labelled(2, []int32{1}, []float32{1})
	b := learntest.Purse(t, filter.Pure, privacy.AddRemove)
	one := []feature.Feature{{Values: 1}}
	for name, c := range map[string]struct {
		set *example.Set
		o   Options
	}{
		"no guarantee": {set, Options{Features: one}},
		"no features":  {set, Options{Options: learntest.Pure(t, "1")}},
		"one cut":      {set, Options{Options: learntest.Pure(t, "1"), Features: one, Cuts: 1}},
		"targets":      {learntest.Regression([]float32{1}, []float32{1}), Options{Options: learntest.Pure(t, "1"), Features: one}},
	} {
		if _, err := Train(t.Context(), noise.System(), b, c.set, c.o); !errors.Is(err, cost.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
