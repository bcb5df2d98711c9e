package ledger

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var visits = []Guarded{{Source: "visits.csv", Unit: `"patient_id"`}, {Source: "bills.csv", Unit: `"patient_id"`}}

// guarding is the domain patient, guarding sources.
func guarding(sources ...Guarded) DomainBudget {
	d := patient
	d.Guards = append([]Guarded{}, sources...)
	return d
}

// Attack J1: whatever changes of what a domain guards is refused, by Check and by a
// reservation under way, until it is confirmed; what means the same is not.
func TestJ1ChangedGuard(t *testing.T) {
	two := guarding(visits...)
	for name, tc := range map[string]struct {
		now  DomainBudget
		same bool
	}{
		"the same":                {guarding(visits...), true},
		"in another order":        {guarding(visits[1], visits[0]), true},
		"one named twice":         {guarding(visits[0], visits[1], visits[0]), true},
		"another source":          {guarding(visits[0], Guarded{Source: "bills2.csv", Unit: visits[1].Unit}), false},
		"a source in a folder":    {guarding(visits[0], Guarded{Source: "more/bills.csv", Unit: visits[1].Unit}), false},
		"a source less":           {guarding(visits[0]), false},
		"none":                    {guarding(), false},
		"a source more":           {guarding(visits[0], visits[1], Guarded{Source: "beds.csv", Unit: visits[0].Unit}), false},
		"a finer unit":            {guarding(visits[0], Guarded{Source: "bills.csv", Unit: "the row"}), false},
		"another unit":            {guarding(visits[0], Guarded{Source: "bills.csv", Unit: `"bill_id"`}), false},
		"units exchanged":         {guarding(Guarded{Source: "visits.csv", Unit: "the row"}, visits[1]), false},
		"in a second domain":      {guarding(visits[0], Guarded{Source: "bills.csv", Unit: visits[1].Unit, AlsoIn: []string{"visitor"}}), false},
		"a source that runs on":   {guarding(visits[0], Guarded{Source: "bills.csv (unit", Unit: visits[1].Unit}), false},
		"case of a unit's column": {guarding(visits[0], Guarded{Source: "bills.csv", Unit: `"Patient_id"`}), false},
	} {
		t.Run(name, func(t *testing.T) {
			l, path := create(t, Options{Domains: []DomainBudget{two, visitor}})
			r := ask("0.1")
			r.Guard = two.Guard()
			must(l.Reserve(ctx, r))

			var differs *GuardError
			err := l.Check(ctx, []DomainBudget{tc.now, visitor})
			if tc.same {
				if err != nil {
					t.Errorf("checked: %v", err)
				}
				if said := must(l.Confirm(ctx, tc.now, "", now)); said != "" {
					t.Errorf("confirmed though nothing changed: %s", said)
				}
				return
			}
			if !errors.As(err, &differs) || !errors.Is(err, ErrGuardDiffers) || differs.Unsaid || len(differs.Now)+len(differs.Before) == 0 {
				t.Fatalf("checked: %v", err)
			}
			if _, err := Open(ctx, path, Options{Domains: []DomainBudget{tc.now}}); !errors.Is(err, ErrGuardDiffers) {
				t.Errorf("opened: %v", err)
			}
			r.Guard = tc.now.Guard()
			if _, err := l.Reserve(ctx, r); !errors.Is(err, ErrGuardDiffers) {
				t.Errorf("reserved: %v", err)
			}
			before := must(l.Balance(ctx, "patient")).Spent.Epsilon
			if said := must(l.Confirm(ctx, tc.now, "it moved", now)); said == "" {
				t.Error("confirmed nothing")
			}
			if err := l.Check(ctx, []DomainBudget{tc.now}); err != nil {
				t.Errorf("confirmed, and then: %v", err)
			}
			must(l.Reserve(ctx, r))
			r.Guard = two.Guard() // of a process that goes on with the catalog that was
			if _, err := l.Reserve(ctx, r); !errors.Is(err, ErrGuardDiffers) {
				t.Errorf("reserved by the former catalog: %v", err)
			}
			if spent := must(l.Balance(ctx, "patient")).Spent.Epsilon; !spent.Equal(before.Add(eps("0.1"))) {
				t.Errorf("%v spent, and then %v", before, spent)
			}
			history := must(l.History(ctx))
			at := slices.IndexFunc(history, func(e Entry) bool { return e.Kind == kindGuard })
			if at < 0 || history[at].Note != "it moved" || !slices.EqualFunc(history[at].Guards, ordered(tc.now.Guards), Guarded.equal) {
				t.Errorf("the history has %+v", history)
			}
			l.verifyOrFail(t)
		})
	}
}

