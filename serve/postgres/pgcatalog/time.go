package pgcatalog

import (
	"math/big"
	"strings"
	"time"
)

// field is a field of a date or of a timestamp, all of which are in UTC; nil of what is none.
func field(a []any) any {
	text, ok := a[1].(string)
	if !ok {
		return nil
	}
	at, err := time.Parse(timestamp, strings.TrimSuffix(text, "+00"))
	if err != nil {
		if at, err = time.Parse(time.DateOnly, text); err != nil {
			return nil
		}
	}
	seconds := big.NewRat(int64(at.Nanosecond()), 1e9)
	whole := func(n int) any { return big.NewRat(int64(n), 1) }
	switch name, _ := a[0].(string); strings.ToLower(name) {
	case "timezone", "timezone_hour", "timezone_minute":
		return whole(0)
	case "epoch":
		return seconds.Add(seconds, big.NewRat(at.Unix(), 1))
	case "year":
		return whole(at.Year())
	case "quarter":
		return whole((int(at.Month()) + 2) / 3)
	case "month":
		return whole(int(at.Month()))
	case "day":
		return whole(at.Day())
	case "dow":
		return whole(int(at.Weekday()))
	case "doy":
		return whole(at.YearDay())
	case "hour":
		return whole(at.Hour())
	case "minute":
		return whole(at.Minute())
	case "second":
		return seconds.Add(seconds, big.NewRat(int64(at.Second()), 1))
	}
	return nil
}

func moment(q *query, _ *invocation, _ []any) any { return q.now().Format(timestamp) + "+00" }
