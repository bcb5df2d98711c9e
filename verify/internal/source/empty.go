package source

import (
	"go/token"
	"maps"
	"math/bits"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// How an empty slice came to be. A program.Function does not tell nil from empty, and a
// caller does.
const (
	isNil      = 1 << iota // var out []T, or nil
	isEmpty                // []T{}, or make([]T, 0)
	maybeNil               // append([]T(nil), q...), if q is empty
	maybeEmpty             // make([]T, n), if n is 0
	asInput                // what an input is: each has a bit from here on
)

// nilOrEmpty reports whether a slice may be nil on one way and empty on another one.
func nilOrEmpty(how int) bool {
	ways := bits.OnesCount(uint(how / asInput))
	for _, of := range []int{isNil | maybeNil, isEmpty | maybeEmpty} {
		if how&of != 0 {
			ways++
		}
	}
	return ways > 1
}

// emptied notes that the slices last made are empty, and not nil.
func (l *lowerer) emptied(vs ...*program.Variable) {
	for _, v := range vs {
		l.empties[copied{v, l.out[len(l.out)-1].Position()}] = true
	}
}

// checkEmpty refuses to show what is nil on one way and empty on another one: which it is
// might tell of private data. Of lengths that are not constants it does if private data, or
// noise, decide anything about slices.
func (l *lowerer) checkEmpty(c *claim.Claim) {
	g := newGraph(l.fn.Body)
	before := make([]map[*program.Variable]int, len(g.nodes))
	before[0] = map[*program.Variable]int{}
	inputs := 0
	for _, v := range l.fn.Inputs {
		if v.Slice {
			before[0][v] = asInput << min(inputs, 48)
			inputs++
		}
	}
	tells, open := l.sliceTold(c)
	shown, refused := map[[2]int]int{}, false
	for work := []int{0}; len(work) > 0; {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		after := maps.Clone(before[i])
		var values []program.Expression
		kind := 0
		switch s := g.nodes[i].stmt.(type) {
		case program.Make:
			after[s.To] = maybeEmpty
			if n, ok := s.Length.(program.Number); ok && n.Value.Sign() > 0 {
				after[s.To] = 0
			} else if ok {
				after[s.To] = isNil
				if l.empties[copied{s.To, s.Pos}] {
					after[s.To] = isEmpty
				}
			}
		case program.Assign:
			if r, ok := s.Value.(program.Ref); ok && s.To.Slice {
				after[s.To] = after[r.Var]
				switch how := l.copies[copied{s.To, s.Pos}]; {
				case how == copiedByMake:
					after[s.To] = maybeEmpty
				case how == copiedByAppend && after[r.Var] != 0:
					after[s.To] = maybeNil
				}
			}
		case program.Append:
			after[s.To] = 0 // it is neither
		case program.Output:
			values, kind = s.Values, 1
		case program.Return:
			values = s.Values
		}
		for k, x := range values {
			r, ok := x.(program.Ref)
			if !ok || !r.Var.Slice {
				continue
			}
			place := [2]int{kind, k}
			if kind == 0 && open[g.nodes[i].stmt.Position()] {
				place[0] = 2 + i // both runs return here, or neither does
			}
			if shown[place] |= after[r.Var]; (shown[place]&(isNil|isEmpty) == isNil|isEmpty || tells && nilOrEmpty(shown[place])) && !refused {
				refused = true
				l.report(g.nodes[i].stmt.Position(), "showing a slice that is nil or empty", "which of them may tell of private data", "begin with var out []T, or with make, on all ways")
			}
		}
		for _, j := range g.nodes[i].next {
			grown := before[j] == nil
			if grown {
				before[j] = map[*program.Variable]int{}
			}
			for v, how := range after {
				if before[j][v]|how != before[j][v] {
					before[j][v] |= how
					grown = true
				}
			}
			if grown {
				work = append(work, j)
			}
		}
	}
}

// sliceTold reports whether private data, or noise, decide which slice is shown, made or
// copied; and which returns they do not decide about.
func (l *lowerer) sliceTold(c *claim.Claim) (tells bool, open map[token.Pos]bool) {
	open = map[token.Pos]bool{}
	if c == nil {
		return true, open
	}
	d := newDependence(c)
	d.settle(l.fn.Body)
	d.visit = func(s program.Statement, under bool) {
		switch s := s.(type) {
		case program.Assign:
			tells = tells || under && s.To.Slice
		case program.Make, program.Output:
			tells = tells || under
		case program.Return:
			tells = tells || under
			was, again := open[s.Pos] // a function may be written out twice
			open[s.Pos] = !under && (was || !again)
		}
	}
	d.list(l.fn.Body, false)
	return tells, open
}
