package people

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

func epsilon(text string) filter.Amounts {
	return filter.Amounts{Epsilon: must(privacy.ParseEpsilon(text))}
}

// All rules of an account and of its groups hold together, from the next statement of a
// session on.
func TestRulesRestrict(t *testing.T) {
	c := newClinic(t)
	ctx := t.Context()
	anna := must(c.SignIn(ctx, "anna", "anna's", ""))
	now := func() Account { t.Helper(); return must(anna.Current(ctx)) }
	if a := now(); !a.Allows("visits") || !a.Within(c.now()) || a.Limits("patient") != nil || len(a.Spend().Positive()) != 0 || !slices.Equal(a.Holders(), []string{"account:anna"}) {
		t.Errorf("without rules: %+v", a)
	}
	do := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	do(c.Tables(ctx, "shell", "anna", []string{"visits", "departments"}), c.Join(ctx, "shell", "anna", "nurses", true), c.Join(ctx, "shell", "anna", "abc", true))
	if a := now(); !a.Allows("visits") || a.Allows("bills") || a.Allows("VISITS") || !slices.Equal(a.Holders(), []string{"account:anna", "group:abc", "group:nurses"}) {
		t.Errorf("tables and groups: %v", a.Holders())
	}
	// A group's rule that is later than its members.
	do(c.Tables(ctx, "shell", "group:nurses", []string{"visits", "bills"}), c.Hours(ctx, "shell", "group:nurses", &Hours{Zone: "UTC", From: "08:00", To: "18:00"}),
		c.Limit(ctx, "shell", "anna", "patient", &ledger.Allowance{Amounts: epsilon("0.1")}), c.Limit(ctx, "shell", "group:nurses", "patient", &ledger.Allowance{Amounts: epsilon("0.05")}),
		c.Spending(ctx, "shell", "anna", epsilon("0.01")))
	a := now()
	if !a.Allows("visits") || a.Allows("bills") || a.Allows("departments") || !a.Within(c.now()) || a.Within(c.now().Add(8*time.Hour)) {
		t.Error("the group's rules do not hold")
	}
	if l := a.Limits("patient"); len(l) != 2 || l[0].Holder != "account:anna" || l[0].Epsilon.String() != "0.1" || l[1].Holder != "group:nurses" || l[1].Epsilon.String() != "0.05" {
		t.Errorf("limits: %+v", l)
	}
	if a.Spend().Epsilon.String() != "0.01" {
		t.Errorf("default: %+v", a.Spend())
	}
	do(c.Tables(ctx, "shell", "anna", []string{}))
	if now().Allows("visits") {
		t.Error("no table is allowed, and one is")
	}
	do(c.Tables(ctx, "shell", "anna", nil), c.Join(ctx, "shell", "anna", "nurses", false), c.Limit(ctx, "shell", "anna", "patient", nil), c.Spending(ctx, "shell", "anna", filter.Amounts{}))
	if a := now(); !a.Allows("departments") || !a.Within(c.now().Add(8*time.Hour)) || len(a.Limits("patient")) != 0 || len(a.Spend().Positive()) != 0 {
		t.Error("what was lifted holds")
	}
	olga := must(c.SignIn(ctx, "olga", "olga's", ""))
	if len(olga.Limits("patient")) != 0 || len(olga.Holders()) != 1 {
		t.Error("another's rules hold")
	}
	for name, err := range map[string]error{
		"of nobody":     c.Tables(ctx, "shell", "nobody", nil),
		"of no group":   c.Tables(ctx, "shell", "group:", nil),
		"of no domain":  c.Quota(ctx, "shell", "anna", "doctor", &ledger.Allowance{Amounts: epsilon("1")}),
		"in rho":        c.Quota(ctx, "shell", "anna", "patient", &ledger.Allowance{Amounts: filter.Amounts{Rho: must(privacy.ParseRho("1"))}}),
		"of nothing":    c.Quota(ctx, "shell", "anna", "patient", &ledger.Allowance{}),
		"local time":    c.Hours(ctx, "shell", "anna", &Hours{Zone: "Local", From: "08:00", To: "18:00"}),
		"no zone":       c.Hours(ctx, "shell", "anna", &Hours{From: "08:00", To: "18:00"}),
		"unknown zone":  c.Hours(ctx, "shell", "anna", &Hours{Zone: "Europe/Atlantis", From: "08:00", To: "18:00"}),
		"no hours":      c.Hours(ctx, "shell", "anna", &Hours{Zone: "UTC", From: "08:00", To: "08:00"}),
		"bad hours":     c.Hours(ctx, "shell", "anna", &Hours{Zone: "UTC", From: "08:60", To: "18:00"}),
		"unknown day":   c.Hours(ctx, "shell", "anna", &Hours{Zone: "UTC", Days: []string{"Monday"}, From: "08:00", To: "18:00"}),
		"expired token": func() error { _, err := c.AddToken(ctx, "shell", "anna", "x", c.now()); return err }(),
		"token's label": func() error { _, err := c.AddToken(ctx, "shell", "anna", "x\u202e", c.now().Add(1)); return err }(),
	} {
		if err == nil {
			t.Errorf("%s: recorded", name)
		}
	}
	if err := c.ledger.Verify(ctx); err != nil {
		t.Error(err)
	}
}

// A rule that this version does not know lets nobody in: what it forbids is not known.
func TestUnknownRulesFailClosed(t *testing.T) {
	for _, subject := range []string{"account:anna", "group:nurses"} {
		c := newClinic(t)
		anna := must(c.SignIn(t.Context(), "anna", "anna's", ""))
		if err := c.ledger.SetRules(t.Context(), "later", c.now(), ledger.Rule{Subject: subject, Name: "floors", Body: json.RawMessage("3")}); err != nil {
			t.Fatal(err)
		}
		if err := anna.Valid(t.Context()); err == nil {
			t.Errorf("%s: the session goes on", subject)
		}
		if _, err := c.SignIn(t.Context(), "anna", "anna's", ""); err == nil {
			t.Errorf("%s: signed in", subject)
		}
	}
}

