package shuffle

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// near reports whether lo and hi enclose the exact value and lie within relative
// distance r of it.
func near(lo, hi, exact, r float64) bool {
	return lo <= math.Log(exact)+1e-14 && hi >= math.Log(exact)-1e-14 && hi-lo < r
}

// The sum over windows and recurrences against the definition, in both directions:
// every outcome's exact probability under both laws.
func TestPairIsItsDefinition(t *testing.T) {
	for _, odds := range []int64{2, 7, 50} {
		p := big.NewRat(odds, 1)
		eps0 := math.Log(float64(odds))
		low := big.NewRat(1, odds)
		truth := big.NewRat(odds, odds+1)
		lie := big.NewRat(1, odds+1)
		for _, n := range []int64{1, 2, 3, 10, 31} {
			cases := []struct {
				name                string
				pair                pair
				rate, first, second *big.Rat
			}{
				{"clones", clonePair(nil, n, eps0), low, truth, lie},
				{"stronger", strongPair(nil, n, eps0), big.NewRat(2, odds+1), truth, lie},
				{"elsewhere 5", elsewhere(nil, n, eps0, 5), big.NewRat(2, odds+4), big.NewRat(odds, odds+4), big.NewRat(1, odds+4)},
			}
			for _, c := range cases {
				P, Q := laws(n, c.rate, c.first, c.second)
				for _, e := range []*big.Rat{big.NewRat(1, 1), big.NewRat(101, 100), big.NewRat(3, 2), p} {
					forth, back := float(hockeyStick(P, Q, e)), float(hockeyStick(Q, P, e))
					if math.Abs(forth-back) > 1e-12*forth {
						t.Fatalf("%s: directions differ: %v %v", c.name, forth, back)
					}
					lo, hi := c.pair.logDelta(math.Log(float(e)), -700)
					if forth == 0 {
						if hi > -30 {
							t.Errorf("%s n=%d p=%d e=%v: %v, want 0", c.name, n, odds, e, hi)
						}
						continue
					}
					if !near(lo, hi, forth, 1e-10) {
						t.Errorf("%s n=%d p=%d e=%v: [%v, %v], want %v", c.name, n, odds, e, lo, hi, math.Log(forth))
					}
				}
			}
		}
	}
}

// The blanket's steps are exact where they have length one.
func TestBlanketIsItsDefinition(t *testing.T) {
	for _, k := range []int{3, 4, 9} {
		for _, odds := range []int64{2, 7} {
			for _, n := range []int64{1, 2, 5, 12} {
				for _, e := range []*big.Rat{big.NewRat(1, 1), big.NewRat(5, 4), big.NewRat(7, 4)} {
					exact := float(blanketSum(n, int64(k), big.NewRat(odds, 1), e))
					b := blanket{nil, n, math.Log(float64(odds)), k, 1e-9, 0}
					hi := b.logDelta(math.Log(float(e)), -40)
					if hi < math.Log(exact)-1e-14 || hi > math.Log(exact)+1e-6 {
						t.Errorf("n=%d k=%d p=%d e=%v: %v, want %v", n, k, odds, e, hi, math.Log(exact))
					}
				}
			}
		}
	}
}

// dataSets are all inputs of n-1 other users over k answers, up to order.
func dataSets(k, n int) (all [][]int) {
	var extend func(prefix []int, from int)
	extend = func(prefix []int, from int) {
		if len(prefix) == n-1 {
			all = append(all, append([]int(nil), prefix...))
			return
		}
		for x := from; x < k; x++ {
			extend(append(prefix, x), x)
		}
	}
	extend(nil, 0)
	return all
}

// worst is the largest divergence of shuffled randomized response over all pairs of
// neighbouring data sets of n users.
func worst(k, n int, p, e *big.Rat) *big.Rat {
	most := new(big.Rat)
	for _, others := range dataSets(k, n) {
		P, Q := shuffled(k, p, append([]int{0}, others...)), shuffled(k, p, append([]int{1}, others...))
		for _, d := range []*big.Rat{hockeyStick(P, Q, e), hockeyStick(Q, P, e)} {
			if d.Cmp(most) > 0 {
				most = d
			}
		}
	}
	return most
}

