package notation

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/sqltype"
)

func pattern(t *testing.T, text string) Pattern {
	t.Helper()
	p, err := ParsePattern(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNumbers(t *testing.T) {
	euro, us := Form{Decimal: ',', Thousands: "."}, Form{Thousands: ","}
	swiss, french := Form{Thousands: "’"}, Form{Decimal: ',', Thousands: "\u202f"}
	for _, c := range []struct {
		form       Form
		text, want string
	}{
		{euro, "1.234,50", "1234.50"}, {euro, "-1.234.567", "-1234567"}, {euro, "1234,5", "1234.5"}, {euro, ",5", ".5"}, {euro, "5,", "5."}, {euro, " 7 ", "7"},
		{euro, "+1,5e-3", "1.5e-3"}, {euro, "0", "0"},
		{euro, "1.5", "?1.5"}, {euro, "1,234.50", "?1,234.50"}, {euro, "1.2345", "?1.2345"}, {euro, "1234.567", "?1234.567"}, {euro, ".234", "?.234"}, {euro, "1..234", "?1..234"},
		{euro, "", "?"}, {euro, ",", "?,"}, {euro, "-", "?-"}, {euro, "1e", "?1e"}, {euro, "1,5x", "?1,5x"}, {euro, "1,2,3", "?1,2,3"}, {euro, "?1", "??1"}, {euro, "NaN", "?NaN"}, {euro, "inf", "?inf"},
		{us, "1,234.50", "1234.50"}, {us, "1.234", "1.234"}, {us, "12,34", "?12,34"}, {us, "1,234,5", "?1,234,5"},
		{swiss, "1’234.5", "1234.5"}, {swiss, "1'234.5", "?1'234.5"}, {french, "1\u202f234,5", "1234.5"},
		{Form{}, "1,5", "1,5"}, // in SQL's notation texts are left to the cast
	} {
		if got := string(c.form.Canonical(nil, []byte(c.text), sqltype.Of(sqltype.Double))); got != c.want {
			t.Errorf("%q is %q, want %q", c.text, got, c.want)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct{ pattern, text, want string }{
		{"DD.MM.YYYY", "31.12.2024", "2024-12-31"}, {"DD.MM.YYYY", "1.2.2024", "2024-02-01"}, {"DD.MM.YYYY", "31.12.24", "?31.12.24"}, {"DD.MM.YYYY", "12/31/2024", "?12/31/2024"},
		{"DD.MM.YYYY", "32.12.2024", "?32.12.2024"}, {"DD.MM.YYYY", "1.13.2024", "?1.13.2024"}, {"DD.MM.YYYY", "1.2.2024 ", "2024-02-01"}, {"DD.MM.YYYY", "1.2.2024x", "?1.2.2024x"},
		{"MM/DD/YY", "1/2/24", "2024-01-02"}, {"MM/DD/YY", "1/2/69", "2069-01-02"}, {"MM/DD/YY", "1/2/70", "1970-01-02"}, {"MM/DD/YY", "1/2/2024", "?1/2/2024"}, {"MM/DD/YY", "1/2/4", "?1/2/4"},
		{"YYYYMMDD", "20240131", "2024-01-31"}, {"YYYYMMDD", "2024131", "?2024131"}, {"DD-Mon-YYYY", "31-DEC-2024", "2024-12-31"}, {"Month DD, YYYY", "may 5, 2024", "2024-05-05"},
		{"DD-Mon-YYYY", "31-Dez-2024", "?31-Dez-2024"}, {"DD.MM.YYYY", "0.1.2024", "?0.1.2024"}, {"DD.MM.YYYY", "", "?"},
	} {
		f := Form{Date: pattern(t, c.pattern)}
		if got := string(f.Canonical(nil, []byte(c.text), sqltype.Of(sqltype.DateKind))); got != c.want {
			t.Errorf("%s: %q is %q, want %q", c.pattern, c.text, got, c.want)
		}
	}
	for _, c := range []struct{ pattern, text, want string }{
		{"DD.MM.YYYY HH24:MI", "1.2.2024 7:05", "2024-02-01 07:05:00.000000"}, {"MM/DD/YY HH12:MI:SS AM", "1/2/24 12:00:01 am", "2024-01-02 00:00:01.000000"},
		{"MM/DD/YY HH12:MI AM", "1/2/24 12:30 PM", "2024-01-02 12:30:00.000000"}, {"MM/DD/YY HH12:MI AM", "1/2/24 13:30 PM", "?1/2/24 13:30 PM"},
		{`YYYY-MM-DD"T"HH24:MI:SS.US`, "2024-01-02T03:04:05.25", "2024-01-02 03:04:05.250000"}, {"YYYY-MM-DDTHH24:MI", "2024-01-02T03:04", "2024-01-02 03:04:00.000000"},
		{"DD.MM.YYYY HH24:MI", "1.2.2024 24:00", "?1.2.2024 24:00"}, {"DD.MM.YYYY HH24:MI", "1.2.2024", "?1.2.2024"}, {"DD.MM.YYYY", "1.2.2024", "2024-02-01 00:00:00.000000"},
	} {
		f := Form{Timestamp: pattern(t, c.pattern)}
		if got := string(f.Canonical(nil, []byte(c.text), sqltype.Of(sqltype.TimestampKind))); got != c.want {
			t.Errorf("%s: %q is %q, want %q", c.pattern, c.text, got, c.want)
		}
	}
	for _, bad := range []string{"", "DD.MM", "DD.MM.YYYY YY", "MM Mon DD YYYY", "DD.MM.YYYY HH12:MI", "DD.MM.YYYY AM", "D.M.YYYY", `DD.MM.YYYY "x`, "dd.mm.jjjj"} {
		if p, err := ParsePattern(bad); err == nil {
			t.Errorf("%q is read as %v", bad, p)
		}
	}
}

// Reading is total: whatever a text is, it becomes one that the cast reads as the value
// that was written, or one that begins with a mark that no cast reads. It depends on
// nothing but the text.
func TestCanonicalIsTotal(t *testing.T) {
	patterns := []string{"DD.MM.YYYY", "MM/DD/YY", "YYYYMMDD", "DD Mon YYYY", "DD.MM.YYYY HH24:MI:SS.US", "MM/DD/YY HH12:MI AM"}
	pieces := []string{"0", "1", "12", "123", "2024", "31", "00", ".", ",", " ", "/", "-", "+", "e", "E9", ":", "AM", "pm", "May", "dec", "?", "\x00", "\xff", "é", "’", "\u00a0", "'"}
	rapid.Check(t, func(t *rapid.T) {
		p, err := ParsePattern(rapid.SampledFrom(patterns).Draw(t, "pattern"))
		if err != nil {
			t.Fatal(err)
		}
		f := Form{Decimal: rapid.SampledFrom([]byte{',', '.'}).Draw(t, "decimal"), Thousands: rapid.SampledFrom([]string{" ", "’", "\u00a0", "'"}).Draw(t, "thousands"), Date: p, Timestamp: p}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "text"), "")
		for _, kind := range []sqltype.Kind{sqltype.Double, sqltype.Integer, sqltype.DateKind, sqltype.TimestampKind} {
			of := sqltype.Of(kind)
			got := string(f.Canonical([]byte("before"), []byte(text), of))
			got, ok := strings.CutPrefix(got, "before")
			if !ok {
				t.Fatalf("%q: what stood before is lost", text)
			}
			if strings.HasPrefix(got, unreadable) {
				if got != unreadable+text {
					t.Fatalf("%q: unreadable as %q", text, got)
				}
				continue
			}
			if again := string(f.Canonical(nil, []byte(text), of)); again != got {
				t.Fatalf("%q is %q and %q", text, got, again)
			}
			if kind == sqltype.Double && strings.Trim(got, "0123456789.+-eE") != "" {
				t.Fatalf("%q is no number: %q", text, got)
			}
		}
	})
}

func TestEqual(t *testing.T) {
	forms := []Form{{}, {Delimiter: ';'}, {Quote: '\''}, {Unquoted: true}, {Decimal: ','}, {Thousands: ","}, {Date: pattern(t, "DD.MM.YYYY")},
		{Timestamp: pattern(t, "DD.MM.YYYY")}, {Null: []string{}}, {Null: []string{"", "NA"}}, {Encoding: Latin1}, {NoHeader: true}, {Multiline: true}}
	for i := range forms {
		for j := range forms {
			if forms[i].Equal(&forms[j]) != (i == j) {
				t.Errorf("forms %d and %d", i, j)
			}
		}
	}
	if a, b := (Form{Delimiter: ',', Quote: '"'}), (Form{}); !a.Equal(&b) {
		t.Error("the default marks are those of the zero Form")
	}
}
