//go:build cgo

package attack_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

const autoCatalog = `[domains.person]
measure = "pure"
epsilon = 100000
[tables.visits]
source = "visits.csv"
domain = "person"
unit = "patient"
max_groups_per_unit = 64
max_rows_per_group = 64
contribution = "auto"
[tables.visits.columns]
patient = { type = "bigint" }
ward = { type = "integer", lower = 1, upper = 64 }
cost = { type = "integer", lower = 0, upper = 1000000, bounds = "auto" }
[tables.bills]
source = "bills.csv"
domain = "person"
unit = { column = "visit", references = "visits.id" }
[tables.bills.columns]
visit = { type = "bigint" }
amount = { type = "double", lower = -1000000, upper = 1000000, bounds = "auto" }
`

// autoWorld has 400 patients with a visit in one of four wards that costs 10, each billed 2.5, and a hoarder where one
// is asked for: 20 visits in each of 60 wards, that cost a million and are billed one.
func autoWorld(t *testing.T, hoarder bool) *world {
	var visits, bills strings.Builder
	visits.WriteString("id,patient,ward,cost\n")
	bills.WriteString("visit,amount\n")
	id := 0
	visit := func(patient, ward, cost int, amount float64) {
		id++
		fmt.Fprintf(&visits, "%d,%d,%d,%d\n", id, patient, ward, cost)
		fmt.Fprintf(&bills, "%d,%v\n", id, amount)
	}
	for i := range 400 {
		visit(i, i%4+1, 10, 2.5)
	}
	if hoarder {
		for i := range 1200 {
			visit(1000, i%60+1, 1_000_000, 1_000_000)
		}
	}
	text := strings.Replace(autoCatalog, "[tables.visits.columns]\n", "[tables.visits.columns]\nid = { type = \"bigint\" }\n", 1)
	return newWorld(t, text, files{"visits.csv": visits.String(), "bills.csv": bills.String()})
}

