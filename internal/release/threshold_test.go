//go:build cgo

package release

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// chosenByCount is the release of a count that chooses its groups, of 1 to 12 units, and what the engine found.
func chosenByCount(t *testing.T, spend Spend) (*Release, *engine.Exact) {
	t.Helper()
	var rows strings.Builder
	id := 0
	for units := 1; units <= 12; units++ {
		for range units {
			fmt.Fprintf(&rows, "%d,a,%02d,0,0,0,0\n", id, units)
			id++
		}
	}
	measure := "approx"
	if spend.Rho.Sign() > 0 {
		measure = "zcdp"
	}
	text := fmt.Sprintf(contestCatalog, "add-remove", measure, "delta = 0.5")
	r, exact, _ := exactly(t, text, "SELECT k, count(DISTINCT id) FROM t GROUP BY k", spend, rows.String())
	if r.Threshold == nil || r.Selection != nil {
		t.Fatalf("the count does not choose the groups")
	}
	return r, exact
}

// weight is the probability of a draw of noise, but for a factor.
func weight(law mechanism.Additive, k int64) float64 {
	x := float64(k)
	switch e := law.Event().(type) {
	case privacy.DiscreteLaplace:
		scale, _ := e.Scale.Float64()
		return math.Exp(-math.Abs(x) / scale)
	case privacy.DiscreteGaussian:
		variance, _ := e.Variance.Float64()
		return math.Exp(-x * x / 2 / variance)
	}
	panic("another law")
}

// lowest is the lower end of the interval of a noisy count.
func lowest(r *Release, noisy, w *big.Int) *big.Int {
	if r.nearThreshold(noisy, w) {
		return big.NewInt(1)
	}
	return new(big.Int).Sub(noisy, w)
}

// Of a group that is shown, the interval misses the count at most as often as it says, whatever the count is. It is
// computed, not drawn.
func TestIntervalsOfShownGroups(t *testing.T) {
	const most = 600
	for _, spend := range []Spend{
		{Epsilon: eps(t, "1"), Delta: del(t, "1e-6")}, {Epsilon: eps(t, "0.2"), Delta: del(t, "1e-6")}, {Epsilon: eps(t, "8"), Delta: del(t, "1e-9")},
		{Rho: rho(t, "0.05")}, {Rho: rho(t, "2"), Delta: del(t, "1e-9")},
	} {
		r, _ := chosenByCount(t, spend)
		law := r.Noise[r.Counter()]
		for _, confidence := range []string{"0.5", "0.95", "0.999"} {
			level, _ := new(big.Rat).SetString(confidence)
			beta := new(big.Rat).Sub(big.NewRat(1, 1), level)
			allowed, _ := beta.Float64()
			w, err := r.width(r.Counter(), beta)
			if err != nil {
				t.Fatal(err)
			}
			narrow := new(big.Int).Quo(new(big.Int).Mul(w, big.NewInt(2)), big.NewInt(3))
			worst, blind, tight := 0.0, 0.0, 0.0 // the last two: with one rule broken
			for n := int64(1); n <= r.Threshold.Least().Int64()+2*w.Int64()+2; n++ {
				var shown, missed, plain, close float64
				for k := int64(-most); k <= most; k++ {
					v := big.NewInt(n + k)
					if !r.Threshold.Shows(v) {
						continue
					}
					p := weight(law, k)
					shown += p
					outside := func(lower, half *big.Int) bool {
						return lower.Int64() > n || v.Int64()+half.Int64() < n
					}
					if outside(lowest(r, v, w), w) {
						missed += p
					}
					if outside(new(big.Int).Sub(v, w), w) {
						plain += p
					}
					if outside(lowest(r, v, narrow), narrow) {
						close += p
					}
				}
				worst, blind, tight = max(worst, missed/shown), max(blind, plain/shown), max(tight, close/shown)
			}
			if worst > allowed*(1+1e-9) {
				t.Errorf("%v, confidence %s: a group that is shown is missed with probability %v", spend, confidence, worst)
			}
			if blind <= allowed {
				t.Errorf("%v: an interval that does not reach down to 1 misses with probability %v alone", spend, blind)
			}
			if tight <= allowed && w.Int64() > 3 && allowed < 0.1 {
				t.Errorf("%v, confidence %s: an interval of two thirds misses with probability %v alone", spend, confidence, tight)
			}
		}
	}
}

