//go:build cgo

package release_test

import (
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
)

// TestSoundnessOnManyThreads is TestSoundness over databases that are large
// enough for several threads to share the work: a thousand copies of an
// example, each with units of its own, of which one differs between D and D'.
func TestSoundnessOnManyThreads(t *testing.T) {
	const copies = 1000
	most := soak(3, 200)
	if testing.Short() {
		most = 2
	}
	m := newMachines(t)
	for _, on := range []*sql.Conn{m.plain, m.other} {
		if _, err := on.ExecContext(t.Context(), "CREATE SCHEMA small_d; CREATE SCHEMA small_e"); err != nil {
			t.Fatal(err)
		}
	}
	narrow := regexp.MustCompile(`(?m)^(id|u|ref) = \{ type = "(smallint|integer)" \}`)
	var c coverage
	for i := range most {
		x := examples.Example(2_000_000 + i)
		if err := m.load(t.Context(), x, pipeline{}); err != nil {
			t.Fatal(err)
		}
		x.text = narrow.ReplaceAllString(x.text, `$1 = { type = "bigint" }`)
		for on, order := range map[*sql.Conn]string{m.plain: "copy", m.other: "hash(copy, rowid)"} {
			if _, err := on.ExecContext(t.Context(), x.enlarged(copies, order)); err != nil {
				t.Fatal(err)
			}
		}
		cat, err := catalog.Parse("catalog.toml", x.text)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range x.statements {
			if strings.Count(statement, "CROSS JOIN") > 1 {
				continue // too large now
			}
			certificate, err := certify(statement, cat)
			if err != nil || certificate.Domain == nil {
				continue
			}
			for _, r := range certificate.Releases {
				if err := m.release(t.Context(), x, certificate, r, pipeline{}, &c); err != nil {
					t.Fatalf("example %d\n%s\n%v\n%s", i, statement, err, x)
				}
			}
		}
	}
	t.Logf("%d releases, %d differ between neighbours, %d queries", c.releases, c.moved, c.queries)
}

// enlarged prints the statements that make copies of an example's private
// tables. The keys of a copy are its own.
func (x *example) enlarged(copies int, order string) string {
	var b strings.Builder
	for _, schema := range []string{"d", "e"} {
		for _, t := range x.tables {
			if t.public {
				continue
			}
			var fields []string
			for _, c := range t.columns {
				field := c.name
				switch {
				case c.name != "u" && c.name != "id" && c.name != "ref":
				case c.kind == date: // no two of the example's are a whole number of hundreds of days apart
					field = "u + CAST(100 * copy AS INTEGER) AS u"
				case c.kind == textual:
					field = "u || '/' || copy AS u"
				default:
					field = fmt.Sprintf("CAST(%s AS BIGINT) + 100000 * copy AS %s", c.name, c.name)
				}
				fields = append(fields, field)
			}
			fmt.Fprintf(&b, "CREATE OR REPLACE TABLE small_%s.%s AS FROM %s.%s;\n", schema, t.name, schema, t.name)
			some := func(schema string, from, to int) string {
				return fmt.Sprintf("SELECT rowid, copy, t.* FROM small_%s.%s AS t CROSS JOIN range(%d, %d) AS c(copy)", schema, t.name, from, to)
			}
			rows := some("d", 0, copies)
			if schema == "e" {
				rows = some("e", 0, 1) + " UNION ALL " + some("d", 1, copies)
			}
			fmt.Fprintf(&b, "CREATE OR REPLACE TABLE %s.%s AS SELECT %s FROM (%s) AS t ORDER BY %s;\n", schema, t.name, strings.Join(fields, ", "), rows, order)
		}
	}
	return b.String()
}
