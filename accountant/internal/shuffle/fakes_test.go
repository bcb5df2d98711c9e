package shuffle

import (
	"math"
	"math/big"
	"testing"
)

// withFakes adds uniform answers to the law of a histogram.
func withFakes(hist law, k, fakes int) law {
	for range fakes {
		next := law{}
		for h, mass := range hist {
			for y := range k {
				counts := []byte(h)
				counts[y]++
				next.add(string(counts), new(big.Rat).Mul(mass, big.NewRat(1, int64(k))))
			}
		}
		hist = next
	}
	return hist
}

// What an observer sees of reports with fakes among them, over all pairs of neighbouring data
// sets, is never above the bound; and of one user it is the bound.
func TestFakes(t *testing.T) {
	for _, k := range []int{2, 3, 4} {
		for _, n := range []int{1, 2, 3} {
			for _, fakes := range []int{0, 1, 3, 6} {
				for _, odds := range []int64{2, 20} {
					r := Randomizer{Epsilon0: math.Log(float64(odds)), Answers: k, Fakes: int64(fakes)}
					p := big.NewRat(odds, 1)
					for _, e := range []*big.Rat{big.NewRat(1, 1), big.NewRat(5, 4), big.NewRat(7, 4)} {
						exact := 0.0
						for _, others := range dataSets(k, n) {
							P := withFakes(shuffled(k, p, append([]int{0}, others...)), k, fakes)
							Q := withFakes(shuffled(k, p, append([]int{1}, others...)), k, fakes)
							exact = max(exact, float(hockeyStick(P, Q, e)), float(hockeyStick(Q, P, e)))
						}
						for _, m := range Methods {
							if m == Closed {
								continue
							}
							b, err := Delta(nil, m, int64(n), r, math.Log(float(e)))
							if err != nil {
								t.Fatal(err)
							}
							if b.High < exact*(1-1e-12) || b.Low > exact*(1+1e-9) {
								t.Errorf("%s, k=%d n=%d fakes=%d odds=%d e=%v: %+v, exact %v", m, k, n, fakes, odds, e, b, exact)
							}
							if m == Blanket && n == 1 && b.High > exact*(1+1e-6)+1e-300 {
								t.Errorf("k=%d fakes=%d odds=%d e=%v: %v, exact %v", k, fakes, odds, e, b.High, exact)
							}
						}
					}
				}
			}
		}
	}
}

// Fakes never cost anything, and many of them amplify where the reports alone do not.
func TestFakesHelp(t *testing.T) {
	last := math.Inf(1)
	for _, fakes := range []int64{0, 1000, 10_000, 100_000, 1_000_000} {
		r := Randomizer{Epsilon0: 10, Answers: 50, Fakes: fakes}
		b, err := Epsilon(nil, Blanket, 1000, r, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if b.High > last*(1+1e-9) {
			t.Errorf("%d fakes: %v, fewer: %v", fakes, b.High, last)
		}
		last = b.High
	}
	if last > 0.1 {
		t.Errorf("a million fakes leave %v", last)
	}
}
