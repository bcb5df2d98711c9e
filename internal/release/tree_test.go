package release

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// silent noise is none.
type silent struct{ mechanism.Additive }

func (silent) AddTo(noise.Bits, []*big.Int) error { return nil }
func (silent) ScaleIn(*big.Rat) float64           { return 1e-12 }

// quieter noise says that it is less than it is.
type quieter struct {
	mechanism.Additive
	by float64
}

func (q quieter) ScaleIn(grid *big.Rat) float64 { return q.Additive.ScaleIn(grid) / q.by }

// treeOf is a release of one tree over the integers from 0 to places-1.
func treeOf(places int64, n mechanism.Additive, name string) *Release {
	one := big.NewRat(1, 1)
	comp := stability.Component{Kind: stability.Tree, Places: places, Spacing: one, Step: big.NewInt(1), Grid: one, ArgGrid: one,
		LowerUnits: new(big.Int), UpperUnits: big.NewInt(places - 1), PerGroup: big.NewInt(1)}
	return &Release{Release: &stability.Release{Components: []stability.Component{comp}, MaxGroups: 1},
		Noise: []Noise{{Additive: n, Name: name, Shape: shapeOf(places, name == "discrete_gaussian")}}}
}

func (r *Release) aggregate(f plan.AggregateFunction, p *big.Rat) stability.Aggregate {
	upper := new(big.Rat).SetInt(r.Components[0].UpperUnits)
	return stability.Aggregate{Function: f, Fraction: p, Components: []int{0}, Lower: new(big.Rat), Upper: upper, Type: sqltype.Of(sqltype.Double)}
}

func (r *Release) grow(values []int64) *tree { return r.growOf(counted(values)) }

func (r *Release) growOf(counts map[int64]*big.Int) *tree {
	return newTree(r.Noise[0].Shape, r.Noise[0], entropy.New(), counts)
}

func counted(values []int64) map[int64]*big.Int {
	counts := map[int64]*big.Int{}
	for _, v := range values {
		if counts[v] == nil {
			counts[v] = new(big.Int)
		}
		counts[v].Add(counts[v], big.NewInt(1))
	}
	return counts
}

// want is PostgreSQL's quantile of sorted values.
func want(f plan.AggregateFunction, p *big.Rat, sorted []int64) *big.Rat {
	n := new(big.Rat).SetInt64(int64(len(sorted)))
	value := func(rank *big.Int) *big.Rat {
		i := min(max(rank.Int64(), 1), int64(len(sorted)))
		return new(big.Rat).SetInt64(sorted[i-1])
	}
	if f != plan.PercentileCont {
		return value(whole(new(big.Rat).Mul(p, n), up))
	}
	rank := new(big.Rat).Mul(p, n.Sub(n, big.NewRat(1, 1)))
	rank.Add(rank, big.NewRat(1, 1))
	below := whole(rank, down)
	x, y := value(below), value(new(big.Int).Add(below, big.NewInt(1)))
	part := rank.Sub(rank, new(big.Rat).SetInt(below))
	return x.Add(x, part.Mul(part, y.Sub(y, x)))
}

// TestQuantilesAreExact reads quantiles from trees without noise: they are PostgreSQL's,
// whatever ties, gaps and fractions there are, and so are the ends of their intervals.
func TestQuantilesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.Int64Range(2, 3000).Draw(t, "places")
		values := rapid.SliceOfN(rapid.Int64Range(0, places-1), 1, 60).Draw(t, "values")
		name := rapid.SampledFrom([]string{"discrete_gaussian", "discrete_laplace"}).Draw(t, "noise")
		f := rapid.SampledFrom([]plan.AggregateFunction{plan.PercentileCont, plan.PercentileDisc, plan.Min, plan.Max}).Draw(t, "function")
		p := big.NewRat(rapid.Int64Range(0, 12).Draw(t, "p"), 12)
		if f == plan.Min || f == plan.Max {
			p = map[plan.AggregateFunction]*big.Rat{plan.Min: new(big.Rat), plan.Max: big.NewRat(1, 1)}[f]
		}
		r := treeOf(places, silent{}, name)
		tree, g := r.grow(values), r.aggregate(f, p)
		slices.Sort(values)
		got, err := r.quantile(g, tree)
		if err != nil {
			t.Fatal(err)
		}
		if w := want(f, p, values); got.Cmp(w) != 0 {
			t.Fatalf("%s(%v) of %v is %v, want %v (shape %+v)", f, p, values, got, w, r.Noise[0].Shape)
		}
		at, err := r.enclose(g, tree, big.NewRat(1, 20))
		if err != nil {
			t.Fatal(err)
		}
		if at.lower.Cmp(got) > 0 || at.upper.Cmp(got) < 0 {
			t.Fatalf("%s(%v) of %v is %v, outside [%v, %v]", f, p, values, got, at.lower, at.upper)
		}
	})
}

