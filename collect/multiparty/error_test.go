package multiparty

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// incomes are the first n of Adult's people, each 1 if its income is above 50K; made ones without the data.
func incomes(t testing.TB, n int) []int {
	t.Helper()
	out := make([]int, n)
	for i := range out {
		out[i] = (i*i + i/3) % 4 / 3
	}
	f, err := os.Open(filepath.Join(os.Getenv("DISCREET_DATA"), "adult-train.csv"))
	if err != nil {
		return out
	}
	defer f.Close()
	rows := csv.NewReader(f)
	head, err := rows.Read()
	for i := 0; i < n && err == nil; i++ {
		var row []string
		if row, err = rows.Read(); err == nil {
			if out[i] = 0; row[len(head)-1] == ">50K" {
				out[i] = 1
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// off is the root mean square by which answers are off the truth, over so many trials.
func off(t testing.TB, trials int, truth float64, answer func() float64) float64 {
	t.Helper()
	square := 0.0
	for range trials {
		d := answer() - truth
		square += d * d / float64(trials)
	}
	return math.Sqrt(square)
}

// errorsOf says by how much a count at epsilon 1 is off: a curator's, that of so many parties by what holders and
// parties run (of whom all but honest may collude), and that of respondents who randomize.
type errorsOf struct {
	people []int
	law    mechanism.Additive
	asked  *local.Frequency
}

func newErrors(t testing.TB, people []int) errorsOf {
	t.Helper()
	one, err := privacy.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	law, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(1, 1), Epsilon: one})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := local.NewFrequency(local.FrequencyOptions{Protocol: local.GRR, Values: 2, Epsilon: one})
	if err != nil {
		t.Fatal(err)
	}
	return errorsOf{people, law, asked}
}

func (e errorsOf) truth() (n int64) {
	for _, x := range e.people {
		n += int64(x)
	}
	return n
}

func (e errorsOf) curator(t testing.TB) float64 {
	v := []*big.Int{big.NewInt(e.truth())}
	if err := e.law.AddTo(noise.System(), v); err != nil {
		t.Fatal(err)
	}
	return float64(v[0].Int64())
}

func (e errorsOf) parties(t testing.TB, m, honest int) float64 {
	demanded := discreet.PartyNoise{Distribution: "discrete_laplace", Parameter: "1", Values: 1}
	if honest > 1 {
		demanded.Shares = honest
	}
	return e.among(t, m, demanded)
}

// gaussian is the answer of m parties with the Gaussian noise of a rho of 0.01.
func (e errorsOf) gaussian(t testing.TB, m, honest int, by mechanism.Sharing) float64 {
	law, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: big.NewRat(1, 1), Variance: big.NewRat(50, 1)})
	if err != nil {
		t.Fatal(err)
	}
	own, err := mechanism.PortionOf(law, 1, honest, by)
	if err != nil {
		t.Fatal(err)
	}
	demanded := discreet.PartyNoise{Distribution: "discrete_gaussian", Values: 1}
	if own.Skellam != nil {
		demanded.Distribution, demanded.Parameter = "skellam", own.Skellam.RatString()
	} else {
		demanded.Parameter = own.Gaussian.RatString()
	}
	return e.among(t, m, demanded)
}

// among is the answer of m parties that draw this noise.
func (e errorsOf) among(t testing.TB, m int, law discreet.PartyNoise) float64 {
	shares, err := ring64.Split(noise.System(), []*big.Int{big.NewInt(e.truth())}, m)
	if err != nil {
		t.Fatal(err)
	}
	demanded := []discreet.PartyNoise{law}
	total := make([]byte, len(shares[0]))
	for _, s := range shares {
		added, err := drawNoise(noise.System(), ring64, demanded)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range [][]byte{s, added} {
			if err := ring64.Add(total, part); err != nil {
				t.Fatal(err)
			}
		}
	}
	return float64(lift(t, total).Int64())
}

