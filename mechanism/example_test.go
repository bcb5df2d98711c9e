package mechanism_test

// The examples of docs/mechanisms, whose test sees to it that they are these.

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// must is for parameters that are constants.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func ExampleNewVector() {
	m := must(mechanism.NewVector(mechanism.VectorOptions{
		L1: big.NewRat(5000, 1), Lower: 0, Upper: 5000, // a bill is at most 5000
		Epsilon: must(privacy.ParseEpsilon("0.5")),
	}))
	noisy := must(m.Release(noise.System(), []float64{math.Inf(1)}))
	fmt.Printf("scale %v, off by at most %.0f with probability 0.95\n", m.Scale(), must(m.Bound(big.NewRat(1, 20))))
	fmt.Println(len(noisy), m.Event())
	// Output:
	// scale 10000, off by at most 29957 with probability 0.95
	// 1 discrete_laplace(1342177280000, sensitivity=671088640000)
}

func ExampleVector() {
	m := must(mechanism.NewVector(mechanism.VectorOptions{
		Length: 3, Lower: -1, Upper: 1,
		L2:  big.NewRat(1, 1), // the caller scales each unit's vector to length 1
		Rho: must(privacy.ParseRho("0.005")),
	}))
	noisy := must(m.Release(noise.System(), []float64{0.2, math.NaN(), 7}))
	all := must(m.Bound(big.NewRat(1, 3*20)))
	fmt.Printf("%d values, σ = %.4f, all within %.1f with probability 0.95\n", len(noisy), m.Scale(), all)
	// Output: 3 values, σ = 10.0000, all within 23.9 with probability 0.95
}

func ExampleExponential() {
	m := must(mechanism.NewExponential(mechanism.ExponentialOptions{
		Sensitivity: big.NewRat(1, 1),
		Monotone:    true, // counts of patients, under add-remove
		Epsilon:     must(privacy.ParseEpsilon("0.5")),
	}))
	wards := []string{"ER", "ICU", "Surgery"}
	i := must(m.Choose(noise.System(), []float64{310, 120, math.NaN()}))
	fmt.Printf("%s; at most %.1f below the best with probability 0.95; %v\n", wards[i], must(m.Bound(3, big.NewRat(1, 20))), m.Event())
	// Output: ER; at most 8.2 below the best with probability 0.95; exponential(0.5)
}

func ExampleExponentialRange() {
	m := must(mechanism.NewExponentialRange(mechanism.ExponentialRangeOptions{
		ScoreOptions: mechanism.ScoreOptions{Sensitivity: big.NewRat(1, 1), Epsilon: must(privacy.ParseEpsilon("1"))},
		Lower:        0, Upper: 100, Step: big.NewRat(1, 1),
	}))
	// 4000 patients would come at a price below 30, 3000 up to 50, 10 above.
	price := must(m.Choose(noise.System(), []float64{30, 50}, []float64{4000, 3000, 10}))
	fmt.Println(0 <= price && price < 30, m.Event())
	// Output: true exponential(1)
}

func ExamplePermuteAndFlip() {
	m := must(mechanism.NewPermuteAndFlip(mechanism.PermuteAndFlipOptions{
		Sensitivity: big.NewRat(1, 1),
		Monotone:    true,
		Epsilon:     must(privacy.ParseEpsilon("0.5")),
	}))
	i := must(m.Choose(noise.System(), []float64{310, 120, 90}))
	_, err := m.Choose(noise.System(), nil)
	fmt.Println(i, m.Event(), err)
	// Output: 0 permute_and_flip(0.5) choose: bad mechanism parameter: there are no candidates
}

func ExampleNoisyMax() {
	m := must(mechanism.NewNoisyMax(mechanism.NoisyMaxOptions{ScoreOptions: mechanism.ScoreOptions{
		Sensitivity: big.NewRat(1, 1),
		Monotone:    true,
		Epsilon:     must(privacy.ParseEpsilon("0.5")),
	}}))
	i, gap, err := m.ChooseGap(noise.System(), []float64{310, 120, 90})
	fmt.Println(i, gap > 50, err, m.Event())
	// Output: 0 true <nil> noisy_max(0.5)
}

