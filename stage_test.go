//go:build cgo

package discreet

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

const stagedCatalog = `[domains.d]
measure = "approx"
epsilon = 1e6
delta = 1e-3
[defaults]
epsilon = 1000.0
delta = 1e-7
[tables.t]
source = "t.csv"
domain = "d"
unit = "who"
max_groups_per_unit = 3
max_rows_per_group = 4
columns.who = { type = "bigint" }
columns.k = { type = "text", domain = ["a", "b", "c"] }
columns.x = { type = "bigint", lower = 0, upper = 9 }
[tables.p]
source = "p.csv"
public = true
columns.k = { type = "text" }
columns.name = { type = "text" }
`

var stagedStatements = []string{
	"SELECT k, count(*) FROM t WHERE x > (SELECT avg(x) FROM t) GROUP BY k",
	"SELECT count(*) FROM t WHERE k IN (SELECT k FROM t GROUP BY k HAVING count(*) > 3)",
	"SELECT k, sum(x), count(DISTINCT who) FROM t AS a WHERE x >= (SELECT avg(x) / 2 FROM t AS b WHERE b.k = a.k) GROUP BY k",
	"SELECT median(x) FROM t JOIN p ON p.k = t.k WHERE x < (SELECT 1 + avg(x) FROM t AS b WHERE b.k = p.k)",
	"SELECT count(*) FROM t WHERE x > (SELECT avg(x) FROM t WHERE x < (SELECT 2 * avg(x) FROM t))",
}

// staged opens a database of so many units, with a recorder.
func staged(t *testing.T, units int) (*Database, *recorder) {
	t.Helper()
	var rows strings.Builder
	rows.WriteString("who,k,x\n")
	for u := range units {
		for i := range 4 {
			fmt.Fprintf(&rows, "%d,%c,%d\n", u, 'a'+(u+i)%4, (u*7+i)%10)
		}
	}
	r := &recorder{}
	db := opened(t, map[string]string{"t.csv": rows.String(), "p.csv": "k,name\na,A\nb,B\nz,Z\n", "c.toml": stagedCatalog}, func(e engine.Engine) engine.Engine { r.Engine = e; return r })
	return db, r
}

// A statement over D and over its neighbour D' has the same plan, shape and cost; and where the first release says the same,
// whichever of them it was made of, the engine is asked the same text for the second.
func TestStagesDependOnWhatWasReleased(t *testing.T) {
	d, _ := staged(t, 40)
	e, _ := staged(t, 39)
	for _, sql := range stagedStatements {
		var plans [2]*Statement
		for i, db := range []*Database{d, e} {
			s, err := db.Prepare(t.Context(), sql, nil)
			if err != nil {
				t.Fatalf("%s\n%v", sql, err)
			}
			plans[i] = s
		}
		a, b := plans[0], plans[1]
		if string(a.certificate) != string(b.certificate) || a.fingerprint != b.fingerprint || !reflect.DeepEqual(a.compiled.queries, b.compiled.queries) || !reflect.DeepEqual(a.compiled.trees, b.compiled.trees) ||
			fmt.Sprint(a.compiled.stages) != fmt.Sprint(b.compiled.stages) || fmt.Sprint(a.planned.design.Events) != fmt.Sprint(b.planned.design.Events) {
			t.Errorf("%s: plans of neighbours differ", sql)
		}
		if len(a.planned.certificate.Stages) == 0 {
			t.Errorf("%s has no stage", sql)
		}
		shape := ""
		for i, of := range []*Statement{a, b} { // whose first releases are read
			var published []*release.Table
			stages := render.Stages{}
			db := of.db
			for number, r := range of.planned.design.Releases {
				var asked [2][]engine.Query
				for k, s := range plans {
					if err := s.db.fillStages(t.Context(), s.planned, s.compiled, stagesBelow(s, number), published, stages); err != nil {
						t.Fatal(err)
					}
					q, trees, err := s.db.over(s.planned, s.compiled, number, stages)
					if err != nil {
						t.Fatal(err)
					}
					asked[k] = append(slices.Clone(trees), q)
				}
				if !reflect.DeepEqual(asked[0], asked[1]) {
					t.Errorf("%s: release %d is asked of neighbours in two ways:\n%+v\n%+v", sql, number, asked[0], asked[1])
				}
				q, trees, err := db.over(of.planned, of.compiled, number, stages)
				if err != nil {
					t.Fatal(err)
				}
				leaves := make([]*engine.Exact, len(trees))
				exact := engine.NewExact(nil)
				if q.SQL != "" {
					if exact, err = db.config.Engine.Exact(t.Context(), q); err != nil {
						t.Fatal(err)
					}
				}
				for j, tree := range trees {
					if leaves[j], err = db.config.Engine.Exact(t.Context(), tree); err != nil {
						t.Fatal(err)
					}
				}
				table, err := r.Publish(exact, of.compiled.domains[number], entropy.New(), leaves...)
				if err != nil {
					t.Fatal(err)
				}
				published = append(published, table)
			}
			last, err := of.planned.tables(published)
			if err != nil {
				t.Fatal(err)
			}
			now := fmt.Sprint(last[len(last)-1].columns, len(last[len(last)-1].rows))
			if i > 0 && now != shape {
				t.Errorf("%s: shapes differ: %s and %s", sql, shape, now)
			}
			shape = now
		}
	}
}

