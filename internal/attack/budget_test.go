//go:build cgo

package attack_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

const epsilonOne = "measure = \"pure\"\nepsilon = 1.0"

// spent is what a world's ledger says was spent of epsilon.
func (w *world) spent(t testing.TB) privacy.Epsilon {
	t.Helper()
	return must(w.ledger.Balance(context.Background(), "person")).Spent.Epsilon
}

func exhausted(err error) bool { return errors.Is(err, ledger.ErrExhausted) }

func TestF1ConcurrentQueries(t *testing.T) {
	w := newWorld(t, visits(epsilonOne), files{"visits.csv": crowd(5)})
	// Two front doors, two openings of one ledger file, 40 clients, a budget for 10.
	second := must(ledger.Open(context.Background(), filepath.Join(w.dir, "discreet.ledger"), ledger.Options{Domains: discreet.Budgets(w.catalog)}))
	defer second.Close()
	doors := []*discreet.Database{w.Database, w.open(t),
		must(discreet.Open(context.Background(), discreet.Config{Catalog: w.catalog, Engine: w.engine, Ledger: second}))}
	var answered, refused atomic.Int64
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			o := pure("0.1")
			o.Analyst = fmt.Sprint("analyst ", i)
			_, err := doors[i%len(doors)].Query(context.Background(), "SELECT count(*) FROM visits", o)
			switch {
			case err == nil:
				answered.Add(1)
			case exhausted(err):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if answered.Load() != 10 || refused.Load() != 30 {
		t.Errorf("%d answered, %d refused, want 10 and 30", answered.Load(), refused.Load())
	}
	if got := w.spent(t).String(); got != "1" {
		t.Errorf("spent %s", got)
	}
}

func TestF2AmountsThatAreNone(t *testing.T) {
	for _, bad := range []string{"NaN", "nan", "-1", "-0.1", "Inf", "+Inf", "-Inf", "1e-400", "1e400", "'1e0'", "", " ", "0x1p-3", "1,5", "1_0", "1/0", "--1", "1e", "٣", "1e-301"} {
		if e, err := privacy.ParseEpsilon(bad); err == nil && e.Sign() > 0 {
			t.Errorf("epsilon %q is read as %v", bad, e)
		}
		if d, err := privacy.ParseDelta(bad); err == nil && d.Sign() > 0 {
			t.Errorf("delta %q is read as %v", bad, d)
		}
		if r, err := privacy.ParseRho(bad); err == nil && r.Sign() > 0 {
			t.Errorf("rho %q is read as %v", bad, r)
		}
	}
	text := strings.Replace(visits(epsilonOne), "[defaults]\nepsilon = 1.0\n", "", 1)
	w := newWorld(t, text, files{"visits.csv": crowd(5)})
	for _, o := range []*discreet.QueryOptions{nil, pure("0"), pure("-0"), approx("1", "0.1"), concentrated("0.1"), approx("0", "0.5"), pure("2"), pure("1000000")} {
		before := w.spent(t)
		_, err := w.Query(context.Background(), "SELECT count(*) FROM visits", o)
		if r := (*discreet.Refusal)(nil); !errors.As(err, &r) {
			t.Errorf("%+v: %v, want a refusal", o, err)
		}
		if after := w.spent(t); !after.Equal(before) {
			t.Errorf("%+v: refused, and charged %v", o, after)
		}
	}
}

func TestF3ManySmallSpends(t *testing.T) {
	w := newWorld(t, visits(epsilonOne), files{"visits.csv": crowd(5)})
	for range 10 {
		w.ask(t, "SELECT count(*) FROM visits", pure("0.1"))
	}
	if _, err := w.Query(context.Background(), "SELECT count(*) FROM visits", pure("1e-30")); !exhausted(err) {
		t.Errorf("after ten times 0.1 of 1: %v", err)
	}
	if got := w.spent(t).String(); got != "1" {
		t.Errorf("ten times 0.1 is %s", got)
	}
	thirds := newWorld(t, visits(epsilonOne), files{"visits.csv": crowd(5)})
	n := 0
	for ; n < 5; n++ {
		if _, err := thirds.Query(context.Background(), "SELECT count(*) FROM visits", pure("1/3")); err != nil {
			break
		}
	}
	if n != 2 { // a third is rounded against the spender
		t.Errorf("%d thirds fit into 1", n)
	}
}

func TestF4LostAndForeignLedgers(t *testing.T) {
	w := newWorld(t, visits(epsilonOne), files{"visits.csv": crowd(5)})
	w.ask(t, "SELECT count(*) FROM visits", pure("0.75"))
	ctx := context.Background()
	if _, err := ledger.Open(ctx, filepath.Join(w.dir, "other.ledger"), ledger.Options{}); !errors.Is(err, ledger.ErrMissing) {
		t.Errorf("a missing ledger: %v", err)
	}
	if _, err := ledger.Create(ctx, filepath.Join(w.dir, "discreet.ledger"), ledger.Options{Domains: discreet.Budgets(w.catalog), Now: noon}); !errors.Is(err, ledger.ErrExists) {
		t.Errorf("a ledger in place of one: %v", err)
	}
	// A catalog that says more than the ledger is refused; a missing ledger too.
	richer := must(catalog.Parse(filepath.Join(w.dir, "discreet.toml"), visits("measure = \"pure\"\nepsilon = 100.0")))
	if _, err := discreet.Open(ctx, discreet.Config{Catalog: richer, Engine: w.engine, Ledger: w.ledger}); !errors.Is(err, ledger.ErrBudgetDiffers) {
		t.Errorf("a larger budget in the catalog: %v", err)
	}
	none := must(discreet.Open(ctx, discreet.Config{Catalog: w.catalog, Engine: w.engine}))
	if _, err := none.Query(ctx, "SELECT count(*) FROM visits", pure("0.1")); err == nil {
		t.Error("answered without a ledger")
	}
	// Opened again, the ledger knows what was spent.
	if err := w.ledger.Close(); err != nil {
		t.Fatal(err)
	}
	w.ledger = must(ledger.Open(ctx, filepath.Join(w.dir, "discreet.ledger"), ledger.Options{Domains: discreet.Budgets(w.catalog)}))
	if _, err := w.open(t).Query(ctx, "SELECT count(*) FROM visits", pure("0.5")); !exhausted(err) {
		t.Errorf("after a restart: %v", err)
	}
	if err := w.ledger.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Query(ctx, "SELECT count(*) FROM visits", pure("0.1")); err == nil {
		t.Error("answered with a closed ledger")
	}
}

func TestF5BudgetFollowsTheUnit(t *testing.T) {
	w := newWorld(t, household(epsilonOne), files{"visits.csv": crowd(5), "bills.csv": billsHeader, "notes.csv": notesHeader, "towns.csv": towns})
	for i, sql := range []string{
		"SELECT count(*) FROM visits", "SELECT count(*) FROM bills", "SELECT count(*) FROM notes", "WITH mine AS (SELECT * FROM visits) SELECT count(*) FROM mine", "SELECT count(*) FROM visits AS other",
		"SELECT count(*) FROM visits JOIN bills ON person = payer", "SELECT count(*) FROM towns JOIN visits ON towns.name = city", "SELECT count(*) FROM (SELECT 1 AS person FROM visits) AS v", "SELECT count(*) FROM Visits", "SELECT count(*) FROM bills AS visits",
	} {
		o := pure("0.1")
		o.Analyst = fmt.Sprint("role ", i)
		if a := w.ask(t, sql, o); a.Remaining.Epsilon.Float64() > 0.9001-float64(i)/10 {
			t.Errorf("%s: %v remains", sql, a.Remaining.Epsilon)
		}
	}
	if _, err := w.Query(context.Background(), "SELECT count(*) FROM notes", pure("0.1")); !exhausted(err) {
		t.Errorf("an eleventh query under another name: %v", err)
	}
	// One source in two domains, or under two names, has one budget.
	other := strings.Replace(visits(epsilonOne), "[tables.visits]", "[domains.other]\n"+epsilonOne+"\n[tables.copy]\nsource = \"./visits.csv\"\ndomain = \"other\"\nunit = \"person\"\n[tables.copy.columns]\nperson = { type = \"bigint\" }\n[tables.visits]", 1)
	if _, err := catalog.Parse("c.toml", other); err == nil {
		t.Error("one source is admitted in two domains")
	}
}

func TestF6PartitionsAreNoDiscount(t *testing.T) {
	w := newWorld(t, visits(largePure), files{"visits.csv": crowd(20)})
	for _, sql := range []string{
		"SELECT count(*) FILTER (WHERE city = 'Bonn'), count(*) FILTER (WHERE city <> 'Bonn') FROM visits",
		"SELECT count(*) FROM visits WHERE city = 'Bonn' UNION ALL SELECT count(*) FROM visits WHERE city <> 'Bonn'",
		"SELECT count(*) FROM visits WHERE person < 10 UNION ALL SELECT count(*) FROM visits WHERE person >= 10",
		"SELECT count(*) FILTER (WHERE person < 10), count(*) FILTER (WHERE person >= 9) FROM visits",
		"SELECT count(DISTINCT person) FILTER (WHERE person < 10), count(DISTINCT person) FILTER (WHERE person >= 10) FROM visits",
	} {
		// Two numbers for ε = 1 have the noise of ε = 1/2 each.
		for _, m := range w.ask(t, sql, pure("1")).Mechanisms {
			if m.Scale < m.Sensitivity*2*(1-1e-12) {
				t.Errorf("%s: %+v", sql, m)
			}
		}
	}
	// Columns of one release of which no row adds to two: R bounds a person's rows in all of them together, and so does their noise.
	a := w.ask(t, "SELECT count(*) FILTER (WHERE city < 'C'), count(*) FILTER (WHERE city = 'Bonn'), count(*) FILTER (WHERE city IN ('Kiel', 'Ulm')) FROM visits", pure("1"))
	for i, m := range a.Mechanisms {
		if least := m.Sensitivity * []float64{3, 1.5, 1.5}[i]; m.Sensitivity != 3 || m.Scale < least*(1-1e-12) {
			t.Errorf("exclusive columns: %+v", m)
		}
	}
	if len(a.Cost.Events) != 2 || a.Cost.Epsilon.Float64() < 1-1e-9 {
		t.Errorf("exclusive columns cost %+v", a.Cost)
	}
	// A person in two groups: L0 counts them.
	if m := w.ask(t, "SELECT count(*) FROM visits GROUP BY city", pure("1")).Mechanisms[0]; m.Scale < 6 {
		t.Errorf("by group: %+v", m)
	}
	before := w.spent(t)
	w.ask(t, "SELECT count(*) FROM visits WHERE city = 'Bonn'", pure("1"))
	w.ask(t, "SELECT count(*) FROM visits WHERE city = 'Ulm'", pure("1"))
	if got := w.spent(t).Float64() - before.Float64(); got != 2 {
		t.Errorf("two disjoint queries cost %v", got)
	}
}

func TestF7TimeWindows(t *testing.T) {
	p := neighbours(t, largePure, hoarder(100))
	sql := "SELECT count(*) FROM visits WHERE day >= '2026-01-01' AND day < '2026-02-01'"
	before := p.d.spent(t)
	p.d.ask(t, sql, pure("1"))
	p.d.ask(t, strings.ReplaceAll(sql, "2026-0", "2025-0"), pure("1"))
	if got := p.d.spent(t).Float64() - before.Float64(); got != 2 {
		t.Errorf("two windows cost %v", got)
	}
	p.within(t, "SELECT count(*) FROM visits GROUP BY extract(month FROM day)", 6)
	p.within(t, "SELECT count(*) FROM visits GROUP BY day < '2026-01-15', seen < '2026-01-15'", 6)
}

func TestF8CollusionOfAnalysts(t *testing.T) {
	w := newWorld(t, visits(epsilonOne), files{"visits.csv": crowd(5)})
	for i, name := range []string{"ann", "ben", "", "ann ", "ANN"} {
		o := pure("0.2")
		o.Analyst, o.IdempotencyKey = name, "key"
		a := w.ask(t, "SELECT count(*) FROM visits", o)
		if got, want := a.Remaining.Epsilon.String(), []string{"0.8", "0.6", "0.4", "0.2", "0"}[i]; got != want {
			t.Errorf("%q leaves %s, want %s", name, got, want)
		}
		// Their own retry is free and says the same; another statement is refused.
		if again := w.ask(t, "SELECT count(*) FROM visits", o); fmt.Sprint(again.Rows) != fmt.Sprint(a.Rows) {
			t.Errorf("%q: a retry answers %v, not %v", name, again.Rows, a.Rows)
		}
		if _, err := w.Query(context.Background(), "SELECT count(*) + 1 FROM visits", o); !errors.Is(err, ledger.ErrIdempotencyKey) {
			t.Errorf("%q: a key for another statement: %v", name, err)
		}
		wider := *o
		wider.Spend = pure("0.1").Spend
		if _, err := w.Query(context.Background(), "SELECT count(*) FROM visits", &wider); !errors.Is(err, ledger.ErrIdempotencyKey) {
			t.Errorf("%q: a key for another cost: %v", name, err)
		}
	}
	if _, err := w.Query(context.Background(), "SELECT count(*) FROM visits", pure("0.01")); !exhausted(err) {
		t.Errorf("after all analysts together: %v", err)
	}
}

func TestF9SelectionIsCharged(t *testing.T) {
	for domain, o := range map[string]*discreet.QueryOptions{largeApprox: approx("1", "1e-4"), largeZCDP: concentrated("0.1")} {
		w := newWorld(t, visits(domain), files{"visits.csv": crowd(50)})
		a := w.ask(t, "SELECT name, count(*) FROM visits GROUP BY name", o)
		events := marshal(t, a.Cost.Events)
		if !strings.Contains(events, "selection") || a.Cost.Delta.Sign() <= 0 {
			t.Errorf("groups were chosen for %s", events)
		}
		b := must(w.ledger.Balance(context.Background(), "person"))
		if b.Spent.Delta.Sign() <= 0 || o.Spend.Rho.Sign() > 0 && b.Spent.Rho.Cmp(o.Spend.Rho) > 0 || o.Spend.Epsilon.Sign() > 0 && b.Spent.Epsilon.Cmp(o.Spend.Epsilon) > 0 {
			t.Errorf("charged %+v for %+v", b.Spent, o.Spend)
		}
		// Without groups to choose there is no δ for choosing.
		before := b.Spent.Delta
		w.ask(t, "SELECT city, count(*) FROM visits GROUP BY city", pure("0.1"))
		if b := must(w.ledger.Balance(context.Background(), "person")); !b.Spent.Delta.Equal(before) {
			t.Errorf("public groups cost a delta of %v", b.Spent.Delta)
		}
	}
}

// What a statement says that it costs is charged, once, and bounds alone get tighter by it.
func TestF9CostsInTheStatement(t *testing.T) {
	const dp = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS "
	w := newWorld(t, visits(largeApprox), files{"visits.csv": crowd(50)})
	a := w.ask(t, dp+"(epsilon = 0.5, delta = 1e-6, max_groups_contributed = 1) city, count(*) FROM visits GROUP BY city", nil)
	if got := a.Cost.Epsilon.String(); got != "0.5" {
		t.Errorf("charged an epsilon of %s", got)
	}
	for _, m := range a.Mechanisms {
		if m.MaxGroupsPerUnit != 1 {
			t.Errorf("a unit counts in %d groups", m.MaxGroupsPerUnit)
		}
	}
	spent := must(w.ledger.Balance(context.Background(), "person")).Spent
	for _, sql := range []string{
		"(epsilon = 0) count(*) FROM visits", "(epsilon = -1) count(*) FROM visits", "(epsilon = 1e400) count(*) FROM visits", "(epsilon = 'inf') count(*) FROM visits",
		"(epsilon = NULL) count(*) FROM visits", "(epsilon = 1, epsilon = 2) count(*) FROM visits", "(delta = 1e-9) count(*) FROM visits", "(epsilon = 1, delta = 1) count(*) FROM visits",
		"(epsilon = 1, max_groups_contributed = 1000) city, count(*) FROM visits GROUP BY city", "(epsilon = 1, max_groups_contributed = 0) city, count(*) FROM visits GROUP BY city",
		"(epsilon = 1, max_groups_contributed = NULL) city, count(*) FROM visits GROUP BY city", "(epsilon = 1, max_rows_contributed = 1000) count(*) FROM visits",
		"(epsilon = 1, privacy_unit_column = city) count(*) FROM visits", "(epsilon = 1, group_selection_strategy = PUBLIC_GROUPS) name, count(*) FROM visits GROUP BY name",
		"(epsilon = 1, noise = off) count(*) FROM visits", "(epsilon = 1) person FROM visits", "(epsilon = 1) count(*) FROM (" + dp + "(epsilon = 1) count(*) FROM visits) t",
	} {
		w.refused(t, dp+sql)
	}
	if _, err := w.Explain(context.Background(), dp+"(epsilon = 0.1) count(*) FROM visits", pure("0.2")); err == nil {
		t.Error("a cost in the statement and one beside it are admitted")
	}
	accurate := &discreet.QueryOptions{Accuracy: must(discreet.ParseAccuracy("100"))}
	if _, err := w.Explain(context.Background(), dp+"(epsilon = 0.1) count(*) FROM visits", accurate); err == nil {
		t.Error("a cost in the statement and an accuracy are admitted")
	}
	if after := must(w.ledger.Balance(context.Background(), "person")).Spent; !after.Epsilon.Equal(spent.Epsilon) || !after.Delta.Equal(spent.Delta) {
		t.Errorf("refusals moved what was spent from %+v to %+v", spent, after)
	}
}

func TestF10SwitchesThatTurnNoiseOff(t *testing.T) {
	w := newWorld(t, visits(largePure), files{"visits.csv": crowd(5)})
	for _, sql := range []string{"SET privacy_noise = false", "SET privacy_seed = 1", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "RESET ALL", "SELECT set_config('privacy_noise', 'off', false)", "SELECT /*+ NO_NOISE */ count(*) FROM visits; ", "BEGIN; SET x = 1", "ALTER SYSTEM SET x = 1", "SELECT exact count(*) FROM visits", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1e20) count(*) FROM visits"} {
		if _, err := w.Explain(context.Background(), sql, nil); err == nil && !strings.Contains(sql, "/*+") {
			t.Errorf("%s: admitted", sql)
		}
	}
	a := w.ask(t, "SELECT /*+ NO_NOISE */ count(*) FROM visits", nil)
	if a.Mechanisms[0].Scale != 3 {
		t.Errorf("a hint changed the noise: %+v", a.Mechanisms)
	}
	for _, key := range []string{"noise = false", "seed = 42", "test_mode = true", "exact = true"} {
		for _, text := range []string{visits(largePure + "\n" + key), strings.Replace(visits(largePure), "[defaults]", "[defaults]\n"+key, 1), strings.Replace(visits(largePure), "unit = \"person\"", "unit = \"person\"\n"+key, 1)} {
			if _, err := catalog.Parse("c.toml", text); err == nil {
				t.Errorf("the catalog has a switch %s", key)
			}
		}
	}
	for _, infinite := range []string{"inf", "1e300", "nan", "1000001.0"} {
		if _, err := catalog.Parse("c.toml", visits("measure = \"pure\"\nepsilon = "+infinite)); err == nil {
			t.Errorf("a budget of %s is admitted", infinite)
		}
	}
	// The environment has no switch either.
	for _, name := range []string{"DISCREET_NOISE", "DISCREET_SEED", "DISCREET_TEST", "NO_NOISE"} {
		t.Setenv(name, "off")
	}
	w, exact := newLimitedWorld(t, visits(largePure), files{"visits.csv": crowd(5)}, duckdb.Options{}), 0
	for range 2 { // each with odds below 1e-6
		if w.ask(t, "SELECT count(*) FROM visits", pure("1e-6")).Rows[0][0] == int64(10) {
			exact++
		}
	}
	if exact == 2 {
		t.Error("the exact count came out")
	}
}
