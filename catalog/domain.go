package catalog

import (
	"math/big"
	"regexp"
	"slices"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/privacy"
)

// measures are the filters that a ledger can have; all but the first two split delta.
var measures = []string{"pure", "approx", "zcdp", "whitehouse", "rdp", "gdp"}

func splitsDelta(measure string) bool { return slices.Contains(measures[2:], measure) }

var domainID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

func (l *loader) domain(n *node) {
	d := &Domain{ID: n.name, FailureSuspends: SuspendDomain}
	l.catalog.Domains = append(l.catalog.Domains, d)
	if n.name != "?" && !domainID.MatchString(n.name) {
		l.refuse("D085", n.key, "%q cannot be the id of a domain", n.name).
			Because("the id is permanent: it stands in the ledger").
			Try("use a letter, then letters, digits, dots, dashes and underscores, 64 at most")
	}
	if _, ok := l.table(n); !ok {
		return
	}
	l.keys(n, "neighbours", "measure", "epsilon", "delta", "selection_delta", "failure_suspends", "units_elsewhere")
	if s, ok := l.str(n.field("neighbours")); ok {
		var err error
		d.Neighbours, err = privacy.ParseNeighbours(s)
		if err != nil || d.Neighbours == privacy.ReplaceSpecial {
			l.refuse("D086", n.field("neighbours").value, "unknown neighbouring relation %q: want add-remove or replace-one", s)
		}
	}
	if s, ok := l.str(n.field("failure_suspends")); ok {
		if d.FailureSuspends = s; s != SuspendDomain && s != SuspendAccount {
			l.refuse("D086", n.field("failure_suspends").value, "a failure suspends no %q: want domain or account", s)
		}
	}
	if elsewhere, ok := l.boolean(n.field("units_elsewhere")); ok {
		d.UnitsElsewhere = elsewhere
	}
	l.measure(d, n)
	l.budget(d, n)
}

func (l *loader) measure(d *Domain, n *node) {
	f := n.field("measure")
	if f == nil {
		l.missing(n, "measure", `write measure = "pure", "approx" or "zcdp"`)
		return
	}
	switch s, ok := l.str(f); {
	case !ok:
	case slices.Contains(measures, s):
		d.Measure = s
	case s == "rogers":
		l.refuse("D086", f.value, "measure %q guards no budget", s).
			Because("every budget lasts longer under \"whitehouse\"; it is offered for comparison alone").
			Try(`use "pure", "approx" or "zcdp"`)
	default:
		refused := l.refuse("D086", f.value, "unknown measure %q", s).Try(`use "pure", "approx" or "zcdp"`)
		if near := diagnostic.Nearest(s, measures); near != "" {
			refused.Try("did you mean %q?", near)
		}
	}
}

// budget reads the amounts that the measure needs, and refuses the others.
func (l *loader) budget(d *Domain, n *node) {
	if f := n.field("epsilon"); f == nil {
		l.missing(n, "epsilon", "write the whole budget of the domain, as in epsilon = 1.0")
	} else if eps, ok := amount(l, f, privacy.NewEpsilon); ok {
		if d.Epsilon = eps; eps.Sign() == 0 {
			l.refuse("D086", f.value, "epsilon is zero").Because("a budget of zero admits no statement")
		}
	}

	delta := n.field("delta")
	switch {
	case delta != nil && d.Measure == "pure":
		l.refuse("D086", delta.key, "measure %q has no delta", d.Measure).
			Try(`remove it, or take measure "approx" or "zcdp"`)
	case delta != nil:
		var ok bool
		if d.Delta, ok = amount(l, delta, privacy.NewDelta); ok && d.Delta.Sign() == 0 {
			l.refuse("D086", delta.value, "delta is zero").
				Because("measure %q needs a delta above zero", d.Measure).
				Try(`write a delta well below one over the number of units, or take measure "pure"`)
		}
	case d.Measure == "approx" || splitsDelta(d.Measure):
		l.missing(n, "delta", "write a delta well below one over the number of units, as in delta = 1e-7")
	}

	if splitsDelta(d.Measure) {
		d.SelectionDelta = d.Delta.MulRat(big.NewRat(1, 2))
	}
	sel := n.field("selection_delta")
	if sel == nil {
		return
	}
	if d.Measure != "" && !splitsDelta(d.Measure) {
		l.refuse("D086", sel.key, "measure %q has no selection_delta", d.Measure).
			Because("it does not split delta between private group selection and the conversion to epsilon")
		return
	}
	part, ok := amount(l, sel, privacy.NewDelta)
	if ok && d.Delta.Sign() > 0 && part.Cmp(d.Delta) >= 0 {
		l.refuse("D086", sel.value, "selection_delta is not below delta").
			Because("what is left of delta pays for the conversion of %s to epsilon", d.Measure)
		return
	}
	d.SelectionDelta = part
}

// defaults reads what holds for statements that don't say.
func (l *loader) defaults(n *node) {
	l.keys(n, "confidence", "epsilon", "delta", "rho")
	if r, ok := l.rat("D084", n.field("confidence")); ok {
		if r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
			l.refuse("D084", n.field("confidence").value, "confidence must lie between 0 and 1").
				Because("it is the probability that an interval covers")
		}
		l.catalog.Confidence, _ = r.Float64()
	}
	s := &l.catalog.Spend
	var eps, delta, rho bool
	s.Epsilon, eps = amount(l, n.field("epsilon"), privacy.NewEpsilon)
	s.Delta, delta = amount(l, n.field("delta"), privacy.NewDelta)
	s.Rho, rho = amount(l, n.field("rho"), privacy.NewRho)
	if eps && s.Epsilon.Sign() == 0 {
		l.refuse("D086", n.field("epsilon").value, "epsilon is zero").Because("an answer must cost more than 0")
	}
	if rho && s.Rho.Sign() == 0 {
		l.refuse("D086", n.field("rho").value, "rho is zero").Because("an answer must cost more than 0")
	}
	if rho && eps {
		l.refuse("D086", n.field("rho").key, "a statement spends epsilon or rho, but not both").Try("remove one of them")
	}
	if delta && n.field("epsilon") == nil && n.field("rho") == nil {
		l.refuse("D086", n.field("delta").key, "a default delta needs a default epsilon or rho beside it")
	}
}
