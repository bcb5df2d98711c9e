package release

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// Rows returns the released table: the keys, the aggregates, and then, for each
// aggregate and each share k, the ends of its interval at confidence
// 1−(1−confidence)/k; NULL where an end is not known. Behind them, for each column of sums and
// each share, stand rewrite's SumColumns.
func (t *Table) Rows(confidence *big.Rat, shares []int, sums ...int) ([]engine.Column, [][]sqltype.Value, error) {
	r := t.release
	columns := make([]engine.Column, 0, len(r.Columns)*(1+2*len(shares)))
	for _, c := range r.Columns {
		columns = append(columns, engine.Column{Name: c.Name, Type: c.Type})
	}
	halfWidths, err := t.halfWidths(confidence, shares)
	if err != nil {
		return nil, nil, err
	}
	for _, g := range r.Aggregates {
		for range shares {
			columns = append(columns, engine.Column{Name: "lower", Type: g.Type}, engine.Column{Name: "upper", Type: g.Type})
		}
	}
	counts := make([]bool, len(r.Aggregates))
	for j, g := range r.Aggregates {
		grid := r.Components[g.Components[0]].Grid
		counts[j] = len(g.Components) == 1 && g.Type.IsInteger() && !r.isQuantile(g) && grid.IsInt() && grid.Num().IsInt64() && grid.Num().Int64() == 1
	}
	var constants []sqltype.Value
	for _, column := range sums {
		g := r.Aggregates[column-len(r.Keys)]
		for _, share := range shares {
			a, b, c, ok := r.noiseOfSums(g.Components[0], betaOf(confidence, share))
			for _, x := range [rewrite.SumColumns]float64{a, b, c} {
				columns = append(columns, engine.Column{Name: "sum", Type: sqltype.Of(sqltype.Double)})
				if ok {
					constants = append(constants, x)
				} else {
					constants = append(constants, nil)
				}
			}
		}
	}
	rows, points := make([][]sqltype.Value, len(t.keys)), make([]sqltype.Value, len(r.Aggregates))
	for i, key := range t.keys {
		row := make([]sqltype.Value, 0, len(columns))
		row = append(row, key...)
		for j, g := range r.Aggregates {
			if counts[j] {
				row = append(row, t.whole(g, i, nil, toNearest))
				points[j] = row[len(row)-1]
				continue
			}
			var value *big.Rat
			if tree := t.tree(g, i); tree != nil {
				if value, err = r.quantile(g, tree); err != nil {
					return nil, nil, fmt.Errorf("draw noise: %w", err)
				}
			} else {
				value = t.value(g, i, nil).lower
			}
			if t.consistent {
				value = r.possible(g).nearest(value)
			}
			row = append(row, toType(g.Type, value, toNearest))
			points[j] = row[len(row)-1]
		}
		for j, g := range r.Aggregates {
			for k, share := range shares {
				if counts[j] {
					width := halfWidths[j][k][0]
					row = append(row, t.whole(g, i, width, down), t.whole(g, i, width, up))
					t.reach(g, points[j], row[len(row)-2:])
					continue
				}
				var at extent
				if tree := t.tree(g, i); tree != nil {
					if at, err = r.enclose(g, tree, betaOf(confidence, share)); err != nil {
						return nil, nil, fmt.Errorf("draw noise: %w", err)
					}
				} else {
					at = t.value(g, i, halfWidths[j][k])
				}
				if t.consistent {
					possible := r.possible(g)
					at = extent{possible.nearest(at.lower), possible.nearest(at.upper)}
				}
				row = append(row, toType(g.Type, at.lower, down), toType(g.Type, at.upper, up))
				t.reach(g, points[j], row[len(row)-2:])
			}
		}
		rows[i] = append(row, constants...)
	}
	return columns, rows, nil
}

// halfWidths returns, for each aggregate, share and component of the aggregate,
// the half width of the component's interval. An aggregate of m components
// takes each at confidence 1−(1−C)/(k·m), so that all hold together at 1−(1−C)/k.
func (t *Table) halfWidths(confidence *big.Rat, shares []int) ([][][]*big.Int, error) {
	r := t.release
	out := make([][][]*big.Int, len(r.Aggregates))
	for j, g := range r.Aggregates {
		if r.isQuantile(g) {
			continue // its interval is read from the tree
		}
		for _, k := range shares {
			beta := betaOf(confidence, k*len(g.Components))
			var widths []*big.Int
			for _, c := range g.Components {
				w, err := r.width(c, beta)
				if err != nil {
					return nil, err
				}
				widths = append(widths, w)
			}
			out[j] = append(out[j], widths)
		}
	}
	return out, nil
}

