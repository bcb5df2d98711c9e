package pca

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/fixed"
	"github.com/discreet-dp/discreet/learn/internal/learntest"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// plane is examples that vary along (3, 4, 0)/5 most, then along (0, 0, 1), about a mean.
func plane() *example.Set {
	var x [][]float32
	for i := range 8000 {
		a := math.Sin(float64(i))
		b := 0.3 * math.Cos(float64(5*i))
		x = append(x, []float32{float32(0.6*a + 0.5), float32(0.8*a - 0.5), float32(b)})
	}
	return learntest.Labelled(2, nil, x...)
}

// Of 40 runs means and variances were off by 0.0013, counts by 10, the first component's cosine by 1e-5: what is
// asked for lies more than 50 deviations away.
func TestFindsComponents(t *testing.T) {
	for _, c := range []struct {
		guarantee cost.Options
		center    bool
	}{{learntest.Approx(t, "2", "0.00001"), true}, {learntest.Pure(t, "4"), true}, {learntest.Approx(t, "2", "0.00001"), false}} {
		b := learntest.Purse(t, filter.Approx, privacy.AddRemove)
		m, err := Train(t.Context(), noise.System(), b, plane(), Options{Options: c.guarantee, Components: 2, Norm: 2, Center: c.center})
		if err != nil {
			t.Fatal(err)
		}
		if d := m.Components[0][0]*0.6 + m.Components[0][1]*0.8; c.center && math.Abs(d) < 0.99 {
			t.Errorf("the first component is %v", m.Components[0])
		}
		if c.center && (math.Abs(m.Variances[0]-0.5) > 0.1 || math.Abs(m.Mean[0]-0.5) > 0.1 || math.Abs(m.Examples-8000) > 500) {
			t.Errorf("mean %v, variances %v, %v examples", m.Mean, m.Variances, m.Examples)
		}
		if p := m.Project([]float32{float32(m.Mean[0]), float32(m.Mean[1]), float32(m.Mean[2])}); len(p) != 2 || math.Abs(p[0]) > 1e-3 {
			t.Errorf("the mean is at %v", p)
		}
		spent, err := b.Spent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, _ := spent.Epsilon.Rat().Float64()
		if asked, _ := c.guarantee.Epsilon.Rat().Float64(); got > asked || got < asked*(1-1e-6) {
			t.Errorf("charged %v", got)
		}
	}
}

// The model of one example tells no more than μ = √(2ρ); with half the noise it does.
func TestAudit(t *testing.T) {
	one := learntest.Labelled(2, nil, []float32{1})
	none := learntest.Empty(one)
	b := learntest.Purse(t, filter.ZCDP, privacy.AddRemove)
	bound := func(rho string) float64 {
		run := func(set *example.Set) func() bool {
			tr, err := newTraining(b, set, Options{Options: learntest.Concentrated(t, rho), Components: 1, Norm: 1})
			if err != nil {
				t.Fatal(err)
			}
			return func() bool {
				m, err := tr.run(noise.System())
				if err != nil {
					t.Fatal(err)
				}
				return m.Total*m.Examples > 0.5
			}
		}
		return learntest.MuBound(t, 5000, run(one), run(none))
	}
	if mu := bound("0.5"); mu > 1 {
		t.Errorf("at mu 1 it shows %v", mu)
	}
	if mu := bound("2"); mu <= 1 {
		t.Errorf("half the noise shows only %v: the audit sees nothing", mu)
	}
}

func TestRefusals(t *testing.T) {
	set := learntest.Labelled(2, nil, []float32{1, 2})
	b := learntest.Purse(t, filter.Pure, privacy.AddRemove)
	good := Options{Options: learntest.Pure(t, "1"), Components: 2, Norm: 1}
	for name, spoil := range map[string]func(*Options){
		"no guarantee":    func(o *Options) { o.Options = cost.Options{} },
		"no components":   func(o *Options) { o.Components = 0 },
		"many components": func(o *Options) { o.Components = 3 },
		"a NaN norm":      func(o *Options) { o.Norm = math.NaN() },
		"no norm":         func(o *Options) { o.Norm = 0 },
	} {
		o := good
		spoil(&o)
		if _, err := Train(t.Context(), noise.System(), b, set, o); !errors.Is(err, cost.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCalibration(t *testing.T) {
	set := learntest.Labelled(2, nil, []float32{1, 1})
	tr, err := newTraining(learntest.Purse(t, filter.ZCDP, privacy.AddRemove), set, Options{Options: learntest.Concentrated(t, "2"), Components: 1, Norm: 1, Center: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string][2]float64{
		"count":   {tr.count.Deviation(0), 1 / math.Sqrt(2*0.1)},
		"sum":     {tr.sum.Deviation(fixed.Places), 1 / math.Sqrt(2*0.4)},
		"moments": {tr.moments.Deviation(), 1 / math.Sqrt(2*1.5)},
	} {
		if math.Abs(d[0]-d[1]) > 1e-6 {
			t.Errorf("deviation %v of the %s, want %v", d[0], name, d[1])
		}
	}
}
