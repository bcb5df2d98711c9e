package gaussian

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// draws gives n draws in steps. The vector is 0 and sigma is Steps, so a number is
// its draw and a half, exactly.
func draws(t testing.TB, n int) []int64 {
	t.Helper()
	v := make([]float32, n)
	if err := New(rand.Reader, 0).Add(v, Steps); err != nil {
		t.Fatal(err)
	}
	xs := make([]int64, n)
	for i, x := range v {
		xs[i] = int64(math.Floor(float64(x)))
	}
	return xs
}

// below is the ideal probability of a draw below x steps.
func below(x float64) float64 { return distuv.UnitNormal.CDF(x / Steps) }

// falseReject is the probability with which a statistical test here rejects a
// right sampler.
const falseReject = 1e-9

// chiSquared rejects counts that are not from the probabilities.
func chiSquared(counts []int, probabilities []float64, n int) error {
	total := 0.0
	for i, p := range probabilities {
		d := float64(counts[i]) - p*float64(n)
		total += d * d / (p * float64(n))
	}
	law := distuv.ChiSquared{K: float64(len(counts) - 1)}
	if total > law.Quantile(1-falseReject) {
		return fmt.Errorf("chi-squared is %.1f with %d degrees of freedom", total, len(counts)-1)
	}
	return nil
}

// shape holds the draws against the ideal law in 1000 classes of the same
// probability.
func shape(xs []int64) error {
	const classes = 1000
	counts := make([]int, classes)
	probabilities := make([]float64, classes)
	borders := make([]int64, classes-1) // a class begins at its border
	last := 0.0
	for i := range borders {
		borders[i] = int64(distuv.UnitNormal.Quantile(float64(i+1)/classes) * Steps)
		p := below(float64(borders[i]))
		probabilities[i], last = p-last, p
	}
	probabilities[classes-1] = 1 - last
	for _, x := range xs {
		i, found := slices.BinarySearch(borders, x)
		if found {
			i++
		}
		counts[i]++
	}
	return chiSquared(counts, probabilities, len(xs))
}

// tails holds the numbers of draws beyond some places against the ideal ones, each
// by Chernoff's bound for Poisson's law, which those of rare events obey too.
func tails(xs []int64) error {
	for _, place := range []float64{1, 2, 3, 3.5, 3.6542, 3.7, 4, 4.3, 4.5, 5} {
		for _, side := range []int64{0, -1} {
			seen := 0
			for _, x := range xs {
				if float64(x^side) >= place*Steps {
					seen++
				}
			}
			want := float64(len(xs)) * below(-math.Ceil(place*Steps))
			far := want
			if seen > 0 {
				far = float64(seen)*math.Log(float64(seen)/want) - float64(seen) + want
			}
			if far > math.Log(2/falseReject) {
				return fmt.Errorf("%d draws beyond %v on side %d, want about %.1f", seen, place, side, want)
			}
		}
	}
	return nil
}

// lowBits holds the last byte of the draws against the uniform law: a Gaussian of
// 2^20 steps is uniform modulo 2^8 up to exp(-2 pi^2 2^24).
func lowBits(xs []int64) error {
	counts, probabilities := make([]int, 256), make([]float64, 256)
	for i := range probabilities {
		probabilities[i] = 1. / 256
	}
	for _, x := range xs {
		counts[x&0xff]++
	}
	return chiSquared(counts, probabilities, len(xs))
}

// kolmogorov bounds the greatest distance of the distribution functions, by the
// inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant.
func kolmogorov(xs []int64) error {
	xs = slices.Clone(xs)
	slices.Sort(xs)
	n := float64(len(xs))
	far := 0.0
	for i, x := range xs {
		if i == len(xs)-1 || xs[i+1] != x {
			far = max(far, math.Abs(float64(i+1)/n-below(float64(x+1))))
		}
	}
	if limit := math.Sqrt(math.Log(2/falseReject) / (2 * n)); far > limit {
		return fmt.Errorf("distribution functions differ by %.2g, limit %.2g", far, limit)
	}
	return nil
}