func stagesBelow(s *Statement, number int) []int {
	return stability.StagesOf(s.planned.certificate.Releases[number].Input)
}

// All of a staged statement is reserved before anything is asked of the engine, in one reservation of all events; and the
// engine is asked for the release below before the one above, which has its values.
func TestStagesAreChargedOnceAndFirst(t *testing.T) {
	db, r := staged(t, 40)
	for _, sql := range stagedStatements {
		before, err := db.config.Ledger.Balance(t.Context(), "d")
		if err != nil {
			t.Fatal(err)
		}
		r.asked = nil
		explained, err := db.Explain(t.Context(), sql, nil)
		if err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
		if len(r.asked) > 0 {
			t.Errorf("%s: explain asks the engine", sql)
		}
		a, err := db.Query(t.Context(), sql, nil)
		if err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
		after, err := db.config.Ledger.Balance(t.Context(), "d")
		if err != nil {
			t.Fatal(err)
		}
		spent := new(big.Rat).Sub(before.Remaining.Epsilon.Rat(), after.Remaining.Epsilon.Rat())
		if spent.Cmp(explained.Cost.Epsilon.Rat()) != 0 || a.Cost.Epsilon.Rat().Cmp(spent) != 0 {
			t.Errorf("%s: %s was spent, %s explained, %s stated", sql, spent, explained.Cost.Epsilon, a.Cost.Epsilon)
		}
		if len(explained.Certificate.Releases) < 2 || !strings.Contains(fmt.Sprint(explained.Certificate), "stage 0 is made of release 1, before this is released") {
			t.Errorf("%s: the certificates do not say what depends on what: %v", sql, explained.Certificate)
		}
		if first := explained.Certificate.Stages[0]; !strings.Contains(first.Plan, "released 0") || fmt.Sprint(first.Releases) != "[1]" || !strings.Contains(explained.StageSQL[0], "released_0") {
			t.Errorf("%s: nothing says what the first stage computes: %+v, %q", sql, first, explained.StageSQL)
		}
		if !strings.Contains(strings.Join(a.Notes, "\n"), "intervals are of the noise alone that was added after") {
			t.Errorf("%s: no note says what intervals are of: %q", sql, a.Notes)
		}
	}
	// Without a budget for both nothing is asked.
	r.asked = nil
	most, err := privacy.ParseEpsilon("1e6")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Query(t.Context(), stagedStatements[0], &QueryOptions{Spend: Spend{Epsilon: most}}); err == nil || len(r.asked) > 0 {
		t.Errorf("a statement beyond the budget: %v, and the engine is asked %d times", err, len(r.asked))
	}
}

