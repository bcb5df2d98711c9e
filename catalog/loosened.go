package catalog

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"

	"github.com/discreet-dp/discreet/sqltype"
)

// A catalog that takes another's place while statements are answered must not let more be
// learnt than the one before, unless its owner says so for that very text. What is looser
// is decided field by field, and what no rule calls tighter counts as looser: a change of
// which nobody has thought, too.

// A rule says of a field of T when its change lets nothing more be learnt.
type rule[T any] struct {
	field string // of T
	key   string // as the catalog writes it; "" of one whose change says nothing
	holds func(before, after *T) bool
}

// free is the rule of a field that says nothing of what may be learnt, or only repeats
// what another one says.
func free[T any](_, _ *T) bool { return true }

// unchanged is the rule of a field of which any change counts.
func unchanged[T any, V comparable](of func(*T) V) func(before, after *T) bool {
	return func(before, after *T) bool { return of(before) == of(after) }
}

func catalogRules() []rule[Catalog] {
	return []rule[Catalog]{
		{"Path", "path", unchanged(func(c *Catalog) string { return c.Path })}, // sources are relative to it
		{"Text", "", free[Catalog]},
		{"Digest", "", free[Catalog]},
		{"Domains", "", free[Catalog]}, // each for itself, as tables and views
		{"Tables", "", free[Catalog]},
		{"Views", "", free[Catalog]},
		{"Confidence", "", free[Catalog]}, // of intervals: the noise is the same
		{"Spend", "defaults", func(before, after *Catalog) bool {
			b, a := before.Spend, after.Spend
			return a.Epsilon.Cmp(b.Epsilon) <= 0 && a.Delta.Cmp(b.Delta) <= 0 && a.Rho.Cmp(b.Rho) <= 0
		}},
		{"Resources", "", free[Catalog]},                                             // see resourceRules
		{"Engine", "engine", unchanged(func(c *Catalog) Engine { return c.Engine })}, // where all sources are
		{"Books", "ledger", func(before, after *Catalog) bool { // other books have another budget
			return before.Books.Variable == after.Books.Variable && (after.Books.Replicated || !before.Books.Replicated)
		}},
		{"whole", "", free[Catalog]},
	}
}

func resourceRules() []rule[Resources] {
	return []rule[Resources]{
		{"Memory", "", free[Resources]}, // what fails for want of it is charged and recorded
		{"Threads", "", free[Resources]},
		{"Temp", "temp", unchanged(func(r *Resources) string { return r.Temp })}, // private data is written there
		{"Copies", "copies", unchanged(func(r *Resources) string { return r.Copies })},
		{"CopiesSize", "", free[Resources]},
	}
}

func domainRules() []rule[Domain] {
	return []rule[Domain]{
		{"ID", "", free[Domain]}, // by which two are compared
		{"Neighbours", "neighbours", unchanged(func(d *Domain) string { return d.Neighbours.String() })},
		{"Measure", "measure", unchanged(func(d *Domain) string { return d.Measure })},
		// A budget is for good: a smaller one would differ from the ledger's, too.
		{"Epsilon", "epsilon", func(b, a *Domain) bool { return a.Epsilon.Cmp(b.Epsilon) == 0 }},
		{"Delta", "delta", func(b, a *Domain) bool { return a.Delta.Cmp(b.Delta) == 0 }},
		{"SelectionDelta", "selection_delta", func(b, a *Domain) bool { return a.SelectionDelta.Cmp(b.SelectionDelta) == 0 }},
		// Of a domain one failure shows until the owner acts; of accounts, one for each.
		{"FailureSuspends", "failure_suspends", func(b, a *Domain) bool {
			return a.FailureSuspends != SuspendAccount || b.FailureSuspends == SuspendAccount
		}},
		// The noise of a federation hides then what a unit moves at one holder alone.
		{"UnitsElsewhere", "units_elsewhere", func(b, a *Domain) bool { return a.UnitsElsewhere || !b.UnitsElsewhere }},
	}
}

