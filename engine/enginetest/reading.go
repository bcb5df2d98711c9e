package enginetest

import (
	"compress/gzip"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/sqltype"
)

// everyType declares a column of each type.
const everyType = `
[tables.t]
source = "%s"
public = true
malformed = "%s"
%s
[tables.t.columns]
b  = { type = "boolean" }
s  = { type = "smallint" }
i  = { type = "integer" }
l  = { type = "bigint" }
r  = { type = "real" }
d  = { type = "double" }
n  = { type = "decimal(6,2)" }
x  = { type = "text" }
a  = { type = "date" }
m  = { type = "time" }
ts = { type = "timestamp" }
v  = { type = "interval" }
`

const everyHeader = "b,s,i,l,r,d,n,x,a,m,ts,v"

// show prints rows in an order of their own: text in quotes, NULL as ~.
func show(rows [][]sqltype.Value) []string {
	var out []string
	for _, row := range rows {
		var fields []string
		for _, v := range row {
			switch v := v.(type) {
			case nil:
				fields = append(fields, "~")
			case string:
				fields = append(fields, fmt.Sprintf("%q", v))
			default:
				fields = append(fields, sqltype.Format(v))
			}
		}
		out = append(out, strings.Join(fields, "|"))
	}
	slices.Sort(out)
	return out
}