// serial bounds the correlation of draws with those that follow: the mean of n
// products is near 0 within 6.2 of its standard deviations (false reject below
// 1e-9 by the normal law, to which 2^22 products are close enough at 6.2).
func serial(xs []int64) error {
	for _, lag := range []int{1, 2, 8, 512, 1024} {
		total := 0.0
		for i := lag; i < len(xs); i++ {
			total += (float64(xs[i]) + .5) * (float64(xs[i-lag]) + .5) / Steps / Steps
		}
		if n := float64(len(xs) - lag); math.Abs(total) > 6.2*math.Sqrt(n) {
			return fmt.Errorf("correlation %.2g at lag %d", total/n, lag)
		}
	}
	return nil
}

func checks() map[string]func([]int64) error {
	return map[string]func([]int64) error{"shape": shape, "tails": tails, "low bits": lowBits, "kolmogorov": kolmogorov, "serial": serial}
}

// False-reject probability 1e-9 a statistic, at most 3e-8 in all.
func TestDrawsAreGaussian(t *testing.T) {
	xs := draws(t, 1<<22)
	for name, check := range checks() {
		if err := check(xs); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Faults that a sampler like this may have, planted: at this size each is found.
func TestFaultsAreFound(t *testing.T) {
	const n = 1 << 22
	start := ziggurat.layers[1].width
	for name, fault := range map[string]struct {
		by    string
		plant func(i int, x int64) int64
	}{
		"sigma 1 % too small": {"shape", func(_ int, x int64) int64 { return int64(math.Floor((float64(x) + 0.5) * 0.99)) }},
		"shifted by 0.01":     {"kolmogorov", func(_ int, x int64) int64 { return x + Steps/100 }}, // 10 deviations beyond the bound
		"no tail":             {"tails", func(_ int, x int64) int64 { return max(-int64(start), min(x, int64(start)-1)) }},
		"no draw beyond 4.2":  {"tails", func(_ int, x int64) int64 { return max(-21*Steps/5, min(x, 21*Steps/5-1)) }},
		"even":                {"low bits", func(_ int, x int64) int64 { return x &^ 1 }},
		"one in 100 again":    {"serial", nil},
	} {
		xs := draws(t, n)
		for i := range xs {
			switch {
			case fault.plant != nil:
				xs[i] = fault.plant(i, xs[i])
			case i%100 == 1:
				xs[i] = xs[i-1]
			}
		}
		if checks()[fault.by](xs) == nil {
			t.Errorf("%s: %s does not see it", name, fault.by)
		}
	}
}

// The table is what the proof of the law says of it.
func TestLayers(t *testing.T) {
	area := float64(ziggurat.layers[0].width) * ziggurat.bottom[1]
	tail := Steps * math.Sqrt(math.Pi/2) * math.Erfc(float64(ziggurat.layers[1].width)/Steps/math.Sqrt2)
	if base := float64(ziggurat.layers[1].width)*ziggurat.bottom[1] + tail; math.Abs(base/area-1) > 0x1p-45 {
		t.Errorf("layer 0 has area %v, as a rectangle %v", base, area)
	}
	for i, l := range ziggurat.layers {
		low, high := ziggurat.bottom[i], ziggurat.bottom[i+1]
		if got := float64(l.width) * (high - low); i > 0 && math.Abs(got/area-1) > 0x1p-45 {
			t.Errorf("layer %d has area %v, want %v", i, got, area)
		}
		if i > 0 && (height(l.width) > low || height(l.width-1) <= low) {
			t.Errorf("layer %d: %d columns are not those above %v", i, l.width, low)
		}
		if l.inside > l.width || l.inside > 0 && height(l.inside-1) < high || height(l.inside) > high {
			t.Errorf("layer %d: %d columns are not those as high as %v", i, l.inside, high)
		}
		if want := (uint64(1) << 55) % l.width; l.reject>>9 != want || l.reject<<55 != 0 {
			t.Errorf("layer %d: threshold %d, want %d", i, l.reject>>9, want)
		}
	}
	if top := ziggurat.bottom[256]; top < height(0) || top > 1.001 {
		t.Errorf("the layers end at %v", top)
	}
}

// counter is a reader whose every word is different.
type counter struct{ n uint64 }

func (c *counter) Read(p []byte) (int, error) {
	for i := 0; i+8 <= len(p); i += 8 {
		c.n++
		binary.LittleEndian.PutUint64(p[i:], c.n)
	}
	return len(p) &^ 7, nil
}

// Each worker of each call takes two keys of its own from the reader, and its words
// are AES-256 in counter mode under them.
func TestKeysAreFreshAndApart(t *testing.T) {
	const n = 2 * minPart
	c := &counter{}
	s := New(c, 2)
	var parts [][]float32
	for call := range 3 {
		v := make([]float32, n)
		if err := s.Add(v, Steps); err != nil {
			t.Fatal(err)
		}
		if want := uint64((call + 1) * 2 * 2 * keySize / 8); c.n != want {
			t.Fatalf("%d words of key material after call %d, want %d", c.n, call, want)
		}
		parts = append(parts, v[:n/2], v[n/2:])
	}
	for p, part := range parts {
		var key [keySize]byte
		material := &counter{n: uint64(p * 2 * keySize / 8)}
		if _, err := material.Read(key[:]); err != nil {
			t.Fatal(err)
		}
		block, err := aes.NewCipher(key[:])
		if err != nil {
			t.Fatal(err)
		}
		words := make([]byte, 8*len(part))
		cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(words, words)
		settled := 0
		for i, x := range part {
			if want, inside := column(ziggurat, binary.LittleEndian.Uint64(words[i*8:])); inside {
				settled++
				if float64(x) != float64(want)+0.5 {
					t.Fatalf("part %d, number %d is %v, its key gives %v", p, i, x, float64(want)+0.5)
				}
			}
		}
		if settled < len(part)*9/10 {
			t.Fatalf("only %d of %d draws are settled by a word", settled, len(part))
		}
	}
	// A reader that gives the same bits twice is seen in the result, so the check
	// above can fail.
	same := make([]float32, n)
	if err := New(zeros{}, 2).Add(same, 1); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(same[:n/2], same[n/2:]) {
		t.Error("the same key gave different noise")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Without all the randomness it asks for, Add changes nothing and keeps no key.
func TestFailsClosed(t *testing.T) {
	broken := errors.New("device is gone")
	for name, random := range map[string]io.Reader{
		"error at once":   iotest.ErrReader(broken),
		"end of input":    bytes.NewReader(nil),
		"one key":         bytes.NewReader(make([]byte, keySize)),
		"one byte short":  bytes.NewReader(make([]byte, 4*keySize-1)),
		"second worker's": io.MultiReader(io.LimitReader(&counter{}, 2*keySize), iotest.ErrReader(broken)),
	} {
		s := New(random, 2)
		v := make([]float32, 2*minPart)
		if err := s.Add(v, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
		if slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
			t.Errorf("%s: the vector changed", name)
		}
		for _, w := range s.workers {
			if w.words.cipher != nil || w.more.cipher != nil {
				t.Errorf("%s: a key is kept", name)
			}
		}
	}
	for _, sigma := range []float64{0, -1, math.NaN(), math.Inf(1), 0x1p-101, 0x1p101} {
		v := []float32{3}
		if err := New(rand.Reader, 1).Add(v, sigma); err == nil || v[0] != 3 {
			t.Errorf("sigma %v: %v, %v", sigma, v, err)
		}
	}
}

func TestKeysAreErased(t *testing.T) {
	s := New(rand.Reader, 1)
	if err := s.Add(make([]float32, 1000), 1); err != nil {
		t.Fatal(err)
	}
	w := s.workers[0]
	if w.words.cipher != nil || w.more.cipher != nil || w.words.buf != [len(w.words.buf)]byte{} || w.more.buf != [len(w.more.buf)]byte{} {
		t.Error("a key or words are left after the call")
	}
	if got := fmt.Sprintf("%v %+v %#v", s, s, s); got != "gaussian.Source gaussian.Source gaussian.Source" {
		t.Errorf("prints %q", got)
	}
}

// The result is a function of the number rounded to the grid: numbers that round to
// the same multiple give the same result under the same key, bit for bit.
func TestLowBitsOfTheVectorAreGone(t *testing.T) {
	const sigma = 3.7
	step := sigma / Steps
	for _, base := range []float64{0, 17, -123456, 1 << 22} {
		var first float32
		for i, part := range []float64{-0.45, -0.1, 0, 0.3, 0.45} {
			v := []float32{float32((base + part) * step)}
			want := math.RoundToEven(float64(v[0]) / step)
			if err := New(zeros{}, 1).Add(v, sigma); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = v[0]
			}
			if want == base && v[0] != first {
				t.Errorf("%v steps and %v steps give %v and %v", base-0.45, base+part, first, v[0])
			}
		}
	}
	for x, want := range map[float64]float64{math.NaN(): 0, math.Inf(1): limit, math.Inf(-1): -limit, 1e300: limit, -1e300: -limit, 2.5: 2, -0.4: 0, limit: limit, -limit: -limit} {
		if got := whole(x); got != want {
			t.Errorf("whole(%v) = %v, want %v", x, got, want)
		}
	}
}

// The kernel does what the portable loop does, bit for bit.
func TestPlaceKernel(t *testing.T) {
	odd := []float32{0, 1, -1, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -math.MaxFloat32, 1e-45, 0.5, 1.5, -2.5, 3e9, 5e15, -5e15}
	for n := range 40 {
		for _, sigma := range []float64{Steps, 1, 0x1p-100, 0x1p100, 1.1} {
			v, noise, want := make([]float32, n), make([]int32, n), make([]float32, n)
			for i := range v {
				v[i] = odd[(i+n)%len(odd)]
				noise[i] = int32(i*i*1234567 - 1<<25)
				want[i] = float32((whole(float64(v[i])*(Steps/sigma)) + float64(noise[i]) + 0.5) * (sigma / Steps))
			}
			place(v, noise, Steps/sigma, sigma/Steps)
			if !slices.Equal(v, want) {
				t.Fatalf("sigma %v: %v, want %v", sigma, v, want)
			}
		}
	}
}

// Mean and deviation for several sigmas, with one worker and many: within 6.2
// standard deviations of the estimates (false reject below 1e-9 each).
func TestSigma(t *testing.T) {
	const n = 1 << 20
	for _, sigma := range []float64{1e-3, 1, 250} {
		for _, workers := range []int{1, 3} {
			v := make([]float32, n)
			for i := range v {
				v[i] = float32(10 * sigma)
			}
			if err := New(rand.Reader, workers).Add(v, sigma); err != nil {
				t.Fatal(err)
			}
			var mean, square float64
			for _, x := range v {
				z := (float64(x) - float64(float32(10*sigma))) / sigma
				mean += z / n
				square += z * z / n
			}
			if math.Abs(mean) > 6.2/math.Sqrt(n) || math.Abs(square-1) > 6.2*math.Sqrt(2./n) {
				t.Errorf("sigma %v, %d workers: mean %v, variance %v of 0 and 1", sigma, workers, mean, square)
			}
		}
	}
}

func TestShortVectors(t *testing.T) {
	for n := range 5 {
		bare := make([]int, n)
		for range 3 { // a draw is 0 once in 2.6 million times
			v := make([]float32, n)
			if err := New(rand.Reader, 2).Add(v, 1); err != nil {
				t.Fatal(err)
			}
			for i, x := range v {
				if x == 0 {
					bare[i]++
				}
			}
		}
		if slices.Contains(bare, 3) {
			t.Errorf("of %d numbers one has no noise: %v", n, bare)
		}
	}
}

// processorTime is what this process has used: other processes do not count.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAdd reports processor time a draw, the best of all calls.
func BenchmarkAdd(b *testing.B) {
	s := New(rand.Reader, 1)
	v := make([]float32, 200_000)
	b.ReportAllocs()
	best := math.Inf(1)
	for b.Loop() {
		start := processorTime(b)
		if err := s.Add(v, 1.5); err != nil {
			b.Fatal(err)
		}
		best = min(best, float64(processorTime(b)-start)/float64(len(v)))
	}
	b.ReportMetric(best, "ns/draw")
}
