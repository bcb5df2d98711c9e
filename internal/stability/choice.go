package stability

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/privacy"
)

// A statement that asks which value occurs most often, and not how often, needs no noisy count of every value. The value
// is chosen among all of a complete public domain, by the counts, by a mechanism that is made for choices:
//
//	SELECT k, mode() WITHIN GROUP (ORDER BY x) FROM t GROUP BY k
//
// is bound as the first row of each k's, in the order of their counts (package bind), and this relation is recognized here,
// however it was written. Its release has the keys k and x, and is Chosen: of the groups of each combination of k, one is
// published, and no count.
//
// Theorem. The score of a value is the number of its rows that are kept. A unit keeps at most R rows in a group, so that it adds
// between 0 and R to each score, whatever L0 is. Add-remove: all scores change in one direction, each by at most R. Replace-one: the unit that goes
// lowers each score by 0 to R, and the one that comes raises it by 0 to R: each changes by at most R, some up and
// some down. So the scores have sensitivity R, and are monotone under add-remove alone; under replace-one what they change by
// lies in [−R, R], of length 2R, and mechanism's choices cost twice what monotone ones do. The candidates are the domain's values: a function of the
// statement and of what is declared, whatever rows there are.
//
// A unit plays a part in the choices of at most C combinations of k, C the lesser of L0 and of how many there are: 1 without GROUP BY, where no bound of groups
// is needed, and none is applied. The choices of other combinations do not see it. Let one choice cost ε, with a range of
// length ε if it is the exponential mechanism. All together cost what C choices do (Choices): a unit that is added or removed changes the scores of C combinations at
// most. One that is replaced changes k of them by both its rows and those of the unit that goes, and 2(C − k) others by the rows of one, which is
// monotone and costs ε/2: ε·k + 2(C − k)·ε/2 = C·ε, and of ranges, which add up as squares, k·ε² + 2(C − k)·ε²/4 ≤ C·ε².
//
// Where a unit has at most T rows in all, and no other bound is applied (Kept), R is T and C is 1: what it adds to the scores of combination j is at most x_j, with
// Σx_j ≤ T, and what choices lose, and the squares of their ranges, add up to no more than where all T rows are in one.
//
// A choice says nothing of ties: of values whose counts are equal each is as likely as the other.

// Choices is as how many choices all of them cost, C of the theorem.
func (r *Release) Choices() int64 {
	if r.Kept {
		return 1
	}
	combinations, ok := cells(r.Keys[:len(r.Keys)-1])
	if !ok {
		return r.MaxGroups
	}
	return min(r.MaxGroups, combinations)
}

// Candidates is among how many values one is chosen, at most.
func (r *Release) Candidates() int64 {
	n, _ := cells(r.Keys[len(r.Keys)-1:])
	return n
}

// chosen certifies a relation of the values that occur most often as a choice; nil where it is something else, or where the
// noisy counts of all values err less. n is the relation, and shown its last projection.
func (a *analysis) chosen(n plan.Node, shown *plan.Project) (*relation, error) {
	counts, columns := mostFrequent(n, shown)
	if counts == nil || a.options.Counts || !plan.ReadsPrivate(counts) {
		return nil, nil
	}
	for _, k := range counts.Keys {
		if a.keyOf(counts.Input, k) != nil {
			return nil, nil
		}
	}
	keys, complete, err := a.groupedBy(counts)
	if err != nil {
		return nil, err
	}
	all, known := cells(keys)
	if !complete || !known || all > MostDerived {
		return nil, nil
	}
	r, err := a.node(counts.Input)
	if err != nil {
		return nil, err
	}
	a.known[counts.Input] = r // where it is no choice, it is looked at again
	if r.state != private {
		return nil, nil
	}
	for _, k := range counts.Keys {
		if r.isUnit(k) {
			return nil, nil
		}
	}
	groups := lesserBound(r.maxGroups, all)
	if r.rowsPerUnit > 0 {
		groups = min(groups, r.rowsPerUnit)
	}
	if a.kept(counts, r) {
		groups = 1 // as many rows as a unit has in all move counts the farthest in one
	}
	if !choiceErrsLess(a.certificate.Domain, keys, groups) {
		return nil, nil
	}
	for i, column := range columns {
		counts.Names[column] = shown.Names[i]
	}
	released, err := a.releaseAs(counts, r, true)
	if err != nil {
		return nil, err
	}
	out := &plan.Project{Input: released.node, Names: shown.Names, Span: n.Place()}
	cols := released.node.Columns()
	for _, column := range columns {
		out.Exprs = append(out.Exprs, &plan.Ref{Index: column, Name: cols[column].Name, T: cols[column].Type, Span: n.Place()})
	}
	released.node = out
	return released, nil
}

