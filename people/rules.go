package people

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // hours are in a zone, and small systems have no list of zones

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
)

// Every rule restricts: those of an account and of all its groups hold together.

// Allows reports whether a table exists for the account.
func (a Account) Allows(table string) bool {
	return a.all(func(r *restrictions) bool { return r.tables == nil || r.tables[table] })
}

// Within reports whether the account may ask now.
func (a Account) Within(now time.Time) bool {
	return a.all(func(r *restrictions) bool { return r.hours == nil || r.hours.Within(now) })
}

func (a Account) all(holds func(*restrictions) bool) bool {
	return a.profile == nil || !slices.ContainsFunc(a.profile.bounds, func(b bounded) bool { return !holds(b.restrictions) })
}

// A Bound is a quota or a limit of one holder.
type Bound struct {
	Holder string
	ledger.Allowance
}

// Limits are what a statement about a domain may cost without an approval; the ledger
// holds charges against them.
func (a Account) Limits(domain string) (bounds []Bound) {
	if a.profile == nil {
		return nil
	}
	for _, b := range a.profile.bounds {
		if l, ok := b.limits[domain]; ok {
			bounds = append(bounds, Bound{b.holder, l})
		}
	}
	return bounds
}

// Spend is what a statement spends that names nothing; zero if the account has no such
// rule.
func (a Account) Spend() filter.Amounts {
	if a.profile == nil {
		return filter.Amounts{}
	}
	return a.profile.spend
}

// Hours are when somebody may ask: on some days of the week, from one time of the day until
// another, in a zone. A window that ends before it begins ends on the next day.
type Hours struct {
	Zone string   `json:"zone"`           // "Europe/Berlin"
	Days []string `json:"days,omitempty"` // "mon", ...; all if none
	From string   `json:"from"`           // "08:00"
	To   string   `json:"to"`             // "18:00", which is no longer within
}

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func (h *Hours) check() error {
	if _, err := h.location(); err != nil {
		return err
	}
	for _, d := range h.Days {
		if !slices.Contains(weekdays, d) {
			return fmt.Errorf("%q is not a day: the days are %s", d, strings.Join(weekdays, " "))
		}
	}
	from, err := minute(h.From)
	if err != nil {
		return err
	}
	to, err := minute(h.To)
	if err == nil && from == to {
		err = errors.New("the hours begin when they end")
	}
	return err
}

func (h *Hours) location() (*time.Location, error) {
	if h.Zone == "" || h.Zone == "Local" { // which depends on the machine
		return nil, errors.New("the hours name no zone")
	}
	return time.LoadLocation(h.Zone)
}

// minute is a time of the day, in minutes.
func minute(text string) (int, error) {
	if text == "24:00" {
		return 24 * 60, nil
	}
	t, err := time.Parse("15:04", text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time of the day, such as 08:30", text)
	}
	return t.Hour()*60 + t.Minute(), nil
}

// Within reports whether a time is in the hours, by the zone's clock. Hours that cannot be
// read contain no time.
func (h *Hours) Within(now time.Time) bool {
	zone, err := h.location()
	from, err1 := minute(h.From)
	to, err2 := minute(h.To)
	if errors.Join(err, err1, err2) != nil {
		return false
	}
	t := now.In(zone)
	at, day := t.Hour()*60+t.Minute(), int(t.Weekday())
	on := func(day int) bool { return len(h.Days) == 0 || slices.Contains(h.Days, weekdays[(day+7)%7]) }
	if from < to {
		return on(day) && from <= at && at < to
	}
	return on(day) && at >= from || on(day-1) && at < to
}

func (h *Hours) String() string {
	s := h.From + "-" + h.To + " " + h.Zone
	if len(h.Days) > 0 {
		s = strings.Join(h.Days, ",") + " " + s
	}
	return s
}
