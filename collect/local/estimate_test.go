package local

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

// surveyed is what many surveys of the same respondents gave.
type surveyed struct {
	bias      []float64 // of raw shares, in standard deviations of their mean
	spread    []float64 // variance over the one that is told
	outside   []float64 // share of surveys whose interval fails
	outsideOf float64   // share of surveys in which any interval of those together fails
}

func survey(f *Frequency, counts []int, runs int, wrong func(*Tally)) surveyed {
	s := noise.NewStream(entropy.New())
	k, n := len(counts), 0
	for _, c := range counts {
		n += c
	}
	out := surveyed{bias: make([]float64, k), spread: make([]float64, k), outside: make([]float64, k)}
	sum, square := make([]float64, k), make([]float64, k)
	each, all := EstimateOptions{Beta: big.NewRat(1, 10)}, EstimateOptions{Beta: big.NewRat(1, 10), Together: true}
	for range runs {
		t := f.NewTally()
		for v, c := range counts {
			for range c {
				if err := t.Add(must(f.Randomize(s, v))); err != nil {
					panic(err)
				}
			}
		}
		if wrong != nil {
			wrong(t)
		}
		e, a := must(t.Estimate(each)), must(t.Estimate(all))
		missed := 0.0
		for v, c := range counts {
			truth := float64(c) / float64(n)
			sum[v] += e.Raw[v] - truth
			square[v] += (e.Raw[v] - truth) * (e.Raw[v] - truth)
			if truth < e.Low[v] || truth > e.High[v] {
				out.outside[v] += 1 / float64(runs)
			}
			if truth < a.Low[v] || truth > a.High[v] {
				missed = 1 / float64(runs)
			}
		}
		out.outsideOf += missed
	}
	for v, c := range counts {
		variance := f.Variance(float64(c)/float64(n)) / float64(n)
		out.bias[v] = sum[v] / math.Sqrt(variance*float64(runs))
		out.spread[v] = square[v] / float64(runs) / variance
	}
	return out
}

// Over 1,000 surveys raw shares are without bias, of the variance that is told, and intervals
// hold at their probability, each and together. A right estimate fails this with probability
// below 1e-9: 13 protocols of 4 values, at 6.8 deviations of a mean, of a variance (of a law
// with light tails) and of a binomial.
func TestEstimatesHold(t *testing.T) {
	const runs = 1000
	counts := []int{30, 18, 8, 4}
	for _, p := range Frequencies() {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			f := must(NewFrequency(FrequencyOptions{Protocol: p, Values: len(counts), Epsilon: eps("1.2"), Bits: 16, Cohorts: 8, Rows: 16, Columns: 16, Salt: "survey"}))
			s := survey(f, counts, runs, nil)
			_, public := f.kernel.(overlapping)
			worst := 0.1 + 6.8*math.Sqrt(0.1*0.9/runs)
			for v := range counts {
				if !public && (math.Abs(s.bias[v]) > 6.8 || math.Abs(s.spread[v]-1) > 6.8*math.Sqrt(3.0/runs)) {
					t.Errorf("value %d: %.1f deviations off, variance %.2f of what is told", v, s.bias[v], s.spread[v])
				}
				if s.outside[v] > worst {
					t.Errorf("value %d: %v of the intervals fail", v, s.outside[v])
				}
			}
			if s.outsideOf > worst {
				t.Errorf("%v of the intervals together fail", s.outsideOf)
			}
		})
	}
}

// Wrong estimates are seen by the same test: OUE with p and q swapped, OLH with the probability
// of a lie for that of a miss, RAPPOR with the second coin alone.
func TestPlantedFaultsInEstimates(t *testing.T) {
	counts := []int{60, 25, 10, 5}
	biased := func(f *Frequency, counts []int) bool {
		s := survey(f, counts, 200, nil)
		return slices.ContainsFunc(s.bias, func(z float64) bool { return math.Abs(z) > 8 }) ||
			slices.ContainsFunc(s.outside, func(x float64) bool { return x > 0.4 })
	}
	oue := must(NewFrequency(FrequencyOptions{Protocol: OUE, Values: 4, Epsilon: eps("1.2")}))
	if biased(oue, counts) {
		t.Error("a right estimate looks wrong")
	}
	u := oue.kernel.(*unary)
	swapped := *u
	swapped.p, swapped.q = u.q, u.p
	oue.kernel = decoded{u, swapped.channel()}
	if !biased(oue, counts) {
		t.Error("p and q swapped make no difference")
	}
	olh := must(NewFrequency(FrequencyOptions{Protocol: OLH, Values: 4, Epsilon: eps("1.2")}))
	o := olh.kernel.(*hashed)
	c := o.channel()
	c.miss = over(not(c.hit), whole(o.g-1))
	olh.kernel = decoded{o, c}
	if !biased(olh, counts) {
		t.Error("a lie for a miss makes no difference")
	}
	rappor := must(NewFrequency(FrequencyOptions{Protocol: RAPPOR, Values: 4, Epsilon: eps("3"), Bits: 64, Cohorts: 8}))
	r := rappor.kernel.(*bloom)
	bare := *r
	bare.set, bare.unset = r.q, r.p
	rappor.kernel = decoded{r, bare.channel()}
	if !biased(rappor, []int{600, 250, 100, 50}) {
		t.Error("RAPPOR with one coin makes no difference")
	}
}

