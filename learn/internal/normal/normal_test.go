package normal

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/noise"
)

// tail is P(N > x).
func tail(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }

// histogram counts draws in cells of 2^-3 standard deviations, from -5 to 5.
func histogram(draws int, floor func() int64) []int {
	cells := make([]int, 82)
	for range draws {
		cell := int(floor()>>(bits-3)) + 41
		cells[min(max(cell, 0), 81)]++
	}
	return cells
}

// statistic is Pearson's, against the normal law.
func statistic(cells []int, draws int) float64 {
	x := 0.0
	for i, n := range cells {
		low, high := tail(float64(i-41)/8), tail(float64(i-40)/8)
		if i == 0 {
			low = 1
		}
		if i == len(cells)-1 {
			high = 0
		}
		want := (low - high) * float64(draws)
		x += (float64(n) - want) * (float64(n) - want) / want
	}
	return x
}

// The law is the normal one. False rejects: the statistic of 81 degrees of freedom is
// above 81+2√(81·21)+2·21 < 206 with probability at most e^-21 < 1e-9 (Laurent and
// Massart 2000, Lemma 1), for cells filled as here but for the outermost, which hold
// half an example; 400 leaves room for these. Power: a law whose standard deviation is
// 3 % wrong is rejected.
func TestNormalLaw(t *testing.T) {
	const draws = 300_000
	s := &source{bits: noise.System()}
	if x := statistic(histogram(draws, s.floor), draws); x > 400 || s.err != nil {
		t.Errorf("the statistic is %v, %v", x, s.err)
	}
	wrong := func() int64 { return int64(math.Floor(1.03 * float64(s.floor()))) }
	if x := statistic(histogram(draws, wrong), draws); x < 400 {
		t.Errorf("a wrong deviation passes with %v", x)
	}
	// An acceptance of k without the factor exp(-k(k-1)/2).
	unequal := func() int64 {
		for {
			if n := s.floor(); n < 2*Steps || s.half() {
				return n
			}
		}
	}
	if x := statistic(histogram(draws, unequal), draws); x < 400 {
		t.Errorf("a thin tail passes with %v", x)
	}
}

// What lies below the cells is uniform: the low bits are as fair as the digits that
// they are. 20 bits, 1e6 draws: each fraction of ones is within 0.5 ± 0.0035, but for
// a probability of 20·2exp(-2·1e6·0.0035²) < 1e-9.
func TestLowBits(t *testing.T) {
	const draws = 1_000_000
	s := &source{bits: noise.System()}
	var ones [12]int
	for range draws {
		n := s.floor()
		for b := range ones {
			ones[b] += int(n >> b & 1)
		}
	}
	for b, n := range ones {
		if f := float64(n) / draws; math.Abs(f-0.5) > 0.0035 {
			t.Errorf("bit %d is one in %v", b, f)
		}
	}
}

// words are bits that end.
type words struct{ left []uint64 }

var errEnd = errors.New("no more bits")

func (w *words) Uint64() (uint64, error) {
	if len(w.left) == 0 {
		return 0, errEnd
	}
	x := w.left[0]
	w.left = w.left[1:]
	return x, nil
}

// Ties are decided by the next digits, which stay a deviate's own; one that the bits do
// not reach is an error.
func TestTies(t *testing.T) {
	s := &source{bits: &words{[]uint64{0x5_0003_0003_0007, 9}}} // digits 7, 3, 3, 5 and 9, 0, 0, 0
	u, v := uniform{digits: [2]uint16{7}, known: 1}, uniform{}
	if !s.less(&u, &v) || s.less(&v, &u) || s.err != nil || v.known != 3 || u.known != 3 {
		t.Errorf("0.7 3 5 against 0.7 3 9: %+v, %+v, %v", u, v, s.err)
	}
	s.bits, s.left = &words{}, 0
	w := uniform{digits: [2]uint16{7, 3}, known: 2}
	x := w
	if s.less(&w, &x) || !errors.Is(s.err, errEnd) {
		t.Error("a tie that the bits do not reach is decided")
	}
}

// Without bits there is no noise, and the vector stays.
func TestFailsClosed(t *testing.T) {
	v := []float32{1, 2, 3}
	s := New(func() noise.Bits { return &words{[]uint64{1 << 63, 0, 1}} }, 2)
	if err := s.Add(v, 1); !errors.Is(err, errEnd) {
		t.Error(err)
	}
	if v[0] != 1 || v[1] != 2 || v[2] != 3 {
		t.Errorf("the vector is %v", v)
	}
	for _, sigma := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if err := New(noise.System, 1).Add(v, sigma); err == nil {
			t.Errorf("sigma %v is taken", sigma)
		}
	}
}

// Every number is on the grid, half a step off, near enough to show that noise was added
// to each; NaN and infinities are numbers like others.
func TestAdd(t *testing.T) {
	v := []float32{0, 1, -1, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}
	if err := New(noise.System, 0).Add(v, 1); err != nil {
		t.Fatal(err)
	}
	for i, x := range v[:4] {
		// 32 standard deviations are never left; float32 keeps a step and a half below 8.
		steps := float64(x) * Steps
		if math.Abs(steps) > 33*Steps || math.Abs(steps) < 4*Steps && steps-math.Floor(steps) != 0.5 {
			t.Errorf("number %d is %v steps", i, steps)
		}
	}
	if v[4] < 1<<31 || v[5] > -1<<31 {
		t.Errorf("infinities became %v, %v", v[4], v[5])
	}
}

func BenchmarkAdd(b *testing.B) {
	v := make([]float32, 100_000)
	s := New(noise.System, 1)
	for b.Loop() {
		if err := s.Add(v, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(v)), "ns/number")
}
