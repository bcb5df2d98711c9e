//go:build cgo

// Package attack_test is the attack catalogue (docs/attacks.md) as tests, a file for each
// thing that is attacked. Each does what an attacker does, through the public API over
// the real engine and a real ledger, on neighbouring databases D and D', and looks at
// everything that an analyst sees. The other tests of a query's whole way, over the same
// worlds, stand with them.
//
// Statistical tests reject a right system with probability at most 1e-9 each.
package attack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// root is the module's folder, as tests see it.
const root = "../.."

// long marks tests of many queries, which -short skips.
func long(t *testing.T) {
	if testing.Short() {
		t.Skip("skip: many queries, in -short")
	}
}

// A world is one database behind the front door.
type world struct {
	*discreet.Database
	catalog *catalog.Catalog
	engine  *duckdb.Engine
	ledger  *ledger.Ledger
	dir     string
	log     *bytes.Buffer // the owner's
	seen    int64         // records of the ledger that a test has looked at
	wire    *wire         // through which it is asked; nil: by its front door
}

// files are a world's sources by name.
type files map[string]string

// newWorld opens a catalog's text over files, with a ledger of its own.
func newWorld(t testing.TB, text string, sources files) *world {
	t.Helper()
	return newLimitedWorld(t, text, sources, duckdb.Options{Threads: 2})
}