// Every bound against the truth: all data sets of few users, exactly.
func TestBoundsHoldOnEveryDataSet(t *testing.T) {
	for _, c := range []struct{ k, n int }{{2, 1}, {2, 2}, {2, 7}, {3, 2}, {3, 4}, {4, 2}, {4, 4}, {5, 3}} {
		for _, odds := range []int64{2, 3, 20} {
			p := big.NewRat(odds, 1)
			r, err := Response(float64(odds), c.k)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range []*big.Rat{big.NewRat(1, 1), big.NewRat(6, 5), big.NewRat(39, 20)} {
				exact := float(worst(c.k, c.n, p, e))
				for _, m := range []Method{Clones, Stronger, Blanket} {
					b, err := Delta(nil, m, int64(c.n), r, math.Log(float(e)))
					if err != nil {
						t.Fatal(err)
					}
					if b.High < exact*(1-1e-13) || b.Low > exact*(1+1e-13) {
						t.Errorf("%s k=%d n=%d p=%d e=%v: %v, truth %v", m, c.k, c.n, odds, e, b, exact)
					}
				}
			}
		}
	}
}

// Low of binary randomized response is the exact divergence for equal others, in
// the direction that is larger.
func TestBinaryResponseIsExactInBothDirections(t *testing.T) {
	differ := false
	for _, odds := range []int64{2, 9} {
		for _, n := range []int{1, 2, 3, 8, 40} {
			for _, e := range []*big.Rat{big.NewRat(1, 1), big.NewRat(21, 20), big.NewRat(3, 2)} {
				others := make([]int, n-1)
				P := shuffled(2, big.NewRat(odds, 1), append([]int{0}, others...))
				Q := shuffled(2, big.NewRat(odds, 1), append([]int{1}, others...))
				forth, back := float(hockeyStick(P, Q, e)), float(hockeyStick(Q, P, e))
				differ = differ || forth > back*1.01
				got := logBinaryResponse(nil, int64(n), math.Log(float64(odds)), math.Log(float(e)))
				if want := math.Log(max(forth, back)); math.Abs(got-want) > 1e-11 || got > want+1e-14 {
					t.Errorf("n=%d p=%d e=%v: %v, want %v", n, odds, e, got, want)
				}
			}
		}
	}
	if !differ {
		t.Error("the other direction alone would have passed")
	}
}

// The variation-ratio reduction with p, β, q of randomized response over four answers
// is no bound: two users, one of whom has another input than the replaced one's two.
// A method that computes it would fail TestBoundsHoldOnEveryDataSet.
func TestVariationRatioIsBelowTheTruth(t *testing.T) {
	p, e := big.NewRat(3, 1), big.NewRat(21, 10)
	P, Q := laws(2, big.NewRat(2, 6), big.NewRat(3, 6), big.NewRat(1, 6))
	claimed := hockeyStick(P, Q, e)
	real := hockeyStick(shuffled(4, p, []int{0, 2}), shuffled(4, p, []int{1, 2}), e)
	if claimed.Cmp(real) >= 0 {
		t.Errorf("claimed %v, real %v", claimed, real)
	}
	r, _ := Response(3, 4)
	for _, m := range []Method{Clones, Stronger, Blanket} {
		if b, err := Delta(nil, m, 2, r, math.Log(2.1)); err != nil || b.High < float(real) {
			t.Errorf("%s: %v %v, real %v", m, b, err, float(real))
		}
	}
}

type vector struct {
	ID       string
	Kind     string
	Params   struct{ N, Eps0, Delta float64 }
	Expected json.RawMessage
	Tol      float64 `json:"tolerance"`
	Source   string
}

