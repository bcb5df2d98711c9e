package discreet

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
)

// An Offer is what one holder of a federation says of a statement before anything is charged:
// how its certificate bounds what a unit moves. It is made of declarations alone.
type Offer struct {
	Domain     string `json:"domain"`
	Neighbours string `json:"neighbours"`
	Measure    string `json:"measure"` // in which the domain is charged
	// Elsewhere says that units of the domain may have rows at other holders too.
	Elsewhere bool             `json:"units_elsewhere,omitempty"`
	Releases  []OfferedRelease `json:"releases"`
}

// An OfferedRelease is one release: integers over complete groups, component by component.
type OfferedRelease struct {
	Keys       []OfferedKey       `json:"keys"`
	Groups     int                `json:"groups"`
	MaxGroups  int64              `json:"max_groups_per_unit"`
	MaxRows    int64              `json:"max_rows_per_group"`
	Components []OfferedComponent `json:"components"`
	Aggregates []OfferedAggregate `json:"aggregates"`
}

// An OfferedKey is a key's complete public domain, by its digest.
type OfferedKey struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Values int    `json:"values"`
	Digest []byte `json:"digest"`
}

// An OfferedComponent says what one integer counts, in which unit, and how far a unit moves
// it in a group. Numbers are fractions in decimal.
type OfferedComponent struct {
	Kind     string `json:"kind"`
	Grid     string `json:"grid"`
	ArgGrid  string `json:"argument_grid"`
	Center   string `json:"center"`
	Shift    uint   `json:"shift"`
	PerGroup string `json:"per_group"`
}

// An OfferedAggregate says how an aggregate is computed of components.
type OfferedAggregate struct {
	Function   string `json:"function"`
	Type       string `json:"type"`
	Components []int  `json:"components"`
	Lower      string `json:"lower"`
	Upper      string `json:"upper"`
}

// maxShared bounds the integers of a federated statement: a party gets some 24 bytes of each.
const maxShared = 500_000

// maxDigits bounds the text of a sensitivity in an offer.
const maxDigits = 400

// Offer is what the statement's holder says of it to a federation. It refuses what cannot be
// added up over holders.
func (s *Statement) Offer() (*Offer, error) {
	c := s.planned.certificate
	if len(s.planned.design.Events) == 0 {
		return nil, s.notFederated(diagnostic.Span{}, "the statement asks nothing of private tables",
			"there is nothing to share or to hide", "ask one holder: discreet query without --federation")
	}
	if stage := c.Dependent(); stage != nil {
		return nil, s.notFederated(stage.Plan.Place(), "a release depends on another",
			"the holders would have to release one, and read it, before they share the other", "ask in two statements, and use the first answer as a constant")
	}
	o := &Offer{Domain: c.Domain.ID, Neighbours: c.Domain.Neighbours.String(), Measure: c.Domain.Measure, Elsewhere: c.Domain.UnitsElsewhere}
	values := 0
	for i, r := range c.Releases {
		if len(r.Keys) == 1 && r.Keys[0].Numbered != nil {
			return nil, s.notFederated(r.Span, "the groups are those that public rows name",
				"the holders' public tables may differ, and their groups would be others", "group by keys with a public domain, in a statement of their own")
		}
		if err := s.addsUp(r); err != nil {
			return nil, err
		}
		groups := r.MaxGroups
		if r.Kept { // all rows in one group move the farthest: see stability's Distances
			groups = 1
		}
		out := OfferedRelease{Keys: []OfferedKey{}, Groups: 1, MaxGroups: groups, MaxRows: r.MaxRows, Components: []OfferedComponent{}, Aggregates: []OfferedAggregate{}}
		for j, k := range r.Keys {
			domain := s.compiled.domains[i][j]
			if len(domain) == 0 {
				return nil, s.notFederated(r.Span, "a grouping key's public domain has no values",
					"there would be no group, and nothing to share", "declare the key's values")
			}
			out.Keys = append(out.Keys, OfferedKey{k.Name, k.Expr.Type().String(), len(domain), digestValues(domain)})
			out.Groups *= len(domain) // bounded when the statement was compiled
		}
		for _, comp := range r.Components {
			center := comp.Center
			if center == nil {
				center = new(big.Int)
			}
			out.Components = append(out.Components, OfferedComponent{Kind: componentKinds[comp.Kind], Grid: comp.Grid.RatString(), ArgGrid: comp.ArgGrid.RatString(),
				Center: center.String(), Shift: comp.Shift, PerGroup: comp.PerGroup.String()})
		}
		for _, g := range r.Aggregates {
			a := OfferedAggregate{Function: fmt.Sprint(g.Function), Type: g.Type.String(), Components: g.Components}
			if g.Lower != nil {
				a.Lower, a.Upper = g.Lower.RatString(), g.Upper.RatString()
			}
			out.Aggregates = append(out.Aggregates, a)
		}
		o.Releases = append(o.Releases, out)
		if values += out.Groups * max(1, len(out.Components)); values > maxShared {
			return nil, s.notFederated(r.Span, fmt.Sprintf("the answer would have more than %d noisy values", maxShared),
				"each is shared among the parties by every holder", "group by fewer or coarser keys")
		}
	}
	return o, nil
}

