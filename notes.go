package discreet

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/stability"
)

// notes are what a reader must know to use the numbers rightly.
func (s *statement) notes() []string {
	var notes []string
	if s.together {
		notes = append(notes, "the intervals hold all at once with the stated confidence")
	}
	for _, d := range s.doubts {
		part := strings.Join(strings.Fields(s.text[d.Span.Start:d.Span.End]), " ")
		if r := []rune(part); len(r) > 60 {
			part = string(r[:60]) + "..."
		}
		notes = append(notes, fmt.Sprintf("is %s meant? %s", part, d.Words))
	}
	note := func(text string) { // which several releases may share
		if !slices.Contains(notes, text) {
			notes = append(notes, text)
		}
	}
	if s.certificate.Dependent() != nil {
		note("a release depends on a released value before it, whose noise stays in it: intervals are of the noise alone that was added after, with that value as a constant")
	}
	for number, r := range s.certificate.Releases {
		switch {
		case r.Chosen:
			for _, text := range s.choiceNotes(number) {
				note(text)
			}
		case s.remade != nil && !s.remade[number].Same():
			for _, text := range madeNotes(s.remade[number]) {
				note(text)
			}
		case r.OneRow || len(r.Components) == 0:
		case r.Kept:
			note(fmt.Sprintf("each unit counts with at most %s of %s, the same for every statement; intervals do not cover what this leaves out", diagnostic.Count(max(r.Rows, r.MaxRows), "row"), limitedTables(r.Input)[0].Name))
		case r.Within != nil:
			bound := diagnostic.Count(r.MaxGroups, "group")
			if r.MaxRows > 0 {
				bound += ", with at most " + diagnostic.Count(r.MaxRows, "row") + " in each"
			}
			note(fmt.Sprintf("each unit counts in at most %s, by the keys of all grouping sets together; intervals do not cover what these bounds cut off", bound))
		case r.MaxRows > 0 && len(r.Keys) > 0:
			note(fmt.Sprintf("each unit counts in at most %s, with at most %s in each; intervals do not cover what these bounds cut off", diagnostic.Count(r.MaxGroups, "group"), diagnostic.Count(r.MaxRows, "row")))
		case r.MaxRows > 0:
			note(fmt.Sprintf("each unit counts with at most %s; intervals do not cover what this bound cuts off", diagnostic.Count(r.MaxRows, "row")))
		case len(r.Keys) > 0:
			note(fmt.Sprintf("each unit counts in at most %s; intervals do not cover what this bound cuts off", diagnostic.Count(r.MaxGroups, "group")))
		}
		if !r.Kept && len(r.Components) > 0 {
			for _, t := range limitedTables(r.Input) {
				note(fmt.Sprintf("%s has at most %s of a unit: the others are in no answer", t.Name, diagnostic.Count(t.MaxUnitRows, "row")))
			}
		}
		if number < len(s.design.Releases) && s.design.Releases[number].Threshold != nil {
			note(fmt.Sprintf("a group is shown if its noisy count is %v or more; near that the count's interval reaches down to 1", s.design.Releases[number].Threshold.Least()))
		}
		if len(r.Sums) > 0 {
			subject := "1 grouping set has no noise of its own"
			if n := len(r.Sums); n > 1 {
				subject = fmt.Sprintf("%d grouping sets have no noise of their own", n)
			}
			note(subject + ": values there are sums of the finest set's noisy ones, with larger errors, as the intervals say")
		}
		if r.Apart {
			note("each grouping set has bounds and groups of its own, since a key has no public domain: what sets say does not add up")
		}
		for _, text := range s.clampedNotes(number) {
			note(text)
		}
		for _, text := range s.foundNotes(r) {
			note(text)
		}
		if !r.Private {
			for _, k := range r.Bounding() {
				switch {
				case k.Numbered != nil:
					note("a release has the groups alone that public rows name, since it is joined with them")
				case k.Derived:
					note(fmt.Sprintf("%s: its values follow from declared bounds and domains; rows with others, and NULL, are left out", s.keyName(k)))
				case len(k.Domain) > 0:
					note(fmt.Sprintf("%s: rows outside the public domain, and NULL, are left out", s.keyName(k)))
				}
				if text := outerBuckets(k); text != "" {
					note(s.keyName(k) + ": " + text)
				}
			}
		}
	}
	if s.consistent {
		notes = append(notes, "counts, and sums of values of one sign, are moved to what data could have, and so are the ends of intervals: what was moved is biased")
		if slices.ContainsFunc(s.certificate.Releases, func(r *stability.Release) bool { return r.Sets != nil }) {
			notes = append(notes, "counts and sums of rows of grouping sets are moved so that they add up; an interval is that of the set's own value, and reaches to the one that is shown")
		}
	}
	return notes
}