// One unit more changes how often a group is shown by no more than the noise lets through, and a group of one unit is shown
// with the probability that delta covers: false rejects as in TestDistinguishingGroups.
func TestDistinguishingShownGroups(t *testing.T) {
	t.Parallel()
	unlessShort(t)
	r, exact := chosenByCount(t, Spend{Epsilon: eps(t, "4"), Delta: del(t, "0.08")})
	delta := 0.0
	for _, e := range r.Threshold.Events() {
		delta += must(privacy.Released(e, privacy.AddRemove)).(privacy.Selection).Delta.Float64()
	}
	appears := delta / float64(r.MaxGroups)
	check := func(r *Release) error {
		const n = 25_000
		bits := entropy.New()
		shown := make([]int, 13)
		for range n {
			table, err := r.Publish(engine.NewExact(copied(exact.RevealExact())), nil, bits)
			if err != nil {
				t.Fatal(err)
			}
			for i, key := range table.keys {
				units, err := strconv.Atoi(key[0].(string))
				if err != nil {
					t.Fatal(err)
				}
				if !r.Threshold.Shows(table.noisy[0][i]) {
					return fmt.Errorf("a count of %v is shown, below the threshold", table.noisy[0][i])
				}
				shown[units]++
			}
		}
		return violates(shown[1], 0, n, 0, appears) // without a unit the group is not there
	}
	if err := check(r); err != nil {
		t.Error(err)
	}
	weak := *r
	weak.Threshold = must(mechanism.NewCountThreshold(r.Noise[0].Additive, mechanism.SelectionOptions{MaxGroups: r.MaxGroups, Delta: del(t, "0.3")}))
	if check(&weak) == nil {
		t.Error("a threshold for a delta of 0.3 passes")
	}
}

// What decides has noise of its own: no blend has it. Values of sums would otherwise be chosen as well.
func TestCountersAreNotBlended(t *testing.T) {
	for sql, decides := range map[string]bool{
		"SELECT k, count(*) FROM t GROUP BY k":                                                                     false, // 30 rows of a unit
		"SELECT k, count(DISTINCT id) FROM t GROUP BY k":                                                           true,
		"SELECT k, count(*), sum(n), count(DISTINCT id) FROM t GROUP BY k":                                         true,
		"SELECT k, sum(n) FROM t GROUP BY k":                                                                       false,
		"SELECT k, count(DISTINCT id) FILTER (WHERE n > 2) FROM t GROUP BY k":                                      false,
		"SELECT k, avg(n) FROM t GROUP BY k":                                                                       false,
		"SELECT k FROM t GROUP BY k":                                                                               false,
		"SELECT g, count(DISTINCT id) FROM t GROUP BY g":                                                           false, // its domain is public
		"SELECT k, count(*), median(n) FROM (SELECT k, n FROM t) AS w GROUP BY k":                                  false,
		"SELECT j, count(*) FROM (SELECT id, max(k) AS j FROM t GROUP BY id) AS w GROUP BY j":                      true,
		"SELECT j, count(*), sum(m) FROM (SELECT id, max(k) AS j, max(n) AS m FROM t GROUP BY id) AS w GROUP BY j": false,
	} {
		text := fmt.Sprintf(contestCatalog, "add-remove", "approx", "delta = 0.5")
		r, _, _ := exactly(t, text, sql, Spend{Epsilon: eps(t, "1"), Delta: del(t, "1e-6")}, "1,a,x,0,0,0,0\n")
		if got := r.Counter() >= 0; got != decides {
			t.Errorf("%s: decided by a count: %v", sql, got)
		}
		if got := r.Threshold != nil; got != decides || (r.Selection != nil) != (r.Private && !decides) {
			t.Errorf("%s: threshold %v, selection %v", sql, r.Threshold != nil, r.Selection != nil)
		}
		for _, b := range blends(r.Release) {
			for _, i := range b.components {
				if len(b.components) > 1 && i == r.Counter() {
					t.Errorf("%s: the count that decides is in a blend", sql)
				}
			}
		}
		if c := r.Counter(); c >= 0 && r.Components[c].Kind != stability.Units && r.Components[c].Kind != stability.Rows {
			t.Errorf("%s: component %d decides", sql, c)
		}
	}
}

// A count that would show far fewer groups than a selection of their own decides nothing.
func TestCountsThatHideDecideNothing(t *testing.T) {
	text := fmt.Sprintf(contestCatalog, "add-remove", "approx", "delta = 0.5")
	r, _, _ := exactly(t, text, "SELECT k, count(DISTINCT id), count(DISTINCT id) FILTER (WHERE n > 2) FROM t GROUP BY k", Spend{Epsilon: eps(t, "1"), Delta: del(t, "1e-6")}, "1,a,x,0,0,0,0\n")
	c := &stability.Certificate{Domain: &catalog.Domain{ID: "person", Measure: "approx", Neighbours: privacy.AddRemove}, Releases: []*stability.Release{r.Release}}
	for _, test := range []struct {
		weights [2]int64
		decides bool
	}{{[2]int64{1, 1}, true}, {[2]int64{9, 1}, true}, {[2]int64{1, 99}, false}} {
		d, err := NewDesign(c, Options{Spend: Spend{Epsilon: eps(t, "1"), Delta: del(t, "1e-6")}, Weights: []*big.Rat{big.NewRat(test.weights[0], 1), big.NewRat(test.weights[1], 1)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Releases[0].Threshold != nil; got != test.decides {
			t.Errorf("weights %v: decided by a count: %v", test.weights, got)
		}
	}
}
