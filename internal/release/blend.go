package release

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A blend is noise that several components of the same rows have together, in place of noise that
// each has alone for a part of the cost: a count of values, their sums, and the sum of their squares.
//
// Theorem. Let the values x of a release lie in [lo, hi], in units of their grid, W = hi − lo, and let
// P be the sum of x − lo over the rows that have a value, Q that of hi − x, and Z be W for each row that
// has none. A row moves (P, Q, Z) by a vector of entries that are not negative and add up to W, whatever
// x is; so a unit of at most R rows in each of at most L0 groups moves it by at most L0·R·W in L1, and as the
// L2 norm of a group's vector is at most its L1 norm, by √L0·R·W in L2 (stability.Release.VectorDistances has replace-one). The components are
// linear in it:
//
//	rows with a value  (P + Q)/W            rows  (P + Q + Z)/W
//	sum of x − c       ((hi − c)·P + (lo − c)·Q)/W, for any c
//
// So for noise e that hides (P, Q, Z), the components with A·e added, A being these weights, are
// A·(P + e₁, Q + e₂, Z + e₃): post-processing. Their values are integers, and rounding A·e is rounding what
// was post-processed, as the rounding moves with every integer (see nearest).
//
// With squares q = ⌊d²/2^s⌋ of d = x − c, |d| ≤ h, the terms are the three of the square of (h − d) + (h + d) = 2h,
//
//	h² − 2hd + D, 2·(h² − D), h² + 2hd + D, D = 2^s·q,
//
// which add up to W = 4h². Were D = d², none were negative; as D is less by up to 2^s, the three differ from (h−d)², 2(h²−d²)
// and (h+d)² by a vector of L1 norm at most 4·2^s and L2 norm at most √6·2^s. So W + 4·2^s bounds their norms, and for replace-one
// twice that the L1 distance, and √2·(W + 4·2^s) ≥ √2·W + 2·√6·2^s the L2 distance. The components are (sum of all)/W,
// ((h²+2hd+D) − (h²−2hd+D))/4h = d, and the first less the second plus the third, 4D, over 4·2^s.
//
// Why it errs less: two Laplace noises for ε each give a count 2·2/ε², where a count for ε/2 has 8/ε².
type blend struct {
	components []int
	weights    [][]*big.Rat // by component, as in components, and by term
	most       *big.Int     // L1 norm of what a unit adds to the terms in one group
	exact      []fraction   // weights over a common denominator
}

// A fraction is a row of weights.
type fraction struct {
	over        []*big.Int
	denominator *big.Int
}

// blends are those that a release's components allow, each with and without a count of all rows.
// They overlap.
func blends(r *stability.Release) (all []blend) {
	text := func(e plan.Expr) string {
		if e == nil {
			return ""
		}
		return plan.FormatExpr(e)
	}
	seen := map[string]bool{}
	for _, c := range r.Components {
		if c.Kind != stability.Sum && c.Kind != stability.Squares {
			continue
		}
		arg, filter := text(c.Arg), text(c.Filter)
		if key := fmt.Sprintf("%q %q", arg, filter); seen[key] {
			continue
		} else {
			seen[key] = true
		}
		var counted, sums, squares []int
		rows := -1
		for i, other := range r.Components {
			if text(other.Filter) != filter {
				continue
			}
			switch {
			case other.Kind == stability.Rows && other.Arg == nil:
				rows = i
			case other.Kind == stability.Rows && text(other.Arg) == arg:
				counted = append(counted, i)
			case other.Kind == stability.Sum && text(other.Arg) == arg && sameBounds(c, other):
				sums = append(sums, i)
			case other.Kind == stability.Squares && text(other.Arg) == arg && sameBounds(c, other):
				squares = append(squares, i)
			}
		}
		if rows >= 0 {
			all = appendBlend(all, r, append([]int{rows}, counted...), sums, squares)
		}
		if len(counted) > 0 {
			all = appendBlend(all, r, counted, sums, squares)
		}
	}
	return all
}

func sameBounds(a, b stability.Component) bool {
	return a.LowerUnits.Cmp(b.LowerUnits) == 0 && a.UpperUnits.Cmp(b.UpperUnits) == 0 && a.ArgGrid.Cmp(b.ArgGrid) == 0
}

