//go:build cgo

package discreet

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

const listedCatalog = `[domains.d]
measure = "zcdp"
epsilon = 1e6
delta = 1e-3
[defaults]
rho = 1000.0
[tables.t]
source = "t.csv"
domain = "d"
unit = "who"
max_groups_per_unit = 4
max_rows_per_group = 2
columns.who = { type = "bigint" }
columns.k = { type = "text", domain = { from = "p.k" } }
columns.x = { type = "bigint", lower = 0, upper = 9 }
[tables.p]
source = "p.csv"
public = true
columns.k = { type = "text" }
columns.name = { type = "text" }
`

// listed opens a database of units each of which has one row in group a, two in b, and many in z, which the public table lacks that lists the groups: a, b and c,
// some of them twice, and NULL.
func listed(t *testing.T) (*Database, *shifting) {
	t.Helper()
	var rows strings.Builder
	rows.WriteString("who,k,x\n")
	for u := range 100 {
		fmt.Fprintf(&rows, "%d,a,1\n%d,b,5\n%d,b,5\n%d,,3\n%s", u, u, u, u, strings.Repeat(fmt.Sprintf("%d,z,9\n", u), 5))
	}
	s := &shifting{}
	db := opened(t, map[string]string{"t.csv": rows.String(), "p.csv": "k,name\nb,B\na,A\nb,B\n,none\nc,C\n", "c.toml": listedCatalog}, func(e engine.Engine) engine.Engine { s.Engine = e; return s })
	return db, s
}

const listedMode = "SELECT mode() WITHIN GROUP (ORDER BY k) FROM t"

// Values that a public table lists are a listed domain: a mode is a choice among them, keys made of them are public, and sets of them are known in size. What explain
// says of noise and error the answer does, and none of it is what private rows alone have.
func TestPublicTablesListValues(t *testing.T) {
	db, _ := listed(t)
	for _, c := range []struct {
		sql    string
		groups []string
	}{
		{listedMode, []string{"b"}},
		{"SELECT k, count(*) FROM t GROUP BY k", []string{"a", "b", "c"}},
		{"SELECT upper(k), count(*) FROM t GROUP BY 1", []string{"A", "B", "C"}},
		{"SELECT left(k, 1) || '!', count(*) FROM t GROUP BY 1", []string{"a!", "b!", "c!"}},
		{"SELECT k || CASE WHEN x > 4 THEN '+' ELSE '-' END, count(*) FROM t GROUP BY 1", []string{"a+", "a-", "b+", "b-", "c+", "c-"}},
		{"SELECT CASE WHEN k < 'b' THEN 'first' ELSE k END, count(*) FROM t GROUP BY 1", []string{"a", "b", "c", "first"}},
		{"SELECT p.k, count(*) FROM t JOIN p ON p.k = t.k GROUP BY 1", []string{"a", "b", "c"}},
	} {
		e, err := db.Explain(t.Context(), c.sql, nil)
		if err != nil {
			t.Fatalf("%s\n%v", c.sql, err)
		}
		a, err := db.Query(t.Context(), c.sql, nil)
		if err != nil {
			t.Fatalf("%s\n%v", c.sql, err)
		}
		var groups []string
		for _, row := range a.Rows {
			groups = append(groups, fmt.Sprint(row[0]))
		}
		if slices.Sort(groups); !slices.Equal(groups, c.groups) {
			t.Errorf("%s has groups %v, want %v", c.sql, groups, c.groups)
		}
		if !reflect.DeepEqual(e.Mechanisms, a.Mechanisms) || !slices.Equal(e.Notes, a.Notes) || fmt.Sprint(e.Cost.Events) != fmt.Sprint(a.Cost.Events) {
			t.Errorf("%s: explain says\n%+v\n%v\nand query\n%+v\n%v", c.sql, e.Mechanisms, e.Notes, a.Mechanisms, a.Notes)
		}
		if d, err := db.Describe(t.Context(), c.sql, nil, nil); err != nil || !slices.Equal(d.Columns, a.Columns) {
			t.Errorf("%s is described as %+v, %v, and answered with %+v", c.sql, d, err, a.Columns)
		}
		if a.Cost.Delta.Sign() != 0 {
			t.Errorf("%s: delta %v is charged for choosing groups", c.sql, a.Cost.Delta)
		}
		if m := a.Mechanisms[0]; c.sql == listedMode && (m.Mechanism != "exponential" || m.Candidates != 3) {
			t.Errorf("mode: %+v", m)
		}
	}
	e, err := db.Explain(t.Context(), "SELECT k, x / 5, count(*) FROM t GROUP BY CUBE (k, x / 5)", nil)
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(e.Notes, "\n"); !strings.Contains(notes, "x / 5: its values follow") || !strings.Contains(notes, "k: rows outside the public domain") {
		t.Errorf("notes:\n%s", notes)
	}
	if _, err := (&Database{config: Config{Catalog: db.config.Catalog}, found: &finds{}}).Explain(t.Context(), listedMode, nil); err == nil || !strings.Contains(err.Error(), "no engine") {
		t.Errorf("explained without the table: %v", err)
	}
}