// Where values were rounded to places that lie 4 apart, an interval reaches 2 beyond the places,
// and never beyond the bounds.
func TestEnclosuresCoverRounding(t *testing.T) {
	r := treeOf(11, silent{}, "discrete_gaussian")
	comp := &r.Components[0]
	comp.Step, comp.Spacing, comp.UpperUnits = big.NewInt(4), rat("4"), big.NewInt(40)
	for _, test := range []struct {
		place        int64
		lower, upper string
	}{{0, "0", "2"}, {3, "10", "14"}, {10, "38", "40"}} {
		at, err := r.enclose(r.aggregate(plan.PercentileCont, rat("1/2")), r.grow([]int64{test.place, test.place, test.place}), rat("1/20"))
		if err != nil || at.lower.Cmp(rat(test.lower)) != 0 || at.upper.Cmp(rat(test.upper)) != 0 {
			t.Errorf("place %d: [%v, %v], %v, want [%s, %s]", test.place, at.lower, at.upper, err, test.lower, test.upper)
		}
	}
}

// Without values, a quantile is the middle of the bounds, and may be anything within them.
func TestQuantileOfNothing(t *testing.T) {
	r := treeOf(11, silent{}, "discrete_laplace")
	for _, f := range []plan.AggregateFunction{plan.PercentileCont, plan.PercentileDisc, plan.Min, plan.Max} {
		g := r.aggregate(f, big.NewRat(1, 2))
		v, err := r.quantile(g, r.grow(nil))
		if err != nil || v.Cmp(rat("5")) != 0 {
			t.Errorf("%s of nothing is %v, %v", f, v, err)
		}
		at, err := r.enclose(g, r.grow(nil), big.NewRat(1, 20))
		if err != nil || at.lower.Sign() != 0 || at.upper.Cmp(rat("10")) != 0 {
			t.Errorf("%s of nothing lies in [%v, %v], %v", f, at.lower, at.upper, err)
		}
	}
}

// A shape has a leaf for every place, and no other shape of so many levels has less error.
func TestShapes(t *testing.T) {
	for places := int64(2); places <= 300; places++ {
		for _, gaussian := range []bool{false, true} {
			s := shapeOf(places, gaussian)
			cost := func(levels, b int64) int64 {
				c := levels * levels * (b - 1)
				if !gaussian {
					c *= levels
				}
				return c
			}
			if power(int64(s.Branching), s.Levels) < places {
				t.Fatalf("%+v has too few leaves", s)
			}
			for levels := int64(1); levels < 12; levels++ {
				for b := int64(2); b <= places; b++ {
					if power(b, int(levels)) >= places && cost(levels, b) < cost(int64(s.Levels), int64(s.Branching)) {
						t.Fatalf("%+v: %d levels of %d are better", s, levels, b)
					}
				}
			}
		}
	}
	if s := shapeOf(1<<62, true); power(int64(s.Branching), s.Levels) < 1<<62 {
		t.Errorf("%+v", s)
	}
}

// TestTreeDistances holds the theorem of trees against all counts of all nodes: units with R
// rows in each of L0 groups are added, removed and replaced, and the counts never move by more
// than the design is calibrated to. A tree that is taken for one level is caught.
func TestTreeDistances(t *testing.T) {
	const groups, rows = 3, 4
	checkFaults(t, rapid.Custom(func(t *rapid.T) []bool {
		caught := make([]bool, 1)
		places := rapid.Int64Range(2, 400).Draw(t, "places")
		r := treeOf(places, silent{}, rapid.SampledFrom([]string{"discrete_gaussian", "discrete_laplace"}).Draw(t, "noise"))
		r.MaxGroups, r.Components[0].PerGroup = groups, big.NewInt(rows)
		relation := rapid.SampledFrom([]privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne}).Draw(t, "neighbours")
		unit := func(name string) [][]int64 {
			same := rapid.Int64Range(0, places-1).Draw(t, name)
			out := make([][]int64, groups)
			for g := range out {
				out[g] = rapid.SliceOfN(rapid.OneOf(rapid.Just(same), rapid.Int64Range(0, places-1)), 0, rows).Draw(t, name)
			}
			return out
		}
		gone := unit("gone")
		come := make([][]int64, groups)
		if relation == privacy.ReplaceOne {
			come = unit("come")
		}
		l1, l2 := new(big.Int), new(big.Int)
		for g := range groups {
			d, e := r.grow(gone[g]), r.grow(come[g])
			for level := range d.Levels {
				for first := int64(0); first < places; first += d.width(level) {
					n := new(big.Int).Sub(d.exact(first, first+d.width(level)), e.exact(first, first+d.width(level)))
					l1.Add(l1, new(big.Int).Abs(n))
					l2.Add(l2, n.Mul(n, n))
				}
			}
		}
		levels := r.Noise[0].Shape.Levels
		most, square := r.Release.Distances(r.Components[0], levels, relation)
		if new(big.Rat).SetInt(l1).Cmp(most) > 0 || new(big.Rat).SetInt(l2).Cmp(square) > 0 {
			t.Fatalf("%v and %v are at L1 %v and L2² %v, the design says %v and %v", gone, come, l1, l2, most, square)
		}
		if most, _ := r.Release.Distances(r.Components[0], 1, relation); new(big.Rat).SetInt(l1).Cmp(most) > 0 {
			caught[0] = true
		}
		return caught
	}))
}

