//go:build cgo

package attack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
)

// canaries stand in the data wherever data can stand, and must never be seen
// outside: in values, errors, refusals, explanations, JSON or the ledger.
var canaries = []string{"CANARYTEXT", "CANARYUNIT", "CANARYBROKEN", "CANARYBEYOND", "CANARYQUOTE", "776655443322", "9988776655", "8877665544.25", "7766-05-04", "CANARYBYTES"}

// canaryCSV has them as text, numbers, dates, units, in fields that cannot be
// read, beyond the declared columns, in records that cannot be told apart.
const canaryHeader = "person,city,name,age,cost,fee,score,day,seen,paid,undeclared\n"

var canaryCSV = strings.Join([]string{
	"9988776655,Bonn,CANARYTEXT,CANARYBROKEN,CANARYBROKEN,8877665544.25,776655443322,7766-05-04,7766-05-04 01:02:03,8877665544.25,CANARYBEYOND",
	"CANARYUNIT,Ulm,CANARYTEXT,1,1,1,776655443322,1,1,1,CANARYBEYOND",
	"1,CANARYTEXT,CANARYTEXT-776655443322,776655443322,1e999,99999999999,9223372036854775807999,7766-99-99,CANARYBROKEN,-,CANARYBEYOND,CANARYBEYOND,CANARYBEYOND",
	"2,Bonn,\"CANARYQUOTE\"CANARYQUOTE,1,1,1,1,,,1,", "3,Bonn,CANARY\xff\xfeBYTES CANARYBYTES\xff,0,0,0,0,,,0,",
	"4,Bonn,CANARYTEXT,0,0,0,776655443322,,,0,", "CANARYBROKEN", "\"CANARYQUOTE", "5,Bonn,CANARYTEXT,1,1,1,1,,,1,CANARYBEYOND",
}, "\n") + "\n"

// A watch collects what analysts are shown.
type watch struct {
	t     *testing.T
	shown bytes.Buffer
}

func (w *watch) show(v any) { fmt.Fprintf(&w.shown, "%v %+v\n", v, v) }

// ask shows all that comes of a statement.
func (w *watch) ask(ctx context.Context, db *discreet.Database, sql string, o *discreet.QueryOptions) error {
	e, err := db.Explain(ctx, sql, o)
	if err == nil {
		w.show(marshal(w.t, e))
	}
	w.err(err)
	a, err := db.Query(ctx, sql, o)
	if err == nil {
		w.show(marshal(w.t, a))
		w.show(a)
	}
	w.err(err)
	return err
}

func (w *watch) err(err error) {
	for ; err != nil; err = errors.Unwrap(err) {
		w.show(err)
		if r := (*discreet.Refusal)(nil); errors.As(err, &r) {
			w.show(marshal(w.t, r))
			if err := r.Write(&w.shown); err != nil {
				w.t.Error(err)
			}
		}
	}
}

// ledger shows a world's ledger, as it is read and byte by byte.
func (w *watch) ledger(world *world) {
	w.show(world.history(w.t))
	files, err := filepath.Glob(filepath.Join(world.dir, "discreet.ledger*"))
	if err != nil || len(files) == 0 {
		w.t.Fatal(files, err)
	}
	for _, file := range files {
		w.shown.Write(must(os.ReadFile(file)))
	}
}

// check fails on every canary.
func (w *watch) check() {
	w.t.Helper()
	for _, canary := range canaries {
		if i := bytes.Index(w.shown.Bytes(), []byte(canary)); i >= 0 {
			w.t.Errorf("%s is shown: ...%q...", canary, w.shown.Bytes()[max(0, i-300):min(w.shown.Len(), i+100)])
		}
	}
}

// canaryStatements ask in every way that could quote a value.
func canaryStatements() []string {
	statements := []string{
		"SELECT name, count(*) FROM visits GROUP BY name", "SELECT city, name, sum(cost) FROM visits GROUP BY city, name", "SELECT score, count(*) FROM visits GROUP BY score", "SELECT day, avg(cost) FROM visits GROUP BY day", "SELECT seen::text, count(*) FROM visits GROUP BY 1",
		"SELECT name || score, count(DISTINCT person) FROM visits GROUP BY 1", "SELECT max(n) FROM (SELECT name AS n, count(*) FROM visits GROUP BY name) AS s", "SELECT * FROM visits", "SELECT person FROM visits", "SELECT max(name) FROM visits", "SELECT min(score) FROM visits",
		"SELECT undeclared FROM visits", "SELECT count(undeclared) FROM visits", "SELECT nam FROM visits", "SELECT count(*) FROM visits WHERE name = score", "SELECT sum(score) FROM visits", "SELECT count(*) FROM visits WHERE person = 'x'", "SELECT count(*) FROM visit",
		"SELECT count(*) FROM visits GROUP BY person", "SELECT person, max(name) FROM visits GROUP BY person", "SELECT count(*) FROM visits WHERE name = (SELECT name FROM visits)",
	}
	for chunk := range slices.Chunk(partial, 10) {
		statements = append(statements, "SELECT count(*) FILTER (WHERE "+strings.Join(chunk, "), count(*) FILTER (WHERE ")+") FROM visits")
	}
	return statements
}

