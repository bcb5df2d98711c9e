package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// sparseOptions are those of whole queries that change by one.
func sparseOptions(answers int, e, values string, monotone bool) SparseVectorOptions {
	o := SparseVectorOptions{Sensitivity: rat("1"), Epsilon: eps(e), Monotone: monotone, Grid: rat("1"), Answers: answers}
	if values != "" {
		o.ValueEpsilon = eps(values)
	}
	return o
}

func scaleOf(d *noise.DiscreteLaplace) geometric {
	x, _ := d.Scale().Float64()
	return geometric(x)
}

// repeatedly returns n times each of the queries.
func repeatedly(n int, queries ...int64) (all []int64) {
	for _, q := range queries {
		all = append(all, slices.Repeat([]int64{q}, n)...)
	}
	return all
}

func TestSparseVectorIsPrivateAndTight(t *testing.T) {
	t.Parallel()
	for _, monotone := range []bool{false, true} {
		for _, tc := range []struct {
			answers   int
			e, values string
		}{{1, "1", ""}, {2, "2", ""}, {2, "3", "1"}, {3, "4", ""}} {
			s := must(NewSparseVector(sparseOptions(tc.answers, tc.e, tc.values, monotone)))
			limit := eps(tc.e).Float64()
			v := s.variant(tc.answers)
			v.gap = false
			most := v.worst(3, 1, monotone)
			if v.gap, v.shown = true, 1; s.fresh != nil {
				v.gap, v.fresh = false, scaleOf(s.fresh)
			}
			most = max(most, v.worst(3, 1, monotone))
			if most > limit+1e-9 {
				t.Errorf("%+v, monotone %v: the loss is %v", tc, monotone, most)
			}
			if s.fresh != nil {
				continue
			}
			// Many below, that rise, so that the noise on the threshold must be large, and
			// as many above as there are answers, that fall.
			n := tc.answers
			q := make([]int64, 3000+n)
			other := append(slices.Repeat([]int64{1}, 3000), slices.Repeat([]int64{-1}, n)...)
			if monotone {
				clear(other[3000:])
			}
			said := strings.Repeat("F", 3000) + strings.Repeat("T", n)
			v = s.variant(n)
			v.gap = false
			if got := math.Abs(math.Log(v.of(q, said) / v.of(other, said))); got < 0.97*limit || got > limit+1e-9 {
				t.Errorf("%+v, monotone %v: the loss is %v", tc, monotone, got)
			}
		}
	}
}

// of returns the probability of one list of answers, without gaps or values.
func (v variant) of(q []int64, said string) float64 {
	sum := 0.0
	for rho := -v.rho.reach(); rho <= v.rho.reach(); rho++ {
		p := v.rho.at(rho)
		for i, x := range q {
			if below := v.nu.below(rho - x); said[i] == 'F' {
				p *= below
			} else {
				p *= 1 - below
			}
		}
		sum += p
	}
	return sum
}

