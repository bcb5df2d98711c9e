package gemm

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Every number of a product is, to the bit, the one of the product of its row of A and
// its column of B alone: of whatever shape the matrices are, wherever in them it stands
// and whatever else is there. Numbers are of all decades, and sums cancel.
func TestANumberIsItsOwn(t *testing.T) {
	each(t, func(t *rapid.T, e *Engine) {
		size := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(1, 200))
		m, n, k := size.Draw(t, "m"), size.Draw(t, "n"), rapid.OneOf(size, rapid.IntRange(1, 600)).Draw(t, "k")
		if m*n*k > 1<<18 {
			t.Skip("large")
		}
		a, b := drawOperand(t, "a", m, k), drawOperand(t, "b", k, n)
		scale := rapid.Float64Range(-30, 12)
		for _, v := range [][]float32{a.v, b.v} {
			decades(v, scale.Draw(t, "decade"), rapid.Uint64().Draw(t, "spread"))
		}
		if k > 1 && rapid.Bool().Draw(t, "cancel") {
			cancel(a, b, m, n, k)
		}
		factors := rapid.SampledFrom([]float32{0, 1, -1, 0.5, 3})
		alpha, beta := factors.Draw(t, "alpha"), factors.Draw(t, "beta")
		c := make([]float32, m*n)
		for i := range c {
			c[i] = a.v[i%len(a.v)]
		}
		before := append([]float32{}, c...)
		e.Multiply(a.trans, b.trans, m, n, k, alpha, a.v, a.stride, b.v, b.stride, beta, c, n)
		row, column := make([]float32, k), make([]float32, k)
		for i := range m {
			for j := range n {
				for p := range k {
					row[p], column[p] = float32(a.at(i, p)), float32(b.at(p, j))
				}
				one := []float32{before[i*n+j]}
				e.Multiply(false, false, 1, 1, k, alpha, row, k, column, 1, beta, one, 1)
				if got := c[i*n+j]; math.Float32bits(got) != math.Float32bits(one[0]) && !(got != got && one[0] != one[0]) {
					t.Fatalf("C[%d,%d] of %d x %d is %v, alone %v", i, j, m, n, got, one[0])
				}
			}
		}
	})
}

// decades multiplies numbers by powers of ten around a middle one, so that one decides
// what is left of another; some become 0.
func decades(v []float32, middle float64, r uint64) {
	for i := range v {
		r = r*6364136223846793005 + 1442695040888963407
		v[i] *= float32(math.Pow(10, middle+float64(r>>60)-8))
	}
}

// cancel makes the last term of every sum nearly the others' negative.
func cancel(a, b operand, m, n, k int) {
	for i := range m {
		a.put(i, k-1, 1)
	}
	for j := range n {
		sum := 0.0
		for p := range k - 1 {
			sum += a.at(0, p) * b.at(p, j)
		}
		b.put(k-1, j, float32(-sum))
	}
}

func (o operand) put(i, j int, v float32) {
	if o.trans {
		i, j = j, i
	}
	o.v[i*o.stride+j] = v
}

// Portably a product is a sum of rounded products, one after the other, in pieces of
// depth: written down here once more, so that no compiler's fusing goes unseen.
func TestPortableOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 3*depth).Draw(t, "k")
		a, b := drawOperand(t, "a", 1, k), drawOperand(t, "b", k, 1)
		decades(a.v, 0, rapid.Uint64().Draw(t, "spread"))
		var total float32
		for from := 0; from < k; from += depth {
			var sum float32
			for p := from; p < min(k, from+depth); p++ {
				product := a.at(0, p) * b.at(p, 0) // exact in float64
				sum = float32(float64(sum) + float64(float32(product)))
			}
			if from == 0 {
				total = sum
			} else {
				total = float32(float64(total) + float64(sum))
			}
		}
		got := []float32{0}
		Portable().Multiply(a.trans, b.trans, 1, 1, k, 1, a.v, a.stride, b.v, b.stride, 0, got, 1)
		if math.Float32bits(got[0]) != math.Float32bits(total) {
			t.Fatalf("%v, in the written order %v", got[0], total)
		}
	})
}