// appendBlend adds the blend of these components, if there is one.
func appendBlend(all []blend, r *stability.Release, counts, sums, squares []int) []blend {
	if len(squares) > 1 {
		return all
	}
	first := r.Components[append(sums, squares...)[0]]
	lower, upper := first.LowerUnits, first.UpperUnits
	b := blend{}
	var whole *big.Int                         // W
	var ofSum func(center *big.Int) []*big.Rat // weights of a sum, by term
	var ofSquares []*big.Rat                   // and of squares
	terms := 2
	over := func(a, b *big.Int) *big.Rat { return new(big.Rat).SetFrac(a, b) }
	lost := new(big.Int) // how much longer than W a row's terms are, by rounding
	if len(squares) == 0 {
		whole = new(big.Int).Sub(upper, lower)
		ofSum = func(center *big.Int) []*big.Rat {
			return []*big.Rat{over(new(big.Int).Sub(upper, center), whole), over(new(big.Int).Sub(lower, center), whole)}
		}
	} else {
		terms = 3
		c := r.Components[squares[0]]
		half := new(big.Int).Sub(upper, c.Center)
		if other := new(big.Int).Sub(c.Center, lower); other.Cmp(half) > 0 {
			half = other
		}
		quarter := new(big.Int).Lsh(half, 2)
		whole = new(big.Int).Mul(quarter, half)
		if whole.Sign() <= 0 {
			return all
		}
		ofSum = func(center *big.Int) []*big.Rat {
			count := over(new(big.Int).Sub(c.Center, center), whole)
			d := over(big.NewInt(1), quarter)
			return []*big.Rat{new(big.Rat).Sub(count, d), count, new(big.Rat).Add(count, d)}
		}
		step := new(big.Int).Lsh(big.NewInt(4), c.Shift)
		one := over(big.NewInt(1), step)
		ofSquares = []*big.Rat{one, new(big.Rat).Neg(one), one}
		if c.Shift > 0 {
			lost = step
		}
	}
	if whole.Sign() <= 0 {
		return all
	}
	for _, i := range counts {
		if r.Components[i].Arg == nil {
			terms++ // Z
			break
		}
	}
	add := func(i int, weights []*big.Rat) {
		b.components, b.weights = append(b.components, i), append(b.weights, weights)
	}
	padded := func(weights []*big.Rat) []*big.Rat {
		for len(weights) < terms {
			weights = append(weights, new(big.Rat))
		}
		return weights
	}
	perGroup := new(big.Int)
	for _, i := range counts {
		n := terms
		if r.Components[i].Arg != nil && len(squares) == 0 {
			n = 2
		} else if r.Components[i].Arg != nil {
			n = 3
		}
		weights := make([]*big.Rat, n)
		for j := range weights {
			weights[j] = over(big.NewInt(1), whole)
		}
		add(i, padded(weights))
		if p := r.Components[i].PerGroup; p.Cmp(perGroup) > 0 {
			perGroup = p
		}
	}
	for _, i := range sums {
		add(i, padded(ofSum(r.Components[i].Center)))
	}
	for _, i := range squares {
		add(i, padded(ofSquares))
	}
	b.most = new(big.Int).Mul(perGroup, new(big.Int).Add(whole, lost))
	for _, weights := range b.weights {
		f := fraction{denominator: big.NewInt(1)}
		for _, w := range weights {
			gcd := new(big.Int).GCD(nil, nil, f.denominator, w.Denom())
			f.denominator = new(big.Int).Mul(f.denominator, new(big.Int).Quo(w.Denom(), gcd))
		}
		for _, w := range weights {
			f.over = append(f.over, new(big.Int).Mul(w.Num(), new(big.Int).Quo(f.denominator, w.Denom())))
		}
		b.exact = append(b.exact, f)
	}
	return append(all, b)
}

// factor is the variance of a component over that of one term.
func (b *blend) factor(i int) *big.Rat {
	sum := new(big.Rat)
	for _, w := range b.weights[i] {
		sum.Add(sum, new(big.Rat).Mul(w, w))
	}
	return sum
}

// blended is the noise of one component of a blend, whose own law is that of a term.
type blended struct {
	mechanism.Additive
	weights []*big.Rat
}

// AddTo is for all components together: see mixed.add.
func (blended) AddTo(noise.Bits, []*big.Int) error {
	return errors.New("add noise: it is that of several components together")
}

