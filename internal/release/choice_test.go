//go:build cgo

package release

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// chosenOf makes so many choices of one release and counts what comes.
func chosenOf(t *testing.T, r *Release, s side, times int) map[string]int {
	t.Helper()
	bits, seen := entropy.New(), map[string]int{}
	for range times {
		table, err := r.Publish(s.exact, s.domains, bits)
		if err != nil {
			t.Fatal(err)
		}
		_, rows, err := table.Rows(big.NewRat(19, 20), []int{1})
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != 1 || len(rows[0]) != 1 {
			t.Fatalf("a choice of %v", rows)
		}
		seen[sqltype.Format(rows[0][0])]++
	}
	return seen
}

// TestChoicesTellLittle is end to end, as TestDistinguish: the value that occurs most often, chosen many times over neighbours D and D' of the worst kind, a unit of
// "a" in place of one of "b", or of none, and no rows beside or as many of both. Its events are told from
// D to D' and back, for each value, and of the exponential mechanism by the odds of two. It accepts the mechanisms as they are, but for a false reject of 1e-12 an event, 1e-10 in all; it rejects those of a domain that
// is believed to add and remove, where units are replaced, whose range is half of what it must be; and without rows every value
// is chosen as often as the others, or else candidates would be those that the data has.
func TestChoicesTellLittle(t *testing.T) {
	t.Parallel()
	one := unitRows(1000, "a", "1", "1", "1", "1")
	other := unitRows(2000, "b", "1", "1", "1", "1")
	const sql = "SELECT mode() WITHIN GROUP (ORDER BY g) FROM t"
	n := soak(4000, 40_000)
	for _, c := range []struct {
		measure, neighbours, others string
		spend                       Spend
		epsilon                     float64
	}{
		{"pure", "add-remove", "", Spend{Epsilon: eps(t, "2")}, 2},
		{"pure", "replace-one", other, Spend{Epsilon: eps(t, "2")}, 2},
		{"zcdp", "add-remove", "", Spend{Rho: rho(t, "0.5")}, 2},
		{"zcdp", "replace-one", other, Spend{Rho: rho(t, "0.5")}, 2},
		{"approx", "replace-one", other, Spend{Epsilon: eps(t, "2"), Delta: del(t, "1e-6")}, 2},
	} {
		name := c.measure + ", " + c.neighbours
		arrange := func(neighbours string) (*Release, [2]side) {
			delta := ""
			if c.measure != "pure" {
				delta = "delta = 0.1"
			}
			text := fmt.Sprintf(contestCatalog, neighbours, c.measure, delta)
			var r *Release
			var sides [2]side
			base := ""
			if c.others != "" { // so that two values are before the others, which would take of what shows
				for id := range 4 {
					base += unitRows(id, "ab", "1", "1", "1", "1")
				}
			}
			for i, rows := range []string{c.others, one} {
				r, sides[i].exact, sides[i].domains = exactly(t, text, sql, c.spend, base+rows)
			}
			if r.Choice == nil {
				t.Fatalf("%s: no choice", name)
			}
			return r, sides
		}
		contradiction := func(r *Release, sides [2]side) error {
			d, e := chosenOf(t, r, sides[0], n), chosenOf(t, r, sides[1], n)
			for _, v := range []string{"a", "b", "c", "d"} {
				if low, high := klBounds(d[v], n); c.others == "" && (low > 0.25 || high < 0.25) {
					return fmt.Errorf("without rows %s is chosen %d times of %d", v, d[v], n)
				}
			}
			if r.Choice.Name == "exponential" { // the range: how the odds of two values move
				least, most := 1.0, 1.0
				for _, p := range []int{e["a"], d["b"]} {
					low, _ := klBounds(p, n)
					least *= low
				}
				for _, p := range []int{d["a"], e["b"]} {
					_, high := klBounds(p, n)
					most *= high
				}
				if least > math.Exp(c.epsilon)*most {
					return fmt.Errorf("the odds of a and b move by more than %v", math.Exp(c.epsilon))
				}
			}
			for _, v := range []string{"a", "b", "c", "d"} {
				for _, pair := range [][2]map[string]int{{d, e}, {e, d}} {
					if err := violates(pair[0][v], pair[1][v], n, c.epsilon, 0); err != nil {
						return fmt.Errorf("%s: %w", v, err)
					}
				}
			}
			return nil
		}
		r, sides := arrange(c.neighbours)
		if err := contradiction(r, sides); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.neighbours == "replace-one" {
			wrong, _ := arrange("add-remove")
			if contradiction(wrong, sides) == nil {
				t.Errorf("%s: a range that is half of what it must be is not seen", name)
			}
		}
	}
}

