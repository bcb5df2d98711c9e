//go:build cgo

package attack_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// fuzzed opens the catalog of stability's tests over a few odd records.
func fuzzed(t testing.TB) *world {
	text := string(must(os.ReadFile(filepath.Join(root, "internal/stability/testdata/catalog.toml"))))
	text = strings.ReplaceAll(text, ".parquet", ".csv")
	text = strings.ReplaceAll(text, "epsilon = 3.0\ndelta = 1e-7", "epsilon = 1000000.0\ndelta = 0.5")
	text = strings.ReplaceAll(text, "epsilon = 1.0", "epsilon = 1000000.0")
	return newLimitedWorld(t, text+"\n[defaults]\nepsilon = 1e-6\ndelta = 1e-9\n", files{
		"visits.csv": "visit_id,patient_id,department,age,cost,bill,seen_at,stay,note\n" +
			"1,1,ER,0,0,0,2025-02-28 23:59:59.999999,1 month,\"a'b\"\n2,1,ICU,-2147483648,1e308,-9999999999.99,0001-01-01,30 days,\n3,2,ER,2147483647,-1e308,9999999999.99,9999-12-31 23:59:59,-1 day,é\x01\n" +
			"-9223372036854775808,9223372036854775807,Surgery,1,nan,1,infinity,,%_\\\n4,,ER,1,1,1,,,orphan\n5,3,,,-0.0,,1970-01-01,,99999999999999999999\n",
		"patients.csv": "id,sex,born\n1,f,1980\n2,m,\n3,,2147483647\n-2147483648,x,1\n", "prescriptions.csv": "visit,drug,dose\n1,a,1\n1,a,1e-320\n2,b,-inf\n77,c,1\n",
		"unbounded.csv": "patient_id,x\n1,0.5\n1,2\n", "survey.csv": "score,department\n5,ER\n-1,\n11,ICU\n", "shifts.csv": "employee_id,department\n1,ER\n", "departments.csv": "name,floor\nER,1\nICU,-2147483648\n,\nER,2\n",
	}, duckdb.Options{Threads: 1, Memory: "300MB"})
}

// statement finds what in a test's data may be a statement.
var statement = regexp.MustCompile(`(?is)\b(select|with|values)\b[^;]*`)

// addStatements seeds with all statements of all tests' data and of the catalogue of refusals.
// Where nobody fuzzes, each is a test: then those of tests' data, which their own tests ask, and
// partial expressions, which E1 and E2 ask, are a fifth, and all with DISCREET_SOAK.
func addStatements(f *testing.F) {
	share := 5
	if fuzzed := flag.Lookup("test.fuzz"); os.Getenv("DISCREET_SOAK") != "" || fuzzed != nil && fuzzed.Value.String() != "" {
		share = 1
	}
	seen := 0
	add := func(sql string) {
		if seen++; seen%share == 0 {
			f.Add(sql)
		}
	}
	for _, glob := range []string{"internal/*/testdata/*/*", "internal/*/testdata/*.sql"} {
		paths, err := filepath.Glob(filepath.Join(root, glob))
		if err != nil || len(paths) == 0 {
			f.Fatalf("%s: %d files: %v", glob, len(paths), err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				continue // a folder
			}
			for line := range bytes.Lines(data) {
				if s := statement.FindString(string(line)); s != "" && len(s) < 2000 {
					add(s)
				}
			}
		}
	}
	for _, e := range diagnostic.Entries() {
		f.Add(e.Example)
	}
	for _, e := range partial {
		e = strings.NewReplacer("name", "note", "fee", "bill", "score", "visit_id", "paid", "cost", "seen", "seen_at", "day", "seen_at::date").Replace(e)
		add("SELECT count(*) FROM visits WHERE " + e)
		add("SELECT department, sum(CASE WHEN " + e + " THEN cost END) FROM visits GROUP BY department")
	}
}

// FuzzStatement holds for every text: explaining it does not panic and ends
// soon, and what is wrong with it is a refusal that says where and why.
func FuzzStatement(f *testing.F) {
	addStatements(f)
	w := fuzzed(f)
	f.Fuzz(func(t *testing.T, sql string) {
		for _, o := range []*discreet.QueryOptions{nil, pure("1"), concentrated("0.1")} {
			hung := time.AfterFunc(20*time.Second, func() { panic("20 s to explain " + sql) })
			e, err := w.Explain(context.Background(), sql, o)
			hung.Stop()
			if err != nil {
				isRefusal(t, sql, err)
				continue
			}
			marshal(t, e)
		}
	})
}

func isRefusal(t *testing.T, sql string, err error) {
	t.Helper()
	var r *discreet.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("%q: %v is no refusal", sql, err)
	}
	if _, known := diagnostic.Explain(r.Code); !known || r.Message == "" || r.Line < 0 || r.Column < 0 || r.Length < 0 {
		t.Fatalf("%q: %+v", sql, r)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
}

// FuzzQuery holds for every text that is not refused: it is answered, whatever
// the records. An engine may fail for want of time and memory alone.
func FuzzQuery(f *testing.F) {
	addStatements(f)
	w := fuzzed(f)
	f.Fuzz(func(t *testing.T, sql string) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		a, err := w.Query(ctx, sql, nil)
		if err == nil {
			marshal(t, a)
			return
		}
		if !errors.Is(err, discreet.ErrUnavailable) {
			isRefusal(t, sql, err)
			return
		}
		failure := w.log.String()
		w.log.Reset()
		for _, d := range w.catalog.Domains {
			if err := w.ledger.Acknowledge(context.Background(), d.ID, "fuzzing", noon); err != nil {
				t.Fatal(err)
			}
		}
		if ctx.Err() == nil && !strings.Contains(failure, "Out of Memory") {
			t.Fatalf("%q: %s", sql, failure)
		}
	})
}

