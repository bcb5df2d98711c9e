package enginetest

import (
	"slices"
	"testing"
)

// derived holds columns that are computed against what they are computed from: the text
// that stands in a source where that is not declared, and else the declared value.
func derived(t *testing.T, open Open) {
	const columns = `
[tables.t.columns]
id     = { type = "bigint" }
paid   = { type = "decimal(8,2)", is = "replace(replace(\"Betrag EUR\", '.', ''), ',', '.')::decimal(8,2)" }
read   = { type = "decimal(8,2)", from = "Betrag EUR" }
text   = { type = "text", is = "\"Betrag EUR\"" }
much   = { type = "boolean", is = "paid > 1000" }
id_    = { type = "smallint", is = "id + 1" }
over   = { type = "double", is = "1 / (id - 2.0e0)" }
day    = { type = "date", is = "to_date_text::date" }
town   = { type = "text", is = "upper(trim(town))" }
`
	for _, c := range []struct {
		name, source, declared, text string
		want                         []string
	}{
		{"CSV in a form of its own", "t.csv", "[tables.t.csv]\ndelimiter = \";\"\ndecimal = \",\"\nthousands = \".\"\nnull = [\"\", \"NA\"]\n",
			"id;Betrag EUR;to_date_text;town\n1;1.234,50;2025-02-03; ulm \n2;12,00;3.2.2025;NA\n40000;99;;\"NA\"\nx;viel;2025-02-30;\n",
			[]string{
				`1|1234.50|1234.50|"1.234,50"|true|2|-1|2025-02-03|"ULM"`,
				`2|12.00|12.00|"12,00"|false|3|~|~|~`,
				`40000|99.00|99.00|"99"|false|~|2.5001250062503124e-05|~|"NA"`,
				`~|~|~|"viel"|~|~|~|~|~`,
			}},
		{"JSON", "t.jsonl", "", `{"id": 1, "Betrag EUR": "1.234,50", "to_date_text": "2025-02-03", "town": "a"}
{"id": 3, "Betrag EUR": 12.5, "town": null}
{"id": 4, "Betrag EUR": {"a": 1}}
`, []string{
			`1|1234.50|~|"1.234,50"|true|2|-1|2025-02-03|"A"`,
			`3|125.00|12.50|"12.5"|false|4|1|~|~`,
			`4|~|~|"{\"a\": 1}"|~|5|0.5|~|~`,
		}},
		{"records that are skipped: not for a derived value", "t.csv", "malformed = \"skip\"\n",
			"id,Betrag EUR,to_date_text,town\n1,2.50,soon,x\nx,2.50,soon,x\n3,much,soon,x\n4,,,\n",
			[]string{
				`1|250.00|2.50|"2.50"|false|2|-1|~|"X"`,
				`4|~|~|~|~|5|0.5|~|~`,
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := open(t, files(t, map[string]string{c.source: c.text,
				"discreet.toml": "[tables.t]\nsource = \"" + c.source + "\"\npublic = true\n" + c.declared + columns}), 2)
			_, rows, err := e.Public(t.Context(), "t")
			if err != nil {
				t.Fatal(err)
			}
			if got := show(rows); !slices.Equal(got, c.want) {
				t.Errorf("read\n%q, want\n%q", got, c.want)
			}
		})
	}
}
