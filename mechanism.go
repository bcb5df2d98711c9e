package discreet

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/stability"
)

// A Mechanism describes the noise of one part of a column.
type Mechanism struct {
	Column string `json:"column"`
	// Part is "count", "sum" or "squares" where a column is computed from
	// several noisy numbers.
	Part      string `json:"part,omitempty"`
	Mechanism string `json:"mechanism"`
	// Scale is the noise's scale (Laplace) or standard deviation (Gaussian), in
	// the value's unit.
	Scale float64 `json:"scale"`
	// Terms is of how many independent draws, each of at most this scale, the noise is the sum,
	// where these are more than one: a count and a sum of the same values have noise together.
	Terms int `json:"terms,omitempty"`
	// Sensitivity is the L1 (Laplace) or L2 (Gaussian) distance between
	// neighbours over all groups, in the value's unit.
	Sensitivity      float64  `json:"sensitivity"`
	MaxGroupsPerUnit int64    `json:"max_groups_per_unit"`
	MaxRowsPerGroup  int64    `json:"max_rows_per_group,omitempty"`
	Lower            *float64 `json:"lower"`
	Upper            *float64 `json:"upper"`
	// Places, Branching and Levels are those of a tree of counts, from which quantiles are
	// read, and RankBound how far their ranks are off at most, in rows, each with the
	// statement's confidence.
	Places    int64   `json:"places,omitempty"`
	Branching int     `json:"branching,omitempty"`
	Levels    int     `json:"levels,omitempty"`
	RankBound float64 `json:"rank_bound,omitempty"`
	// Candidates, Choices and CountBound are those of a choice: among how many values it is made, as how many choices all of the release
	// cost, and by how many rows another value may be before the one that is chosen, with the statement's confidence. Its sensitivity is the most
	// by which a unit changes a count, and a value that has as many rows less as the scale says is less likely by a factor of e.
	Candidates int64   `json:"candidates,omitempty"`
	Choices    int64   `json:"choices,omitempty"`
	CountBound float64 `json:"count_bound,omitempty"`
	// Threshold is the least noisy count of a group that is shown, where a count of the answer chooses the groups.
	Threshold int64 `json:"threshold,omitempty"`
}

// mechanisms describes the noise of a design.
func (s *statement) mechanisms() []Mechanism {
	out := []Mechanism{}
	for number, r := range s.design.Releases {
		for a, g := range r.Aggregates {
			for i, c := range g.Components {
				comp, n := r.Components[c], r.Noise[c]
				m := Mechanism{Column: s.shown(number, a), Mechanism: n.Name, Sensitivity: n.Sensitivity,
					MaxGroupsPerUnit: r.MaxGroups, MaxRowsPerGroup: r.MaxRows}
				m.Scale = n.ScaleIn(comp.Grid)
				if n.Terms > 1 {
					m.Terms = n.Terms
				}
				if len(g.Components) > 1 {
					m.Part = [...]string{"count", "sum", "squares"}[i]
				}
				if comp.LowerUnits != nil {
					m.Lower, m.Upper = float(comp.LowerUnits, comp.ArgGrid), float(comp.UpperUnits, comp.ArgGrid)
				}
				if comp.Kind == stability.Tree {
					m.Part, m.Places, m.Branching, m.Levels = "tree", comp.Places, n.Shape.Branching, n.Shape.Levels
					m.RankBound = r.RankBound(g, new(big.Rat).Sub(big.NewRat(1, 1), s.confidence))
				}
				if comp.Kind == stability.PartialSum {
					m.Lower, m.Upper, m.MaxRowsPerGroup = float(comp.PartialLower, comp.Grid), float(comp.PartialUpper, comp.Grid), 0
				}
				if comp.Kind == stability.Units {
					m.MaxRowsPerGroup = 1
				}
				out = append(out, m)
			}
		}
		if r.Chosen {
			out = append(out, s.choice(number))
		}
		if r.Selection != nil {
			out = append(out, Mechanism{Column: "group selection", Mechanism: r.Selection.Name(), Sensitivity: 1,
				Scale: r.Selection.Scale(), MaxGroupsPerUnit: r.MaxGroups, MaxRowsPerGroup: 1})
		}
		if t := r.Threshold; t != nil {
			n := r.Noise[r.Counter()]
			out = append(out, Mechanism{Column: "group selection", Mechanism: t.Name(), Sensitivity: n.Sensitivity,
				Scale: n.ScaleIn(big.NewRat(1, 1)), MaxGroupsPerUnit: r.MaxGroups, MaxRowsPerGroup: 1, Threshold: saturated(t.Least())})
		}
	}
	return out
}

// choice describes that of a release.
func (s *statement) choice(release int) Mechanism {
	r := s.design.Releases[release]
	m := Mechanism{Column: chosenColumn(r.Release), Mechanism: r.Choice.Name, MaxGroupsPerUnit: r.MaxGroups, MaxRowsPerGroup: r.MaxRows,
		Candidates: r.Choice.Candidates, Choices: r.Choice.Choices}
	m.Scale, _ = r.Choice.Scale().Float64()
	m.Sensitivity = *float(r.Choice.Sensitivity, big.NewRat(1, 1))
	m.CountBound, _ = r.Choice.Reach(s.beta()) // prepare has seen that it is known
	return m
}

// chosenColumn names the column of a release whose value is chosen.
func chosenColumn(r *stability.Release) string { return r.Columns[len(r.Columns)-1].Name }

// saturated is a number, or the largest of 64 bits.
func saturated(n *big.Int) int64 {
	if !n.IsInt64() {
		return math.MaxInt64
	}
	return n.Int64()
}

// Noise names the noise in words.
func (m Mechanism) Noise() string {
	words := strings.ReplaceAll(m.Mechanism, "_", " ")
	if m.Terms > 1 {
		words = fmt.Sprintf("sum of %d %s", m.Terms, words)
	}
	return words
}