// Variance is that of the weighted sum, and of rounding.
func (b blended) Variance() float64 {
	f, rounds := 0.0, false
	for _, w := range b.weights {
		x, _ := w.Float64()
		f, rounds = f+x*x, rounds || !w.IsInt()
	}
	if !rounds {
		return f * b.Additive.Variance()
	}
	return f*b.Additive.Variance() + roundingVariance
}

// ScaleIn is the scale of the largest of the weighted terms.
func (b blended) ScaleIn(grid *big.Rat) float64 {
	weights := b.sizes()
	return b.Additive.ScaleIn(new(big.Rat).Mul(weights[0], grid))
}

// sizes are the absolute values of the weights that are not 0, the largest first.
func (b blended) sizes() (all []*big.Rat) {
	for _, w := range b.weights {
		if w.Sign() == 0 {
			continue
		}
		at, x := 0, new(big.Rat).Abs(w)
		for at < len(all) && all[at].Cmp(x) >= 0 {
			at++
		}
		all = append(all[:at], append([]*big.Rat{x}, all[at:]...)...)
	}
	return all
}

// Bound of a rounded weighted sum of draws. Of equal weights it is that of the sum; else a discrete Laplace draw
// lies within 1 of a Laplace one (noise.DiscreteLaplace.BoundOfSum), and a discrete Gaussian one is
// stochastically within 1 of a normal one, so that their weighted sum lies within the sum of weights of the
// weighted sum of those. Of Laplace variables with scales a > b that has the tail
//
//	P(|aX + bY| > t) = (a²·e^(−t/a) − b²·e^(−t/b))/(a² − b²),
//
// and otherwise making each scale the largest makes the sum less peaked (Birnbaum 1948).
func (b blended) Bound(beta *big.Rat) (*big.Int, error) {
	sizes := b.sizes()
	sum, equal := new(big.Rat), true
	for _, w := range sizes {
		sum.Add(sum, w)
		equal = equal && w.Cmp(sizes[0]) == 0
	}
	// rounded is what rounding makes of a bound.
	rounded := func(x *big.Rat) *big.Int { return whole(x.Add(x, big.NewRat(1, 2)), down) }
	if equal {
		law, ok := b.Additive.(interface {
			BoundOfSum(n int, beta *big.Rat) (*big.Int, error)
		})
		if !ok {
			return nil, errors.New("bound noise: it has no bound of sums")
		}
		q, err := law.BoundOfSum(len(sizes), beta)
		if err != nil {
			return nil, err
		}
		return rounded(new(big.Rat).Mul(new(big.Rat).SetInt(q), sizes[0])), nil
	}
	// Each alone, but with probability beta of all of them together.
	each, err := b.Additive.Bound(new(big.Rat).Quo(beta, big.NewRat(int64(len(sizes)), 1)))
	if err != nil {
		return nil, err
	}
	best := new(big.Rat).Mul(new(big.Rat).SetInt(each), sum)
	if x := b.reach(sizes, beta); x != nil {
		if x.Add(x, sum); x.Cmp(best) < 0 {
			best = x
		}
	}
	return rounded(best), nil
}

// reach is Bound's of continuous noise, rounded up; nil where floating point does not say.
func (b blended) reach(sizes []*big.Rat, beta *big.Rat) *big.Rat {
	p, _ := beta.Float64()
	if !(p > 1e-200 && p < 1) {
		return nil
	}
	var scale *big.Rat
	var x float64
	first, _ := sizes[0].Float64()
	switch e := b.Event().(type) {
	case privacy.DiscreteLaplace:
		scale = e.Scale
		tail := func(x float64) float64 { return tailOfLaplaces(len(sizes), x) }
		if len(sizes) == 2 {
			second, _ := sizes[1].Float64()
			if r := second / first; r < 0.9 {
				tail = func(x float64) float64 { return (math.Exp(-x) - r*r*math.Exp(-x/r)) / (1 - r*r) }
			}
		}
		low, high := 0.0, 2*math.Sqrt(float64(len(sizes))*math.Log(2/p))+2*math.Log(2/p)
		for range 60 {
			if mid := (low + high) / 2; tail(mid) > p/above {
				low = mid
			} else {
				high = mid
			}
		}
		if !(tail(high) <= p) {
			return nil
		}
		x = high
	case privacy.DiscreteGaussian:
		v, _ := e.Variance.Float64()
		if v < 1 { // too small for the comparison
			return nil
		}
		scale = new(big.Rat).SetFloat64(math.Sqrt(v) * above)
		f := 0.0
		for _, w := range sizes {
			s, _ := w.Float64()
			f += s * s / first / first
		}
		x = math.Sqrt2 * math.Erfcinv(p) * math.Sqrt(f)
	}
	r := new(big.Rat).SetFloat64(x * above)
	if r == nil || scale == nil {
		return nil
	}
	return r.Mul(r.Mul(r, scale), sizes[0])
}

