package stability

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// Grouping sets are releases over the same rows. Where all of their keys together have
// complete domains, bounds are applied once, by the groups of all keys: a unit keeps at most
// L0 fine groups and R rows in each, the same at every set, and the exact values of sets add up. A set's
// groups are made of fine ones, and either it has noise of its own (a release Within the fine keys), or its
// values are the sums of the noisy fine ones, which is post-processing and costs nothing. Otherwise
// each set is a release with bounds and groups of its own, and what sets say does not add up.
//
// Theorem (coarser groups). Let a unit add to a component, over the fine groups, a vector of at most L0
// entries that are not 0, each in [A, B] with A ≤ 0 ≤ B, M = max(−A, B), W = B − A. A group's value is
// the sum of those of its fine groups. Then a unit adds to the coarse groups a vector x that is in the
// convex hull of 0 and of the vectors L0·A·e_i and L0·B·e_i: with c_i of its fine groups in group i,
// x_i/c_i is in [A, B], so that x = Σ (c_i/L0)·(L0·x_i/c_i)·e_i, whose weights add up to at most 1. So it is
// as if it had one entry alone, in [L0·A, L0·B]: norms are convex and largest at a corner, and so are those of the
// difference of two such vectors, which is what Distances counts for one group with L0·M and L0·W.
// This is reached: all of a unit's fine groups may be in one group. L2 is up to L0·M, not √L0·M.
//
// A number of distinct units does not add up: a unit is 1 in a coarse group however many of its fine
// groups are there, and in at most min(L0, G) of G groups, as without sets. Of distinct values at most R for
// each fine group are kept, L0·R for a coarse one. Of a tree's nodes the counts at one level, over all groups,
// add up to at most L0·R, as of one group with that many rows.

// unitInSome refuses grouping sets of which some have the unit among their keys, and others not.
func unitInSome(n *plan.Aggregate, r *relation) error {
	if n.Sets == nil {
		return nil
	}
	with := 0
	var at plan.Expr
	for _, set := range n.Sets.Levels {
		if i := slices.IndexFunc(set, func(k int) bool { return r.isUnit(n.Sets.Keys[k]) }); i >= 0 {
			with, at = with+1, n.Sets.Keys[set[i]]
		}
	}
	if with == 0 || with == len(n.Sets.Levels) {
		return nil
	}
	return diagnostic.New("D052", at.Place(), "some grouping sets have the unit among their keys, and others have not").
		Because("rows of the former belong to one unit each, and would be shown beside what is released").
		Try("group by other keys; aggregating by the unit in a subquery first also works")
}

// within gives a set's release the keys by which it is bounded.
func (a *analysis) within(r *Release, n *plan.Aggregate) error {
	if n.Sets == nil {
		return nil
	}
	finest, complete, err := a.groupedBy(a.finest(n))
	if err != nil {
		return err
	}
	if !complete {
		r.Apart = true
		return nil
	}
	if r.OneRow || r.Kept { // whose bounds hold by whatever keys
		return nil
	}
	r.Sets, r.Level = n.Sets, make([]int, len(finest))
	for i := range r.Level {
		r.Level[i] = i
	}
	if n.Set >= 0 {
		r.Level = n.Sets.Levels[n.Set]
	}
	if len(n.Keys) == len(finest) {
		return nil
	}
	r.Within, r.Shown, r.Keys = finest, n.Sets.Levels[n.Set], nil
	for _, k := range r.Shown { // rows outside the domains of all keys are left out at each set
		r.Keys = append(r.Keys, finest[k])
	}
	return nil
}

// finest is the aggregation by all keys of a SELECT's grouping sets.
func (a *analysis) finest(n *plan.Aggregate) *plan.Aggregate {
	return &plan.Aggregate{Input: n.Input, Keys: n.Sets.Keys, Names: n.Sets.Names, Aggregations: n.Aggregations, Limits: n.Limits, Sets: n.Sets, Set: -1, Span: n.Span}
}

// Bounding are the keys by whose groups bounds are applied.
func (r *Release) Bounding() []Key {
	if r.Within != nil {
		return r.Within
	}
	return r.Keys
}

