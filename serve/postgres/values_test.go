package postgres

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
)

// everyText is everyType as PostgreSQL writes it.
var everyText = []string{
	"t", "-32768", "2147483647", "-9223372036854775808", "0.1", "1234567.5", "-12345.670", "a\tü\\", "1969-12-31", "23:59:59.5",
	"1969-12-31 23:59:59.999999", "1 year 2 mons -3 days 01:00:00.000001",
}

// TestEveryTypeInBothFormats: what is sent in binary reads back, by pgtype, as the text that is
// sent; and NULL is NULL.
func TestEveryTypeInBothFormats(t *testing.T) {
	l := open(t, nil).signIn(t)
	types := pgtype.NewMap()
	for format := range int16(2) {
		l.say(parse("", "SELECT 'types'"), &pgproto3.Bind{ResultFormatCodes: []int16{format}}, &pgproto3.Describe{ObjectType: 'P'}, execute("", 0), &pgproto3.Sync{})
		var fields []pgproto3.FieldDescription
		var rows [][][]byte
		for done := false; !done; {
			switch m := l.receive().(type) {
			case *pgproto3.RowDescription:
				fields = append(fields, m.Fields...)
			case *pgproto3.DataRow:
				var row [][]byte
				for _, v := range m.Values {
					row = append(row, bytes.Clone(v))
				}
				rows = append(rows, row)
			case *pgproto3.ErrorResponse:
				t.Fatalf("%+v", m)
			case *pgproto3.ReadyForQuery:
				done = true
			}
		}
		if len(fields) != len(everyText) || len(rows) != 2 {
			t.Fatalf("%d columns and %d rows", len(fields), len(rows))
		}
		for i, f := range fields {
			if f.Format != format {
				t.Errorf("%s is described with format %d", everyKind[i], f.Format)
			}
			text := string(rows[0][i])
			if format == pgtype.BinaryFormatCode {
				var err error
				if text, err = textOfBinary(types, rows[0][i], f.DataTypeOID); err != nil {
					t.Errorf("%s: %v", everyKind[i], err)
				}
			}
			want := everyText[i]
			if format == pgtype.BinaryFormatCode { // pgtype writes these otherwise
				want = map[uint32]string{
					pgtype.TimeOID: "23:59:59.500000", pgtype.IntervalOID: "14 mon -3 day 01:00:00.000001", pgtype.NumericOID: "-12345.67",
				}[f.DataTypeOID]
				if want == "" {
					want = everyText[i]
				}
			}
			if f.DataTypeOID == pgtype.NumericOID {
				text, want = strings.TrimRight(text, "0"), strings.TrimRight(want, "0")
			}
			if text != want {
				t.Errorf("%s in format %d: %q, not %q", everyKind[i], format, text, want)
			}
			if rows[1][i] != nil {
				t.Errorf("%s: NULL is %q", everyKind[i], rows[1][i])
			}
		}
	}
}

// TestFloats: PostgreSQL's shortest form, with its places of the exponent.
func TestFloats(t *testing.T) {
	for _, test := range []struct {
		f           float64
		eight, four string
	}{
		{0, "0", "0"}, {1, "1", "1"}, {-2.5, "-2.5", "-2.5"}, {1e6, "1000000", "1e+06"}, {123456, "123456", "123456"}, {1e14, "100000000000000", "1e+14"}, {1e15, "1e+15", "1e+15"},
		{0.0001, "0.0001", "0.0001"}, {0.00001, "1e-05", "1e-05"}, {1.5e300, "1.5e+300", "+Inf"}, {0.1, "0.1", "0.1"},
	} {
		if got := floatText(test.f, 64, 15); got != test.eight {
			t.Errorf("double %v: %s, not %s", test.f, got, test.eight)
		}
		if got := floatText(test.f, 32, 6); test.four != "+Inf" && got != test.four {
			t.Errorf("real %v: %s, not %s", test.f, got, test.four)
		}
	}
}

// TestCopyForms: values that could be taken for something else are escaped.
func TestCopyForms(t *testing.T) {
	values := [][]byte{[]byte("a\tb\\c\nd"), nil, []byte(""), []byte(`"x",y`), []byte(`\N`)}
	columns := make([]column, len(values))
	for name, test := range map[string]struct {
		form copyForm
		want string
	}{
		"text": {copyForm{delimiter: '\t', null: `\N`}, "a\\tb\\\\c\\nd\t\\N\t\t\"x\",y\t\\\\N\n"},
		"csv":  {copyForm{csv: true, delimiter: ',', quote: '"', escape: '"'}, "\"a\tb\\c\nd\",,\"\",\"\"\"x\"\",y\",\\N\n"},
		"csv, all quoted": {copyForm{csv: true, delimiter: ';', quote: '\'', escape: '\\', forceAll: true},
			"'a\tb\\\\c\nd';;'';'\"x\",y';'\\\\N'\n"},
	} {
		var b bytes.Buffer
		test.form.write(&b, columns, values, false)
		if got := b.String(); got != test.want {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, test.want)
		}
	}
}