// Attack J2: data that one domain guards, or has guarded, get no second budget in
// another, unless the owner's catalog says of one that it is in both.
func TestJ2SecondDomain(t *testing.T) {
	second := visitor
	second.Guards = []Guarded{{Source: "visits.csv", Unit: "the row"}}
	said := second
	said.Guards = []Guarded{{Source: "visits.csv", Unit: "the row", AlsoIn: []string{"patient"}}}

	// As it is created, as it is added, as it is confirmed; and though the first has let go of it.
	if _, err := Create(ctx, filepath.Join(t.TempDir(), "l"), Options{Domains: []DomainBudget{guarding(visits...), second}, Now: now}); !errors.Is(err, ErrSecondDomain) {
		t.Errorf("created: %v", err)
	}
	l, _ := create(t, Options{Domains: []DomainBudget{guarding(visits...)}})
	if err := l.AddDomain(ctx, second, now); !errors.Is(err, ErrSecondDomain) {
		t.Errorf("added: %v", err)
	}
	empty := visitor
	empty.Guards = []Guarded{}
	if err := l.AddDomain(ctx, empty, now); err != nil {
		t.Fatal(err)
	}
	must(l.Confirm(ctx, guarding(visits[1]), "visits moves", now))
	if _, err := l.Confirm(ctx, second, "", now); !errors.Is(err, ErrSecondDomain) {
		t.Errorf("confirmed: %v", err)
	}
	if must(l.Confirm(ctx, said, "", now)) == "" {
		t.Error("the owner's word is not recorded")
	}
	// The other way round: the first domain's word.
	word := guarding(Guarded{Source: "visits.csv", Unit: visits[0].Unit, AlsoIn: []string{"visitor"}})
	l, _ = create(t, Options{Domains: []DomainBudget{word, second}})
	l.verifyOrFail(t)
}

// Attack J3: what a domain guards is not declared public.
func TestJ3GuardedAndPublic(t *testing.T) {
	l, _ := create(t, Options{Domains: []DomainBudget{guarding(visits...)}})
	if err := l.CheckPublic(ctx, []string{"departments.csv"}); err != nil {
		t.Error(err)
	}
	if err := l.CheckPublic(ctx, []string{"departments.csv", "visits.csv"}); !errors.Is(err, ErrGuardDiffers) {
		t.Errorf("a guarded source is public: %v", err)
	}
	must(l.Confirm(ctx, guarding(visits[1]), "", now))
	if err := l.CheckPublic(ctx, []string{"visits.csv"}); err != nil {
		t.Errorf("after the owner's word: %v", err)
	}
}

// Attack J7: a pattern is guarded, and what has some of its files is declared public, or gets
// a second budget.
func TestJ7NarrowerSources(t *testing.T) {
	for _, tc := range []struct {
		guarded, other string
		shares         bool
	}{
		{"v/*.csv", "v/2024.csv", true},
		{"v/*.csv", "v/2024-*.csv", true},
		{"v/**/*.csv", "v/2024/*.csv", true},
		{"v/2024.csv", "v/*.csv", true},
		{"v/year=*/*.parquet", "v/year=2024/*.parquet", true},
		{"v/year=*/*.parquet", "v/year=2024/part-0.parquet", true},
		{"v/year=*/*.parquet", "v/*/part-?.parquet", true},
		{"visits.duckdb#visits", "visits.duckdb#departments", false},
		{"visits.duckdb#visits", "*.duckdb", true},
		{"visits.duckdb#visits", "visits.duckdb#main.visits", true},
		{"visits.duckdb#visits", "visits.duckdb#main.revisits", false},
		{"v/*.csv", "departments.csv", false},
		{"v/*.csv", "v/departments/all.csv", false},
		{"v/year=*/*.parquet", "v/year=2024/month=1/*.parquet", false},
		{"v/[0-9]*.csv", "v/departments.csv", false},
	} {
		guarded := Guarded{Source: tc.guarded, Unit: "the row"}
		l, _ := create(t, Options{Domains: []DomainBudget{guarding(guarded)}})
		if err := l.CheckPublic(ctx, []string{tc.other}); errors.Is(err, ErrGuardDiffers) != tc.shares || err != nil && !tc.shares {
			t.Errorf("%s is guarded, and %s public: %v", tc.guarded, tc.other, err)
		}
		second := visitor
		second.Guards = []Guarded{{Source: tc.other, Unit: "the row"}}
		if err := l.AddDomain(ctx, second, now); errors.Is(err, ErrSecondDomain) != tc.shares || err != nil && !tc.shares {
			t.Errorf("%s is guarded, and %s another domain's: %v", tc.guarded, tc.other, err)
		}
		second.Guards[0].AlsoIn = []string{"patient"}
		if tc.shares {
			if err := l.AddDomain(ctx, second, now); err != nil {
				t.Errorf("%s is guarded, and %s in both by the owner's word: %v", tc.guarded, tc.other, err)
			}
		}
		l.verifyOrFail(t)
	}
}

