package discreet

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/privacy"
)

// A Certificate says in words what the analysis found.
type Certificate struct {
	Domain     string               `json:"domain"`
	Neighbours string               `json:"neighbours"`
	Releases   []ReleaseCertificate `json:"releases"`
	// Stages are what is computed between releases: a release's plan reads number i, from 0, as "stage i".
	Stages []StageCertificate `json:"stages,omitempty"`
}

// A StageCertificate describes what is computed from releases, or from public rows alone, before other releases
// are made. Its rows are constants there.
type StageCertificate struct {
	Plan string `json:"plan"`
	// Releases are the numbers of those that it depends on, from 1; none of public rows.
	Releases []int `json:"releases"`
	// Rows is how many there are, where they are public.
	Rows int `json:"rows,omitempty"`
}

// A ReleaseCertificate describes one release of a statement.
type ReleaseCertificate struct {
	Plan             string   `json:"plan"` // the unit-preserving rows that are aggregated
	MaxGroupsPerUnit int64    `json:"max_groups_per_unit"`
	MaxRowsPerGroup  int64    `json:"max_rows_per_group,omitempty"`
	Words            []string `json:"words"`
}

// describe puts the certificate into words.
func (s *statement) describe(compiled *compiled) Certificate {
	c := Certificate{Releases: []ReleaseCertificate{}}
	d := s.certificate.Domain
	if d == nil {
		return c
	}
	c.Domain, c.Neighbours = d.ID, d.Neighbours.String()
	for number, r := range s.certificate.Releases {
		c.Releases = append(c.Releases, ReleaseCertificate{Plan: plan.Format(r.Input),
			MaxGroupsPerUnit: r.MaxGroups, MaxRowsPerGroup: r.MaxRows, Words: s.words(number)})
	}
	for i, stage := range s.certificate.Stages {
		described := StageCertificate{Plan: plan.Format(stage.Plan), Releases: []int{}, Rows: len(compiled.known[i])}
		for _, number := range stage.Releases {
			described.Releases = append(described.Releases, number+1)
		}
		c.Stages = append(c.Stages, described)
	}
	return c
}

func (s *statement) words(number int) []string {
	r, d := s.certificate.Releases[number], s.certificate.Domain
	var w []string
	say := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	say("every row aggregated here belongs to one unit of domain %q and depends on that unit's rows and public data alone", d.ID)
	for _, t := range mapped(r.Input) {
		seen := "record"
		if t.Mapping.ByUnit {
			seen = "unit's records"
		}
		say("the rows of %q are what code %.16s makes of each %s of %q, seen alone: at most %s, with values clamped and keys from the list", t.Name,
			t.Mapping.Code, seen, t.Mapping.Of.Name, diagnostic.Count(t.Mapping.Outputs, "row"))
	}
	for _, i := range stability.StagesOf(r.Input) {
		if stage := s.certificate.Stages[i]; stage.Public() {
			say("stage %d are public rows with their numbers, read before anything is charged: they are constants here", i)
		} else {
			say("stage %d is made of %s, before this is released: its values, noise and all, are constants here, and the guarantee holds for each that they can be", i,
				numbered("release", stage.Releases))
		}
	}
	for _, text := range s.autoWords(r) {
		say("%s", text)
	}
	for _, c := range derived(r) {
		say("%s is derived, in each row alone: %s", c.Name, c.Is.Text)
	}
	for _, t := range limitedTables(r.Input) {
		if !r.Kept {
			say("a unit has at most %s in %q, the same for every statement", diagnostic.Count(t.MaxUnitRows, "row"), t.Name)
		}
	}
	switch {
	case r.OneRow:
		say("a unit has at most one row by construction")
	case r.Kept:
		say("a unit has at most %s in %q, which the owner has kept once, the same for every statement: all of them count, in whatever groups", diagnostic.Count(max(r.Rows, r.MaxRows), "row"), limitedTables(r.Input)[0].Name)
	case r.Within != nil:
		names := make([]string, len(r.Within))
		for i, k := range r.Within {
			names[i] = s.keyName(k)
		}
		say("a unit keeps rows in at most %s of (%s), chosen at random, the same for all grouping sets; a group here is made of such groups, and a unit may have all of its own in one",
			diagnostic.Count(r.MaxGroups, "group"), strings.Join(names, ", "))
	case len(r.Keys) == 0:
		say("there is one group")
	case r.Chosen && len(r.Keys) == 1 && r.MaxGroups == r.Candidates():
		say("a unit may have rows of every value")
	default:
		say("a unit keeps rows in at most %s, chosen at random", diagnostic.Count(r.MaxGroups, "group"))
	}
	if r.MaxRows > 0 && !r.OneRow && !r.Kept {
		say("and at most %s in each, chosen at random", diagnostic.Count(r.MaxRows, "row"))
	}
	switch {
	case r.Private:
		say("groups are published if enough units are in them, decided privately")
	case r.Chosen:
		say("one of the %d values of the public domain of %s is published%s, chosen by the counts of all, and no count is", r.Candidates(), chosenColumn(r),
			map[bool]string{true: " for each combination of the other keys' public domains"}[len(r.Keys) > 1])
	case len(r.Keys) == 1 && r.Keys[0].Numbered != nil:
		say("every group that public rows name is published, empty ones too: they are numbered, and the number is the key")
	case len(r.Keys) > 0:
		names := make([]string, len(r.Keys))
		for i, k := range r.Keys {
			names[i] = s.keyName(k)
		}
		say("every group of the public domain of (%s) is published, empty ones too", strings.Join(names, ", "))
	}
	change, moved := "adding or removing", func(c stability.Component) *big.Int { return c.PerGroup }
	if d.Neighbours == privacy.ReplaceOne {
		change, moved = "replacing", stability.Component.Spread
	}
	if r.Chosen {
		say("%s: %s one unit changes the count of each value by at most %v, %s", chosenColumn(r), change, r.Components[0].PerGroup,
			map[bool]string{true: "all of them in one direction", false: "some up and some down"}[d.Neighbours == privacy.AddRemove])
		switch {
		case len(r.Keys) == 1:
		case r.Kept:
			say("all choices together tell as much of a unit as one would with all of its rows")
		default:
			say("a unit plays a part in %s at most", diagnostic.Count(r.Choices(), "choice"))
		}
	}
	for a, g := range r.Aggregates {
		for _, i := range g.Components {
			comp := r.Components[i]
			where := "in a group"
			if r.Kept && d.Neighbours == privacy.AddRemove {
				where = "in all groups together"
			}
			say("%s: %s one unit changes its %s by at most %v %s", s.shown(number, a), change, componentWord(comp.Kind), *float(moved(comp), comp.Grid), where)
		}
	}
	for _, set := range r.Exclusive {
		var names []string
		for a, g := range r.Aggregates {
			if slices.ContainsFunc(g.Components, func(i int) bool { return slices.Contains(set, i) }) {
				names = append(names, s.shown(number, a))
			}
		}
		say("no row adds to more than one of %s", strings.Join(names, ", "))
	}
	return w
}

