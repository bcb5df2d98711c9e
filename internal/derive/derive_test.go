package derive_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

const header = `[domains.person]
measure = "pure"
epsilon = 1
[tables.t]
source = "t.csv"
domain = "person"
unit = "row"
[tables.t.columns]
n = { type = "integer", from = "Number" }
d = { type = "date" }
x = { type = "double" }
`

func parse(t *testing.T, columns string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Parse("discreet.toml", header+columns+"\n")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What a name means, and which fields are read for it.
func TestNames(t *testing.T) {
	for _, c := range []struct{ columns, fields, definition string }{
		{`y = { type = "integer", is = "n + 1" }`, "Number integer|d date|x double",
			`"n + 1" as integer, n is ("Number" as integer)`},
		{`y = { type = "integer", is = 'length("Number")' }`, "Number integer|d date|x double|Number text",
			`"length(\"Number\")" as integer, Number is the source's "Number" as text`},
		{`y = { type = "text", is = "upper(y)" }`, "Number integer|d date|x double|y text",
			`"upper(y)" as text, y is the source's "y" as text`},
		{`y = { type = "text", is = "t.n || t.raw || raw" }`, "Number integer|d date|x double|raw text",
			`"t.n || t.raw || raw" as text, n is ("Number" as integer), raw is the source's "raw" as text`},
		{"z = { type = \"integer\", is = \"n * n\" }\ny = { type = \"integer\", is = \"z + n\" }", "Number integer|d date|x double",
			`"z + n" as integer, z is ("n * n" as integer, n is ("Number" as integer)), n is ("Number" as integer)`},
		{`y = { type = "integer", is = "7" }`, "Number integer|d date|x double", `"7" as integer`},
	} {
		table := parse(t, c.columns).Tables[0]
		r, err := derive.Read(table)
		if err != nil {
			t.Errorf("%s: %v", c.columns, err)
			continue
		}
		var fields []string
		for _, f := range r.Fields {
			fields = append(fields, fmt.Sprintf("%s %s", f.Name, f.Type))
		}
		if got := strings.Join(fields, "|"); got != c.fields {
			t.Errorf("%s: fields %s, want %s", c.columns, got, c.fields)
		}
		y, _ := table.Column("y")
		if got := r.Definition(y); got != c.definition {
			t.Errorf("%s: definition\n%s, want\n%s", c.columns, got, c.definition)
		}
	}
}

// What cannot be derived is refused where it stands in the catalog. The place is between
// » and «; without, it is the whole text.
func TestRefusals(t *testing.T) {
	big := "n" + strings.Repeat(" + n", 99)
	for _, c := range []struct{ columns, code, said string }{
		{`y = { type = "integer", is = "»count(*)« + 1" }`, "D018", "cannot stand in a derived column"},
		{`y = { type = "integer", is = "1 + »sum(n)«" }`, "D018", ""},
		{`y = { type = "integer", is = "»(SELECT 1)«" }`, "D022", "computed from one record alone"},
		{`y = { type = "integer", is = "(SELECT count(*) FROM t)" }`, "D022", ""},
		{`y = { type = "boolean", is = "»n IN (SELECT n FROM t)«" }`, "D022", ""},
		{`y = { type = "boolean", is = "EXISTS (SELECT 1 FROM t)" }`, "D022", ""},
		{`y = { type = "integer", is = "»row_number() OVER ()«" }`, "D031", "cannot stand in a derived column"},
		{`y = { type = "double", is = "»random()«" }`, "D008", ""},
		{`y = { type = "timestamp", is = "»now()«" }`, "D008", ""},
		{`y = { type = "integer", is = "»nextval('s')«" }`, "", ""},
		{`y = { type = "integer", is = "»other«.n" }`, "D010", "its own row"},
		{`y = { type = "integer", is = "»"N"« + 1" }`, "D011", `write "n"`},
		{`y = { type = "text", is = "»n AS m«" }`, "D104", "not one expression"},
		{`y = { type = "text", is = "n, d" }`, "D104", ""},
		{`y = { type = "text", is = "*" }`, "D104", ""},
		{`y = { type = "text", is = "n FROM t" }`, "D104", ""},
		{`y = { type = "text", is = "DISTINCT n" }`, "D104", ""},
		{`y = { type = "text", is = "n UNION SELECT 1" }`, "D104", ""},
		{`y = { type = "text", is = "n ORDER BY 1" }`, "D104", ""},
		{`y = { type = "text", is = "n LIMIT 1" }`, "D104", ""},
		{`y = { type = "text", is = "n; DROP TABLE t" }`, "D003", ""},
		{`y = { type = "text", is = "n --" }`, "ok", ""},
		{`y = { type = "integer", is = "n »)«" }`, "D002", ""},
		{`y = { type = "interval", is = "»n«" }`, "D019", "no cast"},
		{`y = { type = "integer", is = "»extract(year FROM when_)«" }`, "D015", `when_ is the source's "when_" as text`},
		{`y = { type = "integer", is = "»y + 1«" }`, "D015", `y is the source's "y" as text`},
		{"y = { type = \"integer\", is = \"z\" }\nz = { type = \"integer\", is = \"»y«\" }", "D104", "y is computed from z is computed from y"},
		{"a = { type = \"integer\", is = \"b\" }\nb = { type = \"integer\", is = \"c\" }\nc = { type = \"integer\", is = \"»b« + a\" }", "D104", "b is computed from c is computed from b"},
		{"a = { type = \"integer\", is = \"" + big + "\" }\nb = { type = \"integer\", is = \"" + strings.ReplaceAll(big, "n", "a") + "\" }", "D104", "too large"},
	} {
		columns := strings.NewReplacer(`"N"`, `\"N\"`).Replace(c.columns)
		text := strings.NewReplacer("»", "", "«", "").Replace(columns)
		err := derive.Check(parse(t, text))
		if c.code == "ok" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		var all diagnostic.List
		var d *diagnostic.Diagnostic
		if !errors.As(err, &all) || len(all) != 1 || !errors.As(err, &d) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if c.code != "" && d.Code != c.code || !strings.Contains(d.Message+" "+d.Why+" "+d.Hint, c.said) {
			t.Errorf("%s: %s %s; %s; %s, want %s %s", text, d.Code, d.Message, d.Why, d.Hint, c.code, c.said)
		}
		if from := strings.Index(columns, "»"); from >= 0 {
			want := columns[from+len("»") : strings.Index(columns, "«")]
			if d.Span.Start != len(header)+from || d.Text[d.Span.Start:d.Span.End] != want || d.Source != "discreet.toml" {
				t.Errorf("%s: at %q of %s, want %q", text, d.Text[d.Span.Start:d.Span.End], d.Source, want)
			}
		}
	}
}

// All refusals of a catalog are said, in the order of its text, each once: not those of
// columns that depend on a refused one.
func TestAllAtOnce(t *testing.T) {
	err := derive.Check(parse(t, `a = { type = "integer", is = "b + 1" }
b = { type = "integer", is = "nothing()" }
c = { type = "integer", is = "b + a" }
e = { type = "integer", is = "count(*)" }`))
	var all diagnostic.List
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	var codes []string
	for _, d := range all {
		codes = append(codes, d.Code)
	}
	if want := []string{"D013", "D018"}; !slices.Equal(codes, want) {
		t.Errorf("refused with %v, want %v", codes, want)
	}
}

// A table of constants says nothing of its source: neither how many rows it has.
func TestNothingRead(t *testing.T) {
	c, err := catalog.Parse("discreet.toml", `[tables.t]
source = "t.csv"
public = true
columns.one = { type = "integer", is = "1" }
`)
	if err != nil {
		t.Fatal(err)
	}
	if err := derive.Check(c); err == nil || !strings.Contains(err.Error(), "reads nothing of its source") {
		t.Errorf("a table of constants: %v", err)
	}
}

// A unit may be made of a partition and a record, of partitions alone not: each folder, and
// so each refusal that depends on one, would be a unit's.
func TestUnitOfPartitions(t *testing.T) {
	for is, refused := range map[string]bool{"place || id": false, "id": false, "place": true, "upper(place || year)": true, "'all'": false} {
		c, err := catalog.Parse("discreet.toml", `[domains.p]
measure = "pure"
epsilon = 1
[tables.t]
source = "place=*/year=*/*.csv"
domain = "p"
unit = "who"
[tables.t.columns]
x = { type = "text" }
year = { type = "text" }
who = { type = "text", is = "`+is+`" }
`)
		if err != nil {
			t.Fatal(err)
		}
		var d *diagnostic.Diagnostic
		if err := derive.Check(c); (err != nil) != refused || refused && (!errors.As(err, &d) || d.Code != "D088") {
			t.Errorf("%s: %v", is, err)
		}
	}
}

// A view means what its text would mean where it is named. What would always be refused
// there is refused in the catalog, at its place.
func TestViews(t *testing.T) {
	const unbounded = `
[tables.open]
source = "open.csv"
domain = "person"
unit = "who"
columns.who = { type = "text" }
columns.n = { type = "integer" }
[tables.public]
source = "public.csv"
public = true
columns.n = { type = "integer" }
`
	for _, c := range []struct{ views, code, said string }{
		{`[views.v] sql = "SELECT * FROM t WHERE n > 1"`, "", ""},
		{`[views.v] sql = "WITH t AS (SELECT 1 AS n) SELECT n FROM t"`, "", ""},
		{`[views.v] sql = "SELECT n, count(*) AS many FROM t GROUP BY n ORDER BY many LIMIT 3"`, "", ""},
		{`[views.v] sql = "SELECT * FROM open"`, "", ""}, // count(DISTINCT who) needs no bound of rows
		{`[views.v] sql = "SELECT * FROM public ORDER BY n LIMIT 1"`, "", ""},
		{"[views.v] sql = \"SELECT n FROM w\"\n[views.w] sql = \"SELECT n + 1 AS n FROM t\"", "", ""},
		{`[views.v] sql = "SELECT n FROM t LIMIT »3«"`, "D043", ""},
		{`[views.v] sql = "SELECT »bool_or(n > 1)« FROM t"`, "D047", ""},
		{`[views.v] sql = "SELECT * FROM »t AS a JOIN t AS b ON a.n = b.n«"`, "D053", ""},
		{`[views.v] sql = "SELECT »m« FROM t"`, "D011", ""},
		{`[views.v] sql = "SELECT n FROM »u«"`, "D010", ""},
		{`[views.v] sql = "SELECT »random()« FROM t"`, "D008", ""},
		{`[views.v] sql = "»DROP« TABLE t"`, "D004", ""},
		{`[views.v] sql = "SELECT n FROM »v«"`, "D105", "v selects from v"},
		{"[views.v] sql = \"SELECT n FROM »w«\"\n[views.w] sql = \"SELECT n FROM t WHERE n IN (SELECT n FROM v)\"", "D105", "v selects from w selects from v"},
		{"[views.v] sql = \"SELECT who, sum(n) AS s FROM open GROUP BY who\"\ncolumns.s = { type = \"bigint\", lower = 0, upper = 9 }", "", ""},
		{"[views.v] sql = \"SELECT who, sum(n) AS s FROM open GROUP BY who\"\ncolumns.»s« = { type = \"integer\", lower = 0, upper = 9 }", "D105", "values of the column's type"},
		{"[views.v] sql = \"SELECT who FROM open\"\ncolumns.»s« = { type = \"integer\" }", "D105", ""},
		{"[views.v] sql = \"SELECT n AS s, n + 1 AS s FROM t\"\ncolumns.»s« = { type = \"integer\" }", "D105", ""},
	} {
		toml := strings.NewReplacer("] sql", "]\nsql").Replace(c.views)
		err := derive.Check(parse(t, unbounded+strings.NewReplacer("»", "", "«", "").Replace(toml)))
		if c.code == "" {
			if err != nil {
				t.Errorf("%s: %v", c.views, err)
			}
			continue
		}
		var all diagnostic.List
		if !errors.As(err, &all) || all[0].Code != c.code || !strings.Contains(all[0].Why, c.said) {
			t.Errorf("%s: %v, want %s %s", c.views, err, c.code, c.said)
			continue
		}
		from := strings.Index(toml, "»")
		want := toml[from+len("»") : strings.Index(toml, "«")]
		if d := all[0]; d.Span.Start != len(header)+len(unbounded)+from || d.Text[d.Span.Start:d.Span.End] != want {
			t.Errorf("%s: %s at %q, want %q", c.views, d.Code, d.Text[d.Span.Start:d.Span.End], want)
		}
	}
}