func ExampleTopK() {
	m := must(mechanism.NewTopK(mechanism.TopKOptions{
		ScoreOptions: mechanism.ScoreOptions{
			Sensitivity: big.NewRat(1, 1),
			Monotone:    true,
			Epsilon:     must(privacy.ParseEpsilon("1")),
		},
		K: 2, Noise: mechanism.GumbelNoise,
	}))
	chosen := must(m.Choose(noise.System(), []float64{90, 1200, 310, 12}))
	_, err := m.Choose(noise.System(), []float64{90})
	fmt.Println(chosen, m.Event())
	fmt.Println(err)
	// Output:
	// [1 2] 2*exponential(0.5)
	// choose: bad mechanism parameter: 2 of 1 candidates are wanted
}

func ExampleAboveThreshold() {
	run := must(mechanism.NewAboveThreshold(mechanism.AboveThresholdOptions{
		Threshold:   1000,
		Sensitivity: big.NewRat(1, 1),
		Monotone:    true, // counts of visits
		Epsilon:     must(privacy.ParseEpsilon("0.5")),
	}))
	for a, err := range run.All(noise.System(), slices.Values([]float64{412, 380, math.NaN(), 1900, 350})) {
		fmt.Println(a.Above, err)
	}
	fmt.Printf("%.1f %v\n", must(run.Bound(365, big.NewRat(1, 20))), run.Event())
	// Output:
	// false <nil>
	// false <nil>
	// false <nil>
	// true <nil>
	// 53.1 sparse_vector(0.5)
}

func ExampleSparseVector() {
	run := must(mechanism.NewSparseVector(mechanism.SparseVectorOptions{
		Threshold:    1000,
		Sensitivity:  big.NewRat(1, 1),
		Monotone:     true,
		Answers:      2,
		Epsilon:      must(privacy.ParseEpsilon("1")),
		ValueEpsilon: must(privacy.ParseEpsilon("0.25")),
	}))
	for _, visits := range []float64{412, 2100, 380, 1900, 350} {
		a, err := run.Ask(noise.System(), visits)
		fmt.Println(a.Above, a.Value > 1700, err)
	}
	fmt.Println(run.Event())
	// Output:
	// false false <nil>
	// true true <nil>
	// false false <nil>
	// true true <nil>
	// false false the run has halted
	// sparse_vector(1)
}

func ExampleRandomizedResponse() {
	r := must(mechanism.NewRandomizedResponse(mechanism.RandomizedResponseOptions{
		Answers: 3, Epsilon: must(privacy.ParseEpsilon("1")),
	}))
	said := must(r.Respond(noise.System(), 2)) // on the respondent's device
	fmt.Println(0 <= said && said < 3, r.Truth().FloatString(4))

	shares := must(r.Estimate([]int64{5100, 2600, 2300}, big.NewRat(1, 20)))
	for _, s := range shares {
		fmt.Printf("%.3f in [%.3f, %.3f]\n", s.Raw, s.Low, s.High)
	}
	fmt.Println(must(r.Respondents(big.NewRat(1, 100), big.NewRat(1, 20))), "respondents for an error of 0.01")
	// Output:
	// true 0.5761
	// 0.818 in [0.791, 0.845]
	// 0.132 in [0.108, 0.156]
	// 0.050 in [0.027, 0.073]
	// 139074 respondents for an error of 0.01
}

func ExampleTwoCoin() {
	fair, half := big.NewRat(1, 2), big.NewRat(1, 2)
	c := must(mechanism.NewTwoCoin(mechanism.TwoCoinOptions{First: fair, Second: half}))
	said := must(c.Respond(noise.System(), true))
	fmt.Printf("%T, %v, ε = %.4f\n", said, c.Event(), c.Epsilon().Float64())

	s := must(c.Estimate(4200, 10_000, big.NewRat(1, 20)))
	fmt.Printf("%.2f in [%.3f, %.3f]\n", s.Raw, s.Low, s.High)
	// Output:
	// bool, randomized_response(0.75, k=2), ε = 1.0986
	// 0.34 in [0.321, 0.359]
}

func ExampleQuantile() {
	q := must(mechanism.NewQuantile(mechanism.QuantileOptions{
		Lower: big.NewRat(0, 1), Upper: big.NewRat(120, 1), Step: big.NewRat(1, 1),
		Quantiles: []*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2), big.NewRat(3, 4)},
		Epsilon:   must(privacy.ParseEpsilon("1")),
	}))
	ages := []float64{math.NaN(), math.Inf(1)}
	for i := range 10_000 {
		ages = append(ages, float64(20+i%60))
	}
	chosen := must(q.Choose(noise.System(), ages))
	for i, want := range []float64{35, 50, 65} {
		fmt.Println(math.Abs(chosen[i]-want) < 5)
	}
	fmt.Printf("%.0f ranks, %v\n", must(q.Bound(10_000, big.NewRat(1, 20))), q.Event())
	// Output:
	// true
	// true
	// true
	// 185 ranks, add_remove(2*exponential(0.5))
}

