package owner

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/check"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// writeReport prints what a check has found: a section for each table.
func writeReport(t *terminal.Terminal, r *check.Report) {
	counts := map[check.Severity]int{}
	for _, table := range r.Tables {
		writeTable(t, table)
		fmt.Fprintln(t.Out)
		for _, f := range table.Findings {
			counts[f.Severity]++
		}
	}
	problems := counts[check.Problem]
	delete(counts, check.Problem)
	warnings := 0
	for _, n := range counts {
		warnings += n
	}
	fmt.Fprintf(t.Out, "%s, %s\n", diagnostic.Count(problems, "problem"), diagnostic.Count(warnings, "warning"))
	t.Print(r.Notice, 0)
}

func writeTable(t *terminal.Terminal, table *check.Table) {
	head := fmt.Sprintf("%s (%s)", table.Name, table.Source)
	if table.Rows > 0 || len(table.Columns) > 0 { // else it was not read
		head += fmt.Sprintf(": %d rows", table.Rows)
	}
	if table.Units != nil {
		head += fmt.Sprintf(" of %d units", table.Units.Units)
	}
	if f := table.Files; f != nil {
		head += ", in " + diagnostic.Count(f.Count, "file")
		if f.Partitions > 0 {
			head += " of " + diagnostic.Count(f.Partitions, "partition")
		}
	}
	t.Print(head, 0)
	writeLeftOut(t, table.Files)
	for _, c := range table.Copies {
		t.Print("  copy: "+copyText(c), 8)
	}
	for _, f := range table.Findings {
		place := ""
		if f.Column != "" {
			place = f.Column + ": "
		}
		t.Print(fmt.Sprintf("  %-8s %s%s", f.Severity+":", place, f.Message), 11)
	}
	if len(table.Columns) > 0 {
		g := grid("column", "type", "NULL", "unreadable", "below", "above", "clamp loss", "outside domain")
		g[1].Right = false
		for _, c := range table.Columns {
			add(g, c.Name, c.Type, c.Null, c.Unreadable, c.Below, c.Above, shown(c.ClampLoss), c.Outside)
		}
		g.Write(t.Out)
	}
	if table.Units != nil && len(table.Units.Groupings) > 0 {
		fmt.Fprintln(t.Out)
		g := grid("grouped by", "groups/unit: 50%", "90%", "99%", "max", "rows/group: 50%", "90%", "99%", "max", "cut by max_rows", "by max_groups")
		for _, by := range table.Units.Groupings {
			name := by.By
			if name == "" {
				name = "(nothing)"
			}
			k, n := by.GroupsPerUnit, by.RowsPerGroup
			add(g, name, k.Median, k.P90, k.P99, k.Max, n.Median, n.P90, n.P99, n.Max, shown(by.DroppedByRows), shown(by.DroppedByGroups))
		}
		g.Write(t.Out)
	}
}

// writeLeftOut names the files of a pattern that are no data.
func writeLeftOut(t *terminal.Terminal, f *check.Files) {
	if f == nil {
		return
	}
	say := func(why string, names []string) {
		more := ""
		if !t.Wide() && len(names) > 5 {
			names, more = names[:5], fmt.Sprintf(" and %d more", len(names)-5)
		}
		if len(names) > 0 {
			t.Print("  left out, since "+why+": "+terminal.Printable(strings.Join(names, ", "))+more, 4)
		}
	}
	say("names of data begin with no dot and no underscore", f.LeftOut)
	say("the pattern does not name compressed files", f.Packed)
}

// grid has a column of names, and then of numbers.
func grid(titles ...string) (g terminal.Grid) {
	for i, title := range titles {
		g = append(g, terminal.Column{Title: title, Right: i > 0})
	}
	return g
}

func add(g terminal.Grid, cells ...any) {
	for i, cell := range cells {
		g[i].Cells = append(g[i].Cells, terminal.Printable(fmt.Sprint(cell)))
	}
}

func shown(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100**share)
}
