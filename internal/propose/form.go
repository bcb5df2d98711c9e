package propose

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/records"
	"github.com/discreet-dp/discreet/notation"
	"github.com/discreet-dp/discreet/sqltype"
)

// How a file is written is proposed from its form alone: marks, and the shapes of
// numbers and dates. Each proposal that is not the default is marked, for it is a guess:
// 1,234 is a thousand or little more than one, 01/02/2024 is in January or February.

// headBytes is how much of a file its encoding and its delimiter are told from.
const headBytes = 256 << 10

var delimiters = []byte{',', ';', '\t', '|'}

// outer guesses a file's encoding and delimiter.
func outer(ctx context.Context, path string) (f notation.Form, err error) {
	head, err := records.Head(ctx, path, headBytes)
	if err != nil {
		return f, refusal("%s cannot be opened", path)
	}
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		f.Encoding = notation.UTF16
		head = bytes.ReplaceAll(head[2:], []byte{0}, nil) // enough to count marks in
	case !utf8.Valid(wholeRunes(head)):
		f.Encoding = notation.Latin1
	}
	lines := bytes.Split(head, []byte("\n"))
	if len(lines) > 1 {
		lines = lines[:len(lines)-1] // the last may be cut
	}
	lines = slices.DeleteFunc(lines[:min(len(lines), 500)], func(l []byte) bool { return len(bytes.TrimSpace(l)) == 0 })
	best := 0
	for _, d := range delimiters {
		if n := agreeing(lines, d); n > best {
			if best = n; d != ',' {
				f.Delimiter = d
			}
		}
	}
	return f, nil
}

