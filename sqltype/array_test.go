package sqltype_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/sqltype"
)

// TestParseArray: PostgreSQL 15's answers to '...'::text[], element by element, and what it
// refuses.
func TestParseArray(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "", ` { } `: "", `{1,2}`: "<1><2>", `{ a b , NULL,"NULL",null }`: "<a b>NULL<NULL>NULL", `{"a\"b\\c","x,}{y",""}`: `<a"b\c><x,}{y><>`,
		`[0:1]={1,2}`: "<1><2>", `[-1:0] = {1,2}`: "<1><2>", `{a\ ,\NULL, b\,c}`: "<a ><NULL><b,c>", "{\"a\nb\",\tc\n}": "<a\nb><c>",
	} {
		got, err := sqltype.ParseArray(text)
		if shown := show(got); err != nil || shown != want {
			t.Errorf("%s: %s, not %s (%v)", text, shown, want, err)
		}
	}
	for _, text := range []string{"", "1,2", "{", "{1", "{1,", "{1,}", "{,1}", "{,}", `{"a`, `{"a\`, `{a\`, "{1}2", "{{1,2},{3,4}}", "{1}}", `{"a"b}`, `{a"b"}`, "[0:1]", "[0:1]{1,2}", "[1:1][1:1]={{1}}", "[x]={1}"} {
		if got, err := sqltype.ParseArray(text); err == nil {
			t.Errorf("%s was read as %s", text, show(got))
		}
	}
}

func show(elements []*string) string {
	var b strings.Builder
	for _, e := range elements {
		if e == nil {
			b.WriteString("NULL")
		} else {
			fmt.Fprintf(&b, "<%s>", *e)
		}
	}
	return b.String()
}

// TestFormatArrayReadsBack: whatever the texts are.
func TestFormatArrayReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		elements := rapid.SliceOfN(rapid.Ptr(rapid.StringOf(rapid.RuneFrom([]rune("a ,{}\"\\\n'é\tNULL"))), true), 0, 5).Draw(t, "elements")
		got, err := sqltype.ParseArray(sqltype.FormatArray(elements))
		if err != nil || show(got) != show(elements) || len(got) != len(elements) {
			t.Fatalf("%s: %s (%v)", sqltype.FormatArray(elements), show(got), err)
		}
	})
}