// mostFrequent returns the aggregation whose groups a relation picks from: of each combination of its keys but the last, the value of the last that has
// the most rows; and which key each of the relation's columns is. It returns nil of any other relation, such as one that shows the counts. The relation is
// the first rows of a window that numbers groups by their counts, or, of one key, the one row of groups that are sorted by them (ORDER BY count(*) DESC LIMIT 1).
func mostFrequent(n plan.Node, shown *plan.Project) (*plan.Aggregate, []int) {
	if shown.Declared != nil {
		return nil, nil
	}
	var counts *plan.Aggregate
	var at func(int) int
	switch first := shown.Input.(type) {
	case *plan.Filter:
		below, of, ok := through(first.Input)
		w, is := below.(*plan.Window)
		if !ok || !is || len(w.Functions) != 1 {
			return nil, nil
		}
		if counts = allCounts(w.Input); counts == nil {
			return nil, nil
		}
		value := len(counts.Keys) - 1
		if !isFirst(first.Condition, func(i int) bool { return of(i) == value+2 }) || !ranks(w.Functions[0], value, value+1) {
			return nil, nil
		}
		at = of
	case *plan.Sort:
		below, of, ok := through(first.Input)
		l, is := n.(*plan.Limit)
		if !ok || !is || l.Count != 1 || l.Offset != 0 {
			return nil, nil
		}
		if counts = allCounts(below); counts == nil || len(counts.Keys) != 1 || !byCount(first.Keys, of) {
			return nil, nil
		}
		at = of
	default:
		return nil, nil
	}
	value := len(counts.Keys) - 1
	columns := make([]int, len(shown.Exprs))
	for i, e := range shown.Exprs {
		ref, ok := e.(*plan.Ref)
		if !ok {
			return nil, nil
		}
		if columns[i] = at(ref.Index); columns[i] < 0 || columns[i] > value {
			return nil, nil
		}
	}
	own := *counts
	own.Names = slices.Clone(counts.Names)
	return &own, columns
}

// through follows columns through projections that only pick them, down to another node.
func through(n plan.Node) (below plan.Node, at func(int) int, ok bool) {
	at = func(i int) int { return i }
	for {
		p, is := n.(*plan.Project)
		if !is {
			return n, at, true
		}
		if p.Declared != nil {
			return nil, nil, false
		}
		above := at
		at = func(i int) int {
			if i = above(i); i < 0 {
				return -1
			}
			ref, ok := p.Exprs[i].(*plan.Ref)
			if !ok {
				return -1
			}
			return ref.Index
		}
		n = p.Input
	}
}

// allCounts is an aggregation that counts the rows of groups, and nothing else; or nil.
func allCounts(n plan.Node) *plan.Aggregate {
	counts, ok := n.(*plan.Aggregate)
	if !ok || len(counts.Keys) == 0 || counts.Sets != nil || counts.Among != nil || len(counts.Aggregations) != 1 {
		return nil
	}
	if g := counts.Aggregations[0]; g.Function != plan.CountStar || g.Distinct || g.Filter != nil {
		return nil
	}
	return counts
}

