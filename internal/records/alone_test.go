package records

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/notation"
	"github.com/discreet-dp/discreet/sqltype"
)

// hostile are lines that somebody may have brought into a file as one record.
func hostile() []string {
	lines := []string{
		``, `"`, `""`, `"""`, `""""`, `1,"`, `1,"x`, `"1,x`, `"1","x`, `1,x"`, `1,"x"y`, `1,"x""`, `1,""x"`, `"",""`, `",",","`,
		`1,"x",`, `1,"x","`, `1,"x\"`, `1,'x`, `,`, `,,`, `,",`, `",`, `"\r`, "1,\"x\r", "\r", "\"\r\r", "1,\"\x00", "\xff\"", "\"\xff", "\ufeff\"", "\ufeff1,x",
		`1,x,y,z`, `1`, `{"a": 1, "b": "`, `{"a": 1, "b": "x"}`, `{`, `}`, `[`, `{"a": "\`, `{"b": {"b": [`, `null`, `1 2`,
		"1\u2028\"", "1\u0085\"x", "1,\"x\v", "1,\"x\f", "1,\"x\x1a", "1,\"x\x04", `1,"x#`, `#"`, `\.`, `\"`, `1,"x;`, "1,\"x\t", "1,`x", "1,“x",
	}
	for _, n := range []int{1, 1 << 16, MaxRecord - 2, MaxRecord - 1, MaxRecord, MaxRecord + 1} {
		lines = append(lines, strings.Repeat(`"`, n), `1,"`+strings.Repeat("x", n), strings.Repeat(`1,"`, n/3))
	}
	return lines
}

// Theorem: a reader is a homomorphism from lines to records. The records of the lines
// A, x, B are those of A, of x and of B. So adding or removing a line adds or removes
// the records of that line, and changes no other, whatever it is and wherever it
// stands: the rows of one unit change nobody else's.
func TestLinesReadAlone(t *testing.T) {
	calm := map[string][]string{
		"csv":   {`2,y`, `3,"z"`, `"4","w,""v"""`, `,`, `5,u"`, `6,"t`, `7,s`},
		"jsonl": {`{"a": 2, "b": "y"}`, `{"a": 3}`, `{"b": "\"", "a": 4}`, `nonsense "`, `{"a": 5, "b": "u`, `{"a": 6}`},
	}
	for name, f := range written(t) {
		calm[name] = []string{`2;y`, `3|'z'`, "'4';'w,''v'''", `;`, `5;u'`, `6|"t`, `7,s`, `1.234,5;01.02.2024`}
		if f.Delimiter == 0 {
			calm[name] = calm["csv"]
		}
	}
	readers := map[string]func([]string) []string{
		"csv": func(lines []string) []string { return readLines(t, lines, notation.Form{}) },
		"jsonl": func(lines []string) []string {
			r := &JSONLines{window: newWindow(joinLines("", lines), io.NopCloser(nil)), columns: []string{"a", "b"}, fields: make([][]byte, 2), seen: make([]bool, 2)}
			return collect(t, r)
		},
	}
	for name, f := range written(t) {
		readers[name] = func(lines []string) []string { return readLines(t, lines, f) }
	}
	for name, read := range readers {
		lines := calm[name]
		alone := make([][]string, len(lines))
		for i, line := range lines {
			alone[i] = read([]string{line})
		}
		for _, x := range hostile() {
			if len(x) > 1<<16+1 && name != "csv" && name != "jsonl" {
				continue // what is long is cut before the form matters
			}
			of := read([]string{x})
			for at := range len(lines) + 1 {
				if at == 0 && strings.HasPrefix(x, "\ufeff") && name == "jsonl" {
					continue // the mark at the very beginning of a file is its own
				}
				want := slices.Concat(slices.Concat(alone[:at]...), of, slices.Concat(alone[at:]...))
				if got := read(slices.Insert(slices.Clone(lines), at, x)); !slices.Equal(got, want) {
					t.Errorf("%s: %.40q (%d bytes) at line %d: the records are %.200q, want %.200q", name, x, len(x), at, got, want)
				}
			}
		}
	}
}

// written are forms in which files are declared to be written.
func written(t interface{ Fatal(...any) }) map[string]notation.Form {
	date, err := notation.ParsePattern("DD.MM.YYYY")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]notation.Form{
		"semicolons": {Delimiter: ';', Quote: '\'', Decimal: ',', Thousands: ".", Date: date, Null: []string{"NA"}},
		"unquoted":   {Delimiter: '|', Unquoted: true, NoHeader: true},
		"headless":   {NoHeader: true},
	}
}

// The same of any two lines.
func FuzzLinesReadAlone(f *testing.F) {
	for _, x := range hostile() {
		if len(x) < 100 {
			f.Add(x, `3,"z"`)
			f.Add(`2,"y`, x)
		}
	}
	f.Fuzz(func(t *testing.T, x, y string) {
		if strings.Contains(x+y, "\n") {
			t.Skip()
		}
		want := append(readLines(t, []string{x}, notation.Form{}), readLines(t, []string{y}, notation.Form{})...)
		if got := readLines(t, []string{x, y}, notation.Form{}); !slices.Equal(got, want) {
			t.Fatalf("%q, %q: the records are %q, want %q", x, y, got, want)
		}
	})
}

// The test finds the fault that it is for: with quotes that go on over lines, it fails.
func TestLinesReadAloneBites(t *testing.T) {
	o := notation.Form{Multiline: true}
	want := append(readLines(t, []string{`1,"x`}, o), readLines(t, []string{`2,y`, `3,"z"`}, o)...)
	if got := readLines(t, []string{`1,"x`, `2,y`, `3,"z"`}, o); slices.Equal(got, want) {
		t.Errorf("a quote left open changes nothing: %q", got)
	}
}

func joinLines(header string, lines []string) io.Reader {
	return bytes.NewReader([]byte(header + strings.Join(lines, "\n") + "\n"))
}

// readLines are the records of lines behind a header, and how many were skipped.
func readLines(t interface{ Fatal(...any) }, lines []string, o notation.Form) []string {
	delimiter, _ := o.Marks()
	header, names := "a"+string(delimiter)+"b\n", []string{"a", "b"}
	if o.NoHeader {
		header, names = "", []string{"c1", "c2"}
	}
	r, err := newCSV(newWindow(joinLines(header, lines), io.NopCloser(nil)), o)
	if err != nil {
		t.Fatal(err)
	}
	r.Typed(r.Find(names, strings.ToLower), []sqltype.Type{sqltype.Of(sqltype.Double), sqltype.Of(sqltype.DateKind)})
	return collect(t, r)
}

// collect shows each record, and each skipped one in its place.
func collect(t interface{ Fatal(...any) }, r Reader) (out []string) {
	skipped := int64(0)
	for {
		rec, err := r.Next()
		for ; skipped < r.Skipped(); skipped++ {
			out = append(out, "skipped")
		}
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%q %s", rec.Fields, show(rec)))
	}
}