// Statements whose stages alone differ ask different things: neither is answered, nor allowed, by the other's fingerprint.
func TestStagesAreInFingerprints(t *testing.T) {
	db, _ := staged(t, 4)
	for _, pair := range [][2]string{
		{"SELECT count(*) FROM t WHERE x > (SELECT avg(x) / 2 FROM t)", "SELECT count(*) FROM t WHERE x > (SELECT avg(x) / 4 FROM t)"},
		{"SELECT count(*) FROM t WHERE k IN (SELECT k FROM t GROUP BY k HAVING count(*) > 3)", "SELECT count(*) FROM t WHERE k IN (SELECT k FROM t GROUP BY k HAVING count(*) > 4)"},
		{"SELECT median(x) FROM t WHERE k IN (SELECT k FROM t GROUP BY k ORDER BY count(*) LIMIT 1)", "SELECT median(x) FROM t WHERE k IN (SELECT k FROM t GROUP BY k ORDER BY count(*) DESC LIMIT 1)"},
		{"SELECT count(*) FROM t WHERE x < (SELECT avg(x) FROM t WHERE x > (SELECT avg(x) / 2 FROM t))", "SELECT count(*) FROM t WHERE x < (SELECT avg(x) FROM t WHERE x > (SELECT avg(x) / 4 FROM t))"},
		{"SELECT count(*) FROM t, (SELECT avg(x) AS m FROM t) AS s, p WHERE p.k = t.k AND x > m", "SELECT count(*) FROM t, (SELECT avg(x) AS m FROM t) AS s, p WHERE p.name = t.k AND x > m"},
	} {
		var seen [2]*Statement
		for i, sql := range pair {
			s, err := db.Prepare(t.Context(), sql, &QueryOptions{Reuse: true})
			if err != nil {
				t.Fatalf("%s\n%v", sql, err)
			}
			seen[i] = s
		}
		if len(seen[0].planned.certificate.Stages) == 0 {
			t.Errorf("%s has no stage", pair[0])
		}
		if seen[0].fingerprint == seen[1].fingerprint || string(seen[0].question) == string(seen[1].question) {
			t.Errorf("of one fingerprint, or one question:\n%s\n%s", pair[0], pair[1])
		}
	}
}

// With little noise, what is answered is what the statement means.
func TestStagesMeanWhatTheySay(t *testing.T) {
	db, _ := staged(t, 400)
	for sql, want := range map[string]string{
		// A unit has x of four in a row; half of all values are above 4.5.
		"SELECT count(*) FROM t WHERE x > (SELECT avg(x) FROM t WHERE k = 'z')":                                                    "800",
		"SELECT count(*) FROM t WHERE x > (SELECT avg(x) FROM t)":                                                                  "800",
		"SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM (SELECT k, count(*) AS n FROM t GROUP BY k) AS s WHERE s.k = t.k)": "400",
		"SELECT count(*) FROM t WHERE x > (SELECT avg(x) FROM t) / (SELECT 0 * count(*) FROM t)":                                   "0",
		// Of four values of a unit, which follow one another but for 9 and 0, there are six pairs, and one is the largest.
		"SELECT count(*) FROM t AS a, LATERAL (SELECT x AS y FROM t AS b WHERE b.who = a.who AND b.x > a.x) AS l":                                                 "2400",
		"SELECT count(*) FROM t AS a LEFT JOIN LATERAL (SELECT count(*) AS n, max(x) FROM t AS b WHERE b.who = a.who AND b.x = a.x + 1) AS l ON true WHERE n = 0": "520",
		"SELECT count(*) FROM t AS a LEFT JOIN LATERAL (SELECT 1 AS one FROM t AS b WHERE b.who = a.who AND b.x > a.x) AS l ON true WHERE one IS NULL":            "400",
		"SELECT count FROM (SELECT approx_top_count(k, 1) FROM t) AS s":                                                                                           "400",
	} {
		a, err := db.Query(t.Context(), sql, nil)
		if err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
		got, ok := a.Rows[0][0].(int64)
		wanted, _ := new(big.Int).SetString(want, 10)
		if !ok || max(got-wanted.Int64(), wanted.Int64()-got) > 60 {
			t.Errorf("%s is %v, want %s", sql, a.Rows[0][0], want)
		}
	}
}

