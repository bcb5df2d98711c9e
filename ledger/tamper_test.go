package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

func rational(n int) *big.Rat { return big.NewRat(int64(n), 1) }

// spend makes three reservations and two answers: records 4 to 8.
func spend(t *testing.T, l *Ledger) {
	t.Helper()
	for i := range 3 {
		r, err := l.Reserve(ctx, ask("0.1"))
		if err != nil {
			t.Fatal(err)
		}
		if i < 2 {
			if err := l.Commit(ctx, r, []byte("42")); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// forge writes into a ledger behind its back.
func forge(t *testing.T, path string, f func(*sql.DB) error) {
	t.Helper()
	l, err := connect(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = f(l.db)
	if IsURL(path) { // who can write records can write what the head says of them
		_, again := l.db.Exec("UPDATE head SET seq = r.seq, hash = r.hash FROM (SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1) r")
		err = errors.Join(err, again)
	}
	if err := errors.Join(err, l.db.Close()); err != nil {
		t.Fatal(err)
	}
}

func statement(s string) func(*sql.DB) error {
	return func(db *sql.DB) error {
		if os.Getenv(onServer) != "" {
			s = inPostgres.Replace(s)
		}
		_, err := db.Exec(s)
		return err
	}
}

// inPostgres writes the edits of these tests as PostgreSQL has them.
var inPostgres = strings.NewReplacer("CAST(replace(CAST(body AS TEXT)", "convert_to(replace(convert_from(body, 'UTF8')", ") AS BLOB)", "), 'UTF8')",
	"x'37'", "'\\x37'", "x'00'", "'\\x00'", "zeroblob(32)", "decode(repeat('00', 32), 'hex')",
	"CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records WHERE seq = new.seq; END", "CREATE RULE t AS ON INSERT TO records DO ALSO DELETE FROM records WHERE seq = new.seq")

// forgeChain appends a record whose hash is right: the work of somebody who knows
// the format.
func forgeChain(r record, e entry) func(*sql.DB) error {
	return func(db *sql.DB) error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		b := newBatch(&Ledger{store: &file{}}, conn) // which writes at once, wherever it is
		if err := b.checkHead(ctx, record{}, record{}); err != nil {
			return err
		}
		return b.append(ctx, &r, e)
	}
}

func TestEditedLedgers(t *testing.T) {
	units := func(s string) (u filter.Units) {
		if err := u.UnmarshalText([]byte(s)); err != nil {
			t.Fatal(err)
		}
		return u
	}
	tenth := filter.Total{Loss: units("1" + strings.Repeat("0", 39))}
	threeTenths := filter.Total{Loss: units("3" + strings.Repeat("0", 39))}
	for name, tc := range map[string]struct {
		edit   func(*sql.DB) error
		atOpen bool // noticed by Open; else by Verify
	}{
		"budget edited":           {statement(`UPDATE records SET body = CAST(replace(CAST(body AS TEXT), '"epsilon":1', '"epsilon":9') AS BLOB) WHERE kind = 'domain'`), true},
		"last record edited":      {statement(`UPDATE records SET body = CAST(replace(CAST(body AS TEXT), 'ann', 'bob') AS BLOB) WHERE seq = 8`), true},
		"middle record edited":    {statement(`UPDATE records SET body = CAST(replace(CAST(body AS TEXT), 'ann', 'bob') AS BLOB) WHERE seq = 4`), false},
		"kind edited":             {statement(`UPDATE records SET kind = 'commit' WHERE seq = 8`), true},
		"domain edited":           {statement(`UPDATE records SET domain = 'visitor' WHERE seq = 4`), false},
		"reference edited":        {statement(`UPDATE records SET ref = 8 WHERE seq = 5`), false},
		"answer edited":           {statement(`UPDATE records SET answer = x'37' WHERE seq = 5`), false},
		"answer added":            {statement(`UPDATE records SET answer = x'37' WHERE seq = 4`), false},
		"hash edited":             {statement(`UPDATE records SET hash = zeroblob(32) WHERE seq = 4`), false},
		"hash shortened":          {statement(`UPDATE records SET hash = x'00' WHERE seq = 7`), true},
		"middle record deleted":   {statement(`DELETE FROM records WHERE seq = 4`), false},
		"record before the last":  {statement(`DELETE FROM records WHERE seq = 7`), true},
		"first record deleted":    {statement(`DELETE FROM records WHERE seq = 1`), true},
		"all records deleted":     {statement(`DELETE FROM records`), true},
		"records exchanged":       {statement(`UPDATE records SET seq = 100 WHERE seq = 4; UPDATE records SET seq = 4 WHERE seq = 6; UPDATE records SET seq = 6 WHERE seq = 100`), false},
		"index dropped":           {statement(`DROP INDEX records_domain`), true},
		"trigger added":           {statement(`CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records WHERE seq = new.seq; END`), true},
		"unchained record":        {statement(`INSERT INTO records SELECT 9, kind, domain, key, ref, body, answer, hash FROM records WHERE seq = 4`), true},
		"spending forged away":    {forgeChain(record{kind: kindAcknowledge, domain: "patient"}, entry{Time: now, State: &state{}}), false},
		"suspension forged":       {forgeChain(record{kind: kindAcknowledge, domain: "patient"}, entry{Time: now, State: &state{Spent: tenth, Suspended: true}}), false},
		"commit of nothing":       {forgeChain(record{kind: kindCommit, domain: "patient", ref: 99}, entry{Answer: digestOf(nil), State: &state{}}), false},
		"charge without events":   {forgeChain(record{kind: kindReserve, domain: "patient"}, entry{Time: now, Charge: &filter.Total{}, State: &state{}}), false},
		"charge below its events": {forgeChain(record{kind: kindReserve, domain: "patient"}, entry{Time: now, Events: []json.RawMessage{[]byte(`{"pure":{"eps":0.2}}`)}, Charge: &tenth, State: &state{}}), false},
		"overspent":               {forgeChain(record{kind: kindReserve, domain: "patient"}, entry{Time: now, Events: []json.RawMessage{[]byte(`{"pure":{"eps":9}}`)}, State: &state{}}), false},
		"budget raised":           {forgeChain(record{kind: kindDomain, domain: "patient"}, entry{Time: now, Budget: &DomainBudget{ID: "patient", Measure: filter.Pure, Epsilon: eps("9")}, State: &state{}}), false},
		"access that pays back":   {forgeChain(record{kind: kindAccess, domain: "patient"}, entry{Time: now, Analyst: "owner", State: &state{}}), false},
		"access that charges":     {forgeChain(record{kind: kindAccess, domain: "patient"}, entry{Time: now, Charge: &tenth, State: &state{Spent: threeTenths, Uncommitted: 1}}), false},
		"unknown kind":            {forgeChain(record{kind: "refund", domain: "patient"}, entry{Time: now, State: &state{}}), false},
		"second beginning":        {forgeChain(record{kind: kindCreate}, entry{Time: now, Format: format}), false},
	} {
		if !chosen(name, 2) {
			continue
		}
		l, path := create(t, Options{Domains: []DomainBudget{patient, visitor}})
		spend(t, l)
		l.Close()
		forge(t, path, tc.edit)
		l, err := Open(ctx, path, Options{})
		if tc.atOpen {
			if !errors.Is(err, ErrTampered) {
				t.Errorf("%s: open: %v", name, err)
			}
			if err == nil {
				l.Close()
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: open: %v", name, err)
			continue
		}
		if err := l.Verify(ctx); !errors.Is(err, ErrTampered) {
			t.Errorf("%s: verify: %v", name, err)
		}
		l.Close()
	}
}

// Edits while a process has the ledger open are met by the next reservation, as
// far as it depends on them.
func TestEditedWhileOpen(t *testing.T) {
	for name, edit := range map[string]string{
		"state edited":        `UPDATE records SET body = CAST(replace(CAST(body AS TEXT), '"Loss":"3', '"Loss":"0') AS BLOB) WHERE seq = 8`,
		"last record deleted": `DELETE FROM records WHERE seq = 8`,
		"its hash edited":     `UPDATE records SET hash = zeroblob(32) WHERE seq = 8`,
		"the one before":      `UPDATE records SET hash = zeroblob(32) WHERE seq = 7`,
	} {
		l, path := create(t, Options{})
		spend(t, l)
		forge(t, path, statement(edit))
		if _, err := l.Reserve(ctx, ask("0.1")); !errors.Is(err, ErrTampered) && !errors.Is(err, ErrRolledBack) {
			t.Errorf("%s: %v", name, err)
		}
		l.Close()
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	if err := os.WriteFile(to, must(os.ReadFile(from)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Attack F4: the budget of yesterday's backup is not there again.
func TestRestoredCopy(t *testing.T) {
	anchor := filepath.Join(t.TempDir(), "anchor")
	o := Options{Anchor: anchor}
	l, path := create(t, o)
	spend(t, l)
	l.Close()
	backup := path + ".backup"
	copyFile(t, path, backup)
	l = must(Open(ctx, path, o))
	r := must(l.Reserve(ctx, ask("0.5")))
	if err := l.Commit(ctx, r, []byte("7")); err != nil {
		t.Fatal(err)
	}
	l.Close()
	newest := path + ".newest"
	copyFile(t, path, newest)

	copyFile(t, backup, path)
	if _, err := Open(ctx, path, o); !errors.Is(err, ErrRolledBack) {
		t.Errorf("an older copy: %v", err)
	}
	copyFile(t, newest, path)
	l = must(Open(ctx, path, o))
	l.verifyOrFail(t)

	// Under a process that has it open: by another file in its place...
	if err := os.Rename(backup, path); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve(ctx, ask("0.1")); !errors.Is(err, ErrRolledBack) {
		t.Errorf("an older file in place: %v", err)
	}
	l.Close()

	// ... and a copy that went its own way from an older one.
	copyFile(t, path, backup) // older, by name
	forge(t, path, forgeChain(record{kind: kindAcknowledge, domain: "patient"}, entry{Time: now, State: &state{}}))
	forge(t, path, forgeChain(record{kind: kindAcknowledge, domain: "patient"}, entry{Time: now, State: &state{}}))
	if _, err := Open(ctx, path, o); !errors.Is(err, ErrTampered) {
		t.Errorf("a fork: %v", err)
	}
}

// A reservation that bought nothing may be lost with the ledger it was in; one
// whose answer left may not: the anchor has seen it.
func TestAnchorLagsBehindAnswersNever(t *testing.T) {
	anchorPath := filepath.Join(t.TempDir(), "anchor")
	l, _ := create(t, Options{Anchor: anchorPath})
	r := must(l.Reserve(ctx, ask("0.1")))
	a := l.anchorAt(anchorPath)
	if at := must(a.read()); at.seq >= r.ID {
		t.Errorf("a reservation alone moves the anchor to %d", at.seq)
	}
	if err := l.Commit(ctx, r, []byte("1")); err != nil {
		t.Fatal(err)
	}
	if at := must(a.read()); at.seq != r.ID+1 {
		t.Errorf("after a commit the anchor is at %d", at.seq)
	}
	if err := l.Suspend(ctx, "patient", r.ID, "x", now); err != nil {
		t.Fatal(err)
	}
	if at := must(a.read()); at.seq != r.ID+2 {
		t.Errorf("after a suspension the anchor is at %d", at.seq)
	}
}

func TestAnchorFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		fault func(t *testing.T, anchor string)
		want  error // nil: none
	}{
		"missing": {func(t *testing.T, a string) { os.Remove(a) }, ErrMissing},
		"empty":   {func(t *testing.T, a string) { os.Truncate(a, 0) }, ErrTampered},
		"garbage": {func(t *testing.T, a string) { os.WriteFile(a, make([]byte, 1000), 0o600) }, ErrTampered},
		"older line torn": {func(t *testing.T, a string) {
			data := must(os.ReadFile(a))
			_, at, _ := (&anchor{genesis: must2((&anchor{}).parseLine(data, 0))}).parse(data)
			tear(t, a, 1-at)
		}, nil},
		"both lines torn": {func(t *testing.T, a string) { tear(t, a, 0); tear(t, a, 1) }, ErrTampered},
		"of another ledger": {func(t *testing.T, a string) {
			other := filepath.Join(t.TempDir(), "other")
			l := must(Create(ctx, other, Options{Domains: []DomainBudget{patient}, Anchor: other + ".anchor", Now: now.AddDate(1, 0, 0)}))
			l.Close()
			copyFile(t, other+".anchor", a)
		}, ErrTampered},
	} {
		anchor := filepath.Join(t.TempDir(), "anchor")
		o := Options{Anchor: anchor}
		l, path := create(t, o)
		spend(t, l)
		reserved := must(l.Reserve(ctx, ask("0.1")))
		tc.fault(t, anchor)
		if err := l.Commit(ctx, reserved, []byte("42")); !errors.Is(err, tc.want) {
			t.Errorf("%s: commit: %v", name, err)
		}
		l.Close()
		again, err := Open(ctx, path, o)
		if !errors.Is(err, tc.want) {
			t.Errorf("%s: open: %v", name, err)
		}
		if err == nil {
			again.Close()
			continue
		}
		// The owner, sure of the ledger, gives it a new anchor.
		os.Remove(anchor)
		if err := Anchor(ctx, path, Options{Anchor: anchor, Now: now}); err != nil {
			t.Errorf("%s: anchor anew: %v", name, err)
			continue
		}
		if again, err = Open(ctx, path, o); err != nil {
			t.Errorf("%s: open with a new anchor: %v", name, err)
			continue
		}
		again.verifyOrFail(t)
		again.Close()
	}
}

func must2(_ record, d digest, _ bool) digest { return d }

// tear overwrites the end of one of the anchor's lines.
func tear(t *testing.T, path string, line int) {
	t.Helper()
	data := must(os.ReadFile(path))
	half := len(data) / 2
	copy(data[line*half+half-20:], "torn")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAnchorIsPartOfTheLedger(t *testing.T) {
	anchor := filepath.Join(t.TempDir(), "anchor")
	l, path := create(t, Options{Anchor: anchor})
	l.Close()
	if _, err := Open(ctx, path, Options{}); !errors.Is(err, ErrMissing) {
		t.Errorf("opened without its anchor: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(ctx, path, Options{Domains: both, Anchor: anchor, Now: now}); !errors.Is(err, ErrExists) {
		t.Errorf("created anew under an anchor that remembers: %v", err)
	}
	l, path = create(t, Options{})
	l.Close()
	if _, err := Open(ctx, path, Options{Anchor: anchor}); !errors.Is(err, ErrMissing) {
		t.Errorf("a ledger that has no anchor, opened with one: %v", err)
	}
	if err := Anchor(ctx, path, Options{Anchor: anchor, Now: now}); !errors.Is(err, ErrExists) {
		t.Errorf("anchored at the file of another: %v", err)
	}
	fresh := anchor + "2"
	if err := Anchor(ctx, path, Options{Anchor: fresh, Now: now}); err != nil {
		t.Fatal(err)
	}
	l = must(Open(ctx, path, Options{Anchor: fresh}))
	l.verifyOrFail(t)
	l.Close()
}

func TestMissingAndForeignFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "no such.ledger")
	if _, err := Open(ctx, path, Options{}); !errors.Is(err, ErrMissing) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("Open made a file")
	}
	for name, content := range map[string]string{"empty": "", "text": strings.Repeat("not a database ", 1000)} {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(ctx, p, Options{}); !errors.Is(err, ErrTampered) {
			t.Errorf("%s file: %v", name, err)
		}
		if _, err := Create(ctx, p, Options{Domains: both, Now: now}); !errors.Is(err, ErrExists) {
			t.Errorf("create over %s file: %v", name, err)
		}
	}
	for name, o := range map[string]Options{
		"no time":    {Domains: both},
		"no budget":  {Domains: []DomainBudget{{ID: "x"}}, Now: now},
		"no id":      {Domains: []DomainBudget{{Measure: filter.Pure, Epsilon: eps("1")}}, Now: now},
		"twice":      {Domains: []DomainBudget{patient, patient}, Now: now},
		"bad anchor": {Domains: both, Now: now, Anchor: filepath.Join(dir, "no such folder", "anchor")},
	} {
		if l, err := Create(ctx, path, o); err == nil {
			t.Errorf("%s: created", name)
			l.Close()
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a file is left behind", name)
			os.Remove(path)
		}
	}
	for _, name := range []string{"a b?c#d%20e&f.ledger", "ünï.ledger"} {
		l, err := Create(ctx, filepath.Join(dir, name), Options{Domains: both, Now: now})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		l.Close()
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBusy(t *testing.T) {
	l, path := create(t, Options{})
	if err := l.do(ctx, false, func(ctx context.Context, b *batch) error {
		_, err := b.conn.ExecContext(ctx, "PRAGMA busy_timeout = 20")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	other := must(connect(path, Options{}))
	defer other.db.Close()
	conn := must(other.db.Conn(ctx))
	defer conn.Close()
	must(conn.ExecContext(ctx, "BEGIN IMMEDIATE"))
	if _, err := l.Reserve(ctx, ask("0.1")); !errors.Is(err, ErrBusy) {
		t.Errorf("a locked ledger: %v", err)
	}
	must(conn.ExecContext(ctx, "ROLLBACK"))
	if _, err := l.Reserve(ctx, ask("0.1")); err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

// rechained edits records and computes all hashes anew: the work of somebody who knows the format.
func rechained(edit func(*record, *entry)) func(*sql.DB) error {
	return func(db *sql.DB) error {
		l := &Ledger{}
		all, err := l.read(ctx, db, "SELECT "+columns+" FROM records r ORDER BY r.seq")
		if err != nil {
			return err
		}
		var before digest
		for _, r := range all {
			e, err := r.entry()
			if err != nil {
				return err
			}
			edit(r, e)
			if r.body, err = json.Marshal(e); err != nil {
				return err
			}
			before = l.chain.sum(r, before)
			if _, err := db.Exec("UPDATE records SET body = ?, hash = ? WHERE seq = ?", r.body, before[:], r.seq); err != nil {
				return err
			}
		}
		return nil
	}
}

// What an average says of the answer that it sharpens is computed again, though all hashes are right.
func TestForgedAverages(t *testing.T) {
	l, path := create(t, Options{Domains: []DomainBudget{concentrated}})
	ask := func(keeps, of string, fresh bool, parts ...int64) Request {
		r := sharpens(asking("ann", of, parts...), parts)
		r.Keeps, r.Fresh = keeps, fresh
		return r
	}
	answered := func(r Request) int64 { return l.answered(t, r, "42").ID }
	must(l.NewVersion(ctx, "March", "", now))
	march := answered(ask("rows", "q", false, 1, 1))
	must(l.NewVersion(ctx, "April", "", now))
	l.rule(t, most("eve", 3))
	first := answered(ask("rows", "q", false, 1, 1))
	other := answered(ask("rows", "p", false, 1, 1))
	elsewhere := answered(ask("other rows", "q", true, 1, 1))
	unanswered := must(l.Reserve(ctx, ask("rows", "q", true, 1, 1))).ID
	average := answered(ask("rows", "q", false, 2, 2))
	again := answered(ask("rows", "q", false, 3, 3))
	last := answered(ask("rows", "q", true, 1, 1))
	for _, e := range must(l.History(ctx)) {
		if wanted := map[int64]int64{average: first, again: first}[e.Seq]; e.Kind == kindReserve && e.Sharpens != wanted {
			t.Fatalf("record %d sharpens %d, not %d", e.Seq, e.Sharpens, wanted)
		}
	}
	serving := func(parts ...int64) *precision {
		var p precision
		var events []privacy.Event
		for _, part := range parts {
			events = append(events, gaussian(part))
			p.Events = append(p.Events, must(json.Marshal(gaussian(part))))
		}
		p.Charge = must(must(l.domain(ctx, l.db, "patient")).filter.Charge(events, privacy.Delta{}))
		return &p
	}
	l.verifyOrFail(t)
	l.Close()
	for name, tc := range map[string]struct {
		of   int64
		edit func(*entry)
	}{
		"another question's answer":   {average, func(e *entry) { e.Sharpens = other }},
		"an answer of rows kept else": {average, func(e *entry) { e.Sharpens = elsewhere }},
		"an answer of March":          {average, func(e *entry) { e.Sharpens = march }},
		"what has no answer":          {average, func(e *entry) { e.Sharpens = unanswered }},
		"a later answer":              {average, func(e *entry) { e.Sharpens = last }},
		"no record":                   {average, func(e *entry) { e.Sharpens = 1000 }},
		"an average":                  {again, func(e *entry) { e.Sharpens = average }},
		"nothing":                     {average, func(e *entry) { e.Sharpens = 0 }},
		"what serves as nothing":      {average, func(e *entry) { e.Precision = nil }},
		"more precise than both":      {average, func(e *entry) { e.Precision = serving(2, 3) }},
		"less precise than both":      {average, func(e *entry) { e.Precision = serving(2, 1) }},
		"fewer numbers":               {average, func(e *entry) { e.Precision = serving(4) }},
		"other noise":                 {average, func(e *entry) { e.Precision.Events[0] = []byte(`{"zcdp":{"rho":0.02}}`) }},
		"a cost of less":              {average, func(e *entry) { e.Precision.Charge = serving(1, 2).Charge }},
		"over a limit":                {average, func(e *entry) { e.Holders = []string{"account:eve"} }},
		"under a key":                 {average, func(e *entry) { e.Request = []byte("request") }},
	} {
		var before []byte
		forge(t, path, rechained(func(r *record, e *entry) {
			if r.seq == tc.of {
				before = r.body
				tc.edit(e)
			}
		}))
		l, err := Open(ctx, path, Options{})
		if err != nil {
			t.Fatalf("%s: open: %v", name, err)
		}
		if err := l.Verify(ctx); !errors.Is(err, ErrTampered) {
			t.Errorf("sharpens %s: verify: %v", name, err)
		}
		l.Close()
		forge(t, path, rechained(func(r *record, e *entry) {
			if r.seq == tc.of {
				*e = entry{}
				if err := json.Unmarshal(before, e); err != nil {
					t.Fatal(err)
				}
			}
		}))
	}
	l = must(Open(ctx, path, Options{}))
	l.verifyOrFail(t)
	two := must(l.Reserve(ctx, ask("rows", "p", false, 2, 2)))
	must(l.NewVersion(ctx, "May", "", now))
	if err := l.Commit(ctx, two, []byte("43")); !errors.Is(err, ErrVersion) {
		t.Fatal(err)
	}
	after := must(l.chain.lastState(ctx, l.db, "patient"))
	after.Uncommitted--
	of := record{kind: kindCommit, domain: "patient", ref: two.ID, key: repetition("ann", "patient", []byte("p[2 2]")), answer: []byte("43")}
	l.Close()
	forge(t, path, forgeChain(of, entry{Answer: digestOf(of.answer), State: after}))
	l = must(Open(ctx, path, Options{}))
	if err := l.Verify(ctx); !errors.Is(err, ErrTampered) || !strings.Contains(err.Error(), "two versions") {
		t.Errorf("of two versions: verify: %v", err)
	}
	l.Close()
}
