//go:build cgo

package discreet_test

import (
	"bytes"
	"context"
	"errors"
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
	text := string(must(os.ReadFile("internal/stability/testdata/catalog.toml")))
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

// addStatements seeds with all statements of all tests' data.
func addStatements(f *testing.F) {
	for _, glob := range []string{"internal/*/testdata/*/*", "internal/*/testdata/*.sql", "cmd/*/testdata/script/*"} {
		paths, err := filepath.Glob(glob)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				continue // a folder
			}
			for line := range bytes.Lines(data) {
				if s := statement.FindString(string(line)); s != "" && len(s) < 2000 {
					f.Add(s)
				}
			}
		}
	}
	for _, e := range diagnostic.Entries() {
		f.Add(e.Example)
	}
	for _, e := range partial {
		e = strings.NewReplacer("name", "note", "fee", "bill", "score", "visit_id", "paid", "cost", "seen", "seen_at", "day", "seen_at::date").Replace(e)
		f.Add("SELECT count(*) FROM visits WHERE " + e)
		f.Add("SELECT department, sum(CASE WHEN " + e + " THEN cost END) FROM visits GROUP BY department")
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
