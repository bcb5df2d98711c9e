package exact

// A table is a function of an integer: values from `from` on, and a constant on
// either side of them.
//
// Draws of discrete noise are cut to where all but 2^-reach of their mass lies; what
// that leaves out is added to the upper bound of a probability (see region).
type table[N number[N]] struct {
	in          *masses[N]
	from        int64
	values      []N
	left, right N
	// compact is set where both sides are zero.
	compact bool
}

// masses are the laws of the variables, as tables that are zero outside.
type masses[N number[N]] struct {
	laws []table[N]
	zero N
}

func (f table[N]) at(x int64) N {
	switch {
	case x < f.from:
		return f.left
	case x >= f.end():
		return f.right
	}
	return f.values[x-f.from]
}

func (f table[N]) end() int64 { return f.from + int64(len(f.values)) }

// zeroed is an empty table that is zero everywhere.
func (f table[N]) zeroed() table[N] {
	return table[N]{in: f.in, left: f.in.zero, right: f.in.zero, compact: true}
}

// within is the table on [lo, hi], and zero elsewhere.
func (f table[N]) within(lo, hi int64) table[N] {
	if lo > hi {
		return f.zeroed()
	}
	g := table[N]{in: f.in, left: f.in.zero, right: f.in.zero, compact: f.compact || lo != minusInf && hi != plusInf}
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
	for x := g.from; x < end; x++ {
		g.values = append(g.values, f.at(x))
	}
	return g
}

func (f table[N]) times(g table[N]) table[N] {
	h := table[N]{in: f.in, from: min(f.from, g.from), left: f.left.Mul(g.left), right: f.right.Mul(g.right), compact: f.compact || g.compact}
	end := max(f.end(), g.end())
	for _, one := range []table[N]{f, g} {
		if one.compact { // nothing lies outside
			h.from, end = max(h.from, one.from), min(end, one.end())
		}
	}
	for x := h.from; x < end; x++ {
		h.values = append(h.values, f.at(x).Mul(g.at(x)))
	}
	return h
}

func (f table[N]) mirrored() table[N] {
	g := table[N]{in: f.in, from: 1 - f.end(), left: f.right, right: f.left, compact: f.compact, values: make([]N, len(f.values))}
	for i, v := range f.values {
		g.values[len(g.values)-1-i] = v
	}
	return g
}

func (f table[N]) total() (N, bool) {
	sum := f.in.zero
	for _, v := range f.values {
		sum = sum.Add(v)
	}
	return sum, true // densities have no tails, nor what is multiplied with them
}

// windows is m ↦ the sum over the x with lo-m <= x <= hi-m.
func (f table[N]) windows(lo, hi int64) (table[N], bool) {
	if lo > hi || len(f.values) == 0 {
		return f.zeroed(), true
	}
	all, _ := f.total()
	below := make([]N, len(f.values)+1) // below[i] is the sum of the first i
	above := make([]N, len(f.values)+1) // above[i] is the sum of all but the first i
	below[0], above[len(f.values)] = f.in.zero, f.in.zero
	for i, v := range f.values {
		below[i+1] = below[i].Add(v)
	}
	for i := len(f.values) - 1; i >= 0; i-- {
		above[i] = above[i+1].Add(f.values[i])
	}
	first, last := f.from, f.end()-1
	g := table[N]{in: f.in, compact: lo != minusInf && hi != plusInf}
	switch {
	case lo == minusInf && hi == plusInf:
		g.left, g.right = all, all
	case lo == minusInf: // x <= hi-m
		g.left, g.right, g.from = all, f.in.zero, hi-last
		for m := hi - last; m <= hi-first; m++ {
			g.values = append(g.values, below[hi-m-first+1])
		}
	case hi == plusInf: // x >= lo-m
		g.left, g.right, g.from = f.in.zero, all, lo-last
		for m := lo - last; m <= lo-first; m++ {
			g.values = append(g.values, above[lo-m-first])
		}
	default:
		g.left, g.right, g.from = f.in.zero, f.in.zero, lo-last
		for m := lo - last; m <= hi-first; m++ {
			i, j := max(lo-m, first), min(hi-m, last)
			if j-i < 8 { // few: summed, not subtracted
				sum := f.in.zero
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

// smeared is m ↦ Σ f(x+m)·P(x).
func (f table[N]) smeared(law int) (table[N], bool) {
	p := f.in.laws[law]
	if int64(len(p.values))*int64(len(f.values)) > 1<<24 {
		return f, false
	}
	g := table[N]{in: f.in, from: f.from - p.end() + 1}
	mass, _ := p.total()
	g.left, g.right = f.left.Mul(mass), f.right.Mul(mass)
	for m := g.from; m <= f.end()-1-p.from; m++ {
		sum := f.in.zero
		for i, w := range p.values {
			sum = sum.Add(w.Mul(f.at(p.from + int64(i) + m)))
		}
		g.values = append(g.values, sum)
	}
	return g, true
}