func newLimitedWorld(t testing.TB, text string, sources files, o duckdb.Options) *world {
	t.Helper()
	dir := t.TempDir()
	for name, data := range sources {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(data), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), text)
	if err != nil {
		t.Fatal(err)
	}
	o.Temp = dir
	e, err := duckdb.Open(context.Background(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return newWorldOn(t, c, e, dir)
}

// newWorldOn is a world of an open engine.
func newWorldOn(t testing.TB, c *catalog.Catalog, e *duckdb.Engine, dir string) *world {
	t.Helper()
	w := &world{catalog: c, engine: e, dir: dir, log: &bytes.Buffer{}}
	var err error
	w.ledger, err = ledger.Create(context.Background(), filepath.Join(w.dir, "discreet.ledger"),
		ledger.Options{Domains: discreet.Budgets(w.catalog), Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.ledger.Close() })
	w.Database = w.open(t)
	if throughTheWire(t) {
		w.wire = newWire(t, w)
	}
	return w
}

// noon is when everything happens, so that histories can be compared.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// open opens one more front door to the same engine and ledger.
func (w *world) open(t testing.TB) *discreet.Database {
	t.Helper()
	db, err := discreet.Open(context.Background(), discreet.Config{Catalog: w.catalog, Engine: w.engine, Ledger: w.ledger,
		Now: func() time.Time { return noon }, OwnerLog: slog.New(slog.NewTextHandler(w.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// ask answers a statement or fails the test.
func (w *world) ask(t testing.TB, sql string, o *discreet.QueryOptions) *discreet.Answer {
	t.Helper()
	a, err := w.Query(context.Background(), sql, o)
	if err != nil {
		t.Fatalf("%s: %v\n%s", sql, err, w.log)
	}
	return a
}

// refused asks a statement that must be refused by its words alone, before
// anything is charged: by Explain and by Query, with one of the codes.
func (w *world) refused(t *testing.T, sql string, codes ...string) {
	t.Helper()
	w.history(t)
	for _, ask := range []func() error{
		func() error { _, err := w.Explain(context.Background(), sql, nil); return err },
		func() error { _, err := w.Query(context.Background(), sql, nil); return err },
	} {
		var r *discreet.Refusal
		if err := ask(); !errors.As(err, &r) {
			t.Errorf("%s: %v, want a refusal", sql, err)
		} else if len(codes) > 0 && !slices.Contains(codes, r.Code) {
			t.Errorf("%s: refused with %v, want one of %v", sql, r, codes)
		}
	}
	if more := w.history(t); more != "[]" {
		t.Errorf("%s: refused, but the ledger has %s", sql, more)
	}
}

// history is what the ledger's owner reads in it, since the last look. Of commits it has how
// many there are. It decodes no record twice: attacks ask hundreds of statements.
func (w *world) history(t testing.TB) string {
	t.Helper()
	ctx := context.Background()
	head, err := w.ledger.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	more := head.Records - w.seen
	fresh := []ledger.Entry{}
	if more > 0 {
		page, err := w.ledger.Page(ctx, ledger.Selection{Limit: int(more)})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range slices.Backward(page) {
			if e.Seq > w.seen {
				e.Hash = nil // it digests the noisy answer, too
				fresh = append(fresh, e)
			}
		}
	}
	for range more - int64(len(fresh)) {
		fresh = append(fresh, ledger.Entry{Kind: "commit"})
	}
	w.seen = head.Records
	return marshal(t, fresh)
}

func marshal(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// observe returns what an analyst sees of one statement, and what the ledger
// has of it, but for the noisy numbers themselves: of these, whether they are
// there and of what JSON type.
func (w *world) observe(t testing.TB, sql string, o *discreet.QueryOptions) string {
	t.Helper()
	var b strings.Builder
	e, err := w.Explain(context.Background(), sql, o)
	fmt.Fprintf(&b, "explain: %s\n", outcome(t, e, err))
	a, err := w.Query(context.Background(), sql, o)
	var masked any = a
	if err == nil {
		masked = mask(t, a)
	}
	fmt.Fprintf(&b, "answer: %s\n", outcome(t, masked, err))
	b.WriteString(w.seenByWire(t, sql, o))
	for _, d := range w.catalog.Domains {
		balance, err := w.ledger.Balance(context.Background(), d.ID)
		fmt.Fprintf(&b, "balance: %s\n", outcome(t, balance, err))
	}
	fmt.Fprintf(&b, "ledger: %s\n", w.history(t))
	return b.String()
}

func outcome(t testing.TB, v any, err error) string {
	if err == nil {
		return marshal(t, v)
	}
	if r := (*discreet.Refusal)(nil); errors.As(err, &r) {
		return err.Error() + " " + marshal(t, r)
	}
	return err.Error()
}

// mask returns an answer's JSON with every noisy value replaced by its type, and
// without the notes on rows that have no interval: the noisy values decide which.
func mask(t testing.TB, a *discreet.Answer) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(marshal(t, a)), &out); err != nil {
		t.Fatal(err)
	}
	rows, intervals := out["rows"].([]any), out["intervals"].([]any)
	for i := range rows {
		row, ends := rows[i].([]any), intervals[i].([]any)
		for j, c := range a.Columns {
			if c.Noisy {
				row[j] = fmt.Sprintf("%T", row[j])
				ends[j] = "masked"
			}
		}
	}
	if notes, ok := out["notes"].([]any); ok {
		notes = slices.DeleteFunc(notes, func(n any) bool { return strings.Contains(n.(string), "has no interval in row") })
		if out["notes"] = notes; len(notes) == 0 {
			delete(out, "notes")
		}
	}
	return out
}

// A pair is two neighbouring worlds.
type pair struct {
	open         func() *pair
	d, neighbour *world
}

// newPair opens a catalog over the sources of D and of D'.
func newPair(t testing.TB, text string, d, neighbour files) *pair {
	t.Helper()
	p := &pair{d: newWorld(t, text, d), neighbour: newWorld(t, text, neighbour)}
	p.open = func() *pair { return newPair(t, text, d, neighbour) }
	return p
}

// differ asks both worlds and says what an analyst sees that is not alike.
func (p *pair) differ(t testing.TB, sql string, o *discreet.QueryOptions) string {
	t.Helper()
	p.d.history(t) // what a test did to one of them alone
	p.neighbour.history(t)
	if a, b := p.d.observe(t, sql, o), p.neighbour.observe(t, sql, o); a != b {
		return difference(a, b)
	}
	return ""
}

// indistinguishable asks statements of both worlds, which must answer them and
// look alike.
func (p *pair) indistinguishable(t *testing.T, o *discreet.QueryOptions, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := p.d.Explain(context.Background(), sql, o); err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		difference := p.differ(t, sql, o)
		failures := p.d.log.String() + p.neighbour.log.String()
		if difference != "" || failures != "" {
			t.Errorf("%s\nlooks different: %s\n%s", sql, failures, difference)
			*p = *p.open()
		}
	}
}

// difference shows two texts from a little before where they part.
func difference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string { return s[max(0, i-200):min(len(s), i+400)] }
	return "D:  ..." + cut(a) + "\nD': ..." + cut(b)
}

// Costs.

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func pure(epsilon string) *discreet.QueryOptions {
	return &discreet.QueryOptions{Spend: discreet.Spend{Epsilon: must(privacy.ParseEpsilon(epsilon))}}
}

func approx(epsilon, delta string) *discreet.QueryOptions {
	o := pure(epsilon)
	o.Spend.Delta = must(privacy.ParseDelta(delta))
	return o
}

func concentrated(rho string) *discreet.QueryOptions {
	return &discreet.QueryOptions{Spend: discreet.Spend{Rho: must(privacy.ParseRho(rho))}}
}

// visits is a catalog of one private table, several rows a unit, whose domain
// has the given settings.
func visits(domain string) string {
	return "[domains.person]\n" + domain + `
[defaults]
epsilon = 1.0
[tables.visits]
source = "visits.csv"
domain = "person"
unit = "person"
max_groups_per_unit = 2
max_rows_per_group = 3
[tables.visits.columns]
person = { type = "bigint" }
city   = { type = "text", domain = ["Bonn", "Kiel", "Ulm"] }
name   = { type = "text" }
age    = { type = "integer", lower = 0, upper = 100 }
cost   = { type = "double", lower = 0, upper = 10 }
fee    = { type = "decimal(10,2)", lower = 0, upper = 50 }
score  = { type = "bigint" }
day    = { type = "date" }
seen   = { type = "timestamp" }
` + capped
}

// capped also has a bound on what a unit adds up to.
const capped = `paid   = { type = "double", lower = 0, upper = 1000, sum_lower = 0, sum_upper = 20 }
`

const visitsHeader = "person,city,name,age,cost,fee,score,day,seen,paid\n"

const (
	largePure   = "measure = \"pure\"\nepsilon = 1000000"
	largeApprox = "measure = \"approx\"\nepsilon = 1000000\ndelta = 0.5"
	largeZCDP   = "measure = \"zcdp\"\nepsilon = 1000000\ndelta = 0.5"
)

// crowd is n people with a visit to each of two cities.
func crowd(n int) string {
	var b strings.Builder
	b.WriteString(visitsHeader)
	for i := range n {
		fmt.Fprintf(&b, "%d,Bonn,ann,%d,%d.5,%d.25,%d,2026-01-%02d,2026-01-%02d 10:00:00,%d\n", i, i%100, i%10, i%50, i, i%28+1, i%28+1, i%30)
		fmt.Fprintf(&b, "%d,Ulm,ben,%d,%d.5,%d.25,%d,2026-02-%02d,2026-02-%02d 11:30:00,%d\n", i, i%100, i%7, i%50, -i, i%28+1, i%28+1, i%30)
	}
	return b.String()
}

// neighbours opens D, which is a crowd, and D', which has one unit's rows more.
func neighbours(t testing.TB, domain string, rows ...string) *pair {
	t.Helper()
	base := crowd(20)
	return newPair(t, visits(domain), files{"visits.csv": base}, files{"visits.csv": base + strings.Join(rows, "\n") + "\n"})
}

// precise is a cost at which noise is a thousandth of the sensitivity: answers
// show the exact values within a twentieth of it, but for odds below 1e-20.
var precise = pure("1000")

// number is a released value.
func number(t testing.TB, v sqltype.Value) float64 {
	t.Helper()
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	case sqltype.Decimal:
		f, _ := v.Rat().Float64()
		return f
	}
	t.Fatalf("%T is no number", v)
	return 0
}

// measure returns the first column of a precise answer.
func (w *world) measure(t testing.TB, sql string) []float64 {
	t.Helper()
	var out []float64
	for _, row := range w.ask(t, sql, precise).Rows {
		out = append(out, number(t, row[0]))
	}
	return out
}

// apart is the L1 distance of a statement's first column between the worlds.
func (p *pair) apart(t testing.TB, sql string) float64 {
	t.Helper()
	a, b := p.d.measure(t, sql), p.neighbour.measure(t, sql)
	if len(a) != len(b) {
		t.Fatalf("%s: %d and %d rows", sql, len(a), len(b))
	}
	sum := 0.0
	for i := range a {
		sum += math.Abs(a[i] - b[i])
	}
	return sum
}

// within holds the measured distance against a bound, and against the
// sensitivity that explain states.
func (p *pair) within(t *testing.T, sql string, bound float64) {
	t.Helper()
	e, err := p.d.Explain(context.Background(), sql, precise)
	if err != nil {
		t.Errorf("%s: %v", sql, err)
		return
	}
	stated := e.Mechanisms[0].Sensitivity
	if got := p.apart(t, sql); got > bound*1.05 || stated > bound {
		t.Errorf("%s: one unit moves it by %v, stated %v, want at most %v", sql, got, stated, bound)
	}
}

// filepathOf makes a DuckDB file by a statement and returns its path.
func filepathOf(t testing.TB, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.duckdb")
	owner, err := duckdb.OpenOwner(context.Background(), duckdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	statements = append([]string{"ATTACH '" + path + "' AS made", "USE made"}, statements...)
	for _, s := range append(statements, "USE memory", "DETACH made") {
		if _, _, err := owner.Rows(context.Background(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return path
}
