package noise

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

func ratio(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

// The scales of a count (10), of an epsilon with many digits, of a sum on a
// 62-bit grid (2^70, 2^100) and beyond native arithmetic (2^130).
func BenchmarkDiscreteLaplace(b *testing.B) {
	for _, scale := range []string{"10", "10000/123", "1180591620717411303424", "1267650600228229401496703205376",
		"1361129467683753853853498429727072845824"} {
		b.Run(scale, func(b *testing.B) {
			d, err := NewDiscreteLaplace(ratio(scale))
			if err != nil {
				b.Fatal(err)
			}
			benchmark(b, d.AddTo)
		})
	}
}

func benchmark(b *testing.B, addTo func(Bits, []*big.Int) error) {
	source := entropy.New()
	values := make([]*big.Int, 1000)
	for i := range values {
		values[i] = new(big.Int)
	}
	for n := b.N; n > 0; n -= len(values) {
		if err := addTo(source, values[:min(n, len(values))]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDiscreteGaussian(b *testing.B) {
	for _, variance := range []string{"100", "1000000", "12345678/1234567", "1393796574908163946345982392040522594123776", // 2^140
		"1606938044258990275541962092341162602522202993782792835301376"} { // 2^200
		b.Run(variance, func(b *testing.B) {
			d, err := NewDiscreteGaussian(ratio(variance))
			if err != nil {
				b.Fatal(err)
			}
			benchmark(b, d.AddTo)
		})
	}
}

// What the first many draws of a law cost more than later ones.
func BenchmarkLanes(b *testing.B) {
	b.Run("laplace", func(b *testing.B) {
		for b.Loop() {
			newLaplaceLanes(big.NewInt(10000), big.NewInt(123))
		}
	})
	b.Run("gaussian", func(b *testing.B) {
		for b.Loop() {
			newGaussianLanes(big.NewRat(10000, 123))
		}
	})
}
