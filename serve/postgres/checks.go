package postgres

import (
	"fmt"
	discreet "github.com/discreet-dp/discreet"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/sqltype"
)

// invalid is a value that a setting does not take.
func invalid(name, value, why string) *failure {
	return fail("22023", fmt.Sprintf("invalid value for parameter %q: %q", name, value)).reason(why)
}

func clip(s string) string {
	if utf8.RuneCountInString(s) > 80 {
		return string([]rune(s)[:80]) + "..."
	}
	return strings.ToValidUTF8(s, "?")
}

func fixed(name string) func(string) (string, *failure) {
	return func(string) (string, *failure) {
		return "", fail("55P02", fmt.Sprintf("parameter %q cannot be changed", name))
	}
}

// identity refuses to become somebody else; to stay who one is, is no change.
func identity(name string) func(string) (string, *failure) {
	return func(value string) (string, *failure) {
		if value == "none" || value == "default" || value == "" {
			return "none", nil
		}
		return "", fail("42501", fmt.Sprintf("parameter %q cannot be changed: a session is its account's", name))
	}
}

// only takes some spellings of one value.
func only(name, value string, spellings ...string) func(string) (string, *failure) {
	return func(given string) (string, *failure) {
		for _, s := range spellings {
			if strings.EqualFold(given, s) {
				return value, nil
			}
		}
		return "", invalid(name, clip(given), "the only value here is "+value)
	}
}

func encoding(value string) (string, *failure) {
	plain := strings.Map(func(r rune) rune { // as PostgreSQL compares names of encodings
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, value)
	switch plain {
	case "utf8", "unicode", "sqlascii", "":
		return "UTF8", nil
	}
	return "", invalid("client_encoding", clip(value), "texts are in UTF8").hint("set PGCLIENTENCODING=UTF8")
}

func dateStyle(value string) (string, *failure) {
	order := "MDY"
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }) {
		switch strings.ToUpper(word) {
		case "ISO":
		case "MDY", "US", "NONEURO", "NONEUROPEAN":
			order = "MDY"
		case "DMY", "EURO", "EUROPEAN":
			order = "DMY"
		case "YMD":
			order = "YMD"
		default:
			return "", invalid("DateStyle", clip(value), "dates are written as ISO 8601 has them")
		}
	}
	return "ISO, " + order, nil
}

// zone keeps the client's time zone, which decides nothing: no type here has one.
func zone(value string) (string, *failure) {
	if _, f := printable(value); f != nil || len(value) > 64 || value == "" {
		return "", invalid("TimeZone", clip(value), "")
	}
	return value, nil
}

func printable(value string) (string, *failure) {
	for _, r := range value {
		if !unicode.IsPrint(r) {
			return "", fail("22023", "the value has a character that cannot be printed")
		}
	}
	return value, nil
}

// milliseconds reads a time as PostgreSQL writes it: 5000, 5s, 1min.
func milliseconds(name string) func(string) (string, *failure) {
	return func(value string) (string, *failure) {
		text := strings.TrimSpace(value)
		digits := strings.TrimRightFunc(text, func(r rune) bool { return unicode.IsLetter(r) || r == ' ' })
		unit, ok := map[string]time.Duration{
			"": time.Millisecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
		}[strings.TrimSpace(text[len(digits):])]
		n, err := strconv.ParseInt(digits, 10, 32)
		ms := n * int64(unit) / int64(time.Millisecond)
		if !ok || err != nil || n < 0 || ms > 1<<31-1 {
			return "", invalid(name, clip(value), "it takes a time, such as 30s or a number of milliseconds")
		}
		return strconv.FormatInt(ms, 10), nil
	}
}

func boolean(name string) func(string) (string, *failure) {
	return func(value string) (string, *failure) {
		v, err := sqltype.ParseValue(sqltype.Of(sqltype.Boolean), value)
		if err != nil {
			return "", fail("22023", fmt.Sprintf("parameter %q requires a Boolean value", name))
		}
		if v == true {
			return "on", nil
		}
		return "off", nil
	}
}

// amount takes a budget number, as the decimal that is written. The empty text is none.
func amount[A interface{ Sign() int }](name string, parse func(string) (A, error)) func(string) (string, *failure) {
	return func(value string) (string, *failure) {
		value = strings.TrimSpace(value)
		if value == "" {
			return "", nil
		}
		if len(value) > 100 {
			return "", invalid(name, clip(value), "it is too long")
		}
		const way = "write a number above 0, such as 0.01; an empty text is none"
		switch a, err := parse(value); {
		case err != nil:
			return "", invalid(name, clip(value), err.Error()).hint(way)
		case a.Sign() <= 0:
			return "", invalid(name, clip(value), "nothing is answered for nothing").hint(way)
		}
		return value, nil
	}
}

func confidence(value string) (string, *failure) {
	value = strings.TrimSpace(value)
	if value == "" {
		return "", nil
	}
	if f, err := strconv.ParseFloat(value, 64); err != nil || !(f > 0 && f < 1) {
		return "", invalid("discreet.confidence", clip(value), "a confidence lies between 0 and 1").hint("write something like 0.95")
	}
	return value, nil
}

// accuracy takes the error that values may have. The empty text is none.
func accuracy(value string) (string, *failure) {
	value = strings.TrimSpace(value)
	if value == "" {
		return "", nil
	}
	const way = "write an error such as '150'; an empty text is none"
	if len(value) > 100 {
		return "", invalid("discreet.accuracy", clip(value), "it is too long").hint(way)
	}
	if _, err := discreet.ParseAccuracy(value); err != nil {
		return "", invalid("discreet.accuracy", clip(value), "it is no error that values may have").hint(way)
	}
	return value, nil
}

func weights(value string) (string, *failure) {
	if _, err := parseWeights(value); err != nil {
		return "", invalid("discreet.weights", clip(value), err.Error()).hint("write a number above 0 for each aggregate: '2,1,1'")
	}
	return strings.TrimSpace(value), nil
}

// parseWeights reads numbers between commas; none from the empty text.
func parseWeights(text string) ([]*big.Rat, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var all []*big.Rat
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		// A decimal of the widest type bounds digits and exponents.
		v, err := sqltype.ParseValue(sqltype.DecimalOf(38, 18), part)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", clip(part))
		}
		r := v.(sqltype.Decimal).Rat()
		if r.Sign() <= 0 {
			return nil, fmt.Errorf("%q is not above 0", clip(part))
		}
		all = append(all, r)
	}
	return all, nil
}
