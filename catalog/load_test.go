package catalog

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

// testdata/load: each case is a catalog and what loading it gives: all refusals in
// their printed form, or a summary of what was declared. Run with -rewrite to
// renew them.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/load", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			text := d.Input
			if d.Cmd == "person" { // inside a table of people whose unit is the row
				text = person + d.Input
			}
			c, err := Parse("discreet.toml", text+"\n")
			if err != nil {
				return refusals(t, err)
			}
			return summary(c)
		})
	})
}

const person = "[domains.person]\nmeasure = \"pure\"\nepsilon = 1\n[tables.people]\nsource = \"people.csv\"\ndomain = \"person\"\n"

func refusals(t *testing.T, err error) string {
	var all diagnostic.List
	if !errors.As(err, &all) {
		t.Fatalf("error %T is no list of diagnostics", err)
	}
	var b strings.Builder
	for _, d := range all {
		if err := d.Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	return strings.ReplaceAll(b.String(), "\t", "→")
}

func summary(c *Catalog) string {
	var b strings.Builder
	for _, d := range c.Domains {
		fmt.Fprintf(&b, "domain %s: %s %s epsilon %s delta %s selection %s\n",
			d.ID, d.Neighbours, d.Measure, d.Epsilon, d.Delta, d.SelectionDelta)
		if d.FailureSuspends != SuspendDomain {
			fmt.Fprintf(&b, "  a failure suspends the %s\n", d.FailureSuspends)
		}
	}
	for _, t := range c.Tables {
		fmt.Fprintf(&b, "table %q: %s", t.Name, t.Source.Path)
		if t.Source.Format == Relation {
			b.WriteString(t.Source.Name())
		} else if t.Source.Table != "" {
			fmt.Fprintf(&b, "#%s", t.Source.Table)
		}
		if t.Public {
			fmt.Fprint(&b, " public")
		} else {
			fmt.Fprintf(&b, " of %s, unit %s, L0 %d, R %d", t.Domain.ID, describeUnit(t.Unit), t.MaxGroups, t.MaxRows)
		}
		if t.Malformed == SkipRecord {
			fmt.Fprint(&b, ", malformed records skipped")
		}
		fmt.Fprintln(&b)
		describeColumns(&b, t.Columns)
	}
	for _, v := range c.Views {
		fmt.Fprintf(&b, "view %q: %s\n", v.Name, v.Query.Text)
		describeColumns(&b, v.Columns)
	}
	if c.Engine.Remote() {
		fmt.Fprintf(&b, "engine %+v\n", c.Engine)
	}
	fmt.Fprintf(&b, "confidence %v", c.Confidence)
	if s := c.Spend; s.Epsilon.Sign()+s.Rho.Sign() > 0 {
		fmt.Fprintf(&b, ", spend epsilon %s delta %s rho %s", s.Epsilon, s.Delta, s.Rho)
	}
	return b.String() + "\n"
}

func describeColumns(b *strings.Builder, columns []*Column) {
	for _, col := range columns {
		fmt.Fprintf(b, "  %q %s", col.Name, col.Type)
		if col.Is != nil {
			fmt.Fprintf(b, " is %q", col.Is.Text)
		}
		if col.Lower != nil {
			fmt.Fprintf(b, " in [%s, %s]", sqltype.Format(col.Lower), sqltype.Format(col.Upper))
		}
		if col.SumLower != nil {
			fmt.Fprintf(b, " sums in [%s, %s]", col.SumLower.RatString(), col.SumUpper.RatString())
		}
		if d := col.Domain; d != nil && d.FromTable != nil {
			fmt.Fprintf(b, " from %s.%s", d.FromTable.Name, d.FromColumn.Name)
		} else if d != nil {
			fmt.Fprintf(b, " from {%s}", strings.Join(someValues(d, col.Type), " "))
		}
		fmt.Fprintln(b)
	}
}

func describeUnit(u Unit) string {
	switch u.Kind {
	case UnitRow:
		return "row"
	case UnitReference:
		return fmt.Sprintf("%q -> %s.%s", u.Column.Name, u.References.Name, u.Referred.Name)
	}
	return fmt.Sprintf("%q", u.Column.Name)
}

func someValues(d *PublicDomain, t sqltype.Type) []string {
	var all []string
	for v := range d.All(t) {
		if all = append(all, sqltype.Format(v)); len(all) == 6 {
			n, _ := d.Size()
			return append(all, fmt.Sprintf("... %d", n))
		}
	}
	return all
}

// Each code's example in the catalogue triggers that code, and nothing else.
func TestEntriesShowThemselves(t *testing.T) {
	for _, e := range diagnostic.Entries() {
		if e.Code != "D104" && e.Code != "D105" && (e.Code < "D080" || e.Code > "D094") {
			continue
		}
		_, err := Parse("discreet.toml", e.Example)
		var all diagnostic.List
		if !errors.As(err, &all) || len(all) != 1 || all[0].Code != e.Code {
			t.Errorf("%s: its example gives %v", e.Code, err)
		}
	}
}

func TestLoadMissingFile(t *testing.T) {
	_, err := Load(t.TempDir() + "/discreet.toml")
	var d *diagnostic.Diagnostic
	if !errors.As(err, &d) || d.Code != "D080" || d.Message != "there is no such catalog" {
		t.Errorf("Load of a missing file: %v", err)
	}
}

func TestDomainOfAMillionValues(t *testing.T) {
	c, err := Parse("c.toml", person+`unit = "row"
columns.a = { type = "integer", lower = -10, upper = 999989, step = 1 }
columns.b = { type = "decimal(10,2)", lower = 0, upper = 0.3, step = 0.1 }
`)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := c.Tables[0].Column("a")
	n, ok := a.Domain.Size()
	count, last := int64(0), sqltype.Value(nil)
	for v := range a.Domain.All(a.Type) {
		count, last = count+1, v
	}
	if !ok || n != 1_000_000 || count != n || last != int64(999_989) {
		t.Errorf("size %d, listed %d, last %v", n, count, last)
	}
}

// goldenInputs returns the catalogs of a golden file.
func goldenInputs(t testing.TB, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, part := range strings.Split(string(text), "\nload\n")[1:] {
		input, _, _ := strings.Cut(part, "\n----\n")
		all = append(all, input+"\n")
	}
	return all
}
