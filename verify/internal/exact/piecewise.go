package exact

import (
	"math"
	"math/big"
	"slices"
)

// The ends of the line, for pieces and windows.
const (
	minusInf = math.MinInt64
	plusInf  = math.MaxInt64
)

// A piecewise is a function of a real x, zero outside its pieces. These are what
// densities of Laplace and of exponential noise, products, integrals and
// convolutions of them are made of, so that probabilities of linear events over
// such noise have closed forms (Barthe, Chadha, Jagannath, Sistla and Viswanathan
// 2020, "Deciding differential privacy for programs with finite inputs and
// outputs", decide with them).
//
// x counts units in which every end of a piece is whole: ends are exact, and only
// coefficients are intervals. A function without pieces is exactly zero.
type piecewise[N number[N]] struct {
	in     *arithmetic[N]
	pieces []piece[N] // in order, disjoint
}

// A piece is a function on [l, r].
type piece[N any] struct {
	l, r  int64
	terms []term[N]
}

// A term is c·(x−o)^a·e^(k·rate·(x−b)), where b is r for k > 0 and l for k < 0, so
// that no exponential exceeds 1 on the piece and none overflows; o is l, or r where
// l is infinite.
type term[N any] struct {
	k int64
	a int
	c N
}

func (p piece[N]) origin() int64 {
	if p.l == minusInf {
		return p.r
	}
	return p.l
}

// within is the function on [l, r], and zero elsewhere.
func (f piecewise[N]) within(l, r int64) piecewise[N] {
	g := piecewise[N]{in: f.in}
	for _, p := range f.pieces {
		if lo, hi := max(p.l, l), min(p.r, r); lo < hi {
			g.pieces = append(g.pieces, f.in.cut(p, lo, hi))
		}
	}
	return g
}

// cut restricts a piece to a part of it.
func (in *arithmetic[N]) cut(p piece[N], l, r int64) piece[N] {
	if l == p.l && r == p.r {
		return p
	}
	q := piece[N]{l: l, r: r}
	for _, t := range p.terms {
		switch {
		case t.k > 0 && r != p.r:
			t.c = t.c.Mul(in.decay(t.k * (p.r - r)))
		case t.k < 0 && l != p.l:
			t.c = t.c.Mul(in.decay(-t.k * (l - p.l)))
		}
		q.terms = in.recentred(q.terms, t, p.origin(), q.origin())
	}
	return q
}

// recentred adds a term to a sum of them, its power moved from one origin to
// another: (x−o)^a = Σ binomial(a, j)·(x−o')^j·(o'−o)^(a−j).
func (in *arithmetic[N]) recentred(sum []term[N], t term[N], from, to int64) []term[N] {
	if t.a == 0 || from == to {
		return plus(sum, t)
	}
	d, power := in.integer(to-from), in.integer(1)
	for j := t.a; j >= 0; j-- {
		binomial := in.rational(new(big.Rat).SetInt(new(big.Int).Binomial(int64(t.a), int64(j))))
		sum = plus(sum, term[N]{t.k, j, t.c.Mul(binomial).Mul(power)})
		power = power.Mul(d)
	}
	return sum
}

// plus adds a term to a sum of them.
func plus[N number[N]](sum []term[N], t term[N]) []term[N] {
	for i := range sum {
		if sum[i].k == t.k && sum[i].a == t.a {
			sum[i].c = sum[i].c.Add(t.c)
			return sum
		}
	}
	return append(sum, t)
}

// times is the product.
func (f piecewise[N]) times(g piecewise[N]) piecewise[N] {
	h := piecewise[N]{in: f.in}
	for i, j := 0, 0; i < len(f.pieces) && j < len(g.pieces); {
		p, q := f.pieces[i], g.pieces[j]
		if l, r := max(p.l, q.l), min(p.r, q.r); l < r {
			h.pieces = append(h.pieces, f.in.product(f.in.cut(p, l, r), f.in.cut(q, l, r)))
		}
		if p.r < q.r {
			i++
		} else {
			j++
		}
	}
	return h
}

