package noise

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/numeric"
)

func TestTranspose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows [8]uint64
		for i := range rows {
			rows[i] = rapid.Uint64().Draw(t, "row")
		}
		var columns [64]uint64
		transpose(&rows, &columns)
		for i := range columns {
			for j := range 64 {
				want := uint64(0)
				if j < 8 {
					want = rows[j] >> i & 1
				}
				if columns[i]>>j&1 != want {
					t.Fatalf("bit %d of column %d", j, i)
				}
			}
		}
	})
}

// scales of both laws, from one step in a thousand to more than machine integers hold.
var lanedScales = []string{"1/1024", "1/100", "1/8", "1/3", "1", "5/2", "7", "10", "16", "31", "32", "33", "10000/123", "200", "12345/7",
	"1048576", "1073741823/2", "1099511627776", "562949953421311", "9007199254740993", "1180591620717411303424",
	"36893488147419103231/3", "1267650600228229401496703205376", "83076749736557242056487941267521535"}

func lanedLaplace(t testing.TB, scale string) *laned {
	r := ratio(scale)
	l, ok := newLaplaceLanes(r.Num(), r.Denom())
	if !ok {
		t.Fatalf("no lanes for Laplace noise of scale %s", scale)
	}
	return l
}

func lanedGaussian(t testing.TB, scale string) *laned {
	l, ok := newGaussianLanes(new(big.Rat).Mul(ratio(scale), ratio(scale)))
	if !ok {
		t.Fatalf("no lanes for Gaussian noise of sigma %s", scale)
	}
	return l
}

// holds tells whether x·2^64 is from d to d+1.
func holds(d uint64, x numeric.Interval) bool {
	low := numeric.Of(new(big.Rat).SetFrac(new(big.Int).SetUint64(d), new(big.Int).Lsh(one, 64)))
	step := numeric.Of(new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, 64)))
	return low.Lo().Cmp(x.Hi()) <= 0 && x.Lo().Cmp(low.Add(step).Hi()) <= 0
}

// The law of h, exactly: its tables hold the probabilities of the theorem, at every scale. The
// digits of a geometric variable: their product is its law, up to 2^-180.
func TestTablesOfLanes(t *testing.T) {
	for _, scale := range lanedScales {
		l := lanedLaplace(t, scale)
		g := l.high.(*geometricDigits)
		x := new(big.Rat).SetInt(new(big.Int).Lsh(one, l.k))
		x.Quo(x, ratio(scale)) // 2^k/t
		if f, _ := x.Float64(); l.k > 0 && (f > 1.0/16 || f < 1.0/32) {
			t.Errorf("scale %s: u has %d digits", scale, l.k)
		} else if math.Abs(l.alpha-f) > 1e-15*f {
			t.Errorf("scale %s: alpha is %v, want %v", scale, l.alpha, f)
		}
		q := numeric.Of(x).Neg().Exp()
		power := q // q^(2^i)
		product := numeric.OfInt(1)
		for i, c := range g.digits {
			p := power.Quo(power.Add(numeric.OfInt(1)))
			if !holds(c.digits, p) {
				t.Errorf("scale %s: digit %d has %x, want %v", scale, i, c.digits, p)
			}
			lo, hi := c.exact(180)
			if err := inside(lo, hi, 180, p); err != nil {
				t.Errorf("scale %s, digit %d: %v", scale, i, err)
			}
			product = product.Mul(numeric.OfInt(1).Sub(p)) // P(h = 0 below the rest)
			power = power.Mul(power)
		}
		if !holds(g.more.digits, power) {
			t.Errorf("scale %s: the rest has %x, want %v", scale, g.more.digits, power)
		}
		// ∏ 1/(1+q^(2^i)) = (1−q)/(1−q^(2^I)).
		want := numeric.OfInt(1).Sub(q).Quo(numeric.OfInt(1).Sub(power))
		if d := product.Sub(want); d.Lo().Cmp(big.NewRat(1, 1<<62)) > 0 || d.Hi().Cmp(big.NewRat(-1, 1<<62)) < 0 {
			t.Errorf("scale %s: P(0) is %v, want %v", scale, product, want)
		}
	}
	for i, scale := range lanedScales {
		if i%2 == 1 {
			continue
		}
		l := lanedGaussian(t, scale)
		s := ratio(scale)
		s.Quo(s, new(big.Rat).SetInt(new(big.Int).Lsh(one, l.k)))
		if f, _ := s.Float64(); l.k > 0 && (f < 8 || f > 16) {
			t.Errorf("sigma %s: u has %d digits", scale, l.k)
		} else if math.Abs(l.beta*2*f*f-1) > 1e-14 {
			t.Errorf("sigma %s: beta is %v", scale, l.beta)
		}
		square := new(big.Rat).Mul(s, s)
		weight := func(h int64) numeric.Interval {
			x := big.NewRat(h*h, 2)
			return numeric.Of(x.Quo(x, square)).Neg().Exp()
		}
		total := numeric.OfInt(0)
		for h := int64(299); h >= 0; h-- { // beyond lies less than e^(−18²/2)... of the largest s: e^(−160)
			total = total.Add(weight(h))
		}
		sum := numeric.OfInt(0)
		g := l.high.(*halfGaussian)
		lo, hi := g.below(150)
		for h := range int64(len(g.digits)) {
			sum = sum.Add(weight(h))
			f := sum.Quo(total)
			if !holds(g.digits[h], f) {
				t.Fatalf("sigma %s: F(%d) has %x, want %v", scale, h, g.digits[h], f)
			}
			if int(h) < len(lo) {
				if err := inside(lo[h], hi[h], 150, f); err != nil {
					t.Fatalf("sigma %s: F(%d): %v", scale, h, err)
				}
			}
		}
	}
}

