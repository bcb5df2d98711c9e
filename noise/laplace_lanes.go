package noise

import "math/big"

// geometricDigits draws geometric variables by their digits.
type geometricDigits struct {
	digits []chance // digit i
	more   chance   // that the digits beyond are not all 0
}

// newLaplaceLanes returns the laned form of a discrete Laplace law, and false for scales that
// have none.
func newLaplaceLanes(num, den *big.Int) (*laned, bool) {
	// 16·2^k <= t < 32·2^k, or k = 0 and t < 32.
	k := uint(max(0, new(big.Int).Quo(num, den).BitLen()-5))
	if k > maxLow {
		return nil, false
	}
	ratio := func(i uint) real { return expNeg(new(big.Int).Lsh(den, k+i), num) } // q^(2^i)
	g := &geometricDigits{}
	// As many digits as reach 8t/2^k: at most 8.
	reach := new(big.Int).Lsh(num, 3)
	for i := uint(0); i < 8 && new(big.Int).Lsh(den, k+i).Cmp(reach) < 0; i++ {
		c, ok := newChance(logistic(ratio(i)))
		if !ok {
			return nil, false
		}
		g.digits = append(g.digits, c)
	}
	var ok bool
	if g.more, ok = newChance(ratio(uint(len(g.digits)))); !ok {
		return nil, false
	}
	alpha, _ := new(big.Rat).SetFrac(new(big.Int).Lsh(den, k), num).Float64()
	return &laned{k: k, high: g, alpha: alpha, exponent: func(_ uint64, u *big.Int) (*big.Int, *big.Int) {
		return new(big.Int).Mul(u, den), num
	}}, true
}

// draw draws h for all lanes.
func (g *geometricDigits) draw(r *reel, h *[64]uint64) error {
	var rows [8]uint64
	for i := range g.digits {
		w, err := g.digits[i].lanes(r)
		if err != nil {
			return err
		}
		rows[i] = w
	}
	transpose(&rows, h)
	more, err := g.more.lanes(r)
	if err != nil || more == 0 {
		return err
	}
	for i := range 64 {
		for again := more>>i&1 == 1; again; {
			h[i] += 1 << len(g.digits)
			if again, err = g.more.one(r); err != nil {
				return err
			}
		}
	}
	return nil
}
