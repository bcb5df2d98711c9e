package noise

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// poissonAt is P(k) of mean n.
func poissonAt(n float64, k int64) float64 {
	g, _ := math.Lgamma(float64(k) + 1)
	return math.Exp(float64(k)*math.Log(n) - n - g)
}

// skellamLaw adds up the law of the difference of two Poisson numbers of a small mean, and for a larger one
// takes the code's own, which TestSkellamLaw holds against the sums.
func skellamLaw(variance string) law {
	d, _ := NewSkellam(ratio(variance))
	at := d.law(d.reach(60))
	if v, _ := d.variance.Float64(); v < 500 {
		at = at[:min(len(at), 400)]
		for k := range at {
			at[k] = 0
			for j := range int64(2000) {
				at[k] += poissonAt(v/2, j) * poissonAt(v/2, j+int64(k))
			}
		}
	}
	above := make([]float64, len(at))
	for k := len(at) - 1; k > 0; k-- {
		above[k-1] = above[k] + at[k]
	}
	last := int64(len(at) - 1)
	return law{
		at:    func(k int64) float64 { return at[max(k, -k)] },
		above: func(k int64) float64 { return above[min(k, last)] },
	}
}

// The code's law, by ratios of Bessel functions, is that of a difference of Poisson numbers.
func TestSkellamLaw(t *testing.T) {
	for _, variance := range []string{"1/1024", "1/3", "2", "30", "300"} {
		d, _ := NewSkellam(ratio(variance))
		l := skellamLaw(variance)
		for k, p := range d.law(d.reach(60)) {
			if k < 300 && math.Abs(p-l.at(int64(k))) > 1e-12*p+1e-25 {
				t.Errorf("variance %s: P(%d) is %v, want %v", variance, k, p, l.at(int64(k)))
			}
		}
	}
}

// Draws of all magnitudes of the variance, and of the share of a third of one, of which three are added up:
// each is rejected, if it is right, with probability 1e-9 (fit). A law with half as much again of variance is rejected.
func TestSkellamDraws(t *testing.T) {
	for _, c := range []struct {
		variance string
		shares   int64
		n        int
	}{{"1/1024", 1, 20_000}, {"1/3", 1, 20_000}, {"7/3", 3, 10_000}, {"100", 1, 20_000}, {"100", 3, 10_000}, {"9999", 1, 12_000}, {"1000000", 3, 12_000}} {
		t.Run(fmt.Sprint(c.variance, " in ", c.shares), func(t *testing.T) {
			t.Parallel()
			d, err := NewSkellam(new(big.Rat).Quo(ratio(c.variance), big.NewRat(c.shares, 1)))
			if err != nil {
				t.Fatal(err)
			}
			h, s := cells(skellamLaw(c.variance)), NewStream(entropy.New())
			wrong := cells(skellamLaw(new(big.Rat).Mul(ratio(c.variance), big.NewRat(3, 2)).RatString()))
			for range draws(t, c.n) {
				sum := new(big.Int)
				for range c.shares {
					z, err := d.Sample(s)
					if err != nil {
						t.Fatal(err)
					}
					sum.Add(sum, z)
				}
				h.add(sum.Int64())
				wrong.add(sum.Int64())
			}
			if err := fit(h.counts, h.probability); err != nil {
				t.Error(err)
			}
			// A tenth of the draws would not tell, nor those of 1/1024, which are nearly all 0.
			if !testing.Short() && c.variance != "1/1024" && fit(wrong.counts, wrong.probability) == nil {
				t.Error("a variance of half as much again passes: the test has no power")
			}
		})
	}
	// Beyond any table: the normal law, from which it is less than 2^-20 away, and low digits that are uniform.
	for _, bits := range []uint{40, 130, 250} {
		t.Run(fmt.Sprint("2^", bits), func(t *testing.T) {
			t.Parallel()
			d, _ := NewSkellam(new(big.Rat).SetInt(new(big.Int).Lsh(one, bits)))
			if err := fitHuge(t, d, new(big.Rat).SetInt(new(big.Int).Lsh(one, bits/2)), draws(t, 5000), normalAbove); err != nil {
				t.Error(err)
			}
		})
	}
	for _, bad := range []*big.Rat{nil, new(big.Rat), big.NewRat(-1, 1)} {
		if _, err := NewSkellam(bad); err == nil {
			t.Errorf("variance %v is taken", bad)
		}
	}
	d, _ := NewSkellam(ratio("100000"))
	values := []*big.Int{big.NewInt(1), big.NewInt(2)}
	if err := d.AddTo(nothing{}, values); err == nil || values[0] != nil || values[1] != nil {
		t.Errorf("a broken source gives %v, %v", values, err)
	}
}

