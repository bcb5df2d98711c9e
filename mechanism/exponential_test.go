package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// wholeScores are the options for whole scores that change by one.
func wholeScores(e string, monotone bool) ScoreOptions {
	return ScoreOptions{Sensitivity: rat("1"), Epsilon: eps(e), Monotone: monotone, Grid: rat("1")}
}

// exponentialLaw has probabilities in proportion to exp(s/scale).
func exponentialLaw(s []int64, scale float64) law {
	l, sum := law{}, 0.0
	for i, x := range s {
		l[fmt.Sprint(i)] = math.Exp(float64(x) / scale)
		sum += l[fmt.Sprint(i)]
	}
	for i := range l {
		l[i] /= sum
	}
	return l
}

// lists are the lists of three whole scores near 0, and one of many candidates.
func lists() (all [][]int64) {
	for i := range pow(3, 3) {
		all = append(all, []int64{int64(i % 3), int64(i / 3 % 3), int64(i / 9)})
	}
	return all
}

// checkChoice holds the law of a choice among scores: never above e^ε between
// neighbours, and near it for some.
func checkChoice(t *testing.T, what, e string, monotone bool, of func(s []int64) law) {
	t.Helper()
	most := 0.0
	for _, s := range lists() {
		l := of(s)
		for _, other := range neighbours(s, 1, monotone) {
			most = max(most, loss(l, of(other)))
		}
	}
	if most > eps(e).Float64()+1e-9 {
		t.Errorf("%s, epsilon %s, monotone %v: the loss is %v", what, e, monotone, most)
	}
}

func TestExponentialIsPrivateAndTight(t *testing.T) {
	for _, monotone := range []bool{false, true} {
		for _, e := range []string{"0.1", "1", "4"} {
			x := must(NewExponential(wholeScores(e, monotone)))
			scale, _ := x.scale().Float64()
			of := func(s []int64) law { return exponentialLaw(s, scale) }
			checkChoice(t, "exponential", e, monotone, of)
			// One candidate rises and a great many fall.
			many, other := make([]int64, 5000), slices.Repeat([]int64{-1}, 5000)
			if other[0] = 1; monotone {
				other = make([]int64, 5000)
				other[0] = 1
			}
			if got := loss(of(many), of(other)); got < 0.95*eps(e).Float64() {
				t.Errorf("epsilon %s, monotone %v: the loss is only %v", e, monotone, got)
			}
		}
	}
}

// chooser returns a draw for follows.
func chooser(choose func(noise.Bits, []float64) (int, error), s []int64) func() string {
	bits, f := entropy.New(), floats(s)
	return func() string { return fmt.Sprint(must(choose(bits, f))) }
}

func TestExponentialFits(t *testing.T) {
	t.Parallel()
	n := trials(t, 100_000)
	for _, tc := range []struct {
		e      string
		scores []int64
	}{{"1", []int64{0, 3, 3, 1}}, {"0.1", []int64{-9, 20, 0}}, {"5", []int64{0, 1, 2}}, {"1", []int64{7}}, {"1", slices.Repeat([]int64{4}, 9)}} {
		for _, monotone := range []bool{false, true} {
			x := must(NewExponential(wholeScores(tc.e, monotone)))
			scale, _ := x.scale().Float64()
			if err := follows(exponentialLaw(tc.scores, scale), n, chooser(x.Choose, tc.scores)); err != nil {
				t.Errorf("%+v, monotone %v: %v", tc, monotone, err)
			}
		}
	}
	// The test sees half the scale, and a law that forgets the list's order.
	s := []int64{0, 3, 3, 1}
	x := must(NewExponential(wholeScores("1", false)))
	if follows(exponentialLaw(s, 1), n/4, chooser(x.Choose, s)) == nil {
		t.Error("half the scale passes")
	}
	if follows(exponentialLaw([]int64{1, 3, 3, 0}, 2), n/4, chooser(x.Choose, s)) == nil {
		t.Error("another order passes")
	}
}

// A rate of more than 64 bits takes the coin that computes in big integers.
func TestExponentialFitsWithLongRates(t *testing.T) {
	o := wholeScores("1", false)
	o.Epsilon = must(privacy.NewEpsilon(new(big.Rat).SetFrac(new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 100), big.NewInt(1)), new(big.Int).Lsh(big.NewInt(1), 100))))
	x := must(NewExponential(o))
	s := []int64{0, 3, 3, 1}
	if err := follows(exponentialLaw(s, 2), trials(t, 100_000), chooser(x.Choose, s)); err != nil {
		t.Error(err)
	}
}