func certificateOf(t *testing.T, text, sql string) *stability.Certificate {
	t.Helper()
	c, err := catalog.Parse("c.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := sqlparse.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := bind.Bind(tree, c)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := stability.Analyze(bound)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// What a choice is charged: all that a statement spends, and no more, in each form and measure; with others its share.
func TestChoicesAreCharged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		measure, neighbours, sql string
		spend                    Spend
		event                    string
		scale                    string // in rows: R = 30
	}{
		{"pure", "add-remove", "SELECT mode() WITHIN GROUP (ORDER BY g) FROM t", Spend{Epsilon: eps(t, "2")}, "noisy_max(2)", "15"},
		{"pure", "replace-one", "SELECT mode() WITHIN GROUP (ORDER BY g) FROM t", Spend{Epsilon: eps(t, "2")}, "noisy_max(2)", "30"},
		{"approx", "add-remove", "SELECT mode() WITHIN GROUP (ORDER BY g) FROM t", Spend{Epsilon: eps(t, "2"), Delta: del(t, "1e-6")}, "noisy_max(2)", "15"},
		{"zcdp", "add-remove", "SELECT mode() WITHIN GROUP (ORDER BY g) FROM t", Spend{Rho: rho(t, "0.5")}, "exponential(2)", "15"},
		{"zcdp", "replace-one", "SELECT mode() WITHIN GROUP (ORDER BY g) FROM t", Spend{Rho: rho(t, "0.5")}, "exponential(2)", "30"},
		{"rdp", "add-remove", "SELECT mode() WITHIN GROUP (ORDER BY g) FROM t", Spend{Rho: rho(t, "0.5")}, "exponential(2)", "15"},
		{"zcdp", "add-remove", "SELECT mode() WITHIN GROUP (ORDER BY g) FROM t", Spend{Epsilon: eps(t, "2")}, "exponential(2)", "15"},
		{"gdp", "add-remove", "SELECT mode() WITHIN GROUP (ORDER BY g) FROM t", Spend{Epsilon: eps(t, "2"), Delta: del(t, "1e-6")}, "noisy_max(2)", "15"},
		{"whitehouse", "add-remove", "SELECT mode() WITHIN GROUP (ORDER BY g) FROM t", Spend{Epsilon: eps(t, "2"), Delta: del(t, "1e-6")}, "noisy_max(2)", "15"},
		{"pure", "add-remove", "SELECT n, mode() WITHIN GROUP (ORDER BY g) FROM t GROUP BY n", Spend{Epsilon: eps(t, "2")}, "2*noisy_max(1)", "30"},
		{"zcdp", "add-remove", "SELECT n, mode() WITHIN GROUP (ORDER BY g) FROM t GROUP BY n", Spend{Rho: rho(t, "1")}, "2*exponential(2)", "15"},
		{"pure", "add-remove", "SELECT m, (SELECT count(*) FROM t) AS c FROM (SELECT mode() WITHIN GROUP (ORDER BY g) AS m FROM t) s", Spend{Epsilon: eps(t, "2")}, "noisy_max(1)", "30"},
	} {
		delta := ""
		if c.measure != "pure" {
			delta = "delta = 0.1"
		}
		certificate := certificateOf(t, fmt.Sprintf(contestCatalog, c.neighbours, c.measure, delta), c.sql)
		d, err := NewDesign(certificate, Options{Spend: c.spend})
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		var choice *Choice
		var event privacy.Event
		for i, r := range d.Releases {
			if r.Choice != nil {
				choice, event = r.Choice, d.Events[i]
			}
		}
		if choice == nil {
			t.Fatalf("%s, %s: no choice", c.measure, c.sql)
		}
		if got := event.String(); got != c.event {
			t.Errorf("%s, %s, %s: %s, want %s", c.measure, c.neighbours, c.sql, got, c.event)
		}
		if got := choice.Scale().FloatString(0); got != c.scale {
			t.Errorf("%s, %s, %s: scale %s, want %s", c.measure, c.neighbours, c.sql, got, c.scale)
		}
		f, err := filter.New(filter.Budget{Measure: filter.Measure(c.measure), Epsilon: certificate.Domain.Epsilon, Delta: certificate.Domain.Delta,
			SelectionDelta: certificate.Domain.SelectionDelta, Neighbours: certificate.Domain.Neighbours})
		if err != nil {
			t.Fatal(err)
		}
		charge, err := f.Charge(d.Events, d.Delta)
		if err != nil {
			t.Fatal(err)
		}
		if a := f.Amounts(charge); c.measure == "zcdp" && c.spend.Rho.Sign() > 0 && a.Rho.Cmp(c.spend.Rho) != 0 || c.measure == "pure" && a.Epsilon.Cmp(c.spend.Epsilon) != 0 {
			t.Errorf("%s, %s: charged %v of %v", c.measure, c.sql, a, c.spend)
		}
	}
}

