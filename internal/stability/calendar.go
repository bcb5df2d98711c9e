package stability

import (
	"time"

	"github.com/discreet-dp/discreet/sqltype"
)

// The calendar of the engines: the years 1 to 9999, in days since 1970.
const (
	firstDay  = -719162
	lastDay   = 2932896
	dayMicros = 86_400_000_000
)

func instant(t sqltype.Timestamp) time.Time { return time.UnixMicro(int64(t)).UTC() }

func stampOf(t time.Time) sqltype.Timestamp { return sqltype.Timestamp(t.UnixMicro()) }

func dayOf(t sqltype.Timestamp) int64 { return floorDivide(int64(t), dayMicros) }

func floorDivide(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// even are the units of date_trunc that have one length, in microseconds.
var even = map[string]int64{
	"microseconds": 1, "milliseconds": 1000, "second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": dayMicros, "week": 7 * dayMicros,
}

// truncated is date_trunc; false of a unit that this package does not know.
func truncated(unit string, t sqltype.Timestamp) (sqltype.Timestamp, bool) {
	if length, ok := even[unit]; ok {
		shift := int64(0)
		if unit == "week" { // from Monday; 1970-01-01 was a Thursday
			shift = 3 * dayMicros
		}
		return sqltype.Timestamp(floorDivide(int64(t)+shift, length)*length - shift), true
	}
	at := instant(t)
	year, month := at.Year(), at.Month()
	switch unit {
	case "month":
	case "quarter":
		month -= (month - 1) % 3
	case "year":
		month = 1
	case "decade":
		year, month = year-year%10, 1
	default:
		return 0, false
	}
	return stampOf(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)), true
}

// following is the start of the unit of date_trunc after the one that starts at t.
func following(unit string, t sqltype.Timestamp) (sqltype.Timestamp, bool) {
	if length, ok := even[unit]; ok {
		return t + sqltype.Timestamp(length), true
	}
	months, ok := map[string]int{"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit]
	return stampOf(instant(t).AddDate(0, months, 0)), ok
}

// fieldOf is a whole field of extract; false of one that this package does not know.
func fieldOf(field string, t sqltype.Timestamp) (int64, bool) {
	at := instant(t)
	switch field {
	case "year":
		return int64(at.Year()), true
	case "decade":
		return int64(at.Year() / 10), true
	case "isoyear":
		year, _ := at.ISOWeek()
		return int64(year), true
	case "quarter":
		return int64(at.Month()-1)/3 + 1, true
	case "month":
		return int64(at.Month()), true
	case "week":
		_, week := at.ISOWeek()
		return int64(week), true
	case "day":
		return int64(at.Day()), true
	case "doy":
		return int64(at.YearDay()), true
	case "dow":
		return int64(at.Weekday()), true
	case "isodow":
		return int64(at.Weekday()+6)%7 + 1, true
	case "hour":
		return int64(at.Hour()), true
	case "minute":
		return int64(at.Minute()), true
	}
	return 0, false
}

// grows reports whether a field of extract never falls as time passes.
func grows(field string) bool {
	return field == "year" || field == "decade" || field == "isoyear"
}

// shifted adds an interval as PostgreSQL does: months first, which end at the last day of a
// shorter month, then days, then the rest.
func shifted(t sqltype.Timestamp, i sqltype.Interval) (sqltype.Timestamp, bool) {
	at := instant(t)
	first := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, int(i.Months), 0)
	last := first.AddDate(0, 1, -1).Day()
	day := first.AddDate(0, 0, min(at.Day(), last)-1+int(i.Days))
	if y := day.Year(); y < -100_000 || y > 100_000 {
		return 0, false
	}
	within := int64(t) - dayOf(t)*dayMicros
	sum := day.UnixMicro() + within
	if i.Micros > 0 && sum > 1<<62-i.Micros || i.Micros < 0 && sum < -1<<62-i.Micros || i.Micros > 1<<61 || i.Micros < -1<<61 {
		return 0, false
	}
	return sqltype.Timestamp(sum + i.Micros), true
}