// Displayed picks, of the values of each bounding key's domain, those of the release's keys.
func (r *Release) Displayed(bounding [][]sqltype.Value) [][]sqltype.Value {
	if r.Within == nil {
		return bounding
	}
	out := make([][]sqltype.Value, len(r.Shown))
	for i, k := range r.Shown {
		out[i] = bounding[k]
	}
	return out
}

// gather states how far a unit moves components of coarser groups, by the theorem.
func (r *Release) gather() {
	if r.Within == nil {
		return
	}
	groups := big.NewInt(r.MaxGroups)
	for i := range r.Components {
		c := &r.Components[i]
		if c.Kind == Units {
			continue
		}
		c.PerGroup = new(big.Int).Mul(c.PerGroup, groups)
		if c.Width != nil {
			c.Width = new(big.Int).Mul(c.Width, groups)
		}
	}
}

// moved is in how many groups a unit moves a component, by what the component says of one.
func (r *Release) moved(c Component) int64 {
	switch {
	case r.Within == nil && r.Rows > 0 && r.MaxRows > 0 && c.ofRows(): // ⌈T/R⌉ of the theorem at Distances
		return min(r.MaxGroups, 1+(r.Rows-1)/r.MaxRows)
	case r.Within == nil:
		return r.MaxGroups
	case c.Kind != Units:
		return 1
	}
	if cells, ok := r.cells(); ok {
		return min(r.MaxGroups, cells)
	}
	return r.MaxGroups
}

// level returns a grouping set: a release of its own, or sums of the noisy values of the
// finest one, whichever errs less.
func (a *analysis) level(n *plan.Aggregate, r *relation) (*relation, error) {
	if len(n.Keys) == len(n.Sets.Keys) || !a.summed(n, r) {
		return a.release(n, r)
	}
	finest := a.finest(n)
	below, err := a.release(finest, r)
	if err != nil {
		return nil, err
	}
	coarse, of := int64(1), n.Sets.Levels[n.Set]
	keys, _, err := a.groupedBy(finest)
	if err != nil {
		return nil, err
	}
	for i, k := range keys {
		if !slices.Contains(of, i) {
			values, _ := cells([]Key{k}) // known, or summed would not say so
			coarse = saturatingMultiply(coarse, values)
		}
	}
	leaf, ok := below.node.(*plan.Released)
	if !ok {
		return nil, fmt.Errorf("the finest grouping set is a %T", below.node)
	}
	added := a.certificate.Releases[leaf.Index]
	added.Sums = append(added.Sums, coarse)
	ref := func(i int, t sqltype.Type) plan.Expr {
		return &plan.Ref{Index: i, Name: finest.Columns()[i].Name, T: t, Span: n.Span}
	}
	sums := &plan.Aggregate{Input: below.node, Names: n.Names, Span: n.Span}
	a.certificate.summed = append(a.certificate.summed, sums)
	for i, k := range n.Keys {
		sums.Keys = append(sums.Keys, ref(n.Sets.Levels[n.Set][i], k.Type()))
	}
	out := &plan.Project{Input: sums, Span: n.Span}
	for i, k := range n.Keys {
		out.Exprs, out.Names = append(out.Exprs, &plan.Ref{Index: i, Name: n.Names[i], T: k.Type(), Span: n.Span}), append(out.Names, n.Names[i])
	}
	for j, g := range n.Aggregations {
		t := g.Type
		if t.IsInteger() { // SUM of which is a decimal, as in PostgreSQL
			t = sqltype.DecimalOf(38, 0)
		}
		sums.Aggregations = append(sums.Aggregations, plan.Aggregation{Function: plan.Sum, Arg: ref(len(finest.Keys)+j, g.Type), Name: g.Name, Type: t, Span: g.Span})
		var e plan.Expr = &plan.Ref{Index: len(n.Keys) + j, Name: g.Name, T: t, Span: g.Span}
		if t != g.Type {
			e = &plan.Cast{Arg: e, T: g.Type, Span: g.Span}
		}
		out.Exprs, out.Names = append(out.Exprs, e), append(out.Names, g.Name)
	}
	return &relation{node: out, state: released}, nil
}