// TestEnclosuresHold draws noise: intervals at confidence 0.8 hold in at least 0.8 of 1,000
// runs but for 0.102, which by Hoeffding's inequality a correct one fails with probability
// 1e-9 at most; noise that is said to be a sixth of what it is does not pass. Quantiles of
// one tree ascend with their fraction.
func TestEnclosuresHold(t *testing.T) {
	const runs, places, n = 1000, 300, 4000
	beta := big.NewRat(1, 5)
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(math.Abs(100 + 80*math.Sin(float64(i)))) // two heaps, and a gap above
	}
	sorted, counts := slices.Clone(values), counted(values)
	slices.Sort(sorted)
	gaussian, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: rat("1600"), Rho: rho(t, "0.5")})
	if err != nil {
		t.Fatal(err)
	}
	laplace, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: rat("30"), Epsilon: eps(t, "1")})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		noise   mechanism.Additive
		planted bool
	}{
		{"discrete_gaussian", gaussian, false}, {"discrete_laplace", laplace, false},
		{"discrete_gaussian", quieter{gaussian, 6}, true}, {"discrete_laplace", quieter{laplace, 6}, true},
	} {
		r := treeOf(places, test.noise, test.name)
		worst := 0
		for _, f := range []plan.AggregateFunction{plan.PercentileCont, plan.Max} {
			g := r.aggregate(f, map[plan.AggregateFunction]*big.Rat{plan.PercentileCont: rat("1/2"), plan.Max: rat("1")}[f])
			truth := want(f, g.Fraction, sorted)
			missed := 0
			for run := range runs {
				tree := r.growOf(counts)
				at, err := r.enclose(g, tree, beta)
				if err != nil {
					t.Fatal(err)
				}
				if at.lower.Cmp(truth) > 0 || at.upper.Cmp(truth) < 0 {
					missed++
				}
				before := new(big.Rat)
				for k := range int64(9) {
					if run%20 > 0 {
						break
					}
					q, err := r.quantile(r.aggregate(plan.PercentileDisc, big.NewRat(k, 8)), tree)
					if err != nil || q.Cmp(before) < 0 {
						t.Fatalf("quantiles descend from %v to %v, %v", before, q, err)
					}
					before = q
				}
			}
			worst = max(worst, missed)
		}
		t.Logf("%s, planted %t: %d of %d missed", test.name, test.planted, worst, runs)
		if limit := 0.2 + math.Sqrt(math.Log(1e9)/(2*runs)); (float64(worst) > limit*runs) != test.planted {
			t.Errorf("%s, planted %t: %d of %d intervals do not hold", test.name, test.planted, worst, runs)
		}
	}
}

// A jagged noise is whatever a test draws.
type jagged struct {
	mechanism.Additive
	draw func() int64
}

func (j jagged) ScaleIn(*big.Rat) float64 { return 3 }

func (j jagged) AddTo(_ noise.Bits, values []*big.Int) error {
	for _, v := range values {
		v.Add(v, big.NewInt(j.draw()))
	}
	return nil
}