// An accuracy of grouping sets is that of each set's values, which have noise of their own.
func TestAccuracyOfSets(t *testing.T) {
	db, _ := staged(t, 400)
	const most = 25
	o := &QueryOptions{Accuracy: Accuracy{Error: big.NewRat(most, 1)}}
	e, err := db.Explain(t.Context(), "SELECT k, x > 4 AS high, count(DISTINCT who) AS units FROM t GROUP BY ROLLUP (1, 2)", o)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.ExpectedError) != 3 {
		t.Errorf("errors of %d sets, want 3", len(e.ExpectedError))
	}
	for _, of := range e.ExpectedError {
		if of.Error > most || of.Error < most/4 {
			t.Errorf("a set's error is %v, want at most %d, and not much less", of.Error, most)
		}
	}
	// Of sets that are sums of noisy values it is that of the coarsest: the total has the noise of six.
	const sums = "SELECT k, x > 4 AS high, count(*) FROM t GROUP BY ROLLUP (1, 2)"
	if e, err = db.Explain(t.Context(), sums, o); err != nil {
		t.Fatal(err)
	}
	deviation := e.Mechanisms[0].Scale
	if e.Mechanisms[0].Mechanism == "discrete_laplace" {
		deviation *= math.Sqrt2
	}
	if off := 1.9 * math.Sqrt(6) * deviation; len(e.Mechanisms) != 1 || off > most || off < most/2 {
		t.Errorf("the total is off by %v, want at most %d, and not much less: %+v", off, most, e.Mechanisms)
	}
	for _, of := range []*QueryOptions{
		{Accuracy: o.Accuracy, Consistent: true},
		{Accuracy: Accuracy{Error: big.NewRat(1, 10), Relative: true}},
	} {
		var r *Refusal
		if _, err = db.Explain(t.Context(), sums, of); !errors.As(err, &r) || r.Code != "D261" {
			t.Errorf("an accuracy without a price: %v, want D261", err)
		}
	}
}

// named opens a database of units each of which has x = 1 in group a, 5 in b, 9 in c, and 3 in that of NULL; public rows name b, c and NULL.
func named(t *testing.T, units int) (*Database, *shifting) {
	t.Helper()
	var rows strings.Builder
	rows.WriteString("who,n,x\n")
	for u := range units {
		fmt.Fprintf(&rows, "%d,a,1\n%d,b,5\n%d,c,9\n%d,,3\n", u, u, u, u)
	}
	text := strings.NewReplacer("columns.k = { type = \"text\", domain = [\"a\", \"b\", \"c\"] }", "columns.n = { type = \"text\" }", "max_groups_per_unit = 3", "max_groups_per_unit = 4").Replace(stagedCatalog)
	s := &shifting{}
	db := opened(t, map[string]string{"t.csv": rows.String(), "p.csv": "k,name\nb,B\nc,C\n,none\n", "c.toml": text}, func(e engine.Engine) engine.Engine { s.Engine = e; return s })
	return db, s
}