// reading holds what a table has against what stands in its source.
func reading(t *testing.T, open Open) {
	nulls := strings.Repeat("~|", 11) + "~"
	for _, c := range []struct {
		name, source, text, rule string
		want                     []string
		more                     string // of the table's declaration
	}{
		{"every type", "t.csv", everyHeader + "\n" +
			`true,-32768,2147483647,-9223372036854775808,1.5,0.1,1234.56,"a ""b""",2024-02-29,23:59:59.999999,2024-02-29 12:00:00.000001,1 year 2 days 03:04:05` + "\n", "null",
			[]string{`true|-32768|2147483647|-9223372036854775808|1.5|0.1|1234.56|"a \"b\""|2024-02-29|23:59:59.999999|2024-02-29 12:00:00.000001|1 year 2 days 03:04:05`}, ""},
		{"not values of their types", "t.csv", everyHeader + "\n" +
			"maybe,32768,x,9223372036854775808,1e39,1e309,12345.67,,2024-02-30,25:00,yesterday,soon\n", "null",
			[]string{nulls}, ""},
		{"not finite", "t.csv", everyHeader + "\n,,,,nan,inf,,,infinity,,-infinity,\n,,,,-inf,NaN,nan,,-infinity,,infinity,\n", "null",
			[]string{nulls, nulls}, ""},
		{"negative zero", "t.csv", everyHeader + "\n,,,,-0,-0.0,-0.00,,,,,\n,,,,-1e-60,-1e-400,,,,,,\n", "null",
			[]string{"~|~|~|~|0|0|0.00|~|~|~|~|~", "~|~|~|~|0|0|~|~|~|~|~|~"}, ""},
		{"empty text is not NULL", "t.csv", "x," + "b,s,i,l,r,d,n,a,m,ts,v" + "\n\"\",,,,,,,,,,,\n,,,,,,,,,,,\n", "null",
			[]string{`~|~|~|~|~|~|~|""|~|~|~|~`, nulls}, ""},
		{"columns by name, in any case and order", "t.csv", "X,other," + "B,S,I,L,R,D,N,A,M,TS,V" + "\nx,1,true,,,,,,,,,,\n", "null",
			[]string{`true|~|~|~|~|~|~|"x"|~|~|~|~`}, ""},
		{"early and late", "t.csv", everyHeader + "\n,,,,,,,,0001-01-01,24:00:00,0001-01-01 00:00:00,\n,,,,,,,,9999-12-31,00:00:00,9999-12-31 23:59:59.999999,\n", "null",
			[]string{"~|~|~|~|~|~|~|~|0001-01-01|24:00:00|0001-01-01 00:00:00|~", "~|~|~|~|~|~|~|~|9999-12-31|00:00:00|9999-12-31 23:59:59.999999|~"}, ""},
		{"malformed fields are NULL", "t.csv", everyHeader + "\n,x,,,,,,\xff,,,,\n,1\n,2,,,,,,a,,,,,,too,many\n,3,,,,,,a\"b,,,,\n,4,,,,,,\"a\"b,,,,\n", "null",
			[]string{nulls, `~|1|` + nulls[4:], `~|2|~|~|~|~|~|"a"|~|~|~|~`, `~|3|` + nulls[4:], `~|4|` + nulls[4:]}, ""},
		{"malformed records are skipped", "t.csv", everyHeader + "\n,x,,,,,,,,,,\n,1\n,2,,,,,,,,,,\n,3,,,,,,\xff,,,,\n,4,,,,inf,,,,,,\n", "skip",
			[]string{`~|2|` + nulls[4:]}, ""},
		{"quote that is not closed", "t.csv", everyHeader + "\n,1,,,,,,\"a,,,,\n,2,,,,,,b,,,,\n", "null",
			[]string{`~|1|` + nulls[4:], `~|2|~|~|~|~|~|"b"|~|~|~|~`}, ""},
		{"line end in quotes", "t.csv", everyHeader + "\n,1,,,,,,\"a\nb\",,,,\n,2,,,,,,b,,,,\n", "null",
			[]string{`~|1|` + nulls[4:], nulls, `~|2|~|~|~|~|~|"b"|~|~|~|~`}, ""},
		{"text of every kind", "t.csv", "\ufeff" + everyHeader + "\r\n,,,,,,,\"a\r\nb\",,,,\r\n,,,,,,,NULL,,,,\n,,,,,,,a\x00b,,,,\n,,,,,,,é😀,,,,", "null",
			[]string{`~|~|~|~|~|~|~|"a\r\nb"|~|~|~|~`, `~|~|~|~|~|~|~|"NULL"|~|~|~|~`, `~|~|~|~|~|~|~|"a\x00b"|~|~|~|~`, `~|~|~|~|~|~|~|"é😀"|~|~|~|~`}, "csv.multiline = true"},
		{"long record", "t.csv", everyHeader + "\n,1,,,,,," + strings.Repeat("a", 1<<21) + ",,,,\n,2,,,,,,,,,,\n", "null",
			[]string{`~|2|` + nulls[4:]}, ""},
		{"header alone", "t.csv", everyHeader + "\n", "null", nil, ""},
		{"JSON lines", "t.jsonl", `{"x": "a", "b": true, "l": 9007199254740993, "d": 0.1, "n": "1.5", "a": "2024-01-01"}` + "\n" +
			`{"x": ["a", 1], "s": 1e9, "d": "x"}` + "\nnonsense\n\n[1]\n{\"x\": \"\xff\"}\n" + `{"x": "\u00e9", "x": null, "X": 1}`, "null",
			[]string{`true|~|~|9007199254740993|~|0.1|1.50|"a"|2024-01-01|~|~|~`, `~|~|~|~|~|~|~|"[\"a\", 1]"|~|~|~|~`, nulls}, ""},
		{"compressed", "t.csv.gz", gzipped(everyHeader + "\n,1,,,,,,,,,,\n"), "null", []string{`~|1|` + nulls[4:]}, ""},
		{"no JSON lines", "t.jsonl", "", "null", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := open(t, files(t, map[string]string{c.source: c.text, "discreet.toml": fmt.Sprintf(everyType, c.source, c.rule, c.more)}), 2)
			_, rows, err := e.Public(t.Context(), "t")
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(c.want)
			if got := show(rows); !slices.Equal(got, c.want) {
				t.Errorf("read\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func gzipped(text string) string {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// anyBytes reads files of pieces that readers stumble over: none fails, and
// what is read does not depend on the number of threads.
func anyBytes(t *testing.T, open Open) {
	piece := rapid.SampledFrom([]string{"1", "-", ".5", "e9", "a", "é", ",", ",", ",", "\n", "\n", "\r\n", "\r", `"`, `""`, `\`, "\x00", "\xff", "\xc3",
		" ", "{", "}", `{"s": 1}`, `{"x": "`, "[", ":", "null", "true", "2024-01-01", "12:00", "infinity", "nan"})
	for _, source := range []string{"t.csv", "t.jsonl"} {
		t.Run(source, func(t *testing.T) {
			c := files(t, map[string]string{source: everyHeader + "\n", "discreet.toml": fmt.Sprintf(everyType, source, "null", "")})
			one, many := open(t, c, 1), open(t, c, 4)
			rapid.Check(t, func(rt *rapid.T) {
				text := everyHeader + "\n" + strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(rt, "text"), "")
				text += strings.Repeat(text[strings.LastIndexByte(text, '\n')+1:]+"\n", rapid.SampledFrom([]int{0, 0, 0, 5000}).Draw(rt, "repeated"))
				if err := os.WriteFile(c.Tables[0].Source.Path, []byte(text), 0o600); err != nil {
					rt.Fatal(err)
				}
				_, rows, err := one.Public(t.Context(), "t")
				if err != nil {
					rt.Fatal(err)
				}
				_, again, err := many.Public(t.Context(), "t")
				if err != nil {
					rt.Fatal(err)
				}
				if !slices.Equal(show(rows), show(again)) {
					rt.Fatal("one thread and four read different rows")
				}
			})
		})
	}
}
