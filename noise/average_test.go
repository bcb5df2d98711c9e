package noise

import (
	"math"
	"math/big"
	"testing"
)

func gaussianOf(variance *big.Rat) *DiscreteGaussian {
	d, err := NewDiscreteGaussian(variance)
	if err != nil {
		panic(err)
	}
	return d
}

// The bound of an average is the least by the exact law, within what floating point and what is left out keep back, and never less.
func TestBoundOfAverage(t *testing.T) {
	bound := func(a, b *DiscreteGaussian, beta *big.Rat) int64 {
		q, err := BoundOfAverage(a, b, beta)
		if err != nil {
			t.Fatal(err)
		}
		return q.Int64()
	}
	for _, v := range [][2]int64{{5, 5}, {8, 40}, {40, 8}, {125, 83}, {30, 3000}, {1, 2}} {
		a, b := gaussianOf(big.NewRat(v[0], 1)), gaussianOf(big.NewRat(v[1], 1))
		law := func(variance int64) map[int64]float64 {
			p, norm := map[int64]float64{}, 0.0
			most := int64(12 * math.Sqrt(float64(variance)))
			for k := -most; k <= most; k++ {
				p[k] = math.Exp(-float64(k*k) / float64(2*variance))
				norm += p[k]
			}
			for k := range p {
				p[k] /= norm
			}
			return p
		}
		// The average is (v·a + u·b)/(u + v).
		beyond := func(q int64) (p float64) {
			second := law(v[1])
			for i, x := range law(v[0]) {
				for j, y := range second {
					if n := v[1]*i + v[0]*j; 2*max(n, -n) >= (2*q+1)*(v[0]+v[1]) {
						p += x * y
					}
				}
			}
			return p
		}
		for _, beta := range []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 20), big.NewRat(1, 1_000_000)} {
			q := bound(a, b, beta)
			p, _ := beta.Float64()
			if is := beyond(q); is > p*(1+1e-9) {
				t.Errorf("of variances %v: beyond %d with probability %v, not %v", v, q, is, p)
			}
			if q > 0 {
				if is := beyond(q - 1); is <= p*0.998 {
					t.Errorf("of variances %v: %d is enough for %v: %v", v, q-1, p, is)
				}
			}
		}
	}
	for _, c := range []struct {
		a, b *big.Rat
		beta *big.Rat
	}{{big.NewRat(1, 5), big.NewRat(9, 1), big.NewRat(1, 2)}, {big.NewRat(9, 1), big.NewRat(9, 1), big.NewRat(1, 1)}, {big.NewRat(9, 1), big.NewRat(9, 1), new(big.Rat)}} {
		if q, err := BoundOfAverage(gaussianOf(c.a), gaussianOf(c.b), c.beta); err == nil {
			t.Errorf("%v: %v", c, q)
		}
	}
	// Beyond what is added up, it is that of normal noise and less than 1 more.
	large := gaussianOf(big.NewRat(1_000_000_000, 1))
	q := bound(large, large, big.NewRat(1, 20))
	if want := 1.959963985 * math.Sqrt(5e8); float64(q) < want || float64(q) > want+3 {
		t.Errorf("a bound of %d, not %v", q, want)
	}
}