// betaOf is the probability of failure of one of so many that together have the confidence.
func betaOf(confidence *big.Rat, of int) *big.Rat {
	beta := new(big.Rat).Sub(big.NewRat(1, 1), confidence)
	return beta.Quo(beta, big.NewRat(int64(of), 1))
}

// isQuantile reports whether an aggregate is read from a tree.
func (r *Release) isQuantile(g stability.Aggregate) bool {
	return r.Components[g.Components[0]].Kind == stability.Tree
}

// tree is the one that an aggregate of a group is read from, or nil.
func (t *Table) tree(g stability.Aggregate, group int) *tree {
	if !t.release.isQuantile(g) {
		return nil
	}
	return t.trees[g.Components[0]][group]
}

// whole is a value that is a whole number as it stands, or an end of its interval where a width is
// given: what toType makes of value, without fractions.
func (t *Table) whole(g stability.Aggregate, group int, width *big.Int, end rounding) sqltype.Value {
	n := t.at(g.Components[0], group, width == nil)
	if width != nil && end == down && t.release.decides(g.Components[0]) && t.release.nearThreshold(n, width) {
		n, width = big.NewInt(1), new(big.Int)
	}
	x := n.Int64()
	if !n.IsInt64() || width != nil && !width.IsInt64() || x > fitting || x < -fitting || width != nil && width.Int64() > fitting {
		at := at(new(big.Rat).SetInt(n))
		if width != nil {
			w := new(big.Rat).SetInt(width)
			at = extent{new(big.Rat).Sub(at.lower, w), new(big.Rat).Add(at.upper, w)}
		}
		v := at.lower
		if end == up {
			v = at.upper
		}
		if t.consistent {
			v = t.release.possible(g).nearest(v)
		}
		return toType(g.Type, v, end)
	}
	if width != nil {
		x += int64(end) * width.Int64()
	}
	if t.consistent && int64(t.release.possible(g))*x < 0 {
		x = 0
	}
	limit := int64(math.MaxInt64)
	switch g.Type.Kind {
	case sqltype.Smallint:
		limit = math.MaxInt16
	case sqltype.Integer:
		limit = math.MaxInt32
	}
	return min(max(x, -limit), limit)
}

// fitting is what two numbers may be whose sum fits 64 bits.
const fitting = 1<<62 - 1

// at is a component's noisy number: where a value is meant, and not its interval, the one that it was moved to.
func (t *Table) at(component, group int, value bool) *big.Int {
	if value && t.moved != nil && t.moved[component] != nil {
		return t.moved[component][group]
	}
	return t.noisy[component][group]
}

// reach extends the ends of an interval to a value that was moved out of it.
func (t *Table) reach(g stability.Aggregate, value sqltype.Value, ends []sqltype.Value) {
	if t.moved == nil || !slices.ContainsFunc(g.Components, func(c int) bool { return t.moved[c] != nil }) {
		return
	}
	if sqltype.Compare(value, ends[0]) < 0 {
		ends[0] = value
	}
	if sqltype.Compare(value, ends[1]) > 0 {
		ends[1] = value
	}
}

// An extent is a closed interval of numbers.
type extent struct{ lower, upper *big.Rat }

func at(r *big.Rat) extent { return extent{r, r} }

// value returns aggregate g of group i, or, with half widths, its interval.
func (t *Table) value(g stability.Aggregate, i int, widths []*big.Int) extent {
	parts := make([]extent, len(g.Components))
	for j, c := range g.Components {
		lower := t.at(c, i, widths == nil)
		upper := lower
		if widths != nil {
			lower, upper = new(big.Int).Sub(lower, widths[j]), new(big.Int).Add(upper, widths[j])
			if t.release.decides(c) && t.release.nearThreshold(t.noisy[c][i], widths[j]) {
				lower = big.NewInt(1)
			}
		}
		grid := t.release.Components[c].Grid
		parts[j] = extent{scaled(lower, grid), scaled(upper, grid)}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	sum := t.release.Components[g.Components[1]]
	center := scaled(sum.Center, sum.Grid)
	return derive(g, parts, center, widths == nil)
}

func scaled(n *big.Int, grid *big.Rat) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt(n), grid)
}

