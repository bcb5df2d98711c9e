package bind

import (
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// A column that is a key under several names is one key, unless a view declares a domain of one of them.
func TestEachKeyOnce(t *testing.T) {
	c, err := catalog.Parse("c.toml", `[domains.d]
measure = "pure"
epsilon = 1
[tables.t]
source = "t.csv"
domain = "d"
unit = "u"
max_groups_per_unit = 1
max_rows_per_group = 1
columns.u = { type = "bigint" }
columns.k = { type = "text", domain = ["a", "b"] }
columns.l = { type = "text", domain = ["a", "b"] }
[views.v]
sql = "SELECT u, k, k AS few FROM t"
columns.few = { type = "text", domain = ["a"] }
`)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]int{
		"SELECT k, count(*) FROM t GROUP BY k, t.k":                                                1,
		"SELECT k, k, count(*) FROM t GROUP BY 1, 2":                                               1,
		"SELECT DISTINCT k, k FROM t":                                                              1,
		"SELECT a, b FROM (SELECT k AS a, k AS b FROM t WHERE k > 'a') AS t GROUP BY a, b":         1,
		"SELECT lower(k), upper(k), lower(k) FROM t GROUP BY 1, 2, 3":                              2,
		"SELECT k, l FROM t GROUP BY k, l":                                                         2,
		"SELECT a, b FROM (SELECT k AS a, l AS b FROM t) AS t GROUP BY a, b":                       2,
		"SELECT k, few FROM v GROUP BY k, few":                                                     2,
		"SELECT x.k, y.k FROM t AS x JOIN t AS y ON x.u = y.u GROUP BY x.k, y.k":                   2,
		"SELECT a, b FROM (SELECT lower(k) AS a, lower(l) AS b FROM t) AS t GROUP BY a, b":         2,
		"SELECT a, b FROM (SELECT lower(k) AS a, lower(k) AS b FROM t) AS t GROUP BY a, b":         1,
		"SELECT k, count(*) FROM t GROUP BY k, t.k HAVING count(*) > 3 ORDER BY 2 DESC, k LIMIT 1": 1,
	} {
		q, err := sqlparse.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		n, err := Bind(q, c)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if got := keysOf(n); got != want {
			t.Errorf("%s has %d keys, want %d", sql, got, want)
		}
	}
}

// keysOf is how many keys the first aggregation of a plan has.
func keysOf(n plan.Node) int {
	if a, ok := n.(*plan.Aggregate); ok {
		return len(a.Keys)
	}
	for _, in := range n.Inputs() {
		if k := keysOf(in); k > 0 {
			return k
		}
	}
	return 0
}
