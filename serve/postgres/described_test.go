//go:build cgo

package postgres_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
	"github.com/discreet-dp/discreet/serve/postgres"
	"github.com/discreet-dp/discreet/sqltype"
)

// describedQuestions have columns of all kinds: which of them are noisy, or whether they can be asked at all, depends on the settings.
var describedQuestions = []string{
	"SELECT mode() WITHIN GROUP (ORDER BY department) AS often FROM visits",
	"SELECT sex, mode() WITHIN GROUP (ORDER BY department) AS often FROM visits GROUP BY sex",
	"SELECT department, count(*) AS n, avg(age) AS a FROM visits GROUP BY department",
	"SELECT sex, count(*) FROM visits GROUP BY sex",
	"SELECT percentile_cont(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY age), max(cost) FROM visits",
	"SELECT approx_top_k(department, 3) FROM visits",
	"SELECT department, sex, count(*) FROM visits GROUP BY ROLLUP (department, sex)",
	"SELECT max(n) FROM (SELECT department, count(*) AS n FROM visits GROUP BY department) AS g",
	"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 1) department, count(*) FROM visits GROUP BY department",
	"SELECT name, floor FROM departments",
	"SELECT date_trunc('month', seen_at) AS month, sum(cost)::numeric(12, 2) FROM visits GROUP BY 1",
}

// describedSettings are ways to ask.
var describedSettings = [][]string{
	{},
	{"rho = '0.00002'"},
	{"rho = '0.00002'", "intervals = on"},
	{"accuracy = '20000'"},
	{"accuracy = '20000'", "intervals = on"},
	{"rho = '0.00002'", "intervals = on", "confidence = '0.5'"},
	{"rho = '0.00002'", "accuracy = '20000'", "intervals = on"}, // refused
	{"intervals = on", "free = on"},
	{"epsilon = '0.001'", "intervals = on"},
}

// wire is a connection whose messages a test sends itself.
type wire struct {
	testing.TB
	stand
	*pgx.Conn
}

func (w wire) exec(sql string) {
	w.Helper()
	if _, err := w.Exec(w.Context(), sql); err != nil {
		w.Fatalf("%s: %v", sql, err)
	}
}

func (w wire) set(settings []string) {
	w.Helper()
	w.exec("RESET ALL")
	w.exec("SET discreet.fresh = on") // each answer is paid for
	for _, s := range settings {
		w.exec("SET discreet." + s)
	}
}

func (w wire) spent() string {
	w.Helper()
	all, err := w.Budget(w.Context(), gateway.Asker{Account: w.SignIn(w, "olga"), Door: "postgres"})
	if err != nil {
		w.Fatal(err)
	}
	return fmt.Sprint(all[0].Spent)
}

// run sends messages, and Sync where they are of the extended protocol, and returns the last description of rows, or nil, the rows, and the refusal.
func (w wire) run(messages ...pgproto3.FrontendMessage) (described []pgproto3.FieldDescription, rows [][][]byte, refusal *pgproto3.ErrorResponse) {
	w.Helper()
	f := w.PgConn().Frontend()
	if _, simple := messages[0].(*pgproto3.Query); !simple {
		messages = append(messages, &pgproto3.Sync{})
	}
	for _, m := range messages {
		f.Send(m)
	}
	if err := f.Flush(); err != nil {
		w.Fatal(err)
	}
	for {
		m, err := f.Receive()
		if err != nil {
			w.Fatal(err)
		}
		switch m := m.(type) {
		case *pgproto3.RowDescription:
			described = append([]pgproto3.FieldDescription{}, m.Fields...)
			for i := range described {
				described[i].Name = append([]byte{}, described[i].Name...)
			}
		case *pgproto3.DataRow:
			rows = append(rows, append([][]byte{}, m.Values...))
		case *pgproto3.ErrorResponse:
			refused := *m
			refusal = &refused
		case *pgproto3.ReadyForQuery:
			return described, rows, refusal
		}
	}
}

func shapeOf(fields []pgproto3.FieldDescription) (all []string) {
	for _, f := range fields {
		all = append(all, fmt.Sprintf("%s %d", f.Name, f.DataTypeOID))
	}
	return all
}

