package release

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A measurement is a release of one number x in [lower, upper]: all its rows, those with a value, the sums of x
// and of x less the middle, and, with squares, the sum of their squares.
func measurement(groups, rows, lower, upper int64, shift uint, star, squares bool) *stability.Release {
	center := floorHalf(lower + upper)
	arg := &plan.Ref{T: sqltype.Of(sqltype.Bigint), Name: "x"}
	one := big.NewRat(1, 1)
	base := stability.Component{Arg: arg, Grid: one, ArgGrid: one, LowerUnits: big.NewInt(lower), UpperUnits: big.NewInt(upper), Center: new(big.Int)}
	counted := stability.Component{Kind: stability.Rows, Arg: arg, Grid: one, ArgGrid: one, PerGroup: big.NewInt(rows), Width: big.NewInt(rows)}
	sum := base
	sum.Kind, sum.PerGroup = stability.Sum, big.NewInt(rows*max(1, -lower, upper))
	centred := base
	centred.Kind, centred.Center, centred.PerGroup = stability.Sum, big.NewInt(center), big.NewInt(rows*max(1, center-lower, upper-center))
	r := &stability.Release{MaxGroups: groups, MaxRows: rows, Private: true}
	r.Keys = []stability.Key{{Expr: arg, Name: "k"}}
	add := func(f plan.AggregateFunction, all ...stability.Component) {
		g := stability.Aggregate{Function: f, Type: sqltype.Of(sqltype.Double), Lower: big.NewRat(lower, 1), Upper: big.NewRat(upper, 1)}
		for _, c := range all {
			at := -1
			for i, known := range r.Components {
				if known.Kind == c.Kind && (known.Arg == nil) == (c.Arg == nil) && (c.Center == nil || known.Center.Cmp(c.Center) == 0) {
					at = i
				}
			}
			if at < 0 {
				at = len(r.Components)
				r.Components = append(r.Components, c)
			}
			g.Components = append(g.Components, at)
		}
		r.Aggregates = append(r.Aggregates, g)
	}
	if star {
		all := counted
		all.Arg = nil
		add(plan.CountStar, all)
	}
	add(plan.Sum, sum)
	add(plan.Avg, counted, centred)
	if squares {
		q := centred
		q.Kind, q.Shift = stability.Squares, shift
		h := max(center-lower, upper-center)
		q.Grid = new(big.Rat).SetInt64(1 << shift)
		q.PerGroup = big.NewInt(max(1, rows*(h*h>>shift)))
		add(plan.VarPop, counted, centred, q)
	}
	return r
}

func floorHalf(n int64) int64 { return int64(math.Floor(float64(n) / 2)) }

// values are what rows add to the components: x, or nil for NULL.
func values(r *stability.Release, rows []any) []*big.Int {
	out := make([]*big.Int, len(r.Components))
	for i, c := range r.Components {
		out[i] = new(big.Int)
		for _, x := range rows {
			switch {
			case c.Kind == stability.Rows && (c.Arg == nil || x != nil):
				out[i].Add(out[i], big.NewInt(1))
			case x == nil || c.Kind == stability.Rows:
			case c.Kind == stability.Sum:
				out[i].Add(out[i], big.NewInt(x.(int64)-c.Center.Int64()))
			default:
				d := x.(int64) - c.Center.Int64()
				out[i].Add(out[i], big.NewInt(d*d>>c.Shift))
			}
		}
	}
	return out
}

// hidden is a vector that a blend's noise must hide, by the theorem's own words.
func hidden(r *stability.Release, terms int, lower, upper int64, squares bool, rows []any) []int64 {
	out := make([]int64, terms)
	if !squares {
		for _, x := range rows {
			switch x := x.(type) {
			case nil:
				out[2] += upper - lower
			case int64:
				out[0], out[1] = out[0]+x-lower, out[1]+upper-x
			}
		}
		return out
	}
	center := floorHalf(lower + upper)
	h := max(center-lower, upper-center)
	var shift uint
	for _, c := range r.Components {
		if c.Kind == stability.Squares {
			shift = c.Shift
		}
	}
	for _, x := range rows {
		if x == nil {
			out[3] += 4 * h * h
			continue
		}
		d := x.(int64) - center
		square := (d * d >> shift) << shift
		out[0], out[1], out[2] = out[0]+h*h-2*h*d+square, out[1]+2*(h*h-square), out[2]+h*h+2*h*d+square
	}
	return out
}

