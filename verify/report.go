package verify

import (
	"fmt"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/verify/internal/certificate"
)

// ErrMalformedProofs is of a file of stored proofs that cannot be read.
var ErrMalformedProofs = certificate.ErrMalformed

// Options are those of a run.
type Options struct {
	// Dir is the folder in which patterns are understood; "" is the current one.
	Dir string
	// Patterns name packages, as the go command has them; none are "./...".
	Patterns []string
	// Check replays stored certificates and starts no solver.
	Check bool
	// Fresh searches for proofs also where one is stored.
	Fresh bool
	// NoStore leaves the files of certificates as they are.
	NoStore bool
	// Workers is how many claims are worked on at a time; 0 is one a processor.
	Workers int
	// Timeout is the time for one claim; 0 is DefaultTimeout.
	Timeout time.Duration
	// Obligations asks for what the proofs rest on, as SMT-LIB.
	Obligations bool
	// Progress is told of each claim that is begun and over, one call at a time; may
	// be nil.
	Progress func(Progress)
	// Now is the clock that measures; nil measures nothing.
	Now func() time.Time
}

// DefaultTimeout is the time for one claim.
const DefaultTimeout = 30 * time.Second

// Progress is how far a run is.
type Progress struct {
	Done, All int
	// Doing is what happens now: "searching SparseVector".
	Doing string
}

// A Report is the verdicts on all claims of some packages.
type Report struct {
	// Results are in order of package and place.
	Results []Result
	// Missing are solvers that are not installed: "z3", "cvc5". Without them
	// certificates are replayed, and nothing is found.
	Missing []string
	// Failing are solvers that are installed and do not even tell their version.
	Failing []string
	// Stored are the files of certificates that were written.
	Stored []string
}

// Proved reports whether there are claims, and all are proved.
func (r *Report) Proved() bool {
	for _, result := range r.Results {
		if result.Verdict != Proved {
			return false
		}
	}
	return len(r.Results) > 0
}

// A Problem is why a claim is not proved, at its place: what the subset has not,
// what a directive gets wrong, where a proof does not go on.
type Problem struct {
	Kind   ProblemKind `json:"kind"`
	File   string      `json:"file"`
	Line   int         `json:"line"`
	Column int         `json:"column"`
	Text   string      `json:"text"`
	// Hint is the nearest thing that would do.
	Hint string `json:"hint,omitempty"`
}

// A ProblemKind says what went wrong.
type ProblemKind string

// The kinds of problems.
const (
	// Outside the subset of Go of which proofs speak.
	Outside ProblemKind = "outside"
	// Directive is a comment that makes no claim although it begins as one.
	Directive ProblemKind = "directive"
	// Unproved is a step of which no proof was found.
	Unproved ProblemKind = "unproved"
	// Certificate is a stored proof that is missing, stale or wrong.
	Certificate ProblemKind = "certificate"
)

// An Obligation is a formula that a proof rests on: the proof holds if a solver
// answers "unsat" to each.
type Obligation struct {
	// Name says what it is of: "loop at line 12 keeps its invariant".
	Name string
	// SMT is the whole SMT-LIB script.
	SMT string
}

// A LoadError is why packages could not be read. It is of their sources, and of no
// claim.
type LoadError struct{ Problems []Problem }

// Error lists the problems, a line each.
func (e *LoadError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return "load packages: " + strings.Join(lines, "\n")
}

// String writes the problem behind its place.
func (p Problem) String() string {
	switch {
	case p.Line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
	case p.File != "":
		return p.File + ": " + p.Text
	}
	return p.Text
}