// The six variants of Lyu, Su and Li 2017 (their Figure 1): the first two are private,
// the others are not, and here they are found out. Their exact losses for noise over
// the reals, at ε = 1, are those of verification tools; 20 steps of the grid to a unit
// come near them. The wrong ones exist in tests alone.
func TestWrongVariantsAreFound(t *testing.T) {
	const unit = 20 // steps by which a query changes
	for _, tc := range []struct {
		name       string
		v          variant
		q, other   []int64
		said       string
		least, top float64
	}{
		{"1, c = 1", variant{rho: 2, nu: 4, answers: 1}, repeatedly(20, 0), repeatedly(20, 1), strings.Repeat("F", 20), 0, 1},
		{"1, c = 2", variant{rho: 2, nu: 8, answers: 2}, []int64{0, 0, 0, 0, 0}, []int64{-1, 1, 1, 1, -1}, "TFFFT", 0, 1},
		{"2, c = 2", variant{rho: 4, nu: 8, answers: 2, redrawn: 4}, []int64{0, 0, 0}, []int64{-1, 1, -1}, "TFT", 0, 1},
		{"3, value, m = 5", variant{rho: 2, nu: 2, answers: 1, value: true}, []int64{0, 0, 0, 0, 0, 1}, []int64{1, 1, 1, 1, 1, 0}, "FFFFFT0", 1.85, 2.05},
		{"3, value, m = 10", variant{rho: 2, nu: 2, answers: 1, value: true}, append(repeatedly(10, 0), 1), append(repeatedly(10, 1), 0), strings.Repeat("F", 10) + "T0", 4.2, 4.55},
		{"4, c = 1", variant{rho: 4, nu: 4.0 / 3, answers: 1}, []int64{0, 0, 0, 0, 0}, []int64{1, 1, 1, 1, -1}, "FFFFT", 1.7, 1.75},
		{"4, c = 2", variant{rho: 4, nu: 4.0 / 3, answers: 2}, []int64{0, 0, 0, 0, 0}, []int64{-1, 1, 1, 1, -1}, "TFFFT", 2.85, 3.25},
		{"5", variant{rho: 2}, []int64{0, 1}, []int64{1, 0}, "FT", math.Inf(1), math.Inf(1)},
		{"6, m = 2", variant{rho: 2, nu: 2}, []int64{0, 0, 0, 0}, []int64{1, -1, 1, -1}, "FTFT", 1.6, 1.75},
		{"6, m = 5", variant{rho: 2, nu: 2}, repeatedly(5, 0, 0), repeatedly(5, 1, -1), "FFFFFTTTTT", 4.3, 4.6},
		{"6, m = 10", variant{rho: 2, nu: 2}, repeatedly(10, 0, 0), repeatedly(10, 1, -1), strings.Repeat("F", 10) + strings.Repeat("T", 10), 9, 9.4},
		{"gap variant with the value, value 0", variant{rho: 2, nu: 4, answers: 1, value: true}, []int64{0, 0, 0, 0, 0}, []int64{1, 1, 1, 1, -1}, "FFFFT0", 1.2, 1.3},
	} {
		v := tc.v
		v.rho, v.nu, v.redrawn = v.rho*unit, v.nu*unit, v.redrawn*unit
		scaled := func(q []int64) []int64 {
			q = slices.Clone(q)
			for i := range q {
				q[i] *= unit
			}
			return q
		}
		var p, r float64
		switch {
		case v.redrawn > 0: // by the product: the answers are independent between redraws
			p, r = v.between(scaled(tc.q), tc.said), v.between(scaled(tc.other), tc.said)
		case v.value:
			p, r = v.valued(scaled(tc.q)), v.valued(scaled(tc.other))
		default:
			p, r = v.of(scaled(tc.q), tc.said), v.of(scaled(tc.other), tc.said)
		}
		if got := math.Abs(math.Log(p / r)); got < tc.least || got > tc.top {
			t.Errorf("variant %s: %v against %v, a loss of %v, expected %v to %v", tc.name, p, r, got, tc.least, tc.top)
		}
	}
}

// between is of, for a threshold that is redrawn after each answer above.
func (v variant) between(q []int64, said string) float64 {
	p := 1.0
	for len(said) > 0 {
		end := strings.Index(said, "T") + 1
		if end == 0 {
			end = len(said)
		}
		p *= v.of(q[:end], said[:end])
		q, said = q[end:], said[end:]
	}
	return p
}

// valued is the probability that all queries but the last are below, and the last is
// above with the noisy value 0.
func (v variant) valued(q []int64) float64 {
	sum, last := 0.0, len(q)-1
	for rho := -v.rho.reach(); rho <= 0; rho++ {
		p := v.rho.at(rho) * v.nu.at(-q[last])
		for _, x := range q[:last] {
			p *= v.nu.below(rho - x)
		}
		sum += p
	}
	return sum
}

