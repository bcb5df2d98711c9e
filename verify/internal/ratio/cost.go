package ratio

import "slices"

// A cost is what a coupling costs: epsilon, and the probability delta with which it
// fails.
type cost struct {
	epsilon amount
	delta   fraction
}

func free() cost { return cost{nothing(), rational(zero)} }

func (c cost) plus(d cost) cost {
	return cost{c.epsilon.plus(d.epsilon), c.delta.plus(d.delta)}
}

func (c cost) times(n fraction) cost {
	return cost{c.epsilon.times(n), c.delta.times(n)}
}

func (c cost) free() bool { return c.epsilon.free() && len(c.delta.num) == 0 }

func (c cost) String() string {
	if len(c.delta.num) == 0 {
		return c.epsilon.String()
	}
	return c.epsilon.String() + ", " + c.delta.String()
}

func (c cost) variables() []string {
	return slices.Concat(c.epsilon.variables(), c.delta.num.variables(), c.delta.den.variables())
}

// within reports that d covers c in both.
func (p *prover) dominates(d, c cost) bool {
	return p.covers(d.epsilon, c.epsilon) && p.atMost(c.delta, d.delta)
}

// largest leaves out costs that others cover.
func (p *prover) largest(all []cost) []cost {
	var kept []cost
next:
	for i, x := range all {
		for _, y := range kept {
			if p.dominates(y, x) {
				continue next
			}
		}
		for _, y := range all[i+1:] {
			if p.dominates(y, x) {
				continue next
			}
		}
		kept = append(kept, x)
	}
	return kept
}

// repeated is what several rounds cost, of which each costs one of these: rounds may
// differ in which, so that epsilon and delta are combined freely.
func (p *prover) repeated(all []cost, n fraction) []cost {
	var combined []cost
	for _, x := range all {
		for _, y := range all {
			combined = append(combined, cost{x.epsilon, y.delta}.times(n))
		}
	}
	return p.largest(combined)
}

// after is what one of these costs and then one of those cost together.
func (p *prover) after(before, then []cost) []cost {
	var all []cost
	for _, x := range before {
		for _, y := range then {
			all = append(all, x.plus(y))
		}
	}
	return p.largest(all)
}
