//go:build cgo

package discreet

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/sqltype"
	"pgregory.net/rapid"
)

// Whatever conditions and keys pick, what is made says of each group what SQL says of the cells that were released: for conditions that
// are read here, and read by the engine.
func TestMadeIsWhatSQLSays(t *testing.T) {
	w := shelve(t, "zcdp")
	w.version()
	const fine = "SELECT k, s, n, count(*) AS c, sum(x) AS t, count(x) AS v FROM t GROUP BY k, s, n"
	w.told(fine, w.at("0.3"), false)
	spent, asked := w.spent(), len(w.recorder.asked)
	rapid.Check(t, func(t *rapid.T) {
		var condition func(deep int) string
		condition = func(deep int) string {
			switch n := rapid.IntRange(0, 8).Draw(t, "condition"); {
			case n == 0 && deep > 0:
				return "NOT (" + condition(deep-1) + ")"
			case n == 1 && deep > 0:
				return "(" + condition(deep-1) + " AND " + condition(deep-1) + ")"
			case n == 2 && deep > 0:
				return "(" + condition(deep-1) + " OR " + condition(deep-1) + ")"
			case n == 3:
				return "k IN ('a', " + rapid.SampledFrom([]string{"'b'", "'c'", "'z'"}).Draw(t, "k") + ")"
			case n == 4:
				return rapid.SampledFrom([]string{"s = 'F'", "s <> 'F'", "'M' = s"}).Draw(t, "s")
			case n == 5:
				return "n BETWEEN 1 AND " + fmt.Sprint(rapid.IntRange(0, 4).Draw(t, "n"))
			case n == 6:
				return "n" + compared(t) + "2"
			default:
				return "k" + compared(t) + "'b'"
			}
		}
		where := ""
		for i := range rapid.IntRange(0, 2).Draw(t, "conditions") {
			where += map[bool]string{true: " WHERE ", false: " AND "}[i == 0] + condition(2)
		}
		keys := rapid.SampledFrom([]string{"k", "s", "n", "k, s", "n, k", "k, s, n"}).Draw(t, "keys")
		width, by := strings.Count(keys, ",")+1, keys
		if width > 1 { // some of the grouping sets
			by = fmt.Sprintf(rapid.SampledFrom([]string{"%[1]s", "GROUPING SETS ((%[1]s), %[2]s)", "GROUPING SETS (%[2]s)"}).Draw(t, "sets"), keys, keys)
		}
		from := "t"
		if rapid.Bool().Draw(t, "through a view") {
			from = "(SELECT key AS k, v AS x, n, sex AS s FROM viewed) AS q"
		}
		ask := func(sql string) (*Answer, error) { return w.Query(context.Background(), sql, w.at("")) }
		want, err := ask("SELECT " + keys + ", sum(c), sum(t), sum(v) FROM (" + fine + ") AS f" + where + " GROUP BY " + by)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		sql := "SELECT " + keys + ", count(*), sum(x), avg(x) FROM " + from + where + " GROUP BY " + by
		got, err := ask(sql)
		if err != nil {
			if strings.Contains(err.Error(), "D070") && len(want.Rows) == 0 {
				return // no group is left
			}
			t.Fatalf("%s\n%v, and SQL says %v", sql, err, want.Rows)
		}
		values := cells(want, width, width+2)
		for key, mean := range cells(got, width, width+2) { // from 0 to 9
			if n := decimal(values[key]); n >= 1 && math.Abs(min(max(decimal(cells(want, width, width+1)[key])/n, 0), 9)-decimal(mean)) > 1e-6 {
				t.Fatalf("%s\nhas the average %v at %s, and SQL says %v of %v values", sql, mean, key, cells(want, width, width+1)[key], n)
			}
		}
		for column := range 2 {
			of, there := cells(want, width, width+column), 0
			for key, v := range cells(got, width, width+column) {
				if said, is := of[key]; is {
					if there++; sqltype.Format(said) != sqltype.Format(v) {
						t.Fatalf("%s\nis %v at %s, and SQL says %v", sql, v, key, said)
					}
				} else if sqltype.Format(v) != "0" {
					t.Fatalf("%s\nis %v at %s, of which no cell is left", sql, v, key)
				}
			}
			if there != len(of) {
				t.Fatalf("%s\nlacks groups: %v of %v", sql, got.Rows, want.Rows)
			}
		}
	})
	if w.spent() != spent || len(w.recorder.asked) != asked {
		t.Errorf("%s is spent after %s, or private data was read", w.spent(), spent)
	}
}

func compared(t *rapid.T) string {
	return rapid.SampledFrom([]string{" < ", " <= ", " > ", " >= ", " = ", " <> "}).Draw(t, "compared")
}
