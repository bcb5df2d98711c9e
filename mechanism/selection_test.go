package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// obeys checks that deciding on n units with probability keep(n) is (ε, δ)-DP for
// counts that differ by one: the four inequalities, exactly, with a number below
// e^ε.
func obeys(epsilon, delta *big.Rat, last int64, keep func(n int64) *big.Rat) error {
	e, one := numeric.Of(epsilon).Exp().Lo(), rat("1")
	within := func(p, q *big.Rat) bool { // p <= e^ε·q + δ
		limit := new(big.Rat).Mul(e, q)
		return p.Cmp(limit.Add(limit, delta)) <= 0
	}
	if keep(0).Sign() != 0 {
		return errors.New("a group without units is kept")
	}
	for n := int64(0); n <= last; n++ {
		p, q := keep(n), keep(n+1)
		notP, notQ := new(big.Rat).Sub(one, p), new(big.Rat).Sub(one, q)
		if !within(p, q) || !within(q, p) || !within(notP, notQ) || !within(notQ, notP) {
			return fmt.Errorf("%d and %d units are told apart", n, n+1)
		}
	}
	return nil
}

func (t *truncatedGeometric) rational(n int64) *big.Rat {
	return new(big.Rat).SetFrac(t.probability(big.NewInt(n)), t.one)
}

var singleGroups = []struct{ epsilon, delta string }{
	{"1", "1e-5"}, {"0.1", "1e-9"}, {"0.01", "1e-6"}, {"2", "0.01"}, {"5", "1e-300"}, {"0.5", "0.9"}, {"20", "1e-9"}, {"650", "1e-12"}, {"0.001", "1e-3"},
}

func singleGeometric(t *testing.T, epsilon, delta string) *truncatedGeometric {
	t.Helper()
	s, err := newTruncatedGeometric(SelectionOptions{Epsilon: eps(epsilon), Delta: del(delta)}, rat("1"))
	if err != nil {
		t.Fatal(err)
	}
	return s.(*truncatedGeometric)
}

func TestTruncatedGeometricObeysEpsilonDelta(t *testing.T) {
	for _, tc := range singleGroups {
		g := singleGeometric(t, tc.epsilon, tc.delta)
		last := int64(len(g.keep)) + 2
		if err := obeys(rat(tc.epsilon), rat(tc.delta), last, g.rational); err != nil {
			t.Errorf("epsilon %s, delta %s: %v", tc.epsilon, tc.delta, err)
		}
		// The test sees what is wrong by very little.
		tighter := func(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, rat("0.999999")) }
		if obeys(rat(tc.epsilon), tighter(rat(tc.delta)), last, g.rational) == nil {
			t.Errorf("epsilon %s, delta %s: obeys less delta too", tc.epsilon, tc.delta)
		}
		if len(g.keep) > 2 && obeys(tighter(rat(tc.epsilon)), rat(tc.delta), last, g.rational) == nil {
			t.Errorf("epsilon %s, delta %s: obeys less epsilon too", tc.epsilon, tc.delta)
		}
		shifted := func(n int64) *big.Rat { return g.rational(n + 1) }
		if obeys(rat(tc.epsilon), rat(tc.delta), last, shifted) == nil {
			t.Errorf("epsilon %s, delta %s: obeys with one unit too many", tc.epsilon, tc.delta)
		}
	}
}

// The closed form of Desfontaines et al. 2022, Theorem 1.
func TestTruncatedGeometricIsOptimal(t *testing.T) {
	for _, tc := range singleGroups {
		e, _ := rat(tc.epsilon).Float64()
		d, _ := rat(tc.delta).Float64()
		if e > 100 || d < 1e-290 {
			continue // not in floating point
		}
		g := singleGeometric(t, tc.epsilon, tc.delta)
		n1 := 1 + math.Floor(math.Log((math.Expm1(e)+2*d)/((math.Exp(e)+1)*d))/e)
		rising := func(n float64) float64 { return d * math.Expm1(n*e) / math.Expm1(e) }
		for n := range int64(len(g.keep)) + 3 {
			want := rising(float64(n))
			if m := float64(n) - n1; m > 0 {
				want = min(1, -math.Expm1(-m*e)*(1+d/math.Expm1(e))+math.Exp(-m*e)*rising(n1))
			}
			if got := g.KeepProbability(big.NewInt(n)); math.Abs(got-want) > 1e-9*want {
				t.Errorf("epsilon %s, delta %s: %d units are kept with probability %v, want %v", tc.epsilon, tc.delta, n, got, want)
			}
		}
	}
}

