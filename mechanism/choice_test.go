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
)

// flipLaw is permute-and-flip's, over all orders of the list.
func flipLaw(s []int64, scale float64) law {
	l, best := law{}, slices.Max(s)
	for i := range s {
		l[fmt.Sprint(i)] = 0
	}
	var visit func(left []int, p float64)
	visit = func(left []int, p float64) {
		for k, i := range left {
			heads, order := math.Exp(-float64(best-s[i])/scale), p/float64(len(left))
			l[fmt.Sprint(i)] += order * heads
			if heads < 1 {
				visit(slices.Concat(left[:k], left[k+1:]), order*(1-heads))
			}
		}
	}
	visit(indices(len(s)), 1)
	return l
}

// A mass is a law of noise over the integers: P(K = k), P(K <= k), and where to stop.
type mass struct {
	at, upTo func(k int64) float64
	low, top int64
}

func laplaceMass(t float64) mass {
	g := geometric(t)
	return mass{g.at, func(k int64) float64 { return g.below(k + 1) }, -g.reach(), g.reach()}
}

func oneSidedMass(t float64) mass {
	return mass{
		func(k int64) float64 { return math.Exp(-float64(max(k, 0))/t) * -math.Expm1(-1/t) * indicator(k >= 0) },
		func(k int64) float64 { return -math.Expm1(-float64(k+1)/t) * indicator(k >= 0) },
		0, geometric(t).reach(),
	}
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// maxLaw is noisy max's: the lowest index wins among equals. Gaps up to shown are
// listed, none if it is negative.
func maxLaw(s []int64, m mass, shown int64) law {
	l, top := law{}, slices.Max(s)+m.top+1
	for o := range s {
		// P(the others let o win with a noisy score of x)
		wins := func(x int64) float64 {
			p := 1.0
			for i := range s {
				if i < o {
					p *= m.upTo(x - 1 - s[i])
				} else if i > o {
					p *= m.upTo(x - s[i])
				}
			}
			return p
		}
		for x := s[o] + m.low; x <= top; x++ {
			if shown < 0 {
				l[fmt.Sprint(o)] += m.at(x-s[o]) * wins(x)
				continue
			}
			for gap := int64(0); gap <= shown; gap++ { // x-gap is the least with which o wins
				l[fmt.Sprint(o, "+", gap)] += m.at(x-s[o]) * (wins(x-gap) - wins(x-gap-1))
			}
		}
	}
	return l
}

func floatScale(s scores) float64 { f, _ := s.scale().Float64(); return f }

func choiceLaws() map[string]func(s []int64, scale float64) law {
	return map[string]func(s []int64, scale float64) law{
		"permute-and-flip":      flipLaw,
		"Laplace":               func(s []int64, t float64) law { return maxLaw(s, laplaceMass(t), -1) },
		"Laplace with gap":      func(s []int64, t float64) law { return maxLaw(s, laplaceMass(t), 2) },
		"one-sided exponential": func(s []int64, t float64) law { return maxLaw(s, oneSidedMass(t), -1) },
	}
}

// The probabilities of all choices from three candidates change by e^ε at most, and
// for some lists by nearly that.
func TestChoicesArePrivateAndTight(t *testing.T) {
	t.Parallel()
	for _, monotone := range []bool{false, true} {
		for _, e := range []string{"1", "3"} {
			scale := floatScale(must(newScores(wholeScores(e, monotone))))
			for name, of := range choiceLaws() {
				checkChoice(t, name, e, monotone, func(s []int64) law { return of(s, scale) })
				// One that is far below rises to be chosen nevertheless, the other falls.
				least := int64(-30 * scale)
				up := of([]int64{0, least}, scale)
				down := of([]int64{1, least}, scale)
				if !monotone {
					down = of([]int64{1, least - 1}, scale)
				}
				if got := math.Log(up["1"]/down["1"]) / eps(e).Float64(); name != "Laplace with gap" && (got < 0.9 || got > 1+1e-9) {
					t.Errorf("%s, epsilon %s, monotone %v: the loss is %v of epsilon", name, e, monotone, got)
				}
			}
		}
	}
}

// Every choice follows its law, with each candidate in its place.
func TestChoicesFit(t *testing.T) {
	t.Parallel()
	const n = 40_000 // less does not show all faults
	bits := entropy.New()
	for _, s := range [][]int64{{0, 2, 2, 1}, {3, 0, 1}} {
		for _, monotone := range []bool{false, true} {
			o := wholeScores("1", monotone)
			scale := floatScale(must(newScores(o)))
			flip := must(NewPermuteAndFlip(o))
			two := must(NewNoisyMax(NoisyMaxOptions{o, LaplaceNoise}))
			one := must(NewNoisyMax(NoisyMaxOptions{o, ExponentialNoise}))
			gumbel := must(NewNoisyMax(NoisyMaxOptions{o, GumbelNoise}))
			laws := choiceLaws()
			gap := func() string {
				i, g, err := two.ChooseGap(bits, floats(s))
				if err != nil {
					t.Fatal(err)
				}
				return fmt.Sprint(i, "+", g)
			}
			for name, tc := range map[string]struct {
				l    law
				draw func() string
			}{
				"permute-and-flip": {laws["permute-and-flip"](s, scale), chooser(flip.Choose, s)},
				"Laplace":          {laws["Laplace"](s, scale), chooser(two.Choose, s)},
				"with gap":         {laws["Laplace with gap"](s, scale), gap},
				"one-sided":        {laws["one-sided exponential"](s, scale), chooser(one.Choose, s)},
				"Gumbel":           {exponentialLaw(s, scale), chooser(gumbel.Choose, s)},
			} {
				if err := follows(tc.l, n, tc.draw); err != nil {
					t.Errorf("%s, %v, monotone %v: %v", name, s, monotone, err)
				}
			}
			if monotone {
				continue
			}
			// Half the noise, and the mechanisms for each other, are found.
			for name, tc := range map[string]struct {
				l    law
				draw func() string
			}{
				"half the noise":             {laws["Laplace"](s, scale/2), chooser(two.Choose, s)},
				"one-sided for Laplace":      {laws["Laplace"](s, scale), chooser(one.Choose, s)},
				"ties to the last":           {reversed(laws["one-sided exponential"](backwards(s), scale), len(s)), chooser(one.Choose, s)},
				"exponential for flip":       {exponentialLaw(s, scale), chooser(flip.Choose, s)},
				"another order":              {laws["Laplace"](backwards(s), scale), chooser(two.Choose, s)},
				"the noisy maximum as a gap": {laws["Laplace with gap"](s, scale), func() string { return gap() + "0" }},
			} {
				if follows(tc.l, n, tc.draw) == nil {
					t.Errorf("%s, %v: passes", name, s)
				}
			}
		}
	}
}

func backwards(s []int64) []int64 {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

// reversed renames the outcomes of a list that was read backwards.
func reversed(l law, n int) law {
	r := law{}
	for i := range n {
		r[fmt.Sprint(i)] = l[fmt.Sprint(n-1-i)]
	}
	return r
}

func TestChoiceAccuracy(t *testing.T) {
	t.Parallel()
	for _, monotone := range []bool{false, true} {
		o := ScoreOptions{Sensitivity: rat("1"), Epsilon: eps("0.5"), Monotone: monotone}
		p := must(NewPermuteAndFlip(o))
		accuracies(t, "permute-and-flip", p.Bound, p.Choose)
		for _, k := range []MaxNoise{LaplaceNoise, ExponentialNoise, GumbelNoise} {
			m := must(NewNoisyMax(NoisyMaxOptions{o, k}))
			accuracies(t, fmt.Sprint("noisy max ", k), m.Bound, m.Choose)
		}
	}
}

func TestChoiceRefusals(t *testing.T) {
	scoreRefusals(t, "permute-and-flip", func(o ScoreOptions) (any, error) { return NewPermuteAndFlip(o) })
	for k := LaplaceNoise; k <= GumbelNoise; k++ {
		scoreRefusals(t, fmt.Sprint("noisy max ", k), func(o ScoreOptions) (any, error) { return NewNoisyMax(NoisyMaxOptions{o, k}) })
		scoreRefusals(t, fmt.Sprint("top-k ", k), func(o ScoreOptions) (any, error) { return NewTopK(TopKOptions{o, 2, k}) })
		m := must(NewNoisyMax(NoisyMaxOptions{wholeScores("1", false), k}))
		if _, err := m.Choose(entropy.New(), nil); !errors.Is(err, ErrParameter) {
			t.Errorf("noise %d, no candidates: %v", k, err)
		}
		if _, err := m.Choose(broken{}, []float64{1, 2}); !errors.Is(err, errBroken) {
			t.Errorf("noise %d, failing bits: %v", k, err)
		}
		if _, _, err := m.ChooseGap(entropy.New(), []float64{1, 2}); (err == nil) != (k == LaplaceNoise) {
			t.Errorf("noise %d, with gap: %v", k, err)
		}
		if i, err := m.Choose(entropy.New(), []float64{math.NaN(), 0, math.NaN()}); i != 1 || err != nil {
			t.Errorf("noise %d, NaN: %d, %v", k, i, err)
		}
		top := must(NewTopK(TopKOptions{wholeScores("1", false), 2, k}))
		for _, list := range [][]float64{nil, {1}} {
			if c, err := top.Choose(entropy.New(), list); c != nil || !errors.Is(err, ErrParameter) {
				t.Errorf("noise %d, 2 of %d: %v, %v", k, len(list), c, err)
			}
		}
		if c, err := top.Choose(broken{}, []float64{1, 2, 3}); c != nil || !errors.Is(err, errBroken) {
			t.Errorf("noise %d, failing bits: %v, %v", k, c, err)
		}
		if _, _, err := top.ChooseGaps(entropy.New(), []float64{1, 2}); (err == nil) != (k == LaplaceNoise) {
			t.Errorf("noise %d, with gaps: %v", k, err)
		}
		if _, err := top.Bound(1, half); !errors.Is(err, ErrParameter) {
			t.Errorf("noise %d, accuracy of 2 of 1: %v", k, err)
		}
	}
	for _, k := range []int{0, -1, math.MaxInt} {
		if _, err := NewTopK(TopKOptions{wholeScores("1", false), k, 0}); !errors.Is(err, ErrParameter) {
			t.Errorf("top %d: %v", k, err)
		}
	}
	if _, err := NewNoisyMax(NoisyMaxOptions{wholeScores("1", false), 3}); !errors.Is(err, ErrParameter) {
		t.Error("no such noise: ", err)
	}
	p := must(NewPermuteAndFlip(wholeScores("1", false)))
	if _, err := p.Choose(entropy.New(), nil); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	if _, err := p.Choose(broken{}, []float64{1, 2}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	_, gap, err := must(NewNoisyMax(NoisyMaxOptions{wholeScores("1", false), LaplaceNoise})).ChooseGap(entropy.New(), []float64{5})
	if err != nil || !math.IsInf(gap, 1) {
		t.Errorf("the gap of one candidate is %v, %v", gap, err)
	}
	for want, got := range map[string]fmt.Stringer{
		"permute_and_flip(1)": p.Event(),
		"noisy_max(1)":        must(NewNoisyMax(NoisyMaxOptions{wholeScores("1", false), ExponentialNoise})).Event(),
		"exponential(1)":      must(NewNoisyMax(NoisyMaxOptions{wholeScores("1", false), GumbelNoise})).Event(),
		"noisy_max(2)":        must(NewTopK(TopKOptions{wholeScores("2", false), 3, LaplaceNoise})).Event(),
		"4*exponential(0.25)": must(NewTopK(TopKOptions{wholeScores("1", false), 4, GumbelNoise})).Event(),
	} {
		if got.String() != want {
			t.Errorf("event %s, want %s", got, want)
		}
	}
}

// topLaw is the law of the two best of three, in order, with their gaps up to shown.
func topLaw(s []int64, m mass, shown int64) law {
	l := law{}
	for a := range s {
		for b := range s {
			if a == b {
				continue
			}
			c := 3 - a - b
			for z := s[c] + m.low; z <= s[c]+m.top; z++ { // the one not chosen
				least := z + int64(indicator(c < b)) // with which b beats it
				p := m.at(z - s[c])
				if shown < 0 {
					for y := least; y <= s[b]+m.top; y++ {
						l[fmt.Sprint(a, b)] += p * m.at(y-s[b]) * (1 - m.upTo(y+int64(indicator(b < a))-1-s[a]))
					}
					continue
				}
				for g := int64(0); g <= shown; g++ {
					for h := int64(0); h <= shown; h++ {
						y := least + g
						x := y + int64(indicator(b < a)) + h
						l[fmt.Sprint(a, b, " ", h, g)] += p * m.at(y-s[b]) * m.at(x-s[a])
					}
				}
			}
		}
	}
	return l
}

func TestTopKIsPrivateAndFits(t *testing.T) {
	t.Parallel()
	n, bits := trials(t, 40_000), entropy.New()
	for _, monotone := range []bool{false, true} {
		o := wholeScores("3", monotone)
		scale := 2 * floatScale(must(newScores(o)))
		for name, of := range map[string]func(s []int64) law{
			"Laplace":           func(s []int64) law { return topLaw(s, laplaceMass(scale), -1) },
			"Laplace with gaps": func(s []int64) law { return topLaw(s, laplaceMass(scale), 1) },
			"one-sided":         func(s []int64) law { return topLaw(s, oneSidedMass(scale), -1) },
			"Gumbel":            func(s []int64) law { return peelTwo(s, scale) },
		} {
			laws := map[string]law{}
			checkChoice(t, "top-k, "+name, "3", monotone, func(s []int64) law {
				key := fmt.Sprint(s)
				if laws[key] == nil {
					laws[key] = of(s)
				}
				return laws[key]
			})
			s := []int64{1, 2, 1}
			kind := map[string]MaxNoise{"one-sided": ExponentialNoise, "Gumbel": GumbelNoise}[name]
			top := must(NewTopK(TopKOptions{o, 2, kind}))
			draw := func() string {
				c := must(top.Choose(bits, floats(s)))
				return fmt.Sprint(c[0], c[1])
			}
			if name == "Laplace with gaps" {
				draw = func() string {
					c, g, err := top.ChooseGaps(bits, floats(s))
					if err != nil {
						t.Fatal(err)
					}
					return fmt.Sprint(c[0], c[1], " ", int64(g[0]), int64(g[1]))
				}
			}
			if err := follows(of(s), n, draw); err != nil {
				t.Errorf("%s, monotone %v: %v", name, monotone, err)
			}
			if name != "Laplace with gaps" && follows(of([]int64{1, 1, 2}), n/2, draw) == nil {
				t.Errorf("%s, monotone %v: another order passes", name, monotone)
			}
			once := must(NewTopK(TopKOptions{func() ScoreOptions { o := o; o.Epsilon = eps("6"); return o }(), 2, kind}))
			if follows(of(s), n, func() string { c := must(once.Choose(bits, floats(s))); return fmt.Sprint(c[0], c[1]) }) == nil {
				t.Errorf("%s, monotone %v: noise that is not scaled by k passes", name, monotone)
			}
		}
	}
}

// peelTwo is the law of two choices by the exponential mechanism, one after the other.
func peelTwo(s []int64, scale float64) law {
	l, weight, sum := law{}, make([]float64, len(s)), 0.0
	for i, x := range s {
		weight[i] = math.Exp(float64(x) / scale)
		sum += weight[i]
	}
	for a := range s {
		for b := range s {
			if a != b {
				l[fmt.Sprint(a, b)] = weight[a] / sum * weight[b] / (sum - weight[a])
			}
		}
	}
	return l
}

func TestTopKAccuracy(t *testing.T) {
	t.Parallel()
	bits, n := entropy.New(), trials(t, 100_000)
	for _, kind := range []MaxNoise{LaplaceNoise, ExponentialNoise, GumbelNoise} {
		top := must(NewTopK(TopKOptions{ScoreOptions{Sensitivity: rat("1"), Epsilon: eps("1")}, 3, kind}))
		for _, beta := range []string{"0.2"} {
			alpha, b := must(top.Bound(8, rat(beta))), 0.0
			b, _ = rat(beta).Float64()
			s := make([]float64, 8)
			s[2], s[5], s[7] = alpha*1.000001, alpha*1.000001, alpha*1.000001
			if err := held(b, n, func() bool {
				c := must(top.Choose(bits, s))
				slices.Sort(c)
				return slices.Equal(c, []int{2, 5, 7})
			}); err != nil {
				t.Errorf("noise %d, beta %s, alpha %v: %v", kind, beta, alpha, err)
			}
		}
	}
	// All candidates, in order, the last without a gap.
	top := must(NewTopK(TopKOptions{ScoreOptions{Sensitivity: rat("1"), Epsilon: eps("1")}, 3, LaplaceNoise}))
	c, g, err := top.ChooseGaps(bits, []float64{0, 1e6, 1e3})
	if err != nil || !slices.Equal(c, []int{1, 2, 0}) || !math.IsInf(g[2], 1) || math.Abs(g[0]-1e6+1e3) > 500 {
		t.Errorf("%v, %v, %v", c, g, err)
	}
}

// rangeLaw has a probability for each candidate: scores by piece.
func rangeLaw(candidates []float64, score func(x float64) int64, scale float64) law {
	s := make([]int64, len(candidates))
	for i, x := range candidates {
		s[i] = score(x)
	}
	l := law{}
	for i, p := range exponentialLaw(s, scale) {
		var k int
		must(fmt.Sscan(i, &k))
		l[fmt.Sprint(candidates[k])] = p
	}
	return l
}

func TestExponentialRangeFits(t *testing.T) {
	t.Parallel()
	n, bits := trials(t, 20_000), entropy.New()
	nan, inf := math.NaN(), math.Inf(1)
	var quarters []float64
	for x := -0.75; x <= 2.25; x += 0.25 {
		quarters = append(quarters, x)
	}
	for name, tc := range map[string]struct {
		cuts, scores []float64
		score        func(x float64) int64
	}{
		"cuts between and on candidates": {[]float64{0.1, 1, 1.75}, []float64{0, 4, 1, 2}, func(x float64) int64 {
			switch {
			case x < 0.1:
				return 0
			case x < 1:
				return 4
			case x < 1.75:
				return 1
			}
			return 2
		}},
		"one piece":                    {nil, []float64{3}, func(float64) int64 { return 0 }},
		"cuts outside":                 {[]float64{-inf, -5, 7, inf}, []float64{9, 9, 1, 9, 9}, func(float64) int64 { return 0 }},
		"NaN and cuts the wrong way":   {[]float64{nan, 1, 0, nan}, []float64{9, 0, 9, 9, 2}, func(x float64) int64 { return int64(2 * indicator(x >= 1)) }},
		"an empty piece in the middle": {[]float64{0.3, 0.4}, []float64{1, 1000, 0}, func(x float64) int64 { return int64(indicator(x < 0.3)) }},
	} {
		e := must(NewExponentialRange(ExponentialRangeOptions{wholeScores("1", false), -0.9, 2.3, rat("1/4")}))
		draw := func() string { return fmt.Sprint(must(e.Choose(bits, tc.cuts, tc.scores))) }
		if err := follows(rangeLaw(quarters, tc.score, 2), n, draw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := must(NewExponentialRange(ExponentialRangeOptions{wholeScores("1", false), -0.9, 2.3, rat("1/4")}))
	if follows(rangeLaw(quarters, func(x float64) int64 { return int64(4 * indicator(x < 0.5)) }, 2), n/2, func() string {
		return fmt.Sprint(must(e.Choose(bits, []float64{0.75}, []float64{4, 0})))
	}) == nil {
		t.Error("a cut one candidate too high passes")
	}
}

// By the default step the range is as good as continuous, and a good piece is found
// however narrow it is.
func TestExponentialRangeAccuracy(t *testing.T) {
	t.Parallel()
	bits, n := entropy.New(), trials(t, 20_000)
	e := must(NewExponentialRange(ExponentialRangeOptions{ScoreOptions{Sensitivity: rat("1"), Epsilon: eps("1")}, 0, 1000, nil}))
	for _, beta := range []string{"0.5", "0.05"} {
		alpha, b := must(e.Bound(rat("1e-6"), rat(beta))), 0.0
		b, _ = rat(beta).Float64()
		if err := held(b, n, func() bool {
			x := must(e.Choose(bits, []float64{500, 500.00101}, []float64{0, alpha * 1.00001, 0}))
			return x >= 500 && x < 500.00101
		}); err != nil {
			t.Errorf("beta %s, alpha %v: %v", beta, alpha, err)
		}
	}
	want := 2 * math.Log(1e6*20)
	if got := must(e.Bound(rat("1e-6"), rat("0.05"))); math.Abs(got-want) > 1e-3 {
		t.Errorf("alpha is %v, want %v", got, want)
	}
}

func TestExponentialRangeRefusals(t *testing.T) {
	scoreRefusals(t, "range", func(o ScoreOptions) (any, error) {
		return NewExponentialRange(ExponentialRangeOptions{o, 0, 1, nil})
	})
	for name, o := range map[string]ExponentialRangeOptions{
		"empty":            {wholeScores("1", false), 1, 1, nil},
		"the wrong way":    {wholeScores("1", false), 1, 0, nil},
		"NaN":              {wholeScores("1", false), math.NaN(), 0, nil},
		"infinite":         {wholeScores("1", false), 0, math.Inf(1), nil},
		"between two":      {wholeScores("1", false), 0.1, 0.9, rat("1")},
		"step not dyadic":  {wholeScores("1", false), 0, 1, rat("0.1")},
		"step too fine":    {wholeScores("1", false), 0, 1, new(big.Rat).SetFloat64(0x1p-63)},
		"negative step":    {wholeScores("1", false), 0, 1, rat("-1")},
		"beyond a float64": {wholeScores("1", false), 0, 5e-324, nil},
	} {
		if e, err := NewExponentialRange(o); e != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v, %v", name, e, err)
		}
	}
	e := must(NewExponentialRange(ExponentialRangeOptions{wholeScores("1", false), 0, 1, nil}))
	for _, scores := range [][]float64{nil, {1}, {1, 2, 3}} {
		if _, err := e.Choose(entropy.New(), []float64{0.5}, scores); !errors.Is(err, ErrParameter) {
			t.Errorf("%d scores for one cut: %v", len(scores), err)
		}
	}
	if _, err := e.Choose(broken{}, []float64{0.5}, []float64{1, 2}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	for _, bad := range []*big.Rat{nil, rat("0"), rat("-1"), rat("2")} {
		if _, err := e.Bound(bad, half); !errors.Is(err, ErrParameter) {
			t.Errorf("share %v: %v", bad, err)
		}
		if _, err := e.Bound(half, bad); !errors.Is(err, ErrParameter) {
			t.Errorf("beta %v: %v", bad, err)
		}
	}
	if got := e.Event().String(); got != "exponential(1)" {
		t.Errorf("event is %s", got)
	}
}

// Whole scores of any size are chosen from as they are: 2^53 and 2^53+1, which as floats are equal, differ, and what is beyond 2^60 counts as that. Each draw is that of
// Choose for scores that floats hold.
func TestChooseWhole(t *testing.T) {
	for _, of := range []MaxNoise{LaplaceNoise, ExponentialNoise, GumbelNoise} {
		m, err := NewNoisyMax(NoisyMaxOptions{ScoreOptions: wholeScores("80", true), Noise: of})
		if err != nil {
			t.Fatal(err)
		}
		wide := new(big.Int).Lsh(big.NewInt(1), 100)
		near := big.NewInt(1 << 53)
		for _, c := range []struct {
			scores []*big.Int
			want   int
		}{
			{[]*big.Int{near, new(big.Int).Add(near, big.NewInt(1)), near}, 1},
			{[]*big.Int{new(big.Int).Neg(wide), big.NewInt(5), wide}, 2},
			{[]*big.Int{big.NewInt(-3)}, 0},
		} {
			before := fmt.Sprint(c.scores)
			for range 20 { // each is wrong with a probability below 3e^-40, 3e-15 in all
				i, err := m.ChooseWhole(noise.System(), c.scores)
				if err != nil || i != c.want {
					t.Errorf("noise %d, %v: %d, %v, want %d", of, c.scores, i, err, c.want)
				}
			}
			if fmt.Sprint(c.scores) != before {
				t.Errorf("scores %s have become %v", before, c.scores)
			}
		}
		if _, err := m.ChooseWhole(noise.System(), nil); !errors.Is(err, ErrParameter) {
			t.Errorf("no candidates: %v", err)
		}
		if s := m.Scale().RatString(); s != "1/80" {
			t.Errorf("scale %s, want 1/80", s)
		}
		o := wholeScores("1", false)
		o.Grid = rat("1/2")
		if m, err = NewNoisyMax(NoisyMaxOptions{ScoreOptions: o, Noise: of}); err != nil {
			t.Fatal(err)
		}
		if _, err := m.ChooseWhole(noise.System(), []*big.Int{near}); !errors.Is(err, ErrParameter) {
			t.Errorf("another grid: %v", err)
		}
		if s := m.Scale().RatString(); s != "2" {
			t.Errorf("scale %s, want 2", s)
		}
	}
}
