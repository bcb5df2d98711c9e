package rewrite

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan"
)

// A Post is a statement's post-processing, with the intervals of noisy values
// carried as further columns.
//
// A value computed from k noisy ones lies within the interval computed from
// their intervals whenever all k hold; by the union bound that happens with
// probability at least C if each is taken at confidence 1−(1−C)/k. k is the
// column's share.
type Post struct {
	// Plan's columns are the statement's, then the interval columns.
	Plan    plan.Node
	Width   int // how many columns are the statement's
	Columns []PostColumn
	// Shares are those at which each released table must offer the intervals of its
	// aggregates. A released table's columns are the release's, then, for each aggregate and
	// share, a lower and an upper end, and then, for each of Summed that is of it and each
	// share, the columns of release's SumColumns.
	Shares []Share
	// Summed are the noisy numbers that are added up over rows of their own release.
	Summed []Source
	// Shown says in which of the statement's columns an aggregate of a release is shown, if a column is computed from it alone.
	Shown map[Source]Shown
	// Kept names what chose the rows by noisy values: "group selection",
	// "HAVING", "a condition", "LIMIT". A value that was kept for its size is biased upwards.
	Kept []string
}

// A Shown is a column that is computed from one released number. Its noise is so many times that of the number; Times is nil where that is not known.
type Shown struct {
	Name  string
	Times *big.Rat
}

// A Share is how many noisy values an interval depends on: some, and those of all rows of
// some released tables, as often as a table stands in Tables. How many rows a table has is
// known when it is released. What chose them has noise of its own, or is a count with an interval that holds given
// that its row is shown: given which rows are, their intervals fail with the probabilities that are shared out.
type Share struct {
	Values int
	Tables []int // ascending
}

func (s Share) key() string { return fmt.Sprint(s.Values, s.Tables) }

// Of is the number, where the released tables have so many rows.
func (s Share) Of(rows []int) int {
	n := s.Values
	for _, t := range s.Tables {
		n = min(n+rows[t], maxShare)
	}
	return max(n, 1)
}

// maxShare keeps numbers of noisy values far from the ends of an int.
const maxShare = 1 << 40

// Divided returns the shares as numbers.
func (p *Post) Divided(rows []int) []int {
	out := make([]int, len(p.Shares))
	for i, s := range p.Shares {
		out[i] = s.Of(rows)
	}
	return out
}

// Sums returns which columns of a release's aggregates are added up.
func (p *Post) Sums(release int) (columns []int) {
	for _, s := range p.Summed {
		if s.Release == release {
			columns = append(columns, s.Column)
		}
	}
	return columns
}

// A PostColumn says what is known of a column's uncertainty.
type PostColumn struct {
	// Lower and Upper are column numbers of Plan, or −1.
	Lower, Upper int
	// Noisy says that the column depends on noise. A noisy column without an
	// interval has the reason in Why.
	Noisy bool
	Why   string
}

// Options say what intervals are of.
type Options struct {
	// Together asks for intervals of which all of the answer hold at once with the confidence
	// that each has otherwise.
	Together bool
	// Moved says that released values are moved to what data could have, as release's
	// Table.Consistent does. Their errors are biased then: their sum is not one of independent
	// noise around 0, but lies between the sums of their ends all the same.
	Moved bool
}
