//go:build cgo

package release

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
)

const eitherCatalog = `[domains.d]
measure = %q
epsilon = 1e3
%s
neighbours = %q
[tables.t]
source = "t.csv"
domain = "d"
unit = "u"
max_rows_per_unit = %d
max_groups_per_unit = %d
max_rows_per_group = %d
[tables.t.columns]
u = { type = "bigint" }
g = { type = "bigint", lower = 0, upper = 4095, step = 1 }
h = { type = "bigint", lower = 0, upper = 1, step = 1 }
x = { type = "bigint", lower = -1, upper = 4 }
`

// either designs a statement both ways: of rows that are kept once, and of bounds for it.
func either(t *testing.T, text, sql string, s Spend) (kept, bounded *Design) {
	t.Helper()
	c, err := catalog.Parse("c.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	var designs [2]*Design
	for i := range designs {
		tree, err := sqlparse.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := bind.Bind(tree, c)
		if err != nil {
			t.Fatal(err)
		}
		certificate, _, err := stability.AnalyzeWith(bound, stability.Options{Bounded: i == 1})
		if err != nil {
			t.Fatal(err)
		}
		if !certificate.EitherWay {
			t.Fatalf("%s is not bounded either way", sql)
		}
		if designs[i], err = NewDesign(certificate, Options{Spend: s}); err != nil {
			t.Fatal(err)
		}
	}
	return designs[0], designs[1]
}

// The way whose noise errs less is taken, of every T, L0 and R, and where both err as much that of kept rows. What errs less is computed here from
// what a unit moves the farthest: T rows in one group, or R in each of as many as T rows fill; in L1 for Laplace noise, in L2 for Gaussian.
func TestTheWayThatErrsLess(t *testing.T) {
	t.Parallel()
	sizes := []int64{1, 2, 3, 4, 8, 10, 30, 100, 1000, 100_000}
	spends := map[string]Spend{"pure": {Epsilon: eps(t, "0.5")}, "zcdp": {Rho: rho(t, "0.01")}, "approx": {Epsilon: eps(t, "0.5"), Delta: del(t, "1e-6")}}
	taken := map[string]int{}
	for measure, spend := range spends {
		delta := ""
		if measure != "pure" {
			delta = "delta = 1e-3"
		}
		for _, neighbours := range []string{"add-remove", "replace-one"} {
			for _, rows := range sizes[1:] {
				for _, groups := range sizes {
					for _, each := range sizes {
						if (rows+groups+each)%soakStep() != 0 {
							continue
						}
						text := fmt.Sprintf(eitherCatalog, measure, delta, neighbours, rows, groups, each)
						for sql, of := range map[string]int64{"SELECT g, count(*) FROM t GROUP BY g": 4096, "SELECT count(*) FROM t": 1, "SELECT h, count(*) FROM t GROUP BY h": 2} {
							kept, bounded := either(t, text, sql, spend)
							less := bounded.ErrsLess(kept)
							taken[fmt.Sprintf("%s %t", measure, less)]++
							most := min(each, rows)
							within := min(groups, of, (rows+most-1)/most) // where a unit's rows fill groups
							once, by := farthest(rows, 1, of, neighbours), farthest(most, within, of, neighbours)
							var want bool
							switch measure {
							case "pure":
								want = by.l1 < once.l1
							case "zcdp":
								want = by.l2 < once.l2*(1-1e-9)
							default:
								gaussian := variancePerSquare(t, spend)
								least := func(f far) float64 { return min(2*math.Pow(f.l1/0.5, 2), gaussian*f.l2*f.l2) }
								if math.Abs(least(by)/least(once)-1) < 1e-3 { // but for what is rounded
									continue
								}
								want = least(by) < least(once)
							}
							if less != want {
								t.Errorf("%s, %s, T %d, L0 %d, R %d, %s: bounds for the statement: %t, want %t", measure, neighbours, rows, groups, each, sql, less, want)
							}
							if width, other := widthOf(t, kept), widthOf(t, bounded); measure != "approx" && (less && other > width || !less && width > other+1) {
								t.Errorf("%s, %s, T %d, L0 %d, R %d, %s: off by %v and %v, taken %t", measure, neighbours, rows, groups, each, sql, width, other, less)
							}
						}
					}
				}
			}
		}
	}
	for measure := range spends {
		if taken[measure+" true"] == 0 || taken[measure+" false"] == 0 {
			t.Errorf("%s: one way alone is taken: %v", measure, taken)
		}
	}
	t.Log(taken)
}

func soakStep() int64 { return int64(soak(7, 1)) }

// far is how far a unit moves counts.
type far struct{ l1, l2 float64 }

// farthest is how far a unit moves counts that has so many rows in each of so many of all groups; one that is replaced, in the
// most that can be others.
func farthest(rows, groups, of int64, neighbours string) far {
	n := groups
	if neighbours == "replace-one" {
		n = min(2*groups, of)
	}
	return far{float64(rows * n), float64(rows) * math.Sqrt(float64(n))}
}

// variancePerSquare is the variance of Gaussian noise of L2 distance 1 at an (ε, δ).
func variancePerSquare(t *testing.T, s Spend) float64 {
	t.Helper()
	d, err := NewDesign(counts("approx", 0, false, 10_000, 1), Options{Spend: s})
	if err != nil || d.Releases[0].Noise[0].Name != "discrete_gaussian" {
		t.Fatalf("%v %v", d, err)
	}
	return d.Releases[0].Noise[0].Variance() / 10_000
}

func widthOf(t *testing.T, d *Design) float64 {
	t.Helper()
	w, err := d.Releases[0].ExpectedWidth(d.Releases[0].Aggregates[0], big.NewRat(1, 20), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Statements whose values have noise of several kinds, of 1000 rows a unit that are kept, by 8 groups of 4 rows, and by 250 groups of 4.
func TestWaysOfStatements(t *testing.T) {
	t.Parallel()
	pure, zcdp := Spend{Epsilon: eps(t, "0.5")}, Spend{Rho: rho(t, "0.01")}
	for _, c := range []struct {
		sql, measure string
		spend        Spend
		groups       int64
		bounded      bool
	}{
		{"SELECT g, count(*), avg(x), sum(x) FROM t GROUP BY g", "pure", pure, 8, true},
		{"SELECT g, count(*), avg(x), sum(x) FROM t GROUP BY g", "pure", pure, 250, false}, // as far, in L1
		{"SELECT g, count(*), avg(x), sum(x) FROM t GROUP BY g", "zcdp", zcdp, 250, true},
		{"SELECT g, count(*), avg(x), sum(x) FROM t GROUP BY g", "zcdp", pure, 250, false}, // Laplace noise
		{"SELECT median(x), max(x) FROM t", "zcdp", zcdp, 8, true},
		{"SELECT g, h, count(*), sum(x) FROM t GROUP BY CUBE (g, h)", "zcdp", zcdp, 8, true},
		{"SELECT g, h, count(*) FROM t GROUP BY CUBE (g, h)", "pure", pure, 250, false},
		{"SELECT mode() WITHIN GROUP (ORDER BY h) FROM t", "pure", pure, 8, true},
		{"SELECT h, mode() WITHIN GROUP (ORDER BY g) FROM t GROUP BY h", "pure", pure, 250, true},
		{"SELECT h, mode() WITHIN GROUP (ORDER BY g) FROM t GROUP BY h", "zcdp", zcdp, 250, true},
	} {
		delta := ""
		if c.measure != "pure" {
			delta = "delta = 1e-3"
		}
		kept, bounded := either(t, fmt.Sprintf(eitherCatalog, c.measure, delta, "add-remove", 1000, c.groups, 4), c.sql, c.spend)
		if less := bounded.ErrsLess(kept); less != c.bounded {
			t.Errorf("%s, %s, %d groups: bounds for the statement: %t", c.sql, c.measure, c.groups, less)
		}
		if kept.ErrsLess(bounded) && bounded.ErrsLess(kept) || kept.ErrsLess(kept) {
			t.Errorf("%s: each errs less than the other", c.sql)
		}
	}
}