// product is that of two pieces over the same interval.
func (in *arithmetic[N]) product(p, q piece[N]) piece[N] {
	h := piece[N]{l: p.l, r: p.r}
	for _, s := range p.terms {
		for _, t := range q.terms {
			c := s.c.Mul(t.c)
			if (s.k > 0) != (t.k > 0) && s.k != 0 && t.k != 0 {
				// One falls from the left end and one from the right: both ends are finite.
				c = c.Mul(in.decay(min(abs(s.k), abs(t.k)) * (p.r - p.l)))
			}
			h.terms = plus(h.terms, term[N]{s.k + t.k, s.a + t.a, c})
		}
	}
	return h
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// shifted is x ↦ f(x−d).
func (f piecewise[N]) shifted(d int64) piecewise[N] {
	g := piecewise[N]{in: f.in, pieces: slices.Clone(f.pieces)}
	for i := range g.pieces {
		p := &g.pieces[i]
		if p.l != minusInf {
			p.l += d
		}
		if p.r != plusInf {
			p.r += d
		}
	}
	return g
}

// mirrored is x ↦ f(−x).
func (f piecewise[N]) mirrored() piecewise[N] {
	g := piecewise[N]{in: f.in}
	for _, p := range slices.Backward(f.pieces) {
		q := piece[N]{l: opposite(p.r), r: opposite(p.l)}
		for _, t := range p.terms {
			if t.a%2 == 1 {
				t.c = t.c.Mul(f.in.integer(-1))
			}
			t.k = -t.k
			q.terms = f.in.recentred(q.terms, t, opposite(p.origin()), q.origin())
		}
		g.pieces = append(g.pieces, q)
	}
	return g
}

// opposite is −x, of the ends of the line too.
func opposite(x int64) int64 {
	switch x {
	case minusInf:
		return plusInf
	case plusInf:
		return minusInf
	}
	return -x
}

// plus is the sum.
func (f piecewise[N]) plus(g piecewise[N]) piecewise[N] {
	var ends []int64
	for _, p := range slices.Concat(f.pieces, g.pieces) {
		ends = append(ends, p.l, p.r)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	h := piecewise[N]{in: f.in}
	i, j := 0, 0
	for n := range max(0, len(ends)-1) {
		l, r := ends[n], ends[n+1]
		var sum []term[N]
		for ; i < len(f.pieces) && f.pieces[i].r <= l; i++ {
		}
		for ; j < len(g.pieces) && g.pieces[j].r <= l; j++ {
		}
		if i < len(f.pieces) && f.pieces[i].l <= l {
			sum = slices.Clone(f.in.cut(f.pieces[i], l, r).terms)
		}
		if j < len(g.pieces) && g.pieces[j].l <= l {
			for _, t := range f.in.cut(g.pieces[j], l, r).terms {
				sum = plus(sum, t)
			}
		}
		if len(sum) > 0 {
			h.pieces = append(h.pieces, piece[N]{l, r, sum})
		}
	}
	return h
}

// followed is the solution L of L' = f − k·rate·L that vanishes at −∞, for k >= 0:
// with k = 0 the integral of f up to x, and else f smeared by e^(−k·rate·y) over
// y > 0. It reports false where there is none.
func (f piecewise[N]) followed(k int64) (piecewise[N], bool) {
	in := f.in
	g := piecewise[N]{in: in}
	var level N // L at the right end of the last piece
	last := int64(minusInf)
	rest := func(to int64) { // where f is zero, what there is decays
		if len(g.pieces) > 0 && last < to {
			p := piece[N]{l: last, r: to, terms: []term[N]{{-k, 0, level}}}
			g.pieces = append(g.pieces, p)
			level = in.at(p, to)
		}
	}
	for _, p := range f.pieces {
		rest(p.l)
		q := piece[N]{l: p.l, r: p.r}
		for _, t := range p.terms {
			if p.l == minusInf && (t.k < 0 || t.k+k == 0) {
				return g, false
			}
			q.terms = in.particular(q.terms, t, k)
		}
		if p.l != minusInf {
			c := in.at(q, p.l)
			if len(g.pieces) > 0 {
				c = level.Sub(c)
			} else {
				c = c.Mul(in.integer(-1))
			}
			q.terms = plus(q.terms, term[N]{-k, 0, c})
		}
		g.pieces = append(g.pieces, q)
		if last = p.r; last != plusInf {
			level = in.at(q, last)
		}
	}
	rest(plusInf)
	return g, true
}

// particular adds a solution of y' + k·rate·y = t to a sum of terms. With
// μ = (t.k+k)·rate it is e^(t.k·rate·x) times the solution of q' + μq = c·x^a: for
// μ = 0, c·x^(a+1)/(a+1), else c·(x^a/μ − a·x^(a−1)/μ² + a(a−1)·x^(a−2)/μ³ − …).
func (in *arithmetic[N]) particular(sum []term[N], t term[N], k int64) []term[N] {
	if t.k+k == 0 {
		return plus(sum, term[N]{t.k, t.a + 1, t.c.Mul(in.rational(big.NewRat(1, int64(t.a)+1)))})
	}
	inverse := in.rational(integer(t.k + k).times(in.rate).inverse().rat())
	for c := t.c.Mul(inverse); ; t.a-- {
		sum = plus(sum, term[N]{t.k, t.a, c})
		if t.a == 0 {
			return sum
		}
		c = c.Mul(inverse).Mul(in.integer(int64(-t.a)))
	}
}

// at is a piece's value at an end of it that is finite, or the limit at an infinite
// one of what has a limit.
func (in *arithmetic[N]) at(p piece[N], x int64) N {
	sum := in.integer(0)
	for _, t := range p.terms {
		b := p.r
		if t.k < 0 {
			b = p.l
		}
		if x == minusInf || x == plusInf {
			if t.k == 0 {
				sum = sum.Add(t.c)
			}
			continue
		}
		c := t.c
		if t.k != 0 && x != b {
			c = c.Mul(in.decay(abs(t.k) * (p.r - p.l)))
		}
		if d := x - p.origin(); t.a > 0 {
			if d == 0 {
				continue
			}
			for range t.a {
				c = c.Mul(in.integer(d))
			}
		}
		sum = sum.Add(c)
	}
	return sum
}

// total is the integral over the line.
func (f piecewise[N]) total() (N, bool) {
	g, ok := f.followed(0)
	if !ok || len(g.pieces) == 0 {
		return f.in.integer(0), ok
	}
	last := g.pieces[len(g.pieces)-1]
	for _, t := range last.terms {
		ok = ok && (t.k < 0 || t.k == 0 && t.a == 0)
	}
	return f.in.at(last, plusInf), ok
}

// windows is m ↦ the integral of f over the x with lo <= x+m <= hi.
func (f piecewise[N]) windows(lo, hi int64) (piecewise[N], bool) {
	if lo >= hi {
		return piecewise[N]{in: f.in}, true
	}
	below, ok := f.followed(0)
	if !ok {
		return below, false
	}
	upTo := func(hi int64) piecewise[N] { return below.mirrored().shifted(hi) }
	switch {
	case lo == minusInf && hi == plusInf:
		one := piece[N]{l: minusInf, r: plusInf}
		if t, _ := f.total(); len(f.pieces) > 0 {
			one.terms = []term[N]{{0, 0, t}}
		}
		return piecewise[N]{in: f.in, pieces: []piece[N]{one}}, true
	case lo == minusInf:
		return upTo(hi), true
	case hi == plusInf:
		// The upper tail is integrated from the right: 1 − the rest would cancel.
		above, ok := f.mirrored().followed(0)
		return above.shifted(lo), ok
	}
	return upTo(hi).plus(upTo(lo).scaled(f.in.integer(-1))), true
}

// wedge is m ↦ the integral of f over the x in [max(a-m, c+m), min(b-m, d+m)]: which is
// larger changes where m is (a-c)/2, and which is less at (b-d)/2.
func (f piecewise[N]) wedge(a, b, c, d int64) (piecewise[N], bool) {
	if a > b || c > d {
		return piecewise[N]{in: f.in}, true
	}
	below, ok := f.followed(0)
	if !ok {
		return below, false
	}
	all, ok := f.total()
	if !ok {
		return below, false
	}
	turned := below.mirrored()
	whole := piecewise[N]{in: f.in, pieces: []piece[N]{{l: minusInf, r: plusInf, terms: []term[N]{{0, 0, all}}}}}
	lower, upper := piecewise[N]{in: f.in}, whole // up to either end
	switch at := halfway(a, c); {
	case a != minusInf && c != minusInf:
		lower = turned.shifted(a).within(minusInf, at).plus(below.shifted(-c).within(at, plusInf))
	case a != minusInf:
		lower = turned.shifted(a)
	case c != minusInf:
		lower = below.shifted(-c)
	}
	switch at := halfway(b, d); {
	case b != plusInf && d != plusInf:
		upper = below.shifted(-d).within(minusInf, at).plus(turned.shifted(b).within(at, plusInf))
	case d != plusInf:
		upper = below.shifted(-d)
	case b != plusInf:
		upper = turned.shifted(b)
	}
	from, to := int64(minusInf), int64(plusInf) // else it is empty
	if a != minusInf && d != plusInf {
		from = halfway(a, d)
	}
	if b != plusInf && c != minusInf {
		to = halfway(b, c)
	}
	return upper.plus(lower.scaled(f.in.integer(-1))).within(from, to), true
}

// halfway is (x-y)/2, of what is finite.
func halfway(x, y int64) int64 {
	if x == minusInf || x == plusInf || y == minusInf || y == plusInf {
		return 0
	}
	return (x - y) / 2
}

// smeared is m ↦ the integral of f(x+m) under the density of a law at x.
func (f piecewise[N]) smeared(law int) (piecewise[N], bool) {
	d := f.in.laws[law]
	sum, sound := piecewise[N]{in: f.in}, true
	if d.left {
		g, ok := f.followed(d.k)
		sum, sound = g, ok
	}
	if d.right {
		g, ok := f.mirrored().followed(d.k)
		sum, sound = sum.plus(g.mirrored()), sound && ok
	}
	return sum.scaled(f.in.rational(d.height)), sound
}

// scaled is c·f.
func (f piecewise[N]) scaled(c N) piecewise[N] {
	g := piecewise[N]{in: f.in}
	for _, p := range f.pieces {
		q := piece[N]{l: p.l, r: p.r}
		for _, t := range p.terms {
			q.terms = append(q.terms, term[N]{t.k, t.a, t.c.Mul(c)})
		}
		g.pieces = append(g.pieces, q)
	}
	return g
}

// A density is height·e^(−k·rate·|x|) on the sides of 0 that it names.
type density struct {
	k           int64
	height      *big.Rat
	left, right bool
}

// densityOn is the density as a function.
func densityOn[N number[N]](in *arithmetic[N], d density) piecewise[N] {
	h := in.rational(d.height)
	f := piecewise[N]{in: in}
	if d.left {
		f.pieces = append(f.pieces, piece[N]{minusInf, 0, []term[N]{{d.k, 0, h}}})
	}
	if d.right {
		f.pieces = append(f.pieces, piece[N]{0, plusInf, []term[N]{{-d.k, 0, h}}})
	}
	return f
}
