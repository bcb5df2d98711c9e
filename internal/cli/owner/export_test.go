package owner

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
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

// Of an average stands what it sharpens and what it serves as, beside its own charge; and every member of a line has its column.
func TestExportOfAnAverage(t *testing.T) {
	rho, err := privacy.ParseRho("0.01")
	if err != nil {
		t.Fatal(err)
	}
	of := exportedOf(ledger.Entry{Seq: 6, Kind: "reserve", Sharpens: 4, Precision: &ledger.Precision{
		Charge: filter.Amounts{Rho: rho}, Events: []privacy.Event{privacy.ZCDP{Rho: rho}}}})
	const want = `{"charge":{"epsilon":0,"delta":0,"rho":0.01},"events":[{"zcdp":{"rho":0.01}}]}`
	var lines, table bytes.Buffer
	for _, w := range []*writer{{to: &lines}, {csv: csv.NewWriter(&table), table: true}} {
		if err := w.end(w.write(ledgerFields, of), ledgerFields); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(lines.String(), `"sharpens":4,"precision":`+want) {
		t.Errorf("the line is %s", &lines)
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%q, %v", rows, err)
	}
	if at := slices.Index(rows[0], "precision"); at < 0 || rows[1][at] != want {
		t.Errorf("the row is %q", rows)
	}
	for i := range reflect.TypeFor[exported]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[exported]().Field(i).Tag.Get("json"), ",")
		if !slices.Contains(ledgerFields, name) {
			t.Errorf("%s has no column", name)
		}
	}
}
