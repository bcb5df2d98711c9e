package local

import (
	"iter"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// subset tells d of the k values: with probability p the true one and d−1 others, otherwise d
// others; the others uniformly (Wang et al. 2016; Ye and Barg 2018, whose error is the least
// that any protocol can have, up to a constant that tends to 1).
//
// Sets with the value have probability p/C(k−1,d−1), others (1−p)/C(k−1,d).
//
// Theorem. So does the set of the values whose places lie in a window of d of the k places of a
// circle, if a uniform permutation, drawn without the value, places the values, and the window that
// ends at place y is told by [window] from the place x of the true value. (Of that set only x and y
// decide whether the value is in it, x is uniform, and given both the rest is a uniform set of other
// values.) The set is then a function of the permutation and of what the window says, and as private
// as that. Of the permutation only the part that the set shows is drawn: x, and who stands in the
// window beside the value.
type subset struct{ window }

// newSubset takes d = k/(e^ε+1), rounded, which is the best.
func newSubset(k int, e privacy.Epsilon) *subset {
	odds := exp(e, one()).Lo()
	d := max(1, int(numeric.Floor(plus(over(whole(k), plus(odds, one())), half())).Int64()))
	return &subset{newWindow(k, d, e)}
}

func (u *subset) form() form {
	f := form{rising: true}
	for range u.width {
		f.numbers = append(f.numbers, uint64(u.cells))
	}
	return f
}

// channel: another value is in a set with the true one with probability (d−1)/(k−1), in one
// without with d/(k−1).
func (u *subset) channel() channel {
	q := plus(times(u.p, whole(u.width-1)), times(not(u.p), whole(u.width)))
	return plainChannel(u.p, over(q, whole(u.cells-1)))
}

// reply draws the others by Floyd's algorithm (Bentley and Floyd 1987): each set of m of n is
// as likely.
func (u *subset) reply(s *noise.Stream, r Report, value int) (Report, error) {
	place, err := s.Index(u.cells)
	if err != nil {
		return nil, err
	}
	end, err := u.tell(s, place)
	if err != nil {
		return nil, err
	}
	truth := (end-place+u.cells)%u.cells < u.width
	in := make([]uint64, (u.cells+63)/64)
	set := func(i int) { in[i/64] |= 1 << (i % 64) }
	has := func(i int) bool { return in[i/64]>>(i%64)&1 == 1 }
	others := u.width
	if truth {
		others--
	}
	// Number i stands for value i, and for the last one where that is the true one.
	named := func(i int) int {
		if i == value {
			return u.cells - 1
		}
		return i
	}
	for j := u.cells - 1 - others; j < u.cells-1; j++ {
		i, err := s.Index(j + 1)
		if err != nil {
			return nil, err
		}
		if has(named(i)) {
			i = j
		}
		set(named(i))
	}
	if truth {
		set(value)
	}
	for i, w := range in {
		for ; w != 0; w &= w - 1 {
			r = append(r, uint64(64*i+lowest(w)))
		}
	}
	return r, nil
}

func (u *subset) law(coins Report, value int) iter.Seq2[Report, *big.Rat] {
	with := over(u.p, new(big.Rat).SetInt(new(big.Int).Binomial(int64(u.cells-1), int64(u.width-1))))
	without := over(not(u.p), new(big.Rat).SetInt(new(big.Int).Binomial(int64(u.cells-1), int64(u.width))))
	return func(yield func(Report, *big.Rat) bool) {
		var choose func(r Report, from int, has bool) bool
		choose = func(r Report, from int, has bool) bool {
			if len(r) == u.width {
				p := without
				if has {
					p = with
				}
				return yield(append(Report{}, r...), p)
			}
			for v := from; v < u.cells; v++ {
				if !choose(append(r, uint64(v)), v+1, has || v == value) {
					return false
				}
			}
			return true
		}
		choose(nil, 0, false)
	}
}

func (u *subset) counter() counter {
	return &tallies{counts: make([]uint64, u.cells), vote: countNumbers}
}

func countNumbers(r Report, counts []uint64) {
	for _, v := range r {
		counts[v]++
	}
}

func (u *subset) parameters(d *Description) {
	d.Set("subset", u.width)
	d.pair(u.channel())
}
