package mechanism

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// law returns the probabilities of the responses of a respondent with the answer.
func (r *RandomizedResponse) law(answer int) []float64 {
	law := make([]float64, r.answers)
	for i := range law {
		law[i], _ = r.told.miss.Float64()
	}
	if answer < 0 || answer >= r.answers {
		for i := range law {
			law[i] = 1 / float64(r.answers)
		}
		return law
	}
	law[answer], _ = r.told.hit.Float64()
	return law
}

func (b *BinaryResponse) law(answer bool) []float64 {
	yes, _ := b.told.miss.Float64()
	if answer {
		yes, _ = b.told.hit.Float64()
	}
	return []float64{1 - yes, yes}
}

// Probabilities from the literature; the vectors are those of Wang et al. 2017
// (generalized randomized response) and of the formulas of two coins.
func TestResponseProbabilities(t *testing.T) {
	for _, tc := range []struct {
		epsilon string
		answers int
		p, q    float64
	}{
		{"0.5", 2, 0.6224593312018546, 0.3775406687981454},
		{"1", 2, 0.731058578630005, 0.26894142136999516},
		{"1", 10, 0.23196931668407395, 0.08533674259065846},
		{"1", 100, 0.026723630989395224, 0.009831074434450554},
		{"2", 10, 0.4508530603792838, 0.06101632662452401},
	} {
		r := must(NewRandomizedResponse(RandomizedResponseOptions{Answers: tc.answers, Epsilon: eps(tc.epsilon)}))
		p, _ := r.Truth().Float64()
		q, _ := r.told.miss.Float64()
		if math.Abs(p-tc.p) > 1e-12 || math.Abs(q-tc.q) > 1e-12 {
			t.Errorf("%+v: p = %v, q = %v", tc, p, q)
		}
		if rest := new(big.Rat).Sub(rat(tc.epsilon), r.Epsilon().Rat()); rest.Sign() < 0 || rest.Cmp(rat("1e-30")) > 0 {
			t.Errorf("%+v: epsilon is %v", tc, r.Epsilon())
		}
	}
	for _, tc := range []struct {
		first, second, epsilon string
	}{
		{"1/2", "1/2", "1.0986122886681098"}, // ln 3
		{"1/4", "1/2", "1.9459101490553132"}, // ln 7, where Sherpa's coins say ln 3
		{"1/2", "1/4", "1.6094379124341003"}, // ln 5
		{"1/2", "3/4", "1.6094379124341003"},
		{"9/10", "1/2", "0.20067069546215116"}, // ln 1.1/0.9
	} {
		c := must(NewTwoCoin(TwoCoinOptions{First: rat(tc.first), Second: rat(tc.second)}))
		if e := c.Epsilon().Float64(); math.Abs(e-eps(tc.epsilon).Float64()) > 1e-12 {
			t.Errorf("coins %s, %s: epsilon %v, want %s", tc.first, tc.second, e, tc.epsilon)
		}
	}
	for _, tc := range []struct {
		no, yes string
		ratio   float64
	}{
		{"1/10", "1/10", 9}, {"9/10", "9/10", 9}, {"3/4", "3/4", 3}, {"99/100", "1/2", 50}, {"1/2", "99/100", 50}, {"1/100", "1/2", 50},
	} {
		b := must(NewBinaryResponse(BinaryResponseOptions{No: rat(tc.no), Yes: rat(tc.yes)}))
		if e := b.Epsilon().Float64(); math.Abs(e-math.Log(tc.ratio)) > 1e-12 {
			t.Errorf("f0 = %s, f1 = %s: epsilon %v, want ln %v", tc.no, tc.yes, e, tc.ratio)
		}
	}
}

