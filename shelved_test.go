//go:build cgo

package discreet

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A shelved database counts what its engine and its ledger are asked.
type shelved struct {
	testing.TB
	*Database
	recorder *recorder
}

const shelvedCatalog = `[domains.d]
measure = "MEASURE"
epsilon = 1e3
DELTAS
[tables.t]
source = "t.csv"
domain = "d"
unit = "who"
max_groups_per_unit = 3
max_rows_per_group = 4
columns.who = { type = "bigint" }
columns.k = { type = "text", domain = ["a", "b", "c"] }
columns.s = { type = "text", domain = ["F", "M"] }
columns.n = { type = "integer", lower = 0, upper = 4, step = 1 }
columns.x = { type = "bigint", lower = 0, upper = 9 }
columns.w = { type = "double", lower = 0, upper = 9, sum_lower = 0, sum_upper = 20 }
columns.free = { type = "text" }
[tables.p]
source = "p.csv"
public = true
columns.k = { type = "text" }
columns.name = { type = "text" }
[views.narrow]
sql = "SELECT who, k, x FROM t"
[views.viewed]
sql = "SELECT who, s AS sex, x AS v, k AS key, n + 0 - 0 AS m, n FROM t"
[views.bounded]
sql = "SELECT who, s, x, k FROM t"
columns.x = { type = "bigint", lower = 0, upper = 5 }
columns.k = { type = "text", domain = ["a", "b"] }
`

func (w *shelved) spent() string {
	b, err := w.config.Ledger.Balance(w.Context(), "d")
	if err != nil {
		w.Fatal(err)
	}
	return fmt.Sprint(b.Spent)
}

func (w *shelved) version() {
	w.Helper()
	if _, err := w.config.Ledger.NewVersion(w.Context(), "", "", time.Now()); err != nil {
		w.Fatal(err)
	}
}

// at is options to ask at a cost; at none where it is 0.
func (w *shelved) at(cost string) *QueryOptions {
	o := &QueryOptions{Reuse: true, NoDefault: true, Analyst: "ann"}
	switch {
	case cost == "":
	case w.config.Catalog.Domains[0].Measure == "zcdp":
		o.Spend.Rho = must(privacy.ParseRho(cost))
	default:
		o.Spend.Epsilon = must(privacy.ParseEpsilon(cost))
	}
	return o
}

// told asks, and holds whether anything was charged, and whether private data was read, against what is wanted.
func (w *shelved) told(sql string, o *QueryOptions, free bool) *Answer {
	w.Helper()
	e, err := w.Explain(w.Context(), sql, o)
	if err != nil {
		w.Fatalf("%s\n%v", sql, err)
	}
	spent, asked := w.spent(), len(w.recorder.asked)
	a, err := w.Query(w.Context(), sql, o)
	if err != nil {
		w.Fatalf("%s\n%v", sql, err)
	}
	if e.Reused != free || a.Reused != free {
		w.Errorf("%s\nis explained as free: %v, and answered for nothing: %v, not %v", sql, e.Reused, a.Reused, free)
	}
	if free && (w.spent() != spent || len(w.recorder.asked) != asked || len(a.Cost.Events) > 0) {
		w.Errorf("%s\nis charged, %s after %s, or reads private data: %v", sql, w.spent(), spent, w.recorder.asked[asked:])
	}
	if e.Reused && (len(e.EngineSQL) > 0) != (len(e.Cost.Events) > 0) {
		w.Errorf("%s\nis explained as asked of an engine: %s", sql, e.EngineSQL)
	}
	if !free && w.spent() == spent {
		w.Errorf("%s\nis charged nothing", sql)
	}
	return a
}

// shelve opens a shelved database, of whose catalog some texts are others.
func shelve(t testing.TB, measure string, instead ...string) *shelved {
	t.Helper()
	var rows strings.Builder
	rows.WriteString("who,k,s,n,x,w,free\n")
	for u := range 300 {
		for i := range 4 {
			fmt.Fprintf(&rows, "%d,%c,%c,%d,%d,%d,%c\n", u, 'a'+(u+i)%4, "FMX"[u%3], i, (u*7+i)%10, i, 'p'+u%2)
		}
	}
	text := strings.NewReplacer("MEASURE", measure, "DELTAS", map[bool]string{false: "delta = 1e-3"}[measure == "pure"]).Replace(strings.NewReplacer(instead...).Replace(shelvedCatalog))
	r := &recorder{}
	db := opened(t, map[string]string{"t.csv": rows.String(), "p.csv": "k,name\na,A\nb,B\n", "c.toml": text}, func(e engine.Engine) engine.Engine { r.Engine = e; return r })
	return &shelved{t, db, r}
}

// cells are an answer's values by its first columns.
func cells(a *Answer, keys, column int) map[string]sqltype.Value {
	out := map[string]sqltype.Value{}
	for _, row := range a.Rows {
		out[fmt.Sprint(row[:keys])] = row[column]
	}
	return out
}

// decimal is a number as a double.
func decimal(v sqltype.Value) float64 {
	f, err := strconv.ParseFloat(sqltype.Format(v), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}
