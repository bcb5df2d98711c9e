package owner

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
)

// What analysts wrote is data to whoever opens the export: no formula, nothing hidden,
// nothing that moves a cursor.
func TestExportOfHostileTexts(t *testing.T) {
	texts := []string{"=1+1", "+1", "-1", "@x", "\t=1", "a,b\n\"c\"", "\x1b[2J", "\u202etxt", "\u2066x", "\U000e0001", "plain ü", ""}
	for _, table := range []bool{false, true} {
		var out bytes.Buffer
		w := writer{to: &out, csv: csv.NewWriter(&out), table: table}
		for _, s := range texts {
			if err := w.write(ledgerFields, exported{Statement: s}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.end(nil, ledgerFields); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(out.String(), "\x1b\u202e\u2066\U000e0001") {
			t.Errorf("table %v: something is hidden: %q", table, out.String())
		}
		if !table {
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			for i, s := range texts {
				var x exported
				if err := json.Unmarshal([]byte(lines[i]), &x); err != nil || x.Statement != s {
					t.Errorf("%q is read back as %q, %v", s, x.Statement, err)
				}
			}
			continue
		}
		rows, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(rows) != len(texts)+1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		for i, want := range []string{"'=1+1", "+1", "-1", "'@x", `'\t'=1`, `a,b\n\"c\"`, `\x1b[2J`, `\u202etxt`, `\u2066x`, `\U000e0001`, "plain ü", ""} {
			if got := rows[i+1][6]; got != want {
				t.Errorf("%q is the cell %q, not %q", texts[i], got, want)
			}
		}
	}
}
