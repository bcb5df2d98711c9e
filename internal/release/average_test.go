package release

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// gaussians is a design of one value in each group, at a cost.
func gaussians(t *testing.T, squared int64, rho string) *Design {
	t.Helper()
	amount, err := privacy.ParseRho(rho)
	if err != nil {
		t.Fatal(err)
	}
	law, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: big.NewRat(squared, 1), Rho: amount})
	if err != nil {
		t.Fatal(err)
	}
	r := Release{Release: &stability.Release{Components: []stability.Component{{Grid: big.NewRat(1, 1)}}}, Noise: []Noise{{Additive: law, Terms: 1}}, Events: []privacy.Event{law.Event()}}
	return &Design{Releases: []Release{r}, Events: r.Events}
}

// The average of two releases has the values that both have, noise within its bound as often as it says, and the variance of noise
// for both costs together. A test of right code fails with probability less than 1e-9.
func TestAverage(t *testing.T) {
	const n = 100_000
	for _, c := range []struct {
		squared     int64
		first, then string
	}{{1, "0.004", "0.01"}, {1, "0.01", "0.011"}, {1, "0.001", "0.07"}, {1_000_003, "0.0123", "0.3"}, {25, "0.5", "1.7"}, {1, "0.035", "0.07"}} {
		first, asked := gaussians(t, c.squared, c.first), gaussians(t, c.squared, c.then)
		rest := asked.Rest(first.Events)
		if rest == nil {
			t.Fatalf("%v: not averaged", c)
		}
		rho := new(big.Rat) // of both
		for _, e := range []privacy.Event{first.Events[0], rest.Events[0]} {
			g := e.(privacy.DiscreteGaussian)
			rho.Add(rho, new(big.Rat).Quo(g.SensitivitySquared, new(big.Rat).Add(g.Variance, g.Variance)))
		}
		if amount, _ := privacy.ParseRho(c.then); rho.Cmp(amount.Rat()) != 0 {
			t.Errorf("%v: both cost rho %s", c, rho.RatString())
		}
		averaged, err := asked.Averaged(first.Events, rest)
		if err != nil {
			t.Fatal(err)
		}
		bits := entropy.New()
		draw := func(d *Design) []*big.Int {
			values := make([]*big.Int, n)
			for i := range values {
				values[i] = big.NewInt(int64(i))
			}
			if err := d.Releases[0].Noise[0].AddTo(bits, values); err != nil {
				t.Fatal(err)
			}
			return values
		}
		fresh := &Table{keys: make([][]sqltype.Value, n), noisy: [][]*big.Int{draw(rest)}}
		table, err := averaged.Average(0, &Stored{Noisy: [][]*big.Int{draw(first)}}, fresh, bits)
		if err != nil {
			t.Fatal(err)
		}
		sigma := math.Sqrt(asked.Releases[0].Noise[0].Variance())
		mean, square := 0.0, 0.0
		for i, z := range table.noisy[0] {
			x, _ := new(big.Float).SetInt(new(big.Int).Sub(z, big.NewInt(int64(i)))).Float64()
			mean += x / n
			square += x * x / n
		}
		if far := 6.5 * math.Sqrt(sigma*sigma+1.0/12) / math.Sqrt(n); math.Abs(mean) > far {
			t.Errorf("%v: the noise is %v in the mean", c, mean)
		}
		if off := square/(sigma*sigma+1.0/12) - 1; math.Abs(off) > 6.5*math.Sqrt(2.0/n) {
			t.Errorf("%v: the variance is off by a part of %v", c, off)
		}
		for _, b := range []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 20), big.NewRat(1, 1000)} {
			q, err := averaged.Releases[0].bound(0, b)
			if err != nil {
				t.Fatal(err)
			}
			own, err := asked.Releases[0].bound(0, b)
			if err != nil {
				t.Fatal(err)
			}
			if far := new(big.Int).Add(own, big.NewInt(1+own.Int64()/100)); q.Cmp(far) > 0 {
				t.Errorf("%v: a bound of %v at %v, and %v of noise for all", c, q, b, own)
			}
			beyond := 0
			for i, z := range table.noisy[0] {
				if new(big.Int).Sub(z, big.NewInt(int64(i))).CmpAbs(q) > 0 {
					beyond++
				}
			}
			p, _ := b.Float64()
			if limit := n*p + 7*math.Sqrt(n*p) + 20; float64(beyond) > limit { // Chernoff
				t.Errorf("%v: %d of %d are beyond %v, with probability %v", c, beyond, n, q, p)
			}
		}
	}
}

// What would not be as precise as noise for all is not averaged.
func TestNoRest(t *testing.T) {
	asked := gaussians(t, 1, "0.01")
	for name, released := range map[string]*Design{
		"more precise": gaussians(t, 1, "0.02"), "as precise": gaussians(t, 1, "0.01"), "of another sensitivity": gaussians(t, 2, "0.004"),
		"almost nothing": gaussians(t, 1, "0.00001"), "almost all": gaussians(t, 1, "0.00999"),
	} {
		if asked.Rest(released.Events) != nil {
			t.Errorf("%s: it is averaged", name)
		}
	}
	if gaussians(t, 1, "1").Rest(asked.Events) != nil {
		t.Error("what rounding would blur is averaged")
	}
	if asked.Rest(gaussians(t, 1, "0.004").Events) == nil {
		t.Error("the test is weak: nothing is averaged")
	}
}
