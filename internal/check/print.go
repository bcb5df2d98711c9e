package check

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Write prints the report for people.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	for _, t := range r.Tables {
		t.write(&b)
		b.WriteByte('\n')
	}
	problems, warnings := 0, 0
	for _, t := range r.Tables {
		for _, f := range t.Findings {
			if f.Severity == Problem {
				problems++
			} else {
				warnings++
			}
		}
	}
	fmt.Fprintf(&b, "%s, %s\n%s\n", count(problems, "problem"), count(warnings, "warning"), r.Notice)
	_, err := io.WriteString(w, b.String())
	return err
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (t *Table) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s (%s): %d rows", t.Name, t.Source, t.Rows)
	if t.Units != nil {
		fmt.Fprintf(b, " of %d units", t.Units.Units)
	}
	if t.Files != nil {
		t.Files.write(b)
	}
	b.WriteByte('\n')
	for _, f := range t.Findings {
		place := ""
		if f.Column != "" {
			place = f.Column + ": "
		}
		fmt.Fprintf(b, "  %-8s %s%s\n", f.Severity+":", place, f.Message)
	}
	if len(t.Columns) > 0 {
		grid(b, []string{"column", "type", "NULL", "unreadable", "below", "above", "clamp loss", "outside domain"}, func(row func(...any)) {
			for _, c := range t.Columns {
				row(c.Name, c.Type, c.Null, c.Unreadable, c.Below, c.Above, shown(c.ClampLoss), c.Outside)
			}
		})
	}
	if t.Units != nil && len(t.Units.Groupings) > 0 {
		grid(b, []string{"grouped by", "groups/unit: 50%", "90%", "99%", "max", "rows/group: 50%", "90%", "99%", "max",
			"cut by max_rows", "by max_groups"}, func(row func(...any)) {
			for _, g := range t.Units.Groupings {
				by := g.By
				if by == "" {
					by = "(nothing)"
				}
				k, n := g.GroupsPerUnit, g.RowsPerGroup
				row(by, k.Median, k.P90, k.P99, k.Max, n.Median, n.P90, n.P99, n.Max, shown(g.DroppedByRows), shown(g.DroppedByGroups))
			}
		})
	}
}

func (f *Files) write(b *strings.Builder) {
	fmt.Fprintf(b, ", in %s", count(f.Count, "file"))
	if f.Partitions > 0 {
		fmt.Fprintf(b, " of %s", count(f.Partitions, "partition"))
	}
	if n := len(f.LeftOut); n > 0 {
		names := f.LeftOut[:min(n, 5)]
		more := ""
		if n > len(names) {
			more = fmt.Sprintf(" and %d more", n-len(names))
		}
		fmt.Fprintf(b, "\n  left out, since names of data begin with no dot and no underscore: %s%s", strings.Join(names, ", "), more)
	}
}

func shown(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100**share)
}

// grid prints rows under a header, in columns.
func grid(b *strings.Builder, header []string, rows func(row func(...any))) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  %s\n", strings.Join(header, "\t"))
	rows(func(cells ...any) {
		texts := make([]string, len(cells))
		for i, c := range cells {
			texts[i] = fmt.Sprint(c)
		}
		fmt.Fprintf(w, "  %s\n", strings.Join(texts, "\t"))
	})
	_ = w.Flush() // a strings.Builder does not fail
}