var componentKinds = map[stability.ComponentKind]string{stability.Rows: "rows", stability.Sum: "sum", stability.Squares: "squares",
	stability.PartialSum: "partial sum", stability.Units: "units", stability.Distinct: "distinct values", stability.Tree: "tree"}

func (s *Statement) notFederated(at diagnostic.Span, message, why, hint string) error {
	return refusal(in(diagnostic.New("D240", at, "%s", message).Because("%s", why).Try("%s", hint), s.planned.text))
}

// addsUp refuses a release whose exact values over all holders are not the sums of theirs, or
// whose groups no holder may tell another.
func (s *Statement) addsUp(r *stability.Release) error {
	elsewhere := s.planned.certificate.Domain.UnitsElsewhere
	if r.Private {
		return s.notFederated(r.Span, "a grouping key has no public domain",
			"which groups a holder has is private, and the groups of a federation are the same at each", "each holder declares the key's values as a public domain")
	}
	if r.Chosen {
		return s.notFederated(r.Span, fmt.Sprintf("%s cannot be chosen over holders", chosenColumn(r)),
			"a choice is made by counts that nobody has", "ask for the counts as well: approx_top_count(x, 1)")
	}
	for _, comp := range r.Components {
		switch {
		case comp.Kind == stability.Tree:
			return s.notFederated(r.Span, "a quantile cannot be read over holders",
				"its tree of counts would have to be shared whole", "count by range, GROUP BY width_bucket(x, low, high, n), or ask each holder by itself")
		case comp.Kind == stability.Distinct:
			return s.notFederated(r.Span, "count(DISTINCT ...) cannot be added up over holders",
				"a value that two holders have would count twice", "count rows, or ask each holder by itself")
		case comp.Kind == stability.Units && elsewhere:
			return s.notFederated(r.Span, "units cannot be counted over holders that share them",
				"a unit at two holders would count twice", "count rows, or ask each holder by itself")
		}
	}
	if elsewhere && !rowByRow(r.Input) {
		return s.notFederated(r.Span, "a join of private tables, or a value of a unit's rows together, at holders that share units",
			"no holder has all rows of a unit, so that each would compute something else than the statement says",
			"ask for counts and sums of rows, or ask each holder by itself")
	}
	return nil
}

// rowByRow reports whether each row of a relation comes of one private row and of public ones.
func rowByRow(n plan.Node) bool {
	private := 0
	switch n := n.(type) {
	case *plan.Scan:
		return n.Table.Mapping == nil || !n.Table.Mapping.ByUnit
	case *plan.Aggregate, *plan.Window, *plan.Limit:
		return len(scans(n, nil)) == 0 || !readsPrivate(n)
	case *plan.Join:
		for _, in := range n.Inputs() {
			if readsPrivate(in) {
				private++
			}
		}
	}
	if private > 1 {
		return false
	}
	return !slices.ContainsFunc(n.Inputs(), func(in plan.Node) bool { return !rowByRow(in) })
}