// units are all multisets of at most so many rows.
func units(rows int, of []any) (out [][]any) {
	out = [][]any{nil}
	if rows == 0 {
		return out
	}
	for i, x := range of {
		for _, rest := range units(rows-1, of[i:]) {
			out = append(out, append([]any{x}, rest...))
		}
	}
	return out
}

// TestBlendsHideUnits holds the theorem at blend against every unit of few rows, and every pair of them: what the weights make
// of the hidden vector is what the rows add to the components, exactly, and no unit moves the hidden vector farther than the noise
// is made for. It also sees a norm that is a sixth less, and the weights of another centre.
func TestBlendsHideUnits(t *testing.T) {
	t.Parallel()
	for _, bounds := range [][2]int64{{0, 4}, {-3, 3}, {-2, 5}, {1, 4}, {-6, -1}, {0, 1}} {
		for _, squares := range []bool{false, true} {
			for _, star := range []bool{false, true} {
				for shift := uint(0); shift <= 2; shift++ {
					if shift > 0 && !squares {
						continue
					}
					name := fmt.Sprintf("%v squares %v star %v shift %d", bounds, squares, star, shift)
					const rows = 2
					r := measurement(1, rows, bounds[0], bounds[1], shift, star, squares)
					b := blends(r)[0]
					if len(b.components) != len(r.Components) {
						t.Fatalf("%s: %d components of %d are blended", name, len(b.components), len(r.Components))
					}
					var of []any
					for x := bounds[0]; x <= bounds[1]; x++ {
						of = append(of, x)
					}
					if star {
						of = append(of, nil)
					}
					terms := len(b.weights[0])
					all := units(rows, of)
					vectors := make([][]int64, len(all))
					for u, unit := range all {
						vectors[u] = hidden(r, max(terms, 4), bounds[0], bounds[1], squares, unit)[:terms]
						want := values(r, unit)
						for j, i := range b.components {
							got := new(big.Rat)
							for k, w := range b.weights[j] {
								got.Add(got, new(big.Rat).Mul(w, big.NewRat(vectors[u][k], 1)))
							}
							if !got.IsInt() || got.Num().Cmp(want[i]) != 0 {
								t.Fatalf("%s: rows %v make component %d %v, want %v", name, unit, i, got, want[i])
							}
						}
					}
					for relation, others := range map[privacy.Neighbours][][]int64{privacy.AddRemove: vectors[:1], privacy.ReplaceOne: vectors} {
						var most, square int64
						for _, x := range vectors {
							for _, y := range others {
								var l1, l2 int64
								for i := range x {
									d := max(x[i]-y[i], y[i]-x[i])
									l1, l2 = l1+d, l2+d*d
								}
								most, square = max(most, l1), max(square, l2)
							}
						}
						l1, l2 := r.VectorDistances(b.most, relation)
						if l1.Cmp(big.NewRat(most, 1)) < 0 || l2.Cmp(big.NewRat(square, 1)) < 0 {
							t.Errorf("%s, %v: distances %v and %v, measured %d and %d", name, relation, l1, l2, most, square)
						}
						if !squares && (l1.Cmp(big.NewRat(most, 1)) != 0 || l2.Cmp(big.NewRat(square, 1)) != 0) {
							t.Errorf("%s, %v: distances %v and %v, measured only %d and %d", name, relation, l1, l2, most, square)
						}
					}
				}
			}
		}
	}
}

// drawn is a law that draws what it is told.
type drawn struct {
	mechanism.Additive
	next *[]int64
}

func (d drawn) AddTo(_ noise.Bits, values []*big.Int) error {
	for _, v := range values {
		v.Add(v, big.NewInt((*d.next)[0]))
		*d.next = (*d.next)[1:]
	}
	return nil
}

