package numeric

import (
	"math/big"
	"testing"
)

func BenchmarkExp(b *testing.B) {
	x := Of(big.NewRat(-700, 3))
	for b.Loop() {
		x.Exp()
	}
}

func BenchmarkLog(b *testing.B) {
	x := Of(big.NewRat(700, 3))
	for b.Loop() {
		x.Log()
	}
}

func BenchmarkNormalTail(b *testing.B) {
	for b.Loop() {
		for _, x := range []float64{0.3, 3, 5.9, 6, 12} {
			OfFloat(x).NormalTail()
		}
	}
}