// A threshold is the smallest that delta allows (one less would not do), and the
// noise below it hides one unit.
func TestThresholds(t *testing.T) {
	for _, o := range []SelectionOptions{
		{MaxGroups: 1, Epsilon: eps("1"), Delta: del("1e-5")},
		{MaxGroups: 8, Epsilon: eps("0.5"), Delta: del("1e-9")},
		{MaxGroups: 3, Epsilon: eps("2"), Delta: del("1e-7"), Neighbours: privacy.ReplaceOne},
		{MaxGroups: 1, Rho: zcdp("0.5"), Delta: del("1e-6")},
		{MaxGroups: 8, Rho: zcdp("0.125"), Delta: del("1e-9"), Neighbours: privacy.ReplaceOne},
		{MaxGroups: 1, Epsilon: eps("5"), Delta: del("0.4")},
	} {
		k := must(o.changedGroups())
		for _, build := range []func(SelectionOptions, *big.Rat) (Selection, error){newLaplaceThreshold, newGaussianThreshold} {
			s, err := build(o, k)
			if o.Rho.Sign() > 0 && errors.Is(err, ErrParameter) {
				continue // the Laplace threshold has no form for rho
			}
			if err != nil {
				t.Fatal(err)
			}
			th := s.(*threshold)
			single, _ := new(big.Rat).Quo(o.Delta.Rat(), k).Float64()
			if th.name == "gaussian_threshold" && o.Epsilon.Sign() > 0 {
				single /= 2
			}
			one := big.NewInt(1)
			if p := th.KeepProbability(one); p > single*(1+1e-5) {
				t.Errorf("%s, %v: one unit is kept with probability %v, above %v", th.name, o, p, single)
			}
			th.least.Sub(th.least, one)
			if p := th.KeepProbability(one); p < single*(1-1e-5) && single < 0.2 {
				t.Errorf("%s, %v: the threshold could be lower: probability %v, allowed %v", th.name, o, p, single)
			}
		}
	}
}

// builders are the candidates of ChooseSelection.
var builders = map[string]func(SelectionOptions, *big.Rat) (Selection, error){
	"truncated_geometric": newTruncatedGeometric,
	"laplace_threshold":   newLaplaceThreshold,
	"gaussian_threshold":  newGaussianThreshold,
}

// told returns the δ at which the decisions on some groups are (ε, δ)-DP, the
// groups having p[i] and q[i] as the probabilities of being kept.
func told(epsilon float64, p, q []float64) float64 {
	delta := 0.0
	for outcome := range 1 << len(p) {
		a, b := 1.0, 1.0
		for i := range p {
			if outcome>>i&1 == 1 {
				a, b = a*p[i], b*q[i]
			} else {
				a, b = a*(1-p[i]), b*(1-q[i])
			}
		}
		delta += max(0, a-math.Exp(epsilon)*b)
	}
	return delta
}