// TestAnsweredAsDescribed: by whatever settings a statement was described, and by whatever it is asked then, it is answered in the columns that were
// described last, or refused and nothing is charged. Where nothing has changed it is not refused for its columns; where it was refused, describing it again helps.
func TestAnsweredAsDescribed(t *testing.T) {
	s := start(t, nil)
	w := wire{t, s, s.connect(t, nil)}
	const changed = "0A000"
	outcomes := map[string]int{}
	for _, sql := range describedQuestions {
		for i, before := range describedSettings {
			for j, after := range describedSettings {
				if i != j && (i+j+len(sql))%3 != 0 { // a third of the pairs that differ, each as often as another
					continue
				}
				at := fmt.Sprintf("%s\ndescribed by %v, asked by %v", sql, before, after)
				w.set(before)
				described, _, refusal := w.run(&pgproto3.Parse{Query: sql}, &pgproto3.Describe{ObjectType: 'S'})
				if refusal != nil {
					t.Errorf("%s\nis not described: %s", at, refusal.Message)
					continue
				}
				// A named one, which RESET and SET leave alone.
				w.run(&pgproto3.Close{ObjectType: 'S', Name: "s"}, &pgproto3.Parse{Name: "s", Query: sql})
				if again, _, _ := w.run(&pgproto3.Describe{ObjectType: 'S', Name: "s"}); fmt.Sprint(shapeOf(again)) != fmt.Sprint(shapeOf(described)) {
					t.Errorf("%s\nis described as %v and then as %v", at, shapeOf(described), shapeOf(again))
				}
				w.set(after)
				spent := w.spent()
				ask := []pgproto3.FrontendMessage{&pgproto3.Bind{PreparedStatement: "s", ResultFormatCodes: []int16{int16(j % 2)}}, &pgproto3.Execute{}}
				if i%2 == 0 {
					ask = []pgproto3.FrontendMessage{ask[0], &pgproto3.Describe{ObjectType: 'P'}, ask[1]}
				}
				again, rows, refusal := w.run(ask...)
				if again != nil && fmt.Sprint(shapeOf(again)) != fmt.Sprint(shapeOf(described)) {
					t.Errorf("%s\nis described as %v and then as %v", at, shapeOf(described), shapeOf(again))
				}
				for _, row := range rows {
					if len(row) != len(described) {
						t.Fatalf("%s\nis described as %v and has rows of %d values", at, shapeOf(described), len(row))
					}
				}
				if refusal == nil {
					outcomes["answered"]++
					if i != j {
						outcomes["answered by others"]++
					} else if planned, _, _ := w.run(&pgproto3.Query{String: sql}); fmt.Sprint(shapeOf(planned)) != fmt.Sprint(shapeOf(described)) {
						t.Errorf("%s\nis described as %v, and planned as %v", at, shapeOf(described), shapeOf(planned))
					}
					continue
				}
				if now := w.spent(); now != spent {
					t.Errorf("%s\nis refused and charged %s after %s: %s", at, now, spent, refusal.Message)
				}
				if outcomes[refusal.Code]++; refusal.Code != changed {
					continue
				}
				if i == j {
					t.Errorf("%s\nis refused: %s", at, refusal.Message)
				}
				if described, rows, refusal = w.run(&pgproto3.Describe{ObjectType: 'S', Name: "s"}, ask[0], &pgproto3.Execute{}); refusal != nil && refusal.Code == changed || len(rows) > 0 && len(rows[0]) != len(described) {
					t.Errorf("%s\nis described again as %v and refused, or answered otherwise: %+v", at, shapeOf(described), refusal)
				}
			}
		}
	}
	if outcomes["answered"] < 100 || outcomes["answered by others"] < 10 || outcomes[changed] < 10 {
		t.Errorf("the test is weak: %v", outcomes)
	}
	t.Logf("%v", outcomes)
}

// listing is an engine whose public table of departments lists more values than a statement may have as constants, while it is long.
type listing struct {
	engine.Engine
	long atomic.Bool
}

