package stability

import (
	"math/big"

	"github.com/discreet-dp/discreet/privacy"
)

// Distances are how far the exact values of one component lie apart between neighbours,
// over all groups, in units of its grid; of a tree, over all nodes of that many levels.
//
// Theorem. Let a unit's rows add to the component a vector over the groups with at most L0
// entries that are not 0, each in [A, B] with A ≤ 0 ≤ B. Let M = max(−A, B), W = B − A, and G
// the number of groups there are, so that L0 ≤ G and M ≤ W ≤ 2M.
//
// Add-remove: the values differ by one such vector, at most L0·M in L1 and L0·M² in L2².
//
// Replace-one: they differ by y − x for two of them, which share some k groups. In those the
// difference of two entries is at most W; in at most 2(L0 − k) others one of them is 0, and the
// difference at most M. So
//
//	L1 ≤ k·W + 2(L0 − k)·M    and    L2² ≤ k·W² + 2(L0 − k)·M²,
//
// and k + 2(L0 − k) ≤ G, which is k ≥ 2·L0 − G. Both bounds are linear in k, so each is
// largest at an end: at k = L0, or at k = max(0, 2·L0 − G). W ≤ 2M puts that of L1 at the
// lesser end. With G ≥ 2·L0 it follows that L1 ≤ 2·L0·M and L2² ≤ L0·max(2M², W²), and without
// GROUP BY, where L0 = G = 1, that L1 = L2 ≤ W. Vectors of entries A, 0 and B reach each bound.
//
// What A and B are: at most R values in [lo, hi] sum to between R·min(lo, 0) and R·max(hi, 0),
// since there may be none. For a sum that is centred, lo and hi are those less the centre,
// and W is nearly 2M: it is as if distances doubled. A clamped partial sum is in [sum_lower, sum_upper],
// or 0. Counts are in [0, R], and so is what a unit adds to a number of distinct values: a
// set without the unit is what both neighbours' sets have in common. Squares are in [0, R·s].
// What lies on one side of 0 has W = M.
//
// A tree: see quantile. The counts of one level in one group are n₁, n₂, ... ≥ 0 with Σnᵢ ≤ R,
// and two such vectors n and m are at most Σnᵢ + Σmᵢ ≤ 2R apart in L1, and at most
// Σnᵢ² + Σmᵢ² − 2·Σnᵢmᵢ ≤ 2R² in L2²; in a group that only one of them is in, R and R².
// So k = 0 is the worst, and k = L0 as bad: G does not matter.
//
// Rows in whatever groups. Let a unit have at most T rows in all, and R in each group that count. Then it is as if
// L0 were no more than m = ⌈T/R⌉. With n_g of its rows in group g, 0 ≤ n_g ≤ R and Σn_g ≤ m·R, and its entry x_g is
// in (n_g/R)·[A, B]. These vectors are a polytope, in whose corners at most m of the n_g are R and the others 0, and x_g is
// R-fold of an end: vectors with at most m entries in [A, B]. Norms of a vector, and of the difference of two, are
// convex, so that they are largest at corners, which is what is counted above. So with R = T, where
// nothing is chosen, L1 = L2 = T times what one row adds, whatever the keys. This holds of what single rows add: counts,
// sums, squares, nodes of a tree, and of numbers of distinct values, to which a unit adds in a group no more than it has
// rows there. It does not of numbers of units, nor of clamped partial sums.
func (r *Release) Distances(c Component, levels int, n privacy.Neighbours) (l1, l2squared *big.Rat) {
	most, wide := new(big.Rat).SetInt(c.PerGroup), new(big.Rat).SetInt(c.Spread())
	square := func(x *big.Rat) *big.Rat { return new(big.Rat).Mul(x, x) }
	// at is k·w + d·m
	at := func(k int64, w *big.Rat, d int64, m *big.Rat) *big.Rat {
		out := new(big.Rat).Mul(big.NewRat(k, 1), w)
		return out.Add(out, new(big.Rat).Mul(big.NewRat(d, 1), m))
	}
	groups := r.moved(c)
	switch {
	case n == privacy.AddRemove:
		l1, l2squared = at(0, wide, groups, most), at(0, wide, groups, square(most))
	case c.Kind == Tree:
		l1, l2squared = at(0, wide, 2*groups, most), at(0, wide, 2*groups, square(most))
	default: // what is no relation that we know counts as replace-one, the larger
		shared := int64(0)
		if cells, ok := r.groups(c); ok {
			shared = min(groups, max(0, 2*groups-cells))
		}
		l1, l2squared = at(shared, wide, 2*(groups-shared), most), at(shared, square(wide), 2*(groups-shared), square(most))
		if all := at(groups, wide, 0, most); all.Cmp(l1) > 0 {
			l1 = all
		}
		if all := at(groups, square(wide), 0, most); all.Cmp(l2squared) > 0 {
			l2squared = all
		}
	}
	if c.Kind == Tree {
		l := big.NewRat(int64(levels), 1)
		l1.Mul(l1, l)
		l2squared.Mul(l2squared, l)
	}
	return l1, l2squared
}

// ofRows reports whether what a unit adds to a component in a group is bounded by how many rows it has there.
func (c Component) ofRows() bool { return c.Kind != Units && c.Kind != PartialSum }

// VectorDistances are how far vectors lie apart between neighbours, over all groups, to which a unit's rows add in each
// group a vector of entries that are not negative and add up to at most so much.
//
// Theorem. It is that of one level of a tree: nothing above needs its entries to be counts. Add-remove: at most
// L0·M in L1 and, since a vector's L2 norm is at most its L1 norm, L0·M² in L2². Replace-one: at most 2·L0·M in L1,
// and, since the product of two such vectors is not negative, 2·L0·M² in L2².
func (r *Release) VectorDistances(most *big.Int, n privacy.Neighbours) (l1, l2squared *big.Rat) {
	return r.Distances(Component{Kind: Tree, PerGroup: most}, 1, n)
}

// groups is how many groups the release can have at most, G of the theorem, where that is
// known without reading a table.
func (r *Release) groups(c Component) (int64, bool) {
	if r.Private {
		return 0, false
	}
	cells, ok := r.cells()
	return cells, ok && cells >= r.moved(c)
}

// Spread is W: the most that replacing one unit changes the component in one group, at least
// PerGroup and at most twice that, which it is where nothing is known.
func (c Component) Spread() *big.Int {
	twice := new(big.Int).Lsh(c.PerGroup, 1)
	if c.Width == nil || c.Width.Cmp(twice) > 0 {
		return twice
	}
	if c.Width.Cmp(c.PerGroup) < 0 {
		return c.PerGroup
	}
	return c.Width
}

// reach is what up to so many values in [lower, upper] can sum to: M and W of the theorem.
func reach(times int64, lower, upper *big.Int) (most, wide *big.Int) {
	zero := new(big.Int)
	a, b := lower, upper
	if a.Sign() > 0 {
		a = zero
	}
	if b.Sign() < 0 {
		b = zero
	}
	n := big.NewInt(times)
	wide = new(big.Int).Mul(n, new(big.Int).Sub(b, a))
	return atLeastOne(new(big.Int).Mul(n, maxAbs(a, b))), atLeastOne(wide)
}