// byCount reports whether the groups of one key are sorted from the one with the largest count on, ties by the key or as it comes.
func byCount(keys []plan.SortKey, at func(int) int) bool {
	for i, k := range keys {
		ref, ok := k.Expr.(*plan.Ref)
		if !ok {
			return false
		}
		switch column := at(ref.Index); {
		case i == 0 && (column != 1 || !k.Descending):
			return false
		case i > 0 && column != 0:
			return false
		}
	}
	return len(keys) > 0
}

// isFirst reports whether a condition keeps the rows whose number is 1.
func isFirst(e plan.Expr, number func(column int) bool) bool {
	c, ok := e.(*plan.Call)
	if !ok || c.Function != plan.LessOrEqual && c.Function != plan.Equal {
		return false
	}
	ref, ok := c.Args[0].(*plan.Ref)
	if !ok || !number(ref.Index) {
		return false
	}
	one, ok := c.Args[1].(*plan.Literal)
	return ok && one.Value == int64(1)
}

// ranks reports whether a function numbers the rows of each combination of the keys before value from the one with the largest count on,
// ties by the value.
func ranks(f plan.WindowFunction, value, count int) bool {
	column := func(e plan.Expr) int {
		if ref, ok := e.(*plan.Ref); ok {
			return ref.Index
		}
		return -1
	}
	if f.Function != plan.RowNumber || len(f.Order) != 2 || len(f.Partition) != value {
		return false
	}
	seen := map[int]bool{}
	for _, e := range f.Partition {
		if i := column(e); i >= 0 && i < value {
			seen[i] = true
		}
	}
	return len(seen) == value && column(f.Order[0].Expr) == count && f.Order[0].Descending && column(f.Order[1].Expr) == value
}

// Missed is the probability at which errors of choices are compared.
const Missed = 0.05

// choiceErrsLess decides by public parameters whether a choice errs less than the largest of noisy counts of all values, by
// how far below the largest count that of the value may be, but with probability β. groups is L0 of the counts.
//
// Let n be the candidates of a choice, C as above and F = 1, or 2 of scores that are not monotone. Of a cost ε for all choices each has ε/C, and is off by
// at most F·C·R·ln(n/β)/ε (mechanism.NoisyMax.Bound). Laplace noise has scale L1/ε, and its largest draw alone is beyond that of one-sided noise; and L1 ≥ F·C·R, by stability's
// Distances, where there are two values or more: in measures of pure ε a choice always errs less.
//
// Of a cost ρ each choice has ρ/C, and ε = √(8ρ/C): it is off by F·R·√C·ln(n/β)/√(8ρ). Two draws of Gaussian noise differ by 2σ·√ln(n/β)
// at most, in n pairs, σ² = L2²/2ρ, which is 4·L2·√ln(n/β)/√(8ρ). So a choice errs less where F·R·√C·√ln(n/β) ≤ 4·L2: always
// under add-remove, for n up to 400,000; under replace-one where a unit has several values, or these are few.
//
// Under (ε, δ) Gaussian noise has a ρ of about ε²/(4·ln(1/δ)), and a choice is of ε whatever δ is. With C = 1 a choice errs less for ε of 0.1 or more and δ of 1e-4 or
// less (release's TestOneChoiceErrsLessThanGaussianCounts); with more, it depends on both and is left to counts. But where the measure adds up ρ, choices are no narrower than the ρ makes them
// that (ε, δ) converts to (release's chooseGaussian), so that they err less where they do at a cost ρ.
func choiceErrsLess(d *catalog.Domain, keys []Key, groups int64) bool {
	counts := &Release{Keys: keys, MaxGroups: groups}
	choices := counts.Choices()
	switch d.Measure {
	case "pure":
		return true
	case "zcdp", "rdp":
	default:
		return choices == 1
	}
	factor := 2.0
	if d.Neighbours == privacy.AddRemove {
		factor = 1
	}
	one := big.NewInt(1)
	_, l2squared := counts.Distances(Component{Kind: Rows, PerGroup: one, Width: one}, 0, d.Neighbours)
	l2, _ := l2squared.Float64()
	return factor*math.Sqrt(float64(choices)*math.Log(float64(counts.Candidates())/Missed)) <= 4*math.Sqrt(l2)
}
