package exact

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func genRational(t *rapid.T, name string) rational {
	n := rapid.OneOf(rapid.Int64Range(-50, 50), rapid.Int64()).Draw(t, name)
	d := rapid.OneOf(rapid.Int64Range(1, 50), rapid.Int64Range(1, 1<<62)).Draw(t, name+" below")
	return rationalOf(big.NewRat(n, d))
}

// A rational computes as a big.Rat does, whether it fits or not.
func TestRationalIsBigRat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := genRational(t, "x"), genRational(t, "y")
		same := func(name string, got rational, want *big.Rat) {
			if got.rat().Cmp(want) != 0 {
				t.Fatalf("%s: %v, want %v", name, got.rat(), want)
			}
		}
		a, b := x.rat(), y.rat()
		same("plus", x.plus(y), new(big.Rat).Add(a, b))
		same("minus", x.minus(y), new(big.Rat).Sub(a, b))
		same("times", x.times(y), new(big.Rat).Mul(a, b))
		same("abs", x.abs(), new(big.Rat).Abs(a))
		if y.sign() != 0 {
			same("inverse", y.inverse(), new(big.Rat).Inv(b))
		}
		if x.cmp(y) != a.Cmp(b) || x.sign() != a.Sign() || x.isInt() != a.IsInt() {
			t.Fatalf("cmp, sign or isInt of %v and %v", a, b)
		}
	})
}

// Narrow intervals hold the results of what they hold.
func TestNarrowHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-1e30, 1e30).Draw(t, "x")
		y := rapid.OneOf(rapid.Float64Range(-1e30, 1e30), rapid.Float64Range(-1e-300, 1e-300)).Draw(t, "y")
		a, b := new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y)
		holds := func(name string, got narrow, want *big.Rat) {
			if new(big.Rat).SetFloat64(got.lo).Cmp(want) > 0 || new(big.Rat).SetFloat64(got.hi).Cmp(want) < 0 {
				t.Fatalf("%s: %v does not hold %v", name, got, want)
			}
		}
		p, q := narrow{x, x}, narrow{y, y}
		holds("sum", p.Add(q), new(big.Rat).Add(a, b))
		holds("difference", p.Sub(q), new(big.Rat).Sub(a, b))
		holds("product", p.Mul(q), new(big.Rat).Mul(a, b))
		wide := narrow{min(x, y), max(x, y)}
		holds("square", wide.Mul(wide), new(big.Rat).Mul(a, b))
	})
}

// Both precisions, which share no arithmetic, agree on random regions, and the
// wide interval is the narrower one.
func TestPrecisionsAgree(t *testing.T) {
	f, _ := numSVT.build()
	code, err := compile(f)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "n")
		in := ins("T", rapid.SampledFrom([]string{"0", "1/3", "-2"}).Draw(t, "T"), "N", "1", "eps", rapid.SampledFrom([]string{"1", "1/2", "3"}).Draw(t, "eps"), "q", "[]")
		v := in["q"]
		var e Event
		for i := range n {
			v.Elements = append(v.Elements, big.NewRat(int64(rapid.IntRange(-20, 20).Draw(t, "q")), int64(rapid.IntRange(1, 3).Draw(t, "below"))))
			if i < n-1 {
				e.Outputs = append(e.Outputs, []Range{Is(new(big.Rat)), {}})
			} else {
				e.Outputs = append(e.Outputs, []Range{Is(rat("1")), {Low: rat("-1"), High: big.NewRat(int64(rapid.IntRange(0, 9).Draw(t, "high")), 4)}})
			}
		}
		in["q"] = v
		values, err := code.values(in)
		if err != nil {
			t.Fatal(err)
		}
		var both [2]narrow
		for p := low; p <= high; p++ {
			m := newMeasurer(code)
			x := &explorer{code: code, event: &e, steps: 1 << 20, found: func(s *state) error {
				q, err := m.region(t.Context(), &s.region, p)
				both[p] = both[p].Add(q)
				return err
			}}
			if err := x.explore(t.Context(), values); err != nil {
				t.Fatal(err)
			}
		}
		if both[high].hi < both[low].lo || both[high].lo > both[low].hi || both[high].hi-both[high].lo > both[low].hi-both[low].lo {
			t.Fatalf("%v and %v", both[low], both[high])
		}
	})
}
