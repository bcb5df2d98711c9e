package bind

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/sqltype"
)

// parseConstant reads a quoted constant of a type as PostgreSQL does; why is
// empty on success. Dates and times are ISO.
func parseConstant(t sqltype.Type, s string) (v sqltype.Value, why string) {
	if t.Kind == sqltype.Text {
		return s, ""
	}
	s = strings.Trim(s, " \t\n\r\f\v")
	switch t.Kind {
	case sqltype.IntervalKind:
		return parseInterval(s)
	case sqltype.DecimalKind:
		return parseNumeric(t, s)
	case sqltype.Boolean:
		return parseBoolean(s)
	case sqltype.TimestampKind:
		if m := zoned.FindStringSubmatch(s); m != nil {
			s = m[1] + " " + m[2]
		}
	case sqltype.DateKind:
		if m := zoned.FindStringSubmatch(s); m != nil {
			if _, err := sqltype.ParseValue(sqltype.Of(sqltype.TimestampKind), m[1]+" "+m[2]); err == nil {
				s = m[1]
			}
		}
	}
	v, err := sqltype.ParseValue(t, s)
	if err != nil {
		// The message of ParseValue repeats the constant and the type.
		_, why, _ = strings.Cut(err.Error(), ": ")
		return nil, why
	}
	return v, ""
}

// zoned is a point in time with the time of day, and perhaps a zone, as drivers write it. What has no
// zone passes over one, as in PostgreSQL: '2025-06-01 12:00:00+02' as a timestamp is noon, as a date
// that day.
var zoned = regexp.MustCompile(`^(\d{4,6}-\d{1,2}-\d{1,2})[Tt ] *(\d{1,2}:\d{2}(?::\d{2}(?:\.\d*)?)?) *(?:[Zz]|UTC|GMT|[+-](?:0?\d|1[0-5])(?::?[0-5]\d(?::?[0-5]\d)?)?)?$`)

// parseBoolean reads any unique prefix of true, false, yes, no, on, off, 1, 0.
func parseBoolean(s string) (sqltype.Value, string) {
	s = strings.ToLower(s)
	for word, v := range map[string]bool{"true": true, "yes": true, "on": true, "1": true, "false": false, "no": false, "off": false, "0": false} {
		if s != "" && s != "o" && strings.HasPrefix(word, s) {
			return v, ""
		}
	}
	return nil, "want true or false"
}

// parseNumeric rounds half away from zero to the type's scale.
func parseNumeric(t sqltype.Type, s string) (sqltype.Value, string) {
	if _, ok := decimalTypeOf(s); !ok {
		return nil, "it has more than 38 digits"
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || strings.ContainsAny(s, "/_xXpP") {
		return nil, "want a decimal number"
	}
	v, err := sqltype.ParseValue(t, r.FloatString(int(t.Scale)))
	if err != nil {
		return nil, "it does not fit"
	}
	return v, ""
}

var (
	intervalPart = regexp.MustCompile(`^\s*([+-]?)\s*(\d{1,18})(?:\.(\d{1,6})\d*)?\s*([a-z]+)`)
	intervalTime = regexp.MustCompile(`^\s*([+-]?)\s*(\d{1,9}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?`)
)

// intervalUnits gives each unit in months, days or microseconds.
var intervalUnits = map[string]sqltype.Interval{
	"microsecond": {Micros: 1}, "us": {Micros: 1},
	"millisecond": {Micros: 1000}, "ms": {Micros: 1000},
	"second": {Micros: 1e6}, "sec": {Micros: 1e6}, "s": {Micros: 1e6},
	"minute": {Micros: 60e6}, "min": {Micros: 60e6}, "m": {Micros: 60e6},
	"hour": {Micros: 3600e6}, "hr": {Micros: 3600e6}, "h": {Micros: 3600e6},
	"day": {Days: 1}, "d": {Days: 1}, "week": {Days: 7}, "w": {Days: 7},
	"month": {Months: 1}, "mon": {Months: 1},
	"year": {Months: 12}, "yr": {Months: 12}, "y": {Months: 12},
	"decade": {Months: 120}, "century": {Months: 1200}, "centurie": {Months: 1200}, "millennium": {Months: 12000},
}

// parseInterval reads "1 year 2 days 03:04:05.6", with "ago". Fractions are
// for seconds, minutes and hours alone.
func parseInterval(text string) (sqltype.Value, string) {
	s, ago := strings.CutSuffix(strings.ToLower(text), " ago")
	var months, days, micros big.Int
	add := func(total *big.Int, n, unit int64, sign string) {
		d := new(big.Int).Mul(big.NewInt(n), big.NewInt(unit))
		if sign == "-" {
			d.Neg(d)
		}
		total.Add(total, d)
	}
	atoi := func(s string) int64 { n, _ := strconv.ParseInt(s, 10, 64); return n }
	fraction := func(digits string) int64 { return atoi((digits + "000000")[:6]) }
	if strings.TrimSpace(s) == "" {
		return nil, "want a number and a unit, as in 1 day"
	}
	for strings.TrimSpace(s) != "" {
		if m := intervalTime.FindStringSubmatch(s); m != nil {
			add(&micros, atoi(m[2]), 3600e6, m[1])
			add(&micros, atoi(m[3]), 60e6, m[1])
			add(&micros, atoi("0"+m[4])*1e6+fraction(m[5]), 1, m[1])
			s = s[len(m[0]):]
			continue
		}
		m := intervalPart.FindStringSubmatch(s)
		if m == nil {
			return nil, "want a number and a unit, as in 1 day"
		}
		u, ok := intervalUnits[m[4]]
		if !ok {
			u, ok = intervalUnits[strings.TrimSuffix(m[4], "s")]
		}
		if !ok {
			return nil, "unknown unit " + m[4]
		}
		if m[3] != "" && u.Micros < 1e6 {
			return nil, "only seconds, minutes and hours may have a fraction"
		}
		add(&months, atoi(m[2]), int64(u.Months), m[1])
		add(&days, atoi(m[2]), int64(u.Days), m[1])
		add(&micros, atoi(m[2]), u.Micros, m[1])
		if m[3] != "" {
			add(&micros, fraction(m[3]), u.Micros/1e6, m[1])
		}
		s = s[len(m[0]):]
	}
	if ago {
		months.Neg(&months)
		days.Neg(&days)
		micros.Neg(&micros)
	}
	// Ten thousand years cover the calendar; larger intervals lead nowhere.
	if months.CmpAbs(big.NewInt(120_000)) > 0 || days.CmpAbs(big.NewInt(3_700_000)) > 0 || micros.CmpAbs(big.NewInt(math.MaxInt64/16)) > 0 {
		return nil, "it is longer than 10,000 years"
	}
	return sqltype.Interval{Months: int32(months.Int64()), Days: int32(days.Int64()), Micros: micros.Int64()}, ""
}