func (l *listing) in(c *gateway.Config) { l.Engine, c.Engine = c.Engine, l }

// Public lists a table.
func (l *listing) Public(ctx context.Context, table string) ([]engine.Column, [][]sqltype.Value, error) {
	columns, rows, err := l.Engine.Public(ctx, table)
	if err != nil || !l.long.Load() || table != "departments" {
		return columns, rows, err
	}
	for i := range 10_001 {
		row := append([]sqltype.Value{}, rows[0]...)
		row[0] = fmt.Sprintf("%06d", i)
		rows = append(rows, row)
	}
	return columns, rows, nil
}

// TestPublicTableGrowsBetween: where a public table has grown since a statement was described, so that it has other columns, it is refused before anything is charged, or has those that were
// described. Refused once it can be asked as it is described then, also where a plan was kept from before.
func TestPublicTableGrowsBetween(t *testing.T) {
	l := &listing{}
	s := start(t, nil, l.in)
	w := wire{t, s, s.connect(t, nil)}
	const sql = "SELECT mode() WITHIN GROUP (ORDER BY department) AS often FROM visits"
	w.exec("SET discreet.rho = '0.0001'")
	w.exec("SET discreet.intervals = on")
	w.exec("SET discreet.fresh = on")
	refused := 0
	for round := range 4 {
		described, _, refusal := w.run(&pgproto3.Close{ObjectType: 'S', Name: "s"}, &pgproto3.Parse{Name: "s", Query: sql}, &pgproto3.Describe{ObjectType: 'S', Name: "s"})
		if refusal != nil {
			t.Fatal(refusal.Message)
		}
		if round%2 == 0 { // a plan of now is kept
			if _, rows, refusal := w.run(&pgproto3.Bind{PreparedStatement: "s"}, &pgproto3.Execute{}); refusal != nil || len(rows[0]) != len(described) {
				t.Fatalf("round %d: %+v", round, refusal)
			}
		}
		l.long.Store(!l.long.Load())
		if round == 3 { // by which plans are made anew
			if _, err := s.Ledger.NewVersion(t.Context(), "", "", gatewaytest.Noon); err != nil {
				t.Fatal(err)
			}
		}
		for try := range 3 {
			spent := w.spent()
			_, rows, refusal := w.run(&pgproto3.Bind{PreparedStatement: "s"}, &pgproto3.Execute{})
			switch {
			case refusal == nil && len(rows[0]) != len(described):
				t.Errorf("round %d: described as %v, answered as %s", round, shapeOf(described), rows[0])
			case refusal == nil:
			case w.spent() != spent:
				t.Errorf("round %d: refused and charged: %s", round, refusal.Message)
			case refusal.Code != "0A000" || try == 2:
				t.Errorf("round %d: %+v", round, refusal)
			default:
				refused++
			}
			if refusal != nil {
				described, _, _ = w.run(&pgproto3.Describe{ObjectType: 'S', Name: "s"})
			}
		}
	}
	if refused == 0 {
		t.Error("the test is weak: nothing was refused")
	}
}

// TestRefusedBeforeTheCharge: what the protocol cannot deliver is refused before it is paid for.
func TestRefusedBeforeTheCharge(t *testing.T) {
	s := start(t, func(o *postgres.Options) { o.Limits.Results = 300 })
	w := wire{t, s, s.connect(t, nil)}
	const sql = "SELECT department, count(*) AS n FROM visits GROUP BY department"
	w.exec("SET discreet.rho = '0.0001'")
	w.exec("SET discreet.fresh = on")
	for what, ask := range map[string]func() error{
		"a column that COPY quotes": func() error {
			_, err := w.Exec(t.Context(), "COPY ("+sql+") TO STDOUT (FORMAT csv, FORCE_QUOTE (nothing))")
			return err
		},
		"more columns than a row has": func() error {
			columns := ""
			for range 1664 {
				columns += ", department"
			}
			_, err := w.Exec(t.Context(), "SELECT count(*)"+columns+" FROM visits GROUP BY department")
			return err
		},
		"formats of other columns": func() error {
			return w.PgConn().ExecParams(t.Context(), sql, nil, nil, nil, []int16{0, 0, 0}).Read().Err
		},
		"back from the beginning": func() error {
			_, err := w.Exec(t.Context(), "DECLARE c NO SCROLL CURSOR WITH HOLD FOR "+sql+"; FETCH BACKWARD 1 FROM c")
			return err
		},
		"beside cursors that hold as much as they may": func() error {
			w.exec("CLOSE ALL")
			w.exec("DECLARE a CURSOR WITH HOLD FOR SELECT name FROM departments; FETCH a; DECLARE b CURSOR WITH HOLD FOR " + sql)
			_, err := w.Exec(t.Context(), "FETCH b")
			return err
		},
	} {
		spent := w.spent()
		err := ask()
		if _, is := err.(*pgconn.PgError); !is { //nolint:errorlint // as it comes
			t.Errorf("%s: %v", what, err)
		}
		if now := w.spent(); now != spent {
			t.Errorf("%s: refused and charged: %v", what, err)
		}
	}
}

