package mechanism

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

// ratioWithin tells whether p <= e^ε·q + δ in both directions, outcome by outcome for
// δ = 0, and in total otherwise, up to the rounding of float64; and what the largest
// log-ratio is.
func ratioWithin(p, q []float64, epsilon, delta float64) (most float64, err error) {
	over, under := 0.0, 0.0
	for i := range p {
		if p[i] > 0 || q[i] > 0 {
			most = max(most, math.Abs(math.Log(p[i]/q[i])))
		}
		over += max(0, p[i]-math.Exp(epsilon)*q[i]*(1+1e-12))
		under += max(0, q[i]-math.Exp(epsilon)*p[i]*(1+1e-12))
	}
	if d := max(over, under); d > delta*(1+1e-9) {
		return most, fmt.Errorf("epsilon %v: delta is %v, above %v; the largest log-ratio is %v", epsilon, d, delta, most)
	}
	return most, nil
}

// fits holds n draws against the probabilities of the outcomes 0, 1, ... It refuses
// right ones with probability at most 1e-9, whatever n:
//
// Theorem (Agrawal 2020, arXiv 1904.02291, Theorem I.2). For n draws over m cells
// and the relative entropy D of their frequencies to the probabilities,
// P(n·D >= x) <= exp(-x)·(e·x/(m-1))^(m-1) if x > m-1.
func fits(law []float64, n int, draw func(noise.Bits) (int, error)) error {
	counts, source := make([]int, len(law)), entropy.New()
	for range n {
		i, err := draw(source)
		if err != nil {
			return err
		}
		counts[i]++
	}
	divergence, total, cells := 0.0, 0.0, -1.0
	for i, c := range counts {
		total += law[i]
		if law[i] > 0 {
			cells++
		}
		if c > 0 {
			divergence += float64(c) * math.Log(float64(c)/(float64(n)*law[i]))
		}
	}
	if math.Abs(total-1) > 1e-9 {
		return fmt.Errorf("probabilities add up to %v", total)
	}
	limit := max(cells, 1)
	for -limit+cells*(1+math.Log(limit/max(cells, 1))) > math.Log(1e-9) {
		limit++
	}
	if divergence > limit {
		return fmt.Errorf("%d draws: relative entropy %.1f exceeds %.1f: %v for %v", n, divergence, limit, counts, law)
	}
	return nil
}

// failsAtMost tells whether trials that each fail with probability at most beta may
// fail as often as they did. It refuses that with probability at most 1e-9:
// P(F >= f) <= exp(-n·KL(f/n, β)) for f/n > β (Chernoff).
func failsAtMost(failures, n int, beta float64) error {
	f := float64(failures) / float64(n)
	if f <= beta {
		return nil
	}
	divergence := f * math.Log(f/beta)
	if f < 1 {
		divergence += (1 - f) * math.Log((1-f)/(1-beta))
	}
	if float64(n)*divergence > math.Log(1e9) {
		return fmt.Errorf("%d of %d trials fail, more than a share of %v", failures, n, beta)
	}
	return nil
}

// The tests of laws see faults.
func TestLawTestsReject(t *testing.T) {
	p, q := []float64{0.5, 0.5}, []float64{0.25, 0.75}
	if most, err := ratioWithin(p, q, math.Ln2, 0); err != nil || most != math.Ln2 {
		t.Error(most, err)
	}
	if _, err := ratioWithin(p, q, 0.69, 0); err == nil {
		t.Error("a ratio of 2 passes for 0.69")
	}
	if _, err := ratioWithin([]float64{1, 0}, []float64{0.9, 0.1}, 0.2, 0.11); err != nil {
		t.Error(err)
	}
	if _, err := ratioWithin([]float64{1, 0}, []float64{0.9, 0.1}, 0.2, 0.09); err == nil {
		t.Error("a delta of 0.1 passes for 0.09")
	}
	coin := func(source noise.Bits) (int, error) {
		w, err := source.Uint64()
		return int(w & 1), err
	}
	if err := fits(p, 100_000, coin); err != nil {
		t.Error(err)
	}
	if fits([]float64{0.48, 0.52}, 100_000, coin) == nil {
		t.Error("a fair coin passes for one of 0.52")
	}
	if err := failsAtMost(5100, 100_000, 0.05); err != nil {
		t.Error(err)
	}
	if failsAtMost(5600, 100_000, 0.05) == nil {
		t.Error("5.6 % of failures pass for 5 %")
	}
}
