package leakage

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/learn/example"
)

// seeded are bits for tests.
type seeded struct{ *rand.Rand }

func (s seeded) Uint64() (uint64, error) { return s.Rand.Uint64(), nil }

// worlds are scores of n canaries that know nothing of any coin: without ties, with few,
// with many, with nothing else.
func worlds() map[string]func(r *rand.Rand, n int) []float64 {
	each := func(f func(r *rand.Rand) float64) func(*rand.Rand, int) []float64 {
		return func(r *rand.Rand, n int) []float64 {
			s := make([]float64, n)
			for i := range s {
				s[i] = f(r)
			}
			return s
		}
	}
	return map[string]func(r *rand.Rand, n int) []float64{
		"all different": each(func(r *rand.Rand) float64 { return r.NormFloat64() }),
		"all the same":  each(func(*rand.Rand) float64 { return 1 }),
		"no numbers":    each(func(*rand.Rand) float64 { return math.NaN() }),
		"two values":    each(func(r *rand.Rand) float64 { return float64(r.IntN(2)) }),
		"zeros of both signs, and a few": each(func(r *rand.Rand) float64 {
			return []float64{0, math.Copysign(0, -1), 0, 0, 0, 0, -1, 1}[r.IntN(8)]
		}),
		"at a limit":   each(func(r *rand.Rand) float64 { return min(1, r.NormFloat64()) }),
		"some numbers": each(func(r *rand.Rand) float64 { return []float64{math.NaN(), r.NormFloat64()}[r.IntN(2)] }),
	}
}

// arrangements are orders in which canaries stand that the coins have decided: the two
// sides are read one after the other.
func arrangements() map[string]func(in []bool) {
	first := func(in []bool, b bool) {
		slices.SortFunc(in, func(x, y bool) int {
			switch {
			case x == y:
				return 0
			case x == b:
				return -1
			}
			return 1
		})
	}
	return map[string]func(in []bool){
		"members first": func(in []bool) { first(in, true) },
		"others first":  func(in []bool) { first(in, false) },
	}
}

// nullRuns are how many runs each statistic is tried in.
func nullRuns() int {
	if os.Getenv("DISCREET_SOAK") != "" {
		return 1_000_000
	}
	return 2500
}

// overclaims runs a test of level 0.05 where nothing is to be found, and returns the
// largest probability that one which keeps its level finds something so often. Below
// 1e-9 it does not keep it: a false alarm is as rare.
func overclaims(runs int, claims func() bool) (share, p float64) {
	found := 0
	for range runs {
		if claims() {
			found++
		}
	}
	return float64(found) / float64(runs), audit.PValue(found, runs, 0.05)
}

// guessByPlace is Guess with the fault that it had: ties are broken by place.
func guessByPlace(scores []float64, in []bool, guesses int) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case scores[i] > scores[j]:
			return -1
		case scores[i] < scores[j]:
			return 1
		}
		return 0
	})
	e, err := audit.OneRunEpsilon(len(in), guesses, correct(order, in, guesses), 0, 0.95)
	if err != nil {
		return math.NaN()
	}
	return e
}

// A one-run audit of what reveals nothing proves something in at most one run of
// twenty, whatever the scores are like and in whatever order the canaries stand; and
// nothing, ever, where all scores tie. Ties that are broken by place are found out.
func TestGuessKeepsItsConfidence(t *testing.T) {
	const n = 60
	r := rand.New(rand.NewPCG(11, 12))
	bits := seeded{r}
	faults := 0
	for name, world := range worlds() {
		for order, arrange := range arrangements() {
			for guesses, delta := range map[int]float64{n / 3: 0, n: 1e-5} {
				claims := func(guess func([]float64, []bool) bool) (float64, float64) {
					return overclaims(nullRuns(), func() bool {
						in, err := coins(bits, n)
						if err != nil {
							t.Fatal(err)
						}
						arrange(in)
						return guess(world(r, n), in)
					})
				}
				most := 0.0
				share, p := claims(func(scores []float64, in []bool) bool {
					b, err := Guess(scores, in, GuessOptions{Guesses: guesses, Delta: delta, Bits: bits})
					if err != nil {
						t.Fatal(err)
					}
					most = max(most, b.Epsilon, b.Mu)
					return b.Epsilon > 0 || b.Mu > 0
				})
				if p < 1e-9 {
					t.Errorf("%s, %s, %d guesses, delta %v: %.3f of all runs prove something: p = %.1e", name, order, guesses, delta, share, p)
				}
				if (name == "all the same" || name == "no numbers") && most > 0 {
					t.Errorf("%s, %s: %v is proved", name, order, most)
				}
				if order == "members first" && name != "all different" && name != "no numbers" {
					if share, p := claims(func(s []float64, in []bool) bool { return guessByPlace(s, in, guesses) > 0 }); p < 1e-9 {
						faults++
						t.Logf("%s, %d guesses: by place %.3f of all runs prove something", name, guesses, share)
					}
				}
			}
		}
	}
	if faults < 6 {
		t.Errorf("ties by place are found out in %d cases of 10", faults)
	}
}

