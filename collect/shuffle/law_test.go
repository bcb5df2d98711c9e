package shuffle_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A law maps what an observer sees, as text, to its probability.
type law map[string]*big.Rat

func (l law) add(seen string, p *big.Rat) {
	if l[seen] == nil {
		l[seen] = new(big.Rat)
	}
	l[seen].Add(l[seen], p)
}

// divergence is Σ (P − e·Q)+.
func divergence(p, q law, e *big.Rat) float64 {
	sum := new(big.Rat)
	for seen, mass := range p {
		d := new(big.Rat).Set(mass)
		if q[seen] != nil {
			d.Sub(d, new(big.Rat).Mul(e, q[seen]))
		}
		if d.Sign() > 0 {
			sum.Add(sum, d)
		}
	}
	f, _ := sum.Float64()
	return f
}

// A hop is what an observer sees of the messages of all respondents; a hop that works shows
// their multiset.
type hop func(bundles [][]int) string

func honest(bundles [][]int) string {
	all := slices.Concat(bundles...)
	slices.Sort(all)
	return fmt.Sprint(all)
}

// seen is the exact law of what the hop shows, for the answers of all respondents: by the
// probabilities of the protocol, over all of its outcomes.
func seen(p *shuffle.Protocol, answers []int, h hop) law {
	truth := p.Event().(privacy.RandomizedResponse).P
	lie := new(big.Rat).Sub(big.NewRat(1, 1), truth)
	lie.Quo(lie, big.NewRat(int64(p.Answers-1), 1))
	l := law{}
	var extend func(bundles [][]int, mass *big.Rat)
	extend = func(bundles [][]int, mass *big.Rat) {
		if len(bundles) == len(answers) {
			l.add(h(bundles), mass)
			return
		}
		bundle := make([]int, p.Messages())
		var fill func(i int, mass *big.Rat)
		fill = func(i int, mass *big.Rat) {
			if i == len(bundle) {
				extend(append(slices.Clone(bundles), slices.Clone(bundle)), mass)
				return
			}
			for v := range p.Answers {
				bundle[i] = v
				q := big.NewRat(1, int64(p.Answers))
				if i == 0 {
					if q = lie; v == answers[len(bundles)] {
						q = truth
					}
				}
				fill(i+1, new(big.Rat).Mul(mass, q))
			}
		}
		fill(0, mass)
	}
	extend(nil, big.NewRat(1, 1))
	return l
}

// worst is the greatest δ at e^ε over all answers of the others, and over the replacement of
// the first respondent's.
func worst(p *shuffle.Protocol, n int, h hop, e *big.Rat) float64 {
	most := 0.0
	others := make([]int, n-1)
	var next func(i, from int)
	next = func(i, from int) {
		if i == len(others) {
			for x := 1; x < p.Answers; x++ {
				a, b := seen(p, append([]int{0}, others...), h), seen(p, append([]int{x}, others...), h)
				most = max(most, divergence(a, b, e), divergence(b, a, e))
			}
			return
		}
		for v := from; v < p.Answers; v++ {
			others[i] = v
			next(i+1, v)
		}
	}
	next(0, 0)
	return most
}

