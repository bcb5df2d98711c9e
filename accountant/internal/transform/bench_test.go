package transform_test

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/transform"
)

func BenchmarkEpsilon(b *testing.B) {
	for _, sigma := range []float64{0.6, 1, 2, 10} {
		for _, rate := range []float64{1e-4, 1e-2, 1e-1} {
			for _, n := range []int64{10000, 1000000000} {
				b.Run(fmt.Sprintf("sigma=%g/rate=%g/steps=%d", sigma, rate, n), func(b *testing.B) {
					for b.Loop() {
						c := compose(b, transform.Remove, transform.Term{Sigma: sigma, Sensitivity: 1, Rate: rate, Count: n})
						if _, err := c.Epsilon(1e-5); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func BenchmarkThousandEvents(b *testing.B) {
	var terms []transform.Term
	for i := range 1000 {
		terms = append(terms, transform.Term{
			Sigma: 0.8 + 0.005*float64(i), Sensitivity: 1, Rate: 0.01 + 0.00002*float64(i), Count: 1 + int64(i)%20,
		})
	}
	for b.Loop() {
		if _, err := compose(b, transform.Remove, terms...).Epsilon(1e-5); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRDP(b *testing.B) {
	var orders []float64
	for i := range 150 {
		orders = append(orders, 1.1+0.5*float64(i))
	}
	for b.Loop() {
		if _, err := transform.RDP(nil, transform.Term{Sigma: 1, Sensitivity: 1, Rate: 0.01}, transform.Remove, orders); err != nil {
			b.Fatal(err)
		}
	}
}
