package sqlparse

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// show prints statements without the places of arguments.
func show(t *testing.T, script string) string {
	t.Helper()
	all, err := Script(script)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for _, s := range all {
		if got := script[s.Start : s.Start+len(s.Text)]; got != s.Text {
			t.Errorf("%s: the piece at %d is %q, not %q", script, s.Start, got, s.Text)
		}
		line := "query"
		if s.Command != nil {
			line = strings.TrimPrefix(fmt.Sprintf("%T%+v", s.Command, s.Command), "sqlparse.")
			line = strings.ReplaceAll(line, " Span:{Start:0 End:0}", "")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

func TestScript(t *testing.T) {
	for _, test := range []struct{ script, want string }{
		{"", ""},
		{" ; -- nothing\n;", ""},
		{"SELECT 1", "query"},
		{"SELECT ';' ; /* ; */ SELECT 2;", "query; query"},
		{"(SELECT 1)", "query"},
		{"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) count(*) FROM t; SELECT 1", "query; query"},
		{"EXPLAIN SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) count(*) FROM t", "Explain{Query:{Text:SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) count(*) FROM t Start:8} Options:[]}"},
		{"COPY (SELECT WITH DIFFERENTIAL_PRIVACY count(*) FROM t) TO STDOUT", "Copy{Query:{Text:SELECT WITH DIFFERENTIAL_PRIVACY count(*) FROM t Start:6} Options:[]}"},
		{"DECLARE c CURSOR FOR SELECT WITH DIFFERENTIAL_PRIVACY count(*) FROM t", "Declare{Name:c Scroll:false Hold:false NoScroll:false BinaryTransfer:false Query:{Text:SELECT WITH DIFFERENTIAL_PRIVACY count(*) FROM t Start:21}}"},
		{"PREPARE p AS SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) count(*) FROM t", "Prepare{Name:p Types:[] Query:{Text:SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) count(*) FROM t Start:13}}"},
		{"LOCK TABLE public.visits, a IN ACCESS SHARE MODE", "Lock{}"},
		{"TABLE visits", "query"},
		{"VALUES (1)", "query"},
		{"INSERT INTO t VALUES (1); DROP TABLE t", "query; query"}, // refused as questions are

		{"SET discreet.rho = 0.01", "Set{Name:discreet.rho Values:[0.01] Local:false}"},
		{"SET Discreet.Rho TO '1e-3'", "Set{Name:discreet.rho Values:[1e-3] Local:false}"},
		{"SET LOCAL discreet.fresh = on", "Set{Name:discreet.fresh Values:[on] Local:true}"},
		{"SET SESSION x.y = -1.50", "Set{Name:x.y Values:[-1.50] Local:false}"},
		{"SET search_path TO public, \"Odd\"", "Set{Name:search_path Values:[public Odd] Local:false}"},
		{"SET discreet.rho TO DEFAULT", "Set{Name:discreet.rho Values:[] Local:false}"},
		{"SET TIME ZONE 'UTC'", "Set{Name:timezone Values:[UTC] Local:false}"},
		{"SET NAMES 'utf8'", "Set{Name:client_encoding Values:[utf8] Local:false}"},
		{"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SetTransaction{}"},
		{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SetTransaction{}"},
		{"RESET discreet.rho", "Reset{Name:discreet.rho}"},
		{"RESET ALL", "Reset{Name:}"},
		{"SHOW discreet.rho", "Show{Name:discreet.rho}"},
		{"SHOW ALL", "Show{Name:all}"},
		{"SHOW TRANSACTION ISOLATION LEVEL", "Show{Name:transaction_isolation}"},
		{"SELECT pg_catalog.set_config('search_path', '', false)", "SetConfig{Name:{Text:search_path Null:false Parameter:0 Span:{Start:29 End:42}} Value:{Text: Null:false Parameter:0 Span:{Start:44 End:46}} Local:{Text:false Null:false Parameter:0 Span:{Start:48 End:53}} Column:set_config}"},
		{"SELECT set_config('a.b', $1, $2) AS c", "SetConfig{Name:{Text:a.b Null:false Parameter:0 Span:{Start:18 End:23}} Value:{Text: Null:false Parameter:1 Span:{Start:25 End:27}} Local:{Text: Null:false Parameter:2 Span:{Start:29 End:31}} Column:c}"},
		{"SELECT set_config('a.b', x, true) FROM t", "query"},
		{"SELECT current_setting('a.b')", "query"},

		{"BEGIN; START TRANSACTION READ ONLY", "Begin{}; Begin{}"},
		{"COMMIT; END; COMMIT AND CHAIN", "Commit{Chain:false}; Commit{Chain:false}; Commit{Chain:true}"},
		{"ROLLBACK; ABORT", "Rollback{Chain:false}; Rollback{Chain:false}"},
		{"SAVEPOINT \"_pg3_1\"; RELEASE s; ROLLBACK TO s", "Savepoint{Name:_pg3_1}; Release{Name:s}; RollbackTo{Name:s}"},
		{"PREPARE TRANSACTION 'x'", "query:1:1: error[D006]: there are no two-phase transactions"},

		{"PREPARE p (bigint, text) AS SELECT $1", "Prepare{Name:p Types:[int8 text] Query:{Text:SELECT $1 Start:28}}"},
		{"EXECUTE p", "Execute{Name:p Arguments:[]}"},
		{"EXECUTE p (1 + 1)", "query:1:1: error[D007]: EXECUTE takes constants"},
		{"DEALLOCATE PREPARE p; DEALLOCATE ALL", "Deallocate{Name:p}; Deallocate{Name:}"},
		{"DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT 1", "Declare{Name:c Scroll:true Hold:true NoScroll:false BinaryTransfer:false Query:{Text:SELECT 1 Start:38}}"},
		{"DECLARE \"for\" CURSOR FOR SELECT 1", "Declare{Name:for Scroll:false Hold:false NoScroll:false BinaryTransfer:false Query:{Text:SELECT 1 Start:25}}"},
		{"FETCH c", "Fetch{Name:c Direction:0 Count:1 Move:false}"},
		{"FETCH FORWARD ALL FROM c", "Fetch{Name:c Direction:0 Count:9223372036854775807 Move:false}"},
		{"MOVE BACKWARD 3 IN c", "Fetch{Name:c Direction:1 Count:3 Move:true}"},
		{"FETCH LAST c", "Fetch{Name:c Direction:2 Count:-1 Move:false}"},
		{"FETCH RELATIVE -2 c", "Fetch{Name:c Direction:3 Count:-2 Move:false}"},
		{"CLOSE c; CLOSE ALL", "Close{Name:c}; Close{Name:}"},
		{"COPY (SELECT 1) TO STDOUT", "Copy{Query:{Text:SELECT 1 Start:6} Options:[]}"},
		{"COPY (SELECT (1)) TO STDOUT (FORMAT csv, HEADER, FORCE_QUOTE (a, b))", "Copy{Query:{Text:SELECT (1) Start:6} Options:[{Name:format Values:[csv] Span:{Start:29 End:35}} {Name:header Values:[] Span:{Start:41 End:47}} {Name:force_quote Values:[a b] Span:{Start:49 End:60}}]}"},
		{"COPY visits TO STDOUT", "query:1:6: error[D006]: COPY of a table gives away its rows"},
		{"COPY (SELECT 1) TO '/etc/passwd'", "query:1:1: error[D006]: COPY writes no files of the server"},
		{"COPY (SELECT 1) TO PROGRAM 'sh'", "query:1:1: error[D006]: COPY writes no files of the server"},
		{"COPY visits FROM STDIN", "query:1:1: error[D004]: COPY FROM is not a query"},
		{"COPY (DELETE FROM t RETURNING *) TO STDOUT", "query:1:7: error[D004]: COPY takes a query"},
		{"EXPLAIN SELECT 1", "Explain{Query:{Text:SELECT 1 Start:8} Options:[]}"},
		{"EXPLAIN (SELECT 1)", "Explain{Query:{Text:(SELECT 1) Start:8} Options:[]}"},
		{"EXPLAIN ((SELECT 1))", "Explain{Query:{Text:((SELECT 1)) Start:8} Options:[]}"},
		{"EXPLAIN (FORMAT json) (SELECT 1)", "Explain{Query:{Text:(SELECT 1) Start:22} Options:[{Name:format Values:[json] Span:{Start:9 End:15}}]}"},
		{"EXPLAIN ANALYZE VERBOSE SELECT 1", "Explain{Query:{Text:SELECT 1 Start:24} Options:[{Name:analyze Values:[] Span:{Start:8 End:15}} {Name:verbose Values:[] Span:{Start:16 End:23}}]}"},
		{"DISCARD ALL; DISCARD PLANS; DISCARD TEMP", "Discard{Plans:false All:true}; Discard{Plans:true All:false}; Discard{Plans:false All:false}"},
		{"UNLISTEN *", "Unlisten{}"},

		{"SELECT 1;\n SELEC 2", `query:2:2: error[D002]: syntax error at or near "SELEC"`},
		{"SELECT 'ü'; SELECT (1", `query:1:22: error[D002]: syntax error at the end of the statement`},
		{"SELECT 'open", `query:1:8: error[D002]: unterminated quoted string`},
		{"SET x", `query:1:6: error[D002]: syntax error at the end of the statement`},
		{"SELECT \x00", "query:1:8: error[D001]: the statement contains a NUL character"},
		{strings.Repeat("(", 300), "query:1:201: error[D005]: the statement is nested more than 200 deep"},
		{"SET x = '" + strings.Repeat("a", 1<<16) + "'", "query: error[D001]: the statement has 65546 bytes, more than 65536"},
	} {
		if got := show(t, test.script); got != test.want {
			t.Errorf("%.80s\ngot  %s\nwant %s", test.script, got, test.want)
		}
	}
}

// No text makes Script panic, and what it returns are parts of the text.
func FuzzScript(f *testing.F) {
	for _, s := range []string{
		"SELECT 1; SET x.y = 'a'; SHOW ALL", "COPY (SELECT 1) TO STDOUT (FORMAT csv)", "EXPLAIN (FORMAT json) SELECT 1",
		"DECLARE c CURSOR FOR SELECT 1; FETCH ALL c", "PREPARE p (int) AS SELECT $1; EXECUTE p (1)", "SELECT set_config('a.b', NULL, true)",
		"BEGIN; ROLLBACK TO SAVEPOINT a; COMMIT AND CHAIN",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		all, err := Script(script)
		if d := (*diagnostic.Diagnostic)(nil); err != nil && !errors.As(err, &d) {
			t.Fatalf("%q: %v", script, err)
		}
		end := 0
		for _, s := range all {
			if s.Start < end || s.Text == "" || script[s.Start:s.Start+len(s.Text)] != s.Text {
				t.Fatalf("%q: piece %q at %d", script, s.Text, s.Start)
			}
			end = s.Start + len(s.Text)
			var inner Piece
			switch c := s.Command.(type) {
			case Copy:
				inner = c.Query
			case Explain:
				inner = c.Query
			case Declare:
				inner = c.Query
			case Prepare:
				inner = c.Query
			}
			if s.Text[inner.Start:inner.Start+len(inner.Text)] != inner.Text {
				t.Fatalf("%q: query %q at %d", script, inner.Text, inner.Start)
			}
		}
	})
}
