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

func writeTable(t *terminal.Terminal, d *declaration.Table) {
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
func writeColumns(t *terminal.Terminal, columns []declaration.Column) {
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
