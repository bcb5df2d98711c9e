package filter

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// An adversary plays against a filter: after every answer he chooses, by all answers
// so far, the next event, among randomized responses of epsilon step and 2·step and
// one that tells everything with probability leak; or he stops. What he gains is the
// hockey-stick divergence of his whole transcript at the budget's epsilon,
//
//	E[(1 - e^(ε-L))⁺], L the privacy loss,
//
// which a valid filter keeps at or below the budget's delta. Randomized response is
// the worst of all ε-DP events, and because the losses lie on a lattice the best of
// all strategies is found exactly, by dynamic programming. There is no randomness
// here, so nothing is rejected falsely.
type game struct {
	epsilon, step, leak float64
	admits              func(taken) bool
	decisions           map[taken]bool
	values              map[position]float64
}

// taken counts the events that were admitted.
type taken struct{ single, double, leaks int }

// A position is where a transcript has led: what was taken and the loss, in steps.
type position struct {
	taken
	loss int
}

func newGame(epsilon, step, leak float64, admits func(taken) bool) *game {
	return &game{epsilon, step, leak, admits, map[taken]bool{}, map[position]float64{}}
}

func (g *game) admitted(t taken) bool {
	yes, known := g.decisions[t]
	if !known {
		yes = g.admits(t)
		g.decisions[t] = yes
	}
	return yes
}

// value is what the best strategy gains from p on.
func (g *game) value(p position) float64 {
	if v, known := g.values[p]; known {
		return v
	}
	best := g.gain(p.loss)
	for _, size := range []int{1, 2} {
		next := p.taken
		if size == 1 {
			next.single++
		} else {
			next.double++
		}
		if g.admitted(next) {
			likely := 1 / (1 + math.Exp(-g.step*float64(size)))
			v := likely*g.value(position{next, p.loss + size}) + (1-likely)*g.value(position{next, p.loss - size})
			best = math.Max(best, v)
		}
	}
	if next := p.taken; g.leak > 0 {
		if next.leaks++; g.admitted(next) {
			best = math.Max(best, g.leak+(1-g.leak)*g.value(position{next, p.loss}))
		}
	}
	g.values[p] = best
	return best
}

func (g *game) gain(loss int) float64 {
	return math.Max(0, -math.Expm1(g.epsilon-g.step*float64(loss)))
}

// fixed is the divergence of the plan t, chosen beforehand: the exact composition of
// Kairouz, Oh and Viswanath, as a Fourier accountant would find it.
func (g *game) fixed(t taken) float64 {
	mass := map[int]float64{0: 1}
	for i := range t.single + t.double {
		size := 1
		if i >= t.single {
			size = 2
		}
		likely := 1 / (1 + math.Exp(-g.step*float64(size)))
		next := map[int]float64{}
		for loss, p := range mass {
			next[loss+size] += p * likely
			next[loss-size] += p * (1 - likely)
		}
		mass = next
	}
	kept := math.Pow(1-g.leak, float64(t.leaks))
	sum := 1 - kept
	for loss, p := range mass {
		sum += kept * p * g.gain(loss)
	}
	return sum
}

const (
	gameEpsilon = 0.5
	gameDelta   = 0.05
	gameStep    = 0.1
)

func gameBudget(m Measure, selection string) Budget {
	b := Budget{Measure: m, Epsilon: eps("0.5"), Delta: del("0.05")}
	switch m {
	case Pure:
		b.Delta = privacy.Delta{}
	case Approx:
	default:
		b.SelectionDelta = del(selection)
	}
	return b
}

// gameEvents are one event of each kind.
func gameEvents(leak string) [3]privacy.Event {
	return [3]privacy.Event{privacy.Pure{Epsilon: eps("0.1")}, privacy.Pure{Epsilon: eps("0.2")},
		privacy.Approx{Delta: del(leak)}}
}