// Under (ε, δ) one choice errs less than the largest of noisy counts with Gaussian noise, for amounts as they are used: by the formulas at stability's choiceErrsLess, at the
// least L0 and the largest domain, where counts are at their best.
func TestOneChoiceErrsLessThanGaussianCounts(t *testing.T) {
	t.Parallel()
	for _, e := range []string{"0.1", "0.3", "1", "3", "10", "30"} {
		for _, d := range []string{"1e-4", "1e-6", "1e-9"} {
			gaussian, err := accountant.GaussianRho(eps(t, e), del(t, d))
			if err != nil {
				t.Fatal(err)
			}
			const logs = 12.206 // ln(10,000/0.05)
			of, spent := gaussian.Float64(), eps(t, e).Float64()
			for factor, l2 := range map[float64]float64{1: 1, 2: 1.4142135623730951} {
				if choice, counts := factor*logs/spent, 4*l2*math.Sqrt(logs)/math.Sqrt(8*of); choice > counts {
					t.Errorf("epsilon %s, delta %s: a choice is off by %v, counts by %v", e, d, choice, counts)
				}
			}
		}
	}
}

// At (ε, δ) several choices are as wide as either composition lets them be, where the measure adds up rho: each C-th of ε, or of the rho that (ε, δ) converts to, which is shared with
// Gaussian noise beside them. No more is promised: what adds up to rho is below that of its share, and the rest adds up to the rest of ε.
func TestSeveralChoicesAtEpsilonAndDelta(t *testing.T) {
	t.Parallel()
	ways := map[string]int{}
	for _, measure := range []string{"zcdp", "rdp", "approx"} {
		for _, neighbours := range []string{"add-remove", "replace-one"} {
			for _, groups := range []int64{1, 2, 8} {
				for _, spend := range []Spend{{Epsilon: eps(t, "0.1"), Delta: del(t, "1e-9")}, {Epsilon: eps(t, "2"), Delta: del(t, "1e-6")}, {Epsilon: eps(t, "2"), Delta: del(t, "0.02")}} {
					for sql, aggregates := range map[string]int64{
						"SELECT n, mode() WITHIN GROUP (ORDER BY g) FROM t GROUP BY n":                                                                                       1,
						"SELECT n, m, (SELECT count(*) FROM t) AS c, (SELECT sum(n) FROM t) AS s FROM (SELECT n, mode() WITHIN GROUP (ORDER BY g) AS m FROM t GROUP BY n) s": 3,
					} {
						text := fmt.Sprintf(contestCatalog, neighbours, measure, "delta = 0.1")
						text = strings.Replace(text, "max_groups_per_unit = 2", fmt.Sprintf("max_groups_per_unit = %d", groups), 1)
						d, err := NewDesign(certificateOf(t, text, sql), Options{Spend: spend})
						if err != nil {
							t.Fatal(err)
						}
						pure, joint, width := new(big.Rat), new(big.Rat), new(big.Rat)
						some := false
						for _, e := range d.Events {
							count := int64(1)
							if r, ok := e.(privacy.Repeat); ok {
								e, count = r.Event, int64(r.Count)
							}
							switch e := e.(type) {
							case privacy.DiscreteGaussian:
								joint.Add(joint, new(big.Rat).Quo(e.SensitivitySquared, new(big.Rat).Add(e.Variance, e.Variance)))
								some = true
							case privacy.DiscreteLaplace:
								pure.Add(pure, new(big.Rat).Quo(e.Sensitivity, e.Scale))
							case privacy.NoisyMax:
								pure.Add(pure, new(big.Rat).Mul(e.Epsilon.Rat(), big.NewRat(count, 1)))
							case privacy.Exponential:
								if count != groups {
									t.Fatalf("%d choices, not %d", count, groups)
								}
								width = e.Epsilon.Rat()
							default:
								t.Fatalf("%v", e)
							}
						}
						if measure == "approx" && width.Sign() == 0 {
							ways["approx"]++
							continue
						}
						name := fmt.Sprintf("%s, %s, %d of %d at %v", measure, neighbours, groups, aggregates, spend)
						all := new(big.Rat).Mul(width, big.NewRat(groups, 1))
						ranges := new(big.Rat).Mul(width, width)
						ranges.Mul(ranges, big.NewRat(groups, 8))
						part := new(big.Rat).Quo(spend.Epsilon.Rat(), big.NewRat(aggregates, 1))
						share := func(parts int64) *big.Rat {
							rho, err := accountant.GaussianRho(spend.Epsilon.MulRat(big.NewRat(parts, aggregates)), spend.Delta)
							if err != nil {
								t.Fatal(err)
							}
							return rho.Rat()
						}
						near := func(got, want *big.Rat) bool {
							f, _ := new(big.Rat).Quo(got, want).Float64()
							return got.Cmp(want) <= 0 && f > 1-1e-12
						}
						parts := int64(1) // of the cost that share a rho, if choices do
						if some {
							parts = aggregates
						}
						if near(all, part) {
							ways["alone"]++
							if least := share(parts); ranges.Cmp(least.Quo(least, big.NewRat(parts, 1))) < 0 {
								t.Errorf("%s: a range of %v, where rho lets it be wider", name, width.FloatString(6))
							}
							joint.SetInt64(0)
							pure.Add(pure, all)
						} else {
							ways["joint"]++
							if joint.Add(joint, ranges); !near(joint, share(parts)) || all.Cmp(part) <= 0 {
								t.Errorf("%s: ranges of %v and noise beside them cost rho %v, not %v", name, width.FloatString(6), joint.FloatString(9), share(parts).FloatString(9))
							}
						}
						if rest := new(big.Rat).Mul(spend.Epsilon.Rat(), big.NewRat(aggregates-parts, aggregates)); joint.Sign() > 0 && pure.Cmp(rest) > 0 {
							t.Errorf("%s: epsilon %v beside rho", name, pure)
						}
					}
				}
			}
		}
	}
	t.Log(ways)
	if ways["joint"] < 10 || ways["alone"] < 10 {
		t.Errorf("the test is weak: %v", ways)
	}
}