// Quantiles of one tree ascend with their fraction, whatever noise its nodes have, counts below 0 too: by values as well as between them, with the
// least first and the largest last. Those of trees with noise of their own do not.
func TestQuantilesAscend(t *testing.T) {
	t.Parallel()
	checkFaults(t, rapid.Custom(func(t *rapid.T) []bool {
		places := rapid.Int64Range(2, 200).Draw(t, "places")
		values := rapid.SliceOfN(rapid.Int64Range(0, places-1), 0, 40).Draw(t, "values")
		name := rapid.SampledFrom([]string{"discrete_gaussian", "discrete_laplace"}).Draw(t, "noise")
		r := treeOf(places, jagged{draw: func() int64 { return rapid.Int64Range(-9, 9).Draw(t, "of a node") }}, name)
		one := r.grow(values)
		read := func(f plan.AggregateFunction, p *big.Rat, from *tree) *big.Rat {
			q, err := r.quantile(r.aggregate(f, p), from)
			if err != nil {
				t.Fatal(err)
			}
			return q
		}
		descends := false
		for _, f := range []plan.AggregateFunction{plan.PercentileDisc, plan.PercentileCont} {
			before, other := read(f, new(big.Rat), one), read(f, new(big.Rat), r.grow(values))
			for k := int64(1); k <= 7; k++ {
				p := big.NewRat(k, 7)
				q := read(f, p, one)
				if q.Cmp(before) < 0 {
					t.Fatalf("%s descends from %v to %v at %v", f, before, q, p)
				}
				before = q
				if k < 4 {
					next := read(f, p, r.grow(values))
					descends = descends || next.Cmp(other) < 0
					other = next
				}
			}
		}
		least, middle, most := read(plan.Min, new(big.Rat), one), read(plan.PercentileDisc, big.NewRat(1, 2), one), read(plan.Max, big.NewRat(1, 1), one)
		if least.Cmp(middle) > 0 || middle.Cmp(most) > 0 {
			t.Fatalf("the least is %v, the middle %v, the largest %v", least, middle, most)
		}
		return []bool{descends}
	}))
}

// A statement's trees cost what was asked for, in every measure and relation.
func TestTreesAreCharged(t *testing.T) {
	for _, test := range []struct {
		measure string
		spend   Spend
	}{
		{"pure", Spend{Epsilon: eps(t, "0.5")}}, {"zcdp", Spend{Rho: rho(t, "0.01")}}, {"approx", Spend{Epsilon: eps(t, "0.5"), Delta: del(t, "1e-7")}},
	} {
		for _, relation := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
			t.Run(fmt.Sprint(test.measure, relation), func(t *testing.T) {
				c := counts(filter.Measure(test.measure), relation, false, 5, 7)
				c.Releases[0].Components = append(c.Releases[0].Components, treeOf(1000, silent{}, "").Components[0])
				c.Releases[0].Components[1].PerGroup = big.NewInt(7)
				c.Releases[0].Aggregates = append(c.Releases[0].Aggregates, stability.Aggregate{Function: plan.PercentileCont, Fraction: rat("1/2"), Components: []int{1}})
				d, err := NewDesign(c, Options{Spend: test.spend})
				if err != nil {
					t.Fatal(err)
				}
				n := d.Releases[0].Noise[1]
				l1, l2 := c.Releases[0].Distances(c.Releases[0].Components[1], n.Shape.Levels, relation)
				switch e := n.Event().(type) {
				case privacy.DiscreteGaussian:
					if e.SensitivitySquared.Cmp(l2) != 0 || n.Shape != shapeOf(1000, true) {
						t.Errorf("%v hides an L2² of %v, shape %+v", e, l2, n.Shape)
					}
				case privacy.DiscreteLaplace:
					if e.Sensitivity.Cmp(l1) != 0 || n.Shape != shapeOf(1000, false) {
						t.Errorf("%v hides an L1 of %v, shape %+v", e, l1, n.Shape)
					}
				}
				f, err := filter.New(filter.Budget{Measure: filter.Measure(test.measure), Epsilon: c.Domain.Epsilon, Delta: c.Domain.Delta, SelectionDelta: c.Domain.SelectionDelta})
				if err != nil {
					t.Fatal(err)
				}
				charge, err := f.Charge(d.Events, d.Delta)
				if err != nil {
					t.Fatal(err)
				}
				got := f.Amounts(charge)
				for _, p := range got.In(filter.Measure(test.measure)) {
					asked := map[string]*big.Rat{"epsilon": test.spend.Epsilon.Rat(), "delta": test.spend.Delta.Rat(), "rho": test.spend.Rho.Rat()}[p.Name]
					amount, ok := new(big.Rat).SetString(p.Amount.String())
					if slack := rat("1e-9"); !ok || amount.Cmp(new(big.Rat).Add(asked, slack)) > 0 {
						t.Errorf("%s is charged %v, asked for %v", p.Name, p.Amount, asked)
					}
				}
			})
		}
	}
}
