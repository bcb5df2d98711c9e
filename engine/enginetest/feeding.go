package enginetest

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// everything has a column of each type that code may see.
const everything = `
[domains.people]
measure = "pure"
epsilon = 1
[tables.t]
source = "t.csv"
domain = "people"
unit = %q
%s
[tables.t.columns]
u = { type = %q }
b = { type = "boolean" }
i = { type = "integer" }
d = { type = "decimal(9,2)" }
f = { type = "double" }
s = { type = "text" }
day = { type = "date" }
at = { type = "timestamp" }
clock = { type = "time" }
`

var seenOfIt = []string{"s", "clock", "b", "i", "d", "f", "day", "at"}

// records are some of 40 units, with NULL, equal ones, texts that collations order otherwise, and a
// unit that is nobody.
func records(number bool) string {
	var text strings.Builder
	text.WriteString("u,b,i,d,f,s,day,at,clock\n")
	pick := func(n int, of ...string) string { return of[n%len(of)] }
	for n := range 600 {
		unit := fmt.Sprint(n * 7 % 40)
		if !number {
			unit = pick(n*7, "a", "B", "b", `"a "`, "Ä", "z", "Z", "_", "10", "9", "é", "e")
		}
		if n%17 == 0 {
			unit = ""
		}
		fmt.Fprintf(&text, "%s,%s,%s,%s,%s,%s,%s,%s,%s\n", unit, pick(n, "true", "false", ""), pick(n/2, "-5", "", "7", "10"), pick(n/3, "1.50", "-2", ""),
			pick(n/5, "0.1", "-0.0", "", "1e300"), pick(n/4, "x", "X", `""`, "Ä", "_", "", "a b"), pick(n/7, "2025-01-02", "", "1969-12-31"),
			pick(n/11, "2025-01-02 03:04:05.000006", ""), pick(n/13, "23:59:59.5", "", "00:00:00"))
	}
	return text.String()
}

// hashed is code that makes one row of what it sees, which hangs on every value and on their order.
func hashed(_ context.Context, records [][]sqltype.Value) ([][]sqltype.Value, error) {
	h := fnv.New64a()
	for _, r := range records {
		for _, v := range r {
			fmt.Fprintf(h, "%T %s|", v, sqltype.Format(v))
		}
	}
	return [][]sqltype.Value{{float64(h.Sum64() >> 12)}}, nil
}

// made are the rows of the mapped table that an engine keeps, in some order.
func made(t *testing.T, c *catalog.Catalog, kept Kept, m engine.Map) []string {
	t.Helper()
	e := kept(t, c, m)
	table, _ := c.Table("mapped")
	var types []sqltype.Type
	var names []string
	for _, c := range table.Columns {
		types, names = append(types, c.Type), append(names, c.Name)
	}
	x, err := e.Exact(t.Context(), engine.Query{SQL: "SELECT " + strings.Join(names, ", ") + " FROM mapped", Tables: []string{"mapped"}, Keys: types})
	if err != nil {
		t.Fatal(cause(err))
	}
	var all []string
	for _, row := range x.RevealExact() {
		all = append(all, fmt.Sprintf("%q", row))
	}
	slices.Sort(all)
	return all
}

// alone is a catalog with the mapped table and nothing else.
func alone(c *catalog.Catalog) *catalog.Catalog {
	out := *c
	out.Tables = out.Tables[len(out.Tables)-1:]
	return &out
}

// Kept opens the engine that reads a catalog's files and keeps what code makes: of its table "mapped",
// by m. It closes it when the test ends.
type Kept func(t testing.TB, c *catalog.Catalog, m engine.Map) engine.Engine

// Fed puts the records of a catalog's files where the engine under test has its own, and returns a
// catalog of these, and what opens the engine with a number of connections.
type Fed func(t testing.TB, files *catalog.Catalog) (stored *catalog.Catalog, open func(connections int) engine.Feeder)

// RunFeeding holds what an engine hands out for code: what code makes of a database's records is, value
// for value, what it makes of the same records in a file, however many connections read them. So
// every release of it is the same, too.
func RunFeeding(t *testing.T, kept Kept, fed Fed) {
	for _, x := range []struct {
		unit, kind string
		byUnit     bool
	}{{"u", "text", true}, {"u", "text", false}, {"u", "bigint", true}, {"row", "bigint", false}} {
		bounds := "max_groups_per_unit = 1\nmax_rows_per_group = 3"
		if x.unit == "row" {
			bounds = ""
		}
		c := files(t, map[string]string{"t.csv": records(x.kind != "text"), "discreet.toml": fmt.Sprintf(everything, x.unit, bounds, x.kind)})
		o := catalog.MapOptions{Name: "mapped", Of: "t", Columns: seenOfIt, ByUnit: x.byUnit, Upper: 1 << 60}
		both, err := c.Map(o)
		if err != nil {
			t.Fatal(err)
		}
		want := made(t, both, kept, engine.Map{Rows: engine.Each(hashed)})
		if len(want) < 12 {
			t.Fatalf("%d rows", len(want))
		}
		stored, open := fed(t, c)
		remote, err := stored.Map(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, connections := range []int{1, 3} {
			e := open(connections)
			feed := func(ctx context.Context, f func([]engine.Call) error) error {
				return e.Feed(ctx, engine.Seen{Table: "t", Columns: seenOfIt, ByUnit: x.byUnit}, f)
			}
			if got := made(t, alone(remote), kept, engine.Map{Rows: engine.Each(hashed), Feed: feed}); !slices.Equal(got, want) {
				t.Errorf("%v over %d connections: %d rows, want %d\n%.300v\n%.300v", x, connections, len(got), len(want), got, want)
			}
		}
	}
}