func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		n, any := int64(v.Params.N), Randomizer{Epsilon0: v.Params.Eps0}
		binary := Randomizer{Epsilon0: v.Params.Eps0, Answers: 2}
		eps := func(m Method, r Randomizer) float64 {
			b, err := Epsilon(nil, m, n, r, v.Params.Delta)
			if err != nil {
				t.Errorf("%s: %v", v.ID, err)
			}
			return b.High
		}
		var want struct {
			Eps, Exact, Lower, AppleLower, AppleUpper float64
			Refused                                   bool
		}
		if err := json.Unmarshal(v.Expected, &want); err != nil {
			t.Fatalf("%s: %v", v.ID, err)
		}
		switch v.Kind {
		case "closed":
			if want.Refused {
				if _, err := Epsilon(nil, Closed, n, any, v.Params.Delta); !errors.Is(err, ErrDomain) {
					t.Errorf("%s: %v", v.ID, err)
				}
			} else if got := eps(Closed, any); math.Abs(got-want.Eps) > v.Tol {
				t.Errorf("%s: %v, want %v", v.ID, got, want.Eps)
			}
		case "clones":
			got := eps(Clones, any)
			if want.Exact != 0 && math.Abs(got-want.Exact) > v.Tol {
				t.Errorf("%s: %v, want %v", v.ID, got, want.Exact)
			}
			if got < want.AppleLower || got > want.AppleUpper {
				t.Errorf("%s: %v outside [%v, %v]", v.ID, got, want.AppleLower, want.AppleUpper)
			}
		case "stronger":
			if got := eps(Stronger, binary); math.Abs(got-want.Exact) > v.Tol {
				t.Errorf("%s: %v, want %v", v.ID, got, want.Exact)
			}
		case "response":
			b, err := Epsilon(nil, Clones, n, binary, v.Params.Delta)
			if err != nil || math.Abs(b.Low-want.Lower) > v.Tol {
				t.Errorf("%s: %v %v, want %v", v.ID, b.Low, err, want.Lower)
			}
		default:
			t.Errorf("%s: kind %q", v.ID, v.Kind)
		}
	}
	if len(vectors) < 25 {
		t.Errorf("%d vectors", len(vectors))
	}
}

func draw(t *rapid.T) (n int64, r Randomizer, delta float64) {
	n = int64(math.Exp(rapid.Float64Range(0, math.Log(2e5)).Draw(t, "ln n")))
	r.Epsilon0 = math.Exp(rapid.Float64Range(math.Log(1e-3), math.Log(30)).Draw(t, "ln eps0"))
	r.Answers = rapid.SampledFrom([]int{0, 2, 3, 10, 1000}).Draw(t, "answers")
	delta = math.Exp(-rapid.Float64Range(0.5, 600).Draw(t, "-ln delta"))
	return n, r, delta
}

func epsilon(t *rapid.T, m Method, n int64, r Randomizer, delta float64) (low, high float64) {
	b, err := Epsilon(nil, m, n, r, delta)
	if err != nil {
		t.Fatalf("%s n=%d %+v δ=%v: %v", m, n, r, delta, err)
	}
	return b.Low, b.High
}

func TestEpsilonIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, r, delta := draw(t)
		m := rapid.SampledFrom([]Method{Clones, Stronger}).Draw(t, "method")
		if r.Answers == 0 {
			m = Clones
		}
		low, high := epsilon(t, m, n, r, delta)
		if !(0 <= low && low <= high && high <= r.Epsilon0) {
			t.Fatalf("[%v, %v] of %v", low, high, r.Epsilon0)
		}
		const margin = 1 + 1e-7
		if _, e := epsilon(t, m, n+n/3+1, r, delta); e > high*margin {
			t.Errorf("more users, larger epsilon: %v > %v", e, high)
		}
		if _, e := epsilon(t, m, n, r, delta/3); e*margin < high {
			t.Errorf("smaller delta, smaller epsilon: %v < %v", e, high)
		}
		more := r
		more.Epsilon0 *= 1.1
		if _, e := epsilon(t, m, n, more, delta); e*margin < high {
			t.Errorf("larger local epsilon, smaller epsilon: %v < %v", e, high)
		}
		if r.Answers != 0 {
			_, clones := epsilon(t, Clones, n, r, delta)
			if _, strong := epsilon(t, Stronger, n, r, delta); strong > clones*margin {
				t.Errorf("stronger %v > clones %v", strong, clones)
			}
		}
	})
}

// Delta at the epsilon that Epsilon gives is the delta that it was given.
func TestDeltaInvertsEpsilon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, r, delta := draw(t)
		_, high := epsilon(t, Clones, n, r, delta)
		b, err := Delta(nil, Clones, n, r, high)
		if err != nil {
			t.Fatal(err)
		}
		if b.High > delta {
			t.Errorf("δ(%v) = %v above %v", high, b.High, delta)
		}
		if high > 0 && high < 0.9*r.Epsilon0 && b.High < delta*(1-1e-6) {
			t.Errorf("δ(%v) = %v far below %v", high, b.High, delta)
		}
	})
}

