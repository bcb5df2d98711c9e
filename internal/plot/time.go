package plot

import (
	"math"
	"time"
)

// A pace is how far apart the ticks of an axis of time are: some seconds, or some months.
type pace struct {
	seconds float64
	months  int
	layout  string // of the labels
}

const (
	minute = 60.0
	hour   = 60 * minute
	day    = 24 * hour
	month  = 365.2425 / 12 * day
)

// paces are round in hours, days, months and years, the shortest first.
var paces = []pace{
	{1, 0, "15:04:05"}, {5, 0, "15:04:05"}, {15, 0, "15:04:05"}, {30, 0, "15:04:05"},
	{minute, 0, "15:04"}, {5 * minute, 0, "15:04"}, {15 * minute, 0, "15:04"}, {30 * minute, 0, "15:04"},
	{hour, 0, "15:04"}, {3 * hour, 0, "15:04"}, {6 * hour, 0, "01-02 15:04"}, {12 * hour, 0, "01-02 15:04"},
	{day, 0, "2006-01-02"}, {2 * day, 0, "2006-01-02"}, {7 * day, 0, "2006-01-02"},
	{month, 1, "2006-01"}, {3 * month, 3, "2006-01"}, {6 * month, 6, "2006-01"},
	{12 * month, 12, "2006"}, {24 * month, 24, "2006"}, {60 * month, 60, "2006"}, {120 * month, 120, "2006"},
	{240 * month, 240, "2006"}, {600 * month, 600, "2006"}, {1200 * month, 1200, "2006"},
}

// moments returns round moments from at most lo to at least hi, in seconds: of a clock, or
// since 1970.
func moments(lo, hi float64, n int, clock bool) []tick {
	if math.Abs(lo) > 1e12 || math.Abs(hi) > 1e12 || hi-lo < 1 {
		return linear(lo, hi, n) // no calendar reaches so far
	}
	p := paces[len(paces)-1]
	for _, slow := range paces {
		if slow.seconds*float64(n) >= hi-lo {
			p = slow
			break
		}
	}
	if clock {
		switch {
		case p.seconds > 12*hour:
			p = pace{seconds: 12 * hour}
		case hi-lo > 12*hour && p.seconds < 3*hour:
			p = pace{seconds: 3 * hour}
		}
		if p.layout = "15:04"; p.seconds < minute {
			p.layout = "15:04:05"
		}
	}
	return p.ticks(lo, hi, clock)
}

func (p pace) ticks(lo, hi float64, clock bool) (ticks []tick) {
	layout := p.layout
	if first, last := time.Unix(int64(math.Floor(lo)), 0).UTC(), time.Unix(int64(hi), 0).UTC(); !clock && p.seconds < day && first.YearDay() != last.YearDay() {
		layout = "01-02 15:04"
	}
	monday := 0.0
	if p.seconds == 7*day && !clock {
		monday = 4 * day // 1970 began on a Thursday
	}
	at := time.Unix(int64(math.Floor((lo-monday)/p.seconds)*p.seconds+monday), 0).UTC()
	if p.months > 0 {
		first := time.Unix(int64(math.Floor(lo)), 0).UTC()
		months := 12*first.Year() + int(first.Month()) - 1
		at = time.Date(0, time.Month(months-months%p.months+1), 1, 0, 0, 0, 0, time.UTC)
	}
	for len(ticks) < 1000 {
		place := float64(at.Unix())
		label := at.Format(layout)
		if clock && place >= day {
			label = "24:00"
		}
		ticks = append(ticks, tick{place, label})
		if place >= hi {
			break
		}
		if p.months > 0 {
			at = at.AddDate(0, p.months, 0)
		} else {
			at = at.Add(time.Duration(p.seconds) * time.Second)
		}
	}
	return ticks
}