func TestSparseVectorFits(t *testing.T) {
	t.Parallel()
	bits, n := entropy.New(), trials(t, 100_000)
	queries := []int64{1, 0, 2, -1}
	for _, values := range []string{"", "2"} {
		for _, monotone := range []bool{false, true} {
			if monotone == (values == "") {
				continue
			}
			o := sparseOptions(2, "4", values, monotone)
			s := must(NewSparseVector(o))
			start := func() *SparseVector { return &SparseVector{again(s.run), s.fresh} }
			v, show := s.variant(2), showGap
			v.shown = 1
			if values != "" {
				v.gap, v.fresh = false, scaleOf(s.fresh)
				show = func(a Answer) string { return fmt.Sprint("T", a.Value) }
			}
			l := v.law(queries)
			if err := follows(l, n, func() string { return play(start().Ask, show, bits, queries) }); err != nil {
				t.Errorf("values %q, monotone %v: %v", values, monotone, err)
			}
			unscaled := must(noise.NewDiscreteLaplace(new(big.Rat).Mul(s.query.Scale(), half)))
			faults := map[string]func() string{
				"query noise not scaled by c": func() string {
					a := start()
					a.query = unscaled
					return play(a.Ask, show, bits, queries)
				},
				"threshold drawn again after each answer": func() string {
					a := start()
					return play(func(b noise.Bits, q float64) (Answer, error) {
						x, err := a.Ask(b, q)
						a.started = !x.Above
						return x, err
					}, show, bits, queries)
				},
				"one answer too many": func() string {
					a := start()
					a.most++
					return play(a.Ask, show, bits, queries)
				},
			}
			if values != "" {
				faults["the compared query for a value"] = func() string {
					a := start()
					return play(a.Ask, func(x Answer) string { return fmt.Sprint("T", x.Gap+float64(a.noisy)) }, bits, queries)
				}
			}
			for name, draw := range faults {
				if sought(t) && follows(l, n/2, draw) == nil {
					t.Errorf("values %q, monotone %v, %s: passes", values, monotone, name)
				}
			}
		}
	}
}

// An adaptive law: "t" is far above, "T" above.
type adaptive struct {
	rho, first, nu geometric
	far            int64
	answers        int
	shown          int64 // gaps listed, from 0 and from far; -1 for none of them
	value          bool  // the fault of returning the noisy query
}

func (v adaptive) law(q []int64) law {
	l := law{}
	for rho := -v.rho.reach(); rho <= v.rho.reach(); rho++ {
		v.extend(l, q, rho, 2*v.answers, "", v.rho.at(rho))
	}
	return l
}

func (v adaptive) extend(l law, q []int64, threshold int64, left int, said string, p float64) {
	if len(q) == 0 || left < 2 {
		l[said] += p
		return
	}
	notFar, below := v.first.below(threshold+v.far-q[0]), v.nu.below(threshold-q[0])
	v.extend(l, q[1:], threshold, left, said+"F", p*notFar*below)
	if v.shown < 0 {
		v.extend(l, q[1:], threshold, left-1, said+"t", p*(1-notFar))
		v.extend(l, q[1:], threshold, left-2, said+"T", p*notFar*(1-below))
		return
	}
	if v.value {
		for x := max(threshold, -v.shown); x <= v.shown; x++ {
			v.extend(l, q[1:], threshold, left-2, said+fmt.Sprint("T", x), p*notFar*v.nu.at(x-q[0]))
		}
		return
	}
	for gap := int64(0); gap <= v.shown; gap++ {
		v.extend(l, q[1:], threshold, left-1, said+fmt.Sprint("t", v.far+gap), p*v.first.at(threshold+v.far+gap-q[0]))
		v.extend(l, q[1:], threshold, left-2, said+fmt.Sprint("T", gap), p*notFar*v.nu.at(threshold+gap-q[0]))
	}
}

func (v *AdaptiveSparseVector) adaptive(answers int, shown int64) adaptive {
	return adaptive{rho: scaleOf(v.rho), first: scaleOf(v.first), nu: scaleOf(v.query), far: v.far, answers: answers, shown: shown}
}

