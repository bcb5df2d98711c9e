package notation

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// A Pattern says how dates or timestamps are written, in PostgreSQL's words:
//
//	YYYY YY            years; of two digits 70 to 99 are 19xx, 00 to 69 are 20xx
//	MM Mon Month DD    months by number, three letters or name (English), days
//	HH24 HH12 HH MI SS hours, minutes, seconds
//	MS US AM PM        a fraction of three or six digits, the half of the day
//
// All else stands for itself, but letters, which stand in double quotes. Numbers may
// lack leading zeros where something stands between them. The zero Pattern is none.
type Pattern struct {
	text  string
	parts []part
}

// A part is a field of a pattern, or a literal.
type part struct {
	field   string // "" for a literal
	literal string
	digits  int  // at most
	exactly bool // no fewer: another number follows at once
}

var patternFields = []struct {
	name   string
	digits int
}{{"YYYY", 4}, {"YY", 2}, {"MONTH", 0}, {"MON", 0}, {"MM", 2}, {"DD", 2}, {"HH24", 2}, {"HH12", 2}, {"HH", 2}, {"MI", 2}, {"SS", 2}, {"MS", 3}, {"US", 6}, {"AM", 0}, {"PM", 0}}

// ParsePattern reads a pattern. A pattern of a date has a year, a month and a day.
func ParsePattern(text string) (Pattern, error) {
	p := Pattern{text: text}
	seen := map[string]bool{}
	literal := func(s string) {
		if n := len(p.parts); n > 0 && p.parts[n-1].field == "" {
			p.parts[n-1].literal += s
		} else {
			p.parts = append(p.parts, part{literal: s})
		}
	}
next:
	for rest := text; rest != ""; {
		for _, f := range patternFields {
			if len(rest) < len(f.name) || !strings.EqualFold(rest[:len(f.name)], f.name) {
				continue
			}
			name, kind := f.name, f.name
			switch f.name {
			case "YY":
				kind = "YYYY"
			case "MONTH", "MON":
				kind = "MM"
			case "HH24", "HH12":
				kind = "HH"
			case "HH":
				name = "HH12"
			case "PM":
				name, kind = "AM", "AM"
			case "US":
				kind = "MS"
			}
			if seen[kind] {
				return Pattern{}, fmt.Errorf("%q says twice what %s is", text, f.name)
			}
			seen[kind] = true
			if n := len(p.parts); n > 0 && p.parts[n-1].digits > 0 && f.digits > 0 {
				p.parts[n-1].exactly = true
			}
			p.parts = append(p.parts, part{field: name, digits: f.digits})
			rest = rest[len(f.name):]
			continue next
		}
		switch c := rest[0]; {
		case c == '"':
			end := strings.IndexByte(rest[1:], '"')
			if end < 0 {
				return Pattern{}, fmt.Errorf("%q leaves a quote open", text)
			}
			literal(rest[1 : 1+end])
			rest = rest[end+2:]
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' && !(c == 'T' && seen["DD"]):
			return Pattern{}, fmt.Errorf("%q has %q, which stands for nothing", text, rest[:1])
		default:
			literal(rest[:1])
			rest = rest[1:]
		}
	}
	if !seen["YYYY"] || !seen["MM"] || !seen["DD"] {
		return Pattern{}, fmt.Errorf("%q lacks a year, a month or a day", text)
	}
	if p.has("HH12") != p.has("AM") {
		return Pattern{}, fmt.Errorf("%q: HH12 and AM belong together; hours to 24 are HH24", text)
	}
	return p, nil
}

// IsZero reports whether the pattern is none.
func (p Pattern) IsZero() bool { return p.text == "" }

func (p Pattern) String() string { return p.text }

// HasTime reports whether the pattern has hours.
func (p Pattern) HasTime() bool { return p.has("HH24") || p.has("HH12") }

func (p Pattern) has(field string) bool {
	for _, q := range p.parts {
		if q.field == field {
			return true
		}
	}
	return false
}

var months = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// iso appends the date, or with time the timestamp, in ISO form.
func (p Pattern) iso(dst, s []byte, time bool) ([]byte, bool) {
	v := map[string]int{}
	for _, q := range p.parts {
		switch {
		case q.field == "":
			if !bytes.HasPrefix(s, []byte(q.literal)) {
				return dst, false
			}
			s = s[len(q.literal):]
		case q.digits > 0:
			n := min(digits(s), q.digits)
			if n == 0 || q.exactly && n < q.digits || q.digits == 4 && n < 4 || q.field == "YY" && n < 2 {
				return dst, false
			}
			value, err := strconv.Atoi(string(s[:n]))
			if err != nil {
				return dst, false
			}
			if q.field == "MS" || q.field == "US" { // a fraction: 5 is half a second
				for range 6 - n {
					value *= 10
				}
			}
			v[q.field], s = value, s[n:]
		default:
			value, n := word(q.field, s)
			if n == 0 {
				return dst, false
			}
			v[q.field], s = value, s[n:]
		}
	}
	if len(s) > 0 {
		return dst, false
	}
	year, month, hour, micros := v["YYYY"], max(v["MM"], v["MON"], v["MONTH"]), v["HH24"], max(v["MS"], v["US"])
	if p.has("YY") {
		if year = 2000 + v["YY"]; v["YY"] >= 70 {
			year = 1900 + v["YY"]
		}
	}
	if p.has("HH12") {
		if hour = v["HH12"]; hour < 1 || hour > 12 {
			return dst, false
		}
		hour = hour%12 + 12*v["AM"]
	}
	if year < 1 || month < 1 || month > 12 || v["DD"] < 1 || v["DD"] > 31 || hour > 23 || v["MI"] > 59 || v["SS"] > 59 {
		return dst, false
	}
	dst = fmt.Appendf(dst, "%04d-%02d-%02d", year, month, v["DD"])
	if time {
		dst = fmt.Appendf(dst, " %02d:%02d:%02d.%06d", hour, v["MI"], v["SS"], micros)
	}
	return dst, true
}

// word reads a month's name, or AM and PM as 0 and 1, and returns its length.
func word(field string, s []byte) (value, n int) {
	if field == "AM" {
		for i, half := range []string{"am", "pm"} {
			if len(s) >= 2 && strings.EqualFold(string(s[:2]), half) {
				return i, 2
			}
		}
		return 0, 0
	}
	for i, month := range months {
		if field == "MON" {
			month = month[:3]
		}
		if len(s) >= len(month) && strings.EqualFold(string(s[:len(month)]), month) {
			return i + 1, len(month)
		}
	}
	return 0, 0
}
