package cli

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/rogpeppe/go-internal/testscript"
)

// ownersFile is the script's command "file KIND NAME TRUTH": it writes a file as owners
// have them, and what a statement over it answers without noise: how many rows, and the
// sum of the amounts in
// thousands, rounded.
func ownersFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: file euro|us|utf16|bare|messy NAME TRUTH")
	}
	n := 3000
	if args[0] == "messy" {
		n = 30_000
		if os.Getenv("DISCREET_SOAK") != "" {
			n = 1_000_000
		}
	}
	var b strings.Builder
	rows, cents := 0, 0
	row := func(i int) (id, amount, day, month, hour int) {
		return i % (n / 10), (i*7919)%250_000 + 100, 1 + i%28, 1 + i*5%12, i % 24
	}
	count := func(amount int) { rows, cents = rows+1, cents+amount }
	switch args[0] {
	case "euro": // Excel in Germany: semicolons, decimal commas, points between thousands, Latin-1
		b.WriteString("Kunde_Nr;Betrag EUR;Datum;Gekauft am;Stadt\r\n")
		for i := range n {
			id, amount, day, month, hour := row(i)
			fmt.Fprintf(&b, "%d;%s;%02d.%02d.2024;%02d.%02d.2024 %02d:30;%s\r\n", id, grouped(amount, ".", ","), day, month, day, month, hour,
				[]string{"K\xf6ln", "Z\xfcrich", `"Halle; Saale"`, "NA"}[i%4])
			count(amount)
		}
	case "us": // commas between thousands, months first, two digits of a year, twelve hours
		b.WriteString("customer_id,Order Date,Amount,Shipped at\n")
		for i := range n {
			id, amount, day, month, hour := row(i)
			fmt.Fprintf(&b, "%d,%d/%d/24,\"%s\",%d/%d/24 %d:05 %s\n", id, month, day, grouped(amount, ",", "."), month, day, 1+hour%12, []string{"AM", "PM"}[i%2])
			count(amount)
		}
	case "utf16":
		text := "user_id\tamount\tday\n"
		for i := range n {
			id, amount, day, month, _ := row(i)
			text += fmt.Sprintf("%d\t%d.%02d\t2024-%02d-%02d\n", id, amount/100, amount%100, month, day)
			count(amount)
		}
		b.WriteString("\xff\xfe")
		for _, u := range utf16.Encode([]rune(text)) {
			b.WriteByte(byte(u))
			b.WriteByte(byte(u >> 8))
		}
	case "bare": // no header
		for i := range n {
			id, amount, day, month, _ := row(i)
			fmt.Fprintf(&b, "%d|%d.%02d|2024-%02d-%02d\n", id, amount/100, amount%100, month, day)
			count(amount)
		}
	case "messy": // what has grown for years and was never cleaned
		b.WriteString("patient_id,seen,cost,note\n")
		for i := range n {
			id, amount, day, month, _ := row(i)
			amount /= 2 // the sum of a million stays below what is printed with an exponent
			cost := fmt.Sprintf("%d.%02d", amount/100, amount%100)
			date := fmt.Sprintf("2024-%02d-%02d", month, day)
			switch i % 17 {
			case 0: // a price that is none
				cost, amount = []string{"", "NA", "n/a", "free", "1.2.3", "-", "€ 5"}[i/17%7], 0
			case 1: // a date that is none
				date = []string{"", "31/12/24", "2024-02-31", "NULL", "yesterday", "0000-00-00"}[i/17%6]
			case 2: // a line that ends early: no cost
				fmt.Fprintf(&b, "%d,%s\n", id, date)
				count(0)
				continue
			case 3: // one field too many
				fmt.Fprintf(&b, "%d,%s,%s,\"x, \"\"y\"\"\",more\n", id, date, cost)
				count(amount)
				continue
			case 4: // bytes that are no UTF-8
				fmt.Fprintf(&b, "%d,%s,%s,caf\xe9\r\n", id, date, cost)
				count(amount)
				continue
			case 5: // a quote that is left open, after the fields that count
				fmt.Fprintf(&b, "%d,%s,%s,\"open\n", id, date, cost)
				count(amount)
				continue
			case 6: // a row of nobody
				fmt.Fprintf(&b, ",%s,%s,lost\n", date, cost)
				continue
			}
			fmt.Fprintf(&b, "%d,%s,%s,ok\n\n", id, date, cost)
			count(amount)
		}
		last := 110_000 - cents%100_000 // far from where the sum is rounded
		fmt.Fprintf(&b, "%d,2024-01-01,%d.%02d,last\n", n, last/100, last%100)
		count(last)
	default:
		ts.Fatalf("unknown kind of file %q", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o600))
	thousands := float64(cents) / 100_000
	if off := thousands - math.Floor(thousands); off > 0.4 && off < 0.6 {
		ts.Fatalf("the sum is too close to where it is rounded")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), fmt.Appendf(nil, "n,n_low,n_high,total,total_low,total_high\n%[1]d,%[1]d,%[1]d,%.0[2]f,%.0[2]f,%.0[2]f\n", rows, thousands), 0o600))
}

// grouped writes cents with marks between thousands and before the fraction.
func grouped(cents int, thousands, decimal string) string {
	whole, s := cents/100, ""
	for ; whole >= 1000; whole /= 1000 {
		s = fmt.Sprintf("%s%03d%s", thousands, whole%1000, s)
	}
	return fmt.Sprintf("%d%s%s%02d", whole, s, decimal, cents%100)
}

var boundsOf = map[string]string{"date": `lower = "2000-01-01", upper = "2100-01-01"`, "timestamp": `lower = "2000-01-01", upper = "2100-01-01"`}

// decide is the script's command "decide FILE [UNIT]": the owner's decisions on a
// proposal, who takes what is proposed and knows nothing better.
func decide(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: decide FILE [UNIT]")
	}
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	lines := strings.Split(string(text), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "delta = ") })
	for i, l := range lines {
		if strings.HasPrefix(l, "#") {
			continue
		}
		for _, r := range [][2]string{{`[domains."?"]`, "[domains.person]"}, {`measure = "?"`, `measure = "pure"`}, {`epsilon = "?"`, "epsilon = 1e6"},
			{`domain = "?"`, `domain = "person"`}, {`max_groups_per_unit = "?"`, "max_groups_per_unit = 1"}, {`max_rows_per_group = "?"`, "max_rows_per_group = 10"},
			{`header = "?"`, "header = false"}} {
			l = strings.Replace(l, r[0], r[1], 1)
		}
		if strings.HasPrefix(l, "unit = ") && len(args) > 1 {
			l = fmt.Sprintf("unit = %q", args[1])
		}
		if typ := regexp.MustCompile(`type = "(\w+)`).FindStringSubmatch(l); typ != nil {
			bounds := boundsOf[typ[1]]
			if bounds == "" {
				bounds = "lower = 0, upper = 10000"
			}
			l = strings.Replace(l, `lower = "?", upper = "?"`, bounds, 1)
		}
		lines[i] = strings.ReplaceAll(l, `?"`, `"`)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(lines, "\n")), 0o600))
}

func TestGrouped(t *testing.T) {
	if got := grouped(123456789, ".", ",") + grouped(5, ",", ".") + grouped(100000, ",", "."); got != "1.234.567,890.051,000.00" {
		t.Error(got)
	}
}