// coins are bits that are told; more of them are 0, and are counted.
type coins struct {
	told  uint64
	taken int
}

func (c *coins) Uint64() (uint64, error) {
	c.taken++
	return c.told >> (c.taken - 1) & 1, nil
}

// TestBlendedRoundingHidesUnits adds up, exactly, the probability of each rounded noise of the components, for draws of Laplace noise out
// to where the rest does not count: no unit makes an answer more than e^ε times as likely. Halves that are rounded away
// from zero break it, as bounds are so few units apart that many draws make halves.
func TestBlendedRoundingHidesUnits(t *testing.T) {
	t.Parallel()
	const rows, epsilon, reach, inner = 1, 0.25, 60, 12
	for _, bounds := range [][2]int64{{0, 2}, {0, 4}, {-1, 1}, {-1, 3}} {
		r := measurement(1, rows, bounds[0], bounds[1], 0, false, false)
		b := blends(r)[0]
		l1, _ := r.VectorDistances(b.most, privacy.AddRemove)
		norm, _ := l1.Float64()
		var next []int64
		m := mixed{b, drawn{next: &next}}
		law := map[[3]int64]float64{} // by component: two or three
		halves := 0
		for p := int64(-reach); p <= reach; p++ {
			for q := int64(-reach); q <= reach; q++ {
				probability := math.Exp(-epsilon * float64(max(p, -p)+max(q, -q)) / norm)
				for told, taken := uint64(0), 0; told < 1<<taken || told == 0; told++ {
					next = []int64{p, q}
					c := &coins{told: told}
					out := make([][]*big.Int, len(b.components))
					for i := range out {
						out[i] = []*big.Int{new(big.Int)}
					}
					if err := m.add(c, out); err != nil {
						t.Fatal(err)
					}
					taken = c.taken
					halves += taken
					var at [3]int64
					for i, v := range out {
						at[i] = v[0].Int64()
					}
					law[at] += probability / float64(uint64(1)<<taken)
				}
			}
		}
		if halves == 0 {
			t.Fatalf("%v: no draw makes a half", bounds)
		}
		// What one row moves, and back.
		var moves [][3]int64
		for x := bounds[0]; x <= bounds[1]; x++ {
			add := values(r, []any{x})
			var move, back [3]int64
			for j, i := range b.components {
				move[j], back[j] = add[i].Int64(), -add[i].Int64()
			}
			moves = append(moves, move, back)
		}
		for at, here := range law {
			if max(at[0], -at[0], at[1], -at[1], at[2], -at[2]) > inner { // draws beyond the reach are left out
				continue
			}
			for _, v := range moves {
				there := law[[3]int64{at[0] + v[0], at[1] + v[1], at[2] + v[2]}]
				if here > math.Exp(epsilon)*there*(1+1e-9) {
					t.Fatalf("%v: noise of %v is %v times as likely as after a move by %v, more than e^%v", bounds, at, here/there, v, epsilon)
				}
			}
		}
	}
}

// certified is a certificate of one release.
func certified(measure string, r *stability.Release) *stability.Certificate {
	d := &catalog.Domain{ID: "d", Measure: measure, Neighbours: privacy.AddRemove}
	d.Epsilon, _ = privacy.ParseEpsilon("100")
	return &stability.Certificate{Domain: d, Releases: []*stability.Release{r}}
}

// complete makes a release one of a single group.
func complete(r *stability.Release) *stability.Release {
	r.Private, r.Keys, r.MaxGroups = false, nil, 1
	return r
}

