package shuffle

import (
	"fmt"
	"math/big"
)

// Exact arithmetic for small n: likelihoods are rationals when p = e^eps0 is one.

// A law maps outcomes, written as text, to exact probabilities.
type law map[string]*big.Rat

func (l law) add(outcome string, p *big.Rat) {
	if l[outcome] == nil {
		l[outcome] = new(big.Rat)
	}
	l[outcome].Add(l[outcome], p)
}

// hockeyStick returns Σ (P - e·Q)+.
func hockeyStick(p, q law, e *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for outcome, mass := range p {
		d := new(big.Rat).Set(mass)
		if q[outcome] != nil {
			d.Sub(d, new(big.Rat).Mul(e, q[outcome]))
		}
		if d.Sign() > 0 {
			sum.Add(sum, d)
		}
	}
	return sum
}

// shuffled is the law of the histogram of reports by randomized response over k
// answers, the true one p times as likely as each other, for the given inputs.
func shuffled(k int, p *big.Rat, inputs []int) law {
	total := new(big.Rat).Add(p, big.NewRat(int64(k-1), 1))
	hist := law{string(make([]byte, k)): big.NewRat(1, 1)}
	for _, x := range inputs {
		next := law{}
		for h, mass := range hist {
			for y := range k {
				odds := big.NewRat(1, 1)
				if y == x {
					odds = p
				}
				counts := []byte(h)
				counts[y]++
				pr := new(big.Rat).Quo(odds, total)
				next.add(string(counts), pr.Mul(pr, mass))
			}
		}
		hist = next
	}
	return hist
}

// multinomials lists all (a, b) that n users may draw with probability x and y each,
// with their probabilities.
func multinomials(n int64, x, y *big.Rat, visit func(a, b int64, pr *big.Rat)) {
	z := big.NewRat(1, 1)
	z.Sub(z.Sub(z, x), y)
	for a := int64(0); a <= n; a++ {
		for b := int64(0); a+b <= n; b++ {
			pr := new(big.Rat).SetInt(new(big.Int).Mul(
				new(big.Int).Binomial(n, a), new(big.Int).Binomial(n-a, b)))
			pr.Mul(pr, power(x, a)).Mul(pr, power(y, b)).Mul(pr, power(z, n-a-b))
			visit(a, b, pr)
		}
	}
}

func power(x *big.Rat, n int64) *big.Rat {
	e := big.NewInt(n)
	return new(big.Rat).SetFrac(new(big.Int).Exp(x.Num(), e, nil), new(big.Int).Exp(x.Denom(), e, nil))
}

// laws builds the two laws that a pair stands for by its definition: X and Y of the
// replaced user added to what the others draw.
func laws(n int64, rate, first, second *big.Rat) (p, q law) {
	p, q = law{}, law{}
	each := new(big.Rat).Quo(rate, big.NewRat(2, 1))
	neither := big.NewRat(1, 1)
	neither.Sub(neither.Sub(neither, first), second)
	multinomials(n-1, each, each, func(a, b int64, pr *big.Rat) {
		at := func(a, b int64) string { return fmt.Sprint(a, b) }
		p.add(at(a+1, b), new(big.Rat).Mul(pr, first))
		p.add(at(a, b+1), new(big.Rat).Mul(pr, second))
		p.add(at(a, b), new(big.Rat).Mul(pr, neither))
		q.add(at(a+1, b), new(big.Rat).Mul(pr, second))
		q.add(at(a, b+1), new(big.Rat).Mul(pr, first))
		q.add(at(a, b), new(big.Rat).Mul(pr, neither))
	})
	return p, q
}

// blanketSum is the blanket's divergence by its definition: all reports of m users
// with uniform ones are seen, of whom a and b give the two answers that matter.
func blanketSum(n int64, k int64, p, e *big.Rat) *big.Rat {
	one := big.NewRat(1, 1)
	each := new(big.Rat).Inv(new(big.Rat).Add(p, big.NewRat(k-1, 1)))
	all := new(big.Rat).Mul(each, big.NewRat(k, 1))
	sum := new(big.Rat)
	for m := int64(1); m <= n; m++ {
		weight := new(big.Rat).SetInt(new(big.Int).Binomial(n-1, m-1))
		weight.Mul(weight, power(all, m-1)).Mul(weight, power(new(big.Rat).Sub(one, all), n-m))
		uniform := big.NewRat(1, k)
		multinomials(m, uniform, uniform, func(a, b int64, pr *big.Rat) {
			// Density against m uniform reports: the mean of the users' ratios.
			ratio := func(a, b int64) *big.Rat {
				r := new(big.Rat).Mul(p, big.NewRat(a, 1))
				return r.Add(r, big.NewRat(m-a, 1))
			}
			d := new(big.Rat).Sub(ratio(a, b), new(big.Rat).Mul(e, ratio(b, a)))
			if d.Sign() > 0 {
				d.Mul(d, pr).Mul(d, weight).Mul(d, all).Quo(d, big.NewRat(m, 1))
				sum.Add(sum, d)
			}
		})
	}
	return sum
}

func float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}