// Summed reports whether a relation above the releases is a grouping set whose values are the sums of the finest one's.
func (c *Certificate) Summed(n *plan.Aggregate) bool { return slices.Contains(c.summed, n) }

// summed decides whether a set's values are sums of the finest noisy ones. That is known where these
// add up, counts and sums of values, and where it is known how many they are.
func (a *analysis) summed(n *plan.Aggregate, r *relation) bool {
	adds := func(g plan.Aggregation) bool {
		return !g.Distinct && (g.Function == plan.CountStar || g.Function == plan.Count || g.Function == plan.Sum)
	}
	finest, complete, err := a.groupedBy(a.finest(n))
	if err != nil || !complete || len(n.Aggregations) == 0 || slices.ContainsFunc(n.Aggregations, func(g plan.Aggregation) bool { return !adds(g) }) {
		return false
	}
	all, ok := cells(finest)
	if !ok || all > maxSummed {
		return false
	}
	groups := all
	if g := r.maxGroups; g > 0 {
		groups = min(groups, g)
	}
	if l := n.Limits; l != nil && l.Groups > 0 {
		groups = min(groups, l.Groups)
	}
	if k := r.rowsPerUnit; k > 0 {
		groups = min(groups, k)
	}
	if a.kept(n, r) {
		groups = 1 // T rows move each set as far, whatever its groups
	}
	fine, whole := make([]float64, len(n.Sets.Levels)), -1 // of how many fine groups a group of each set is made
	for i, set := range n.Sets.Levels {
		keys := make([]Key, len(set))
		for j, k := range set {
			keys[j] = finest[k]
		}
		coarse, ok := cells(keys)
		if !ok {
			return false
		}
		if fine[i] = float64(all) / float64(coarse); len(set) == len(finest) {
			whole = i
		}
	}
	laplace := a.certificate.Domain.Measure == "pure"
	return leastError(fine, whole, float64(groups), laplace)[n.Set]
}

// maxSummed bounds the groups whose noisy values are added up where nobody asked for them.
const maxSummed = 100_000

// leastError decides which grouping sets are sums of the noisy values of the finest one, so that the
// geometric mean of all sets' variances is least. fine says of how many fine groups a group of each set is made,
// whole which set is the finest, or −1, and groups is L0.
//
// Let N releases share a cost evenly. By Distances and the theorem above, in units of R² and up to a factor that
// all have, the variance of Gaussian noise is N·L0 of a fine value, N·L0·c of a sum of c of them, and
// N·L0² of a value with noise of its own; of Laplace noise it is (N·L0)², (N·L0)²·c and (N·L0)². N counts the sets that
// have noise of their own, and the finest where it is a set, or is summed. Of so many sets with noise of
// their own those of the most fine groups gain the most by it, so that only their number is to be tried.
func leastError(fine []float64, whole int, groups float64, laplace bool) []bool {
	var order []int
	for i := range fine {
		if i != whole {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(fine[j], fine[i]) })
	best, summed := math.Inf(1), make([]bool, len(fine))
	for own := range len(order) + 1 {
		is := make([]bool, len(fine))
		for _, i := range order[own:] {
			is[i] = true
		}
		if cost := meanError(fine, is, whole, groups, laplace); cost < best {
			best, summed = cost, is
		}
	}
	return summed
}

// meanError is the logarithm of the product of all sets' variances where those that are summed are.
func meanError(fine []float64, summed []bool, whole int, groups float64, laplace bool) (log float64) {
	power, own := 1.0, math.Log(groups) // Gaussian: a value's own noise has L0 times the variance of a fine one's
	if laplace {
		power, own = 2, 0
	}
	releases := 0.0
	for i, c := range fine {
		switch {
		case summed[i]:
			log += math.Log(c)
		case i == whole:
			releases++
		default:
			releases++
			log += own
		}
	}
	if whole < 0 && slices.Contains(summed, true) {
		releases++
	}
	return log + power*float64(len(fine))*math.Log(releases)
}