// TestBlendedNoise draws a blend's noise: the variances are the predicted ones, and values outside their bounds as rare as
// they may be. False rejects: the means of 4,000 squares lie within a fifth but with probability below 1e-9 (the fourth moment of a
// Laplace variable is 24 s⁴, seven standard errors), and the tail's by Chernoff's bound.
func TestBlendedNoise(t *testing.T) {
	t.Parallel()
	const draws = 4000
	beta := big.NewRat(1, 20)
	for _, squares := range []bool{false, true} {
		for _, bounds := range [][2]int64{{0, 100}, {17, 90}, {-3, 4}} {
			r := complete(measurement(1, 1, bounds[0], bounds[1], 0, true, squares))
			d, err := NewDesign(certified("pure", r), Options{Spend: Spend{Epsilon: eps(t, "0.5")}})
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Events) != 1 || len(d.Releases[0].blends) != 1 {
				t.Fatalf("%d events", len(d.Events))
			}
			values := make([][]*big.Int, len(r.Components))
			m := &d.Releases[0].blends[0]
			for j := range m.components {
				values[j] = make([]*big.Int, draws)
				for g := range values[j] {
					values[j][g] = new(big.Int)
				}
			}
			if err := m.add(entropy.New(), values); err != nil {
				t.Fatal(err)
			}
			for j, i := range m.components {
				n := d.Releases[0].Noise[i]
				q, err := n.Bound(beta)
				if err != nil {
					t.Fatal(err)
				}
				mean, outside, inHalf := 0.0, 0, 0
				for _, v := range values[j] {
					x, _ := new(big.Float).SetInt(v).Float64()
					mean += x * x / draws
					if v.CmpAbs(q) > 0 {
						outside++
					}
					if new(big.Int).Lsh(new(big.Int).Abs(v), 1).Cmp(q) <= 0 {
						inHalf++
					}
				}
				if ratio := mean / n.Variance(); ratio < 0.75 || ratio > 1.3 {
					t.Errorf("%v, squares %v, component %d: variance %v, want %v", bounds, squares, i, mean, n.Variance())
				}
				if outside > 310 { // 200 expected; exp(−4000·KL(0.0775 ‖ 0.05)) < 1e-12
					t.Errorf("%v, squares %v, component %d: %d of %d outside the bound %v", bounds, squares, i, outside, draws, q)
				}
				if outside < 20 && n.Variance() > 100 {
					t.Errorf("%v, squares %v, component %d: %d of %d outside the bound %v: it is loose", bounds, squares, i, outside, draws, q)
				}
				if inHalf == draws {
					t.Errorf("half the bound passes: the test has no power")
				}
			}
		}
	}
}

// What a blend saves: an average's count and sum have half the variance that they have apart, and a sum with the count beside it as
// little as alone.
func TestBlendsErrLess(t *testing.T) {
	t.Parallel()
	spend := Spend{Epsilon: eps(t, "0.5")}
	r := complete(measurement(1, 1, 0, 100, 0, false, false))
	together, err := NewDesign(certified("pure", r), Options{Spend: spend})
	if err != nil {
		t.Fatal(err)
	}
	apart, err := NewDesign(certified("pure", r), Options{Spend: spend, Apart: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range r.Components {
		a, b := together.Releases[0].Noise[i], apart.Releases[0].Noise[i]
		if a.Variance() > 0.6*b.Variance() {
			t.Errorf("component %d: variance %v, apart %v", i, a.Variance(), b.Variance())
		}
		if c.Kind == stability.Sum && c.Center.Sign() == 0 {
			alone, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(100, 1), Epsilon: spend.Epsilon})
			if err != nil {
				t.Fatal(err)
			}
			if ratio := a.Variance() / alone.Variance(); ratio > 1.001 {
				t.Errorf("the sum has %v times the variance that it has alone", ratio)
			}
		}
	}
	if len(apart.Events) != len(r.Components) {
		t.Errorf("apart: %d events", len(apart.Events))
	}
	// Gaussian noise of a count and a sum for half of rho each is what a blend has.
	two := &stability.Release{MaxGroups: 1, MaxRows: 1, Components: r.Components[1:], Aggregates: []stability.Aggregate{{Function: plan.Avg, Components: []int{0, 1}}}}
	d := &catalog.Domain{ID: "d", Measure: "zcdp", Neighbours: privacy.AddRemove}
	design, err := NewDesign(&stability.Certificate{Domain: d, Releases: []*stability.Release{two}}, Options{Spend: Spend{Rho: rho(t, "0.1")}})
	if err != nil {
		t.Fatal(err)
	}
	if len(design.Releases[0].blends) != 0 {
		t.Error("a Gaussian average is blended, which gains nothing")
	}
}