// A statement is answered by what a public table listed when it was planned, whatever it lists by then; the next is planned by what it lists now.
func TestPublicTablesThatChange(t *testing.T) {
	db, public := listed(t)
	const sql = "SELECT upper(k), count(*) FROM t GROUP BY 1"
	planned := map[string]*Statement{}
	for _, sql := range []string{sql, listedMode} {
		s, err := db.Prepare(t.Context(), sql, nil)
		if err != nil {
			t.Fatal(err)
		}
		planned[sql] = s
	}
	public.rows = [][]sqltype.Value{{"z", "Z"}, {"a", "A"}}
	a, err := planned[sql].Answer(t.Context(), Payer{})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Rows) != 3 || a.Rows[2][0] != "C" {
		t.Errorf("the groups are %v, want those of the plan", a.Rows)
	}
	if a, err = planned[listedMode].Answer(t.Context(), Payer{}); err != nil {
		t.Fatal(err)
	}
	if len(a.Rows) != 1 || a.Rows[0][0] != "b" {
		t.Errorf("the mode is %v, want b", a.Rows)
	}
	again, err := db.Prepare(t.Context(), listedMode, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again.Fingerprint() == planned[listedMode].Fingerprint() {
		t.Error("what is chosen among other values is taken for the same")
	}
	if a, err = again.Answer(t.Context(), Payer{}); err != nil {
		t.Fatal(err)
	}
	if a.Rows[0][0] != "z" || a.Mechanisms[0].Candidates != 2 {
		t.Errorf("the mode is %v among %d values, want z among 2", a.Rows, a.Mechanisms[0].Candidates)
	}
}

// Where a public table lists no value, or more or longer ones than may be constants, its column is a domain all the same: then a mode is read from counts.
func TestPublicTablesOfOtherSizes(t *testing.T) {
	db, public := listed(t)
	many := func(n int, suffix string) (rows [][]sqltype.Value) {
		for i := range n {
			rows = append(rows, []sqltype.Value{fmt.Sprintf("%06d%s", i, suffix), nil})
		}
		return rows
	}
	for _, c := range []struct {
		what   string
		rows   [][]sqltype.Value
		choice bool
	}{
		{"no row", [][]sqltype.Value{}, false},
		{"NULL alone", [][]sqltype.Value{{nil, nil}}, false},
		{"one value", many(1, ""), true},
		{"10,000 values", many(10_000, ""), true},
		{"10,001 values", many(10_001, ""), false},
		{"long texts", many(300, strings.Repeat("x", 1000)), false},
		{"a zero byte", [][]sqltype.Value{{"a\x00", nil}, {"b", nil}}, false},
	} {
		public.rows = c.rows
		e, err := db.Explain(t.Context(), listedMode, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if choice := e.Mechanisms[0].Candidates > 0; choice != c.choice {
			t.Errorf("%s: a choice: %v, want %v", c.what, choice, c.choice)
		}
		if e, err = db.Explain(t.Context(), "SELECT upper(k), count(*) FROM t GROUP BY 1", nil); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if private := e.Cost.Delta.Sign() > 0; private == c.choice {
			t.Errorf("%s: keys are private: %v, want %v", c.what, private, !c.choice)
		}
	}
}

// A server bounds the statements that it keeps by their sizes: that of one says what its public values take, and not its text alone.
func TestStatementsWithPublicValuesHaveTheirSize(t *testing.T) {
	db, public := listed(t)
	for i := range 10_000 {
		public.rows = append(public.rows, []sqltype.Value{fmt.Sprintf("%026d", i), nil})
	}
	for _, sql := range []string{"SELECT k, count(*) FROM t WHERE x <> %d GROUP BY k", "SELECT k, sum(x) FROM t WHERE x <> %d GROUP BY CUBE (k)", listedMode + " WHERE x <> %d"} {
		held := func() int64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before, size := held(), int64(0)
		var kept []*Statement
		for i := range 5 {
			s, err := db.Prepare(t.Context(), fmt.Sprintf(sql, i), nil)
			if err != nil {
				t.Fatal(err)
			}
			kept, size = append(kept, s), size+int64(s.Size())
		}
		if took := held() - before; took > 2*size || size > 2*took {
			t.Errorf("%s: %d statements take %d bytes, and say %d", sql, len(kept), took, size)
		}
		runtime.KeepAlive(kept)
	}
}