// still shows parameters that no row has touched, and moments views that tie.
type still struct{ views []View }

func (still) Run(_ context.Context, _ *example.Set, _ []int, see func([]float32)) error {
	see([]float32{0})
	see([]float32{0})
	return nil
}
func (still) See([]float32)            {}
func (s still) Views() ([]View, error) { return s.views, nil }
func (s *still) draw(r *rand.Rand, n int) {
	s.views = s.views[:0]
	for _, name := range []string{"all different", "two values", "at a limit", "all the same"} {
		s.views = append(s.views, View{name, worlds()[name](r, n)})
	}
}

// Several views together keep the confidence of one, in what is proved and in what is
// refuted.
func TestOneRunKeepsItsConfidence(t *testing.T) {
	const n = 40
	r := rand.New(rand.NewPCG(13, 14))
	bits := seeded{r}
	set := &example.Set{Width: 1, Outputs: 1, Features: make([]float32, n), Targets: make([]float32, n)}
	s := &still{}
	var refuted int
	share, p := overclaims(nullRuns(), func() bool {
		s.draw(r, n)
		report, err := OneRun(t.Context(), s, set, 0, s, bits, GuessOptions{Bits: bits})
		if err != nil {
			t.Fatal(err)
		}
		if report.Refutes(audit.Gaussian(0)) <= 0.05 {
			refuted++
		}
		for _, b := range report.Alone {
			if b.Epsilon > 0 || b.Mu > 0 {
				return true
			}
		}
		return false
	})
	if p < 1e-9 {
		t.Errorf("%.3f of all runs prove something: p = %.1e", share, p)
	}
	if p := audit.PValue(refuted, nullRuns(), 0.05); p < 1e-9 {
		t.Errorf("%d of %d runs refute what is true: p = %.1e", refuted, nullRuns(), p)
	}
}

// Where something is revealed, no more of it is proved than there is, but in one run of
// twenty: by randomized response, whose scores have two values, and by Gaussian noise.
func TestGuessOfWhatIsRevealedKeepsItsConfidence(t *testing.T) {
	const n, epsilon, mu = 60, 1.0, 1.0
	r := rand.New(rand.NewPCG(15, 16))
	bits := seeded{r}
	for order, arrange := range arrangements() {
		for _, guesses := range []int{n / 3, n} {
			proved := map[[2]int]float64{} // by what was guessed right: the bounds are functions of it
			bound := func(kind, right int, f func() (float64, error)) float64 {
				key := [2]int{kind, right}
				if _, ok := proved[key]; !ok {
					e, err := f()
					if err != nil {
						t.Fatal(err)
					}
					proved[key] = e
				}
				return proved[key]
			}
			for kind, name := range []string{"epsilon", "mu"} {
				share, p := overclaims(nullRuns(), func() bool {
					in, err := coins(bits, n)
					if err != nil {
						t.Fatal(err)
					}
					arrange(in)
					scores := make([]float64, n)
					for i, b := range in {
						x := 0.0
						if b {
							x = 1
						}
						if kind == 0 {
							if scores[i] = x; r.Float64() > 1/(1+math.Exp(-epsilon)) {
								scores[i] = 1 - x
							}
						} else {
							scores[i] = x*mu + r.NormFloat64()
						}
					}
					ranks, _, err := ranked(scores, bits)
					if err != nil {
						t.Fatal(err)
					}
					right := correct(ranks, in, guesses)
					if kind == 0 {
						return bound(kind, right, func() (float64, error) { return audit.OneRunEpsilon(n, guesses, right, 0, 0.95) }) > epsilon
					}
					return bound(kind, right, func() (float64, error) { return audit.OneRunMu(n, guesses, right, 0.95) }) > mu
				})
				if p < 1e-9 {
					t.Errorf("%s, %d guesses: %.3f of all runs prove more %s than there is: p = %.1e", order, guesses, share, name, p)
				}
			}
		}
	}
}

