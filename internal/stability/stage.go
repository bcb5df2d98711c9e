package stability

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
)

// A Stage is a relation that is computed from releases, and public tables, before another release is
// made, in whose rows it is joined: a threshold that is a released average, groups of which the released
// count is large. One over no release is public, and is computed before anything is charged. It is post-processing of the releases that it reads, which come before the ones whose
// Input has its plan.Stage, and so it is constant when these are made.
//
// Theorem (adaptive composition; Dwork, Rothblum and Vadhan 2010, for zCDP Bun and Steinke 2016, lemma 2.3,
// for RDP Mironov 2017, proposition 1, for (ε, δ) Dwork and Roth 2014, theorem B.1). Let M1 meet a guarantee g1, and
// let M2(·, y) meet g2 for each y. Then D ↦ (y, M2(D, y)) with y = M1(D) meets their composition.
//
// So the release above must meet its guarantee whatever the constants are. It does: a join with constants
// copies, drops or completes the rows of a unit one by one, as a join with a public table does, and what the
// release is charged, its keys, their domains, bounds, grid and noise are found by Analyze, which
// never sees a value of a stage. What is composed is so a plan of guarantees that was fixed in advance, over mechanisms that were
// not: filters allow that, and the ledger reserves the cost of all releases before the first is made. Which rows a
// stage has is part of y. A NULL in it is a constant like another, and a stage without rows a relation without rows: what an
// outer release counts is smaller then, and no error, nor its absence, tells more than y did.
type Stage struct {
	Plan plan.Node // over plan.Released leaves and public tables
	// One says that it has one row, whatever was released.
	One bool
	// Releases are the numbers of those that it reads, or that the stages below it read.
	Releases []int
}

// MaxStage bounds the rows of a stage, which stand as constants in the engine's SQL.
const MaxStage = 10_000

// staged returns a released relation as constants.
func (a *analysis) staged(r *relation) (*relation, error) {
	s := &Stage{Plan: r.node, One: oneRow(r.node, a.certificate.Releases)}
	s.Releases = a.releasesOf(r.node, nil)
	return &relation{node: a.stage(s, r.node.Place()), state: public, one: s.One}, nil
}

// Public reports whether nothing that was released is in a stage.
func (s *Stage) Public() bool { return len(s.Releases) == 0 }

// Dependent is a stage by which a release depends on another, or nil.
func (c *Certificate) Dependent() *Stage {
	for _, s := range c.Stages {
		if !s.Public() {
			return s
		}
	}
	return nil
}

// stage returns the leaf that stands for a stage; equal ones are computed once.
func (a *analysis) stage(s *Stage, at diagnostic.Span) *plan.Stage {
	number := slices.IndexFunc(a.certificate.Stages, func(known *Stage) bool { return plan.Format(known.Plan) == plan.Format(s.Plan) })
	if number < 0 {
		number = len(a.certificate.Stages)
		a.certificate.Stages = append(a.certificate.Stages, s)
	}
	return &plan.Stage{Index: number, Cols: s.Plan.Columns(), Span: at}
}

// releasesOf adds the numbers of the releases that n reads.
func (a *analysis) releasesOf(n plan.Node, seen []int) []int {
	var stages []int
	switch n := n.(type) {
	case *plan.Released:
		seen = appendOnce(seen, n.Index)
		stages = StagesOf(a.certificate.Releases[n.Index].Input)
	case *plan.Stage:
		stages = []int{n.Index}
	}
	for _, i := range stages {
		for _, below := range a.certificate.Stages[i].Releases {
			seen = appendOnce(seen, below)
		}
	}
	for _, in := range n.Inputs() {
		seen = a.releasesOf(in, seen)
	}
	return seen
}

func appendOnce(list []int, n int) []int {
	if slices.Contains(list, n) {
		return list
	}
	return append(list, n)
}

// StagesOf are the numbers of the stages that a plan has, each once.
func StagesOf(n plan.Node) (all []int) {
	if s, ok := n.(*plan.Stage); ok {
		return []int{s.Index}
	}
	for _, in := range n.Inputs() {
		for _, i := range StagesOf(in) {
			all = appendOnce(all, i)
		}
	}
	return all
}

// oneRow reports whether a relation has one row, whatever was released.
func oneRow(n plan.Node, releases []*Release) bool {
	switch n := n.(type) {
	case *plan.Released:
		r := releases[n.Index]
		return len(r.Keys) == 0 || r.Chosen && len(r.Keys) == 1
	case *plan.Values:
		return len(n.Rows) == 1
	case *plan.Project:
		return oneRow(n.Input, releases)
	case *plan.Window:
		return oneRow(n.Input, releases)
	case *plan.Sort:
		return oneRow(n.Input, releases)
	case *plan.Aggregate:
		return len(n.Keys) == 0 && n.Sets == nil
	case *plan.Join:
		return n.Kind == plan.Cross && oneRow(n.Left, releases) && oneRow(n.Right, releases)
	}
	return false
}

// Refused refuses a stage that has too many rows whatever is released; groups says how many a complete release has.
func (s *Stage) Refused(groups func(release int) int64) error {
	if leastRows(s.Plan, groups) <= MaxStage {
		return nil
	}
	return diagnostic.New("D045", s.Plan.Place(), "private rows joined with a released table of more than %d rows", MaxStage).
		Because("what was released stands as constants in the statement that reads the private rows").
		Try("group by a coarser key, or release both sides and join what was released")
}

// leastRows is how many rows a relation has at least.
func leastRows(n plan.Node, groups func(release int) int64) int64 {
	switch n := n.(type) {
	case *plan.Released:
		return groups(n.Index)
	case *plan.Project:
		return leastRows(n.Input, groups)
	case *plan.Window:
		return leastRows(n.Input, groups)
	case *plan.Sort:
		return leastRows(n.Input, groups)
	case *plan.Join: // what is numbered with its keys
		if r, ok := n.Left.(*plan.Released); ok && n.Kind == plan.Inner {
			if _, ok := n.Right.(*plan.Stage); ok {
				return groups(r.Index)
			}
		}
	}
	return 0
}