// CI reads the CSV file and half of the others, by chance, DISCREET_SOAK all.
func TestE3ErrorTexts(t *testing.T) {
	long(t)
	ctx := context.Background()
	parquet := filepath.Join(t.TempDir(), "visits.parquet")
	db := filepathOf(t, `CREATE TABLE visits AS SELECT 9988776655::BIGINT AS person, 'CANARYTEXT' || i AS city, 'CANARYTEXT' AS name, 'CANARYBROKEN' AS age, 'CANARYBROKEN' AS cost, 8877665544.25::DECIMAL(18,2) AS fee,
		776655443322 AS score, 'CANARYBROKEN' AS day, TIMESTAMP '7766-05-04 00:00:00' AS seen, 'nan'::double AS paid, 'CANARYBEYOND' AS undeclared FROM range(5000) AS r(i)`,
		"COPY visits TO '"+parquet+"' (FORMAT parquet)")
	of := func(source string) string {
		return strings.Replace(visits(largeApprox), `source = "visits.csv"`, `source = "`+source+`"`, 1)
	}
	jsonl := `{"person": 9988776655, "city": "CANARYTEXT", "name": "CANARYTEXT", "age": "CANARYBROKEN", "score": 776655443322, "undeclared": "CANARYBEYOND"}` + "\n{\"person\": \"CANARYUNIT\n{\"name\": [\"CANARYTEXT\"], \"person\": 1}\n{CANARYBROKEN\n"
	for name, c := range map[string]struct {
		text    string
		sources files
	}{
		"csv":         {of("visits.csv"), files{"visits.csv": canaryHeader + canaryCSV}},
		"csv skipped": {strings.Replace(of("visits.csv"), "unit = ", "malformed = \"skip\"\nunit = ", 1), files{"visits.csv": canaryHeader + canaryCSV}},
		"json lines":  {of("visits.jsonl"), files{"visits.jsonl": jsonl}},
		"duckdb":      {of(db + "#visits"), nil},
		"parquet":     {of(parquet), nil},
		"text units":  {strings.Replace(of("visits.csv"), `person = { type = "bigint" }`, `person = { type = "text" }`, 1), files{"visits.csv": canaryHeader + canaryCSV}},
	} {
		if name != "csv" && os.Getenv("DISCREET_SOAK") == "" && rand.IntN(2) > 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w, seen := newWorld(t, c.text, c.sources), &watch{t: t}
			answered := 0
			for _, sql := range canaryStatements() {
				if err := seen.ask(ctx, w.Database, sql, approx("1", "1e-9")); err == nil {
					answered++
				} else if errors.Is(err, discreet.ErrUnavailable) {
					t.Errorf("%s: %s", sql, w.log)
				}
			}
			if answered < 20 {
				t.Errorf("only %d statements were answered", answered)
			}
			seen.ledger(w)
			seen.check()
		})
	}
}