// The guarantee holds for every two answers, and no smaller one does; an answer that
// is none is covered by it. The event says the same.
func TestResponseRatios(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		answers := rapid.IntRange(2, 12).Draw(t, "answers")
		o := RandomizedResponseOptions{Answers: answers}
		if rapid.Bool().Draw(t, "by epsilon") {
			o.Epsilon = must(privacy.NewEpsilon(big.NewRat(rapid.Int64Range(1, 10_000).Draw(t, "epsilon"), 1000)))
		} else {
			o.Truth = big.NewRat(rapid.Int64Range(int64(1001/answers)+1, 999).Draw(t, "truth"), 1000)
		}
		r := must(NewRandomizedResponse(o))
		epsilon, tight := r.Epsilon().Float64(), 0.0
		for i := -1; i < answers; i++ {
			for j := range answers {
				most, err := ratioWithin(r.law(i), r.law(j), epsilon, 0)
				if err != nil {
					t.Fatal(err)
				}
				tight = max(tight, most)
			}
		}
		if tight < epsilon*(1-1e-9) {
			t.Fatalf("epsilon is %v, but the largest log-ratio %v", epsilon, tight)
		}
		e := r.Event().(privacy.RandomizedResponse)
		if err := e.Validate(); err != nil || e.P.Cmp(r.told.hit) != 0 || e.K != answers {
			t.Fatal(e, err)
		}
		if privacy.Holds(e, privacy.ReplaceOne) != nil || privacy.Holds(e, privacy.AddRemove) == nil {
			t.Fatal("responses speak of replacing an answer alone")
		}
		if o.Epsilon.Sign() > 0 && r.Epsilon().Cmp(o.Epsilon) > 0 {
			t.Fatalf("epsilon %v exceeds the one asked for, %v", r.Epsilon(), o.Epsilon)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		f0, f1 := rapid.Int64Range(1, 999).Draw(t, "f0"), rapid.Int64Range(1, 999).Draw(t, "f1")
		if f0+f1 == 1000 {
			t.Skip("tells nothing")
		}
		b := must(NewBinaryResponse(BinaryResponseOptions{No: big.NewRat(f0, 1000), Yes: big.NewRat(f1, 1000)}))
		epsilon := b.Epsilon().Float64()
		most, err := ratioWithin(b.law(false), b.law(true), epsilon, 0)
		if err != nil || most < epsilon*(1-1e-9) {
			t.Fatal(most, epsilon, err)
		}
		// At every ε' below, the event tells the two apart at least as well.
		warner := must(NewRandomizedResponse(RandomizedResponseOptions{Truth: b.Event().(privacy.RandomizedResponse).P}))
		for x := -1.0; x <= 1; x += 0.1 {
			a := hockeyStick(warner.law(0), warner.law(1), x*epsilon)
			if got := max(hockeyStick(b.law(false), b.law(true), x*epsilon), hockeyStick(b.law(true), b.law(false), x*epsilon)); got > a+1e-12 {
				t.Fatalf("at %v the event says %v, but it is %v", x*epsilon, a, got)
			}
		}
	})
}

func hockeyStick(p, q []float64, epsilon float64) (d float64) {
	for i := range p {
		d += max(0, p[i]-math.Exp(epsilon)*q[i])
	}
	return d
}

// What is drawn has the stated law, and the test sees a response that lies half as
// often, and coins in the wrong order.
func TestResponsesFit(t *testing.T) {
	t.Parallel()
	const n = 40_000
	for _, o := range []RandomizedResponseOptions{{Truth: rat("3/4")}, {Answers: 5, Truth: rat("1/3")}, {Answers: 3, Epsilon: eps("1")}} {
		r := must(NewRandomizedResponse(o))
		for answer := -1; answer <= r.answers; answer++ {
			respond := func(b noise.Bits) (int, error) { return r.Respond(b, answer) }
			if err := fits(r.law(answer), n, respond); err != nil {
				t.Errorf("%+v, answer %d: %v", o, answer, err)
			}
		}
		half := must(NewRandomizedResponse(RandomizedResponseOptions{Answers: r.answers, Truth: new(big.Rat).Sub(rat("1"), new(big.Rat).Mul(rat("1/2"), new(big.Rat).Sub(rat("1"), r.Truth())))}))
		if fits(r.law(0), n, func(b noise.Bits) (int, error) { return half.Respond(b, 0) }) == nil {
			t.Errorf("%+v: half as many lies make no difference", o)
		}
	}
	c := must(NewTwoCoin(TwoCoinOptions{First: rat("1/4"), Second: rat("2/3")}))
	swapped := must(NewTwoCoin(TwoCoinOptions{First: rat("2/3"), Second: rat("1/4")}))
	for _, answer := range []bool{false, true} {
		respond := func(c *TwoCoin) func(noise.Bits) (int, error) {
			return func(b noise.Bits) (int, error) {
				yes, err := c.Respond(b, answer)
				if yes {
					return 1, err
				}
				return 0, err
			}
		}
		// The coins as the words of the definition say.
		yes := 1.0 / 4 * 2 / 3
		if answer {
			yes += 3.0 / 4
		}
		if err := fits([]float64{1 - yes, yes}, n, respond(c)); err != nil {
			t.Errorf("%v: %v", answer, err)
		}
		if answer && fits([]float64{1 - yes, yes}, n, respond(swapped)) == nil {
			t.Error("swapped coins make no difference")
		}
	}
}