// derive computes an average or variance from a noisy count N, sum S of x−c
// and sum Q of (x−c)², and clamps it to what the bounds [lo, hi] of x imply:
//
//	avg       c + S/N                       in [lo, hi]
//	var_pop   Q/N − (S/N)²                  in [0, ((hi−lo)/2)²]
//	var_samp  (Q − S²/N)/(N−1)              in [0, (hi−lo)²/2]
//
// and standard deviations are their roots. With N below 1 (2 for samples) the
// value is the documented one: c for an average, the upper bound for the others.
// For extents it is interval arithmetic: the result holds if all parts do.
func derive(g stability.Aggregate, parts []extent, center *big.Rat, point bool) extent {
	one := big.NewRat(1, 1)
	n, s := parts[0], parts[1]
	spread := new(big.Rat).Sub(g.Upper, g.Lower)
	least := one
	var bounds extent
	switch g.Function {
	case plan.Avg:
		bounds = extent{g.Lower, g.Upper}
	case plan.VarPop, plan.StddevPop:
		half := new(big.Rat).Mul(spread, big.NewRat(1, 2))
		bounds = extent{new(big.Rat), half.Mul(half, half)}
	default:
		least = big.NewRat(2, 1)
		bounds = extent{new(big.Rat), new(big.Rat).Mul(new(big.Rat).Mul(spread, spread), big.NewRat(1, 2))}
	}
	var out extent
	switch {
	case n.lower.Cmp(least) < 0 && !point:
		out = bounds // the count may be below 1: only the bounds are known
	case n.lower.Cmp(least) < 0:
		out = at(bounds.upper)
		if g.Function == plan.Avg {
			out = at(center)
		}
	case g.Function == plan.Avg:
		q := s.over(n)
		out = extent{new(big.Rat).Add(center, q.lower), new(big.Rat).Add(center, q.upper)}
	case g.Function == plan.VarPop || g.Function == plan.StddevPop:
		out = parts[2].over(n).minus(s.over(n).squared())
	default:
		below := extent{new(big.Rat).Sub(n.lower, one), new(big.Rat).Sub(n.upper, one)}
		out = parts[2].minus(s.squared().over(n)).over(below)
	}
	out = extent{clamp(out.lower, bounds), clamp(out.upper, bounds)}
	if g.Function == plan.StddevPop || g.Function == plan.StddevSamp {
		out = extent{squareRoot(out.lower, false), squareRoot(out.upper, true)}
	}
	return out
}

func clamp(r *big.Rat, bounds extent) *big.Rat {
	if r.Cmp(bounds.lower) < 0 {
		return bounds.lower
	}
	if r.Cmp(bounds.upper) > 0 {
		return bounds.upper
	}
	return r
}

// over divides by an extent of positive numbers.
func (a extent) over(b extent) extent {
	divide := func(x, small, large *big.Rat, lower bool) *big.Rat {
		if (x.Sign() >= 0) == lower {
			return new(big.Rat).Quo(x, large)
		}
		return new(big.Rat).Quo(x, small)
	}
	return extent{divide(a.lower, b.lower, b.upper, true), divide(a.upper, b.lower, b.upper, false)}
}

func (a extent) minus(b extent) extent {
	return extent{new(big.Rat).Sub(a.lower, b.upper), new(big.Rat).Sub(a.upper, b.lower)}
}

func (a extent) squared() extent {
	l, u := new(big.Rat).Mul(a.lower, a.lower), new(big.Rat).Mul(a.upper, a.upper)
	if l.Cmp(u) > 0 {
		l, u = u, l
	}
	if a.lower.Sign() <= 0 && a.upper.Sign() >= 0 {
		l = new(big.Rat)
	}
	return extent{l, u}
}