func ExampleHistogram() {
	h := must(mechanism.NewHistogram(mechanism.HistogramOptions{
		Bins:    4,
		MaxBins: 1, // each patient is in one age group
		Epsilon: must(privacy.ParseEpsilon("0.5")),
	}))
	counts := must(h.Add(noise.System(), []int64{310, 120, 0, 4500}))
	fmt.Println(len(counts), counts[3] > 4300, h.Event())
	fmt.Println("all within", must(h.Bound(big.NewRat(1, 20))), "with probability 0.95")
	// Output:
	// 4 true add_remove(discrete_laplace(2, sensitivity=1))
	// all within 9 with probability 0.95
}

func ExamplePrefixSums() {
	p := must(mechanism.NewPrefixSums(mechanism.PrefixSumsOptions{
		Sensitivity: big.NewRat(1, 1), // each patient came on one day
		Block:       20,
		Epsilon:     must(privacy.ParseEpsilon("0.5")),
	}))
	visits := make([]int64, 365)
	for day := range visits {
		visits[day] = 1000
	}
	sums := must(p.Sums(noise.System(), visits))
	fmt.Println(len(sums), sums[364] > 364_000, p.Event())
	fmt.Println("the last within", must(p.Bound(365, big.NewRat(1, 20))), "with probability 0.95")
	// Output:
	// 365 true discrete_laplace(4, sensitivity=2)
	// the last within 105 with probability 0.95
}

func ExampleStabilityHistogram() {
	h := must(mechanism.NewStabilityHistogram[string](mechanism.SelectionOptions{
		MaxGroups: 1,
		Epsilon:   must(privacy.ParseEpsilon("1")),
		Delta:     must(privacy.ParseDelta("1e-6")),
	}))
	shown := must(h.Add(noise.System(), map[string]int64{"flu": 5000, "one rare disease": 1}))
	for _, s := range shown { // flu, with a count near 5000; the other with probability 1e-6 at most
		if s.Key == "flu" {
			fmt.Println(s.Key, s.Count > 4900, h.Threshold(), h.Event())
		}
	}
	// Output: flu true 15 add_remove(selection(1, 0.000001))
}

func ExampleChooseSelection() {
	s := must(mechanism.ChooseSelection(mechanism.SelectionOptions{
		MaxGroups: 1, // a patient lives in one town
		Epsilon:   must(privacy.ParseEpsilon("1")),
		Delta:     must(privacy.ParseDelta("1e-6")),
	}))
	kept := must(s.Select(noise.System(), []*big.Int{big.NewInt(0), big.NewInt(30_000)}))
	fmt.Println(s.Name(), s.HalfCount(), kept, s.Events())
	// Output: truncated_geometric 14 [false true] [add_remove(selection(1, 0.000001))]
}

func ExampleSmoothMedian() {
	m := must(mechanism.NewSmoothMedian(mechanism.SmoothMedianOptions{
		Lower: big.NewRat(0, 1), Upper: big.NewRat(120, 1), Step: big.NewRat(1, 1),
		Epsilon: must(privacy.ParseEpsilon("1")),
	}))
	ages := []float64{34, 36, 36, 37, 37, 38, 38, 38, 39, 41, 45, math.NaN()}
	median := must(m.Release(noise.System(), ages))
	fmt.Println(0 <= median && median <= 120, m.Event())
	// Output: true pure(1)
}

func ExampleProposeTestRelease() {
	p := must(mechanism.NewProposeTestRelease(mechanism.ProposeTestReleaseOptions{
		Lower: big.NewRat(0, 1), Upper: big.NewRat(120, 1), Step: big.NewRat(1, 1),
		Bound:   big.NewRat(1, 1), // a patient more or less moves the median age by a year
		Epsilon: must(privacy.ParseEpsilon("2")),
		Delta:   must(privacy.ParseDelta("1e-6")),
	}))
	ages := make([]float64, 10_000)
	for i := range ages {
		ages[i] = float64(30 + i%50)
	}
	median, passed, err := p.Median(noise.System(), ages)
	fmt.Println(passed, 25 < median && median < 85, err, p.Event())
	// Output: true true <nil> approx(2, 0.000001)
}