func TestHours(t *testing.T) {
	berlin := must(time.LoadLocation("Europe/Berlin"))
	day := Hours{Zone: "Europe/Berlin", Days: []string{"mon", "fri"}, From: "08:00", To: "18:00"}
	night := Hours{Zone: "Europe/Berlin", Days: []string{"fri"}, From: "22:00", To: "06:00"}
	whole := Hours{Zone: "Europe/Berlin", From: "00:00", To: "24:00"}
	at := func(d, h, m int) time.Time { return time.Date(2026, 3, d, h, m, 0, 0, berlin).UTC() }
	for _, tc := range []struct {
		hours Hours
		at    time.Time
		want  bool
	}{
		{day, at(2, 8, 0), true}, {day, at(2, 7, 59), false}, {day, at(2, 17, 59), true}, {day, at(2, 18, 0), false}, {day, at(3, 12, 0), false},
		{day, time.Date(2026, 3, 2, 7, 0, 0, 0, time.UTC), true},    // winter: 08:00
		{day, time.Date(2026, 3, 30, 6, 0, 0, 0, time.UTC), true},   // summer: 08:00
		{day, time.Date(2026, 3, 30, 16, 0, 0, 0, time.UTC), false}, // summer: 18:00
		{night, at(6, 22, 0), true}, {night, at(6, 21, 59), false}, {night, at(7, 5, 59), true}, {night, at(7, 6, 0), false}, {night, at(6, 3, 0), false}, {night, at(8, 3, 0), false},
		{whole, at(5, 0, 0), true}, {whole, at(5, 23, 59), true},
		{Hours{Zone: "nowhere", From: "00:00", To: "24:00"}, at(5, 12, 0), false}, {Hours{}, at(5, 12, 0), false},
	} {
		if got := tc.hours.Within(tc.at); got != tc.want {
			t.Errorf("%v at %v: %v", &tc.hours, tc.at.In(berlin), got)
		}
	}
}

// Owners see what was asked with nothing hidden in it, what it costs and what remains;
// quotas of a session's account hold in the ledger.
func TestApprovals(t *testing.T) {
	c := newClinic(t)
	ctx := t.Context()
	if err := errors.Join(c.Limit(ctx, "shell", "anna", "patient", &ledger.Allowance{Amounts: epsilon("0.1")}), c.Quota(ctx, "shell", "anna", "patient", &ledger.Allowance{Amounts: epsilon("0.5")})); err != nil {
		t.Fatal(err)
	}
	anna := must(c.SignIn(ctx, "anna", "anna's", ""))
	r := ledger.Request{Domain: "patient", Analyst: anna.Name, Holders: anna.Holders(), Rules: anna.Seen(), Statement: "SELECT 1 -- \u202etxt", Repetition: []byte("p"), Catalog: []byte("c"),
		Events: []privacy.Event{privacy.Pure{Epsilon: must(privacy.ParseEpsilon("0.2"))}}, Now: c.now()}
	if _, err := c.ledger.Reserve(ctx, r); !errors.Is(err, ledger.ErrLimit) {
		t.Fatalf("over the limit: %v", err)
	}
	asked := must(c.Ask(ctx, r, "SELECT 1\x1b[2J"))
	all := must(c.Approvals(ctx, false))
	if len(all) != 1 || all[0].ID != asked.ID || all[0].Canonical != `SELECT 1\u{1B}[2J` || all[0].Statement != `SELECT 1 -- \u{202E}txt` ||
		all[0].Remaining.Epsilon.String() != "1" || all[0].Holding.Left.Epsilon.String() != "0.5" || all[0].Charge.Epsilon.String() != "0.2" {
		t.Errorf("what the owner sees: %+v", all)
	}
	if err := c.Deny(ctx, "olga", asked.ID, "why so much?"); err != nil {
		t.Fatal(err)
	}
	if again := must(c.Ask(ctx, r, "")); again.Status != ledger.Denied || again.Why != "why so much?" {
		t.Errorf("what anna is told: %+v", again)
	}
	if err := c.Grant(ctx, "olga", asked.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ledger.Reserve(ctx, r); err != nil {
		t.Errorf("granted: %v", err)
	}
	if len(must(c.Approvals(ctx, false))) != 0 || len(must(c.Approvals(ctx, true))) != 1 {
		t.Error("what was used is pending")
	}
	if err := c.Disable(ctx, "shell", "anna"); err != nil {
		t.Fatal(err)
	}
	r.Fresh = true
	if _, err := c.ledger.Reserve(ctx, r); !errors.Is(err, ledger.ErrRulesChanged) {
		t.Errorf("a statement that was under way when anna was disabled: %v", err)
	}
}

func TestShown(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 'ü' -- 数\n\t": "SELECT 'ü' -- 数\n\t", "a\x00\x1b\x7f": `a\u{0}\u{1B}\u{7F}`, "\u202e\u2066\u200b\u200f\ufeff": `\u{202E}\u{2066}\u{200B}\u{200F}\u{FEFF}`,
		"a\u00a0b\u2028": `a\u{A0}b\u{2028}`, "\xff": `\u{FFFD}`, "\r": `\u{D}`,
	} {
		if got := Shown(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

// BenchmarkCurrent is what a door does before every statement.
func BenchmarkCurrent(b *testing.B) {
	c := newClinic(b)
	anna := must(c.SignIn(b.Context(), "anna", "anna's", ""))
	b.ResetTimer()
	for b.Loop() {
		if err := anna.Valid(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