// fitLanes draws n values by lanes and holds them against the law.
func fitLanes(t *testing.T, l *laned, b Bits, n int, law law) error {
	t.Helper()
	h := cells(law)
	k := make([]int64, 0, 64)
	err := l.each(b, n, func(z *lanes, _, m int) error {
		if err := l.int64s(z, k[:m]); err != nil {
			return err
		}
		for _, x := range k[:m] {
			h.add(x)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fit(h.counts, h.probability)
}

// The laws of the exact samplers one by one ([TestFit]): each test rejects with probability at
// most falseReject.
func TestLanesFit(t *testing.T) {
	for _, scale := range []string{"1/3", "10", "40", "10000/123", "1000"} {
		if err := fitLanes(t, lanedLaplace(t, scale), entropy.New(), draws(t, 1e6), laplaceLaw(scale)); err != nil {
			t.Errorf("laplace %s: %v", scale, err)
		}
		f, _ := new(big.Rat).Mul(ratio(scale), ratio(scale)).Float64()
		if err := fitLanes(t, lanedGaussian(t, scale), entropy.New(), draws(t, 1e6), gaussianLaw(new(big.Rat).SetFloat64(f).RatString())); err != nil {
			t.Errorf("gaussian %s: %v", scale, err)
		}
	}
}

// laneValues makes a distribution of lanes, to be held against laws by [fitHuge].
type laneValues struct {
	l     *laned
	queue []*big.Int
}

func (d *laneValues) draw(s *Stream, z *big.Int) error {
	if len(d.queue) == 0 {
		d.queue = make([]*big.Int, 4096)
		for i := range d.queue {
			d.queue[i] = new(big.Int)
		}
		var scratch [2]big.Word
		if err := d.l.each(s, len(d.queue), func(z *lanes, at, n int) error {
			d.l.add(z, d.queue[at:at+n], &scratch)
			return nil
		}); err != nil {
			return err
		}
	}
	z.Set(d.queue[0])
	d.queue = d.queue[1:]
	return nil
}

func TestLanesFitHugeScales(t *testing.T) {
	for _, scale := range []float64{0x1p63, 0x1.8p64, 0x1p70, 0x1.23p100, 0x1p112} {
		r := new(big.Rat).SetFloat64(scale)
		if err := fitHuge(t, &laneValues{l: lanedLaplace(t, r.RatString())}, r, draws(t, 2e5), laplaceAbove); err != nil {
			t.Errorf("laplace %x: %v", scale, err)
		}
		if err := fitHuge(t, &laneValues{l: lanedGaussian(t, r.RatString())}, r, draws(t, 2e5), normalAbove); err != nil {
			t.Errorf("gaussian %x: %v", scale, err)
		}
	}
}

// The tests above see faults of one part in fifty.
func TestLanesFitRejectsFaults(t *testing.T) {
	for name, err := range map[string]error{
		"laplace scale 1.02 times too large": fitLanes(t, lanedLaplace(t, "51/5"), entropy.New(), 1e6, laplaceLaw("10")),
		"laplace scale 1.02 times too small": fitLanes(t, lanedLaplace(t, "980"), entropy.New(), 3e6, laplaceLaw("1000")), // 1e6 did not see it once
		"gaussian sigma 1.02 times":          fitLanes(t, lanedGaussian(t, "51/5"), entropy.New(), 1e6, gaussianLaw("100")),
		"biased bits":                        fitLanes(t, lanedLaplace(t, "10"), biased{entropy.New()}, 5e5, laplaceLaw("10")),
		"never rejects": func() error {
			l := lanedLaplace(t, "32")
			l.alpha, l.exponent = 0, func(uint64, *big.Int) (*big.Int, *big.Int) { return new(big.Int), one }
			return fitLanes(t, l, entropy.New(), 4e6, laplaceLaw("32"))
		}(),
	} {
		if err == nil {
			t.Errorf("%s: passes", name)
		}
	}
}