// Poisson numbers, by products below 2^16 and by logarithms from there, and by logarithms of single factors
// where they are asked for small means; false-reject probability 1e-9 each.
func TestPoissonDraws(t *testing.T) {
	for _, c := range []struct {
		n     int64
		large bool
		draws int
	}{{1, false, 20_000}, {2, false, 20_000}, {17, false, 20_000}, {65_535, false, 3_000}, {65_536, true, 10_000}, {1, true, 1_000}, {17, true, 1_000}, {4_096, true, 2_000}, {1_000_003, true, 10_000}} {
		t.Run(fmt.Sprintf("%d %v", c.n, c.large), func(t *testing.T) {
			t.Parallel()
			p := newPoisson(big.NewInt(c.n))
			if c.large {
				p.small = 0
				p.width.Sqrt(big.NewInt(2 * c.n))
				p.width.Add(p.width, big.NewInt(2))
			}
			mean, root := float64(c.n), int64(math.Sqrt(float64(c.n)))
			// Single numbers near the mean, and wider cells out to six standard deviations.
			edges := []int64{}
			for k := max(0, c.n-6*root-2); k < c.n+7*root+8; k++ {
				if near := max(k-c.n, c.n-k); near < 4 || near%max(1, root/4) == 0 {
					edges = append(edges, k)
				}
			}
			probability := make([]float64, len(edges)+1)
			for k := max(0, c.n-40*root-10); k < c.n+40*root+60; k++ {
				i, _ := slices.BinarySearch(edges, k)
				probability[i] += poissonAt(mean, k)
			}
			total := 0.0
			for _, p := range probability {
				total += p
			}
			for i := range probability { // Lgamma errs by 1e-9 where its value is 1e7
				probability[i] /= total
			}
			counts, s, z := make([]int, len(probability)), NewStream(entropy.New()), new(big.Int)
			for range draws(t, c.draws) {
				if err := p.draw(s, z); err != nil {
					t.Fatal(err)
				}
				i, _ := slices.BinarySearch(edges, z.Int64())
				counts[i]++
			}
			if err := fit(counts, probability); err != nil {
				t.Error(err)
			}
		})
	}
}

// Stirling's formula and the sum of the factors' logarithms bound the same number, to 64 digits and to 128,
// of means of all magnitudes; and the more digits, the narrower.
func TestDeclines(t *testing.T) {
	for _, bits := range []uint{12, 13, 17, 24, 40, 130, 250} {
		p := newPoisson(new(big.Int).Add(new(big.Int).Lsh(one, bits), big.NewInt(12345%int64(bits+1))))
		for _, i := range []int64{1, 2, 3, 64, 1000, 2000} {
			for _, left := range []bool{false, true} {
				at := big.NewInt(i)
				var finest [2]*big.Int
				for _, digits := range []uint{192, 128, 64} {
					lo, hi := p.decline(left, at, digits)
					low, high := p.declineByFactors(left, at, digits)
					if lo.Cmp(high) > 0 || low.Cmp(hi) > 0 {
						t.Errorf("2^%d, %d, left %v, %d digits: %v to %v by Stirling, %v to %v by factors", bits, i, left, digits, lo, hi, low, high)
					}
					if wide := new(big.Int).Sub(hi, lo); wide.Sign() <= 0 || wide.BitLen() > 12 {
						t.Errorf("2^%d, %d, left %v, %d digits: %v apart", bits, i, left, digits, wide)
					}
					// In between the floats' bounds lies the number, with 64 digits and 2^-50 around it.
					least, most := p.filter(left, at)
					if near := float64(i+1) <= 0x1p-6*math.Ldexp(1, int(bits)); near && !(float(lo, digits) < most && float(hi, digits) > least && most-least < 0x1p-30) || !near && most == most && float64(i) > 0x1p-6*math.Ldexp(1, int(bits)+1) {
						t.Errorf("2^%d, %d, left %v: %v to %v by floats, %v by Stirling", bits, i, left, least, most, float(lo, digits))
					}
					if finest[0] == nil {
						finest = [2]*big.Int{lo, hi}
						continue
					}
					l, h := new(big.Int).Lsh(lo, 192-digits), new(big.Int).Lsh(hi, 192-digits)
					if l.Cmp(finest[1]) > 0 || h.Cmp(finest[0]) < 0 {
						t.Errorf("2^%d, %d, left %v: with %d digits not what 192 say", bits, i, left, digits)
					}
				}
			}
		}
	}
}