// bounds are those of a statement's releases of rows that are kept once.
func (s *statement) bounds() string {
	var all []string
	for _, r := range s.certificate.Releases {
		limited := limitedTables(r.Input)
		if len(limited) == 0 || r.OneRow || len(r.Components) == 0 {
			continue
		}
		of := fmt.Sprintf("%s, with %s of a unit in each, chosen for the statement", diagnostic.Count(r.MaxGroups, "group"), diagnostic.Count(r.MaxRows, "row"))
		switch {
		case r.Kept:
			of = fmt.Sprintf("%s of a unit in %q, kept once, in whatever groups", diagnostic.Count(r.Rows, "row"), limited[0].Name)
		case r.MaxRows == 0:
			of = fmt.Sprintf("%s of a unit, chosen for the statement", diagnostic.Count(r.MaxGroups, "group"))
		case len(r.Bounding()) == 0:
			of = fmt.Sprintf("%s of a unit, chosen for the statement", diagnostic.Count(r.MaxRows, "row"))
		}
		if !slices.Contains(all, of) {
			all = append(all, of)
		}
	}
	return strings.Join(all, "; ")
}

// keyName is the name by which a reader knows a key; of one without a name it is the expression as written.
func (s *statement) keyName(k stability.Key) string {
	at, unnamed := k.Expr.Place(), k.Name == "key" // as bind calls it, or by its function
	switch e := k.Expr.(type) {
	case *plan.Ref:
		return k.Name
	case *plan.Call:
		unnamed = k.Name == string(e.Function)
	}
	column := slices.ContainsFunc(s.certificate.Post.Columns(), func(c plan.Column) bool { return c.Name == k.Name })
	if !unnamed || column || at.Start >= at.End || at.End > len(s.text) {
		return k.Name
	}
	return strings.Join(strings.Fields(s.text[at.Start:at.End]), " ")
}

// numbered names things by their numbers, from 1.
func numbered(noun string, all []int) string {
	parts := make([]string, len(all))
	for i, n := range all {
		parts[i] = strconv.Itoa(n + 1)
	}
	if len(all) == 1 {
		return noun + " " + parts[0]
	}
	return noun + "s " + strings.Join(parts, ", ")
}

// derived are the derived columns on which a release depends, by name.
func derived(r *stability.Release) []*catalog.Column {
	var exprs []plan.Expr
	for _, k := range r.Keys {
		exprs = append(exprs, k.Expr)
	}
	for _, c := range r.Components {
		exprs = append(exprs, c.Arg, c.Filter)
	}
	all := slices.Collect(maps.Keys(plan.Used(r.Input, exprs...)))
	all = slices.DeleteFunc(all, func(c *catalog.Column) bool { return c.Is == nil })
	slices.SortFunc(all, func(a, b *catalog.Column) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Is.Text, b.Is.Text))
	})
	return all
}

// mapped are the mapped tables that n reads.
func mapped(n plan.Node) (all []*catalog.Table) {
	if s, ok := n.(*plan.Scan); ok && s.Table.Mapping != nil {
		return []*catalog.Table{s.Table}
	}
	for _, in := range n.Inputs() {
		for _, t := range mapped(in) {
			if !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	return all
}

func componentWord(k stability.ComponentKind) string {
	switch k {
	case stability.Rows:
		return "count"
	case stability.Units:
		return "count of units"
	case stability.Distinct:
		return "count of distinct values"
	case stability.Tree:
		return "number of rows at each level of the tree"
	case stability.Squares:
		return "sum of squared distances from the middle of the bounds"
	}
	return "sum"
}

// limitedTables are the tables that are declared with a number of rows a unit, each once.
func limitedTables(n plan.Node) (all []*catalog.Table) {
	if s, ok := n.(*plan.Scan); ok && s.Table.MaxUnitRows > 0 {
		return []*catalog.Table{s.Table}
	}
	for _, in := range n.Inputs() {
		for _, t := range limitedTables(in) {
			if !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	return all
}