func TestE3FailuresOfTheEngine(t *testing.T) {
	long(t)
	ctx := context.Background()
	seen := &watch{t: t}
	sql := "SELECT name, count(*), sum(cost), count(DISTINCT score) FROM visits GROUP BY name"
	big := strings.Builder{}
	for i := range 5_000 {
		fmt.Fprintf(&big, "%d,Bonn,CANARYTEXT%d,1,1,1,776655443322,,,1,\n", i, i)
	}
	text := visits(largeApprox)

	// Too little memory; a caller who gives up; a deadline; a closed engine.
	large := filepathOf(t, "CREATE TABLE visits AS SELECT 999 AS person, 'Bonn' AS city, 'CANARYTEXT' || repeat(md5(i::text), 8) AS name, 1 AS age, 1.0 AS cost, 1.0 AS fee, 776655443322 AS score, NULL::date AS day, NULL::timestamp AS seen, 1.0 AS paid FROM range(100000) AS r(i)")
	w := newLimitedWorld(t, strings.Replace(text, `source = "visits.csv"`, `source = "`+large+`#visits"`, 1), nil, duckdb.Options{Threads: 2, Memory: "10MB"})
	if seen.ask(ctx, w.Database, "SELECT count(DISTINCT name || name || name) FROM visits", approx("1", "1e-6")) == nil {
		t.Error("10 MB were enough")
	}
	seen.ledger(w)
	w = newWorld(t, text, files{"visits.csv": canaryHeader + canaryCSV + big.String()})
	for i := range 8 {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(i)*5*time.Millisecond)
		seen.ask(ctx, w.Database, sql, approx("1", "1e-6"))
		cancel()
		if err := w.ledger.Acknowledge(context.Background(), "person", "seen", noon); err != nil {
			t.Fatal(err)
		}
	}

	// Files that change, shrink or vanish under an open engine.
	for _, tamper := range []func(path string) error{
		func(path string) error { return os.WriteFile(path, []byte("CANARYBROKEN"), 0o600) },
		func(path string) error { return os.Truncate(path, 5) },
		func(path string) error {
			return os.WriteFile(path, []byte("name,person\n"+strings.Repeat("\"CANARYQUOTE\n", 100)), 0o600)
		},
		os.Remove,
		func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		w := newWorld(t, text, files{"visits.csv": canaryHeader + canaryCSV})
		if err := tamper(filepath.Join(w.dir, "visits.csv")); err != nil {
			t.Fatal(err)
		}
		seen.ask(ctx, w.Database, sql, approx("1", "1e-6"))
		seen.ledger(w)
	}
	w = newWorld(t, text, files{"visits.csv": canaryHeader + canaryCSV})
	if err := w.engine.Close(); err != nil {
		t.Fatal(err)
	}
	if err := seen.ask(ctx, w.Database, sql, approx("1", "1e-6")); err != discreet.ErrUnavailable {
		t.Errorf("a closed engine shows as %v", err)
	}
	seen.ledger(w)

	// Damaged Parquet files: opening is the owner's and may name files, but
	// quotes no record. (DuckDB itself does not survive all damage to its own
	// files.)
	owner := must(duckdb.OpenOwner(ctx, duckdb.Options{}))
	defer owner.Close()
	parquet := filepath.Join(t.TempDir(), "visits.parquet")
	if _, _, err := owner.Rows(ctx, "COPY (SELECT i AS person, 'Bonn' AS city, 'CANARYTEXT' || i AS name, 1 AS age, 1.0::double AS cost, 1.0::decimal(10,2) AS fee, 776655443322 AS score, DATE '2026-01-01' AS day, TIMESTAMP '2026-01-01' AS seen, 1.0::double AS paid FROM range(3000) AS r(i)) TO '"+parquet+"' (FORMAT parquet, COMPRESSION uncompressed)"); err != nil {
		t.Fatal(err)
	}
	whole := must(os.ReadFile(parquet))
	text = strings.Replace(text, `source = "visits.csv"`, `source = "visits.parquet"`, 1)
	failed := 0
	for i := range 24 {
		damaged := slices.Clone(whole)
		switch at := len(whole) * i / 24; i % 4 {
		case 0:
			damaged = damaged[:at]
		case 1:
			for j := at; j < min(at+64, len(damaged)); j++ {
				damaged[j] ^= 0xff
			}
		case 2:
			copy(damaged[at:], bytes.Repeat([]byte{0xff, 0xfe}, 40)) // not UTF-8
		case 3:
			clear(damaged[at:min(at+512, len(damaged))])
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "visits.parquet"), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		c := must(catalog.Parse(filepath.Join(dir, "discreet.toml"), text))
		e, err := duckdb.Open(ctx, c, duckdb.Options{Threads: 2, Temp: dir})
		if err != nil {
			seen.err(err)
			failed++
			continue
		}
		w := newWorldOn(t, c, e, dir)
		if err := seen.ask(ctx, w.Database, sql, approx("1", "1e-9")); err != nil {
			if failed++; err != discreet.ErrUnavailable {
				t.Errorf("a damaged file shows as %v", err)
			}
		}
		seen.ledger(w)
		e.Close()
	}
	if failed < 5 {
		t.Errorf("of 24 damaged files %d failed", failed)
	}
	seen.check()
}
