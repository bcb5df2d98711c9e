package catalog

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"pgregory.net/rapid"
)

// checkPlaces fails unless every scalar's place holds the text of its value,
// and every key's place the text of its key, as the parser itself reads them.
func checkPlaces(t interface{ Fatalf(string, ...any) }, text string, n *node) {
	for _, f := range n.fields {
		if name, ok := keyName(text[f.key.Start:f.key.End]); !ok || name != f.name {
			t.Fatalf("key %q has the place of %q in\n%s", f.name, text[f.key.Start:f.key.End], text)
		}
		checkPlaces(t, text, f)
	}
	for _, item := range n.items {
		checkPlaces(t, text, item)
	}
	if n.kind != scalarNode {
		return
	}
	var again struct{ X any }
	written := text[n.value.Start:n.value.End]
	if _, err := toml.Decode("X = "+written, &again); err != nil || !same(again.X, n.data) {
		t.Fatalf("value %v has the place of %q (%v, %v) in\n%s", n.data, written, again.X, err, text)
	}
}

func same(a, b any) bool {
	if x, ok := a.(float64); ok {
		y, ok := b.(float64)
		return ok && (x == y || math.IsNaN(x) && math.IsNaN(y))
	}
	if x, ok := a.(time.Time); ok {
		y, ok := b.(time.Time)
		return ok && x.Equal(y)
	}
	return reflect.DeepEqual(a, b)
}

var awkward = []string{
	"a = 1\nb.c = 2 # no = [here]\n[d . \"e.f\"]\n'g' = \"#\"\n",
	"a = [1, 2,\n # comment ]\n [\"x]\", '''y\n]'''],\n]\nb = {c = {d = 1, e = \"}\"}, f = []}\n",
	"\ufeff\"\\u0061\" = \"\"\"\"quoted\"\"\"\"\r\n[t]\r\nx = 1979-05-27 07:32:00 # space\r\n",
	"a = '\\'\nb = \"\\\\\"\nc = \"\\\"\"\nd = ''\ne = \"\"\nf = ''''''\n",
	"x.y.z = 1\nx.y.w = 2\n[x.q]\n\"\" = 3\n",
	"[a.b]\n[a]\nc = 1\n",
	"größe = 1\n",
	"t = {\n a = 1, # one\n b = 2,\n}\n",
}

func TestPlaces(t *testing.T) {
	for _, text := range awkward {
		root, refused := parseDocument(text)
		if refused != nil {
			var data map[string]any
			if _, err := toml.Decode(text, &data); err == nil {
				t.Errorf("TOML refused: %v\n%s", refused, text)
			}
			continue
		}
		checkPlaces(t, text, root)
	}
}

// Whatever is written, in whichever of TOML's forms, is found at its place.
func TestPlacesOfRandomDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := randomDocument(t)
		root, refused := parseDocument(text)
		if refused != nil {
			t.Fatalf("%v\n%s", refused, text)
		}
		checkPlaces(t, text, root)
	})
}

func randomDocument(t *rapid.T) string {
	var b strings.Builder
	comment := func() string { return rapid.SampledFrom([]string{"", " ", " # x = [\"", "\t#"}).Draw(t, "comment") }
	key := func(i int) string {
		return fmt.Sprintf(rapid.SampledFrom([]string{"k%d", "\"k %d\"", "'k.%d'", "\"k\\t%d\"", "\"k=]\\\"%d\""}).Draw(t, "key"), i)
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "sections") {
		if i > 0 {
			fmt.Fprintf(&b, "[s%d . %s]%s\n", i, key(0), comment())
		}
		for j := range rapid.IntRange(0, 5).Draw(t, "pairs") {
			k := key(j)
			if rapid.Bool().Draw(t, "dotted") {
				k = fmt.Sprintf("d%d .%s", j, k)
			}
			fmt.Fprintf(&b, "%s =%s%s\n", k, randomValue(t, 0), comment())
		}
	}
	return b.String()
}

func randomValue(t *rapid.T, depth int) string {
	forms := 3
	if depth > 2 {
		forms = 1
	}
	switch rapid.IntRange(0, forms-1).Draw(t, "form") {
	case 1:
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, randomValue(t, depth+1))
		}
		return "[" + strings.Join(items, ", # c]\n") + "]"
	case 2:
		var pairs []string
		for i := range rapid.IntRange(0, 3).Draw(t, "pairs") {
			pairs = append(pairs, fmt.Sprintf("\"f,%d\" = %s", i, randomValue(t, 3)))
		}
		return "{" + strings.Join(pairs, " , ") + "}"
	}
	return " " + rapid.SampledFrom([]string{"1", "-0.5e3", "true", "\"a # b\"", "'c:\\'", "\"\"\"x\n\"y\" ]\"\"\"", "'''\n''q'''",
		"2025-01-01", "2025-01-01 08:00:00", "0xff", "nan", "1_000", "\"\\\"\"", "'}'", "\"?\""}).Draw(t, "scalar")
}

// No text makes Parse panic, or makes the scanner and the parser disagree, or
// yields a catalog that is not complete.
func FuzzParse(f *testing.F) {
	for _, text := range awkward {
		f.Add(text)
	}
	for _, path := range []string{"accepted", "units", "columns"} {
		for _, text := range goldenInputs(f, "testdata/load/"+path) {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, refused := parseDocument(text)
		if refused == nil {
			checkPlaces(t, text, root)
		} else if strings.HasPrefix(refused.Message, "the catalog is not TOML that") {
			t.Errorf("scanner and parser disagree on %q", text)
		}
		c, err := Parse("dir/c.toml", text)
		if err != nil {
			_ = refusals(t, err)
			return
		}
		complete(t, c)
	})
}

// complete fails unless the catalog keeps the promises of the package comment.
func complete(t *testing.T, c *Catalog) {
	for _, d := range c.Domains {
		if d.Epsilon.Sign() <= 0 || d.Measure == "" || (d.Measure == "pure") != (d.Delta.Sign() == 0) {
			t.Errorf("domain %+v is not complete", d)
		}
	}
	for _, table := range c.Tables {
		if !table.Public && (table.Domain == nil || (table.Unit.Column == nil) != (table.Unit.Kind == UnitRow)) {
			t.Errorf("table %+v is not complete", table)
		}
		for _, col := range table.Columns {
			if (col.Lower == nil) != (col.Upper == nil) || col.Type.Kind == 0 {
				t.Errorf("column %+v is not complete", col)
			}
		}
	}
}
