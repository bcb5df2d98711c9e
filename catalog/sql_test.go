package catalog

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// However a text is written in TOML, a place in it is the place where that character
// stands in the catalog.
func TestPlacesOfSQL(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := []rune(rapid.StringOfN(rapid.SampledFrom([]rune("ab \"'\\\n\té…😀")), 1, 30, -1).Draw(t, "text") + "x")
		form := rapid.SampledFrom([]string{"basic", "multiline", "multiline from the next line"}).Draw(t, "form")
		var written strings.Builder
		var at []int // of each letter in written
		for _, r := range letters {
			escaped := rapid.Bool().Draw(t, "escaped")
			if form != "basic" && rapid.IntRange(0, 5).Draw(t, "fold") == 0 {
				written.WriteString("\\\n   ")
				escaped = true // a blank would be taken for the line's
			}
			at = append(at, written.Len())
			switch {
			case r == '\\' || r == '"':
				written.WriteString("\\" + string(r))
			case r == '\n' && (escaped || form == "basic"):
				written.WriteString(`\n`)
			case r == '\t' && escaped:
				written.WriteString(`\t`)
			case escaped && r > 0xffff:
				fmt.Fprintf(&written, `\U%08X`, r)
			case escaped && r != '\n':
				fmt.Fprintf(&written, `\u%04x`, r)
			default:
				written.WriteRune(r)
			}
		}
		open, quote := `"`, `"`
		if form != "basic" {
			open, quote = `"""`, `"""`
			if form == "multiline from the next line" || strings.HasPrefix(written.String(), "\n") {
				open += "\n"
			}
		}
		before := "[tables.t]\nsource = \"t.csv\"\npublic = true\n[tables.t.columns]\nc = { type = \"text\", is = "
		c, err := Parse("c.toml", before+open+written.String()+quote+" }\n")
		if err != nil {
			if strings.TrimSpace(string(letters)) == "" {
				return
			}
			t.Fatalf("%s: %v", written.String(), err)
		}
		is := c.Tables[0].Columns[0].Is
		if is.Text != string(letters) {
			t.Fatalf("read %q, want %q", is.Text, string(letters))
		}
		i := rapid.IntRange(0, len(letters)-1).Draw(t, "letter")
		from := len(string(letters[:i]))
		d := is.Place(diagnostic.New("D104", diagnostic.Span{Start: from, End: from + len(string(letters[i]))}, "here"))
		if want := len(before) + len(open) + at[i]; d.Span.Start != want || d.Source != "c.toml" {
			t.Fatalf("letter %d of %q stands at %d, want %d: %s", i, is.Text, d.Span.Start, want, d.Text)
		}
	})
}

// In a literal string nothing is escaped.
func TestPlacesInLiteralStrings(t *testing.T) {
	for _, quote := range []string{"'", "'''"} {
		before := "[tables.t]\nsource = \"t.csv\"\npublic = true\n[tables.t.columns]\nc = { type = \"text\", is = "
		c, err := Parse("c.toml", before+quote+`a \n "b"`+quote+" }\n")
		if err != nil {
			t.Fatal(err)
		}
		d := c.Tables[0].Columns[0].Is.Place(diagnostic.New("D104", diagnostic.Span{Start: 5, End: 8}, "here"))
		if got := d.Text[d.Span.Start:d.Span.End]; got != `"b"` {
			t.Errorf("between %s: %q", quote, got)
		}
	}
}
