package multiparty

import (
	"math"
	"math/big"
	"testing"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/additive"
	"github.com/discreet-dp/discreet/noise"
)

// A transcript is one task among two holders and three parties, of whom the adversary has two,
// and the asker: what they have, but the noise that the two have drawn themselves.
type transcript struct {
	shares [2][2]*big.Int // of each holder, at each of the two
	honest *big.Int       // what the third party gives the asker
}

// A fault is one that the tests of this file must catch.
type fault string

const (
	none     fault = ""
	oneParty fault = "noise at one party alone"
	oneShare fault = "the last share is the value less one share"
)

var (
	ring64 = additive.Ring{Bits: 64}
	scale2 = []discreet.PartyNoise{{Distribution: "discrete_laplace", Parameter: "2", Values: 1}}
)

func lift(t testing.TB, vector []byte) *big.Int {
	t.Helper()
	v, err := ring64.Lift(vector)
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

// play carries out a task by the parts that holders and parties run.
func play(t testing.TB, values [2]int64, f fault) (out transcript) {
	t.Helper()
	var sums [3][]byte
	for h, v := range values {
		shares, err := ring64.Split(noise.System(), []*big.Int{big.NewInt(v)}, 3)
		if err != nil {
			t.Fatal(err)
		}
		if f == oneShare { // the second of the three depends on the value
			if shares[1], err = ring64.Encode([]*big.Int{new(big.Int).Sub(big.NewInt(v), lift(t, shares[0]))}); err != nil {
				t.Fatal(err)
			}
		}
		for p := range sums {
			if p < 2 {
				out.shares[h][p] = lift(t, shares[p])
			}
			if sums[p] == nil {
				sums[p] = append([]byte(nil), shares[p]...)
			} else if err := ring64.Add(sums[p], shares[p]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for p := range sums {
		if f != oneParty || p == 0 {
			added, err := drawNoise(noise.System(), ring64, scale2)
			if err != nil {
				t.Fatal(err)
			}
			if err := ring64.Add(sums[p], added); err != nil {
				t.Fatal(err)
			}
		}
	}
	out.honest = lift(t, sums[2])
	return out
}

func wrapped(x *big.Int) *big.Int {
	encoded, err := ring64.Encode([]*big.Int{x})
	if err != nil {
		return nil
	}
	v, err := ring64.Lift(encoded)
	if err != nil {
		return nil
	}
	return v[0]
}

// noisy is the total less the adversary's own noise: what it knows best.
func (x transcript) noisy() int64 {
	total := new(big.Int).Set(x.honest)
	for h := range x.shares {
		for p := range x.shares[h] {
			total.Add(total, x.shares[h][p])
		}
	}
	return wrapped(total).Int64()
}

// cell sorts a view into one of 144: by two bits of a share of each holder, and by what the
// adversary makes of holder 1's shares together, and of the total.
func (x transcript) cell() int {
	low := func(v *big.Int, m int64) int { return int(new(big.Int).Mod(v, big.NewInt(m)).Int64()) }
	both := wrapped(new(big.Int).Add(x.shares[0][0], x.shares[0][1]))
	small := 0
	if both.CmpAbs(big.NewInt(1000)) < 0 { // of uniform shares it never is
		small = 1
	}
	total := min(max(x.noisy()-8, -1), 1) + 1
	return ((low(x.shares[0][0], 3)*4+low(x.shares[1][1], 4))*2+small)*6 + int(total)*2 + low(both, 2)
}

// homogeneous is the chi-square statistic of two samples in cells, and its degrees of freedom.
func homogeneous(a, b []int) (statistic float64, freedom int) {
	var na, nb float64
	for i := range a {
		na, nb = na+float64(a[i]), nb+float64(b[i])
	}
	for i := range a {
		n := float64(a[i] + b[i])
		if n == 0 {
			continue
		}
		freedom++
		ea, eb := n*na/(na+nb), n*nb/(na+nb)
		statistic += (float64(a[i])-ea)*(float64(a[i])-ea)/ea + (float64(b[i])-eb)*(float64(b[i])-eb)/eb
	}
	return statistic, freedom - 1
}

// beyond is a bound that a chi-square variable of k degrees exceeds with probability below
// 1e-9 (Laurent and Massart 2000: k + 2√(kx) + 2x, e^-x = 1e-9).
func beyond(k int) float64 {
	x := 9 * math.Ln10
	return float64(k) + 2*math.Sqrt(float64(k)*x) + 2*x
}

// views compares what two colluding parties and the asker see of two inputs.
func views(t *testing.T, a, b [2]int64, f fault) bool {
	const plays = 20_000
	var seen [2][144]int
	for i, values := range [2][2]int64{a, b} {
		for range plays {
			seen[i][play(t, values, f).cell()]++
		}
	}
	statistic, k := homogeneous(seen[0][:], seen[1][:])
	return statistic <= beyond(k)
}

// All that two of three parties and the asker have is of one distribution for inputs of equal
// sums. A test of 20,000 plays each rejects what is so with probability below 1e-9, and rejects
// the planted faults. Inputs of other sums differ, by the one honest party's noise alone.
func TestTwoOfThreePartiesSeeTheSumAlone(t *testing.T) {
	if !views(t, [2]int64{3, 5}, [2]int64{6, 2}, none) {
		t.Error("two inputs of equal sums look different")
	}
	if views(t, [2]int64{3, 5}, [2]int64{6, 2}, oneShare) {
		t.Error("a last share of the value less one share passes: the test has no power")
	}
	if views(t, [2]int64{3, 5}, [2]int64{5, 5}, none) {
		t.Error("inputs whose sums differ by 2 look alike under noise of scale 2: the test has no power")
	}
}

// Beyond its own noise the adversary meets one full draw of the honest party's: exactly its
// law. 20,000 draws against P(k) ∝ e^(−|k|/2), |k| ≤ 12, false-reject probability below 1e-9;
// noise at one party alone is caught.
func TestOneFullNoiseIsLeft(t *testing.T) {
	judge := func(f fault) bool {
		const plays, most = 20_000, 12
		var seen [2*most + 3]int
		for range plays {
			x := play(t, [2]int64{3, 5}, f)
			seen[min(max(x.noisy()-8, -most-1), most+1)+most+1]++
		}
		q := math.Exp(-0.5)
		statistic := 0.0
		for i, n := range seen {
			k := math.Abs(float64(i - most - 1))
			p := (1 - q) / (1 + q) * math.Pow(q, k)
			if k > most {
				p /= 1 - q
			}
			e := plays * p
			statistic += (float64(n) - e) * (float64(n) - e) / e
		}
		return statistic <= beyond(len(seen)-1)
	}
	if !judge(none) {
		t.Error("what is left is not one full noise")
	}
	if judge(oneParty) {
		t.Error("noise at one party alone passes: the test has no power")
	}
}