func TestEstimates(t *testing.T) {
	beta := rat("0.05")
	warner := must(NewRandomizedResponse(RandomizedResponseOptions{Truth: rat("0.75")}))
	s := must(warner.Estimate([]int64{600, 400}, beta))
	if math.Abs(s[1].Raw-0.3) > 1e-12 || math.Abs(s[0].Raw-0.7) > 1e-12 || s[1].Clipped != s[1].Raw {
		t.Errorf("400 of 1000 at p = 3/4: %+v", s)
	}
	// Clopper and Pearson for 400 of 1000 is [0.3694, 0.4311].
	if math.Abs(s[1].Low-(0.36944-0.25)/0.5) > 1e-4 || math.Abs(s[1].High-(0.43112-0.25)/0.5) > 1e-4 {
		t.Errorf("interval [%v, %v]", s[1].Low, s[1].High)
	}
	s = must(warner.Estimate([]int64{1000, 0}, beta))
	if s[1].Raw != -0.5 || s[1].Clipped != 0 || s[1].Low != 0 || s[0].Raw != 1.5 || s[0].Clipped != 1 || s[0].High != 1 {
		t.Errorf("nobody says yes: %+v", s)
	}
	coins := must(NewTwoCoin(TwoCoinOptions{First: rat("1/2"), Second: rat("1/4")}))
	if s := must(coins.Estimate(400, 1000, beta)); math.Abs(s.Raw-(0.4-0.125)/0.5) > 1e-12 {
		t.Errorf("400 of 1000 by coins: %+v", s)
	}
	liars := must(NewBinaryResponse(BinaryResponseOptions{No: rat("1/10"), Yes: rat("1/5")}))
	if s := must(liars.Estimate(400, 1000, beta)); math.Abs(s.Raw-(0.4-0.9)/(0.2-0.9)) > 1e-12 || s.Low > s.Raw || s.High < s.Raw {
		t.Errorf("400 of 1000 by liars: %+v", s)
	}
	// ln(2/0.05)/(2·0.05²·(1/2)²) = 2951.1
	if n := must(warner.Respondents(rat("0.05"), beta)); n != 2952 {
		t.Errorf("%d respondents", n)
	}
	if a := must(warner.Bound(2952, beta)); a > 0.05 || a < 0.0499 {
		t.Errorf("accuracy %v", a)
	}
}

// The estimate is without bias, its interval and its accuracy hold at their beta. The
// wrong estimates are seen: not debiased, and debiased for another p.
func TestEstimatesHold(t *testing.T) {
	t.Parallel()
	const runs, n = 100_000, 12
	beta, share := rat("0.1"), 1.0/4
	r := must(NewRandomizedResponse(RandomizedResponseOptions{Answers: 3, Truth: rat("5/8")}))
	alpha := must(r.Bound(n, beta))
	source := entropy.New()
	var outside, far, sum, square, plain, wrong float64
	estimates := make(map[[3]int64]Share)
	for range runs {
		var counts [3]int64
		for i := range n { // a quarter of the true answers is 1, another 2
			answer := 0
			switch {
			case i < n/4:
				answer = 1
			case i < n/2:
				answer = 2
			}
			counts[must(r.Respond(source, answer))]++
		}
		s, ok := estimates[counts]
		if !ok {
			s = must(r.Estimate(counts[:], beta))[1]
			estimates[counts] = s
		}
		if share < s.Low || share > s.High {
			outside++
		}
		if math.Abs(s.Raw-share) > alpha {
			far++
		}
		sum += s.Raw
		square += s.Raw * s.Raw
		plain += float64(counts[1]) / n
		wrong += (float64(counts[1])/n - 1.0/4) / (5.0/8 - 1.0/4)
	}
	if err := failsAtMost(int(outside), runs, 0.1); err != nil {
		t.Errorf("interval: %v", err)
	}
	if err := failsAtMost(int(far), runs, 0.1); err != nil {
		t.Errorf("accuracy: %v", err)
	}
	t.Logf("of %d runs, %v are outside their interval, %v beyond the accuracy", runs, outside, far)
	// The variance of one raw share is at most 1/(4n(p−q)²); a mean of many exceeds
	// 6.2 of its deviations with probability below 1e-9.
	limit := 6.2 * math.Sqrt(1/(4*n*math.Pow(5.0/8-3.0/16, 2))/runs)
	if d := math.Abs(sum/runs - share); d > limit {
		t.Errorf("the mean estimate is off by %v, above %v", d, limit)
	}
	if math.Abs(plain/runs-share) < limit || math.Abs(wrong/runs-share) < limit {
		t.Error("a wrong estimate passes")
	}
	// With a third of the noise's variance gone, intervals would be too narrow.
	if v := square/runs - sum*sum/runs/runs; v > 1/(4*n*math.Pow(5.0/8-3.0/16, 2)) {
		t.Errorf("the variance is %v", v)
	}
}

