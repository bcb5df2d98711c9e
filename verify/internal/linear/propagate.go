package linear

// A propagator holds clauses and a partial assignment, and draws the conclusions
// of unit clauses. It is all that the checker of proofs knows of propositional
// logic; the search uses it too.
//
// Invariants between calls, if the last propagate found no conflict: every clause
// of two or more literals is watched by its first two; if one of these is false
// then the other is true and was so no later.
type propagator struct {
	clauses [][]literal
	watches [][]int32 // by literal: the clauses to look at when it becomes false
	value   []int8    // by variable: 1 true, -1 false, 0 unknown
	reason  []int32   // by variable: the clause that implied it, or -1
	trail   []literal // those that are true, in order
	head    int       // of the trail that has been propagated
}

func (p *propagator) grow(variables int) {
	for len(p.value) < variables {
		p.value = append(p.value, 0)
		p.reason = append(p.reason, -1)
		p.watches = append(p.watches, nil, nil)
	}
}

// of is 1 if l is true, -1 if it is false, 0 if that is open.
func (p *propagator) of(l literal) int8 {
	if l&1 == 1 {
		return -p.value[l/2]
	}
	return p.value[l/2]
}

// set makes l true; it was open.
func (p *propagator) set(l literal, reason int32) {
	p.value[l/2] = 1 - 2*int8(l&1)
	p.reason[l/2] = reason
	p.trail = append(p.trail, l)
}

// undo forgets what was set after the trail had length n.
func (p *propagator) undo(n int) {
	for _, l := range p.trail[n:] {
		p.value[l/2] = 0
		p.reason[l/2] = -1
	}
	p.trail = p.trail[:n]
	p.head = min(p.head, n)
}

// add stores a clause, which is p's from now on, and returns its index. Clauses of
// one literal or none are not watched: who adds them sets them. The first two
// literals must not be false, unless the clause is about to be undone or is a
// conflict.
func (p *propagator) add(clause []literal) int32 {
	i := int32(len(p.clauses))
	p.clauses = append(p.clauses, clause)
	if len(clause) >= 2 {
		p.watches[clause[0]] = append(p.watches[clause[0]], i)
		p.watches[clause[1]] = append(p.watches[clause[1]], i)
	}
	return i
}

// propagate sets what clauses imply, until nothing more follows or a clause is
// false, whose index it returns, else -1.
func (p *propagator) propagate() int32 {
	for p.head < len(p.trail) {
		gone := p.trail[p.head].not()
		p.head++
		watching := p.watches[gone]
		kept := watching[:0]
		for k, i := range watching {
			clause := p.clauses[i]
			if clause[0] == gone {
				clause[0], clause[1] = clause[1], gone
			}
			if p.of(clause[0]) == 1 || !p.rewatch(clause, i) {
				kept = append(kept, i)
				switch p.of(clause[0]) {
				case 0:
					p.set(clause[0], i)
				case -1:
					kept = append(kept, watching[k+1:]...)
					p.watches[gone] = kept
					return i
				}
			}
		}
		p.watches[gone] = kept
	}
	return -1
}

// rewatch finds a literal that is not false to watch in the place of the second.
func (p *propagator) rewatch(clause []literal, i int32) bool {
	for k := 2; k < len(clause); k++ {
		if l := clause[k]; p.of(l) != -1 {
			clause[1], clause[k] = l, clause[1]
			p.watches[l] = append(p.watches[l], i)
			return true
		}
	}
	return false
}