// Independent runs keep their confidence too, though their threshold is chosen, in any
// order; a leak is found.
func TestRunsKeepTheirConfidence(t *testing.T) {
	const n = 40
	r := rand.New(rand.NewPCG(17, 18))
	bits := seeded{r}
	proved := map[audit.Counts]float64{}
	bound := func(c audit.Counts) float64 {
		if c.Members == 0 || c.Others == 0 {
			return 0
		}
		if _, ok := proved[c]; !ok {
			e, err := c.EpsilonLowerBound(0, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			proved[c] = e
		}
		return proved[c]
	}
	worth := func(c audit.Counts) float64 { return bound(c) + 1e-6*c.Success() }
	all := arrangements()
	all["as drawn"] = func([]bool) {}
	for name, world := range worlds() {
		for order, arrange := range all {
			play := func(f func(scores []float64, in []bool) audit.Counts) (float64, float64) {
				return overclaims(nullRuns(), func() bool {
					in, err := coins(bits, n)
					if err != nil {
						t.Fatal(err)
					}
					arrange(in)
					return bound(f(world(r, n), in)) > 0
				})
			}
			share, p := play(func(scores []float64, in []bool) audit.Counts {
				c, err := Runs(scores, in, worth)
				if err != nil {
					t.Fatal(err)
				}
				return c
			})
			if p < 1e-9 {
				t.Errorf("%s, %s: %.3f of all sets of runs prove something: p = %.1e", name, order, share, p)
			}
			if name != "all different" {
				continue
			}
			if share, p := play(func(scores []float64, in []bool) audit.Counts {
				for i, b := range in {
					if b {
						scores[i] += 2
					}
				}
				c, err := Runs(scores, in, worth)
				if err != nil {
					t.Fatal(err)
				}
				return c
			}); p >= 1e-9 && order == "as drawn" {
				t.Errorf("a leak is found in %.3f of all sets of runs only", share)
			}
		}
	}
}

// A canary that was not planted is as exposed as a reference: by b bits or more with
// probability 2^-b at most, also where perplexities tie.
func TestExposureKeepsItsBits(t *testing.T) {
	const references = 63
	r := rand.New(rand.NewPCG(19, 20))
	for name, world := range worlds() {
		if name == "no numbers" || name == "some numbers" {
			continue // refused
		}
		exposed := make([]int, 7)
		for range nullRuns() {
			s := world(r, references+1)
			at := r.IntN(len(s))
			s[0], s[at] = s[at], s[0]
			bits, err := exposure(s[0], s[1:])
			if err != nil {
				t.Fatal(err)
			}
			for b := range exposed {
				if bits >= float64(b) {
					exposed[b]++
				}
			}
		}
		for b, n := range exposed {
			if p := audit.PValue(n, nullRuns(), math.Exp2(-float64(b))); b > 0 && p < 1e-9 {
				t.Errorf("%s: %d of %d canaries are exposed by %d bits: p = %.1e", name, n, nullRuns(), b, p)
			}
		}
	}
}

// The intervals of a rate cover it, at 95 %, also where scores tie: a miss on either side
// has probability 2.5 % at most, and so has one of the false positive rate.
func TestRatesKeepTheirConfidence(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	laws := map[string]struct {
		draw  func() float64
		above func(t float64) float64
	}{
		"uniform":    {r.Float64, func(t float64) float64 { return min(1, max(0, 1-t)) }},
		"two values": {func() float64 { return float64(r.IntN(2)) }, func(t float64) float64 { return map[float64]float64{0: 0.5}[t] }},
		"a limit":    {func() float64 { return min(0.9, r.Float64()) }, func(t float64) float64 { return map[bool]float64{true: 1 - t}[t < 0.9] }},
	}
	for name, law := range laws {
		var low, high, wrong int
		for range nullRuns() {
			scores, member := make([]float64, 60), make([]bool, 60)
			for i := range scores {
				scores[i], member[i] = law.draw(), i%2 == 0
			}
			roc, err := NewROC(scores, member)
			if err != nil {
				t.Fatal(err)
			}
			rate, err := roc.At(0.1, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			truth := law.above(rate.Threshold)
			if truth < rate.TPRLow {
				low++
			}
			if truth > rate.TPRHigh {
				high++
			}
			if truth > rate.FPRHigh {
				wrong++
			}
		}
		for what, n := range map[string]int{"below": low, "above": high, "false positives above": wrong} {
			if p := audit.PValue(n, nullRuns(), 0.025); p < 1e-9 {
				t.Errorf("%s: the truth is %s in %d of %d runs: p = %.1e", name, what, n, nullRuns(), p)
			}
		}
	}
}
