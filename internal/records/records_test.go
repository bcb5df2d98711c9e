package records

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/notation"
	"github.com/discreet-dp/discreet/sqltype"
)

// read prints all records of a CSV text: NULL is ~, "!" marks malformed ones.
func read(t interface{ Fatal(...any) }, from io.Reader, o notation.Form) []string {
	r, err := newCSV(newWindow(from, io.NopCloser(nil)), o)
	if err == ErrNoHeader {
		return []string{"no header"}
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for {
		rec, err := r.Next()
		if err == io.EOF {
			if r.Skipped() > 0 {
				out = append(out, fmt.Sprint("skipped ", r.Skipped()))
			}
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, show(rec))
	}
}

func show(rec Record) string {
	var fields []string
	for _, f := range rec.Fields {
		if f == nil {
			fields = append(fields, "~")
		} else {
			fields = append(fields, string(f))
		}
	}
	line := strings.Join(fields, "|")
	if rec.Malformed {
		line += "!"
	}
	return line
}

func TestCSV(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "a,b\n1,x\n2,y\n", "1|x 2|y"},
		{"CRLF", "a,b\r\n1,x\r\n2,y\r\n", "1|x 2|y"},
		{"mixed line ends", "a,b\n1,x\r\n2,y\n", "1|x 2|y"},
		{"no final line end", "a,b\n1,x", "1|x"},
		{"no final line end, quoted", "a,b\n1,\"x\"", "1|x"},
		{"byte order mark", "\ufeffa,b\n1,x\n", "1|x"},
		{"header alone", "a,b\n", ""},
		{"nothing", "", "no header"},
		{"blank lines", "a,b\n\n1,x\n\r\n\n2,y\n", "1|x 2|y"},
		{"quotes", "a,b\n\"1\",\"x,\"\"y\"\"\"\n", `1|x,"y"`},
		{"line end in quotes", "a,b\n1,\"x\r\ny\"\n2,z\n", "1|~! ~|~! 2|z"},
		{"quote closed elsewhere", "a,b\n1,\"x\n2,y\n3,\"z\"\n", "1|~! 2|y 3|z"},
		{"quote open at the end of a line", "a,b\n1,\"\n2,y\n", "1|~! 2|y"},
		{"quote open before more fields", "a,b,c\n\"1,x,y\n2,y,z\n", "~|~|~! 2|y|z"},
		{"empty and NULL", "a,b\n,\"\"\n\"\",\n", "~| |~"},
		{"too few", "a,b\n1\n2,y\n", "1|~! 2|y"},
		{"too many", "a,b\n1,x,z\n2,y\n", "1|x! 2|y"},
		{"not UTF-8", "a,b\n1,\xff\n2,y\n", "1|~! 2|y"},
		{"not UTF-8 in quotes", "a,b\n1,\"\xff\"\n2,y\n", "1|~! 2|y"},
		{"NUL is a character", "a,b\n1,x\x00y\n", "1|x\x00y"},
		{"quote within text", "a,b\n1,x\"y\n2,z\n", "1|~! 2|z"},
		{"text after a quote", "a,b\n1,\"x\"y\n2,\"z\" \"w\"\n3,v\n", "1|~! 2|~! 3|v"},
		{"backslash is no escape", "a,b\n1,\"x\\\"y\"\n2,z\n", "1|~! 2|z"},
		{"quote never closed", "a,b\n1,\"x\n2,y\n3,z\n", "1|~! 2|y 3|z"},
		{"quote never closed at the end", "a,b\n1,x\n2,\"", "1|x 2|~!"},
		{"header that leaves a quote open", "a,\"b\n1,x\n", "no header"},
		{"one column", "a\n1\n\"\"\n\n2\n", "1  2"},
		{"long record", "a,b\n1," + strings.Repeat("x", MaxRecord) + "\n2,y\n", "2|y skipped 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := read(t, strings.NewReader(c.text), notation.Form{}); strings.Join(got, " ") != c.want {
				t.Errorf("read %q, want %q", got, c.want)
			}
		})
	}
}

// What is declared to go on over several lines does.
func TestMultilineCSV(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"line end in quotes", "a,b\n1,\"x\r\ny\"\n2,z\n", "1|x\r\ny 2|z"},
		{"quote closed elsewhere", "a,b\n1,\"x\n2,y\n3,\"z\"\n", "1|~!"},
		{"quote never closed", "a,b\n1,\"x\n2,y\n3,z\n", "2|y 3|z skipped 1"},
		{"quote never closed at the end", "a,b\n1,x\n2,\"", "1|x skipped 1"},
		{"long quote", "a,b\n1,\"x\n" + strings.Repeat("y,y\n", MaxRecord/4) + "2,\"\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := read(t, strings.NewReader(c.text), notation.Form{Multiline: true})
			if c.name == "long quote" { // the first line is skipped, and the last
				if len(got) != MaxRecord/4+1 || got[0] != "y|y" || got[len(got)-1] != "skipped 2" {
					t.Errorf("%d records, %q ... %q", len(got), got[0], got[len(got)-1])
				}
				return
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("read %q, want %q", got, c.want)
			}
		})
	}
}

// What encoding/csv writes is read as it was.
func TestCSVRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(2, 4).Draw(t, "width")
		field := rapid.StringOfN(rapid.RuneFrom([]rune("ab,\"\n 1é")), 0, 6, -1)
		rows := rapid.SliceOf(rapid.SliceOfN(field, width, width)).Draw(t, "rows")
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.Write(slices.Repeat([]string{"h"}, width))
		var want []string
		for _, row := range rows {
			w.Write(row)
			var fields []string
			for _, f := range row {
				if f == "" {
					f = "~" // encoding/csv does not quote what is empty
				}
				fields = append(fields, f)
			}
			want = append(want, strings.Join(fields, "|"))
		}
		w.Flush()
		if got := read(t, &b, notation.Form{Multiline: true}); !slices.Equal(got, want) {
			t.Fatalf("read %q, want %q", got, want)
		}
	})
}

