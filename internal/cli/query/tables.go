package query

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

func Tables() *command.Command {
	c := &command.Command{
		UsageLine: "tables [flags] [NAME]",
		For:       command.Analyst,
		Short:     "show what may be asked about: tables, columns, types, domains, bounds; free",
		Long: `It prints what the catalog declares, and nothing else: of each table whose rows it
has, what one unit contributes at most, and the columns with their types, bounds and
public domains. It touches no data and needs no ledger. As statements, SHOW TABLES and
DESCRIBE NAME print the same.`,
		Examples: [2]string{"discreet tables", "discreet tables visits --json"},
	}
	var w workplace.Workplace
	w.DefineCatalog(&c.Flags)
	c.PrintsTables()
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(_ context.Context, t *terminal.Terminal, args []string) error {
		if len(args) > 1 {
			return diagnostic.New("D113", diagnostic.Span{}, "name one table, or none").Try("discreet %s", c.UsageLine)
		}
		if err := w.Load(); err != nil {
			return err
		}
		return showTables(t, w.Catalog, strings.Join(args, ""), *wantJSON)
	}
	return c
}

var describing = regexp.MustCompile(`(?is)^\s*(?:show\s+tables|(?:describe|desc|show\s+columns\s+from)(?:\s+table)?(?:\s+("[^"]+"|[a-z_][a-z0-9_]*))?)\s*;?\s*$`)

// describes reports whether a statement asks what is declared: SHOW TABLES, DESCRIBE,
// DESCRIBE name. A name without quotes is read in lower case.
func describes(text string) (name string, is bool) {
	m := describing.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	if strings.HasPrefix(m[1], `"`) {
		return strings.Trim(m[1], `"`), true
	}
	return strings.ToLower(m[1]), true
}

// A declaredTable is what an analyst is told of a table: never where its data are.
type declaredTable struct {
	Table     string           `json:"table"`
	View      string           `json:"view,omitempty"` // the query that it stands for
	Public    bool             `json:"public"`
	Domain    string           `json:"domain,omitempty"`
	Unit      string           `json:"unit,omitempty"`
	MaxGroups int64            `json:"max_groups_per_unit,omitempty"`
	MaxRows   int64            `json:"max_rows_per_group,omitempty"`
	Budget    string           `json:"budget,omitempty"`
	Columns   []declaredColumn `json:"columns"`
}

type declaredColumn struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Lower  string `json:"lower,omitempty"`
	Upper  string `json:"upper,omitempty"`
	Domain string `json:"domain,omitempty"`
	Is     string `json:"is,omitempty"` // what a derived column is computed of
}

// showTables prints the declaration of a table, or of all.
func showTables(t *terminal.Terminal, c *catalog.Catalog, name string, asJSON bool) error {
	most := shownValues
	if asJSON || t.Wide() {
		most = math.MaxInt
	}
	var all []declaredTable
	var names []string
	for _, table := range c.Tables {
		if names = append(names, table.Name); name == "" || name == table.Name {
			all = append(all, declaration(table, most))
		}
	}
	for _, view := range c.Views {
		if names = append(names, view.Name); name != "" && name != view.Name {
			continue
		}
		d, err := viewDeclaration(c, view, most)
		if err != nil {
			return err
		}
		all = append(all, d)
	}
	if name != "" && len(all) == 0 {
		d := diagnostic.New("D010", diagnostic.Span{}, "unknown table %s", name).Because("the catalog does not declare it").Try("there are %s", strings.Join(names, ", "))
		if near := diagnostic.Nearest(name, names); near != "" {
			d.Try("did you mean %s?", near)
		}
		return d
	}
	if asJSON {
		return t.WriteJSON(map[string]any{"tables": all})
	}
	for i, d := range all {
		if i > 0 {
			fmt.Fprintln(t.Out)
		}
		d.write(t)
	}
	return nil
}