func epsilonOf(t *testing.T, text string) privacy.Epsilon {
	t.Helper()
	e, err := privacy.ParseEpsilon(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// bounded finds all bounds of the world, each at a cost.
func bounded(t *testing.T, db *discreet.Database, epsilon string, by ...string) (found []discreet.Bound) {
	t.Helper()
	ctx := context.Background()
	all, err := db.Bounds(ctx)
	if err != nil {
		t.Fatal(err)
	}
	contribution, err := db.Contribution("visits", by)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range append(all, contribution...) {
		b, err := db.Find(ctx, b, discreet.Spend{Epsilon: epsilonOf(t, epsilon)}, false)
		if err != nil {
			t.Fatalf("%s %s: %v", b.Table, b.Of, err)
		}
		found = append(found, b)
	}
	return found
}

// A search is charged as a statement, once. What it found bounds statements of every process that opens the ledger,
// and nothing that others put into the ledger does.
func TestF9BoundsAreCharged(t *testing.T) {
	ctx := context.Background()
	w := autoWorld(t, false)
	const statement = "SELECT sum(cost) FROM visits"
	upper := func(db *discreet.Database) float64 {
		e, err := db.Explain(ctx, statement, &discreet.QueryOptions{Spend: discreet.Spend{Epsilon: epsilonOf(t, "1")}})
		if err != nil {
			t.Fatal(err)
		}
		return *e.Mechanisms[0].Upper
	}
	bounds, err := w.ColumnBounds("visits", "cost")
	if err != nil {
		t.Fatal(err)
	}
	b, ten := bounds[1], discreet.Spend{Epsilon: epsilonOf(t, "10")}
	if b.Of != "upper" || b.Declared != "1000000" || upper(w.Database) != 1_000_000 {
		t.Fatalf("before a search: %+v, statements up to %v", b, upper(w.Database))
	}
	if cost, err := w.Price(ctx, b, ten); err != nil || cost.Epsilon.String() != "10" || w.spent(t).Sign() != 0 {
		t.Fatalf("price %v (%v), spent %v", cost, err, w.spent(t))
	}

	// The statement and the key of a search, asked by somebody else, are a statement of theirs.
	for _, o := range []*discreet.QueryOptions{{Spend: ten, Analyst: "eve", IdempotencyKey: "bounds of visits in person, 0"}, {Spend: ten, IdempotencyKey: "bounds of visits in person, 0"}} {
		w.ask(t, b.Statement, o)
	}
	if _, err := w.Query(ctx, b.Statement, &discreet.QueryOptions{Spend: ten, Analyst: "discreet bounds", IdempotencyKey: "bounds of visits in person, 0"}); err == nil {
		t.Error("a statement in the name of the search is answered")
	}
	if _, err := w.Prepare(ctx, b.Statement, &discreet.QueryOptions{Spend: ten, Analyst: "discreet bounds"}); err == nil {
		t.Error("a statement in the name of the search is prepared")
	}
	if got := upper(w.open(t)); got != 1_000_000 {
		t.Errorf("somebody else's answer is a bound: %v", got)
	}

	// A search that was interrupted is charged, and has found nothing.
	request := ledger.Request{Domain: "person", Analyst: "discreet bounds", Statement: b.Statement, IdempotencyKey: "bounds of visits in person, 0", Now: noon,
		Events: []privacy.Event{privacy.Pure{Epsilon: epsilonOf(t, "1")}}}
	if _, err := w.ledger.Reserve(ctx, request); err != nil {
		t.Fatal(err)
	}
	before := w.spent(t)
	if b, err := w.Find(ctx, b, ten, false); err == nil {
		t.Errorf("a search that is charged and has no answer is paid for again: %+v", b)
	}
	found, err := w.Find(ctx, b, ten, true)
	if err != nil || found.Found == "" || found.Record == 0 {
		t.Fatalf("found %+v, %v", found, err)
	}
	charged := w.spent(t).Rat()
	if charged.Sub(charged, before.Rat()); charged.RatString() != "10" {
		t.Errorf("a search is charged %v", charged)
	}
	want, err := strconv.ParseFloat(found.Found, 64)
	if err != nil || want < 10 || want > 100 {
		t.Errorf("values of 10 are bounded by %s (%v)", found.Found, err)
	}
	if again, err := w.Find(ctx, b, ten, false); err != nil || again.Record != found.Record {
		t.Errorf("found again: %+v, %v", again, err)
	}
	for i, db := range []*discreet.Database{w.Database, w.open(t)} {
		if got := upper(db); got != want {
			t.Errorf("database %d: statements are bounded by %v, want %v", i, got, want)
		}
	}
	if all := w.spent(t).Rat(); all.Sub(all, before.Rat()).RatString() != "10" {
		t.Errorf("reading what was found is charged: %v", all)
	}

	// The data change, by the owner's word: the bound stays, and says so. It is found anew where that is asked for.
	if _, err := w.ledger.NewVersion(ctx, "february", "", noon); err != nil {
		t.Fatal(err)
	}
	later, err := w.Find(ctx, b, ten, false)
	if err != nil || !later.Later || later.Record != found.Record {
		t.Errorf("after a version: %+v, %v", later, err)
	}
	if anew, err := w.Find(ctx, b, ten, true); err != nil || anew.Record <= found.Record || anew.Later {
		t.Errorf("anew: %+v, %v", anew, err)
	}

	// A holder of a federation is bounded by what is declared, as the others are.
	holder, err := discreet.Open(ctx, discreet.Config{Catalog: w.catalog, Engine: w.engine, Ledger: w.ledger, Declared: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := upper(holder); got != 1_000_000 {
		t.Errorf("a holder's statements are bounded by %v", got)
	}

	// Of another range, or of other data under the same names, nothing was found.
	for _, change := range [][2]string{
		{"upper = 1000000, bounds", "upper = 2000000, bounds"},
		{`cost = { type`, `cost = { from = "cents", type`},
		{`cost = { type`, `cost = { is = "id * 7", type`},
		{`cost = { type = "integer"`, `cost = { type = "bigint"`},
		{`source = "visits.csv"`, "malformed = \"skip\"\nsource = \"visits.csv\""},
		{"person", "patient"},
	} {
		c, err := catalog.Parse(w.catalog.Path, strings.ReplaceAll(w.catalog.Text, change[0], change[1]))
		if err != nil {
			t.Fatal(err)
		}
		l := w.ledger
		if change[1] == "patient" { // a domain that this ledger has beside the other
			l = nil
		}
		other, err := discreet.Open(ctx, discreet.Config{Catalog: c, Engine: w.engine, Ledger: l})
		if err != nil {
			t.Errorf("%q: %v", change[1], err)
			continue
		}
		if got := upper(other); got < 1_000_000 {
			t.Errorf("%q: statements are bounded by %v", change[1], got)
		}
	}
}

// Two domains in one ledger, each with a table of the same name, have searches of their own.
func TestF9SearchesOfTwoDomains(t *testing.T) {
	text := func(domain string) string {
		return "[domains." + domain + "]\nmeasure = \"pure\"\nepsilon = 1000\n[tables.visits]\nsource = \"" + domain + ".csv\"\ndomain = \"" + domain + `"
unit = "patient"
max_groups_per_unit = 4
max_rows_per_group = 4
[tables.visits.columns]
patient = { type = "bigint" }
cost = { type = "integer", lower = 0, upper = 1000000, bounds = "auto" }
`
	}
	var rows strings.Builder
	rows.WriteString("patient,cost\n")
	for i := range 400 {
		fmt.Fprintf(&rows, "%d,10\n", i)
	}
	w := newWorld(t, text("a")+strings.Replace(strings.Replace(text("b"), "visits]", "stays]", 1), "visits.columns", "stays.columns", 1), files{"a.csv": rows.String(), "b.csv": rows.String()})
	ten := discreet.Spend{Epsilon: epsilonOf(t, "10")}
	open := func(domain string) *discreet.Database {
		c, err := catalog.Parse(w.catalog.Path, text(domain))
		if err != nil {
			t.Fatal(err)
		}
		db, err := discreet.Open(t.Context(), discreet.Config{Catalog: c, Engine: w.engine, Ledger: w.ledger})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	records := map[int64]bool{}
	for _, domain := range []string{"a", "b"} {
		db := open(domain)
		bounds, err := db.Bounds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range bounds {
			if b.Found != "" {
				t.Errorf("%s is told what was found for another domain: %+v", domain, b)
			}
			if b, err = db.Find(t.Context(), b, ten, false); err != nil || b.Found == "" || records[b.Record] {
				t.Errorf("%s: %+v, %v", domain, b, err)
			}
			records[b.Record] = true
		}
	}
}

// Searches at once are each paid for once: whoever comes second is told so, or has what the first one found.
func TestF9SearchesAtOnce(t *testing.T) {
	ctx := t.Context()
	w := autoWorld(t, false)
	bounds, err := w.Bounds(ctx)
	if err != nil {
		t.Fatal(err)
	}
	four, found := discreet.Spend{Epsilon: epsilonOf(t, "4")}, map[string]int64{}
	var mutex sync.Mutex
	var all sync.WaitGroup
	for range 4 {
		db := w.open(t)
		for _, b := range bounds {
			all.Go(func() {
				b, err := db.Find(ctx, b, four, false)
				if err != nil {
					var refused *discreet.Refusal
					if !errors.As(err, &refused) || !strings.Contains(refused.Message, "is charged and has no answer yet") {
						t.Errorf("%s.%s %s: %v", b.Table, b.Column, b.Of, err)
					}
					return
				}
				mutex.Lock()
				defer mutex.Unlock()
				name := b.Table + b.Column + b.Of
				if record, ok := found[name]; ok && record != b.Record {
					t.Errorf("%s was found in records %d and %d", name, record, b.Record)
				}
				found[name] = b.Record
			})
		}
	}
	all.Wait()
	if want := int64(4 * len(bounds)); len(found) != len(bounds) || w.spent(t).Rat().Cmp(new(big.Rat).SetInt64(want)) != 0 {
		t.Errorf("%d bounds of %d were found, at %v in all, want %d", len(found), len(bounds), w.spent(t), want)
	}
}

// What a unit contributes is found for a table's rows: not for a join that multiplies them, nor for two tables' rows.
func TestFoundContributionIsOfTheTable(t *testing.T) {
	ctx := t.Context()
	w := autoWorld(t, false)
	b, err := w.Contribution("visits", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Find(ctx, b[0], discreet.Spend{Epsilon: epsilonOf(t, "40")}, false); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		sql  string
		rows int64
	}{
		{"SELECT count(*) FROM visits", 1},
		{"SELECT count(*) FROM (SELECT cost + 1 AS x FROM visits WHERE ward > 1) AS v", 1},
		{"SELECT count(*) FROM visits, (VALUES (1), (2), (3)) AS v(x)", 64},
		{"SELECT count(*) FROM (SELECT patient FROM visits UNION ALL SELECT patient FROM visits) AS v", 64},
		{"SELECT count(*) FROM visits GROUP BY GROUPING SETS ((ward), ())", 64},
	} {
		e, err := w.Explain(ctx, test.sql, &discreet.QueryOptions{Spend: discreet.Spend{Epsilon: epsilonOf(t, "1")}})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Mechanisms[0].MaxRowsPerGroup; got < test.rows || test.rows == 1 && got != 1 {
			t.Errorf("%s: %d rows of a unit, want %d", test.sql, got, test.rows)
		}
	}
}

// What a search shows, costs and leaves in the ledger is the same on neighbours, but for noisy counts: a unit with
// many rows, in many groups, of values beyond all others, counts once.
func TestF9SearchesOnNeighbours(t *testing.T) {
	var seen [2]string
	for i, hoarder := range []bool{false, true} {
		w := autoWorld(t, hoarder)
		all, err := w.Bounds(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		by, err := w.Contribution("visits", []string{"ward"})
		if err != nil {
			t.Fatal(err)
		}
		units := 0.0
		for _, b := range append(all, by...) {
			o := &discreet.QueryOptions{Spend: discreet.Spend{Epsilon: epsilonOf(t, "100")}}
			seen[i] += w.observe(t, b.Statement, o)
			a := w.ask(t, b.Statement, o)
			total := 0.0
			for _, row := range a.Rows {
				x, err := strconv.ParseFloat(sqltype.Format(row[1]), 64)
				if err != nil {
					t.Fatal(err)
				}
				total += x
			}
			if m := a.Mechanisms[0]; m.Sensitivity != 1 {
				t.Errorf("%s of %s: a unit moves the counts by %v", b.Of, b.Table, m.Sensitivity)
			}
			units += total
			if want := map[bool]float64{false: 400, true: 401}[hoarder]; total < want-3 || total > want+3 { // at ε 100 a cell is off by 1 with probability 1e-43
				t.Errorf("%s of %s: %v units, want %v", b.Of, b.Table, total, want)
			}
		}
	}
	if seen[0] != seen[1] {
		t.Errorf("searches differ on neighbours:\n%s\n%s", seen[0], seen[1])
	}
}

// Bounds that were found are enforced: a unit moves answers by no more than they say, whatever it has. Which groups
// there are follows from what is declared.
func TestFoundBoundsAreEnforced(t *testing.T) {
	w := autoWorld(t, true)
	o := &discreet.QueryOptions{Spend: discreet.Spend{Epsilon: epsilonOf(t, "100")}}
	got := map[string]string{}
	for _, b := range bounded(t, w.Database, "100", "ward") {
		got[strings.Join(append([]string{b.Table, b.Column, b.Of}, b.By...), " ")] = b.Found
	}
	for of, want := range map[string]string{"visits cost upper": "10", "visits cost lower": "10", "visits  rows": "1", "visits  rows ward": "1", "visits  groups ward": "1",
		"bills amount upper": "2.5", "bills amount lower": "2"} {
		if of == "bills amount lower" || of == "bills amount upper" { // the grid of so wide a range is coarser near 0
			x, err := strconv.ParseFloat(got[of], 64)
			if err != nil || x < 1.9 || x > 3 {
				t.Errorf("%s: %q, want near 2.5", of, got[of])
			}
			continue
		}
		if got[of] != want {
			t.Errorf("%s: %q, want %q", of, got[of], want)
		}
	}
	a := w.ask(t, "SELECT sum(cost) AS s, count(*) AS n FROM (SELECT * FROM visits) AS v GROUP BY ward", o)
	sum, rows := 0.0, 0.0
	for _, row := range a.Rows {
		s, _ := strconv.ParseFloat(sqltype.Format(row[0]), 64)
		n, _ := strconv.ParseFloat(sqltype.Format(row[1]), 64)
		sum, rows = sum+s, rows+n
	}
	// 401 rows of 10; at ε 50 each the 64 noises of scale 1/5 and 1/50 are together off by 40 with probability below 1e-9.
	if sum < 4010-40 || sum > 4010+40 || rows < 401-4 || rows > 401+4 {
		t.Errorf("sum %v of %v rows, want 4010 of 401: a unit counts with more than the bounds that were found", sum, rows)
	}
	for _, m := range a.Mechanisms {
		if m.MaxGroupsPerUnit != 1 || m.MaxRowsPerGroup != 1 || m.Column == "s" && m.Sensitivity != 10 {
			t.Errorf("the noise is that of %+v", m)
		}
	}
	// Bounds that were found for the values do not decide which groups there are.
	if n := len(w.ask(t, "SELECT cost, count(*) FROM visits WHERE cost < 100 GROUP BY cost", o).Rows); n != 100 {
		t.Errorf("%d groups of the declared 0 to 99", n)
	}
}
