// Package verify proves, or refutes, that Go functions are differentially private.
//
// Claims are directives in the comments of ordinary functions:
//
//	//dp:adjacent each(q) <= 1
//	//dp:requires eps > 0
//	//dp:cost eps
//
// It guarantees what the verdict says (see Verdict) of the function's meaning over the
// numbers that Result.Over names, with draws that follow their laws.
//
// It does not guarantee anything about the compiler, the time that a call takes, or a
// source of randomness that fails.
package verify

import (
	"encoding/json"
	"math"
)

// A Verdict is what was established about one claim.
type Verdict string

// The verdicts.
const (
	// Proved: for inputs of any size, with a certificate that a checker without a
	// solver accepts.
	Proved Verdict = "proved"
	// ProvedBounded: up to a size that the note names.
	ProvedBounded Verdict = "proved-bounded"
	// Refuted: by a counterexample whose probabilities are known within intervals
	// that exclude the claim, or whose results lie farther apart than it allows.
	Refuted Verdict = "refuted"
	// RefutedStatistical: by samples, with the confidence that the note names.
	RefutedStatistical Verdict = "refuted-statistical"
	// Unknown: neither; the note says what was tried.
	Unknown Verdict = "unknown"
	// Vacuous: no inputs were found that meet what the claim requires, so that any proof
	// of it would prove nothing.
	Vacuous Verdict = "vacuous"
)

// Over is the numbers of which a verdict speaks.
type Over string

// The domains of verdicts.
const (
	// Integers: all that depends on private data is whole.
	Integers Over = "integers"
	// Grid: every operand is a multiple of a public grid, and no float operation
	// rounds.
	Grid Over = "grid"
	// Reals: it says nothing of the compiled floats.
	Reals Over = "reals"
)

// A Result is the verdict on one function.
type Result struct {
	Package   string  `json:"package"`
	Function  string  `json:"function"`
	Claim     string  `json:"claim"`
	Verdict   Verdict `json:"verdict"`
	Over      Over    `json:"over"`
	LeastCost string  `json:"least_cost,omitempty"`
	// Alignment is the coupling of each draw.
	Alignment []Shift `json:"alignment,omitempty"`
	// Certificate names where the proof, or the counterexample, is stored: file#function.
	Certificate    string          `json:"certificate,omitempty"`
	Counterexample *Counterexample `json:"counterexample,omitempty"`
	Seconds        float64         `json:"seconds"`
	Note           string          `json:"note,omitempty"`
	// File, Line and Column are where the function stands.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Proof is readable: statement by statement.
	Proof []Step `json:"proof,omitempty"`
	// Problems say where and why it is not proved.
	Problems []Problem `json:"problems,omitempty"`
	// Obligations are what the proof rests on, if they were asked for.
	Obligations []Obligation `json:"-"`
}

// A Shift is how much a draw of the first run moves in the second.
type Shift struct {
	Draw string `json:"draw"`
	// File is "" for the file of the function.
	File  string `json:"file,omitempty"`
	Line  int    `json:"line"`
	Shift string `json:"shift"`
}

// A Step is a line of a readable proof.
type Step struct {
	Kind StepKind `json:"kind,omitempty"`
	// File is "" for the file of the function.
	File string `json:"file,omitempty"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// A StepKind is what a step says.
type StepKind string

// The kinds of steps.
const (
	// Coupling is how a draw of one run is paired with that of the other, and at what cost.
	Coupling StepKind = "coupling"
	// Invariant is what holds whenever a loop begins anew.
	Invariant StepKind = "invariant"
	// Argument is any other step.
	Argument StepKind = "argument"
)

// A Counterexample is two neighbours and an event that refute a claim.
type Counterexample struct {
	Inputs    map[string]any `json:"inputs"`
	Neighbour map[string]any `json:"neighbour"`
	Event     string         `json:"event"`
	// P and Q are intervals around the event's probability under each.
	P [2]float64 `json:"p"`
	Q [2]float64 `json:"q"`
	// Measure is that of the claim: "pure", "approx" or "zcdp"; "" where there is a Distance.
	Measure string `json:"measure,omitempty"`
	// Epsilon is the least that these intervals force, beside the claim's delta if it has
	// one: +Inf when Q is zero. Of zCDP it is a rho.
	Epsilon Number `json:"epsilon"`
	// Claimed is the epsilon, or the rho, that the claim allows these inputs; where there is
	// a Distance, which of those it is that a sensitivity allows.
	Claimed Number `json:"claimed"`
	// Parameter is the only input of which the claim's cost speaks, if there is one, and Fails
	// a range of it: the same event refutes the claim at both ends, and at what was tried in
	// between, each twice the one before.
	Parameter string      `json:"parameter,omitempty"`
	Fails     *[2]float64 `json:"fails,omitempty"`
	// Distance is set where it is a sensitivity that is refuted. Then the results are
	// certain: Event is that of the inputs, and its probability under the neighbour is 0.
	Distance *Distance `json:"distance,omitempty"`
}

// A Distance is that of the results of a function for two neighbours.
type Distance struct {
	// Input is what differs between the neighbours, and Moved how far.
	Input string `json:"input"`
	Moved Number `json:"moved"`
	// Norm is that of both distances.
	Norm string `json:"norm"`
	// Neighbour is what happens for the neighbour: "returns 3".
	Neighbour string `json:"neighbour"`
	// Results is how far what is returned lies apart: at least, where it is irrational.
	Results Number `json:"results"`
}

// A Number is a float64 of which JSON writes infinity as the string "infinity".
type Number float64

// MarshalJSON writes the number.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(n), 1) {
		return []byte(`"infinity"`), nil
	}
	return json.Marshal(float64(n))
}
