package local

import "math/bits"

// visit adds one to counts[v] for each v with (at + v·step) mod prime < width; at and step are
// below prime, and width is at least 1.
//
// Theorem (Slater 1950, "The distribution of the integers N for which {θN} < φ"). The steps from
// one visit of an interval to the next have at most three lengths. Let m be the least number of
// steps that moves a point on by less than width, by "on", and n the least that moves it back by
// less than width, by "back". A visitor at u comes again
//   - after m steps, if u < width−on: it is then at u+on;
//   - after n steps, if u >= back: it is then at u−back;
//   - after m+n steps otherwise.
//
// Proof. on + back >= width, since otherwise the difference of m and n would be a smaller number of
// steps that moves by on + back: so the cases exclude each other. In the first one, let it come
// again after fewer than m steps: it moved back, by some d <= u, and m less these steps move on by
// on + d < width, which contradicts that m is the least. The second is alike. In the third, a move
// on is by less than "on", so that it takes more than m steps, and those beyond m move back by less
// than width: they are n or more. A move back is alike.
func visit(prime, step, at, width uint64, counts []uint64) {
	limit := uint64(len(counts))
	v := uint64(0)
	for at >= width { // to the first visit
		if v++; v >= limit {
			return
		}
		at += step
		if at >= prime {
			at -= prime
		}
	}
	on, m, back, n := returns(prime, step, width, limit)
	stay := width - on
	for v < limit {
		counts[v]++
		_, forth := bits.Sub64(at, back, 0)
		_, short := bits.Sub64(at, stay, 0)
		v += m&-forth + n&(short-1)
		at += on&-forth - back&(short-1)
	}
}

// returns finds on, m, back and n. Of numbers of steps that are not below limit it does not matter
// which they are: it gives limit for them, and a move by width, which no visitor can make alone.
//
// Theorem (Sós 1958; the slow form of Euclid's algorithm). If no number of steps below m+n moves on
// by less than "on" or back by less than "back", then m+n steps do so, by |on−back|, on if on > back
// and back otherwise, and no number below the new m+n does better.
func returns(prime, step, width, limit uint64) (on, m, back, n uint64) {
	on, m, back, n = step, 1, prime-step, 1
	if step == 0 {
		return 0, 1, width, limit // it stays where it is
	}
	for (on >= width || back >= width) && m+n <= limit {
		if on > back {
			on, m = on-back, m+n
		} else {
			back, n = back-on, m+n
		}
	}
	if on >= width {
		on, m = width, limit
	}
	if back >= width {
		back, n = width, limit
	}
	return on, m, back, n
}
