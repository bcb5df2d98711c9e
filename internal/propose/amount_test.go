package propose_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/propose"
)

// proposalFor is the proposal for a CSV file.
func proposalFor(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "sales.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	proposal, err := propose.Catalog(t.Context(), open(t), filepath.Join(dir, "discreet.toml"), []string{path})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), decide(proposal)); err != nil {
		t.Fatalf("decided, it is refused: %v\n%s", err, proposal)
	}
	return proposal
}

// Amounts beside a symbol are read as numbers by an expression that the owner sees, and
// texts that only look like it stay texts.
func TestAmounts(t *testing.T) {
	text := "customer;dollars;euros;rate;after;mixed;word;two;code\n"
	for i := range 8 {
		text += fmt.Sprintf("c%d;\"$1,2%d0.50\";1.2%d0,50 €;12,%d %%;EUR 7%d;%s 5;about $%d;$1 $%d;%s\n", i%5, i, i, i, i, []string{"$", "€"}[i%2], i, i, "A$"+strings.Repeat("x", i))
	}
	proposal := proposalFor(t, text+"c1;-$3;;;;;;;\n")
	for _, want := range []string{
		`dollars = { type = "decimal(18,2)?", is = "trim(replace(replace(dollars, '$', ''), ',', ''))::decimal(18,2)", lower = "?", upper = "?" }  # 1,234.5 beside $ is read as 1234.5; `,
		`euros = { type = "decimal(18,2)?", is = "trim(replace(replace(replace(euros, '€', ''), '.', ''), ',', '.'))::decimal(18,2)"`,
		`rate = { type = "double?", is = "trim(replace(replace(rate, '%', ''), ',', '.'))::double"`,
		`after = { type = "decimal(18,2)?", is = "trim(replace(after, 'EUR', ''))::decimal(18,2)"`,
		`mixed = { type = "text?" }`, `word = { type = "text?" }`, `two = { type = "text?" }`, `code = { type = "text?" }`,
	} {
		if !strings.Contains(proposal, "\n"+want) {
			t.Errorf("want %s in\n%s", want, proposal)
		}
	}
}

// A column that is called after a person alone is proposed as the unit, and not where it
// counts people, is a yes or no, or a mail's subject.
func TestUnitsByTheirNames(t *testing.T) {
	for name, as := range map[string]string{"Kunde": "kunde", "customer": "customer", "Kundennummer": "kundennummer", "Kunden-Nr.": "kunden_nr", "KundenNr": "kunden_nr", "patient no": "patient_no",
		"Benutzer": "benutzer", "employee_number": "employee_number", "Mitgliedsnummer": "mitgliedsnummer", "visitorId": "visitor_id", "ClientCode": "client_code"} {
		text := "Bestellnummer_no," + name + ",amount\n"
		for i := range 40 {
			text += fmt.Sprintf("%d,K%d,%d\n", i, i%9, i)
		}
		if proposal := proposalFor(t, text); !strings.Contains(proposal, "\nunit = \""+as+"?\"") {
			t.Errorf("%s is not the unit:\n%s", name, proposal)
		} else if from := fmt.Sprintf("from = %q", name); name != as && !strings.Contains(proposal, from) {
			t.Errorf("want %s in\n%s", from, proposal)
		}
	}
	for _, column := range []string{"people", "customers", "student", "subject", "user_agent", "customer_age", "Kundenzufriedenheit"} {
		text := "order_id," + column + "\n"
		for i := range 40 {
			value := i % 9
			if column == "student" {
				value = i % 2
			}
			text += fmt.Sprintf("%d,%d\n", i%20, value)
		}
		if proposal := proposalFor(t, text); !strings.Contains(proposal, "\nunit = \"order_id?\"") {
			t.Errorf("%s is taken for the unit:\n%s", column, proposal)
		}
	}
}

// Columns are called so that SQL needs no quotes, but where two would be called the same.
func TestNames(t *testing.T) {
	proposal := proposalFor(t, "Kunde,Betrag EUR,Größe,2024,a-b,a b,Plz,plz_,HbA1c,Preis\n1,2,3,4,5,6,7,8,9,1 €\n2,3,4,5,6,7,8,9,1,2 €\n")
	for _, want := range []string{`kunde = { type = "bigint?", from = "Kunde" }`, `betrag_eur = { type = "bigint?", from = "Betrag EUR",`, `"größe" = { type = "bigint?", from = "Größe",`, `2024 = {`,
		`a-b = {`, `"a b" = {`, `plz = { type = "bigint?", from = "Plz"`, `plz_ = {`, `hb_a1c = {`, `preis = { type = "decimal(18,2)?", is = "trim(replace(\"Preis\", '€', ''))::decimal(18,2)",`} {
		if !strings.Contains(proposal, "\n"+want) {
			t.Errorf("want %s in\n%s", want, proposal)
		}
	}
}

// One value in more than a hundred that nobody can read makes no text of a column; more do.
func TestMessyColumns(t *testing.T) {
	text := "customer;on;paid;fee;mixed;odd\n"
	for i := range 400 {
		on, paid, fee, mixed, odd := fmt.Sprintf("%02d.01.2024", i%28+1), fmt.Sprintf("1.%03d,5", i), fmt.Sprintf("%d,25 €", i), fmt.Sprint(i), fmt.Sprint(i)
		switch i % 200 {
		case 7:
			on, paid, fee = "31.02.2024", "k.A.", "gratis"
		case 8:
			paid, mixed = "siehe Brief", "1.5"
		}
		if i%50 == 3 {
			odd = "A12"
		}
		text += fmt.Sprintf("c%d;%s;%s;%s;%s;%s\n", i%9, on, paid, fee, mixed, odd)
	}
	proposal := proposalFor(t, text+"c1;01.02.\n") // a line that was cut
	for _, want := range []string{`date = "DD.MM.YYYY?"`, `decimal = ",?"`, `thousands = ".?"`, `null = ["", "k.A."]`, `on = { type = "date?",`, `paid = { type = "double?",`,
		`fee = { type = "decimal(18,2)?", is = "trim(replace(replace(fee, '€', ''), ',', '.'))::decimal(18,2)"`, `odd = { type = "text?" }`} {
		if !strings.Contains(proposal, "\n"+want) {
			t.Errorf("want %s in\n%s", want, proposal)
		}
	}
}
