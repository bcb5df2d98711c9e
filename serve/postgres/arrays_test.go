//go:build cgo

package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// arrayCases have three values of a type and an array that holds one of them.
var arrayCases = []struct {
	typ    string
	values [3]string
	array  any
	text   string // the same, as clients write it that send texts
}{
	{"int2", [3]string{"1", "2", "3"}, []int16{2, 7}, "{2,7}"},
	{"int4", [3]string{"1", "2", "3"}, []int32{2, 7}, "{2,7}"},
	{"int8", [3]string{"1", "2", "5000000000"}, []int64{5_000_000_000, 7}, `{"5000000000","7"}`},
	{"text", [3]string{"a", "b c", "}"}, []string{"}", "d", `"\`}, `{"}",d,"\"\\"}`},
	{"float4", [3]string{"1.5", "2.5", "3"}, []float32{2.5}, "{2.5}"},
	{"float8", [3]string{"0.1", "2.5", "3"}, []float64{0.1}, "{0.1}"},
	{"numeric", [3]string{"1.25", "2.5", "3"}, []string{"2.5", "100000000000"}, "{2.50,100000000000}"},
	{"date", [3]string{"2025-01-31", "2025-02-01", "2025-02-02"}, []time.Time{time.Date(2025, 2, 1, 0, 0, 0, 0, time.UTC)}, "{2025-02-01}"},
	{"timestamp", [3]string{"2025-01-31 12:00:00", "2025-02-01", "2025-02-02"}, []time.Time{time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)}, `{"2025-01-31 12:00:00"}`},
	{"bool", [3]string{"true", "false", "false"}, []bool{true}, "{t}"},
}

// TestArrayParameters: x = ANY ($1) and x <> ALL ($1) with what drivers send: arrays of each type in
// binary and in text, declared, described and neither, with NULL in them, empty, and NULL themselves.
func TestArrayParameters(t *testing.T) {
	s := start(t, nil)
	described := s.connect(t, nil)
	undeclared := s.connect(t, func(c *pgx.ConnConfig) { c.DefaultQueryExecMode = pgx.QueryExecModeExec })
	simple := s.connect(t, func(c *pgx.ConnConfig) { c.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol })
	// Where a table is named, the gateway is asked; otherwise the catalog.
	for _, from := range []string{"", ", departments WHERE name = 'ICU' AND "} {
		count := func(c *pgx.Conn, condition, values string, args ...any) (n int, err error) {
			if condition = "(" + condition + ")"; from == "" {
				condition = " WHERE " + condition
			}
			err = c.QueryRow(t.Context(), "SELECT count(*) FROM (VALUES "+values+") AS v (x)"+from+condition, args...).Scan(&n)
			return n, err
		}
		for _, test := range arrayCases {
			values := fmt.Sprintf("(%[1]s '%[2]s'), (%[1]s '%[3]s'), (%[1]s '%[4]s')", test.typ, test.values[0], test.values[1], test.values[2])
			for condition, want := range map[string]int{"x = ANY ($1)": 1, "x <> ALL ($1)": 2, "x = ANY ($1::" + test.typ + "[])": 1} {
				for name, ask := range map[string]func() (int, error){
					"described, binary": func() (int, error) { return count(described, condition, values, test.array) },
					"undeclared, text":  func() (int, error) { return count(undeclared, condition, values, test.text) },
					"simple":            func() (int, error) { return count(simple, condition, values, test.text) },
				} {
					if n, err := ask(); err != nil || n != want {
						t.Errorf("%s[], %s, %q: %s: %d, not %d (%v)", test.typ, name, from, condition, n, want, err)
					}
				}
			}
			declared := []string{test.typ}
			if test.typ == "timestamp" {
				declared = append(declared, "timestamptz")
			}
			for _, element := range declared {
				text := test.text
				if element == "timestamptz" {
					text = `{"2025-01-31 12:00:00+00"}`
				}
				array, ok := described.TypeMap().TypeForName("_" + element)
				if !ok {
					t.Fatal(element)
				}
				for format, value := range map[int16][]byte{0: []byte(text), 1: binaryArray(t, described, array, text)} {
					for _, oid := range []uint32{array.OID, 0} {
						if oid == 0 && element == "timestamptz" {
							continue // another type than the statement's
						}
						where := " WHERE "
						if from != "" {
							where = from
						}
						r := described.PgConn().ExecParams(t.Context(), "SELECT count(*) FROM (VALUES "+values+") AS v (x)"+where+"x = ANY ($1)", [][]byte{value}, []uint32{oid}, []int16{format}, nil).Read()
						if r.Err != nil || string(r.Rows[0][0]) != "1" {
							t.Errorf("%s[] as type %d, format %d, %q: %s %v", element, oid, format, from, r.Rows, r.Err)
						}
					}
				}
			}
		}
		var none []int32
		null := []*int32{new(int32), nil}
		for _, test := range []struct {
			condition string
			array     any
			want      int
		}{
			{"x = ANY ($1)", []int32{}, 0}, {"x <> ALL ($1)", []int32{}, 3}, {"x = ANY ($1)", none, 0}, {"x <> ALL ($1)", none, 0},
			{"x = ANY ($1)", null, 1}, {"x <> ALL ($1)", null, 0}, {"NOT x = ANY ($1)", []int32{1}, 1}, {"x IN ($1, 0)", int32(1), 2},
		} {
			if n, err := count(described, test.condition, "(1), (0), (NULL)", test.array); err != nil || n != test.want {
				t.Errorf("%q: %s of %v: %d, not %d (%v)", from, test.condition, test.array, n, test.want, err)
			}
		}
		if _, err := count(described, "x = $1", "(1)", []int32{1}); err == nil {
			t.Errorf("%q: an array is a value", from)
		}
		if _, err := count(undeclared, "x = ANY ($1)", "(1)", "1,2"); err == nil {
			t.Errorf("%q: a text is an array", from)
		}
	}
	var n int
	if err := described.QueryRow(t.Context(), "SELECT count(*) FROM pg_class WHERE oid = ANY ($1) OR relname = ANY ($2)", []uint32{1259, 1}, []string{"visits"}).Scan(&n); err != nil || n != 2 {
		t.Errorf("of the catalog: %d (%v)", n, err)
	}
}

// binaryArray is an array's text in PostgreSQL's binary format.
func binaryArray(t *testing.T, c *pgx.Conn, array *pgtype.Type, text string) []byte {
	t.Helper()
	v, err := array.Codec.DecodeValue(c.TypeMap(), array.OID, pgx.TextFormatCode, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.TypeMap().Encode(array.OID, pgx.BinaryFormatCode, v, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestArrayParametersArePartOfTheStatement: of private rows, the same array is the same statement,
// whose answer is free, and another array is another statement.
func TestArrayParametersArePartOfTheStatement(t *testing.T) {
	c := start(t, nil).connect(t, nil, "options='-c discreet.rho=0.001'")
	ask := func(departments ...string) (n int64, reused bool) {
		t.Helper()
		if err := c.QueryRow(t.Context(), "SELECT count(*) FROM visits WHERE department = ANY ($1)", departments).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if err := c.QueryRow(t.Context(), "SELECT reused FROM discreet.last_answer").Scan(&reused); err != nil {
			t.Fatal(err)
		}
		return n, reused
	}
	two, reused := ask("ICU", "Oncology")
	if reused {
		t.Error("it was never asked before")
	}
	if again, reused := ask("ICU", "Oncology"); again != two || !reused {
		t.Errorf("asked again: %d, before %d (%v)", again, two, reused)
	}
	for _, other := range [][]string{{"ICU"}, {"Oncology"}, {"ICU,Oncology"}, {"ICU", "Oncology", "x"}, {}} {
		if n, reused := ask(other...); reused {
			t.Errorf("%q is answered as another array: %d", other, n)
		}
	}
}
