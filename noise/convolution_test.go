package noise

import (
	"math"
	"math/big"
	"testing"
)

// The bound is that of the law which is added up draw by draw and term by term, with nothing cut off.
func TestConvolutionIsTheSum(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 16, 37} {
		for name, f := range map[string]func(k float64) float64{
			"gaussian": func(k float64) float64 { return math.Exp(-k * k / 18) }, "laplace": func(k float64) float64 { return math.Exp(-k) },
		} {
			const reach = 60
			law := make([]float64, 2*reach+1)
			norm := 0.0
			for i := range law {
				law[i] = f(math.Abs(float64(i - reach)))
				norm += law[i]
			}
			sum := []float64{1}
			for range n {
				next := make([]float64, len(sum)+len(law)-1)
				for i, p := range sum {
					for j, q := range law {
						next[i+j] += p * q / norm
					}
				}
				sum = next
			}
			for _, beta := range []*big.Rat{big.NewRat(9, 10), big.NewRat(1, 20), big.NewRat(1, 1<<40)} {
				allowed, _ := new(big.Rat).Mul(beta, big.NewRat(999, 1000)).Float64()
				want, tail := n*reach, 0.0
				for ; want > 0; want-- {
					if tail += 2 * sum[n*reach+want]; tail > allowed {
						break
					}
				}
				if got := boundByConvolution(n, reach, beta, f); got.Cmp(big.NewInt(int64(want))) != 0 {
					t.Errorf("%s, %d draws, beta %v: %v, term by term %d", name, n, beta, got, want)
				}
			}
		}
	}
}