func TestAdaptiveSparseVectorIsPrivate(t *testing.T) {
	for _, monotone := range []bool{false, true} {
		for _, answers := range []int{1, 2} {
			a := must(NewAdaptiveSparseVector(sparseOptions(answers, "3", "", monotone)))
			for _, shown := range []int64{-1, 0} {
				v, most := a.adaptive(answers, shown), 0.0
				for _, q := range [][]int64{{0, 0, 0}, {a.far, 0, a.far}, {a.far + 2, a.far, a.far + 1}, {1, -2, 0}} {
					l := v.law(q)
					for _, other := range neighbours(q, 1, monotone) {
						most = max(most, loss(l, v.law(other)))
					}
				}
				if most > 3+1e-9 {
					t.Errorf("%d answers, monotone %v, gaps to %d: the loss is %v", answers, monotone, shown, most)
				}
				if most < 1.5 {
					t.Logf("%d answers, monotone %v, gaps to %d: the loss is only %v", answers, monotone, shown, most)
				}
			}
			v := a.adaptive(answers, 0)
			v.value = true
			q, other := append(repeatedly(9, 0), 0), append(repeatedly(9, 1), -1)
			if got := loss(v.law(q), v.law(other)); got < 3 && !monotone {
				t.Errorf("%d answers: the value in the place of the gap has a loss of %v only", answers, got)
			}
		}
	}
}

func TestAdaptiveSparseVectorFits(t *testing.T) {
	t.Parallel()
	bits, n := entropy.New(), trials(t, 100_000)
	s := must(NewAdaptiveSparseVector(sparseOptions(2, "6", "", false)))
	start := func() *AdaptiveSparseVector { return &AdaptiveSparseVector{again(s.run), s.first, s.far} }
	queries := []int64{s.far, 0, s.far + 3, 1}
	l := s.adaptive(2, 1).law(queries)
	if err := follows(l, n, func() string { return play(start().Ask, showFar, bits, queries) }); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*AdaptiveSparseVector){
		"half the noise first":        func(a *AdaptiveSparseVector) { a.first = a.query },
		"far above costs nothing":     func(a *AdaptiveSparseVector) { a.most++ },
		"one more answer":             func(a *AdaptiveSparseVector) { a.most += 2 },
		"the threshold without noise": func(a *AdaptiveSparseVector) { a.started = true },
	} {
		if sought(t) && follows(l, n/2, func() string {
			a := start()
			change(a)
			return play(a.Ask, showFar, bits, queries)
		}) == nil {
			t.Errorf("%s: passes", name)
		}
	}
	// All of them far above: 2c−1 answers.
	a, said := start(), 0
	for range 10 {
		if x, err := a.Ask(bits, 1e6); err == nil && x.Above && x.Far {
			said++
		}
	}
	if said != 3 || !a.Halted() {
		t.Errorf("%d answers far above, halted: %v", said, a.Halted())
	}
}

func showFar(a Answer) string {
	if a.Far {
		return fmt.Sprint("t", a.Gap)
	}
	return fmt.Sprint("T", a.Gap)
}

func TestSparseVectorAccuracy(t *testing.T) {
	t.Parallel()
	bits, n := entropy.New(), trials(t, 100_000)
	type runner interface {
		Ask(noise.Bits, float64) (Answer, error)
		Bound(int, *big.Rat) (float64, error)
	}
	o := sparseOptions(3, "1", "0.25", false)
	o.Grid = nil
	plain := o
	plain.ValueEpsilon = privacy.Epsilon{}
	s, a := must(NewSparseVector(o)), must(NewAdaptiveSparseVector(plain))
	for name, start := range map[string]func() runner{
		"sparse vector": func() runner { return &SparseVector{again(s.run), s.fresh} },
		"adaptive":      func() runner { return &AdaptiveSparseVector{again(a.run), a.first, a.far} },
	} {
		for _, beta := range []string{"0.5", "0.05"} {
			b, _ := rat(beta).Float64()
			alpha := must(start().Bound(5, rat(beta))) * 1.000001
			if err := held(b, n, func() bool {
				r, above := start(), 0
				for i := range 5 {
					q := -alpha
					if i > 2 {
						q = alpha
					}
					x, err := r.Ask(bits, q)
					if err == nil && x.Above != (q > 0) {
						return false
					}
					if x.Above {
						above++
					}
				}
				return above >= 2
			}); err != nil {
				t.Errorf("%s, beta %s, alpha %v: %v", name, beta, alpha, err)
			}
		}
	}
	alpha := must(s.ValueBound(rat("0.05")))
	if want := 12 * math.Log(20); math.Abs(alpha-want) > 1e-3 { // c/ε₃·ln(1/β)
		t.Errorf("a value's alpha is %v, want %v", alpha, want)
	}
	c := must(NewSparseVector(SparseVectorOptions{Sensitivity: rat("1"), Epsilon: eps("1"), ValueEpsilon: eps("0.25"), Answers: 1 << 20}))
	scaled := must(c.ValueBound(rat("0.05")))
	far := scaled * 100
	if err := held(0.05, n, func() bool {
		x := must(c.Ask(bits, far))
		return math.Abs(x.Value-far) <= scaled
	}); err != nil {
		t.Error(err)
	}
}