// However the system cuts a file into reads, its records are the same, and
// rows that are appended after a complete one change none before them.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"1,x\n", "\"", "\"\"\",\n\r\n", "\xff,\x00\n\"a\"b,\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text := append([]byte("a,b\n"), b...)
		for _, o := range []notation.Form{{}, {Multiline: true}} {
			whole := read(t, bytes.NewReader(text), o)
			if cut := read(t, iotest.OneByteReader(bytes.NewReader(text)), o); !slices.Equal(whole, cut) {
				t.Fatalf("%+v: in one: %q, byte by byte: %q", o, whole, cut)
			}
			if late := read(t, iotest.DataErrReader(bytes.NewReader(text)), o); !slices.Equal(whole, late) {
				t.Fatalf("%+v: in one: %q, end with the last bytes: %q", o, whole, late)
			}
		}
	})
}

func TestJSONLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	text := "\ufeff" + `{"a": 1, "b": "x\ny", "c": 3}
{"b": null, "a": true}

{"a": [1, {"b": 2}], "A": 9, "a2": 1}
nonsense
[1]
null
{"a": 1.50e3, "b": ""} trailing
{"a": 1.50e3, "b": ""}` + "\n{\"a\": \"\xff\"}\n" + `{"a": 1, "a": 2}` + "\r\n" +
		strings.Repeat("[", 1<<19) + "\n" + `{"b": "` + strings.Repeat("x", MaxRecord) + "\"}\n" + `{"a": "\u0000", "b": "\ud800"}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := OpenJSONLines(context.Background(), path, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []string
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, show(rec))
	}
	want := []string{"1|x\ny", "true|~", `[1, {"b": 2}]|~`, "1.50e3|", "2|~", "\x00|\ufffd"}
	if !slices.Equal(got, want) || r.Skipped() != 7 {
		t.Errorf("read %q, skipped %d, want %q and 7", got, r.Skipped(), want)
	}
}

func TestGzip(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, "a,b\n1,x\n")
	w.Close()
	path := filepath.Join(t.TempDir(), "a.csv.gz")
	for name, c := range map[string]struct {
		bytes []byte
		fails bool
	}{"whole": {b.Bytes(), false}, "cut short": {b.Bytes()[:b.Len()-9], true}, "not gzip": {[]byte("a,b\n"), true}} {
		if err := os.WriteFile(path, c.bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := OpenCSV(context.Background(), path, notation.Form{})
		for err == nil {
			_, err = r.Next()
		}
		if r != nil {
			r.Close()
		}
		if (err != io.EOF) != c.fails {
			t.Errorf("%s: ended with %v", name, err)
		}
	}
}

// A field that is read in several notations has each of them, whatever the order.
func TestFieldInSeveralNotations(t *testing.T) {
	form := notation.Form{Delimiter: ';', Decimal: ',', Thousands: "."}
	text, number := sqltype.Of(sqltype.Text), sqltype.Of(sqltype.Double)
	for _, c := range []struct {
		types []sqltype.Type
		want  string
	}{
		{[]sqltype.Type{text, number}, "1.234,5|1234.5"},
		{[]sqltype.Type{number, text}, "1234.5|1.234,5"},
		{[]sqltype.Type{number, number, text, text}, "1234.5|1234.5|1.234,5|1.234,5"},
		{[]sqltype.Type{text, text}, "1.234,5|1.234,5"},
	} {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte("a;b\nx;1.234,5;too;many\ny\nz;1.234,5\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := OpenCSV(t.Context(), path, form)
		if err != nil {
			t.Fatal(err)
		}
		names := slices.Repeat([]string{"b"}, len(c.types))
		at := r.Typed(r.Find(names, strings.ToLower), c.types)
		var got []string
		for {
			rec, err := r.Next()
			if err != nil {
				break
			}
			var values []string
			for _, i := range at {
				if rec.Fields[i] == nil {
					values = append(values, "~")
				} else {
					values = append(values, string(rec.Fields[i]))
				}
			}
			got = append(got, strings.Join(values, "|"))
		}
		r.Close()
		if want := []string{c.want, strings.TrimSuffix(strings.Repeat("~|", len(c.types)), "|"), c.want}; !slices.Equal(got, want) {
			t.Errorf("as %v: %q, want %q", c.types, got, want)
		}
	}
}

// A reader knows how far it is in its file, in the bytes that are stored, from some to all.
func TestOffset(t *testing.T) {
	text := []byte("a,b\n" + strings.Repeat("some,text\n", 100_000))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, stored := range map[string][]byte{"plain.csv": text, "packed.csv.gz": packed.Bytes()} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, stored, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := OpenCSV(t.Context(), path, notation.Form{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		before, between := int64(0), false
		for {
			read, all := r.Offset()
			if all != int64(len(stored)) || read < before || read > all {
				t.Fatalf("%s: %d of %d bytes, after %d", name, read, all, before)
			}
			before, between = read, between || read > 0 && read < all
			if _, err := r.Next(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if read, all := r.Offset(); read != all || name == "plain.csv" && !between {
			t.Errorf("%s: %d of %d bytes at the end; some on the way: %v", name, read, all, between)
		}
	}
}
