package query

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/declaration"
	"github.com/discreet-dp/discreet/internal/diagnostic"
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
		Examples:  [2]string{"discreet tables", "discreet tables visits --json"},
		Arguments: []string{"TABLE"},
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

// shownValues of a public domain are listed for people; where there are more, how many.
// --wide and JSON have all.
const shownValues = 12

// showTables prints the declaration of a table, or of all.
func showTables(t *terminal.Terminal, c *catalog.Catalog, name string, asJSON bool) error {
	most := shownValues
	if asJSON || t.Wide() {
		most = math.MaxInt
	}
	all, err := declaration.Tables(c, name, most)
	if err != nil {
		return err
	}
	if asJSON {
		return t.WriteJSON(map[string]any{"tables": all})
	}
	for i, d := range all {
		if i > 0 {
			fmt.Fprintln(t.Out)
		}
		writeTable(t, &d)
	}
	return nil
}

// writeTable says in words what a table is, and lists its columns.
func writeTable(t *terminal.Terminal, d *declaration.Table) {
	switch {
	case d.View != "":
		t.Print(fmt.Sprintf("%s: a view, %s", d.Table, strings.Join(strings.Fields(d.View), " ")), 2)
	case d.Public:
		fmt.Fprintf(t.Out, "%s: public\n", d.Table)
	default:
		whose := d.Unit + " says whose a row is"
		switch {
		case d.Unit == declaration.EachRow:
			whose = "each row is a unit of its own"
		case strings.Contains(d.Unit, ","): // another table's column, by way of one of its own
			whose = d.Unit + ", says whose a row is"
		}
		t.Print(fmt.Sprintf("%s: private; %s", d.Table, whose), 2)
		t.Print(fmt.Sprintf("  protects each unit of domain %s: %s", d.Domain, d.Budget), 4)
		if d.Unit != declaration.EachRow {
			t.Print("  "+contribution(d), 4)
		}
	}
	writeColumns(t, d)
}

// contribution says what a unit counts for in an answer.
func contribution(d *declaration.Table) string {
	groups, rows := fmt.Sprintf("in at most %s of an answer", diagnostic.Count(d.MaxGroups, "group")), fmt.Sprintf("with at most %s in each", diagnostic.Count(d.MaxRows, "row"))
	if d.UnitRows > 0 {
		kept := fmt.Sprintf("a unit has at most %s in it, the same for every statement", diagnostic.Count(d.UnitRows, "row"))
		if d.MaxGroups > 0 && d.MaxRows > 0 {
			kept += "; where that alone does not bound an answer, it counts " + groups + ", " + rows
		}
		return kept
	}
	switch {
	case d.Contribution != "":
		return "a unit counts " + groups + ", " + rows + ", or tighter where that is found"
	case d.MaxGroups > 0 && d.MaxRows > 0:
		return "a unit counts " + groups + ", " + rows
	case d.MaxGroups > 0:
		return "a unit counts " + groups + "; with how many rows in each is not declared, so what needs it is refused (D048)"
	case d.MaxRows > 0:
		return "a unit counts " + rows + " group; in how many groups is not declared, so what needs it is refused (D048)"
	}
	return "in how many groups a unit counts, and with how many rows, is not declared: what needs it is refused (D048)"
}

// writeColumns prints columns, and of each what any of them has.
func writeColumns(t *terminal.Terminal, d *declaration.Table) {
	g := terminal.Grid{{Title: "column"}, {Title: "type"}, {Title: "values"}, {Title: "derived as"}}
	said, derived := false, false
	for _, c := range d.Columns {
		values := values(c)
		if c.Name == d.Unit && values == "" {
			values = "whose a row is"
		}
		for i, cell := range []string{c.Name, c.Type, values, strings.Join(strings.Fields(c.Is), " ")} {
			g[i].Cells = append(g[i].Cells, cell)
		}
		said, derived = said || values != "", derived || c.Is != ""
	}
	last := len(g) - 1
	switch {
	case !derived && !said:
		g = g[:2]
	case !derived:
		g = g[:last]
	case !said:
		g = append(g[:2:2], g[last])
	}
	g.Write(t.Out)
}

// values says which values of a column count: those of its public domain, within its bounds.
func values(c declaration.Column) string {
	bounds := ""
	if c.Lower != "" {
		if bounds = c.Lower + " to " + c.Upper; c.Bounds != "" {
			bounds += ", or tighter ones that are found"
		}
	}
	if c.Domain == "" || strings.HasPrefix(c.Domain, bounds) && bounds != "" {
		return cmp.Or(c.Domain, bounds)
	}
	if bounds == "" {
		return c.Domain
	}
	return c.Domain + "; within " + bounds
}
