package mechanism

import (
	"fmt"
	"math"
	"math/big"
	"sort"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// truncatedGeometric keeps a group of n units with probability π(n), the
// largest function that any (ε₀, δ₀)-DP decision with π(0) = 0 can have:
//
//	π(n+1) = min( e^ε₀·π(n) + δ₀,  1 − e^−ε₀·(1 − π(n) − δ₀),  1 )
//
// Theorem (Desfontaines, Voss, Gipson and Mandayam 2022, "Differentially private
// partition selection", Theorem 1).
//
// The table holds π rounded down so that the inequalities still hold, exactly:
// with E <= e^ε₀, each step takes at most the minimum with E for e^ε₀, of the
// rounded π(n). So π(n+1) <= e^ε₀·π(n) + δ₀ and 1−π(n) <= e^ε₀·(1−π(n+1)) + δ₀,
// and the inequalities in the other direction hold because π does not fall.
//
// k decisions compose to (kε₀, kδ₀) (Dwork et al. 2006); the sharper
// 1−(1−δ₀)^k of Kairouz, Oh and Viswanathan 2015, Theorem 3.3, is less by a
// factor above 1−δ only. And every (ε₀, δ₀)-DP decision is a function of a
// randomised response that with probability δ₀ tells all and otherwise is ε₀-DP
// (the same, Theorem 3.1 and its proof), hence δ₀-approximately ε₀²/2-zCDP (Bun
// and Steinke 2016, Proposition 1.4 and Definition 8.1), of which both add up.
type truncatedGeometric struct {
	keep   []*big.Int // π(1), π(2), ... in units of 1/one, below one; certain from there on
	one    *big.Int   // a power of two
	events []privacy.Event
}

// maxTable bounds the table; where it would be longer, a threshold serves.
const maxTable = 20_000

var errTableTooLong = fmt.Errorf("%w: epsilon and delta are too small for a table of keep probabilities", ErrParameter)

// maxSingleEpsilon bounds ε₀: more changes no digit, and needs numbers as long.
const maxSingleEpsilon = 700

func newTruncatedGeometric(o SelectionOptions, k *big.Rat) (Selection, error) {
	epsilon := new(big.Rat).Quo(o.Epsilon.Rat(), k)
	if o.Rho.Sign() > 0 { // k·ε₀²/2 = ρ
		square := new(big.Rat).Quo(o.Rho.Rat(), k)
		epsilon = numeric.Of(square.Add(square, square)).Sqrt().Lo()
	}
	if epsilon.Cmp(big.NewRat(maxSingleEpsilon, 1)) > 0 {
		epsilon.SetInt64(maxSingleEpsilon)
	}
	// Rounded to a short decimal, because it goes into the event.
	e, err := privacy.NewEpsilon(numeric.FloorDigits(epsilon, 20))
	if err != nil {
		return nil, fmt.Errorf("%w: for one group, %w", ErrParameter, err)
	}
	d, err := privacy.NewDelta(new(big.Rat).Quo(o.Delta.Rat(), k))
	if err != nil {
		return nil, fmt.Errorf("%w: for one group, %w", ErrParameter, err)
	}
	if x := e.Float64(); d.Float64()*math.Expm1(maxTable*x)/math.Expm1(x) < 0.5 {
		return nil, errTableTooLong // π(maxTable) is at most that, without computing it
	}
	var each privacy.Event = privacy.Selection{Epsilon: e, Delta: d}
	if count := k.Num().Int64(); count > 1 {
		each = privacy.Repeat{Count: int(count), Event: each}
	}
	t := &truncatedGeometric{events: o.under(each)}
	return t, t.tabulate(e.Rat(), d.Rat())
}

// tabulate fills the table for one group.
func (t *truncatedGeometric) tabulate(epsilon, delta *big.Rat) error {
	width := uint(128 + numeric.Ceil(new(big.Rat).Inv(delta)).BitLen())
	t.one = new(big.Int).Lsh(big.NewInt(1), width)
	unit := new(big.Rat).SetInt(t.one)
	d := numeric.Floor(new(big.Rat).Mul(delta, unit))
	e := numeric.Floor(unit.Mul(unit, numeric.Of(epsilon).Exp().Lo()))
	for p := new(big.Int); ; {
		rise := new(big.Int).Mul(e, p)
		rise.Rsh(rise, width).Add(rise, d)
		// The second bound is 1 − (1−π−δ₀)/E, with the quotient rounded up.
		rest := new(big.Int).Sub(t.one, p)
		rest.Sub(rest, d).Lsh(rest, width)
		next := rest.Sub(t.one, ceilQuo(rest, e))
		if rise.Cmp(next) < 0 {
			next = rise
		}
		if next.Cmp(t.one) >= 0 {
			return nil
		}
		if next.Cmp(p) <= 0 || len(t.keep) == maxTable {
			return errTableTooLong
		}
		t.keep = append(t.keep, next)
		p = next
	}
}

// ceilQuo returns ceil(x/y) for y > 0.
func ceilQuo(x, y *big.Int) *big.Int {
	q := new(big.Int).Neg(x)
	q.Div(q, y) // towards minus infinity
	return q.Neg(q)
}

// Select draws a uniform number for every group, also where the decision is
// certain, and compares.
func (t *truncatedGeometric) Select(bits noise.Bits, units []*big.Int) ([]bool, error) {
	kept := make([]bool, len(units))
	for i, n := range units {
		u, err := noise.Uniform(bits, t.one)
		if err != nil {
			return nil, fmt.Errorf("select groups: %w", err)
		}
		kept[i] = u.Cmp(t.probability(n)) < 0
	}
	return kept, nil
}

// probability returns π(n) in units of 1/one.
func (t *truncatedGeometric) probability(n *big.Int) *big.Int {
	switch {
	case n.Sign() <= 0:
		return new(big.Int)
	case n.Cmp(big.NewInt(int64(len(t.keep)))) > 0:
		return t.one
	}
	return t.keep[n.Int64()-1]
}

func (t *truncatedGeometric) KeepProbability(units *big.Int) float64 {
	p, _ := new(big.Rat).SetFrac(t.probability(units), t.one).Float64()
	return p
}

func (t *truncatedGeometric) HalfCount() *big.Int {
	half := new(big.Int).Rsh(t.one, 1)
	i := sort.Search(len(t.keep), func(i int) bool { return t.keep[i].Cmp(half) >= 0 })
	return big.NewInt(int64(i + 1))
}

func (t *truncatedGeometric) Events() []privacy.Event { return t.events }
func (t *truncatedGeometric) Name() string            { return "truncated_geometric" }
func (t *truncatedGeometric) Scale() float64          { return 0 }