// TestStoredAnswersInEveryFormat: an answer that was paid for in one format is there for nothing in the other, value by value, also where the ledger keeps it.
func TestStoredAnswersInEveryFormat(t *testing.T) {
	s := start(t, nil)
	w := wire{t, s, s.connect(t, nil)}
	w.exec("SET discreet.rho = '0.0001'")
	w.exec("SET discreet.intervals = on")
	ask := func(sql string, format int16) [][]byte {
		t.Helper()
		r := w.PgConn().ExecParams(t.Context(), sql, nil, nil, nil, []int16{format}).Read()
		if r.Err != nil || len(r.Rows) != 1 {
			t.Fatalf("%s: format %d: %v", sql, format, r.Err)
		}
		return r.Rows[0]
	}
	for i, values := range []string{
		"true, NULL::boolean, (-32768)::smallint, 2147483647, (-9223372036854775807)::bigint, 1e38::real, (-1e-40)::real, 1.5e300::double precision, -0.0::double precision",
		"12345678901234567890.12::decimal(22, 2), (-0.001)::decimal(38, 3), 0::decimal(5, 2), 100000::decimal(9, 0), 'tab\t\"ü\\', '', NULL::text",
		"date '0001-01-01', date '9999-12-31', date '2000-01-01', timestamp '0001-01-01 00:00:00', timestamp '9999-12-31 23:59:59.999999', time '00:00:00', time '23:59:59.5'",
		"interval '1 year 2 mons -3 days 01:00:00.000001', interval '-1 mons', interval '-01:00:00.5', interval '0 days', interval '100 years 5 days', interval '1 day -02:00:00', date '2025-01-01' - 400000",
		"n::double precision / 7, n::decimal(20, 3), n::text, n::real, date '2025-01-01' + n::integer",
	} {
		var answers [3][2][][]byte // in each format: paid for now, asked again, asked again in the other's place
		for format := range int16(2) {
			sql := fmt.Sprintf("SELECT %s, n FROM (SELECT count(*) AS n FROM visits WHERE age > %d) AS g", values, 2*i)
			if format == 1 {
				sql = fmt.Sprintf("SELECT %s, n FROM (SELECT count(*) AS n FROM visits WHERE age > %d) AS g", values, 2*i+1)
			}
			answers[0][format] = ask(sql, format)
			spent := w.spent()
			answers[1][format] = ask(sql, format)
			answers[2][1-format] = ask(sql, 1-format)
			if w.spent() != spent {
				t.Errorf("%s: charged again", sql)
			}
			if fmt.Sprintf("%q", answers[0][format]) != fmt.Sprintf("%q", answers[1][format]) {
				t.Errorf("%s, format %d:\n%q, and stored\n%q", sql, format, answers[0][format], answers[1][format])
			}
		}
		n := len(answers[0][1])
		for j := range n - 3 { // the constants
			if i < 4 && string(answers[0][1][j]) != string(answers[2][1][j]) {
				t.Errorf("%s: value %d in binary: %q, and stored %q", values, j+1, answers[0][1][j], answers[2][1][j])
			}
		}
	}
}