// Over all groups of a unit: the exact privacy of the decisions together, for all
// counts in the groups where a unit is added and all in those where one is taken
// away, lies within (ε, δ).
func TestSelectionComposes(t *testing.T) {
	for _, o := range []SelectionOptions{
		{MaxGroups: 2, Epsilon: eps("1"), Delta: del("1e-3")},
		{MaxGroups: 4, Epsilon: eps("2"), Delta: del("1e-2")},
		{MaxGroups: 1, Epsilon: eps("1"), Delta: del("1e-3"), Neighbours: privacy.ReplaceOne},
		{MaxGroups: 2, Epsilon: eps("3"), Delta: del("0.05"), Neighbours: privacy.ReplaceOne},
	} {
		k := must(o.changedGroups())
		for name, build := range builders {
			s := must(build(o, k))
			keep := func(n int64) float64 { return s.KeepProbability(big.NewInt(n)) }
			most := 0.0
			for n := range s.HalfCount().Int64() + 3 {
				for m := range s.HalfCount().Int64() + 3 {
					p, q := make([]float64, o.MaxGroups), make([]float64, o.MaxGroups)
					for i := range p { // the unit's groups have n others, or m
						others := []int64{n, m}[i%2]
						p[i], q[i] = keep(others), keep(others+1)
					}
					if o.Neighbours == privacy.ReplaceOne { // and as many more the other way round
						for i := range o.MaxGroups {
							others := []int64{m, n}[i%2]
							p, q = append(p, keep(others+1)), append(q, keep(others))
						}
					}
					most = max(most, told(o.Epsilon.Float64(), p, q), told(o.Epsilon.Float64(), q, p))
				}
			}
			if limit := o.Delta.Float64(); most > limit*(1+1e-9) {
				t.Errorf("%s, %+v: delta is %v, above %v", name, o, most, limit)
			} else if most < limit/4 {
				t.Logf("%s, %+v: delta is only %v of %v", name, o, most, limit)
			}
		}
	}
}

