package discreet

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/ledger"
)

// Budgets returns the domains of a catalog as a ledger is created with them.
func Budgets(c *catalog.Catalog) []ledger.DomainBudget {
	var out []ledger.DomainBudget
	for _, d := range c.Domains {
		out = append(out, ledger.DomainBudget{ID: d.ID, Neighbours: d.Neighbours, Measure: filter.Measure(d.Measure),
			Epsilon: d.Epsilon, Delta: d.Delta, SelectionDelta: d.SelectionDelta, Guards: guards(c, d)})
	}
	return out
}

// CheckLedger refuses a ledger that does not hold a catalog's domains with their
// budgets, or guards other data than the catalog declares in them: a unit or a source
// that changed is the owner's word, which ledger.Ledger.Confirm records.
func CheckLedger(ctx context.Context, l *ledger.Ledger, c *catalog.Catalog) error {
	if err := l.Check(ctx, Budgets(c)); err != nil {
		return err
	}
	return l.CheckPublic(ctx, publicSources(c))
}

// guards are the sources of a domain by their declared names. Names of tables are not
// among them: a source is the same whatever it is called.
func guards(c *catalog.Catalog, d *catalog.Domain) []ledger.Guarded {
	out := []ledger.Guarded{}
	for _, t := range c.Tables {
		if t.Domain == d && t.Mapping == nil {
			out = append(out, ledger.Guarded{Source: declared(t.Source), Unit: unitText(t), AlsoIn: t.AlsoIn})
		}
	}
	return out
}

// publicSources are the catalog's public sources by their declared names.
func publicSources(c *catalog.Catalog) (all []string) {
	for _, t := range c.Tables {
		if t.Public {
			all = append(all, declared(t.Source))
		}
	}
	return all
}

// declared is a source as the catalog names it, in the plainest spelling.
func declared(s catalog.Source) string {
	if s.Format == catalog.Relation {
		return "table " + s.Name()
	}
	file, _, is := strings.Cut(s.Text, "#")
	if file = path.Clean(filepath.ToSlash(file)); !is {
		return file
	}
	if s.Schema != "" {
		return file + "#" + catalog.Fold(s.Schema+"."+s.Table)
	}
	return file + "#" + catalog.Fold(s.Table)
}

func unitText(t *catalog.Table) string {
	switch u := t.Unit; u.Kind {
	case catalog.UnitRow:
		return "the row"
	case catalog.UnitReference:
		return fmt.Sprintf("of %s, which refers to %s of %s", columnText(t, u.Column), columnText(u.References, u.Referred), declared(u.References.Source))
	default:
		return columnText(t, u.Column)
	}
}

// columnText is a column as its source has it, or all that it is derived from.
func columnText(t *catalog.Table, c *catalog.Column) string {
	if c.Is == nil {
		return strconv.Quote(c.Field())
	}
	r, err := derive.Read(t)
	if err != nil { // no catalog with such an expression is opened
		return "derived from what means nothing"
	}
	return "what is derived as " + r.Definition(c)
}
