//go:build cgo

package multiparty

import (
	"math/big"
	"testing"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/noise"
)

// A seen is what an adversary makes of a task: the total less all that it knows, which is the total with
// the noise of the honest parties; and the sum of its shares of the first holder.
type seen struct{ total, shares int64 }

// watch carries out a task of two holders among parties, of whom the first collude with the asker and
// the second holder, by the parts that members run. draws is what each party draws; told has
// holder 1 make shares of which the colluders' tell the value.
func watch(t *testing.T, value int64, parties, colluding int, draws func(party int) []discreet.PartyNoise, told bool) seen {
	t.Helper()
	total, first := new(big.Int), new(big.Int)
	sums := make([][]byte, parties)
	for holder, v := range []int64{value, 40} {
		shares, err := ring64.Split(noise.System(), []*big.Int{big.NewInt(v)}, parties)
		if err != nil {
			t.Fatal(err)
		}
		if told && holder == 0 {
			if shares[0], err = ring64.Encode([]*big.Int{big.NewInt(v)}); err != nil {
				t.Fatal(err)
			}
		}
		for p, s := range shares {
			if p < colluding {
				total.Add(total, lift(t, s))
				if holder == 0 {
					first.Add(first, lift(t, s))
				}
			}
			if sums[p] == nil {
				sums[p] = append([]byte(nil), s...)
			} else if err := ring64.Add(sums[p], s); err != nil {
				t.Fatal(err)
			}
		}
	}
	for p := colluding; p < parties; p++ {
		if demanded := draws(p); demanded != nil {
			added, err := drawNoise(noise.System(), ring64, demanded)
			if err != nil {
				t.Fatal(err)
			}
			if err := ring64.Add(sums[p], added); err != nil {
				t.Fatal(err)
			}
		}
		total.Add(total, lift(t, sums[p]))
	}
	return seen{wrapped(total).Int64(), wrapped(first).Int64()}
}

// An attack from the place of m−1 parties with all their state, or of as many as may collude, with the
// asker and another holder: of a victim's holder that has 20 or 21 it says 21 where that is likelier. The
// draws prove no more ε than is claimed, 0.5, and nearly as much, with whole noise, with shares of Laplace
// noise and of Gaussian noise (at δ = 1e-3, where its ρ claims 0.5). Half of the noise, noise at a
// colluder alone, shares for more honest parties than there are, and a share that tells its value are
// refuted. A bound of package audit fails with probability 1e-10, of which there are 11.
func TestAttackOnTranscripts(t *testing.T) {
	t.Parallel()
	const runs, confidence, claimed = 5_000, 1 - 1e-10, 0.5
	prove := func(delta float64, see func(value int64) seen, says func(seen) bool) float64 {
		c := audit.Counts{Members: runs, Others: runs}
		for range runs {
			if says(see(21)) {
				c.TruePositives++
			}
			if says(see(20)) {
				c.FalsePositives++
			}
		}
		low, err := c.EpsilonLowerBound(delta, confidence)
		if err != nil {
			t.Fatal(err)
		}
		return low
	}
	law := func(distribution, parameter string, shares int) func(int) []discreet.PartyNoise {
		all := []discreet.PartyNoise{{Distribution: distribution, Parameter: parameter, Values: 1, Shares: shares}}
		return func(int) []discreet.PartyNoise { return all }
	}
	likelier := func(s seen) bool { return s.total >= 61 }
	for name, c := range map[string]struct {
		parties, colluding int
		draws              func(int) []discreet.PartyNoise
		delta              float64
		least              float64 // what the attack proves of a right protocol
	}{
		"whole Laplace noise":      {3, 2, law("discrete_laplace", "2", 0), 0, claimed / 3},
		"shares of Laplace noise":  {3, 1, law("discrete_laplace", "2", 2), 0, claimed / 3},
		"shares, more colluders":   {5, 2, law("discrete_laplace", "2", 3), 0, claimed / 3},
		"whole Gaussian noise":     {3, 2, law("discrete_gaussian", "64", 0), 1e-3, 0},
		"shares of Gaussian noise": {3, 1, law("discrete_gaussian", "32", 2), 1e-3, 0},
		"shares of Skellam noise":  {3, 1, law("skellam", "67/2", 2), 1e-3, 0},
	} {
		got := prove(c.delta, func(v int64) seen { return watch(t, v, c.parties, c.colluding, c.draws, false) }, likelier)
		if got > claimed || got < c.least {
			t.Errorf("%s: the attack proves ε ≥ %v, claimed %v", name, got, claimed)
		}
	}
	if got := prove(0, func(v int64) seen { return watch(t, v, 3, 2, law("discrete_laplace", "2", 0), false) }, func(s seen) bool { return s.shares == 21 }); got > 0 {
		t.Errorf("shares tell their value: ε ≥ %v", got)
	}
	for name, c := range map[string]struct {
		draws     func(int) []discreet.PartyNoise
		told      bool
		colluding int
		says      func(seen) bool
	}{
		"half of the noise":              {law("discrete_laplace", "1", 0), false, 2, likelier},
		"noise at a colluder alone":      {func(int) []discreet.PartyNoise { return nil }, false, 2, likelier},
		"shares for more who are honest": {law("discrete_laplace", "2", 3), false, 2, likelier},
		"one honest party without its part": {func(p int) []discreet.PartyNoise {
			return [][]discreet.PartyNoise{1: law("discrete_laplace", "2", 2)(0), 2: nil}[p]
		}, false, 1, likelier},
		"a share that tells its value": {law("discrete_laplace", "2", 0), true, 1, func(s seen) bool { return s.shares == 21 }},
	} {
		if got := prove(0, func(v int64) seen { return watch(t, v, 3, c.colluding, c.draws, c.told) }, c.says); got <= claimed {
			t.Errorf("%s is not refuted: the attack proves ε ≥ %v", name, got)
		}
	}
}
