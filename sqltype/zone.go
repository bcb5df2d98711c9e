package sqltype

import (
	"regexp"
	"strconv"
	"strings"
)

// zoned is a point in time with a zone that is an offset, or UTC.
var zoned = regexp.MustCompile(`^(\d{4,6}-\d{1,2}-\d{1,2})[Tt ] *(\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) *(?:[Zz]|UTC|GMT|([+-])(\d{1,2})(?::?([0-5]\d)(?::?([0-5]\d))?)?)$`)

// InUTC returns a point in time with a zone as the text of a timestamp in UTC; a text of another form
// as it is, and false.
func InUTC(text string) (string, bool) {
	m := zoned.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return text, false
	}
	v, err := ParseValue(Of(TimestampKind), m[1]+" "+m[2])
	at, ok := v.(Timestamp)
	if err != nil || !ok {
		return text, false
	}
	part := func(s string) int64 { n, _ := strconv.ParseInt("0"+s, 10, 64); return n }
	hours := part(m[4])
	if hours > 15 { // as in PostgreSQL
		return text, false
	}
	offset := ((hours*60+part(m[5]))*60 + part(m[6])) * 1_000_000
	if m[3] == "-" {
		offset = -offset
	}
	utc := Format(at - Timestamp(offset))
	if v, err := ParseValue(Of(TimestampKind), utc); err != nil || v != at-Timestamp(offset) { // beyond all times
		return text, false
	}
	return utc, true
}
