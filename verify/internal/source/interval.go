package source

import (
	"maps"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A symbol is an integer variable, the length of a slice, or, the zero symbol, 0.
type symbol struct {
	v      *program.Variable
	length bool
}

// Facts are bounds on differences, x − y <= c, which all hold. They decide whether an
// index lies in its slice, and nothing else rests on them.
type facts map[[2]symbol]int64

// far bounds constants, so that sums do not overflow.
const far = 1 << 40

func (f facts) add(x, y symbol, c int64) {
	if x == y || c > far || c < -far {
		return
	}
	if old, known := f[[2]symbol{x, y}]; !known || c < old {
		f[[2]symbol{x, y}] = c
	}
}

// maxSymbols bounds the work: beyond, what follows is not looked for.
const maxSymbols = 40

// closed adds all that follows. It reports false if the facts exclude each other.
func (f facts) closed() (facts, bool) {
	g := maps.Clone(f)
	p, consistent := f.paths()
	for i, x := range p.symbols {
		for j, y := range p.symbols {
			if c := p.least[i][j]; consistent && c != unbounded {
				g[[2]symbol{x, y}] = c
			}
		}
	}
	return g, consistent
}

// Paths are the least c known with x − y <= c, of symbols by their places.
type paths struct {
	place   map[symbol]int
	symbols []symbol
	least   [][]int64
}

// unbounded is where no such c is known.
const unbounded = math.MaxInt64

// paths are shortest ones (Floyd and Warshall) between the symbols of the facts and those others
// that are never negative. It reports false if the facts exclude each other.
func (f facts) paths(others ...symbol) (paths, bool) {
	p := paths{place: map[symbol]int{{}: 0}, symbols: []symbol{{}}}
	see := func(s symbol) {
		if _, seen := p.place[s]; !seen {
			p.place[s] = len(p.symbols)
			p.symbols = append(p.symbols, s)
		}
	}
	for pair := range f {
		see(pair[0])
		see(pair[1])
	}
	for _, s := range others {
		if s.natural() {
			see(s)
		}
	}
	n := len(p.symbols)
	table := slices.Repeat([]int64{unbounded}, n*n)
	p.least = slices.Collect(slices.Chunk(table, n))
	for pair, c := range f {
		p.least[p.place[pair[0]]][p.place[pair[1]]] = c
	}
	for i, s := range p.symbols {
		if s.natural() {
			p.least[0][i] = min(p.least[0][i], 0)
		}
	}
	if n > maxSymbols {
		return p, true
	}
	for k, fromK := range p.least {
		for i, from := range p.least {
			a := from[k]
			if a == unbounded {
				continue
			}
			for j, b := range fromK {
				switch c := a + b; {
				case b == unbounded:
				case i == j:
					if c < 0 {
						return p, false
					}
				case c < from[j] && c <= far && c >= -far:
					from[j] = c
				}
			}
		}
	}
	return p, true
}

// natural reports whether a symbol is never negative.
func (s symbol) natural() bool { return s.length || s.v != nil && s.v.Natural && !s.v.Slice }

// most returns the least c known with x − y <= c.
func (f facts) most(x, y symbol) (int64, bool) {
	if x == y {
		return 0, true
	}
	p, consistent := f.paths(x, y)
	if !consistent {
		return -far, true // never reached
	}
	i, known := p.place[x]
	j, too := p.place[y]
	if !known || !too {
		return 0, false
	}
	return p.least[i][j], p.least[i][j] != unbounded
}

// linear recognises symbol + constant.
func linear(x program.Expression) (symbol, int64, bool) {
	switch x := x.(type) {
	case program.Number:
		if x.Value.IsInt() && x.Value.Num().IsInt64() {
			if n := x.Value.Num().Int64(); n <= far && n >= -far {
				return symbol{}, n, true
			}
		}
	case program.Ref:
		if x.Var.Sort == program.Int && !x.Var.Slice {
			return symbol{v: x.Var}, 0, true
		}
	case program.Length:
		return symbol{x.Slice, true}, 0, true
	case program.Binary:
		s, c, ok1 := linear(x.X)
		t, d, ok2 := linear(x.Y)
		switch {
		case !ok1 || !ok2 || c+d > far || c-d < -far:
		case x.Op == program.Add && t == symbol{}:
			return s, c + d, true
		case x.Op == program.Add && s == symbol{}:
			return t, c + d, true
		case x.Op == program.Sub && t == symbol{}:
			return s, c - d, true
		}
	}
	return symbol{}, 0, false
}

// atMost proves x <= s + c.
func (f facts) atMost(x program.Expression, s symbol, c int64) bool {
	if t, d, ok := linear(x); ok {
		most, ok := f.most(t, s)
		return ok && most+d <= c
	}
	b, ok := x.(program.Binary)
	if !ok {
		return false
	}
	switch b.Op {
	case program.Min:
		return f.atMost(b.X, s, c) || f.atMost(b.Y, s, c)
	case program.Max:
		return f.atMost(b.X, s, c) && f.atMost(b.Y, s, c)
	case program.Rem:
		return f.atLeast(b.Y, 1) && f.atMost(b.Y, s, c+1) || f.atLeast(b.X, 0) && f.atMost(b.X, s, c)
	case program.Quo:
		return f.atLeast(b.X, 0) && f.atLeast(b.Y, 1) && f.atMost(b.X, s, c)
	}
	return false
}

// atLeast proves x >= c.
func (f facts) atLeast(x program.Expression, c int64) bool {
	if t, d, ok := linear(x); ok {
		most, ok := f.most(symbol{}, t)
		return ok && d-most >= c
	}
	b, ok := x.(program.Binary)
	if !ok {
		return false
	}
	switch b.Op {
	case program.Min:
		return f.atLeast(b.X, c) && f.atLeast(b.Y, c)
	case program.Max:
		return f.atLeast(b.X, c) || f.atLeast(b.Y, c)
	case program.Add:
		return f.atLeast(b.X, c) && f.atLeast(b.Y, 0) || f.atLeast(b.X, 0) && f.atLeast(b.Y, c)
	case program.Mul:
		return c <= 0 && f.atLeast(b.X, 0) && f.atLeast(b.Y, 0)
	case program.Rem:
		return c <= 0 && f.atLeast(b.X, 0)
	case program.Quo:
		return c <= 0 && f.atLeast(b.X, 0) && f.atLeast(b.Y, 1)
	}
	return false
}

// assume adds what a condition says.
func (f facts) assume(x program.Expression, is bool) {
	switch x := x.(type) {
	case program.Unary:
		if x.Op == program.Not {
			f.assume(x.X, !is)
		}
	case program.Binary:
		if x.Op == program.And && is || x.Op == program.Or && !is {
			f.assume(x.X, is)
			f.assume(x.Y, is)
			return
		}
		op := x.Op
		if !is {
			switch op {
			case program.Lt:
				op = program.Ge
			case program.Le:
				op = program.Gt
			case program.Gt:
				op = program.Le
			case program.Ge:
				op = program.Lt
			case program.Eq:
				op = program.Ne
			case program.Ne:
				op = program.Eq
			default:
				return
			}
		}
		s, c, ok1 := linear(x.X)
		t, d, ok2 := linear(x.Y)
		if !ok1 || !ok2 {
			return
		}
		switch op {
		case program.Lt:
			f.add(s, t, d-c-1)
		case program.Le:
			f.add(s, t, d-c)
		case program.Gt:
			f.add(t, s, c-d-1)
		case program.Ge:
			f.add(t, s, c-d)
		case program.Eq:
			f.add(s, t, d-c)
			f.add(t, s, c-d)
		case program.Ne:
			// x >= k and x != k is x > k.
			if most, ok := f.most(t, s); ok && most == c-d {
				f.add(t, s, most-1)
			}
		}
	}
}

// forget drops what is known of a symbol, keeping what follows for others.
func (f facts) forget(s symbol) {
	g, _ := f.closed()
	for p, c := range g {
		if p[0] != s && p[1] != s && p[0] != (symbol{}) {
			f.add(p[0], p[1], c)
		}
	}
	for p := range f {
		if p[0] == s || p[1] == s {
			delete(f, p)
		}
	}
}

// shift says that s has grown by c.
func (f facts) shift(s symbol, c int64) {
	moved := facts{}
	for p, d := range f {
		switch s {
		case p[0]:
			moved[p] = d + c
		case p[1]:
			moved[p] = d - c
		}
	}
	for p, d := range moved {
		delete(f, p)
		f.add(p[0], p[1], d)
	}
}

// meet keeps what both know.
func (f facts) meet(g facts) facts {
	a, okA := f.closed()
	b, okB := g.closed()
	switch {
	case !okA:
		return b
	case !okB:
		return a
	}
	both := facts{}
	for p, c := range a {
		if d, ok := b[p]; ok {
			both.add(p[0], p[1], max(c, d))
		} else if p[0] == (symbol{}) && c >= 0 && (p[1].length || p[1].v.Natural) {
			both.add(p[0], p[1], max(c, 0))
		}
	}
	return both
}
