//go:build unix

package bench

import (
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

// BenchmarkNoise draws machine integers many at a time, in parts too small for a second core,
// beside one by one, from a thousandth of a grid step to 2^40. It reports processor time, and
// the limit: the entropy of the law in bytes, at the speed of the source of words in this run.
func BenchmarkNoise(b *testing.B) {
	const n, few = 8000, 500
	source, many, one, words := entropy.New(), make([]int64, n), new(big.Int), make([]uint64, n)
	for _, scale := range []float64{0x1p-10, 1, 10, 200, 0x1p20, 0x1p40} {
		r := new(big.Rat).SetFloat64(scale)
		l := must(noise.NewDiscreteLaplace(r))
		g := must(noise.NewDiscreteGaussian(new(big.Rat).Mul(r, r)))
		for _, law := range []struct {
			name    string
			all     func(noise.Bits, []int64) error
			each    func(noise.Bits) (*big.Int, error)
			entropy float64 // bits
		}{
			{"laplace", l.Int64s, l.Sample, entropyOf(scale, func(x float64) float64 { return x }, math.Log2(2*math.E*scale))},
			{"gaussian", g.Int64s, g.Sample, entropyOf(scale, func(x float64) float64 { return x * x / 2 }, math.Log2(math.Sqrt(2*math.Pi*math.E)*scale))},
		} {
			b.Run(fmt.Sprintf("%s/%g", law.name, scale), func(b *testing.B) {
				if err := law.all(source, many); err != nil { // its tables
					b.Fatal(err)
				}
				var ours, single, raw time.Duration
				for b.Loop() {
					start := processTime()
					for range 50 {
						if err := law.all(source, many); err != nil {
							b.Fatal(err)
						}
					}
					ours += processTime() - start
					start = processTime()
					for range few {
						x, err := law.each(source)
						if err != nil {
							b.Fatal(err)
						}
						one.Add(one, x)
					}
					single += processTime() - start
					start = processTime()
					for range 50 {
						if err := source.Words(words); err != nil {
							b.Fatal(err)
						}
					}
					raw += processTime() - start
				}
				draw := float64(ours.Nanoseconds()) / float64(50*n*b.N)
				limit := law.entropy / 64 * float64(raw.Nanoseconds()) / float64(50*n*b.N)
				b.ReportMetric(draw, "ns/draw")
				b.ReportMetric(float64(single.Nanoseconds())/float64(few*b.N), "ns/single")
				b.ReportMetric(limit, "ns/limit")
				b.ReportMetric(law.entropy, "bits")
			})
		}
	}
}

// entropyOf is the entropy, in bits, of the law over the integers with weights e^(−f(k/scale));
// for large scales, that of the law over the reals.
func entropyOf(scale float64, f func(float64) float64, large float64) float64 {
	if scale > 1000 {
		return large
	}
	total, mean := 0.0, 0.0
	for k := -50 * (scale + 1); k <= 50*(scale+1); k++ {
		k := math.Round(k)
		w := math.Exp(-f(math.Abs(k) / scale))
		total += w
		if w > 0 {
			mean += w * f(math.Abs(k)/scale)
		}
	}
	return (mean/total + math.Log(total)) / math.Ln2
}
