// Package claim is what the directives of a function say: which inputs are
// neighbours, what holds of the others, and what the function is claimed to cost or
// to be sensitive to.
//
// It is plain data, made by the front end from comments.
package claim

import "github.com/discreet-dp/discreet/verify/internal/program"

// A Claim is that of one function.
type Claim struct {
	// Text is the directives that make the claim, a line each, without "//dp:".
	Text     string
	Adjacent []Adjacency
	// Requires are conditions over inputs; they hold in both runs.
	Requires      []program.Expression
	Cost          *Cost
	Sensitivities []Sensitivity
}

// A Relation says how an input differs between neighbours.
type Relation uint8

// The relations.
const (
	// Each is: equal lengths, every q'[i]−q[i] in [Low, High].
	Each Relation = iota
	// One is: equal lengths, one q'[i]−q[i] in [Low, High], the others 0.
	One
	// Scalar is: x'−x in [Low, High].
	Scalar
	// Bag is: the symmetric difference of two multisets has at most High elements.
	Bag
)

// An Adjacency is that of one input. Inputs without one are equal.
type Adjacency struct {
	Relation  Relation
	Input     *program.Variable
	Low, High program.Expression
}

// Symmetric reports whether the neighbours of neighbours are the same in both
// directions, syntactically: [−c, c] or a bag.
func (a Adjacency) Symmetric() bool {
	if a.Relation == Bag {
		return true
	}
	minus, ok := a.Low.(program.Unary)
	return ok && minus.Op == program.Sub && minus.X.String() == a.High.String()
}

// A Measure is that of a cost.
type Measure uint8

// The measures.
const (
	Pure Measure = iota
	Approximate
	ZCDP
)

// A Cost is what a function is claimed to cost at most; expressions over inputs.
type Cost struct {
	Measure             Measure
	Epsilon, Delta, Rho program.Expression // those of the measure
}

// A Norm is that of a slice's distance.
type Norm string

// The norms.
const (
	L1   Norm = "l1"
	L2   Norm = "l2"
	LInf Norm = "linf"
)

// A Sensitivity says that the result moves by at most Most times the distance of an
// input.
type Sensitivity struct {
	Input string
	Most  program.Expression
	Norm  Norm
}