func TestResponseRefusals(t *testing.T) {
	for name, o := range map[string]RandomizedResponseOptions{
		"nothing":           {},
		"both":              {Truth: rat("3/4"), Epsilon: eps("1")},
		"one answer":        {Answers: 1, Epsilon: eps("1")},
		"negative answers":  {Answers: -2, Epsilon: eps("1")},
		"too many answers":  {Answers: privacy.MaxCount + 1, Epsilon: eps("1")},
		"truth at random":   {Truth: rat("1/2")},
		"always false":      {Truth: rat("0")},
		"always true":       {Truth: rat("1")},
		"more than always":  {Truth: rat("3/2")},
		"negative":          {Truth: rat("-1/2")},
		"too long":          {Truth: new(big.Rat).SetFrac(new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 2000), big.NewInt(1)), new(big.Int).Lsh(big.NewInt(1), 2001))},
		"epsilon of a hair": {Epsilon: eps("1e-200")},
	} {
		if r, err := NewRandomizedResponse(o); r != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
	for _, o := range []RandomizedResponseOptions{ // extreme, but with a meaning
		{Epsilon: eps("1000000")}, {Epsilon: eps("1e-20")}, {Answers: privacy.MaxCount, Epsilon: eps("0.001")},
	} {
		r, err := NewRandomizedResponse(o)
		if err != nil {
			t.Errorf("%+v: %v", o, err)
			continue
		}
		if _, err := r.Respond(noise.System(), 1); err != nil || r.Event().Validate() != nil {
			t.Errorf("%+v: %v, %v", o, err, r.Event())
		}
	}
	for _, o := range []BinaryResponseOptions{
		{}, {No: rat("1/2")}, {No: rat("1/2"), Yes: rat("1/2")}, {No: rat("1/3"), Yes: rat("2/3")}, {No: rat("1"), Yes: rat("1/2")}, {No: rat("1/2"), Yes: rat("0")}, {No: rat("-1"), Yes: rat("3/2")},
	} {
		if b, err := NewBinaryResponse(o); b != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v, %v", o, b, err)
		}
	}
	for _, o := range []TwoCoinOptions{{}, {First: rat("1/2")}, {First: rat("1"), Second: rat("1/2")}, {First: rat("0"), Second: rat("1/2")}, {First: rat("1/2"), Second: rat("1")}, {First: rat("1/2"), Second: rat("2")}} {
		if c, err := NewTwoCoin(o); c != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v, %v", o, c, err)
		}
	}
	r := must(NewRandomizedResponse(RandomizedResponseOptions{Truth: rat("3/4")}))
	b := must(NewBinaryResponse(BinaryResponseOptions{No: rat("3/4"), Yes: rat("3/4")}))
	beta := rat("0.05")
	for name, err := range map[string]error{
		"no beta":         second(r.Estimate([]int64{1, 2}, nil)),
		"beta of 1":       second(r.Estimate([]int64{1, 2}, rat("1"))),
		"one count":       second(r.Estimate([]int64{1}, beta)),
		"negative count":  second(r.Estimate([]int64{1, -1}, beta)),
		"nobody":          second(r.Estimate([]int64{0, 0}, beta)),
		"overflow":        second(r.Estimate([]int64{math.MaxInt64, math.MaxInt64}, beta)),
		"more than all":   second(b.Estimate(5, 4, beta)),
		"negative yes":    second(b.Estimate(-5, 4, beta)),
		"wraps around":    second(b.Estimate(math.MinInt64, math.MaxInt64, beta)),
		"nobody is asked": second(r.Bound(0, beta)),
		"no accuracy":     second(r.Respondents(nil, beta)),
		"accuracy of 0":   second(r.Respondents(rat("0"), beta)),
		"never enough":    second(r.Respondents(rat("1e-30"), beta)),
	} {
		if !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.Respond(broken{}, 1); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if _, err := b.Respond(broken{}, true); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }
