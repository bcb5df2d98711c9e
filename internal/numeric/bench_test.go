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
