package pld

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

// The transform is compared with the definition.
func TestTransformIsTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for lg := 0; lg <= 9; lg++ {
		n := 1 << lg
		x := make([]complex128, n)
		for i := range x {
			x[i] = complex(r.NormFloat64(), r.NormFloat64())
		}
		y := append([]complex128(nil), x...)
		tr := newTransform(lg)
		tr.forward(y)
		for place := range y {
			f := 0 // the frequency at this place
			for b := range lg {
				f |= place >> b & 1 << (lg - 1 - b)
			}
			want := complex128(0)
			sum := 0.0
			for j, v := range x {
				want += v * cmplx.Exp(complex(0, -2*math.Pi*float64(f*j%n)/float64(n)))
				sum += cmplx.Abs(v)
			}
			if e := cmplx.Abs(y[place] - want); e > 4*transformError(lg)*sum {
				t.Fatalf("n %d frequency %d: %v, want %v", n, f, y[place], want)
			}
			back := 0
			for b := range lg {
				back |= (n - f) % n >> b & 1 << (lg - 1 - b)
			}
			if mirror(place) != back {
				t.Fatalf("n %d: mirror of %d is %d, want %d", n, place, mirror(place), back)
			}
		}
		tr.inverse(y)
		for j := range y {
			if e := cmplx.Abs(y[j]/complex(float64(n), 0) - x[j]); e > 1e-13 {
				t.Fatalf("n %d: inverse of forward is off by %g", n, e)
			}
		}
	}
}

func BenchmarkTransform(b *testing.B) {
	for _, lg := range []int{12, 14, 16, 18} {
		x := make([]complex128, 1<<lg)
		for i := range x {
			x[i] = complex(rand.Float64(), rand.Float64())
		}
		y := make([]complex128, len(x))
		b.Run(fmt.Sprintf("own/%d", lg), func(b *testing.B) {
			t := newTransform(lg)
			for b.Loop() {
				copy(y, x)
				t.forward(y)
			}
		})
		b.Run(fmt.Sprintf("gonum/%d", lg), func(b *testing.B) {
			t := fourier.NewCmplxFFT(1 << lg)
			for b.Loop() {
				t.Coefficients(y, x)
			}
		})
	}
}