func (e errorsOf) local(t testing.TB) float64 {
	stream, tally := noise.NewStream(noise.System()), e.asked.NewTally()
	for _, x := range e.people {
		r, err := e.asked.Randomize(stream, x)
		if err == nil {
			err = tally.Add(r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	said, err := tally.Estimate(local.EstimateOptions{Beta: big.NewRat(1, 20)})
	if err != nil {
		t.Fatal(err)
	}
	return said.Raw[1] * float64(len(e.people))
}

// The error of a curator's count and of parties' does not grow with the people; that of m parties with whole
// noise grows with √m, with shares of it not; that of the local model grows with √n. A root mean square of
// 3,000 Laplace draws is off by 22 % with probability below 1e-9 (its standard deviation is 2.0 %, and one draw
// that alone does it has probability 3,000·exp(−√(2·0.4·3,000))); one of 160 local answers, which are nearly normal, is
// off by 45 % with probability below 1e-14. A factor of √2 or 2, as with a law of another power, is beyond both.
func TestErrorsGrowByTheirLaws(t *testing.T) {
	const trials = 3000
	small, large := newErrors(t, incomes(t, 250)), newErrors(t, incomes(t, 2250))
	one := math.Sqrt(small.law.Variance())
	near := func(what string, got, want, within float64) {
		t.Helper()
		t.Logf("%-40s off by %8.2f, the law says %8.2f", what, got, want)
		if got < want*(1-within) || got > want*(1+within) {
			t.Errorf("%s: off by %v, the law says %v", what, got, want)
		}
	}
	for n, e := range map[int]errorsOf{250: small, 2250: large} {
		truth := float64(e.truth())
		near(fmt.Sprintf("%d people, a curator", n), off(t, trials, truth, func() float64 { return e.curator(t) }), one, 0.22)
		for _, m := range []int{2, 8} {
			near(fmt.Sprintf("%d people, %d parties, whole noise", n, m), off(t, trials, truth, func() float64 { return e.parties(t, m, 1) }), one*math.Sqrt(float64(m)), 0.22)
		}
		p, q := math.E/(math.E+1), 1/(math.E+1)
		near(fmt.Sprintf("%d people, each for itself", n), off(t, 160, truth, func() float64 { return e.local(t) }), math.Sqrt(float64(n)*p*q)/(p-q), 0.45)
	}
	near("2250 people, 8 parties, Skellam shares of 7", off(t, trials, float64(large.truth()), func() float64 { return large.gaussian(t, 8, 7, mechanism.BySkellam) }), math.Sqrt(53*8.0/7), 0.22)
	near("2250 people, 8 parties, shares of 7", off(t, trials, float64(large.truth()), func() float64 { return large.parties(t, 8, 7) }), one*math.Sqrt(8.0/7), 0.22)
}

// BenchmarkErrors measures the table of docs/collect/multiparty.md.
func BenchmarkErrors(b *testing.B) {
	for _, n := range []int{1000, 4000, 16000} {
		e := newErrors(b, incomes(b, n))
		measure := func(name string, trials int, answer func() float64) {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				for range b.N {
					b.ReportMetric(off(b, trials, float64(e.truth()), answer), "off")
				}
			})
		}
		measure("curator", 1000, func() float64 { return e.curator(b) })
		for _, c := range [][2]int{{2, 1}, {5, 1}, {10, 1}, {10, 5}} {
			measure(fmt.Sprintf("parties=%d,colluding=%d", c[0], c[0]-c[1]), 1000, func() float64 { return e.parties(b, c[0], c[1]) })
		}
		for name, by := range map[string]mechanism.Sharing{"gaussian": mechanism.ByGaussian, "skellam": mechanism.BySkellam} {
			for _, colluding := range []int{9, 5, 8} {
				measure(fmt.Sprintf("rho=0.01,parties=10,colluding=%d,%s", colluding, name), 1000, func() float64 { return e.gaussian(b, 10, 10-colluding, by) })
			}
		}
		measure("local", 100, func() float64 { return e.local(b) })
	}
}
