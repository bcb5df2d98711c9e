//go:build cgo && unix

package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// parsed: what is asked again is parsed once, and what is asked once is not kept; there are never more
// than so many. A table that has changed meanwhile is read as it is.
func (s *server) parsed(t *testing.T) {
	e, schema := s.table(t)
	ask := func(n int) string {
		t.Helper()
		x, err := e.Exact(t.Context(), engine.Query{SQL: fmt.Sprintf("SELECT CAST(count(*) + %d AS NUMERIC) FROM t WHERE CAST($1 AS BIGINT) = 7", n), Tables: []string{"t"}, Values: 1, Salt: 7})
		if err != nil {
			t.Fatal(cause(err))
		}
		return sqltype.Format(x.RevealExact()[0][0])
	}
	kept := func() (n int, first string) {
		t.Helper()
		idle := e.Idle()
		if len(idle) != 1 {
			t.Fatalf("%d sessions", len(idle))
		}
		results, err := idle[0].Exec(t.Context(), "SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%AS BIGINT) = 7%' ORDER BY prepare_time, name").ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if n = len(results[0].Rows); n > 0 {
			first = string(results[0].Rows[0][0])
		}
		return n, first
	}
	for n := range 40 {
		if got, want := ask(n), fmt.Sprint(10+n); got != want {
			t.Errorf("it counts %s, not %s", got, want)
		}
	}
	if n, _ := kept(); n != 0 {
		t.Errorf("%d statements are kept that were asked once", n)
	}
	for range 4 {
		for n := range 40 {
			if got, want := ask(n), fmt.Sprint(10+n); got != want {
				t.Errorf("again it counts %s, not %s", got, want)
			}
		}
	}
	if n, first := kept(); n == 0 || n > 32 || strings.Contains(first, "+ 0 AS") {
		t.Errorf("%d statements are kept, the oldest is %s", n, first)
	}
	for _, change := range []string{"INSERT INTO %s.t VALUES (11, 11)", "ALTER TABLE %s.t ALTER v TYPE varchar(20)", "ALTER TABLE %s.t ADD w integer", "DELETE FROM %s.t WHERE u = '11'"} {
		s.exec(t, change, schema)
		want := "50"
		if strings.HasPrefix(change, "DELETE") {
			want = "49"
		}
		for range 2 {
			if got := ask(39); got != want {
				t.Errorf("after %s it counts %s, not %s", fmt.Sprintf(change, schema), got, want)
			}
		}
	}
}
