package exact

// A table is a function of an integer: values from `from` on, and a constant on
// either side of them.
//
// Draws of discrete noise are cut to where all but 2^-reach of their mass lies; what
// that leaves out is added to the upper bound of a probability (see region).
type table struct {
	in          *masses
	from        int64
	values      []narrow
	left, right narrow
	// compact is set where both sides are zero.
	compact bool
	// ratio is set on a law that is first·ratio^|x|, on both sides of 0 or on one.
	first, ratio narrow
}

// masses are the laws of the variables, as tables that are zero outside.
type masses struct{ laws []table }

func (f table) at(x int64) narrow {
	switch {
	case x < f.from:
		return f.left
	case x >= f.end():
		return f.right
	}
	return f.values[x-f.from]
}

func (f table) end() int64 { return f.from + int64(len(f.values)) }

// zeroed is an empty table that is zero everywhere.
func (f table) zeroed() table {
	return table{in: f.in, left: narrow{}, right: narrow{}, compact: true}
}

// within is the table on [lo, hi], and zero elsewhere.
func (f table) within(lo, hi int64) table {
	if lo > hi {
		return f.zeroed()
	}
	g := table{in: f.in, left: narrow{}, right: narrow{}, compact: f.compact || lo != minusInf && hi != plusInf}
	end := max(f.end(), lo)
	if g.from = min(f.from, hi); lo != minusInf && (lo > f.from || !f.compact) {
		g.from = lo
	}
	if hi != plusInf && (hi < end || !f.compact) {
		end = hi + 1
	}
	if lo == minusInf {
		g.left = f.left
	}
	if hi == plusInf {
		g.right = f.right
	}
	g.values = make([]narrow, 0, max(0, end-g.from))
	for x := g.from; x < end; x++ {
		g.values = append(g.values, f.at(x))
	}
	return g
}

func (f table) times(g table) table {
	h := table{in: f.in, from: min(f.from, g.from), left: f.left.Mul(g.left), right: f.right.Mul(g.right), compact: f.compact || g.compact}
	end := max(f.end(), g.end())
	for _, one := range []table{f, g} {
		if one.compact { // nothing lies outside
			h.from, end = max(h.from, one.from), min(end, one.end())
		}
	}
	h.values = make([]narrow, 0, max(0, end-h.from))
	for x := h.from; x < end; x++ {
		h.values = append(h.values, f.at(x).Mul(g.at(x)))
	}
	return h
}

func (f table) mirrored() table {
	g := table{in: f.in, from: 1 - f.end(), left: f.right, right: f.left, compact: f.compact, values: make([]narrow, len(f.values))}
	for i, v := range f.values {
		g.values[len(g.values)-1-i] = v
	}
	return g
}

func (f table) total() (narrow, bool) {
	sum := narrow{}
	for _, v := range f.values {
		sum = sum.Add(v)
	}
	return sum, true // densities have no tails, nor what is multiplied with them
}

// windows is m ↦ the sum over the x with lo-m <= x <= hi-m.
func (f table) windows(lo, hi int64) (table, bool) {
	if lo > hi || len(f.values) == 0 {
		return f.zeroed(), true
	}
	all, _ := f.total()
	below := make([]narrow, len(f.values)+1) // below[i] is the sum of the first i
	above := make([]narrow, len(f.values)+1) // above[i] is the sum of all but the first i
	below[0], above[len(f.values)] = narrow{}, narrow{}
	for i, v := range f.values {
		below[i+1] = below[i].Add(v)
	}
	for i := len(f.values) - 1; i >= 0; i-- {
		above[i] = above[i+1].Add(f.values[i])
	}
	first, last := f.from, f.end()-1
	g := table{in: f.in, compact: lo != minusInf && hi != plusInf}
	switch {
	case lo == minusInf && hi == plusInf:
		g.left, g.right = all, all
	case lo == minusInf: // x <= hi-m
		g.left, g.right, g.from = all, narrow{}, hi-last
		for m := hi - last; m <= hi-first; m++ {
			g.values = append(g.values, below[hi-m-first+1])
		}
	case hi == plusInf: // x >= lo-m
		g.left, g.right, g.from = narrow{}, all, lo-last
		for m := lo - last; m <= lo-first; m++ {
			g.values = append(g.values, above[lo-m-first])
		}
	default:
		g.left, g.right, g.from = narrow{}, narrow{}, lo-last
		for m := lo - last; m <= hi-first; m++ {
			i, j := max(lo-m, first), min(hi-m, last)
			if j-i < 8 { // few: summed, not subtracted
				sum := narrow{}
				for x := i; x <= j; x++ {
					sum = sum.Add(f.values[x-first])
				}
				g.values = append(g.values, sum)
				continue
			}
			g.values = append(g.values, below[j-first+1].Sub(below[i-first]))
		}
	}
	return g, true
}