// wholeRunes drops a character that the end of the head cuts.
func wholeRunes(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// agreeing is how many delimiters all but a tenth of the lines have in common with the
// first, outside of quotes.
func agreeing(lines [][]byte, delimiter byte) int {
	if len(lines) == 0 {
		return 0
	}
	count := func(line []byte) (n int) {
		quoted := false
		for _, c := range line {
			if c == '"' {
				quoted = !quoted
			} else if c == delimiter && !quoted {
				n++
			}
		}
		return n
	}
	first, same := count(lines[0]), 0
	for _, l := range lines {
		if count(l) == first {
			same++
		}
	}
	if 10*same < 9*len(lines) {
		return 0
	}
	return first
}

// sampled are the first records of a file.
func sampled(ctx context.Context, path string, f notation.Form) (rows [][]string, err error) {
	f.NoHeader = true // it is one of them
	r, err := records.OpenCSV(ctx, path, f)
	if err != nil {
		return nil, refusal("%s cannot be opened", path)
	}
	defer r.Close()
	for range sample {
		record, err := r.Record()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, refusal("%s cannot be read", path)
		}
		if record.Malformed { // it tells nothing
			continue
		}
		row := make([]string, len(record.Fields))
		for i, field := range record.Fields {
			row[i] = string(field)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

type marks struct {
	decimal   byte
	thousands string
}

// numberForms are the ways in which numbers are written, the likelier ones first.
var numberForms = []marks{{'.', ""}, {'.', ","}, {',', "."}, {',', ""}, {',', " "}, {',', "\u00a0"}, {',', "\u202f"}, {'.', " "}, {'.', "'"}, {'.', "’"}}

var dateForms = []string{"DD.MM.YYYY", "MM/DD/YYYY", "DD/MM/YYYY", "DD-MM-YYYY", "MM-DD-YYYY", "YYYY/MM/DD", "YYYY.MM.DD",
	"DD.MM.YY", "MM/DD/YY", "DD/MM/YY", "DD-MM-YY", "DD Mon YYYY", "DD-Mon-YYYY", "Mon DD, YYYY", "DD-Mon-YY"}

var timeForms = []string{" HH24:MI:SS", " HH24:MI", `"T"HH24:MI:SS`, `"T"HH24:MI`, " HH24:MI:SS.US", " HH12:MI AM", " HH12:MI:SS AM"}

// inner guesses how numbers and dates are written, from the columns below a header: the
// way in which most of them are numbers, or dates. It returns what is to be said of it.
func inner(f *notation.Form, rows [][]string) (said map[string]string) {
	said = map[string]string{}
	most, also := 0.0, 0
	for _, m := range numberForms {
		try := notation.Form{Decimal: m.decimal, Thousands: m.thousands}
		switch n := holding(rows, sqltype.Of(sqltype.Double), &try); {
		case n > most:
			most, also, f.Decimal, f.Thousands = n, 0, m.decimal, m.thousands
		case n == most && n > 0 && m.decimal != f.Decimal && (f.Decimal != '.' || f.Thousands != ""):
			also++
		}
	}
	if f.Decimal == '.' {
		f.Decimal = 0
	}
	if also > 0 {
		said["decimal"], said["thousands"] = "it could be the other way round", "it could be the other way round"
	}
	date, twice := likeliest(rows, sqltype.Of(sqltype.DateKind), dateForms, func(p notation.Pattern) notation.Form { return notation.Form{Date: p} })
	f.Date = date
	var stamps []string
	for _, d := range append([]string{"YYYY-MM-DD"}, dateForms...) {
		for _, t := range timeForms {
			if stamp := d + t; date.IsZero() || d == date.String() {
				stamps = append(stamps, stamp)
			}
		}
	}
	var twiceStamp bool
	f.Timestamp, twiceStamp = likeliest(rows, sqltype.Of(sqltype.TimestampKind), stamps, func(p notation.Pattern) notation.Form { return notation.Form{Timestamp: p} })
	const either = "day and month could be the other way round"
	if twice {
		said["date"] = either
	}
	if twiceStamp {
		said["timestamp"] = either
	}
	return said
}

// likeliest is the pattern by which most columns are of a type that they are not in
// SQL's notation, and whether another is as likely.
func likeliest(rows [][]string, t sqltype.Type, patterns []string, form func(notation.Pattern) notation.Form) (best notation.Pattern, twice bool) {
	var sql notation.Form
	most := holding(rows, t, &sql)
	for _, text := range patterns {
		p, err := notation.ParsePattern(text)
		if err != nil {
			continue
		}
		try := form(p)
		switch n := holding(rows, t, &try); {
		case n > most:
			most, best, twice = n, p, false
		case n == most && !best.IsZero():
			twice = true
		}
	}
	return best, twice
}

// A column is of a type or a form that all its values are of but for one in so many, which
// nobody could read: the 31st of February, a word among numbers. discreet check counts them.
const unread = 100

// holding counts the columns whose values are of a type in a notation: each as 1, or less
// by the share of its values that are not.
func holding(rows [][]string, t sqltype.Type, f *notation.Form) (n float64) {
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	var text []byte
column:
	for i := range width {
		values, not := 0, 0
		for _, row := range rows {
			if i >= len(row) || missing[strings.ToLower(row[i])] {
				continue
			}
			values++
			text = f.Canonical(text[:0], []byte(row[i]), t)
			if _, err := sqltype.ParseValue(t, string(text)); err != nil {
				if not++; not > len(rows)/unread {
					continue column
				}
			}
		}
		if values > 0 && not <= values/unread {
			n += 1 - float64(not)/float64(values)
		}
	}
	return n
}

// nulls are the texts of the known ones that rows have for no value, with the empty
// one; nil if it is the only one.
func nulls(rows [][]string) []string {
	found := []string{""}
	for _, row := range rows {
		for _, s := range row {
			if s != "" && missing[strings.ToLower(s)] && !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	}
	if len(found) == 1 {
		return nil
	}
	return found
}

// formText writes the table csv of a proposal, or nothing of the default form.
func formText(name string, f notation.Form, said map[string]string) string {
	var b strings.Builder
	line := func(key, value, mark string) {
		if value == "" {
			return
		}
		note := ""
		if said[key] != "" {
			note = "  # " + said[key]
		}
		fmt.Fprintf(&b, "%s = %s%s\n", key, quote(value+mark), note)
	}
	if f.Delimiter != 0 {
		line("delimiter", string(f.Delimiter), "?")
	}
	if f.Decimal != 0 {
		line("decimal", string(f.Decimal), "?")
	}
	line("thousands", f.Thousands, "?")
	line("date", f.Date.String(), "?")
	line("timestamp", f.Timestamp.String(), "?")
	line("encoding", string(f.Encoding), "?")
	if f.Null != nil {
		list := make([]string, len(f.Null))
		for i, s := range f.Null {
			list[i] = quote(s)
		}
		fmt.Fprintf(&b, "null = [%s]  # unquoted fields that are NULL\n", strings.Join(list, ", "))
	}
	if f.NoHeader {
		b.WriteString("header = \"?\"  # the first line looks like data: write false; if it names the columns write true, and the names below\n")
	}
	if b.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("\n[tables.%s.csv]  # how the file is written: seen from its form, not known\n%s", key(name), b.String())
}