// shown names an aggregate of a release as the statement's columns do.
func (s *statement) shown(release, aggregate int) string {
	r := s.certificate.Releases[release]
	if of := s.post.Shown[rewrite.Source{Release: release, Column: len(r.Keys) + aggregate}]; of.Name != "" {
		return of.Name
	}
	return r.Aggregates[aggregate].Name
}

// clampedNotes says between which bounds values are, and how they are rounded: once for all aggregates of a release of
// which it is the same.
func (s *statement) clampedNotes(number int) (notes []string) {
	r := s.certificate.Releases[number]
	names := map[string][]string{}
	for i, g := range r.Aggregates {
		name := s.shown(number, i)
		say := func(format string, args ...any) {
			text := fmt.Sprintf(format, args...)
			if names[text] == nil {
				notes = append(notes, text)
			}
			if !slices.Contains(names[text], name) {
				names[text] = append(names[text], name)
			}
		}
		for _, c := range g.Components {
			comp := r.Components[c]
			if comp.LowerUnits == nil || comp.Kind == stability.Squares {
				continue
			}
			say("values are clamped to [%v, %v]", *float(comp.LowerUnits, comp.ArgGrid), *float(comp.UpperUnits, comp.ArgGrid))
			if comp.Kind == stability.Tree && comp.Step.Cmp(big.NewInt(1)) > 0 {
				apart, _ := comp.Spacing.Float64()
				say("and rounded to the nearest of %d values, %v apart", comp.Places, apart)
			}
		}
	}
	for i, text := range notes {
		notes[i] = strings.Join(names[text], ", ") + ": " + text
	}
	return notes
}

func float(n *big.Int, grid *big.Rat) *float64 {
	f, _ := new(big.Rat).Mul(new(big.Rat).SetInt(n), grid).Float64()
	return &f
}

// choiceNotes are what a reader must know of a value that was chosen.
func (s *statement) choiceNotes(release int) []string {
	r, m := s.certificate.Releases[release], s.choice(release)
	confidence, _ := s.confidence.Float64()
	notes := []string{fmt.Sprintf("%s: a choice among %d values: with confidence %v no other has more rows than the one that is shown by more than %.4g; of equal ones any may be shown, and one is where there are no rows",
		m.Column, m.Candidates, confidence, m.CountBound)}
	switch {
	case r.OneRow:
	case r.Kept:
		notes = append(notes, fmt.Sprintf("each unit counts with at most %s of %s, the same for every statement; what is said of a choice is of what this leaves", diagnostic.Count(max(r.Rows, r.MaxRows), "row"), limitedTables(r.Input)[0].Name))
	case len(r.Keys) == 1 && r.MaxGroups == m.Candidates:
		notes = append(notes, fmt.Sprintf("each unit counts with at most %s for each value", diagnostic.Count(r.MaxRows, "row")))
	default:
		notes = append(notes, fmt.Sprintf("each unit counts in at most %s, with at most %s in each; what is said of a choice is of what these bounds leave", diagnostic.Count(r.MaxGroups, "group"), diagnostic.Count(r.MaxRows, "row")))
	}
	return notes
}

// unbounded says, of each column that has intervals, which values have none.
// It reads the answer alone.
func (a *Answer) unbounded() []string {
	const shown = 5
	var notes []string
	for j, c := range a.Columns {
		if !c.Noisy || c.Why != "" {
			continue
		}
		var rows []string
		more := 0
		for i, row := range a.Rows {
			switch {
			case row[j] == nil || a.Intervals[i][j] != nil:
			case len(rows) < shown:
				rows = append(rows, strconv.Itoa(i+1))
			default:
				more++
			}
		}
		if len(rows) == 0 {
			continue
		}
		where := "row " + strings.Join(rows, ", ")
		if len(rows) > 1 {
			where = "rows " + strings.Join(rows, ", ")
		}
		if more > 0 {
			where += fmt.Sprintf(" and %d more", more)
		}
		notes = append(notes, fmt.Sprintf("%s has no interval in %s: within the noise it may be undefined, as a division by 0 is", c.Name, where))
	}
	return notes
}