// decides is a filter as the game asks it.
func decides(t *testing.T, f Filter, leak string) func(taken) bool {
	t.Helper()
	var charges [3]Total
	leaks := true
	for i, e := range gameEvents(leak) {
		charge, err := f.Charge([]privacy.Event{e}, privacy.Delta{})
		if err != nil && i == 2 {
			leaks = false
		} else if err != nil {
			t.Fatal(err)
		}
		charges[i] = charge
	}
	return func(n taken) bool {
		if n.leaks > 0 && !leaks {
			return false
		}
		var spent Total
		for i, count := range []int{n.single, n.double, n.leaks} {
			for range count {
				spent = spent.Add(charges[i])
			}
		}
		return spent.Within(f.Budget())
	}
}

func TestAdaptiveAdversaryDoesNotBreakValidFilters(t *testing.T) {
	for _, m := range []Measure{Pure, Approx, ZCDP, Whitehouse, RDP, GDP} {
		limit := gameDelta
		if m == Pure {
			limit = 0
		}
		g := newGame(gameEpsilon, gameStep, 0.01, decides(t, must(New(gameBudget(m, "0.02"))), "0.01"))
		if v := g.value(position{}); v > limit*(1+1e-12) {
			t.Errorf("%s: an adversary gains %v, more than %v", m, v, limit)
		} else {
			t.Logf("%s: the best adversary gains %.5f of %v, in %d positions", m, v, limit, len(g.values))
		}
	}
	rogers := must(NewRogersFilter(eps("0.5"), del("0.05")))
	var sums [3]Sums
	for i, e := range gameEvents("0.01") {
		sums[i] = must(SumsOf([]privacy.Event{e}, privacy.AddRemove))
	}
	g := newGame(gameEpsilon, gameStep, 0.01, func(n taken) bool {
		at := func(i, count int) Sums { return sums[i].Times(big.NewInt(int64(count))) }
		return rogers.Admits(at(0, n.single).Add(at(1, n.double)).Add(at(2, n.leaks)))
	})
	if v := g.value(position{}); v > gameDelta {
		t.Errorf("rogers: an adversary gains %v", v)
	}
}

// A filter that goes on while the exact composition of what was taken stays within
// (ε, δ), which is what a Fourier accountant in a filter's place does, is invalid: each
// plan that he may end with is within the budget, but he takes, after each answer, the
// plan that is worst after it.
func TestAdaptiveAdversaryBreaksFixedPlanAccounting(t *testing.T) {
	const epsilon, step, delta = 1.5, 0.25, 0.04
	g := newGame(epsilon, step, 0, nil)
	g.admits = func(n taken) bool { return g.fixed(n) <= delta }
	v := g.value(position{})
	if v < delta*1.1 {
		t.Errorf("an adversary gains %v, no more than %v", v, delta)
	}
	t.Logf("the best adversary gains %.5f of %v", v, delta)
}

// Nor is it valid to go on while either of two valid filters of one budget would: he
// goes for a large loss under zcdp, and where that has become hopeless he takes all
// that approx lets him take of δ.
func TestAdaptiveAdversaryBreaksTheMinimumOfTwoFilters(t *testing.T) {
	a := decides(t, must(New(gameBudget(Approx, ""))), "0.05")
	z := decides(t, must(New(gameBudget(ZCDP, "0"))), "0.05")
	gains := func(admits func(taken) bool) float64 {
		return newGame(gameEpsilon, gameStep, gameDelta, admits).value(position{})
	}
	if v := math.Max(gains(a), gains(z)); v > gameDelta*(1+1e-12) {
		t.Errorf("against one of the two alone an adversary gains %v", v)
	}
	v := gains(func(n taken) bool { return a(n) || z(n) })
	if v < gameDelta*1.1 {
		t.Errorf("an adversary gains %v, no more than %v", v, gameDelta)
	}
	t.Logf("the best adversary gains %.5f of %v", v, gameDelta)
}