func tableRules() []rule[Table] {
	return []rule[Table]{
		{"Name", "", free[Table]},
		{"Source", "source", unchanged(func(t *Table) [2]string { return [2]string{t.Source.Text, t.Source.Path} })}, // all else in it is made of these
		{"Public", "public", func(b, a *Table) bool { return b.Public || !a.Public }},
		{"Domain", "domain", func(b, a *Table) bool {
			return a.Domain == nil && b.Domain == nil || a.Domain != nil && b.Domain != nil && a.Domain.ID == b.Domain.ID
		}},
		{"Unit", "unit", func(b, a *Table) bool { return a.Unit.names() == b.Unit.names() }},
		{"Columns", "", free[Table]}, // each for itself
		{"AlsoIn", "also_in", func(b, a *Table) bool {
			return !slices.ContainsFunc(a.AlsoIn, func(id string) bool { return !slices.Contains(b.AlsoIn, id) })
		}},
		{"MaxGroups", "max_groups_per_unit", func(b, a *Table) bool { return boundWithin(b.MaxGroups, a.MaxGroups) }},
		{"MaxRows", "max_rows_per_group", func(b, a *Table) bool { return boundWithin(b.MaxRows, a.MaxRows) }},
		{"MaxUnitRows", "max_rows_per_unit", func(b, a *Table) bool { return boundWithin(b.MaxUnitRows, a.MaxUnitRows) }},
		{"Auto", "", free[Table]}, // what is found is within what is declared
		{"Form", "csv", func(b, a *Table) bool { return reflect.DeepEqual(b.Form, a.Form) }}, // a record that reads otherwise could be of another unit
		{"Malformed", "malformed", unchanged(func(t *Table) Malformed { return t.Malformed })},
		{"Mapping", "mapping", func(b, a *Table) bool { return b.Mapping == nil && a.Mapping == nil }},
		{"found", "", free[Table]}, // data are refreshed under their name
	}
}

func columnRules() []rule[Column] {
	return []rule[Column]{
		{"Name", "", free[Column]},
		{"From", "from", unchanged(func(c *Column) string { return c.Field() })},
		{"Type", "type", unchanged(func(c *Column) sqltype.Type { return c.Type })},
		{"Is", "is", func(b, a *Column) bool { return b.Is.says(a.Is) }},
		{"Lower", "lower", func(b, a *Column) bool {
			return b.Type == a.Type && valueWithin(b.Lower, a.Lower, func(c int) bool { return c >= 0 })
		}},
		{"Upper", "upper", func(b, a *Column) bool {
			return b.Type == a.Type && valueWithin(b.Upper, a.Upper, func(c int) bool { return c <= 0 })
		}},
		{"Auto", "", free[Column]}, // what is found is within what is declared
		{"SumLower", "sum_lower", func(b, a *Column) bool { return ratWithin(b.SumLower, a.SumLower, func(c int) bool { return c >= 0 }) }},
		{"SumUpper", "sum_upper", func(b, a *Column) bool { return ratWithin(b.SumUpper, a.SumUpper, func(c int) bool { return c <= 0 }) }},
		{"Domain", "domain", func(b, a *Column) bool { return b.Type == a.Type && a.Domain.within(b.Domain) }},
		{"Mapped", "mapped", func(b, a *Column) bool { return shown(a.Mapped) <= shown(b.Mapped) }},
	}
}

// shown orders what the owner may say of who sees a column: nobody's code, what depends on the other
// columns, and any code.
func shown(mapped *bool) int {
	switch {
	case mapped == nil:
		return 1
	case *mapped:
		return 2
	}
	return 0
}

func viewRules() []rule[View] {
	return []rule[View]{
		{"Name", "", free[View]},
		{"Query", "sql", func(b, a *View) bool { return b.Query.says(a.Query) }}, // whoever may see the view sees through it
		{"Columns", "", free[View]}, // each for itself
		{"at", "", free[View]},
	}
}

// Loosened says in which places after lets more be learnt than before, or could: each a
// key of the catalog and what became of it. It is empty where after is before, or tighter.
// It says nothing of what stands in the ledger.
func Loosened(before, after *Catalog) (places []string) {
	places = append(places, looser("", catalogRules(), before, after)...)
	places = append(places, looser("resources.", resourceRules(), &before.Resources, &after.Resources)...)
	for _, d := range after.Domains {
		if was, ok := before.Domain(d.ID); !ok {
			places = append(places, "domains."+d.ID+" is new")
		} else {
			places = append(places, looser("domains."+d.ID+".", domainRules(), was, d)...)
		}
	}
	for _, t := range after.Tables {
		if was, ok := before.Table(t.Name); !ok {
			places = append(places, "tables."+t.Name+" is new")
		} else {
			places = append(places, loosenedTable(was, t)...)
		}
	}
	for _, v := range after.Views {
		if was, ok := before.View(v.Name); !ok {
			places = append(places, "views."+v.Name+" is new")
		} else {
			places = append(places, loosenedView(was, v)...)
		}
	}
	return places
}