type (
	hashed = olh
	bloom  = rappor
)

// decoded is a kernel with a channel in place of the right one.
type decoded struct {
	kernel
	as channel
}

func (d decoded) channel() channel { return d.as }

func TestPostProcessing(t *testing.T) {
	for _, v := range vectors(t) {
		if v.ID != "ldp.postproc.simplex" && v.ID != "ldp.postproc.simplex2" {
			continue
		}
		floats := func(x any) (out []float64) {
			for _, y := range x.([]any) {
				out = append(out, y.(float64))
			}
			return out
		}
		raw, want := floats(v.Params["est"]), floats(v.Expected["simplex"])
		for name, got := range map[string][]float64{"simplex": Simplex(raw), "norm-sub": NormSub(raw)} {
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-12 {
					t.Errorf("%s, %s: %v, want %v", v.ID, name, got, want)
				}
			}
		}
	}
	if got := Clip([]float64{-1, 0.5, 2}); !slices.Equal(got, []float64{0, 0.5, 1}) {
		t.Errorf("clipped: %v", got)
	}
	if got := NormSub([]float64{-1, -2}); got[0] != 0.5 {
		t.Errorf("nothing positive: %v", got)
	}
}

// The most likely shares of the mean of many reports are the true ones.
func TestIteratedBayes(t *testing.T) {
	for _, p := range []Protocol{GRR, HadamardResponse} {
		f := must(NewFrequency(FrequencyOptions{Protocol: p, Values: 3, Epsilon: eps("2")}))
		truth := []float64{0.7, 0.3, 0}
		tally := f.NewTally()
		for v, s := range truth {
			for r, q := range f.Law(Report{}, v) {
				for range int(math.Round(1e5 * s * near(q))) {
					if err := tally.Add(r); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		got := must(tally.IteratedBayes())
		for v := range truth {
			if math.Abs(got[v]-truth[v]) > 2e-3 {
				t.Errorf("%s: %v", p, got)
			}
		}
	}
	f := must(NewFrequency(FrequencyOptions{Protocol: OUE, Values: 3, Epsilon: eps("2")}))
	tally := f.NewTally()
	if err := tally.Add(Report{1}); err != nil {
		t.Fatal(err)
	}
	if _, err := tally.IteratedBayes(); !errors.Is(err, ErrParameter) {
		t.Errorf("iterated Bayes of OUE: %v", err)
	}
}

// A true hypothesis is rejected at 1e-10 with about that probability; a false one is.
func TestHypotheses(t *testing.T) {
	s := noise.NewStream(entropy.New())
	f := must(NewFrequency(FrequencyOptions{Protocol: GRR, Values: 3, Epsilon: eps("2")}))
	tally := f.NewTally()
	linked, apart := [][]int64{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, [][]int64{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}
	for range 20_000 {
		x := int(must(s.Below(3)))
		a, b := must(f.Randomize(s, x)), must(f.Randomize(s, x))
		other := must(f.Randomize(s, int(must(s.Below(3)))))
		linked[a[0]][b[0]]++
		apart[a[0]][other[0]]++
		if err := tally.Add(a); err != nil {
			t.Fatal(err)
		}
	}
	third := 1.0 / 3
	if got := must(tally.Fit([]float64{third, third, 1 - 2*third})); got.P < 1e-10 || got.Freedom != 2 {
		t.Errorf("a true distribution: %+v", got)
	}
	if got := must(tally.Fit([]float64{0.5, 0.3, 0.2})); got.P > 1e-10 {
		t.Errorf("a false distribution: %+v", got)
	}
	if got := must(Independence(apart)); got.P < 1e-10 || got.Freedom != 4 {
		t.Errorf("independent values: %+v", got)
	}
	if got := must(Independence(linked)); got.P > 1e-10 {
		t.Errorf("equal values: %+v", got)
	}
	for _, bad := range [][][]int64{nil, {{1, 2}}, {{1, 2}, {3}}, {{1, -2}, {3, 4}}, {{0, 0}, {3, 4}}} {
		if _, err := Independence(bad); !errors.Is(err, ErrParameter) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// So many respondents give the error, one less does not, and the least epsilon as well.
func TestPlans(t *testing.T) {
	alpha, beta := big.NewRat(1, 100), big.NewRat(1, 20)
	for _, p := range Frequencies() {
		o := FrequencyOptions{Protocol: p, Values: 50, Epsilon: eps("1")}
		f := must(NewFrequency(o))
		n := must(f.Respondents(alpha, beta))
		if e := must(f.Error(n, beta)); e > 0.01 || must(f.Error(n-1, beta)) <= 0.01 {
			t.Errorf("%s: %d respondents, error %v", p, n, e)
		}
		if p == RAPPOR || p == CMS || p == HCMS {
			continue
		}
		e := must(EpsilonFor(o, n, alpha, beta))
		if e.Float64() > 1.001 || e.Float64() < 0.9 {
			t.Errorf("%s: epsilon %v for %d respondents", p, e, n)
		}
	}
	if _, err := must(NewFrequency(FrequencyOptions{Protocol: GRR, Values: 50, Epsilon: eps("0.001")})).Respondents(big.NewRat(1, 1e9), beta); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}

func TestTallies(t *testing.T) {
	s := noise.NewStream(entropy.New())
	for _, p := range Frequencies() {
		f := must(NewFrequency(FrequencyOptions{Protocol: p, Values: 70, Epsilon: eps("1"), Salt: "x"}))
		whole, a, b := f.NewTally(), f.NewTally(), f.NewTally()
		for i := range 60 {
			r := must(f.Randomize(s, i%80-5)) // some are no values
			text := f.Format(r)
			again, err := f.Parse(text)
			if err != nil || !slices.Equal(again, r) {
				t.Fatalf("%s: %q is read as %v, %v", p, text, again, err)
			}
			for _, bad := range []Report{nil, r[1:], append(slices.Clone(r), 1), slices.Repeat(Report{1 << 63}, len(r))} {
				if p != SHE && !errors.Is(whole.Add(bad), ErrReport) {
					t.Fatalf("%s: %v is counted", p, bad)
				}
			}
			for _, to := range []*Tally{whole, []*Tally{a, b}[i%2]} {
				if err := to.Add(r); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := a.Merge(b); err != nil {
			t.Fatal(err)
		}
		x, y := must(whole.Estimate(EstimateOptions{})), must(a.Estimate(EstimateOptions{}))
		for v := range x.Raw {
			if math.Abs(x.Raw[v]-y.Raw[v]) > 1e-9 {
				t.Fatalf("%s: %v of the whole, %v of the parts", p, x.Raw[v], y.Raw[v])
			}
		}
		for _, text := range []string{"", "x", "1 2 3 4 5 6", "-1", "99999999999999999999999", "zz 00"} {
			if _, err := f.Parse(text); !errors.Is(err, ErrReport) {
				t.Errorf("%s: %q is read: %v", p, text, err)
			}
		}
	}
}

func TestBadParameters(t *testing.T) {
	for _, o := range []FrequencyOptions{
		{}, {Protocol: GRR, Values: 1, Epsilon: eps("1")}, {Protocol: "x", Values: 3, Epsilon: eps("1")},
		{Protocol: GRR, Values: 3}, {Protocol: GRR, Values: 3, Epsilon: eps("65")}, {Protocol: GRR, Values: 3, Epsilon: eps("1e-7")},
		{Protocol: OLH, Values: 3, Epsilon: eps("30")}, {Protocol: RAPPOR, Values: 3, Epsilon: eps("1"), Hashes: 99},
		{Protocol: RAPPOR, Values: 3, Epsilon: eps("1"), Bits: 1}, {Protocol: RAPPOR, Values: 3, Epsilon: eps("1"), Cohorts: -1},
		{Protocol: CMS, Values: 3, Epsilon: eps("1"), Rows: -1}, {Protocol: HCMS, Values: 3, Epsilon: eps("1"), Columns: 100},
		{Protocol: GRR, Values: MaxValues + 1, Epsilon: eps("1")},
	} {
		if _, err := NewFrequency(o); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	// Extremes are refused, or exact.
	for _, p := range Frequencies() {
		for _, e := range []string{"1e-6", "0.01", "20", "64"} {
			f, err := NewFrequency(FrequencyOptions{Protocol: p, Values: 3, Epsilon: eps(e)})
			if err != nil {
				if !errors.Is(err, ErrParameter) {
					t.Errorf("%s, epsilon %s: %v", p, e, err)
				}
				continue
			}
			if f.Epsilon().Sign() <= 0 || f.Epsilon().Cmp(eps(e)) > 0 || !(f.Variance(0) > 0) || math.IsInf(f.Variance(0), 0) {
				t.Errorf("%s, epsilon %s: %v, variance %v", p, e, f.Epsilon(), f.Variance(0))
			}
		}
	}
}
