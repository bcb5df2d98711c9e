package exact

// reduced is the region without the bounds that two others imply, as a > c is by a > b and
// b > c; false if two of them contradict a third, so that nothing is left.
func (r *region) reduced() (*region, bool) {
	bounds := append([]bound(nil), r.bounds...)
	for i := range bounds {
		b := &bounds[i]
		for j := range bounds {
			for k := range bounds[:j] {
				for _, signs := range [][2]int64{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
					x, y := bounds[j].times(signs[0]), bounds[k].times(signs[1])
					if !sameTerms(addTerms(x.terms, y.terms, integer(1)), b.terms) {
						continue
					}
					lo, loOpen := limit{x.lo.plus(y.lo.rational), x.lo.set && y.lo.set}, x.loOpen || y.loOpen
					hi, hiOpen := limit{x.hi.plus(y.hi.rational), x.hi.set && y.hi.set}, x.hiOpen || y.hiOpen
					// (If x.hi + y.hi is below b.lo, then b.lo - y.hi is above x.hi: that is found at x.)
					if both := (bound{lo: lo, loOpen: loOpen, hi: b.hi, hiOpen: b.hiOpen, continuous: b.continuous}); both.empty() {
						return nil, false
					}
					if lo.set && b.lo.set {
						if c := lo.cmp(b.lo.rational); c > 0 || c == 0 && (loOpen || !b.loOpen || b.continuous) {
							b.lo, b.loOpen = limit{}, false
						}
					}
					if hi.set && b.hi.set {
						if c := hi.cmp(b.hi.rational); c < 0 || c == 0 && (hiOpen || !b.hiOpen || b.continuous) {
							b.hi, b.hiOpen = limit{}, false
						}
					}
				}
			}
		}
	}
	left := &region{draws: r.draws, coins: r.coins}
	for _, b := range bounds {
		if b.lo.set || b.hi.set {
			left.bounds = append(left.bounds, b)
		}
	}
	return left, true
}

// times is the bound of a sum with its sign, 1 or -1.
func (b bound) times(sign int64) bound {
	if sign > 0 {
		return b
	}
	terms := make([]formTerm, len(b.terms))
	for i, t := range b.terms {
		terms[i] = formTerm{t.draw, t.coefficient.negated()}
	}
	b.terms = terms
	b.lo, b.hi = limit{b.hi.negated(), b.hi.set}, limit{b.lo.negated(), b.lo.set}
	b.loOpen, b.hiOpen = b.hiOpen, b.loOpen
	return b
}
