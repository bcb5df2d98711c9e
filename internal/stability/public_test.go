package stability_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// An analysis asks for the public columns whose values it could use: those that list a key's domain, where no other key makes all groups private, and those of which keys are made.
func TestUnreadColumns(t *testing.T) {
	t.Parallel()
	c, err := catalog.Parse("catalog.toml", `[domains.d]
measure = "zcdp"
epsilon = 1.0
delta = 1e-7
[tables.t]
source = "t.csv"
domain = "d"
unit = "who"
max_rows_per_group = 2
columns.who = { type = "bigint" }
columns.k = { type = "text", domain = { from = "p.k" } }
columns.n = { type = "smallint", domain = { from = "p.n" } }
columns.free = { type = "text" }
[tables.p]
source = "p.csv"
public = true
columns.k = { type = "text" }
columns.n = { type = "bigint" }
columns.other = { type = "text" }
`)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]sqltype.Value{"k": {"a", "b"}, "n": {int64(-40_000), int64(-32_768), int64(7), int64(40_000)}, "other": {"o"}}
	for _, test := range []struct {
		sql, unread string
		code        string // of the refusal without these values
		groups      int64  // with them, 0 where they are private
	}{
		{"SELECT count(*) FROM t WHERE k = 'a'", "", "", 1},
		{"SELECT k, count(*) FROM t GROUP BY k", "k", "D048", 2},
		{"SELECT n, count(*) FROM t GROUP BY n", "n", "D048", 2},
		{"SELECT upper(k), count(*) FROM t GROUP BY 1", "k", "D048", 2},
		{"SELECT k || 'x', n > 0, count(*) FROM t GROUP BY 1, 2", "k", "D048", 4},
		{"SELECT p.other, count(*) FROM t JOIN p ON p.k = t.k GROUP BY 1", "other", "D048", 1},
		{"SELECT p.other, free, count(*) FROM t JOIN p ON p.k = t.k GROUP BY 1, 2", "", "D048", 0},
		{"SELECT upper(p.other), count(*) FROM t JOIN p ON p.k = t.k GROUP BY 1", "", "D048", 0},
		{"SELECT k, count(n) FROM (SELECT who, k, count(*) AS n FROM t GROUP BY who, k) AS s WHERE n < 9 GROUP BY k", "k", "D048", 2},
	} {
		tree, err := sqlparse.Parse(test.sql)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := bind.Statement(tree, c, bind.Parameters{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, unread, refused := stability.AnalyzeWith(bound, stability.Options{})
		given := stability.Options{Public: stability.Public{}}
		var names []string
		for _, d := range unread {
			names = append(names, d.FromColumn.Name)
			given.Public[d.FromColumn] = values[d.FromColumn.Name]
		}
		if got := strings.Join(names, " "); got != test.unread {
			t.Errorf("%s reads %q, want %q", test.sql, got, test.unread)
		}
		if (refused == nil) != (test.code == "") || refused != nil && !strings.Contains(refused.Error(), test.code) {
			t.Errorf("%s without public values: %v, want %q", test.sql, refused, test.code)
		}
		certificate, unread, err := stability.AnalyzeWith(bound, given)
		if len(unread) > 0 {
			t.Errorf("%s asks again for %v", test.sql, unread)
		}
		switch {
		case test.groups == 0 && err == nil:
			t.Errorf("%s is accepted without a bound on groups", test.sql)
		case test.groups > 0 && err != nil:
			t.Errorf("%s: %v", test.sql, err)
		case test.groups > 0 && certificate.Releases[0].MaxGroups != test.groups:
			t.Errorf("%s: a unit may be in %d groups, want %d", test.sql, certificate.Releases[0].MaxGroups, test.groups)
		}
	}
}