// No method lies below what an observer sees of randomized response, over a grid of
// users, local epsilons and deltas.
func TestMethodsAreAboveTheLowerBound(t *testing.T) {
	for _, n := range []int64{10, 1000, 30_000} {
		for _, eps0 := range []float64{0.1, 1, 3, 8} {
			for _, delta := range []float64{1e-3, 1e-6, 1e-12} {
				for _, k := range []int{2, 3, 20} {
					for _, m := range Methods {
						b, err := Epsilon(nil, m, n, Randomizer{Epsilon0: eps0, Answers: k}, delta)
						if m == Closed && errors.Is(err, ErrDomain) {
							continue
						}
						if err != nil || b.Low == b.High && b.Low > 0 && b.High < eps0/2 {
							t.Errorf("%s n=%d eps0=%v k=%d δ=%v: %v %v", m, n, eps0, k, delta, b, err)
						}
						truth := lower(nil, n, Randomizer{Epsilon0: eps0, Answers: k})
						if got := truth(b.High, -800); b.High < eps0 && got > math.Log(delta)+1e-8 {
							t.Errorf("%s n=%d eps0=%v k=%d: δ(%v) >= e^%v > %v", m, n, eps0, k, b.High, got, delta)
						}
					}
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	any := Randomizer{Epsilon0: 1}
	for _, c := range []struct {
		m     Method
		n     int64
		r     Randomizer
		delta float64
		want  error
	}{
		{Stronger, 1000, any, 1e-6, ErrUnproved}, // the erratum
		{Blanket, 1000, any, 1e-6, ErrUnproved},
		{Closed, 10_000, Randomizer{Epsilon0: 5}, 1e-6, ErrDomain},
		{Clones, 0, any, 1e-6, ErrDomain},
		{Clones, 10, Randomizer{}, 1e-6, ErrDomain},
		{Clones, 10, Randomizer{Epsilon0: math.NaN()}, 1e-6, ErrDomain},
		{Clones, 10, Randomizer{Epsilon0: 1, Answers: 1}, 1e-6, ErrDomain},
		{Clones, 10, any, math.NaN(), ErrDomain},
		{Clones, 10, any, -1, ErrDomain},
		{"none", 10, any, 1e-6, ErrDomain},
	} {
		if b, err := Epsilon(nil, c.m, c.n, c.r, c.delta); !errors.Is(err, c.want) || b.High != 0 {
			t.Errorf("%s n=%d %+v δ=%v: %v %v", c.m, c.n, c.r, c.delta, b, err)
		}
	}
	if _, err := Response(1, 2); !errors.Is(err, ErrDomain) {
		t.Error("a response that tells nothing has no local epsilon above 0")
	}
	if r, err := Response(0.25, 3); err != nil || r.Answers != 0 {
		t.Errorf("three answers, the true one avoided: %+v %v", r, err)
	}
}

func TestExtremes(t *testing.T) {
	for _, c := range []struct {
		n           int64
		eps0, delta float64
	}{
		{1, 1, 1e-300}, {1e9, 25, 1e-300}, {1e6, 1e-6, 1e-10}, {1e9, 200, 1e-9}, {1e12, 1e3, 1e-9}, {100, 5, 0}, {100, 1, 0.999999},
	} {
		b, err := Epsilon(nil, Clones, c.n, Randomizer{Epsilon0: c.eps0}, c.delta)
		if err != nil || !(b.High <= c.eps0) || math.IsNaN(b.Low) {
			t.Errorf("%+v: %v %v", c, b, err)
		}
		if c.delta < 0.9 && b.High == 0 && c.eps0 > 1e-5 {
			t.Errorf("%+v: nothing is private for free: %v", c, b)
		}
	}
	if b, err := Delta(nil, Clones, 1e6, Randomizer{Epsilon0: 2}, 1.99); err != nil || b.High == 0 {
		t.Errorf("an underflow is not zero: %v %v", b, err)
	}
}

func TestBatches(t *testing.T) {
	for _, c := range []struct{ steps, perEpoch, rounds int64 }{{1, 1, 1}, {235, 235, 1}, {236, 235, 2}, {14100, 235, 60}} {
		if got, ok := Batches(c.steps, c.perEpoch); !ok || got != c.rounds {
			t.Errorf("%+v: %d", c, got)
		}
	}
	if _, ok := Batches(0, 1); ok {
		t.Error("no steps")
	}
}

func BenchmarkEpsilon(b *testing.B) {
	for _, n := range []int64{1e4, 1e6, 1e9} {
		for _, m := range []Method{Clones, Stronger, Blanket} {
			b.Run(fmt.Sprintf("%s/n=%.0e", m, float64(n)), func(b *testing.B) {
				for b.Loop() {
					if _, err := Epsilon(nil, m, n, Randomizer{Epsilon0: 2, Answers: 10}, 1e-8); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