// formatOne is a ledger of format 1 as programs open it, which declare no sources.
func formatOne(t *testing.T) *Ledger {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger")
	if err := os.WriteFile(path, must(os.ReadFile("testdata/format1.ledger")), 0o600); err != nil {
		t.Fatal(err)
	}
	l := must(Open(ctx, path, Options{Domains: both}))
	t.Cleanup(func() { l.Close() })
	return l
}

// A ledger of format 1, which an earlier version made (one charge of 0.25, answered, and a
// look): it opens, and keeps what was spent; what it guards must be confirmed once.
func TestFormat1(t *testing.T) {
	l := formatOne(t)
	l.verifyOrFail(t)
	spent := func() string { return must(l.Balance(ctx, "patient")).Spent.Epsilon.String() }
	if spent() != "0.25" {
		t.Errorf("it has spent %s", spent())
	}
	declared := guarding(visits...)
	var differs *GuardError
	if err := l.Check(ctx, []DomainBudget{declared}); !errors.As(err, &differs) || !differs.Unsaid {
		t.Errorf("what it guards was never said: %v", err)
	}
	r := ask("0.25")
	r.Guard = declared.Guard()
	if _, err := l.Reserve(ctx, r); !errors.Is(err, ErrGuardDiffers) {
		t.Errorf("reserved: %v", err)
	}
	if said := must(l.Confirm(ctx, declared, "of the first version", now)); !strings.Contains(said, "visits.csv") {
		t.Errorf("confirmed: %q", said)
	}
	must(l.Reserve(ctx, r))
	if err := l.Check(ctx, []DomainBudget{declared}); err != nil || spent() != "0.5" {
		t.Errorf("%v, spent %s", err, spent())
	}
	l.verifyOrFail(t)
}

// Confirm refuses what is none of its business.
func TestConfirmRefusals(t *testing.T) {
	l, _ := create(t, Options{Domains: []DomainBudget{guarding(visits...)}})
	richer := guarding(visits[0])
	richer.Epsilon = eps("2")
	if _, err := l.Confirm(ctx, richer, "", now); !errors.Is(err, ErrBudgetDiffers) {
		t.Errorf("another budget: %v", err)
	}
	if _, err := l.Confirm(ctx, patient, "", now); err == nil {
		t.Error("a domain that declares nothing was confirmed")
	}
	stranger := guarding(visits...)
	stranger.ID = "stranger"
	if _, err := l.Confirm(ctx, stranger, "", now); !errors.Is(err, ErrUnknownDomain) {
		t.Errorf("an unknown domain: %v", err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if _, err := l.Confirm(ended, guarding(visits[0]), "", now); !errors.Is(err, context.Canceled) {
		t.Errorf("in a context that has ended: %v", err)
	}
}

// Attack J4: the books are edited to guard something else; the chain is made anew by
// somebody who knows the format, and Verify finds what does not follow.
func TestJ4EditedGuard(t *testing.T) {
	other := guarding(visits[0])
	guard := guarding(visits...).Guard()
	for name, edit := range map[string]func(*sql.DB) error{
		"a reservation under another guard": forgeChain(record{kind: kindAccess, domain: "patient"}, entry{Time: now, Analyst: "a", Statement: "b", State: &state{Guard: other.Guard()}}),
		"a guard forgotten":                 forgeChain(record{kind: kindAccess, domain: "patient"}, entry{Time: now, Analyst: "a", Statement: "b", State: &state{}}),
		"a digest of something else":        forgeChain(record{kind: kindGuard, domain: "patient"}, entry{Time: now, Budget: &other, State: &state{Guard: guard}}),
		"a guard with another budget": forgeChain(record{kind: kindGuard, domain: "patient"}, entry{Time: now, State: &state{Guard: other.Guard()},
			Budget: &DomainBudget{ID: "patient", Measure: patient.Measure, Epsilon: eps("9"), Guards: other.Guards}}),
		"a guard of nothing": forgeChain(record{kind: kindGuard, domain: "patient"}, entry{Time: now, State: &state{Guard: guard}}),
		"names edited":       statement(`UPDATE records SET body = CAST(replace(CAST(body AS TEXT), 'bills.csv', 'pills.csv') AS BLOB) WHERE kind = 'domain'`),
	} {
		l, path := create(t, Options{Domains: []DomainBudget{guarding(visits...)}})
		l.Close()
		forge(t, path, edit)
		l, err := Open(ctx, path, Options{})
		if err == nil {
			err = l.Verify(ctx)
			l.Close()
		}
		if !errors.Is(err, ErrTampered) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
