//go:build cgo

package release

// Whether intervals hold as often as they say, over real data.
//
// Each question is computed exactly once, with the clamps and bounds of its
// certificate; then noise is drawn a thousand times. An interval must hold the
// value without noise in at least the stated share of the runs: for every
// column with an interval, of the releases themselves and of what is computed
// from them, a binomial test over all its rows. Rows of a release have noise of
// their own, so that the count of hits stochastically dominates
// Binomial(n, confidence) when every interval holds with at least that
// probability.

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/clinic"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

const (
	runs       = 1000
	confidence = 0.95
	// falseReject bounds the probability that a test of this file rejects
	// intervals that are right: it is shared by at most maxColumns tests.
	falseReject = 1e-9
	maxColumns  = 200
)

// The tour's questions, over the data sets of the page.
func TestIntervalsHoldOnTheTour(t *testing.T) {
	t.Parallel()
	unlessShort(t)
	data := os.Getenv("DISCREET_DATA")
	if data == "" {
		t.Skip("skip: DISCREET_DATA does not name the folder of the real data")
	}
	data, err := filepath.Abs(data)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/tour.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../testdata/tour")); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"adult-train.csv", "restaurant-visits.csv"} {
		if err := os.Symlink(filepath.Join(data, file), filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	var total tally
	questions := 0
	for _, part := range strings.Split(string(page), "<!-- run: discreet query --catalog ")[1:] {
		name, _, _ := strings.Cut(part, " ")
		w := newWorkplace(t, filepath.Join(dir, name))
		for _, m := range regexp.MustCompile("(?s)```sql\n-- (--.*?)\n(.*?)\n```").FindAllStringSubmatch(part, -1) {
			questions++
			total.add(w.ask(t, m[2], spend(t, m[1])))
		}
	}
	if questions < 15 {
		t.Errorf("the tour has %d questions, want at least 15", questions)
	}
	total.judge(t)
}

// The demo's questions, over data that the project makes.
func TestIntervalsHoldOnTheClinic(t *testing.T) {
	t.Parallel()
	unlessShort(t)
	path, err := clinic.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := newWorkplace(t, path)
	var total tally
	for _, q := range clinic.Questions() {
		total.add(w.ask(t, q.SQL, Spend{Rho: rho(t, q.Rho)}))
	}
	total.add(w.ask(t, "SELECT sex, var_pop(cost), stddev(age), sum(cost) / count(cost) AS ratio, 2 * avg(age) - 1 FROM visits GROUP BY sex", Spend{Rho: rho(t, "0.05")}))
	// Sums over few rows and many, of one release and two, and what is no sum.
	total.add(w.ask(t, `WITH w AS (SELECT sex, age / 10 AS decade, count(*) AS n, sum(cost) AS c FROM visits GROUP BY 1, 2)
		SELECT sex, sum(n), sum(c), avg(n), sum(n::numeric) + 1, max(n), min(c), sum(n * 2), sum(c) / 12,
		sum(CASE WHEN decade > 4 THEN n WHEN decade = 3 THEN -n ELSE 0 END), coalesce(max(n) - min(n), 0) FROM w GROUP BY sex`, Spend{Rho: rho(t, "0.05")}))
	total.add(w.ask(t, "SELECT sum(n), avg(n), max(n) FROM (SELECT least(age, 69) AS a, count(*) AS n FROM visits GROUP BY 1) AS w", Spend{Epsilon: eps(t, "0.5")}))
	total.add(w.ask(t, "SELECT sum(n) FROM (SELECT age / 20 AS a, count(*) AS n FROM visits GROUP BY 1) AS w", Spend{Epsilon: eps(t, "0.5")}))
	total.add(w.ask(t, `SELECT 'old' AS who, count(*) AS n FROM visits WHERE age > 60 UNION ALL SELECT sex, count(*) FROM visits GROUP BY sex
		UNION ALL SELECT 'all', sum(n) FROM (SELECT department, count(*) AS n FROM visits GROUP BY department) AS w`, Spend{Rho: rho(t, "0.05")}))
	// Windows over released rows: shares, running sums, differences, and what noise chose. The decades of a sex share noise.
	windows := w.ask(t, `WITH w AS (SELECT sex, age / 10 AS decade, count(*) AS n, sum(cost) AS c FROM visits GROUP BY 1, 2)
		SELECT sex, decade, n * 100.0 / sum(n) OVER (), sum(n) OVER v, avg(c) OVER (v ROWS 2 PRECEDING), n - lag(n) OVER v, max(n) OVER v,
			first_value(c) OVER (v ROWS UNBOUNDED PRECEDING), lead(n, 2, 0) OVER v FROM w WINDOW v AS (PARTITION BY sex ORDER BY decade)`, Spend{Rho: rho(t, "0.05")})
	total.add(windows.together(12))
	total.judge(t)
}

// The tails of sums of Laplace variables: of one and two in closed form, of more by their
// variance, and the noise of sums of real draws.
func TestTailOfLaplaces(t *testing.T) {
	for x := 0.0; x < 40; x += 1.37 {
		for n, want := range map[int]float64{1: math.Exp(-x), 2: math.Exp(-x) * (1 + x/2), 3: math.Exp(-x) * (1 + 5*x/8 + x*x/8)} {
			if got := tailOfLaplaces(n, x); math.Abs(got-want) > 1e-12*want {
				t.Errorf("P(|S%d| > %v) = %v, want %v", n, x, got, want)
			}
		}
	}
	// E S² = ∫ 2x·P(|S| > x) dx = 2n.
	for _, n := range []int{5, 64} {
		sum := 0.0
		for x := 0.005; x < 120; x += 0.01 {
			sum += 2 * x * tailOfLaplaces(n, x) * 0.01
		}
		if math.Abs(sum/float64(2*n)-1) > 0.01 {
			t.Errorf("the variance of %d is %v", n, sum)
		}
	}
}

// Intervals that are a tenth too narrow are rejected: the test has power.
func TestNarrowIntervalsAreRejected(t *testing.T) {
	unlessShort(t)
	path, err := clinic.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := newWorkplace(t, path)
	w.narrow = big.NewRat(9, 10)
	all := w.ask(t, clinic.Questions()[0].SQL, Spend{Rho: rho(t, "0.02")})
	if c := all.columns[0]; c.hits >= leastHits(c.n) {
		t.Errorf("%s: %d of %d narrow intervals hold, which passes", c.name, c.hits, c.n)
	}
}

// unlessShort skips where the race detector, slow, would look for races: what
// runs at once here shares nothing.
func unlessShort(t *testing.T) {
	if testing.Short() {
		t.Skip("skip: -short")
	}
}

// spend reads the flags of a question.
func spend(t *testing.T, flags string) (s Spend) {
	fields := strings.Fields(flags)
	for i := 0; i+1 < len(fields); i += 2 {
		var err error
		switch text := fields[i+1]; fields[i] {
		case "--epsilon":
			s.Epsilon, err = privacy.ParseEpsilon(text)
		case "--delta":
			s.Delta, err = privacy.ParseDelta(text)
		case "--rho":
			s.Rho, err = privacy.ParseRho(text)
		default:
			err = fmt.Errorf("unknown flag %s", fields[i])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// A columnTally says how many of a column's intervals hold.
type columnTally struct {
	name    string
	n, hits int
}

// A tally is that of one or several statements.
type tally struct {
	columns []columnTally
	// exact pools the releases' columns that are one noisy number whose noise
	// is so wide that its steps do not matter.
	exact columnTally
}

func (t *tally) add(more tally) {
	t.columns = append(t.columns, more.columns...)
	t.exact.n, t.exact.hits = t.exact.n+more.exact.n, t.exact.hits+more.exact.hits
}

// together is the tally of rows of which so many share noise. They hold or miss together, in the worst case: the share of them that
// holds is, for all convex functions, at most as far spread as one that alone holds with its probability (Hoeffding 1963), so that
// they count for one. leastHits of independent rows would reject right intervals a few times in a hundred.
func (t tally) together(rows int) tally {
	for i := range t.columns {
		t.columns[i].n /= rows
		t.columns[i].hits /= rows
	}
	return t
}

// judge fails the test if some column's intervals hold too rarely, or the exact
// ones too often.
func (t *tally) judge(tt *testing.T) {
	if len(t.columns) == 0 || len(t.columns) >= maxColumns {
		tt.Fatalf("%d columns with intervals", len(t.columns))
	}
	for _, c := range t.columns {
		tt.Logf("%-60s %6.2f%% of %d", c.name, 100*float64(c.hits)/float64(c.n), c.n)
		if c.hits < leastHits(c.n) {
			tt.Errorf("%s: %d of %d intervals at %v hold", c.name, c.hits, c.n, confidence)
		}
	}
	tt.Logf("%-60s %6.2f%% of %d", "exact ones", 100*float64(t.exact.hits)/float64(t.exact.n), t.exact.n)
	// The half width is the least whole one, so its coverage exceeds the nominal
	// one by at most the probability of its two ends: for scale b at least 10,
	// 0.05/b for Laplace and less for Gaussian noise.
	const most = confidence + 0.005
	misses := t.exact.n - t.exact.hits
	if t.exact.n < runs || misses < leastSuccesses(t.exact.n, 1-most, falseReject) {
		tt.Errorf("%d of %d exact intervals at %v hold: they are wider than they need to be", t.exact.hits, t.exact.n, confidence)
	}
}

// leastHits is how many of n intervals must hold.
func leastHits(n int) int { return leastSuccesses(n, confidence, falseReject/maxColumns) }

// leastSuccesses returns the largest k with P[Binomial(n, p) < k] <= alpha.
func leastSuccesses(n int, p, alpha float64) int {
	logBinomial := func(k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p)
	}
	below := 0.0
	for k := range n + 1 {
		if below += math.Exp(logBinomial(k)); below > alpha {
			return k
		}
	}
	return n
}

// A workplace is a catalog and its engine.
type workplace struct {
	catalog *catalog.Catalog
	engine  engine.Engine
	narrow  *big.Rat // what the half widths of releases are multiplied with; nil in right tests
}

func newWorkplace(t *testing.T, path string) *workplace {
	c, err := catalog.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{Threads: 2, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return &workplace{catalog: c, engine: e}
}

// ask computes a statement's releases exactly and publishes each a thousand times.
func (w *workplace) ask(t *testing.T, sql string, spend Spend) tally {
	t.Helper()
	tree, err := sqlparse.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := bind.Bind(tree, w.catalog)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := stability.Analyze(bound)
	if err != nil {
		t.Fatal(err)
	}
	design, err := NewDesign(certificate, Options{Spend: spend})
	if err != nil {
		t.Fatal(err)
	}
	post := rewrite.Intervals(certificate, rewrite.Options{})
	level, _ := new(big.Rat).SetString(fmt.Sprint(confidence))

	var all tally
	without := make([]*Table, len(design.Releases)) // the tables without noise, by release
	noisy := make([][]*Table, len(design.Releases)) // by release and run
	for i := range design.Releases {
		r := &design.Releases[i]
		query, err := render.Release(rewrite.Release(r.Release, nil))
		if err != nil {
			t.Fatal(err)
		}
		query.Salt = 1
		exact, err := w.engine.Exact(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		domains := w.domains(t, r)
		without[i] = bare(t, r, exact, domains)
		bits := entropy.New()
		for range runs {
			table, err := r.Publish(engine.NewExact(copied(exact.RevealExact())), domains, bits)
			if err != nil {
				t.Fatal(err)
			}
			noisy[i] = append(noisy[i], table)
		}
		all.add(w.released(t, sql, r, without[i], noisy[i], level))
	}
	all.add(w.derived(t, sql, certificate, post, without, noisy, level))
	return all
}

func copied(rows [][]sqltype.Value) [][]sqltype.Value {
	out := make([][]sqltype.Value, len(rows))
	for i, row := range rows {
		out[i] = slices.Clone(row)
	}
	return out
}

// domains lists the keys' public domains, as the front door does.
func (w *workplace) domains(t *testing.T, r *Release) (out [][]sqltype.Value) {
	if r.Private {
		return nil
	}
	for _, k := range r.Keys {
		var values []sqltype.Value
		for _, d := range k.Domain {
			if d.FromTable == nil {
				values = slices.AppendSeq(values, d.All(k.Expr.Type()))
				continue
			}
			columns, rows, err := w.engine.Public(t.Context(), d.FromTable.Name)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(columns, func(c engine.Column) bool { return c.Name == d.FromColumn.Name })
			for _, row := range rows {
				values = append(values, row[at])
			}
		}
		slices.SortFunc(values, sqltype.Compare)
		out = append(out, slices.CompactFunc(values, func(a, b sqltype.Value) bool { return sqltype.Compare(a, b) == 0 }))
	}
	return out
}

// bare is Publish without noise and without selection.
func bare(t *testing.T, r *Release, exact *engine.Exact, domains [][]sqltype.Value) *Table {
	rows := copied(exact.RevealExact())
	if !r.Private {
		rows = r.complete(rows, domains)
	}
	out := &Table{release: r, noisy: make([][]*big.Int, len(r.Components))}
	for _, row := range rows {
		out.keys = append(out.keys, row[:len(r.Keys)])
		for i := range r.Components {
			n, err := integer(row[len(r.Keys)+i])
			if err != nil {
				t.Fatal(err)
			}
			out.noisy[i] = append(out.noisy[i], n)
		}
	}
	return out
}

// released tallies a release's own columns.
func (w *workplace) released(t *testing.T, sql string, r *Release, without *Table, noisy []*Table, level *big.Rat) (all tally) {
	truth := map[string]int{}
	for i, key := range without.keys {
		truth[sqltype.Key(key...)] = i
	}
	widths, err := without.halfWidths(level, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	for j, g := range r.Aggregates {
		c := columnTally{name: fmt.Sprintf("%s of %s", g.Name, title(sql))}
		for i, half := range widths[j][0] {
			widths[j][0][i] = w.narrowed(half)
		}
		for _, table := range noisy {
			for i, key := range table.keys {
				at := table.value(g, i, widths[j][0])
				row, ok := truth[sqltype.Key(key...)]
				if !ok {
					t.Fatalf("%s: a group that is not there was released", sql)
				}
				value := without.value(g, row, nil).lower
				c.n++
				if at.lower.Cmp(value) <= 0 && value.Cmp(at.upper) <= 0 {
					c.hits++
				}
			}
		}
		if c.n < runs {
			t.Errorf("%s: no group was released in most runs", c.name)
		}
		all.columns = append(all.columns, c)
		if len(g.Components) == 1 && r.Noise[g.Components[0]].ScaleIn(big.NewRat(1, 1)) >= 10 {
			all.exact.n, all.exact.hits = all.exact.n+c.n, all.exact.hits+c.hits
		}
	}
	return all
}

func (w *workplace) narrowed(half *big.Int) *big.Int {
	if w.narrow == nil {
		return half
	}
	return whole(new(big.Rat).Mul(new(big.Rat).SetInt(half), w.narrow), down)
}

// derived tallies a statement's columns, as the engine computes them from the
// released tables. Statements whose rows noisy values choose are left out: for
// the choice their intervals say nothing.
func (w *workplace) derived(t *testing.T, sql string, c *stability.Certificate, post *rewrite.Post, without []*Table, noisy [][]*Table, level *big.Rat) (all tally) {
	if slices.Contains(post.Kept, "HAVING") || slices.Contains(post.Kept, "a condition") || slices.Contains(post.Kept, "LIMIT") ||
		!slices.ContainsFunc(post.Columns, func(c rewrite.PostColumn) bool { return c.Lower >= 0 }) {
		return all
	}
	text, err := render.Relation(post.Plan)
	if err != nil {
		t.Fatal(err)
	}
	truth := map[string][]sqltype.Value{}
	key := func(row []sqltype.Value) string {
		var keys []sqltype.Value
		for i, col := range post.Columns {
			if !col.Noisy {
				keys = append(keys, row[i])
			}
		}
		return sqltype.Key(keys...)
	}
	sources := make([]source, len(noisy))
	exact := make([]source, len(noisy))
	sizes := make([]int, len(noisy)) // what is chosen privately has fewer rows, and narrower intervals, in some runs
	for i := range noisy {
		sizes[i] = len(without[i].keys)
	}
	for i := range noisy {
		sources[i], exact[i] = rows(t, noisy[i], level, post.Divided(sizes), post.Sums(i)), rows(t, without[i:i+1], level, post.Divided(sizes), post.Sums(i))
	}
	for _, row := range w.post(t, post, text, exact) {
		truth[key(row)] = row
	}
	tallies := make([]columnTally, len(post.Columns))
	for _, row := range w.post(t, post, text, sources) {
		want, ok := truth[key(row)]
		if !ok {
			t.Fatalf("%s: a row without its like among those without noise", sql)
		}
		for j, col := range post.Columns {
			if col.Lower < 0 || want[j] == nil {
				continue
			}
			tallies[j].n++
			lower, upper := row[col.Lower], row[col.Upper]
			if lower == nil || upper == nil || // none is stated, so none misses
				sqltype.Compare(lower, want[j]) <= 0 && sqltype.Compare(want[j], upper) <= 0 {
				tallies[j].hits++
			}
		}
	}
	for j, col := range post.Columns {
		if tallies[j].name = fmt.Sprintf("column %d of %s", j+1, title(sql)); col.Lower >= 0 && tallies[j].n > 0 {
			all.columns = append(all.columns, tallies[j])
		}
	}
	return all
}

// A source is what post-processing reads of a release: the rows of all runs, with
// the run as a further, last, column.
type source struct {
	columns []engine.Column
	rows    [][]sqltype.Value
}

func rows(t *testing.T, tables []*Table, level *big.Rat, shares, sums []int) source {
	// Intervals depend on no run: one table of all rows has them computed once.
	all := &Table{release: tables[0].release, noisy: make([][]*big.Int, len(tables[0].noisy))}
	var run []sqltype.Value
	for n, table := range tables {
		all.keys = append(all.keys, table.keys...)
		for i := range all.noisy {
			all.noisy[i] = append(all.noisy[i], table.noisy[i]...)
		}
		for range table.keys {
			run = append(run, int64(n))
		}
	}
	columns, rows, err := all.Rows(level, shares, sums...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		rows[i] = append(rows[i], run[i])
	}
	return source{append(columns, engine.Column{Name: "run", Type: sqltype.Of(sqltype.Bigint)}), rows}
}

// post runs the post-processing once for each run, in one statement: every
// released table in it is what the run at hand has of it.
func (w *workplace) post(t *testing.T, post *rewrite.Post, text string, sources []source) [][]sqltype.Value {
	scratch, err := w.engine.Scratch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer scratch.Close()
	each := text
	for i, s := range sources {
		columns := render.ReleasedColumns(s.columns)
		name, last := render.ReleasedName(i), columns[len(columns)-1].Name
		if err := scratch.Load(t.Context(), name, columns, s.rows); err != nil {
			t.Fatal(err)
		}
		each = strings.ReplaceAll(each, strconv.Quote(name), fmt.Sprintf("(SELECT * FROM %s AS source WHERE source.%s = run.n) AS released", name, last))
	}
	for _, table := range w.catalog.Tables {
		if table.Public && strings.Contains(text, table.Name) {
			columns, rows, err := w.engine.Public(t.Context(), table.Name)
			if err != nil {
				t.Fatal(err)
			}
			if err := scratch.Load(t.Context(), table.Name, columns, rows); err != nil {
				t.Fatal(err)
			}
		}
	}
	var types []sqltype.Type
	for _, c := range post.Plan.Columns() {
		types = append(types, c.Type)
	}
	rows, err := scratch.Query(t.Context(), fmt.Sprintf("SELECT answer.* FROM range(%d) AS run(n), LATERAL (%s) AS answer", runs, each), types)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return rows
}

func title(sql string) string {
	line := strings.Join(strings.Fields(sql), " ")
	return line[:min(len(line), 40)]
}
