package leakage

import (
	"math"
	"testing"
)

// The rank form, by the vectors of the tests in TensorFlow Privacy's secret_sharer.
func TestExposureByRank(t *testing.T) {
	var references []float64
	for i := range 16 {
		references = append(references, float64(16-i))
	}
	for _, tc := range []struct{ canary, want float64 }{
		{0, 4}, {0.1, 4}, {3.5, 2}, {20, 4 - math.Log2(17)},
		{1, 3}, // a tie keeps the reference first
	} {
		if got, err := exposure(tc.canary, references); err != nil || math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("canary %v: %v, %v, want %v", tc.canary, got, err, tc.want)
		}
	}
	if _, err := exposure(1, nil); err == nil {
		t.Error("no references")
	}
	if _, err := exposure(math.NaN(), references); err == nil {
		t.Error("a canary that is no number")
	}
}

// Computed with 40 digits by another program.
func TestOwenT(t *testing.T) {
	for _, tc := range []struct{ h, a, want float64 }{
		{0.0625, 0.25, 0.038911930234701367}, {6.5, 0.4375, 2.0005773048508315e-11}, {7, 0.96875, 6.3990627193898685e-13},
		{4.78125, 0.0625, 1.0632974804687464e-7}, {2, 0.5, 0.0086250779855215071}, {1, 0.9999975, 0.066741808978228593},
		{0, 3, 0.19879180882521664}, {1, 5, 0.079327624471890175}, {0.5, 100, 0.15426876936299345},
		{3, -2, -0.00067494901553521615}, {-1.5, 1, 0.031171999563740178}, {10, 1.2, 3.809926512080263e-24},
		{1, 0, 0}, {1, math.Inf(1), normal(-1) / 2},
	} {
		if got := owenT(tc.h, tc.a); math.Abs(got-tc.want) > 1e-13*math.Abs(tc.want) {
			t.Errorf("T(%v, %v) = %.17g, want %.17g", tc.h, tc.a, got, tc.want)
		}
	}
}

// Computed with 40 digits by another program, far into both tails.
func TestSkewNormalLogCDF(t *testing.T) {
	for _, tc := range []struct{ z, shape, want float64 }{
		{0, 0, -0.6931471805599453}, {1, 2, -0.3792005043060501}, {-1, 2, -6.366082394875572}, {-5, 3, -132.7770713633575},
		{-10, 1, -106.4625703010333}, {-3, 10, -464.7629587034691}, {-8, -4, -34.3202899793546}, {-20, 0.5, -256.6798909080052},
		{2, -5, 0}, {-1, 30, -461.8527505417719}, {-12, 0, -75.4106730015688}, {3, 0, -0.001350809964748194},
	} {
		got := skewNormal{2, 3, tc.shape}.logCDF(2 + 3*tc.z)
		if math.Abs(got-tc.want) > 1e-10*math.Abs(tc.want)+1e-15 {
			t.Errorf("ln CDF(%v; %v) = %.16g, want %.16g", tc.z, tc.shape, got, tc.want)
		}
	}
}

// skewed is a sample of n that is the same for every program: 3 + 2·(δ|U| + √(1−δ²)·V)
// over a lattice of quantiles U and V.
func skewed(n int, shape float64) []float64 {
	quantile := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
	d := shape / math.Sqrt(1+shape*shape)
	x := make([]float64, n)
	for i := range x {
		_, v := math.Modf((float64(i) + 0.5) * (math.Sqrt(5) - 1) / 2)
		x[i] = 3 + 2*(d*math.Abs(quantile((float64(i)+0.5)/float64(n)))+math.Sqrt(1-d*d)*quantile(v))
	}
	return x
}

// The likeliest laws, by Newton's method on the score equations with 30 digits in
// another program.
func TestFitSkewNormal(t *testing.T) {
	for _, tc := range []struct {
		n     int
		shape float64
		want  skewNormal
	}{
		{40, 3, skewNormal{3.06709700494, 1.94100469387, 2.90068043249}},
		{60, -2, skewNormal{2.73274145888, 1.78673472803, -1.26443159053}},
		{100, 1.5, skewNormal{3.01335130211, 1.97820946114, 1.5197274327}},
	} {
		got, err := fitSkewNormal(skewed(tc.n, tc.shape))
		if err != nil || math.Abs(got.Location-tc.want.Location) > 1e-6 || math.Abs(got.Scale-tc.want.Scale) > 1e-6 || math.Abs(got.Shape-tc.want.Shape) > 1e-6 {
			t.Errorf("%d values of shape %v: %+v, %v, want %+v", tc.n, tc.shape, got, err, tc.want)
		}
	}
	if _, err := fitSkewNormal(make([]float64, 20)); err == nil {
		t.Error("a law of values that don't vary")
	}
	half := make([]float64, 100) // quantiles of |U|: the likelihood grows with the shape forever
	for i := range half {
		half[i] = math.Sqrt2 * math.Erfinv((float64(i)+0.5)/100)
	}
	if s, err := fitSkewNormal(half); err == nil {
		t.Errorf("half-normal: %+v", s)
	}
}

// Where the canary lies among the references, extrapolation says what rank says.
func TestExtrapolationAgreesWithRank(t *testing.T) {
	references := skewed(4000, 2)
	r, err := MeasureExposure(3, references)
	if err != nil || math.Abs(r.Rank-r.Extrapolate) > 0.15 {
		t.Errorf("inside: %+v, %v", r, err)
	}
	r, err = MeasureExposure(-6, references)
	if err != nil || r.Rank != r.Most || r.Extrapolate < 2*r.Most {
		t.Errorf("outside: %+v, %v", r, err)
	}
}