// No step proposes a number too rarely: R(i) is at most a step's share at its first number, for all means below 200,
// some up to 2^16 and powers of two; R falls, so that it is at most that in all of the step.
func TestStepsAreAbove(t *testing.T) {
	whole := []int64{}
	for n := int64(1); n < 200; n++ {
		whole = append(whole, n)
	}
	for n := int64(200); n < maxSmall; n += 997 {
		whole = append(whole, n)
	}
	for _, n := range append(whole, 1<<16, 70_000, 1<<20) {
		p := newPoisson(big.NewInt(n))
		w := p.width.Int64()
		fall := 1.0
		if p.small > 0 {
			fall = math.Ln2
		}
		right, left, l := 0.0, 0.0, int64(0)
		for b := int64(1); b < 30; b++ {
			for l < b*w {
				l++
				right += math.Log1p(float64(l) / float64(n))
				left -= math.Log1p(-min(1, float64(l)/float64(n)))
			}
			if right < float64(b)*fall-1e-9 || left < float64(b)*fall-1e-9 {
				t.Fatalf("mean %d: step %d of %d has ratios e^-%v and e^-%v", n, b, w, right, left)
			}
		}
	}
}

// P(|K| > q) is at most beta, and q is the smallest; above what is added up, at most a twentieth more than that.
func TestSkellamBounds(t *testing.T) {
	for _, variance := range []string{"1/1024", "1/3", "2", "30", "300", "123456"} {
		d, _ := NewSkellam(ratio(variance))
		l := skellamLaw(variance)
		for _, text := range betas {
			q, err := d.Bound(ratio(text))
			if err != nil {
				t.Fatal(err)
			}
			beta, _ := ratio(text).Float64()
			if k := q.Int64(); 2*l.above(k) > beta || k > 1 && 2*l.above(k-2) < beta*0.99 {
				t.Errorf("variance %s, beta %s: %d, beyond which is %v, and beyond two less %v", variance, text, k, 2*l.above(k), 2*l.above(k-2))
			}
		}
	}
	d, _ := NewSkellam(ratio("1048576"))
	for _, text := range append(betas, "1/1208925819614629174706176") {
		sum, normal := d.boundBySum(ratio(text)), d.boundByNormal(ratio(text))
		s, n := float64(sum.Int64()), float64(normal.Int64())
		if n < s || n > 1.05*s+2 {
			t.Errorf("beta %s: %v by the normal law, %v by the sum", text, n, s)
		}
	}
	if q, err := d.Bound(new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, 1000))); err != nil || q.Int64() < 37*1024 {
		t.Errorf("beta 2^-1000: %v, %v", q, err)
	}
	three, err := d.BoundOfSum(3, big.NewRat(1, 20))
	if want := 1.96 * math.Sqrt(3) * 1024; err != nil || math.Abs(float64(three.Int64())-want) > 0.02*want {
		t.Errorf("three draws: %v, want some %v; %v", three, want, err)
	}
	for _, bad := range []*big.Rat{nil, new(big.Rat), big.NewRat(1, 1)} {
		if _, err := d.Bound(bad); err == nil {
			t.Errorf("beta %v is taken", bad)
		}
	}
}

func BenchmarkSkellam(b *testing.B) {
	for _, variance := range []string{"1/1024", "3", "200", "8000", "1000000", "1099511627776", "1298074214633706907132624082305024"} {
		b.Run(variance, func(b *testing.B) {
			d, err := NewSkellam(ratio(variance))
			if err != nil {
				b.Fatal(err)
			}
			s := NewStream(entropy.New())
			for b.Loop() {
				if _, err := d.Sample(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