func readsPrivate(n plan.Node) bool {
	if s, ok := n.(*plan.Scan); ok {
		return !s.Table.Public
	}
	return slices.ContainsFunc(n.Inputs(), readsPrivate)
}

// JoinOffers is what the parties' noise has to hide of the holders of these names together.
//
// Theorem. If all rows of a unit lie at one holder, the totals of two neighbouring federations
// differ by what one holder's do: by at most the largest holder's distance. If they may lie at
// several, removing the unit changes each holder's values, and by the triangle inequality the
// totals by at most the sum of their distances, in L1 and in L2. With the most groups of any
// holder as L0, and the largest, or the sum, of what a unit moves in a group, both follow from
// stability.Release's theorem.
//
// Where a unit is replaced, by one at another holder perhaps, what counts is not negative at any
// holder, so that W = M, and its distances M·min(2·L0, G) in L1 and M·√min(2·L0, G) in L2 grow
// with M and with L0: what was said holds of them. A sum's distances just double: its bounds are the
// holder's own, so that W of two holders together can be more than that of each.
//
// It refuses holders whose values mean different things.
func JoinOffers(names []string, offers []*Offer) (*Offer, error) {
	if len(offers) == 0 || len(names) != len(offers) || slices.Contains(offers, nil) {
		return nil, errors.New("join offers: no holder, or one without an offer")
	}
	first := offers[0]
	for i, o := range offers {
		if what := o.differs(first); what != "" {
			return nil, refusal(diagnostic.New("D241", diagnostic.Span{}, "the holders %s and %s do not declare the same", names[0], names[i]).
				Because("they differ in %s, so that their values cannot be added up", what).
				Try("their owners agree on it; bounds of rows and groups may differ"))
		}
	}
	joint := &Offer{Neighbours: first.Neighbours, Measure: first.Measure}
	for _, o := range offers {
		joint.Elsewhere = joint.Elsewhere || o.Elsewhere
	}
	for i := range first.Releases {
		r := first.Releases[i]
		r.Components = slices.Clone(r.Components)
		for j := range r.Components {
			together := new(big.Int)
			for _, o := range offers {
				text := o.Releases[i].Components[j].PerGroup
				if len(text) > maxDigits { // to read it takes time that grows faster than it
					return nil, errors.New("join offers: a sensitivity is too long")
				}
				moved, ok := new(big.Int).SetString(text, 10)
				switch {
				case !ok || moved.Sign() <= 0:
					return nil, errors.New("join offers: a sensitivity is not positive")
				case joint.Elsewhere:
					together.Add(together, moved)
				case moved.Cmp(together) > 0:
					together = moved
				}
			}
			r.Components[j].PerGroup = together.String()
		}
		for _, o := range offers {
			if o.Releases[i].MaxGroups < 1 {
				return nil, errors.New("join offers: a unit counts in no group")
			}
			r.MaxGroups = max(r.MaxGroups, o.Releases[i].MaxGroups)
			r.MaxRows = max(r.MaxRows, o.Releases[i].MaxRows)
		}
		joint.Releases = append(joint.Releases, r)
	}
	return joint, nil
}

// differs names what two offers must agree on and do not; "" if they agree.
func (o *Offer) differs(from *Offer) string {
	switch {
	case o.Neighbours != from.Neighbours:
		return "the neighbouring relation"
	case o.Measure != from.Measure:
		return "the measure of the budget"
	case len(o.Releases) != len(from.Releases):
		return "what is released"
	}
	for i, r := range o.Releases {
		of := from.Releases[i]
		switch {
		case !reflect.DeepEqual(r.Keys, of.Keys) || r.Groups != of.Groups:
			return "the public domain of a grouping key"
		case len(r.Components) != len(of.Components) || !reflect.DeepEqual(r.Aggregates, of.Aggregates):
			return "the bounds or the type of a column that is aggregated"
		}
		for j, c := range r.Components {
			same := of.Components[j]
			same.PerGroup = c.PerGroup // that may differ
			if c != same {
				return "the bounds or the type of a column that is aggregated"
			}
		}
	}
	return ""
}
