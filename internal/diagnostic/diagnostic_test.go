package diagnostic

import (
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	text := "SELECT\n\tünknown, x\nFROM t"
	start := strings.Index(text, "x")
	d := New("D011", Span{start, start + 1}, "unknown column %s", "x").Because("it is not declared").Try("did you mean y?").In("query.sql", text)
	var b strings.Builder
	if err := d.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := "error[D011]: unknown column x\n" +
		"  query.sql:2:11\n" +
		"  2 | \tünknown, x\n" +
		"    | \t         ^\n" +
		"  why:  it is not declared\n" +
		"  hint: did you mean y?\n" +
		"  more: discreet help D011\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if got := d.Error(); got != "query.sql:2:11: error[D011]: unknown column x" {
		t.Error(got)
	}
}

// Whatever the span, no diagnostic panics, and the length is that of one line.
func TestOddSpans(t *testing.T) {
	for _, text := range []string{"", "x", "a\nb", "\n", "ü"} {
		for start := range 5 {
			for end := range 5 {
				d := New("D001", Span{start, end}, "m").In("", text)
				if err := d.Write(&strings.Builder{}); err != nil {
					t.Fatal(err)
				}
				if line, _ := d.LineColumn(); line > 0 && d.Length() < 1 {
					t.Errorf("length %d in %q at %d:%d", d.Length(), text, start, end)
				}
			}
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"department", "age", "cost"}
	for name, want := range map[string]string{"agee": "age", "departent": "department", "COST": "cost", "csot": "cost", "email": "", "x": ""} {
		if got := Nearest(name, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

// The catalogue has every code once, in order, with a title and an explanation.
func TestEntries(t *testing.T) {
	last := ""
	for _, e := range Entries() {
		if e.Code <= last || len(e.Code) != 4 || e.Title == "" || e.Explain == "" {
			t.Errorf("entry %+v after %s", e, last)
		}
		last = e.Code
	}
}
