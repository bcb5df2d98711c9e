package exact

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
	"pgregory.net/rapid"
)

// crossed is the probability that a <= x+y <= b and c <= x-y <= d, of two draws.
func crossed(t *rapid.T, law program.Law, scales [2]rational, ends [4]limit) narrow {
	s := &system{laws: []program.Law{law, law}, scales: scales[:], spacing: []rational{integer(1), integer(1)}, sums: []sum{
		{plus: 3, lo: ends[0], hi: ends[1]},
		{plus: 1, minus: 2, lo: ends[2], hi: ends[3]},
	}}
	p, err := newMeasurer(&code{}).system(s, low, false)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func someEnds(t *rapid.T) (ends [4]limit) {
	for i := range ends {
		ends[i] = limit{integer(int64(rapid.IntRange(-6, 6).Draw(t, "end"))), rapid.Bool().Draw(t, "finite")}
	}
	return ends
}

// Of whole noise it is the sum over all pairs of samples.
func TestCrossedSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ends := someEnds(t)
		scales := [2]rational{integer(int64(rapid.IntRange(1, 3).Draw(t, "scale"))), integer(2)}
		p := crossed(t, program.DiscreteLaplace, scales, ends)
		in := func(k int64, lo, hi limit) bool {
			return (!lo.set || integer(k).cmp(lo.rational) >= 0) && (!hi.set || integer(k).cmp(hi.rational) <= 0)
		}
		const far = 70
		mass := func(b rational) (all [2*far + 1]float64) {
			r := math.Exp(-1 / float64(b.n))
			for i := range all {
				all[i] = (1 - r) / (1 + r) * math.Pow(r, math.Abs(float64(i-far)))
			}
			return all
		}
		p1, p2 := mass(scales[0]), mass(scales[1])
		sum := 0.0
		for i, p := range p1 {
			for j, q := range p2 {
				if x, y := int64(i-far), int64(j-far); in(x+y, ends[0], ends[1]) && in(x-y, ends[2], ends[3]) {
					sum += p * q
				}
			}
		}
		if sum < p.lo-1e-9 || sum > p.hi+1e-9 {
			t.Fatalf("%v, not %v", p, sum)
		}
	})
}

// Of real noise it is near what whole noise on a grid gives, the parts into which two
// lines cut the plane add up to one, and a box is what four of them leave.
func TestCrossedReals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ends := someEnds(t)
		b := rapid.IntRange(1, 3).Draw(t, "scale")
		p := crossed(t, program.Laplace, [2]rational{integer(int64(b)), integer(2)}, ends)
		const fine = 6
		finer := ends
		for i := range finer {
			finer[i].rational = finer[i].times(integer(fine))
		}
		q := crossed(t, program.DiscreteLaplace, [2]rational{integer(int64(b) * fine), integer(2 * fine)}, finer)
		if p.hi-p.lo > 1e-9 || math.Abs(p.lo-q.lo) > 0.3 {
			t.Fatalf("%v, and on the grid %v", p, q)
		}
		at, other := ends[0], ends[2]
		at.set, other.set = true, true
		none := limit{}
		sum := narrow{}
		for _, e := range [][4]limit{{at, none, other, none}, {none, at, other, none}, {at, none, none, other}, {none, at, none, other}} {
			sum = sum.Add(crossed(t, program.Laplace, [2]rational{integer(int64(b)), integer(2)}, e))
		}
		if sum.lo > 1 || sum.hi < 1 || sum.hi-sum.lo > 1e-9 {
			t.Fatalf("the parts add up to %v", sum)
		}
		above := func(x, y rational) float64 {
			return crossed(t, program.Laplace, [2]rational{integer(int64(b)), integer(2)}, [4]limit{{x, true}, none, {y, true}, none}).lo
		}
		box := ends
		for i := range box {
			box[i].set = true
		}
		p = crossed(t, program.Laplace, [2]rational{integer(int64(b)), integer(2)}, box)
		s, u, v, w := ends[0].rational, ends[1].rational, ends[2].rational, ends[3].rational
		if want := above(s, v) - above(u, v) - above(s, w) + above(u, w); s.cmp(u) < 0 && v.cmp(w) < 0 && math.Abs(p.lo-want) > 1e-9 {
			t.Fatalf("%v, and its corners give %v", p, want)
		}
	})
}