// What is charged is at most what was asked for.
func TestSelectionEvents(t *testing.T) {
	for _, o := range []SelectionOptions{
		{MaxGroups: 1, Epsilon: eps("1"), Delta: del("1e-6")},
		{MaxGroups: 7, Epsilon: eps("1"), Delta: del("1e-6")},
		{MaxGroups: 7, Epsilon: eps("1/3"), Delta: del("1/3"), Neighbours: privacy.ReplaceOne},
		{MaxGroups: 1, Epsilon: eps("5000"), Delta: del("1e-6")},
		{MaxGroups: 3, Rho: zcdp("0.7"), Delta: del("1e-6")},
		{MaxGroups: 3, Rho: zcdp("0.7"), Delta: del("1e-6"), Neighbours: privacy.ReplaceOne},
	} {
		k := must(o.changedGroups())
		for name, build := range builders {
			s, err := build(o, k)
			if name == "laplace_threshold" && o.Rho.Sign() > 0 {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			epsilon, rho, delta := new(big.Rat), new(big.Rat), new(big.Rat)
			for _, e := range s.Events() {
				e := must(privacy.Released(e, o.Neighbours))
				count := big.NewRat(1, 1)
				if r, ok := e.(privacy.Repeat); ok {
					count.SetInt64(int64(r.Count))
					e = r.Event
				}
				if err := e.Validate(); err != nil {
					t.Error(err)
				}
				switch e := e.(type) {
				case privacy.Selection:
					single := e.Epsilon.Rat()
					epsilon.Add(epsilon, new(big.Rat).Mul(count, single))
					square := new(big.Rat).Mul(single, single)
					rho.Add(rho, square.Mul(square, half).Mul(square, count))
					delta.Add(delta, new(big.Rat).Mul(count, e.Delta.Rat()))
				case privacy.DiscreteGaussian:
					r := new(big.Rat).Quo(e.SensitivitySquared, e.Variance)
					rho.Add(rho, r.Mul(r, half))
				default:
					t.Errorf("unexpected event %v", e)
				}
			}
			if delta.Cmp(o.Delta.Rat()) > 0 {
				t.Errorf("%s, %+v: charges delta %v", name, o, delta)
			}
			if o.Epsilon.Sign() > 0 && epsilon.Cmp(o.Epsilon.Rat()) > 0 {
				t.Errorf("%s, %+v: charges epsilon %v", name, o, epsilon)
			}
			if o.Rho.Sign() > 0 && rho.Cmp(o.Rho.Rat()) > 0 {
				t.Errorf("%s, %+v: charges rho %v", name, o, rho)
			}
		}
	}
}

// ρ + 2√(ρL) is at most ε, and nearly ε.
func TestRhoForEpsilon(t *testing.T) {
	for _, epsilon := range []string{"1e-6", "0.1", "1", "30", "10000"} {
		for _, delta := range []string{"0.3", "1e-6", "1e-200"} {
			rho, l := numeric.Of(must(rhoFor(eps(epsilon), rat(delta))).Rat()), numeric.Of(rat(delta)).Log().Neg()
			got := rho.Add(numeric.OfInt(2).Mul(rho.Mul(l).Sqrt()))
			rest := numeric.Of(rat(epsilon)).Sub(got)
			if rest.Lo().Sign() < 0 || rest.Hi().Cmp(new(big.Rat).Mul(rat(epsilon), rat("1e-15"))) > 0 {
				t.Errorf("epsilon %s, delta %s: %v is left", epsilon, delta, rest)
			}
		}
	}
}

func TestHalfCount(t *testing.T) {
	for _, o := range []SelectionOptions{
		{MaxGroups: 1, Epsilon: eps("1"), Delta: del("1e-6")},
		{MaxGroups: 20, Epsilon: eps("1"), Delta: del("1e-6")},
		{MaxGroups: 5, Rho: zcdp("0.1"), Delta: del("1e-9")},
		{MaxGroups: 1, Epsilon: eps("0.5"), Delta: del("0.9")},
		{MaxGroups: 2, Epsilon: eps("1e-4"), Delta: del("1e-9")},
	} {
		best := must(ChooseSelection(o))
		k := must(o.changedGroups())
		for name, build := range builders {
			s, err := build(o, k)
			if err != nil {
				continue
			}
			h := s.HalfCount()
			if p, q := s.KeepProbability(h), s.KeepProbability(new(big.Int).Sub(h, big.NewInt(1))); p < 0.5 || q >= 0.5 {
				t.Errorf("%s, %+v: %v units are kept with probability %v, one less with %v", name, o, h, p, q)
			}
			if h.Cmp(best.HalfCount()) < 0 {
				t.Errorf("%+v: %s was chosen, with %v units, where %s takes %v", o, best.Name(), best.HalfCount(), name, h)
			}
			if s.KeepProbability(big.NewInt(0)) != 0 || s.KeepProbability(big.NewInt(-5)) != 0 {
				t.Errorf("%s keeps a group without units", name)
			}
			if p := s.KeepProbability(new(big.Int).Lsh(h, 30)); p != 1 {
				t.Errorf("%s keeps a huge group with probability %v", name, p)
			}
		}
	}
}

func TestChoice(t *testing.T) {
	for _, tc := range []struct {
		o    SelectionOptions
		want string
		half int64
	}{
		{SelectionOptions{MaxGroups: 1, Epsilon: eps("1"), Delta: del("1e-5")}, "truncated_geometric", 12},
		{SelectionOptions{MaxGroups: 1, Epsilon: eps("0.1"), Delta: del("1e-9")}, "truncated_geometric", 0},
		{SelectionOptions{MaxGroups: 30, Epsilon: eps("1"), Delta: del("1e-6")}, "gaussian_threshold", 0},
		{SelectionOptions{MaxGroups: 1, Rho: zcdp("0.005"), Delta: del("1e-9")}, "gaussian_threshold", 62},
		{SelectionOptions{MaxGroups: 1, Epsilon: eps("1e-5"), Delta: del("1e-6")}, "laplace_threshold", 0},
	} {
		s, err := ChooseSelection(tc.o)
		if err != nil {
			t.Fatal(err)
		}
		if s.Name() != tc.want || tc.half != 0 && s.HalfCount().Int64() != tc.half {
			t.Errorf("%+v: %s, half at %v; want %s, %d", tc.o, s.Name(), s.HalfCount(), tc.want, tc.half)
		}
	}
}

// rate draws n decisions on groups of so many units and holds them against the
// probability. It refuses right ones with probability at most 1e-9:
// P(n·D >= x) <= 2·exp(-x) for the relative entropy D of the frequency (Chernoff).
func rate(s Selection, units int64, n int, p float64) error {
	groups := make([]*big.Int, n)
	for i := range groups {
		groups[i] = big.NewInt(units)
	}
	decisions, err := s.Select(entropy.New(), groups)
	if err != nil {
		return err
	}
	kept := 0
	for _, k := range decisions {
		if k {
			kept++
		}
	}
	f := float64(kept) / float64(n)
	divergence := 0.0
	if f > 0 {
		divergence += f * math.Log(f/p)
	}
	if f < 1 {
		divergence += (1 - f) * math.Log((1-f)/(1-p))
	}
	if float64(n)*divergence > math.Log(2e9) {
		return fmt.Errorf("%s: of %d groups of %d units %d are kept, with probability %v", s.Name(), n, units, kept, p)
	}
	return nil
}

func TestSelectionRate(t *testing.T) {
	const n = 50_000
	for _, o := range []SelectionOptions{
		{MaxGroups: 1, Epsilon: eps("1"), Delta: del("0.001")},
		{MaxGroups: 4, Epsilon: eps("2"), Delta: del("0.01")},
	} {
		k := must(o.changedGroups())
		for name, build := range builders {
			s := must(build(o, k))
			half := s.HalfCount().Int64()
			for _, units := range []int64{0, 1, 2, half / 2, half - 1, half, half + 2, 2 * half} {
				if err := rate(s, units, n, s.KeepProbability(big.NewInt(units))); err != nil {
					t.Errorf("%+v: %v", o, err)
				}
			}
			// The test sees a group of one unit more, and another epsilon.
			if rate(s, half, n, s.KeepProbability(big.NewInt(half+1))) == nil {
				t.Errorf("%s, %+v: one unit more makes no difference", name, o)
			}
			wrong := o
			wrong.Epsilon = o.Epsilon.MulRat(rat("1.18"))
			if rate(must(build(wrong, k)), half, n, s.KeepProbability(big.NewInt(half))) == nil {
				t.Errorf("%s, %+v: an epsilon 1.18 times as large makes no difference", name, o)
			}
		}
	}
}

// script gives the words it holds.
type script []uint64

func (s *script) Uint64() (uint64, error) {
	w := (*s)[0]
	*s = (*s)[1:]
	return w, nil
}

// A group is kept when the uniform number is below its probability, not at it.
func TestTruncatedGeometricComparesStrictly(t *testing.T) {
	g := singleGeometric(t, "1", "1e-5")
	for n := int64(1); n <= int64(len(g.keep)); n++ {
		for below, want := range map[int64]bool{0: false, 1: true} {
			u := new(big.Int).Sub(g.probability(big.NewInt(n)), big.NewInt(below))
			bits := new(script) // noise.Uniform takes the first digits first
			for left := g.one.BitLen() - 1; left > 0; left -= 64 {
				word := new(big.Int).Rsh(u, uint(max(left-64, 0)))
				*bits = append(*bits, word.And(word, new(big.Int).SetUint64(1<<min(left, 64)-1)).Uint64())
			}
			if kept, err := g.Select(bits, []*big.Int{big.NewInt(n)}); err != nil || kept[0] != want {
				t.Errorf("%d units, %d below the probability: kept is %v, %v", n, below, kept, err)
			}
		}
	}
}

// fixed is noise that is always the same.
type fixed struct {
	Additive
	k int64
}

func (f fixed) AddTo(_ noise.Bits, values []*big.Int) error {
	for _, x := range values {
		x.Add(x, big.NewInt(f.k))
	}
	return nil
}

// Attack A11: a noisy count just below the threshold must not be rounded up to it.
func TestA11ThresholdIsNotRounded(t *testing.T) {
	o := SelectionOptions{MaxGroups: 1, Epsilon: eps("1"), Delta: del("1e-5")}
	s := must(newLaplaceThreshold(o, rat("1"))).(*threshold)
	// P(1+K >= τ) = e^-(τ-1)/(1+1/e) is 1e-5 for τ = 12.2: 12 would be too low.
	if s.least.Int64() != 13 {
		t.Fatalf("the threshold is %v, want 13", s.least)
	}
	for units, want := range map[int64]bool{6: false, 7: false, 8: true, 9: true} {
		s.noise = fixed{s.noise, 5}
		kept, err := s.Select(nil, []*big.Int{big.NewInt(units)})
		if err != nil || kept[0] != want {
			t.Errorf("%d units and noise 5 at threshold 13: %v, %v", units, kept, err)
		}
	}
	s.noise = fixed{s.noise, 1000}
	if kept, _ := s.Select(nil, []*big.Int{new(big.Int)}); kept[0] {
		t.Error("a group without units is kept for its noise")
	}
}

type broken struct{}

var errBroken = errors.New("broken")

func (broken) Uint64() (uint64, error) { return 0, errBroken }

func TestFailingBitsSelectNothing(t *testing.T) {
	o := SelectionOptions{MaxGroups: 1, Epsilon: eps("1"), Delta: del("1e-5")}
	units := []*big.Int{big.NewInt(1), big.NewInt(1_000_000)}
	for name, build := range builders {
		kept, err := must(build(o, rat("1"))).Select(broken{}, units)
		if kept != nil || !errors.Is(err, errBroken) {
			t.Errorf("%s: %v, %v", name, kept, err)
		}
	}
	if units[1].Int64() != 1_000_000 {
		t.Error("the counts were changed")
	}
	values := []*big.Int{big.NewInt(3)}
	l := must(NewLaplace(LaplaceOptions{Sensitivity: rat("1"), Epsilon: eps("1")}))
	if err := l.AddTo(broken{}, values); !errors.Is(err, errBroken) || values[0] != nil {
		t.Errorf("AddTo: %v, %v", values, err)
	}
}

func TestSelectionRefusals(t *testing.T) {
	good := SelectionOptions{MaxGroups: 1, Epsilon: eps("1"), Delta: del("1e-6")}
	for name, change := range map[string]func(*SelectionOptions){
		"no groups":        func(o *SelectionOptions) { o.MaxGroups = 0 },
		"negative groups":  func(o *SelectionOptions) { o.MaxGroups = -1 },
		"absurd groups":    func(o *SelectionOptions) { o.MaxGroups = math.MaxInt64 },
		"no delta":         func(o *SelectionOptions) { o.Delta = privacy.Delta{} },
		"no epsilon":       func(o *SelectionOptions) { o.Epsilon = privacy.Epsilon{} },
		"epsilon and rho":  func(o *SelectionOptions) { o.Rho = zcdp("1") },
		"no such relation": func(o *SelectionOptions) { o.Neighbours = 7 },
		"tiny everything":  func(o *SelectionOptions) { o.Epsilon, o.Delta, o.MaxGroups = eps("1e-300"), del("1e-300"), 1<<40 },
	} {
		o := good
		change(&o)
		if s, err := ChooseSelection(o); s != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	for _, o := range []SelectionOptions{ // extreme, but with a meaning
		{MaxGroups: 1 << 40, Epsilon: eps("1"), Delta: del("1e-6"), Neighbours: privacy.ReplaceOne},
		{MaxGroups: 1, Epsilon: eps("1000000"), Delta: del("1e-290")},
		{MaxGroups: 1, Epsilon: eps("1e-100"), Delta: del("0.999999")},
		{MaxGroups: 1, Rho: zcdp("1000000000000"), Delta: del("1e-290")},
	} {
		if _, err := ChooseSelection(o); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func BenchmarkChooseSelection(b *testing.B) {
	for _, e := range []string{"1", "0.01", "0.0001"} {
		b.Run(e, func(b *testing.B) {
			for b.Loop() {
				must(ChooseSelection(SelectionOptions{MaxGroups: 4, Epsilon: eps(e), Delta: del("1e-9")}))
			}
		})
	}
}

func BenchmarkSelect(b *testing.B) {
	o := SelectionOptions{MaxGroups: 1, Epsilon: eps("1"), Delta: del("1e-9")}
	groups := make([]*big.Int, 1000)
	for i := range groups {
		groups[i] = big.NewInt(int64(i))
	}
	for name, build := range builders {
		s := must(build(o, rat("1")))
		b.Run(name, func(b *testing.B) {
			bits := entropy.New()
			for b.Loop() {
				must(s.Select(bits, groups))
			}
		})
	}
}
