package datanode

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/noise"
)

func TestSamplePlans(t *testing.T) {
	for _, v := range vectors(t).Samplers {
		e, err := planSamples(v.Gamma, 0)
		if err != nil || e.Samples != v.Samples || math.Abs(e.Rho-v.Rho) > 1e-9 {
			t.Errorf("gamma %v: %+v, %v", v.Gamma, e, err)
		}
		// No other ρ does with fewer samples.
		for rho := v.Gamma / 1000; rho < v.Gamma; rho += v.Gamma / 1000 {
			if m := math.Log(1/rho) / (2 * (v.Gamma - rho) * (v.Gamma - rho)); m < float64(e.Samples)-1 {
				t.Errorf("gamma %v: ρ = %v needs %v samples", v.Gamma, rho, m)
			}
		}
		// Asked what so many samples are good for, it finds the same γ, or a smaller one.
		back, err := planSamples(0, e.Samples)
		if err != nil || back.Gamma > v.Gamma || back.Gamma < 0.99*v.Gamma {
			t.Errorf("%d samples: %+v, %v", e.Samples, back, err)
		}
	}
	for _, test := range []struct {
		gamma   float64
		samples int
	}{{0, 0}, {0.1, 10}, {-0.1, 0}, {1, 0}, {math.NaN(), 0}, {math.Inf(1), 0}, {1e-9, 0}, {0, -1}, {0, 1}} {
		if e, err := planSamples(test.gamma, test.samples); err == nil {
			t.Errorf("%v: %+v", test, e)
		}
	}
}

func mean(x []float64) []float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return []float64{s / float64(len(x))}
}

// The estimate is the largest of 1305 distances |X−Y|/n of normal numbers. In standard
// deviations of X−Y it is asserted to lie between 2.2 and 9. A single distance exceeds 9
// with probability 1e-18, and all lie below 2.2 with (1−0.0278)^1305 < 1e-15.
func TestEstimate(t *testing.T) {
	o := EstimateOptions{Query: mean, Norm: L1Norm, Oracle: Normal{170, 10}, Records: 20, Gamma: 0.05}
	e, err := EstimateSensitivity(noise.System(), o)
	unit := 10 * math.Sqrt2 / 20
	if err != nil || e.Largest < 2.2*unit || e.Largest > 9*unit || e.Mean <= 0 || e.Mean >= e.Largest || e.Samples != 1305 {
		t.Errorf("%+v, %v", e, err)
	}
	if !strings.Contains(e.String(), "no bound") {
		t.Error(e)
	}
	o.Oracle, o.Norm = Mixture{[]float64{1, 3}, []Normal{{0, 0}, {1, 0}}}, L2Norm
	if e, err = EstimateSensitivity(noise.System(), o); err != nil || math.Abs(e.Largest-0.05) > 1e-12 {
		t.Errorf("%+v, %v", e, err)
	}
}

type broken struct{}

func (broken) Uint64() (uint64, error) { return 0, errors.New("no bits") }

func TestEstimatesThatAreRefused(t *testing.T) {
	good := EstimateOptions{Query: mean, Norm: L1Norm, Oracle: Normal{0, 1}, Records: 2, Samples: 100}
	if _, err := EstimateSensitivity(broken{}, good); err == nil || !strings.Contains(err.Error(), "no bits") {
		t.Error(err)
	}
	for _, change := range []func(*EstimateOptions){
		func(o *EstimateOptions) { o.Query = nil },
		func(o *EstimateOptions) { o.Norm = nil },
		func(o *EstimateOptions) { o.Oracle = nil },
		func(o *EstimateOptions) { o.Records = 0 },
		func(o *EstimateOptions) { o.Samples = 0 },
		func(o *EstimateOptions) { o.Oracle = Normal{math.NaN(), 1} },
		func(o *EstimateOptions) {
			o.Query = func(x []float64) []float64 { return x[:1+int(math.Abs(x[len(x)-1]*1000))%2] }
		},
	} {
		o := good
		change(&o)
		if e, err := EstimateSensitivity(noise.System(), o); err == nil {
			t.Errorf("%+v", e)
		}
	}
}