// Scores of any value are a choice, and by the default grid.
func TestExponentialOddScores(t *testing.T) {
	x := must(NewExponential(ExponentialOptions{Sensitivity: rat("1/3"), Epsilon: eps("1")}))
	bits := entropy.New()
	for _, tc := range []struct {
		scores []float64
		want   int
	}{
		{[]float64{math.NaN(), 0}, 1},
		{[]float64{0, math.NaN(), math.Inf(-1)}, 0},
		{[]float64{0, math.Inf(1), 1e9}, 1},
		{[]float64{-1e300, -1e-300}, 1},
		{[]float64{math.NaN()}, 0},
	} {
		for range 100 { // a wrong choice has probability below e^-1000
			if i, err := x.Choose(bits, tc.scores); err != nil || i != tc.want {
				t.Fatalf("%v: %d, %v", tc.scores, i, err)
			}
		}
	}
	if err := follows(law{"0": 0.5, "1": 0.5}, 10_000, func() string {
		return fmt.Sprint(must(x.Choose(bits, []float64{math.NaN(), math.Inf(-1)})))
	}); err != nil {
		t.Error(err)
	}
}

// accuracies holds the bound of a choice over lists of n candidates of which all but
// one are α worse than the best: the hardest list.
func accuracies(t *testing.T, what string, bound func(int, *big.Rat) (float64, error), choose func(noise.Bits, []float64) (int, error)) {
	t.Helper()
	bits, trials := entropy.New(), trials(t, 100_000)
	for _, beta := range []string{"0.5", "0.05"} {
		const n = 8
		alpha := must(bound(n, rat(beta)))
		s := slices.Repeat([]float64{-alpha * 1.0000001}, n)
		s[5] = 0
		b, _ := rat(beta).Float64()
		if err := held(b, trials, func() bool { return must(choose(bits, s)) == 5 }); err != nil {
			t.Errorf("%s, alpha %v: %v", what, alpha, err)
		}
	}
}

func TestExponentialAccuracy(t *testing.T) {
	t.Parallel()
	for _, monotone := range []bool{false, true} {
		x := must(NewExponential(ScoreOptions{Sensitivity: rat("3"), Epsilon: eps("0.2"), Monotone: monotone}))
		accuracies(t, "exponential", x.Bound, x.Choose)
		want := 30 * math.Log(1000) // (2Δ/ε)·ln(n/β)
		if monotone {
			want /= 2
		}
		if got := must(x.Bound(10, rat("0.01"))); math.Abs(got-want) > 1e-3 {
			t.Errorf("alpha is %v, want %v", got, want)
		}
	}
	x := must(NewExponential(wholeScores("1", false)))
	s := make([]float64, 50)
	s[17] = must(x.Bound(50, rat("0.1"))) / 2
	if held(0.1, 20_000, func() bool { return must(x.Choose(entropy.New(), s)) == 17 }) == nil {
		t.Error("half of alpha passes")
	}
}

// scoreRefusals are options that no choice by scores takes.
func scoreRefusals(t *testing.T, what string, build func(ScoreOptions) (any, error)) {
	t.Helper()
	for name, change := range map[string]func(*ScoreOptions){
		"no sensitivity":       func(o *ScoreOptions) { o.Sensitivity = nil },
		"sensitivity 0":        func(o *ScoreOptions) { o.Sensitivity = new(big.Rat) },
		"negative sensitivity": func(o *ScoreOptions) { o.Sensitivity = rat("-1") },
		"no epsilon":           func(o *ScoreOptions) { o.Epsilon = privacy.Epsilon{} },
		"huge sensitivity":     func(o *ScoreOptions) { o.Sensitivity = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 2000)) },
		"grid not dyadic":      func(o *ScoreOptions) { o.Grid = rat("1/3") },
		"grid 0":               func(o *ScoreOptions) { o.Grid = new(big.Rat) },
		"grid too fine":        func(o *ScoreOptions) { o.Grid = new(big.Rat).SetFloat64(0x1p-70) },
	} {
		o := wholeScores("1", false)
		change(&o)
		if x, err := build(o); !errors.Is(err, ErrParameter) {
			t.Errorf("%s, %s: %v, %v", what, name, x, err)
		}
	}
}

func TestExponentialRefusals(t *testing.T) {
	scoreRefusals(t, "exponential", func(o ScoreOptions) (any, error) { return NewExponential(o) })
	x := must(NewExponential(wholeScores("1", false)))
	if _, err := x.Choose(entropy.New(), nil); !errors.Is(err, ErrParameter) {
		t.Errorf("no candidates: %v", err)
	}
	if _, err := x.Choose(broken{}, []float64{1, 2}); !errors.Is(err, errBroken) {
		t.Errorf("failing bits: %v", err)
	}
	for _, beta := range []*big.Rat{nil, rat("0"), rat("1"), rat("-1")} {
		if _, err := x.Bound(3, beta); !errors.Is(err, ErrParameter) {
			t.Errorf("beta %v: %v", beta, err)
		}
	}
	if _, err := x.Bound(0, half); !errors.Is(err, ErrParameter) {
		t.Errorf("accuracy of no candidates: %v", err)
	}
	if got := x.Event().String(); got != "exponential(1)" {
		t.Errorf("event is %s", got)
	}
}