// squareRoot of a non-negative number to 100 bits, rounded outwards.
func squareRoot(r *big.Rat, upward bool) *big.Rat {
	mode := big.ToNegativeInf
	if upward {
		mode = big.ToPositiveInf
	}
	x := new(big.Float).SetPrec(100).SetMode(mode).SetRat(r)
	root, _ := new(big.Float).SetPrec(100).SetMode(mode).Sqrt(x).Rat(nil)
	if root == nil {
		return new(big.Rat)
	}
	return root
}

// A rounding is the direction in which a number is fitted to its type.
type rounding int8

const (
	down      rounding = -1
	toNearest rounding = 0
	up        rounding = 1
)

// toType fits a number to a numeric type, at the type's end if it lies beyond.
func toType(t sqltype.Type, r *big.Rat, mode rounding) sqltype.Value {
	switch {
	case t.IsInteger():
		bits := map[sqltype.Kind]uint{sqltype.Smallint: 15, sqltype.Integer: 31, sqltype.Bigint: 63}[t.Kind]
		limit := new(big.Int).Lsh(big.NewInt(1), bits)
		return within(whole(r, mode), limit).Int64()
	case t.Kind == sqltype.DecimalKind:
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil)
		limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil)
		n := whole(new(big.Rat).Mul(r, new(big.Rat).SetInt(power)), mode)
		return sqltype.Decimal{Unscaled: within(n, limit), Scale: t.Scale}
	}
	f, exact := r.Float64()
	if !exact && mode != toNearest && !math.IsInf(f, 0) && new(big.Rat).SetFloat64(f).Cmp(r) == -int(mode) {
		f = math.Nextafter(f, math.Inf(int(mode)))
	}
	return min(max(f, -math.MaxFloat64), math.MaxFloat64) + 0
}

// within returns n, or the nearest number of absolute value below limit.
func within(n, limit *big.Int) *big.Int {
	if n.CmpAbs(limit) < 0 {
		return n
	}
	end := new(big.Int).Sub(limit, big.NewInt(1))
	if n.Sign() < 0 {
		end.Neg(end)
	}
	return end
}

// whole rounds to an integer; to the nearest one away from zero in the middle.
func whole(r *big.Rat, mode rounding) *big.Int {
	floor := new(big.Int)
	floor.DivMod(r.Num(), r.Denom(), new(big.Int))
	if r.IsInt() || mode == down {
		return floor
	}
	if mode == up {
		return floor.Add(floor, big.NewInt(1))
	}
	half := new(big.Rat).Sub(r, new(big.Rat).SetInt(floor))
	if c := half.Cmp(big.NewRat(1, 2)); c > 0 || c == 0 && r.Sign() > 0 {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

// ExpectedWidth returns half the width of an aggregate's interval at confidence
// 1−beta. For an average or variance it is that of a group of n values spread
// evenly over the bounds, as far as noise moves it there.
func (r *Release) ExpectedWidth(g stability.Aggregate, beta *big.Rat, n int64) (float64, error) {
	if r.isQuantile(g) {
		return r.expectedReach(g, beta, n), nil
	}
	part := new(big.Rat).Quo(beta, big.NewRat(int64(len(g.Components)), 1))
	widths := make([]*big.Int, len(g.Components))
	for i, c := range g.Components {
		w, err := r.width(c, part)
		if err != nil {
			return 0, err
		}
		widths[i] = w
	}
	if len(widths) == 1 {
		return toType(sqltype.Of(sqltype.Double), scaled(widths[0], r.Components[g.Components[0]].Grid), up).(float64), nil
	}
	// As if the count were n, the sum 0, and the squares those of an even spread.
	t := &Table{release: r, noisy: make([][]*big.Int, len(r.Components))}
	spread := new(big.Rat).Sub(g.Upper, g.Lower)
	variance := new(big.Rat).Mul(new(big.Rat).Mul(spread, spread), big.NewRat(1, 12))
	for i, c := range g.Components {
		comp := r.Components[c]
		total := new(big.Rat)
		switch i {
		case 0:
			total.SetInt64(n)
		case 2:
			total.Mul(variance, big.NewRat(n, 1))
		}
		t.noisy[c] = []*big.Int{whole(total.Quo(total, comp.Grid), toNearest)}
	}
	e := t.value(g, 0, widths)
	half := new(big.Rat).Mul(new(big.Rat).Sub(e.upper, e.lower), big.NewRat(1, 2))
	return toType(sqltype.Of(sqltype.Double), half, up).(float64), nil
}
