package mechanism

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/noise"
)

// A piece is a number of outcomes that have the same integer cost.
type piece struct {
	width uint64 // at least 1
	cost  int64  // not negative
}

// choose returns the index of a piece with probability proportional to
//
//	width · exp(−cost·unit),
//
// exactly, for unit > 0 and costs that are not negative.
//
// It rejects from a proposal in integers: with r a piece of the largest weight, so
// far as floats tell, piece j is proposed with probability proportional to a g that
// is at least its weight over r's, w, times 2^32, and accepted with probability
// w·2^32/g. The floats decide nothing but how often that is tried again, as long as
// no w·2^32 exceeds g, of which acceptance makes sure.
func choose(source noise.Bits, pieces []piece, unit *big.Rat) (int, error) {
	if len(pieces) == 0 || len(pieces) > maxPieces {
		return 0, fmt.Errorf("%w: nothing to choose from, or too much", ErrParameter)
	}
	r, below := propose(pieces, unit)
	total := new(big.Int).SetUint64(below[len(below)-1])
	for {
		u, err := noise.Uniform(source, total)
		if err != nil {
			return 0, fmt.Errorf("choose: %w", err)
		}
		j, found := slices.BinarySearch(below, u.Uint64())
		if found {
			j++ // below[j] counts what is proposed up to piece j
		}
		g := below[j]
		if j > 0 {
			g -= below[j-1]
		}
		scale := new(big.Rat).SetFrac(
			new(big.Int).Lsh(new(big.Int).SetUint64(pieces[j].width), proposalBits),
			new(big.Int).Mul(new(big.Int).SetUint64(pieces[r].width), new(big.Int).SetUint64(g)))
		x := big.NewRat(pieces[j].cost-pieces[r].cost, 1)
		ok, err := acceptExp(source, scale, x.Mul(x, unit))
		if err != nil {
			return 0, fmt.Errorf("choose: %w", err)
		}
		if ok {
			return j, nil
		}
	}
}

// proposalBits leaves room for the sum over maxPieces.
const (
	proposalBits = 32
	maxPieces    = 1 << 31
)

// propose returns a piece of the largest weight, and for each piece the sum of the
// integers g up to it.
func propose(pieces []piece, unit *big.Rat) (r int, below []uint64) {
	t, _ := unit.Float64()
	least := slices.MinFunc(pieces, func(p, q piece) int { return cmp.Compare(p.cost, q.cost) }).cost
	for j, best := 0, math.Inf(-1); j < len(pieces); j++ {
		if l := math.Log(float64(pieces[j].width)) - float64(pieces[j].cost-least)*t; l > best {
			r, best = j, l
		}
	}
	below = make([]uint64, len(pieces))
	sum := uint64(0)
	for j, p := range pieces {
		w := float64(p.width) / float64(pieces[r].width) * math.Exp(float64(pieces[r].cost-p.cost)*t)
		// w is 1 or hardly more, and lost far less than 2^-30 of itself to rounding;
		// where it came out as 0, it is below 2^-1000.
		sum += max(1, uint64(math.Ceil(w*(1+0x1p-30)*(1<<proposalBits))))
		below[j] = sum
	}
	return r, below
}

// acceptExp returns true with probability scale·exp(−x), which must be at most 1.
// It compares the digits of a uniform number with bounds of that probability, of
// more and more digits until they differ; first with bounds in floats, which do
// nearly always.
func acceptExp(source noise.Bits, scale, x *big.Rat) (bool, error) {
	low, high := floatBounds(scale, x)
	u := new(big.Int)
	for width := uint(64); ; width += 64 {
		w, err := source.Uint64()
		if err != nil {
			return false, err
		}
		if f := float64(w) * 0x1p-64; width == 64 && f+0x1p-52 < low {
			return true, nil
		} else if width == 64 && f-0x1p-52 > high {
			return false, nil
		}
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(w))
		low, high := scaledExp(scale, x, width)
		if low.Cmp(new(big.Int).Lsh(big.NewInt(1), width)) > 0 {
			return false, errors.New("a proposal is less likely than what it proposes")
		}
		if u.Cmp(low) < 0 {
			return true, nil
		}
		if u.Cmp(high) >= 0 {
			return false, nil
		}
	}
}

// floatBounds returns bounds of scale·exp(−x), or some that decide nothing. For |x| up
// to 700, x as a float is off by less than 2^-43, and so, relatively, is its
// exponential, but for 2^-51 by rounding; near the smallest floats, which have fewer
// digits, nothing is decided.
func floatBounds(scale, x *big.Rat) (low, high float64) {
	s, _ := scale.Float64()
	y, _ := x.Float64()
	p := s * math.Exp(-y)
	if math.Abs(y) > 700 || min(s, p) < 0x1p-960 || p > 1 {
		return 0, 1
	}
	return p * (1 - 0x1p-40), p * (1 + 0x1p-40)
}

// scaledExp returns integers around scale·exp(−x)·2^width.
func scaledExp(scale, x *big.Rat, width uint) (low, high *big.Int) {
	// More digits than width because scale, or exp(x), may be large.
	digits := width + 192
	low, high = negativeExp(new(big.Rat).Abs(x), digits)
	num, den := new(big.Int).Lsh(scale.Num(), width), scale.Denom()
	if x.Sign() >= 0 {
		den = new(big.Int).Lsh(den, digits)
		low.Mul(low, num).Quo(low, den)
		return low, ceilQuo(high.Mul(high, num), den)
	}
	num.Lsh(num, digits)
	low, high = high.Mul(high, den), low.Mul(low, den)
	return low.Quo(num, low), ceilQuo(num, high)
}

// negativeExp returns integers around exp(−x)·2^digits for x >= 0: the alternating
// series at x/2^k < 1/2, squared k times, with every bound rounded outwards.
func negativeExp(x *big.Rat, digits uint) (low, high *big.Int) {
	k := uint(max(0, x.Num().BitLen()-x.Denom().BitLen()+2))
	width := digits + k + 64
	one := new(big.Int).Lsh(big.NewInt(1), width)
	t := new(big.Int).Lsh(x.Num(), width-k)
	t.Quo(t, x.Denom()) // x/2^k, rounded down by less than a unit
	sum, term, n := new(big.Int), new(big.Int).Set(one), int64(0)
	for ; term.Sign() > 0; n++ {
		if n%2 == 0 {
			sum.Add(sum, term)
		} else {
			sum.Sub(sum, term)
		}
		term.Mul(term, t).Rsh(term, width).Quo(term, big.NewInt(n+1))
	}
	// Each term is too small by less than 2 units (what it lost, and less than half
	// of what the one before it had), what is left out is less than one, and t has
	// lost one.
	slack := big.NewInt(2*n + 2)
	low, high = new(big.Int).Sub(sum, slack), new(big.Int).Add(sum, slack)
	for range k {
		low.Rsh(low.Mul(low, low), width)
		high.Rsh(high.Mul(high, high), width).Add(high, big.NewInt(1))
	}
	low.Rsh(low, width-digits)
	return low, high.Rsh(high, width-digits).Add(high, big.NewInt(1))
}
