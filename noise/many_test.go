package noise

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// All scales that have lanes, and the borders beyond, give all that is asked for; parts on
// several cores share no draw.
func TestManyDrawsAtEveryScale(t *testing.T) {
	for e := -20; e <= 130; e += 5 {
		scale := new(big.Rat).SetFloat64(math.Ldexp(1.3, e))
		l, err := NewDiscreteLaplace(scale)
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewDiscreteGaussian(new(big.Rat).Mul(scale, scale))
		if err != nil {
			t.Fatal(err)
		}
		for name, d := range map[string]interface {
			AddTo(Bits, []*big.Int) error
			Int64s(Bits, []int64) error
		}{"laplace": l, "gaussian": g} {
			n := 4500
			if e == 80 || e == 0 {
				n = 2*minPart + 77
			}
			values := make([]*big.Int, n)
			for i := range values {
				values[i] = new(big.Int)
			}
			if err := d.AddTo(entropy.New(), values); err != nil {
				t.Fatalf("%s 2^%d: %v", name, e, err)
			}
			seen := map[string]bool{}
			mean := 0.0
			for _, x := range values {
				seen[x.String()] = true
				f, _ := new(big.Float).SetInt(x).Float64()
				mean += math.Abs(f) / float64(n)
			}
			if e >= 80 && len(seen) != n { // odds below 2^-50
				t.Errorf("%s 2^%d: %d of %d draws differ", name, e, len(seen), n)
			}
			// The mean size: scale, or 0.8 of it, within a tenth (6 standard deviations).
			want := math.Ldexp(1.3, e)
			if name == "gaussian" {
				want *= math.Sqrt(2 / math.Pi)
			}
			if e >= 10 && math.Abs(mean/want-1) > 0.1 {
				t.Errorf("%s 2^%d: mean size %v, want %v", name, e, mean, want)
			}
			k := make([]int64, n)
			err := d.Int64s(Shared(entropy.New()), k)
			if e <= 50 && err != nil || e >= 65 && !errors.Is(err, ErrRange) {
				t.Errorf("%s 2^%d: %v", name, e, err)
			}
		}
	}
}

func mustLaplace(scale string) *DiscreteLaplace {
	d, err := NewDiscreteLaplace(ratio(scale))
	if err != nil {
		panic(err)
	}
	return d
}

func mustGaussian(variance string) *DiscreteGaussian {
	d, err := NewDiscreteGaussian(ratio(variance))
	if err != nil {
		panic(err)
	}
	return d
}

// Draws by a stream follow the law before and after it makes many at once, and laws that take turns
// do not get each other's.
func TestStreamOfManyDraws(t *testing.T) {
	s := NewStream(entropy.New())
	laws := map[string]*DiscreteLaplace{"10": mustLaplace("10"), "40": mustLaplace("40"), "1/3": mustLaplace("1/3"), "1000": mustLaplace("1000"), "5": mustLaplace("5")}
	all := map[string]*histogram{}
	for scale := range laws {
		all[scale] = cells(laplaceLaw(scale))
	}
	for range draws(t, 2e5) {
		for scale, d := range laws {
			k, err := d.Int64(s)
			if err != nil {
				t.Fatal(err)
			}
			all[scale].add(k)
		}
	}
	for scale, h := range all {
		if err := fit(h.counts, h.probability); err != nil {
			t.Errorf("scale %s: %v", scale, err)
		}
	}
	for _, p := range s.pools {
		if p.pool == nil {
			t.Fatalf("no pool after %d draws", p.asked)
		}
		if used := p.pool.all[:p.pool.next]; slices.ContainsFunc(used, func(k int64) bool { return k != 0 }) {
			t.Error("a draw that was handed out is still there")
		}
		if used := p.pool.reel.buffer[:p.pool.reel.next]; slices.ContainsFunc(used, func(w uint64) bool { return w != 0 }) {
			t.Error("words of draws that were made are still there")
		}
	}
	// Bits that end.
	left := 3
	failing := NewStream(ending{entropy.New(), &left})
	for range 100_000 {
		k, err := laws["40"].Int64(failing)
		if err != nil {
			if k != 0 || !errors.Is(err, errExhausted) {
				t.Errorf("%d, %v", k, err)
			}
			return
		}
	}
	t.Error("bits that ended gave draws")
}

// ending gives many words so often.
type ending struct {
	*entropy.Source
	left *int
}

func (e ending) Words(p []uint64) error {
	if *e.left--; *e.left < 0 {
		return errExhausted
	}
	return e.Source.Words(p)
}

// Many draws are none where the bits end, wherever that is.
func TestFailingBitsGiveNoLanes(t *testing.T) {
	for name, many := range map[string]func(Bits, []int64) error{
		"laplace": mustLaplace("1000").Int64s, "small": mustLaplace("1/2").Int64s, "gaussian": mustGaussian("1000000").Int64s, "huge": mustLaplace("1267650600228229401496703205376").Int64s,
	} {
		k := make([]int64, 5000)
		for _, n := range []int{0, 1, 5, 63, 64, 65, 100, 500, 2000} {
			words := make([]uint64, n)
			if err := entropy.New().Words(words); err != nil {
				t.Fatal(err)
			}
			for i := range k {
				k[i] = 7
			}
			err := many(&script{words}, k)
			if !errors.Is(err, errExhausted) && !errors.Is(err, ErrRange) || slices.ContainsFunc(k, func(x int64) bool { return x != 0 }) {
				t.Errorf("%s after %d words: %v, or draws are left", name, n, err)
			}
		}
	}
	for _, d := range []interface {
		AddTo(Bits, []*big.Int) error
	}{mustLaplace("1000"), mustGaussian("1000000")} {
		values := make([]*big.Int, 5000)
		for i := range values {
			values[i] = new(big.Int)
		}
		words := make([]uint64, 2000)
		if err := d.AddTo(&script{words}, values); !errors.Is(err, errExhausted) || slices.ContainsFunc(values, func(x *big.Int) bool { return x != nil }) {
			t.Errorf("%T: %v, or values are left", d, err)
		}
	}
}

// What was not used is wiped with what was.
func TestReelIsWiped(t *testing.T) {
	l := lanedLaplace(t, "1000")
	var kept *reel
	r := &reel{source: entropy.New(), left: 500}
	z := &lanes{}
	if err := l.draw(r, z); err != nil {
		t.Fatal(err)
	}
	kept = r
	r.wipe()
	if kept.buffer != [reelSize]uint64{} || bits.OnesCount64(z.kept) == 0 {
		t.Error("words are left")
	}
}