func ExampleSampleAggregate() {
	s := must(mechanism.NewSampleAggregate(mechanism.SampleAggregateOptions[float64]{
		Blocks: 200,
		Compute: func(block []float64) float64 { // the largest age of each block
			return slices.Max(block) // panics if it is empty, which counts as Lower
		},
		Lower: big.NewRat(0, 1), Upper: big.NewRat(120, 1), Step: big.NewRat(1, 1),
		Epsilon: must(privacy.ParseEpsilon("1")),
	}))
	ages := make([]float64, 20_000)
	for i := range ages {
		ages[i] = float64(18 + i%70)
	}
	typical := must(s.Release(noise.System(), ages))
	fmt.Println(80 < typical && typical < 95, s.Event())
	// Output: true exponential(1)
}

func ExampleSubsampled() {
	count := must(mechanism.NewLaplace(mechanism.LaplaceOptions{
		Sensitivity: big.NewRat(1, 1), Epsilon: must(privacy.ParseEpsilon("1")),
	}))
	s := must(mechanism.NewSubsampled(mechanism.SubsampledOptions[string, *big.Int]{
		Rate:  big.NewRat(1, 10),
		Event: count.Event(),
		Release: func(bits noise.Bits, sample []string) (*big.Int, error) {
			n := []*big.Int{big.NewInt(int64(len(sample)))}
			return n[0], count.AddTo(bits, n)
		},
	}))
	n := must(s.Release(noise.System(), make([]string, 20_000)))
	fmt.Println(1500 < n.Int64() && n.Int64() < 2500, s.Event())
	// Output: true add_remove(poisson(0.1, discrete_laplace(1, sensitivity=1)))
}

func ExampleMWEM() {
	m := must(mechanism.NewMWEM(mechanism.MWEMOptions{
		Cells:   4, // ill men, well men, ill women, well women
		Queries: [][]int{{0, 1}, {2, 3}, {0, 2}, {1, 3}},
		Rounds:  30,
		Epsilon: must(privacy.ParseEpsilon("1")),
	}))
	synthetic := must(m.Release(noise.System(), []int64{90_000, 10_000, 60_000, 40_000}))
	ill := synthetic[0] + synthetic[2] // where an even spread has 100,000
	fmt.Println(math.Abs(ill-150_000) < 20_000, m.Event())
	fmt.Printf("%.0f\n", must(m.Bound(200_000, big.NewRat(1, 20))))
	// Output:
	// true 30*exponential(1/61) + 31*discrete_laplace(61, sensitivity=1)
	// 89378
}

func Example_sideBySide() {
	beta := big.NewRat(1, 20)
	for _, d := range []int64{1, 10, 100, 1000} { // a unit moves d counts by 1 each
		geometric := must(mechanism.NewLaplace(mechanism.LaplaceOptions{
			Sensitivity: big.NewRat(d, 1), Epsilon: must(privacy.ParseEpsilon("0.5"))}))
		gaussian := must(mechanism.NewGaussian(mechanism.GaussianOptions{
			SensitivitySquared: big.NewRat(d, 1), Rho: must(privacy.ParseRho("0.125"))}))
		fmt.Printf("%d counts: geometric %v, Gaussian %v\n", d, must(geometric.Bound(beta)), must(gaussian.Bound(beta)))
	}
	scores := func(epsilon string) mechanism.ScoreOptions { // a unit moves each score by 1
		return mechanism.ScoreOptions{Sensitivity: big.NewRat(1, 1), Epsilon: must(privacy.ParseEpsilon(epsilon))}
	}
	fmt.Printf("one of 100 candidates: exponential %.0f, permute-and-flip %.0f, noisy max with gap %.0f below the best\n",
		must(must(mechanism.NewExponential(scores("1"))).Bound(100, beta)),
		must(must(mechanism.NewPermuteAndFlip(scores("0.5"))).Bound(100, beta)),
		must(must(mechanism.NewNoisyMax(mechanism.NoisyMaxOptions{ScoreOptions: scores("0.5")})).Bound(100, beta)))
	// Output:
	// 1 counts: geometric 6, Gaussian 4
	// 10 counts: geometric 60, Gaussian 12
	// 100 counts: geometric 599, Gaussian 39
	// 1000 counts: geometric 5991, Gaussian 124
	// one of 100 candidates: exponential 15, permute-and-flip 30, noisy max with gap 61 below the best
}