// Where float64 cannot hold an accuracy it is infinite.
func TestAdaptiveSparseVectorAccuracyOverflows(t *testing.T) {
	v, err := NewAdaptiveSparseVector(SparseVectorOptions{Sensitivity: rat("1e300"), Answers: 1 << 30, Epsilon: eps("30")})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := v.Bound(20, rat("1/2")); err != nil || !math.IsInf(a, 1) {
		t.Errorf("the accuracy is %v, %v", a, err)
	}
}

func TestSparseVectorRefusals(t *testing.T) {
	for name, change := range map[string]func(*SparseVectorOptions){
		"no answers":           func(o *SparseVectorOptions) { o.Answers = 0 },
		"negative answers":     func(o *SparseVectorOptions) { o.Answers = -1 },
		"absurd answers":       func(o *SparseVectorOptions) { o.Answers = math.MaxInt },
		"no epsilon":           func(o *SparseVectorOptions) { o.Epsilon = privacy.Epsilon{} },
		"no sensitivity":       func(o *SparseVectorOptions) { o.Sensitivity = nil },
		"negative sensitivity": func(o *SparseVectorOptions) { o.Sensitivity = rat("-1") },
		"all for the values":   func(o *SparseVectorOptions) { o.ValueEpsilon = o.Epsilon },
		"values without end":   func(o *SparseVectorOptions) { o.ValueEpsilon = eps("1e-290") },
		"threshold NaN":        func(o *SparseVectorOptions) { o.Threshold = math.NaN() },
	} {
		o := sparseOptions(2, "1", "", false)
		change(&o)
		if s, err := NewSparseVector(o); s != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
		if o.ValueEpsilon.Sign() == 0 {
			if s, err := NewAdaptiveSparseVector(o); s != nil || !errors.Is(err, ErrParameter) {
				t.Errorf("adaptive, %s: %v, %v", name, s, err)
			}
		}
	}
	if _, err := NewAdaptiveSparseVector(sparseOptions(2, "1", "0.5", false)); !errors.Is(err, ErrParameter) {
		t.Errorf("adaptive, with values: %v", err)
	}
	s := must(NewSparseVector(sparseOptions(2, "1", "", false)))
	if _, err := s.ValueBound(half); !errors.Is(err, ErrParameter) {
		t.Errorf("without values: %v", err)
	}
	if got := s.Event().String(); got != "sparse_vector(1)" {
		t.Errorf("event is %s", got)
	}
	// Both stop for good at the first failure of the bits.
	a := must(NewAdaptiveSparseVector(sparseOptions(2, "1", "", false)))
	for _, ask := range []func(noise.Bits, float64) (Answer, error){s.Ask, a.Ask} {
		if x, err := ask(broken{}, 0); !errors.Is(err, errBroken) || x != (Answer{}) {
			t.Errorf("failing bits: %v, %v", x, err)
		}
		if _, err := ask(entropy.New(), 0); !errors.Is(err, ErrHalted) {
			t.Errorf("after failing bits: %v", err)
		}
	}
	for x, err := range must(NewSparseVector(sparseOptions(1, "1", "", false))).All(broken{}, slices.Values([]float64{1, 2})) {
		if x != (Answer{}) || !errors.Is(err, errBroken) {
			t.Errorf("All with failing bits: %v, %v", x, err)
		}
	}
}
