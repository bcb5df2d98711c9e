package noise

import "math/bits"

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
	next, end int // all[next:end] are left
	all       [poolSize]int64
	reel      reel
}

// pooled returns a draw of the law, and false where it is to be drawn by itself: for the first
// draws, for sources that give their words one by one, for laws of larger numbers.
func (s *Stream) pooled(form *lazy) (int64, bool, error) {
	for i := range s.pools {
		p := &s.pools[i]
		switch {
		case p.form == form && p.pool != nil && p.pool.next < p.pool.end:
			return p.pool.take(), true, nil
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
	n, err := l.pour(&p.pool.reel, p.pool.all[:])
	if p.pool.next, p.pool.end = 0, n; err != nil {
		clear(p.pool.all[:])
		return 0, true, err
	}
	return p.pool.take(), true, nil
}

// take hands out a draw, and erases it.
func (p *pool) take() int64 {
	k := p.all[p.next]
	p.all[p.next] = 0
	p.next++
	return k
}

// pour draws as many values as whole lanes give, and no more than k has, which are 64 or more. Which
// lanes are kept says nothing of the values in them, so that their number does not either.
func (l *laned) pour(r *reel, k []int64) (n int, err error) {
	var z lanes
	defer func() {
		z = lanes{}
		clear(r.buffer[:r.next])
	}()
	r.left = len(k)*5/2 + 32 // as in from
	for n+64 <= len(k) {
		if err := l.draw(r, &z); err != nil {
			return 0, err
		}
		kept := bits.OnesCount64(z.kept)
		if err := l.int64s(&z, k[n:n+kept]); err != nil {
			return 0, err
		}
		n += kept
	}
	return n, nil
}