// wedge is m ↦ the sum over the x with a <= x+m <= b and c <= x-m <= d.
func (f table) wedge(a, b, c, d int64) (table, bool) {
	if len(f.values) == 0 {
		return f.zeroed(), true
	}
	first, last := f.from, f.end()-1
	far := max(abs(first), abs(last)) // beyond it, and the ends, nothing changes
	for _, x := range []int64{a, b, c, d} {
		if x != minusInf && x != plusInf {
			far = max(far, abs(x)+max(abs(first), abs(last)))
		}
	}
	if far++; far*int64(len(f.values)) > 1<<22 {
		return f, false
	}
	at := func(m int64) narrow {
		i, j := first, last
		for _, lo := range [2]int64{plusFinite(a, -m), plusFinite(c, m)} {
			i = max(i, lo)
		}
		for _, hi := range [2]int64{plusFinite(b, -m), plusFinite(d, m)} {
			j = min(j, hi)
		}
		sum := narrow{}
		for x := i; x <= j; x++ {
			sum = sum.Add(f.values[x-first])
		}
		return sum
	}
	g := table{in: f.in, from: -far, left: at(-far), right: at(far)}
	for m := -far; m <= far; m++ {
		g.values = append(g.values, at(m))
	}
	g.compact = g.left.zero() && g.right.zero()
	return g, true
}

// plusFinite is x+d, of the ends of the line too.
func plusFinite(x, d int64) int64 {
	if x == minusInf || x == plusInf {
		return x
	}
	return x + d
}

// smeared is m ↦ Σ f(x+m)·P(x).
//
// Of a geometric law it takes all of it, by recursion: the sum over x >= 0 is
// R(m) = first·f(m) + ratio·R(m+1), and that over x < 0
// L(m) = ratio·(first·f(m−1) + L(m−1)). Beyond the values of f each goes
// monotonically to its limit. Of another law it takes the table, to which the bound
// of what it leaves out refers.
func (f table) smeared(law int) (table, bool) {
	p := f.in.laws[law]
	n := int64(len(p.values))
	if p.ratio.zero() {
		return f.smearedBy(p)
	}
	from, end := f.from-n, f.end()+n
	g := table{in: f.in, from: from, values: make([]narrow, end-from)}
	half := narrow{0.5, 0.5}
	ahead, behind := narrow{1, 1}, narrow{}
	if p.from < 0 { // two-sided: (1+first)/2 of the mass is at 0 and above
		ahead, behind = half.Mul(ahead.Add(p.first)), half.Mul(ahead.Sub(p.first))
	}
	sum := f.right.Mul(ahead)
	for m := end - 1; m >= from; m-- {
		sum = p.first.Mul(f.at(m)).Add(p.ratio.Mul(sum))
		g.values[m-from] = sum
	}
	if p.from < 0 {
		sum = f.left.Mul(behind)
		for m := from; m < end; m++ {
			if m > from {
				sum = p.ratio.Mul(p.first.Mul(f.at(m - 1)).Add(sum))
			}
			g.values[m-from] = g.values[m-from].Add(sum)
		}
	}
	g.left, g.right = around(g.values[0], f.left), around(g.values[len(g.values)-1], f.right)
	return g, true
}

// around is the interval around two.
func around(x, y narrow) narrow { return narrow{min(x.lo, y.lo), max(x.hi, y.hi)} }

func (f table) smearedBy(p table) (table, bool) {
	if int64(len(p.values))*int64(len(f.values)) > 1<<24 {
		return f, false
	}
	g := table{in: f.in, from: f.from - p.end() + 1}
	mass, _ := p.total()
	g.left, g.right = f.left.Mul(mass), f.right.Mul(mass)
	for m := g.from; m <= f.end()-1-p.from; m++ {
		sum := narrow{}
		for i, w := range p.values {
			sum = sum.Add(w.Mul(f.at(p.from + int64(i) + m)))
		}
		g.values = append(g.values, sum)
	}
	return g, true
}