func loosenedTable(before, after *Table) (places []string) {
	at := "tables." + after.Name + "."
	rules := tableRules()
	became := before.Public && !after.Public // what was everybody's has got bounds
	if became {
		rules = slices.DeleteFunc(rules, func(r rule[Table]) bool { return r.field != "Source" })
	}
	places = looser(at, rules, before, after)
	for _, c := range after.Columns {
		if was, ok := before.Column(c.Name); !ok {
			places = append(places, at+"columns."+c.Name+" is new")
		} else if !became {
			places = append(places, looser(at+"columns."+c.Name+".", columnRules(), was, c)...)
		}
	}
	return places
}

// loosenedView says of a view, too, where nothing is declared of a column any more: what its
// query gives the column then may be wider.
func loosenedView(before, after *View) []string {
	at := "views." + after.Name + "."
	places := looser(at, viewRules(), before, after)
	for _, c := range after.Columns {
		if was := before.column(c.Name); was == nil {
			places = append(places, at+"columns."+c.Name+" is new")
		} else {
			places = append(places, looser(at+"columns."+c.Name+".", columnRules(), was, c)...)
		}
	}
	for _, c := range before.Columns {
		if after.column(c.Name) == nil {
			places = append(places, at+"columns."+c.Name+" is not there any more")
		}
	}
	return places
}

func (v *View) column(name string) *Column {
	if i := slices.IndexFunc(v.Columns, func(c *Column) bool { return c.Name == name }); i >= 0 {
		return v.Columns[i]
	}
	return nil
}

// looser applies the rules of one struct.
func looser[T any](at string, rules []rule[T], before, after *T) (places []string) {
	for _, r := range rules {
		if r.holds(before, after) {
			continue
		}
		was, is := worded(before, r.field), worded(after, r.field)
		switch {
		case was != "" && is != "":
			places = append(places, fmt.Sprintf("%s%s was %s and is %s", at, r.key, was, is))
		default:
			places = append(places, at+r.key+" has changed")
		}
	}
	return places
}

// worded is a field's value where it is short, or "".
func worded[T any](of *T, field string) string {
	switch v := reflect.ValueOf(of).Elem().FieldByName(field); v.Kind() {
	case reflect.Bool, reflect.String, reflect.Int64:
		return fmt.Sprintf("%v", v)
	default:
		return ""
	}
}

// boundWithin reports whether a contribution bound is not above another; 0 is none declared.
func boundWithin(before, after int64) bool { return after == before || after > 0 && after < before }

// valueWithin reports whether a bound lies on the right side of another. One that was not
// declared before makes aggregates possible that were refused.
func valueWithin(before, after sqltype.Value, side func(int) bool) bool {
	if before == nil || after == nil {
		return before == nil && after == nil
	}
	return side(sqltype.Compare(after, before))
}

func ratWithin(before, after *big.Rat, side func(int) bool) bool {
	if before == nil || after == nil {
		return before == nil && after == nil
	}
	return side(after.Cmp(before))
}

// says reports whether two texts of SQL, or none, are one.
func (s *SQL) says(other *SQL) bool {
	if s == nil || other == nil {
		return s == nil && other == nil
	}
	return s.Text == other.Text
}

// names is a unit in names, by which those of two catalogs are compared.
func (u Unit) names() (n [4]string) {
	n[0] = fmt.Sprint(u.Kind)
	if u.Column != nil {
		n[1] = u.Column.Name
	}
	if u.References != nil {
		n[2] = u.References.Name
	}
	if u.Referred != nil {
		n[3] = u.Referred.Name
	}
	return n
}

// within reports whether every value of d is one of another domain, which may be of another
// catalog.
func (d *PublicDomain) within(other *PublicDomain) bool {
	switch {
	case d == nil || other == nil:
		return d == nil && other == nil
	case d.FromTable != nil || other.FromTable != nil:
		return d.FromTable != nil && other.FromTable != nil && d.FromTable.Name == other.FromTable.Name && d.FromColumn.Name == other.FromColumn.Name
	case d.Step != nil && other.Step != nil:
		whole := func(r *big.Rat) bool { return r.Quo(r, other.Step).IsInt() }
		return d.Lower.Cmp(other.Lower) >= 0 && d.Upper.Cmp(other.Upper) <= 0 &&
			whole(new(big.Rat).Set(d.Step)) && whole(new(big.Rat).Sub(d.Lower, other.Lower))
	case d.Step != nil || other.Step != nil:
		return false
	}
	known := map[string]bool{}
	for _, v := range other.Values {
		known[sqltype.Key(v)] = true
	}
	return !slices.ContainsFunc(d.Values, func(v sqltype.Value) bool { return !known[sqltype.Key(v)] })
}
