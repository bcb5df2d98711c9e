// Package program is the form of a Go function in which privacy is proved and
// refuted: structured statements over scalars and slices, with the calls of other
// functions written out, structs taken apart into their fields, and every draw of
// noise a statement of its own.
//
// A Function means what the Go function means with two differences, which the
// front end answers for: numbers are unbounded (int) or real (float64), and what is
// drawn is exactly of its law. What a Function reveals is the sequence of its
// Outputs, and then the values of its Return, slices with their lengths.
//
// It is plain data. It guarantees nothing.
package program

import "go/token"

// A Sort is what values a variable has.
type Sort uint8

// The sorts. An Int is any integer, a Real any real number.
const (
	Int Sort = iota
	Real
	Bool
)

// A Variable is a scalar, or a slice of scalars.
type Variable struct {
	// Name is the Go name, with the path of fields of a struct (r.left), and made
	// unique within the function by a suffix where the source uses it again
	// (x·2), and in calls (ask.x).
	Name  string
	Sort  Sort
	Slice bool
	// Input is set on parameters, receivers and their fields.
	Input bool
	// Stream is set on an iter.Seq: a slice that is read once and in order, of
	// which the length is not known before its end.
	Stream bool
	// Natural is set on integers that cannot be negative: lengths, indices of
	// range, unsigned types.
	Natural bool
	// Bits are those of the integer type of an input; 0 says nothing. Proofs are over
	// all integers, and counterexamples are of those that there are.
	Bits uint
	Pos  token.Pos
}

// A Function is one function with a claim.
type Function struct {
	Package, Name string
	Pos           token.Pos
	File          *token.File
	Inputs        []*Variable
	Body          []Statement
	// Requires are preconditions that the types imply, beside those of the claim.
	Requires []Expression
	// Outcome stands for the first result where an Align of the source names it: an
	// integer, 1 for true and 0 for false. Nil if none does. No statement knows it.
	Outcome *Variable
	// Texts are the strings that the function spells out, by the integers that stand for
	// them. Told says of each value that it returns whether it is of such.
	Texts []string
	Told  []bool
}

// A Statement is one of the types below: *Loop, which Break and Continue name, and
// the others as values.
type Statement interface{ Position() token.Pos }

// At is where a statement stands in the source.
type At struct{ Pos token.Pos }

// Position returns the position.
func (a At) Position() token.Pos { return a.Pos }

type (
	// Assign sets a scalar, or a slice to a copy of another one (both are Refs
	// then). A slice that Go would alias is refused by the front end.
	Assign struct {
		At
		To    *Variable
		Value Expression
	}

	// Make sets To to a slice of Length zeros.
	Make struct {
		At
		To     *Variable
		Length Expression
	}

	// Append appends a value to a slice.
	Append struct {
		At
		To    *Variable
		Value Expression
	}

	// Store sets an element of a slice.
	Store struct {
		At
		To    *Variable
		Index Expression
		Value Expression
	}

	// Draw sets To to a fresh draw.
	Draw struct {
		At
		To  *Variable
		Law Law
		// Parameter is the scale of Laplace, DiscreteLaplace, Exponential and
		// Geometric, the sigma of Gaussian and DiscreteGaussian, the probability of
		// Bernoulli, the epsilon of Choose, the number of values of Uniform.
		Parameter Expression
		// Scores are those of Choose.
		Scores *Variable
		// Align is the shift that the source gives, or nil.
		Align Expression
	}

	// If runs one of two lists.
	If struct {
		At
		Cond       Expression
		Then, Else []Statement
	}

	// Loop evaluates Cond, runs Body and Post, and begins again; Continue goes to
	// Post. A range over a slice q is written out: a hidden index i (Natural) from 0,
	// Cond i < len(q), a first statement x = q[i], and Post i = i+1.
	Loop struct {
		At
		Cond       Expression
		Body, Post []Statement
		// Invariants are those that the source gives.
		Invariants []Expression
		// Name is unique in the function: "loop at line 12".
		Name string
	}

	// Break leaves Of.
	Break struct {
		At
		Of *Loop
	}

	// Continue goes to the Post of Of.
	Continue struct {
		At
		Of *Loop
	}

	// Output reveals values at once (what a yield is given).
	Output struct {
		At
		Values []Expression
	}

	// Return reveals values and ends the function. A slice is a Ref. A Panic is written
	// as one of values that the function returns at no other end.
	Return struct {
		At
		Values []Expression
		Panic  bool
	}
)

// A Law is that of a draw.
type Law uint8

// The laws. P(x) is proportional to the following, t being the parameter.
const (
	Laplace          Law = iota // exp(-|x|/t) over the reals
	Exponential                 // exp(-x/t), x >= 0, over the reals
	Gaussian                    // exp(-x²/2t²) over the reals
	DiscreteLaplace             // exp(-|x|/t) over the integers
	Geometric                   // exp(-x/t), x >= 0, over the integers
	DiscreteGaussian            // exp(-x²/2t²) over the integers
	Bernoulli                   // true with probability t
	Choose                      // index i with exp(t·scores[i]/2)
	Uniform                     // each of the integers from 0 to t-1 alike
)

var lawNames = [...]string{"Laplace", "Exponential", "Gaussian", "DiscreteLaplace", "Geometric", "DiscreteGaussian", "Bernoulli", "Choose", "Uniform"}

func (l Law) String() string { return lawNames[l] }