// Weights that are given are kept: where nearly all of the cost is one aggregate's, others do not take its noise.
func TestBlendsKeepWeights(t *testing.T) {
	t.Parallel()
	r := complete(measurement(1, 1, 0, 100, 0, true, false))
	d, err := NewDesign(certified("pure", r), Options{Spend: Spend{Epsilon: eps(t, "0.5")}, Weights: []*big.Rat{big.NewRat(1000, 1), big.NewRat(1, 1), big.NewRat(1, 1)}})
	if err != nil {
		t.Fatal(err)
	}
	if n := d.Releases[0].Noise[0]; n.Terms != 1 || n.Variance() > 9 {
		t.Errorf("a count that has nearly all of the cost has noise of %d terms, variance %v", n.Terms, n.Variance())
	}
}

// Counts to which each row adds one at most have the noise that each has alone at the whole cost: by one event, whose sensitivity is that of one of them.
func TestExclusiveCountsErrLess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		measure string
		spend   Spend
		replace bool
		groups  int64
		less    float64 // than the variance of three counts, each for a third of the cost
	}{
		{"pure", Spend{Epsilon: eps(t, "0.5")}, false, 4, 9},
		{"pure", Spend{Epsilon: eps(t, "0.5")}, true, 4, 9},
		{"zcdp", Spend{Rho: rho(t, "0.1")}, false, 4, 3},
		{"zcdp", Spend{Rho: rho(t, "0.1")}, true, 4, 3},
		{"zcdp", Spend{Rho: rho(t, "0.1")}, true, 1, 1.5}, // where a unit that is replaced moves one count by R, and two by R each
	} {
		count := stability.Component{Kind: stability.Rows, PerGroup: big.NewInt(2), Width: big.NewInt(2), Grid: big.NewRat(1, 1), ArgGrid: big.NewRat(1, 1)}
		r := &stability.Release{MaxGroups: c.groups, MaxRows: 2, Exclusive: [][]int{{0, 1, 2}}}
		for i := range 3 {
			count.Filter = &plan.Ref{Index: i, T: sqltype.Of(sqltype.Boolean)}
			r.Components = append(r.Components, count)
			r.Aggregates = append(r.Aggregates, stability.Aggregate{Function: plan.CountStar, Components: []int{i}})
		}
		d := &catalog.Domain{ID: "d", Measure: c.measure, Neighbours: privacy.AddRemove}
		if c.replace {
			d.Neighbours = privacy.ReplaceOne
		}
		of := &stability.Certificate{Domain: d, Releases: []*stability.Release{r}}
		together, err := NewDesign(of, Options{Spend: c.spend})
		if err != nil {
			t.Fatal(err)
		}
		apart, err := NewDesign(of, Options{Spend: c.spend, Apart: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(together.Events) != 1 || len(apart.Events) != 3 {
			t.Errorf("%+v: %d events, apart %d", c, len(together.Events), len(apart.Events))
		}
		for i := range 3 {
			if got := apart.Releases[0].Noise[i].Variance() / together.Releases[0].Noise[i].Variance(); math.Abs(got/c.less-1) > 0.01 {
				t.Errorf("%+v: the variance of count %d is %v times less", c, i, got)
			}
		}
		l1, l2squared := r.VectorDistances(big.NewInt(2), d.Neighbours)
		switch e := together.Events[0].(type) {
		case privacy.DiscreteLaplace:
			if e.Sensitivity.Cmp(l1) < 0 {
				t.Errorf("%+v: a sensitivity of %v for %v", c, e.Sensitivity, l1)
			}
		case privacy.DiscreteGaussian:
			if e.SensitivitySquared.Cmp(l2squared) < 0 {
				t.Errorf("%+v: a squared sensitivity of %v for %v", c, e.SensitivitySquared, l2squared)
			}
		}
	}
}