// TestDeclaredParametersAreAnsweredAsDescribed: values of each declared type, and NULL, give the columns that were described without them.
func TestDeclaredParametersAreAnsweredAsDescribed(t *testing.T) {
	s := start(t, nil)
	w := wire{t, s, s.connect(t, nil)}
	answered, byType := 0, map[string]int{}
	for oid, values := range map[uint32][]string{
		0: {"1", "2.50", "x", "2025-01-31"}, pgtype.UnknownOID: {"1", "2.5"}, pgtype.Int2OID: {"-3"}, pgtype.Int4OID: {"7"}, pgtype.Int8OID: {"5000000000"},
		pgtype.Float4OID: {"2.5"}, pgtype.Float8OID: {"1e300", "0"}, pgtype.NumericOID: {"2.50", "3", "-0.00001", "12345678901234567890.123456", "0"},
		pgtype.TextOID: {"x", "", "month", "YYYY"}, pgtype.VarcharOID: {"1", "month", "YYYY"}, pgtype.BoolOID: {"t"}, pgtype.DateOID: {"2025-01-31"}, pgtype.TimestampOID: {"2025-01-31 12:00:00"}, pgtype.TimestamptzOID: {"2025-01-31 12:00:00+02"},
		pgtype.IntervalOID: {"1 day"}, pgtype.TimeOID: {"12:00:00"}, pgtype.UUIDOID: {"6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
	} {
		for _, of := range []string{
			"$1", "n + $1", "n * $1", "f - $1", "c / $1", "coalesce($1, n)", "coalesce(n, $1)", "greatest(n, $1)", "nullif($1, f)", "nullif(c, $1)", "$1::text || 'x'", "abs($1)", "round($1, 1)", "round(f, $1)", "mod(n, $1)",
			"CASE WHEN n > 0 THEN $1 END", "CASE WHEN n > $1 THEN n ELSE f END", "d + $1", "d - $1", "date_trunc($1, d)", "width_bucket(f, $1, 10, 3)", "power(f, $1)", "$1 = n", "-$1", "left('abc', $1)", "to_char(d, $1)", "ln($1)", "$1 || 'x'",
		} {
			sql := "SELECT " + of + " AS v FROM (SELECT count(*) AS n, avg(floor)::float8 AS f, avg(beds)::numeric(10, 2) AS c, date '2025-06-01' AS d FROM departments) AS g"
			for i := range len(values) + 1 {
				var value []byte // NULL
				if i > 0 {
					value = []byte(values[i-1])
				}
				described, _, refusal := w.run(&pgproto3.Parse{Query: sql, ParameterOIDs: []uint32{oid}}, &pgproto3.Describe{ObjectType: 'S'}, &pgproto3.Bind{Parameters: [][]byte{value}})
				if refusal != nil {
					continue
				}
				_, rows, refusal := w.run(&pgproto3.Parse{Query: sql, ParameterOIDs: []uint32{oid}}, &pgproto3.Describe{ObjectType: 'S'}, &pgproto3.Bind{Parameters: [][]byte{value}}, &pgproto3.Execute{})
				switch {
				case refusal != nil && refusal.Code == "0A000":
					t.Errorf("%s of type %d, %q: described as %v: %s", of, oid, value, shapeOf(described), refusal.Message)
				case refusal == nil && len(rows) == 1:
					answered++
					byType[fmt.Sprint(of, " ", oid)]++
					if described[0].TypeModifier != -1 {
						t.Errorf("%s of type %d is described with the modifier %d, which other values do not have", of, oid, described[0].TypeModifier)
					}
				}
			}
		}
	}
	for _, of := range []string{"date_trunc($1, d) 25", "date_trunc($1, d) 1043", "to_char(d, $1) 25", "to_char(d, $1) 1043", "width_bucket(f, $1, 10, 3) 20", "n * $1 1700", "round($1, 1) 1700", "d + $1 23"} {
		if byType[of] == 0 {
			t.Errorf("%s was never answered", of)
		}
	}
	if answered < 200 {
		t.Errorf("the test is weak: %d answers", answered)
	}
}