func declaration(t *catalog.Table, most int) declaredTable {
	d := declaredTable{Table: t.Name, Public: t.Public, MaxGroups: t.MaxGroups, MaxRows: t.MaxRows}
	if !t.Public {
		b := t.Domain
		d.Domain, d.Unit = b.ID, "each row"
		d.Budget = fmt.Sprintf("%s, %s, epsilon %s", b.Neighbours, b.Measure, b.Epsilon)
		if b.Delta.Sign() > 0 {
			d.Budget += fmt.Sprintf(", delta %s", b.Delta)
		}
		switch t.Unit.Kind {
		case catalog.UnitColumn:
			d.Unit = t.Unit.Column.Name
		case catalog.UnitReference:
			d.Unit = fmt.Sprintf("%s, by way of %s.%s", t.Unit.Column.Name, t.Unit.References.Name, t.Unit.Referred.Name)
		}
	}
	for _, c := range t.Columns {
		column := declaredColumn{Name: c.Name, Type: c.Type.String()}
		if column.bounds(c, most); c.Is != nil {
			column.Is = c.Is.Text
		}
		d.Columns = append(d.Columns, column)
	}
	return d
}

// bounds says of a column what is declared of c.
func (d *declaredColumn) bounds(c *catalog.Column, most int) {
	if d.Domain = domainText(c, most); c.Lower != nil {
		d.Lower, d.Upper = sqltype.Format(c.Lower), sqltype.Format(c.Upper)
	}
}

// viewDeclaration says what a view's columns are; of those that are a table's, with their
// bounds and domains.
func viewDeclaration(c *catalog.Catalog, v *catalog.View, most int) (declaredTable, error) {
	d := declaredTable{Table: v.Name, View: v.Query.Text}
	n, err := derive.View(c, v)
	if err != nil {
		return d, err
	}
	d.Public = !plan.ReadsPrivate(n)
	for i, column := range n.Columns() {
		out := declaredColumn{Name: column.Name, Type: column.Type.String()}
		if of := plan.Source(n, i); of != nil {
			out.bounds(of, most)
		}
		d.Columns = append(d.Columns, out)
	}
	return d, nil
}

// shownValues of a public domain are listed for people; where there are more, how many.
// --wide and JSON have all.
const shownValues = 12

func domainText(c *catalog.Column, most int) string {
	d := c.Domain
	switch {
	case d == nil:
		return ""
	case d.FromTable != nil:
		return fmt.Sprintf("the values of %s.%s", d.FromTable.Name, d.FromColumn.Name)
	case d.Step != nil:
		return fmt.Sprintf("%s to %s in steps of %s", numeric.FormatRat(d.Lower), numeric.FormatRat(d.Upper), numeric.FormatRat(d.Step))
	}
	values := make([]string, min(len(d.Values), most))
	for i := range values {
		values[i] = sqltype.Format(d.Values[i])
	}
	if more := len(d.Values) - len(values); more > 0 {
		values = append(values, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(values, ", ")
}

func (d *declaredTable) write(t *terminal.Terminal) {
	switch {
	case d.View != "":
		t.Print(fmt.Sprintf("%s: a view, %s", d.Table, strings.Join(strings.Fields(d.View), " ")), 2)
	case d.Public:
		fmt.Fprintf(t.Out, "%s: public\n", d.Table)
	default:
		t.Print(fmt.Sprintf("%s: protects a unit of domain %s (%s); whose a row is: %s", d.Table, d.Domain, d.Budget, d.Unit), 2)
		bound := func(n int64) string {
			if n == 0 {
				return "not declared"
			}
			return fmt.Sprint(n)
		}
		t.Print(fmt.Sprintf("groups of an answer that a unit counts in: %s; rows in each: %s", bound(d.MaxGroups), bound(d.MaxRows)), 2)
	}
	writeColumns(t, d.Columns)
}

// writeColumns prints columns, and of each what any of them has.
func writeColumns(t *terminal.Terminal, columns []declaredColumn) {
	g := terminal.Grid{{Title: "column"}, {Title: "type"}, {Title: "lower", Right: true}, {Title: "upper", Right: true}, {Title: "public domain"}, {Title: "derived as"}}
	bounded, derived := false, false
	for _, c := range columns {
		for i, cell := range []string{c.Name, c.Type, c.Lower, c.Upper, c.Domain, strings.Join(strings.Fields(c.Is), " ")} {
			g[i].Cells = append(g[i].Cells, cell)
		}
		bounded, derived = bounded || c.Lower+c.Domain != "", derived || c.Is != ""
	}
	last := len(g) - 1
	switch {
	case !derived && !bounded:
		g = g[:2]
	case !derived:
		g = g[:last]
	case !bounded:
		g = append(g[:2:2], g[last])
	}
	g.Write(t.Out)
}
