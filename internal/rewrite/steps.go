package rewrite

import "github.com/discreet-dp/discreet/internal/plan"

// steps are projections below an expression, in which ends stand that a rule uses several times. Each has the columns of the one before, and two more.
type steps struct {
	node plan.Node
	made map[int]int // by share
}

const (
	// maxStep is the size, in nodes, of ends that are written several times.
	maxStep = 20
	// mostSteps bounds how many projections the expressions of a node need together, for each share: beyond them their ends grow. What
	// an engine plans grows as the square of their number.
	mostSteps = 32
)

// step puts ends into columns.
func (s *steps) step(at ends) ends {
	exprs, names := refs(s.node)
	n := len(exprs)
	s.node = &plan.Project{Input: s.node, Exprs: append(exprs, at.lower, at.upper), Names: append(names, "lower", "upper")}
	return ends{&plan.Ref{Index: n, T: at.lower.Type()}, &plan.Ref{Index: n + 1, T: at.upper.Type()}}
}
