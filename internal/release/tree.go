package release

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Shape is that of a tree of counts: places as leaves, below Levels levels of nodes (the
// root, which has no count, is not among them) with Branching children each.
type Shape struct {
	Places            int64
	Branching, Levels int
}

// shapeOf chooses the shape by the error of a count up to a place: a walk down passes some
// (b−1)/2 counts on each of h levels, and the variance of each count grows with h for Gaussian
// noise, with h² for Laplace noise.
func shapeOf(places int64, gaussian bool) Shape {
	best, least := Shape{}, math.Inf(1)
	for levels := 1; levels <= 62; levels++ {
		b := int64(math.Ceil(math.Pow(float64(places), 1/float64(levels)) - 1e-9))
		for b = max(b, 2); power(b, levels) < places; b++ { // what rounding took
		}
		h := float64(levels)
		err := h * float64(b-1) * h
		if !gaussian {
			err *= h
		}
		if err < least {
			best, least = Shape{places, int(b), levels}, err
		}
		if b == 2 {
			break
		}
	}
	return best
}

// power is b^n, or the largest int64.
func power(b int64, n int) int64 {
	out := int64(1)
	for range n {
		if out > math.MaxInt64/b {
			return math.MaxInt64
		}
		out *= b
	}
	return out
}

// A tree is a group's counts. Noise is drawn when a node is first looked at, and kept: which
// nodes are looked at depends on noisy counts and public numbers alone, so that what is read
// is distributed as if every count had been noisy from the start. The exact counts stay here.
type tree struct {
	Shape
	noise  mechanism.Additive
	bits   noise.Bits
	places []int64    // that have rows, ascending
	sums   []*big.Int // sums[i] is the number of rows at places[:i]
	known  map[node][]*big.Int
}

// A node is named by its level, 0 for the root, and the first of its places.
type node struct {
	level int
	first int64
}

func newTree(s Shape, n mechanism.Additive, bits noise.Bits, counts map[int64]*big.Int) *tree {
	t := &tree{Shape: s, noise: n, bits: bits, sums: []*big.Int{new(big.Int)}, known: map[node][]*big.Int{}}
	for p := range counts {
		t.places = append(t.places, p)
	}
	slices.Sort(t.places)
	for i, p := range t.places {
		t.sums = append(t.sums, new(big.Int).Add(t.sums[i], counts[p]))
	}
	return t
}

// exact counts the rows at places in [from, to).
func (t *tree) exact(from, to int64) *big.Int {
	i, _ := slices.BinarySearch(t.places, from)
	j, _ := slices.BinarySearch(t.places, to)
	return new(big.Int).Sub(t.sums[j], t.sums[i])
}

// width is how many places each child of a node of this level has.
func (t *tree) width(level int) int64 { return power(int64(t.Branching), t.Levels-level-1) }

// children returns the noisy counts of a node's children that have places.
func (t *tree) children(n node) ([]*big.Int, error) {
	if known, ok := t.known[n]; ok {
		return known, nil
	}
	var counts []*big.Int
	width := t.width(n.level)
	for i := range int64(t.Branching) {
		if i > 0 && n.first >= t.Places-i*width { // i*width is at most power(b, h), below 2^63
			break
		}
		from := n.first + i*width
		to := t.Places
		if width < t.Places-from {
			to = from + width
		}
		counts = append(counts, t.exact(from, to))
	}
	if err := t.noise.AddTo(t.bits, counts); err != nil {
		return nil, err
	}
	t.known[n] = counts
	return counts, nil
}

// total is the noisy number of rows.
func (t *tree) total() (*big.Int, error) {
	top, err := t.children(node{})
	if err != nil {
		return nil, err
	}
	sum := new(big.Int)
	for _, c := range top {
		sum.Add(sum, c)
	}
	return sum, nil
}

// A boundary lies between two places.
type boundary struct {
	below *big.Int // the noisy number of rows below it
	top   int      // of the children of the root that were added up for that
	other int      // and of other nodes
}

func (b boundary) past(count *big.Int, level int) boundary {
	b.below = new(big.Int).Add(b.below, count)
	if level == 0 {
		b.top++
	} else {
		b.other++
	}
	return b
}

// first walks down into the first child with a right boundary that passes, or else the last.
func (t *tree) first(passes func(boundary) bool) (int64, error) {
	at, left := node{}, boundary{below: new(big.Int)}
	for level := range t.Levels {
		counts, err := t.children(at)
		if err != nil {
			return 0, err
		}
		i := 0
		for ; i < len(counts)-1; i++ {
			right := left.past(counts[i], level)
			if passes(right) {
				break
			}
			left = right
		}
		at = node{level + 1, at.first + int64(i)*t.width(level)}
	}
	return at.first, nil
}

// last walks down into the last child with a left boundary that passes, or else the first.
func (t *tree) last(passes func(boundary) bool) (int64, error) {
	at, left := node{}, boundary{below: new(big.Int)}
	for level := range t.Levels {
		counts, err := t.children(at)
		if err != nil {
			return 0, err
		}
		chosen, start, next := 0, left, left
		for i := 1; i < len(counts); i++ {
			next = next.past(counts[i-1], level)
			if passes(next) {
				chosen, start = i, next
			}
		}
		at, left = node{level + 1, at.first + int64(chosen)*t.width(level)}, start
	}
	return at.first, nil
}

// spread is Σc², where the noise of (rows below b) − p·(all rows) is Σ cᵢ·Xᵢ.
func (s Shape) spread(b boundary, p float64) float64 {
	left, right := float64(b.top), float64(s.top()-b.top)
	return left*(1-p)*(1-p) + right*p*p + float64(b.other)
}

// top is how many children the root has.
func (s Shape) top() int {
	width := power(int64(s.Branching), s.Levels-1)
	return int((s.Places + width - 1) / width)
}

// largest is the largest spread of a boundary.
func (s Shape) largest(p float64) float64 {
	m := max(p, 1-p)
	return float64(s.top())*m*m + float64((s.Levels-1)*(s.Branching-1))
}

// tail returns a w that Σ cᵢ·Xᵢ exceeds with probability beta at most, X being draws of the
// noise, |cᵢ| ≤ 1 and Σcᵢ² = spread.
//
// Discrete Gaussian noise has E[exp(hX)] ≤ exp(h²σ²/2) (Canonne, Kamath and Steinke 2020,
// Lemma 25), so that w = σ·√(2·spread·ln(1/β)). Discrete Laplace noise of scale t has
// E[exp(hX)] ≤ 1/(1−t²h²) (see mechanism.PrefixSums), and −ln(1−c²x) ≤ −c²·ln(1−x) for c² ≤ 1,
// so that w = t·(ln(1/β) − spread·ln(1−u²))/u for every u in (0, 1): the best of some.
func (n Noise) tail(spread float64, beta *big.Rat) float64 {
	const slack = 1 + 1e-9 // more than rounding takes
	b, _ := beta.Float64()
	scale, l := n.ScaleIn(big.NewRat(1, 1)), -math.Log(b)
	if n.Name == "discrete_gaussian" {
		return scale * math.Sqrt(2*spread*l) * slack
	}
	best := math.Inf(1)
	for i := 1; i < 64; i++ {
		u := float64(i) / 64
		best = min(best, (l-spread*math.Log1p(-u*u))/u)
	}
	return scale * best * slack
}

// deviation is the standard deviation of Σ cᵢ·Xᵢ, or more.
func (n Noise) deviation(spread float64) float64 {
	d := n.ScaleIn(big.NewRat(1, 1)) * math.Sqrt(spread)
	if n.Name != "discrete_gaussian" {
		d *= math.Sqrt2
	}
	return d
}

func ratOf(f float64) *big.Rat {
	r := new(big.Rat).SetFloat64(f)
	if r == nil { // too large for a float64, or for a count: beyond all of them
		return new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return r
}

// quantile reads a quantile from a tree.
//
// With n noisy rows, percentile_disc(p) is the value of the row number ⌈p·n⌉, at least 1, and
// percentile_cont(p) lies between those on either side of 1 + p·(n−1), as in PostgreSQL. min
// and max are the values of rows so far from either end that noise, with two standard
// deviations, does not reach beyond it: the very last value may be a single unit's. With n
// below 1 it is the middle of the bounds.
func (r *Release) quantile(g stability.Aggregate, t *tree) (*big.Rat, error) {
	comp, n := r.Components[g.Components[0]], r.Noise[g.Components[0]]
	total, err := t.total()
	if err != nil {
		return nil, err
	}
	middle := new(big.Rat).Add(g.Lower, g.Upper)
	if middle.Mul(middle, big.NewRat(1, 2)); total.Sign() < 1 {
		return middle, nil
	}
	all := new(big.Rat).SetInt(total)
	half := new(big.Rat).Mul(all, big.NewRat(1, 2))
	at := func(rank func(boundary) *big.Rat) (*big.Rat, error) {
		place, err := t.first(func(b boundary) bool { return new(big.Rat).SetInt(b.below).Cmp(rank(b)) >= 0 })
		return comp.Place(place), err
	}
	number := func(rank *big.Int) (*big.Rat, error) {
		if rank.Sign() < 1 {
			rank = big.NewInt(1)
		}
		if rank.Cmp(total) > 0 {
			rank = total
		}
		fixed := new(big.Rat).SetInt(rank)
		return at(func(boundary) *big.Rat { return fixed })
	}
	one := big.NewRat(1, 1)
	switch g.Function {
	case plan.Min:
		most := half
		if most.Cmp(one) < 0 {
			most = one
		}
		return at(func(b boundary) *big.Rat {
			rank := ratOf(math.Floor(2 * n.deviation(t.spread(b, 0))))
			if rank.Add(rank, one); rank.Cmp(most) > 0 {
				return most
			}
			return rank
		})
	case plan.Max:
		return at(func(b boundary) *big.Rat {
			rank := ratOf(math.Floor(2 * n.deviation(t.spread(b, 1))))
			if rank.Sub(all, rank); rank.Cmp(half) < 0 {
				return half
			}
			return rank
		})
	case plan.PercentileDisc:
		return number(whole(new(big.Rat).Mul(g.Fraction, all), up))
	}
	rank := new(big.Rat).Sub(all, one)
	rank.Add(rank.Mul(rank, g.Fraction), one)
	before := whole(rank, down)
	x, err := number(before)
	if err != nil || rank.IsInt() {
		return x, err
	}
	y, err := number(new(big.Int).Add(before, big.NewInt(1)))
	if err != nil {
		return nil, err
	}
	part := new(big.Rat).Sub(rank, new(big.Rat).SetInt(before))
	return x.Add(x, part.Mul(part, y.Sub(y, x))), nil
}

// enclose returns where a quantile lies with confidence 1−beta.
//
// Let v be the place of the true quantile, and L and R the boundaries of v's node on some
// level: they depend on the data, and not on the noise. Of percentile_disc(p), with C(b) rows
// below b and n in all, C(L) ≤ p·n ≤ C(R), whatever p; of the two values between which
// percentile_cont(p) lies C(L) ≤ p·n + 1 − p and p·n − p ≤ C(R). So the noise of C(b) − p·n,
// which is known, would have to exceed w for a noisy C(L) above p·n + w, or a noisy C(R) below
// p·n − w. With w(b) exceeded with probability beta/(2h+1) at most, none of these 2h events
// happens, nor that n is less than it seems by w, with probability 1−beta. Then walking into
// the first child whose R passes never goes right of v, on no level, and walking into the last
// child whose L passes never left of it.
func (r *Release) enclose(g stability.Aggregate, t *tree, beta *big.Rat) (extent, error) {
	comp, n := r.Components[g.Components[0]], r.Noise[g.Components[0]]
	total, err := t.total()
	if err != nil {
		return extent{}, err
	}
	part := new(big.Rat).Quo(beta, big.NewRat(int64(2*t.Levels+1), 1))
	all := new(big.Rat).SetInt(total)
	least := new(big.Rat).Sub(all, ratOf(n.tail(float64(t.top()), part)))
	if least.Cmp(big.NewRat(1, 1)) < 0 {
		return extent{g.Lower, g.Upper}, nil
	}
	p, _ := g.Fraction.Float64()
	rank := new(big.Rat).Mul(g.Fraction, all)
	low, high := new(big.Rat), new(big.Rat)
	if g.Function == plan.PercentileCont {
		low.Set(g.Fraction)
		high.Sub(big.NewRat(1, 1), g.Fraction)
	}
	low.Sub(rank, low)
	high.Add(rank, high)
	w := func(b boundary) *big.Rat { return ratOf(n.tail(t.spread(b, p), part)) }
	from, err := t.first(func(b boundary) bool {
		below := new(big.Rat).SetInt(b.below)
		return below.Add(below, w(b)).Cmp(low) >= 0
	})
	if err != nil {
		return extent{}, err
	}
	to, err := t.last(func(b boundary) bool {
		below := new(big.Rat).SetInt(b.below)
		return below.Sub(below, w(b)).Cmp(high) <= 0
	})
	if err != nil {
		return extent{}, err
	}
	out := extent{comp.Place(from), comp.Place(to)}
	value, err := r.quantile(g, t) // which a noisy end may have passed by
	if err != nil {
		return extent{}, err
	}
	if value.Cmp(out.lower) < 0 {
		out.lower = value
	}
	if value.Cmp(out.upper) > 0 {
		out.upper = value
	}
	if comp.Step.Cmp(big.NewInt(1)) > 0 {
		reach := new(big.Rat).Mul(comp.Spacing, big.NewRat(1, 2))
		out.lower = new(big.Rat).Sub(out.lower, reach)
		if out.lower.Cmp(g.Lower) < 0 {
			out.lower = g.Lower
		}
		out.upper = new(big.Rat).Add(out.upper, reach)
		if out.upper.Cmp(g.Upper) > 0 {
			out.upper = g.Upper
		}
	}
	return out, nil
}

// RankBound is how far the noisy rank of a quantile is from its true one, at most, with
// confidence 1−beta, in rows.
func (r *Release) RankBound(g stability.Aggregate, beta *big.Rat) float64 {
	n := r.Noise[g.Components[0]]
	p, _ := g.Fraction.Float64()
	return n.tail(n.Shape.largest(p), new(big.Rat).Mul(beta, big.NewRat(1, 2)))
}

// expectedReach is half the width of a quantile's interval among n values spread evenly over
// the bounds.
func (r *Release) expectedReach(g stability.Aggregate, beta *big.Rat, n int64) float64 {
	noise := r.Noise[g.Components[0]]
	p, _ := g.Fraction.Float64()
	ranks := noise.tail(noise.Shape.largest(p), new(big.Rat).Quo(beta, big.NewRat(int64(2*noise.Shape.Levels+1), 1)))
	bounds := new(big.Rat).Sub(g.Upper, g.Lower)
	width := toType(sqltype.Of(sqltype.Double), bounds, up).(float64)
	return min(width, width*ranks/float64(n))
}