func claimed(t *testing.T, p *shuffle.Protocol, honest int, e *big.Rat) accountant.Bracket {
	t.Helper()
	f, _ := e.Float64()
	epsilon := must(privacy.EpsilonFromFloat(math.Log(f)))
	c := accountant.Collected{Response: p.Event().(privacy.RandomizedResponse), Respondents: int64(honest), Fakes: int64(honest * p.Fakes)}
	b, _, err := c.Delta(context.Background(), epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Of all answers of few respondents nothing is told but what the certificate's theorem says,
// and, without fakes, the bracket holds the truth. Every fault of a hop tells more.
func TestExactLawIsWithinTheClaim(t *testing.T) {
	for _, tc := range []struct {
		k, fakes, n int
		epsilon     string
	}{{2, 0, 4, "1"}, {2, 0, 7, "2"}, {3, 0, 4, "2"}, {4, 0, 3, "1"}, {2, 1, 3, "2"}, {2, 2, 2, "3"}, {3, 1, 2, "2"}} {
		p := must(shuffle.New(histogram(tc.k, tc.fakes, 2, tc.epsilon)))
		for _, e := range []*big.Rat{big.NewRat(21, 20), big.NewRat(5, 4), big.NewRat(2, 1)} {
			exact, claim := worst(p, tc.n, honest, e), claimed(t, p, tc.n, e)
			if exact > claim.High*(1+1e-12) {
				t.Errorf("%+v, e^ε = %v: exact δ %v, claimed %v", tc, e, exact, claim.High)
			}
			if claim.Low > exact*(1+1e-9) {
				t.Errorf("%+v, e^ε = %v: exact δ %v, said to be at least %v", tc, e, exact, claim.Low)
			}
		}
	}
}

func TestFaultsAreCaught(t *testing.T) {
	const n = 5
	p := must(shuffle.New(histogram(2, 0, 2, "2")))
	e := big.NewRat(3, 1)
	claim := claimed(t, p, n, e).High
	if exact := worst(p, n, honest, e); exact > claim {
		t.Fatalf("without a fault: exact δ %v, claimed %v", exact, claim)
	}
	for name, h := range map[string]hop{
		"a hop that does not permute":  func(b [][]int) string { return fmt.Sprint(b) },
		"a hop that drops all but one": func(b [][]int) string { return fmt.Sprint(b[0]) },
		"a hop that keeps repetitions": func(b [][]int) string { return honest([][]int{b[0], b[0], b[0], b[1], b[2], b[3], b[4]}) },
		"a batch of two":               func(b [][]int) string { return honest(b[:2]) },
		"a hop that swaps two only":    func(b [][]int) string { return fmt.Sprint(b[0], honest(b[1:])) },
		"all but one who collude":      func(b [][]int) string { return fmt.Sprint(honest(b), b[2:]) },
	} {
		if exact := worst(p, n, h, e); exact <= claim {
			t.Errorf("%s: exact δ %v, claimed %v: the fault is not seen", name, exact, claim)
		}
	}
	// Who claims for colluders as well claims too much: the honest are two of five.
	colluding := func(b [][]int) string { return fmt.Sprint(honest(b), b[2:]) }
	if exact, right := worst(p, n, colluding, e), claimed(t, p, 2, e).High; exact > right*(1+1e-12) {
		t.Errorf("three of five collude: exact δ %v, claimed of two honest ones %v", exact, right)
	}
}

// Every order has the same probability. 60,000 draws of 24 orders: chi-square rejects with
// probability 1e-9 by chance, and the two usual faults with probability above 1 − 1e-9 (their
// noncentrality is above 500).
func TestPermutationsAreUniform(t *testing.T) {
	const draws = 60_000
	critical := distuv.ChiSquared{K: 23}.Quantile(1 - 1e-9)
	statistic := func(permute func(s *noise.Stream, x []int) error) float64 {
		s, counts := noise.NewStream(noise.System()), map[string]int{}
		for range draws {
			x := []int{0, 1, 2, 3}
			if err := permute(s, x); err != nil {
				t.Fatal(err)
			}
			counts[fmt.Sprint(x)]++
		}
		sum := 0.0
		for _, c := range counts {
			sum += math.Pow(float64(c)-draws/24.0, 2) / (draws / 24.0)
		}
		return sum + float64(24-len(counts))*draws/24.0
	}
	if x := statistic(shuffle.Permute); x > critical {
		t.Errorf("chi-square %v, critical %v", x, critical)
	}
	for name, fault := range map[string]func(s *noise.Stream, x []int) error{
		"any two exchanged at each step": func(s *noise.Stream, x []int) error {
			for i := range x {
				j, _ := s.Index(len(x))
				x[i], x[j] = x[j], x[i]
			}
			return nil
		},
		"never stays (Sattolo)": func(s *noise.Stream, x []int) error {
			for i := len(x) - 1; i > 0; i-- {
				j, _ := s.Index(i)
				x[i], x[j] = x[j], x[i]
			}
			return nil
		},
	} {
		if x := statistic(fault); x <= critical {
			t.Errorf("%s: chi-square %v is not rejected", name, x)
		}
	}
}

// The attack from the analyzer's place, with colluders who tell what they sent: on messages as
// the code draws them, it proves no more ε than is claimed of the honest ones, and more than is
// claimed of all. The bounds of package audit fail with probability 1e-9, all together.
func TestAttackWithColluders(t *testing.T) {
	const n, colluders, runs = 1000, 996, 60_000
	p := must(shuffle.New(histogram(2, 0, 2, "3")))
	s := noise.NewStream(noise.System())
	// The observer counts the ones that are not colluders'. All honest others have 0.
	count := func(victim int) []int64 {
		counts := make([]int64, n-colluders+1)
		for range runs {
			ones := 0
			for i := range n - colluders {
				answer := 0
				if i == 0 {
					answer = victim
				}
				ones += must(p.Respond(s, answer))[0]
			}
			counts[ones]++
		}
		return counts
	}
	with, without := count(1), count(0)
	delta := 1e-3
	// The attack says that the victim has 1 where so many ones or more are seen.
	proved := 0.0
	counts := audit.Counts{Members: runs, Others: runs}
	for at := n - colluders; at >= 1; at-- {
		counts.TruePositives += int(with[at])
		counts.FalsePositives += int(without[at])
		proved = max(proved, must(counts.EpsilonLowerBound(delta, 1-1e-9/(n-colluders))))
	}
	epsilon := func(honest int64) float64 {
		c := accountant.Collected{Response: p.Event().(privacy.RandomizedResponse), Respondents: honest}
		b, _, err := c.Epsilon(context.Background(), must(privacy.ParseDelta("1e-3")))
		if err != nil {
			t.Fatal(err)
		}
		return b.High
	}
	if right := epsilon(n - colluders); proved > right {
		t.Errorf("the attack proves ε ≥ %v, claimed %v of the honest", proved, right)
	}
	if wrong := epsilon(n); proved <= wrong {
		t.Errorf("the attack proves ε ≥ %v, which does not refute %v, claimed of all", proved, wrong)
	}
}

// What messages tell is without bias, and intervals hold: of 300 studies of 400 respondents no
// more than a twentieth fail but with probability below 1e-9 (a count of failures above 39
// has probability below 1e-9 at a rate of 1/20).
func TestEstimates(t *testing.T) {
	s := noise.NewStream(noise.System())
	for _, fakes := range []int{0, 2} {
		p := must(shuffle.New(histogram(3, fakes, 2, "3")))
		failures, mean := 0, 0.0
		const studies, respondents, have = 300, 400, 100
		for range studies {
			told := make([]int64, 3)
			for i := range respondents {
				answer := 0
				if i < have {
					answer = 2
				}
				for _, m := range must(p.Respond(s, answer)) {
					told[m]++
				}
			}
			e := must(p.Estimate(told, respondents, 0.05))
			if e.Low[2] > have || e.High[2] < have {
				failures++
			}
			mean += e.Counts[2] / studies
		}
		if failures > 39 {
			t.Errorf("%d fakes: %d of %d intervals fail", fakes, failures, studies)
		}
		// The mean of 300 estimates is off by 6.2 deviations with probability below 1e-9.
		if limit := 6.2 * p.Deviation(respondents, float64(have)/respondents) / math.Sqrt(studies); math.Abs(mean-have) > limit {
			t.Errorf("%d fakes: the mean estimate is %v, want %v ± %v", fakes, mean, have, limit)
		}
	}
}

func TestSums(t *testing.T) {
	q := histogram(5, 1, 2, "4")
	q.Kind, q.Lower, q.Upper = shuffle.Sum, big.NewRat(-2, 1), big.NewRat(6, 1)
	p := must(shuffle.New(q))
	s := noise.NewStream(noise.System())
	numbers := []string{"-2", "0.25", "6", "5.9", "100", "-7"} // the last two are the ends
	truth := -2 + 0.25 + 6 + 5.9 + 6 - 2
	const times, studies = 40, 200
	mean, failures := 0.0, 0
	for range studies {
		told := make([]int64, 5)
		for range times {
			for _, text := range numbers {
				x, _ := new(big.Rat).SetString(text)
				for _, m := range must(p.Respond(s, must(p.Level(s, x)))) {
					told[m]++
				}
			}
		}
		e := must(p.Estimate(told, int64(times*len(numbers)), 0.05))
		mean += e.Sum.Value / studies
		if e.Sum.Low > truth*times || e.Sum.High < truth*times {
			failures++
		}
	}
	if failures > 30 { // probability below 1e-9 at a rate of 1/20
		t.Errorf("%d of %d intervals fail", failures, studies)
	}
	// A message's score deviates by at most a half, 480 of them by 11; ×8/0.9 numbers a unit.
	if limit := 6.2 * 8 / 0.9 * 0.5 * math.Sqrt(480) / math.Sqrt(studies); math.Abs(mean-truth*times) > limit {
		t.Errorf("the mean estimate is %v, want %v ± %v", mean, truth*times, limit)
	}
}

// The law of a crowd, and its joint law with messages, on few respondents: two crowds, of
// which one respondent leaves the first and joins the second, with another answer.
func TestCrowds(t *testing.T) {
	q := histogram(2, 0, 2, "0.5")
	q.Crowds = &shuffle.Crowd{Epsilon: must(privacy.ParseEpsilon("1")), Delta: must(privacy.ParseDelta("0.02")), Threshold: 2}
	p := must(shuffle.New(q))
	reach := p.MostDropped() / 2
	drop := make([]float64, 2*reach+1)
	total := 0.0
	for z := -reach; z <= reach; z++ {
		drop[z+reach] = math.Exp(-math.Abs(float64(z)))
		total += drop[z+reach]
	}
	// The code draws that law: 40,000 draws, chi-square at 1e-9.
	const draws, many = 40_000, 1000
	counts, statistic := make([]float64, len(drop)), 0.0
	s := noise.NewStream(noise.System())
	for range draws {
		counts[many-must(p.Survivors(s, many))]++
	}
	for d := range drop {
		drop[d] /= total
		statistic += math.Pow(counts[d]-draws*drop[d], 2) / (draws * drop[d])
	}
	if critical := (distuv.ChiSquared{K: float64(2 * reach)}).Quantile(1 - 1e-9); statistic > critical {
		t.Errorf("chi-square %v, critical %v", statistic, critical)
	}
	if drop[0] > 0.02 {
		t.Errorf("the edge has %v, more than δ", drop[0])
	}

	truth, _ := p.Event().(privacy.RandomizedResponse).P.Float64()
	// crowd is the law of how many ones and how many messages pass of respondents with these
	// answers: a uniform choice of n−D of them.
	crowd := func(answers []int, threshold int, drop []float64) map[[2]int]float64 {
		l := map[[2]int]float64{}
		n := len(answers)
		for set := range 1 << n {
			var size, members = 0, []int{}
			for i := range n {
				if set>>i&1 == 1 {
					size++
					members = append(members, answers[i])
				}
			}
			mass := 0.0
			for d, q := range drop {
				if left := n - d; left == size && left >= threshold {
					mass += q / float64(choose(n, size))
				} else if size == 0 && left < threshold {
					mass += q
				}
			}
			for told := range 1 << size {
				ones, m := 0, mass
				for i, a := range members {
					bit := told >> i & 1
					ones += bit
					if bit == a {
						m *= truth
					} else {
						m *= 1 - truth
					}
				}
				l[[2]int{ones, size}] += m
			}
		}
		return l
	}
	// within says by how much two laws of a crowd exceed ε, at most.
	exceeds := func(a, b map[[2]int]float64, epsilon float64) float64 {
		d := 0.0
		for seen, mass := range a {
			d += max(0, mass-math.Exp(epsilon)*b[seen])
		}
		return d
	}
	most := func(threshold int, drop []float64) (excess float64) {
		for n := range 12 {
			for ones := range n + 1 {
				answers := make([]int, n)
				for i := range ones {
					answers[i] = 1
				}
				for x := range 2 {
					a, b := crowd(append(slices.Clone(answers), x), threshold, drop), crowd(answers, threshold, drop)
					excess = max(excess, exceeds(a, b, 1.5), exceeds(b, a, 1.5))
				}
			}
		}
		return excess
	}
	if got := most(2, drop); got > 0.02 {
		t.Errorf("one respondent more exceeds ε + ε₀ = 1.5 by %v, claimed 0.02", got)
	}
	// Planted: no noise, and a threshold of one with little noise.
	if got := most(2, []float64{1}); got <= 0.02 {
		t.Errorf("without noise it exceeds by %v, which is not seen", got)
	}
	if got := most(1, []float64{0.6, 0.3, 0.1}); got <= 0.02 {
		t.Errorf("with a threshold of one it exceeds by %v, which is not seen", got)
	}
}

func choose(n, k int) int64 { return new(big.Int).Binomial(int64(n), int64(k)).Int64() }