// TestChains: a chain of WITH queries costs what it is long, each being used
// once, and one that the engine could not follow is refused.
func TestChains(t *testing.T) {
	for _, c := range []struct {
		first, step string
		n           int
		answered    bool
	}{
		{"SELECT * FROM visits", "SELECT * FROM a WHERE cost > 1", 45, true},
		{"SELECT * FROM visits", "SELECT * FROM a WHERE cost > 1", 190, true},
		{"SELECT * FROM visits", "SELECT * FROM a WHERE cost > 1", 320, false},
		{"SELECT count(*) AS c FROM visits", "SELECT c + 1 AS c FROM a", 190, true},
		{"SELECT * FROM visits", "SELECT person, sum(cost) AS cost FROM a GROUP BY person", 9, true},
		{"SELECT * FROM visits", "SELECT person, sum(cost) AS cost FROM a GROUP BY person", 10, false},
		{"SELECT city, count(*) AS c FROM visits GROUP BY city", "SELECT DISTINCT c FROM a", 20, false},
	} {
		w := newWorld(t, visits(largeApprox), files{"visits.csv": crowd(20)})
		sql := "WITH a0 AS (" + c.first + ")"
		for i := range c.n {
			sql += fmt.Sprintf(", a%d AS (%s)", i+1, strings.ReplaceAll(c.step, "FROM a", fmt.Sprint("FROM a", i)))
		}
		_, err := w.Query(context.Background(), sql+fmt.Sprintf(" SELECT count(*) FROM a%d", c.n), pure("0.001"))
		if r, refused := errors.AsType[*discreet.Refusal](err); c.answered && err != nil || !c.answered && (!refused || r.Code != "D028") {
			t.Errorf("%d times %s: %v", c.n, c.step, err)
		}
	}
}

// Statements whose plans, intervals or texts could grow without bound are
// explained and answered, or refused, in the time of others. (What hangs is
// found by the test's own limit.) DISCREET_SOAK asks the shortest, too, of
// which one has intervals that DuckDB plans for seconds.
func TestStatementsThatGrow(t *testing.T) {
	w := newWorld(t, visits(largeApprox), files{"visits.csv": crowd(20)})
	times := []int{12, 30, 60}
	if os.Getenv("DISCREET_SOAK") != "" {
		times = append(times, 3)
	}
	for _, n := range times {
		nested := func(from, step string) string {
			for range n {
				from = "SELECT " + step + " AS c FROM (" + from + ") AS s"
			}
			return from
		}
		doubled := func(first, step string) string {
			with := "WITH a0 AS (" + first + ")"
			for i := range n {
				with += fmt.Sprintf(", a%d AS (%s)", i+1, strings.ReplaceAll(step, "a", fmt.Sprint("a", i)))
			}
			return with + fmt.Sprintf(" SELECT count(*) FROM a%d", n)
		}
		wrapped := func(left, x, right string) string { return strings.Repeat(left, n) + x + strings.Repeat(right, n) }
		const noisy = " FROM (SELECT count(*) AS n FROM visits) AS s"
		for _, sql := range []string{
			"SELECT " + wrapped("", "n", " * n") + noisy,
			"SELECT " + wrapped("abs(", "n", ")") + noisy,
			"SELECT " + wrapped("1 / (", "n", " + 1.5)") + noisy,
			"SELECT " + wrapped("greatest(n, ", "n", ")") + noisy,
			"SELECT " + wrapped("CASE WHEN n > 1 THEN n ELSE ", "n", " END") + noisy,
			nested("SELECT count(*) AS c FROM visits", "c * c"),
			nested("SELECT avg(cost) AS c FROM visits", "c / (c - 1)"),
			"SELECT sum(c) FROM (" + nested("SELECT cost AS c FROM visits", "c + c") + ") AS s",
			"SELECT sum(c) FROM (" + nested("SELECT cost AS c FROM visits", "least(c, abs(c) * c)") + ") AS s",
			"SELECT c, count(*) FROM (" + nested("SELECT city AS c FROM visits", "CASE WHEN c = 'x' THEN c ELSE c END") + ") AS s GROUP BY c",
			"SELECT count(*) FROM (" + nested("SELECT name AS c FROM visits", "c || c") + ") AS s WHERE c = 'x'",
			"SELECT count(*) FROM visits WHERE " + wrapped("split_part(", "name", ", name, 1)") + " = 'x'",
			"SELECT count(*) FROM visits WHERE " + wrapped("replace(", "name", ", 'a', 'aaaaaaaaaa')") + " = 'x'",
			"SELECT count(*) FROM visits WHERE " + wrapped("NOT (", "true", ")"),
			"SELECT count(*) FROM visits WHERE person IN (" + wrapped("SELECT person FROM visits WHERE person IN (", "SELECT person FROM visits", ")") + ")",
			doubled("SELECT * FROM visits", "SELECT * FROM a UNION ALL SELECT * FROM a"),
			doubled("SELECT count(*) AS c FROM visits", "SELECT l.c FROM a AS l CROSS JOIN a AS r"),
			doubled("SELECT * FROM visits", "SELECT l.* FROM a AS l JOIN a AS r ON l.person = r.person"),
			doubled("SELECT * FROM visits", "SELECT person, sum(cost) AS cost FROM a GROUP BY person"),
			doubled("SELECT city, count(*) AS c FROM visits GROUP BY city", "SELECT DISTINCT c FROM a"),
		} {
			_, err := w.Explain(context.Background(), sql, nil)
			if err == nil {
				_, err = w.Query(context.Background(), sql, pure("0.001"))
			}
			if err != nil {
				isRefusal(t, sql, err)
			}
		}
	}
}