// Public rows that name groups are numbered once: each group keeps its name where a public table changes before the statement is answered.
func TestNamesOfGroupsStand(t *testing.T) {
	db, public := named(t, 400)
	const sql = "SELECT count(*) FROM t JOIN p ON p.k = t.n WHERE abs(t.x - (SELECT avg(b.x) FROM t AS b WHERE b.n = p.k)) < 1"
	s, err := db.Prepare(t.Context(), sql, nil)
	if err != nil {
		t.Fatal(err)
	}
	public.rows = [][]sqltype.Value{{"a", "A"}, {"aa", "AA"}, {"b", "B"}, {"c", "C"}}
	a, err := s.Answer(t.Context(), Payer{})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := a.Rows[0][0].(int64); !ok || got < 740 || got > 860 {
		t.Errorf("%v rows lie at the mean of their group, want 800", a.Rows[0][0])
	}
	again, err := db.Prepare(t.Context(), sql, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again.Fingerprint() == s.Fingerprint() || string(again.Certificate()) == string(s.Certificate()) {
		t.Error("what is asked of other public rows is taken for the same")
	}
	// As many rows as constants may not be are refused before anything is asked.
	public.rows = nil
	for n := range int64(stability.MaxStage + 1) {
		public.rows = append(public.rows, []sqltype.Value{fmt.Sprint(n), "N"})
	}
	var r *Refusal
	if _, err := db.Prepare(t.Context(), sql, nil); !errors.As(err, &r) || r.Code != "D051" {
		t.Errorf("too many groups that public rows name: %v, want D051", err)
	}
}

// Where public rows name groups by IS NOT DISTINCT FROM, NULL names the group of NULL; by = it names none.
func TestNullNamesItsGroup(t *testing.T) {
	db, _ := named(t, 400)
	for condition, want := range map[string]int64{"g.n IS NOT DISTINCT FROM p.k": 1200, "g.n = p.k": 800} {
		a, err := db.Query(t.Context(), "SELECT count(*) FROM t JOIN p ON p.k IS NOT DISTINCT FROM t.n JOIN (SELECT n, avg(x) AS m FROM t GROUP BY n) AS g ON "+condition+" WHERE abs(t.x - g.m) < 1", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := a.Rows[0][0].(int64); !ok || got < want-60 || got > want+60 {
			t.Errorf("%s: %v rows lie at the mean of their group, want %d", condition, a.Rows[0][0], want)
		}
	}
}

// A stage of too many rows is not read beyond the first that is too much.
func TestStagesAreReadNoFurther(t *testing.T) {
	db, _ := staged(t, 4)
	s, err := db.Prepare(t.Context(), "SELECT count(*) FROM t WHERE x < (SELECT max(m.n) FROM (SELECT k, count(*) AS n FROM t GROUP BY k) AS m)", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.planned.certificate.Stages[0].Plan = many(s.planned.certificate.Stages[0].Plan.Columns()[0])
	c, err := db.compile(t.Context(), s.planned)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := db.computeStage(t.Context(), s.planned, c, 0, nil)
	if err != nil || len(rows) != stability.MaxStage+1 {
		t.Fatalf("%d rows are read, %v, want %d", len(rows), err, stability.MaxStage+1)
	}
	if err := db.fillStages(t.Context(), s.planned, c, []int{0}, nil, render.Stages{}); !errors.Is(err, errStage) {
		t.Errorf("a stage of too many rows: %v", err)
	}
}

// many is a relation of a million rows.
func many(col plan.Column) plan.Node {
	ten := &plan.Values{Names: []string{col.Name}, Types: []sqltype.Type{col.Type}}
	for range 10 {
		ten.Rows = append(ten.Rows, []plan.Expr{&plan.Literal{T: col.Type}})
	}
	var n plan.Node = ten
	for range 5 {
		n = &plan.Join{Kind: plan.Cross, Left: n, Right: ten}
	}
	return &plan.Project{Input: n, Exprs: []plan.Expr{&plan.Ref{Name: col.Name, T: col.Type}}, Names: []string{col.Name}}
}

// Grouping sets that were bounded once add up where consistent values are asked for, in every statement that shows them; and otherwise do not.
func TestConsistentSetsAddUp(t *testing.T) {
	db, _ := staged(t, 40)
	const sql = "SELECT grouping(k), grouping(x > 4), k, x > 4 AS high, count(*) AS n, sum(x::integer) AS total, avg(x), count(DISTINCT who) FROM t GROUP BY CUBE (k, high)"
	half, err := privacy.ParseEpsilon("0.5")
	if err != nil {
		t.Fatal(err)
	}
	adds := func(consistent bool) bool {
		a, err := db.Query(t.Context(), sql, &QueryOptions{Spend: Spend{Epsilon: half}, Consistent: consistent, Fresh: true})
		if err != nil {
			t.Fatal(err)
		}
		var sums [4][2]int64 // of each set
		for i, row := range a.Rows {
			for j, column := range []int{4, 5} {
				v, ok := row[column].(int64)
				at := a.Intervals[i][column]
				if !ok || at == nil || at.Lower.(int64) > v || at.Upper.(int64) < v || consistent && v < 0 {
					t.Fatalf("%v is in %v", row[column], at)
				}
				sums[row[0].(int64)*2+row[1].(int64)][j] += v
			}
			if at := a.Intervals[i][6]; at != nil && (at.Lower.(float64) > row[6].(float64) || at.Upper.(float64) < row[6].(float64)) {
				t.Fatalf("the average %v is in %v", row[6], at)
			}
		}
		if told := strings.Contains(strings.Join(a.Notes, "\n"), "so that they add up"); told != consistent {
			t.Errorf("consistent %t: the notes are %q", consistent, a.Notes)
		}
		return sums[0] == sums[1] && sums[1] == sums[2] && sums[2] == sums[3]
	}
	if !adds(true) {
		t.Error("consistent grouping sets do not add up")
	}
	for tries := 1; adds(false); tries++ { // each by chance at most once in a million times
		if tries == 3 {
			t.Fatal("grouping sets add up where nobody asked for it")
		}
	}
}