// noiseOfSum is Release.noiseOfSums of a blended component: √a and √b of it, and c, in units of its
// grid. The draws of m rows add up to a sub-gamma variable of variance factor 2ms²·Σw² and scale s·max w, or to a sub-Gaussian one of
// mσ²·Σw². What rounding adds to each row lies in [−1/2, 1/2], is as often below 0 as above, since noise and rounding are symmetric, and
// independent of other rows: by Hoeffding's inequality √(m·L/2) for all, at half of beta.
func (b blended) noiseOfSum(p float64) (a, bb, c float64, ok bool) {
	sizes := b.sizes()
	squares := 0.0
	first, _ := sizes[0].Float64()
	for _, w := range sizes {
		s, _ := w.Float64()
		squares += s * s
	}
	log := math.Log(4/p) * above
	rounding := math.Sqrt(log / 2)
	switch e := b.Event().(type) {
	case privacy.DiscreteLaplace:
		scale, _ := e.Scale.Float64()
		scale *= above
		bb, c = 2*scale*math.Sqrt(log*squares)+rounding, scale*first*log
		a = bb + c
		if most, steps := sumsOfLaplace(p/2, len(sizes)); most > 0 {
			a = min(a, most*scale*first+steps*first*above+rounding)
		}
	case privacy.DiscreteGaussian:
		variance, _ := e.Variance.Float64()
		bb = math.Sqrt(2*variance*squares*log) + rounding
		a = bb
	default:
		return 0, 0, 0, false
	}
	return a * above, bb * above, c * above, true
}

// A mixed is a blend with its noise.
type mixed struct {
	blend
	law mechanism.Additive
}

// add adds a blend's noise to the exact values of its components, by component and group.
func (m *mixed) add(bits noise.Bits, values [][]*big.Int) error {
	groups := len(values[0])
	terms := make([][]*big.Int, len(m.weights[0]))
	for j := range terms {
		drawn := make([]*big.Int, groups)
		for g := range drawn {
			drawn[g] = new(big.Int)
		}
		if err := m.law.AddTo(bits, drawn); err != nil {
			return err
		}
		terms[j] = drawn
	}
	sum, product := new(big.Int), new(big.Int)
	for i, f := range m.exact {
		for g, v := range values[i] {
			sum.SetInt64(0)
			for j, w := range f.over {
				sum.Add(sum, product.Mul(w, terms[j][g]))
			}
			rounded, err := nearest(bits, sum, f.denominator)
			if err != nil {
				return err
			}
			v.Add(v, rounded)
		}
	}
	return nil
}

// roundingVariance is what rounding adds to a variance at most: that of halves, half of the time, which a fair coin rounds. Of a denominator d
// that is odd it is (1 − 1/d²)/12, and of one that is even (1 + 2/d²)/12.
const roundingVariance = 1.0 / 8

// nearest is n/d, d > 0, as the nearest integer; of a half, that below or that above, by a fair coin.
//
// Its law moves with every integer: nearest(n + k·d) is that of nearest(n), and k more. Without that the rounding would not be of
// the sum of value and noise: with halves away from zero, and halves of units drawn, no noise has half the probability of one
// unit of it, whatever the cost. Nor may it favour a side, which sums of many rows would show (noiseOfSum).
func nearest(bits noise.Bits, n, d *big.Int) (*big.Int, error) {
	twice := new(big.Int).Lsh(d, 1)
	above, rest := new(big.Int).Lsh(n, 1), new(big.Int)
	above.Add(above, d).DivMod(above, twice, rest) // of n/d + 1/2
	if rest.Sign() > 0 {
		return above, nil
	}
	coin, err := bits.Uint64()
	if err != nil {
		return nil, err
	}
	if coin&1 == 0 {
		above.Sub(above, big.NewInt(1))
	}
	return above, nil
}
