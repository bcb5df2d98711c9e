package noise

const (
	// poolAfter is how many draws of a law a stream makes one by one before it draws many.
	poolAfter = 64
	poolSize  = 256
	maxPools  = 3
)

// A pooled law is one of which a stream makes many draws.
type pooled struct {
	form  *lazy
	asked int
	pool  *pool // once it is worth it
}

// A pool holds draws that were made at once and are not handed out yet: noise to come, as unused
// bits are.
type pool struct {
	values []int64 // what is left
	all    [poolSize]int64
	reel   reel
}

// pooled returns a draw of the law, and false where it is to be drawn by itself: for the first
// draws, for sources that give their words one by one, for laws of larger numbers.
func (s *Stream) pooled(form *lazy) (int64, bool, error) {
	for i := range s.pools {
		p := &s.pools[i]
		switch {
		case p.form == form && p.pool != nil && len(p.pool.values) > 0:
			values := p.pool.values
			k := values[0]
			values[0], p.pool.values = 0, values[1:]
			return k, true, nil
		case p.form == form:
			return p.fill(s)
		case p.form == nil:
			if _, ok := s.source.(many); ok {
				p.form = form
			}
			return 0, false, nil
		}
	}
	return 0, false, nil
}

// fill makes new draws and returns the first.
func (p *pooled) fill(s *Stream) (int64, bool, error) {
	if p.asked++; p.asked < poolAfter {
		return 0, false, nil
	}
	l := p.form.of(poolSize)
	// Where magnitudes may exceed 2^61, each draw fails by itself.
	if l == nil || l.k > maxSingle {
		return 0, false, nil
	}
	if p.pool == nil {
		p.pool = &pool{reel: reel{source: s.source}}
	}
	all := &p.pool.all
	if err := l.from(&p.pool.reel, poolSize, func(z *lanes, at, n int) error { return l.int64s(z, all[at:at+n]) }); err != nil {
		clear(all[:])
		return 0, true, err
	}
	k := all[0]
	all[0], p.pool.values = 0, all[1:]
	return k, true, nil
}
