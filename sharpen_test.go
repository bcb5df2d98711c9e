//go:build cgo

package discreet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A salted engine notes which salt each query had, and what it found.
type salted struct {
	engine.Engine
	salts []int64
	found [][]any
	read  func() // called, if it is not nil, before rows are read
	large bool   // every answer is too large
	other string // keeps other rows, under this name
}

func (s *salted) Scratch(ctx context.Context) (engine.Scratch, error) {
	scratch, err := s.Engine.Scratch(ctx)
	if s.large && err == nil {
		return tooLargeFor{scratch}, nil
	}
	return scratch, err
}

type tooLargeFor struct{ engine.Scratch }

func (tooLargeFor) Query(context.Context, string, []sqltype.Type) ([][]sqltype.Value, error) {
	return nil, engine.ErrTooLarge
}

func (s *salted) Keeps() string { return engine.Keeps(s.Engine) + s.other }

func (s *salted) Exact(ctx context.Context, q engine.Query) (*engine.Exact, error) {
	if s.read != nil {
		s.read()
	}
	exact, err := s.Engine.Exact(ctx, q)
	if err == nil {
		var rows []any
		for _, row := range exact.RevealExact() {
			rows = append(rows, fmt.Sprint(row))
		}
		s.salts, s.found = append(s.salts, q.Salt), append(s.found, rows)
	}
	return exact, err
}

// sharpening is a shelved database that keeps salts as they are; bounds cut what units have, so that they decide.
func sharpening(t *testing.T, measure string) (*shelved, *salted) {
	w := shelve(t, "zcdp", "measure = \"MEASURE\"", fmt.Sprintf("measure = %q", measure), "max_groups_per_unit = 3", "max_groups_per_unit = 2", "max_rows_per_group = 4", "max_rows_per_group = 1")
	s := &salted{Engine: w.recorder.Engine}
	w.config.Engine = s
	return w, s
}

func (w *shelved) rho(t *testing.T, cost string) *QueryOptions {
	o := w.at("")
	o.Spend.Rho = must(privacy.ParseRho(cost))
	return o
}

// pays asks, and holds what was charged, and what explain says before, against what is wanted.
func (w *shelved) pays(t *testing.T, sql string, o *QueryOptions, want string) *Answer {
	t.Helper()
	e, err := w.Explain(t.Context(), sql, o)
	if err != nil {
		t.Fatal(err)
	}
	before := must(w.config.Ledger.Balance(t.Context(), "d"))
	a, err := w.Query(t.Context(), sql, o)
	if err != nil {
		t.Fatal(err)
	}
	after := must(w.config.Ledger.Balance(t.Context(), "d"))
	if paid := after.Spent.Rho.Rat(); paid.Sub(paid, before.Spent.Rho.Rat()).Cmp(a.Cost.Rho.Rat()) != 0 {
		t.Errorf("%s\nis charged %v, and says %v", sql, paid.FloatString(6), a.Cost.Rho)
	}
	if paid := after.Spent.Renyi.Rat(); paid.Sub(paid, before.Spent.Renyi.Rat()).Cmp(a.Cost.Renyi.Rat()) != 0 {
		t.Errorf("%s\nis charged %v, and says %v", sql, paid.FloatString(6), a.Cost.Renyi)
	}
	cost := must(privacy.ParseRho(want)).Rat()
	if paid := revealed(a.Cost.Events); paid != nil && paid.Cmp(cost) != 0 {
		t.Errorf("%s\nreveals rho %v, not %s", sql, paid.FloatString(6), want)
	}
	if e.Reused != a.Reused || e.Reused != (cost.Sign() == 0) || !e.Reused && (fmt.Sprint(e.Cost) != fmt.Sprint(a.Cost) || !reflect.DeepEqual(e.Mechanisms, a.Mechanisms)) {
		t.Errorf("%s\nis explained as reused %v, at %v by %v, not %v, at %v by %v", sql, e.Reused, e.Cost, e.Mechanisms, a.Reused, a.Cost, a.Mechanisms)
	}
	return a
}

// revealed is the rho of events, of Gaussian ones alone; nil of others.
func revealed(events []privacy.Event) *big.Rat {
	sum := new(big.Rat)
	for _, e := range events {
		g, ok := e.(privacy.DiscreteGaussian)
		if !ok {
			return nil
		}
		sum.Add(sum, new(big.Rat).Quo(g.SensitivitySquared, new(big.Rat).Add(g.Variance, g.Variance)))
	}
	return sum
}

// A statement that asks for more than is stored pays for the difference, is computed from the same rows, and is as precise as one that pays for all.
func TestSharpened(t *testing.T) {
	for _, measure := range []string{"zcdp", "rdp"} {
		t.Run(measure, func(t *testing.T) {
			w, engine := sharpening(t, measure)
			w.version()
			const sql = "SELECT k, count(*) AS n FROM t GROUP BY k HAVING count(*) > -1000"
			w.pays(t, sql, w.rho(t, "0.004"), "0.004")
			a := w.pays(t, "SELECT k, count(*) AS n FROM t GROUP BY 1 HAVING count(*) > -1000", w.rho(t, "0.01"), "0.006")
			if len(engine.salts) != 2 || engine.salts[0] != engine.salts[1] || !reflect.DeepEqual(engine.found[0], engine.found[1]) {
				t.Fatalf("salts %v keep %v", engine.salts, engine.found)
			}
			if m := a.Mechanisms[0]; m.Mechanism != "discrete_gaussian" || m.Terms != 2 {
				t.Errorf("the noise is %+v", m)
			}
			fresh := *w.rho(t, "0.01")
			fresh.Fresh = true
			b := w.pays(t, sql, &fresh, "0.01")
			fresh = *w.rho(t, "0.0001")
			fresh.Fresh = true
			for len(engine.found) < 7 && reflect.DeepEqual(engine.found[len(engine.found)-1], engine.found[0]) { // by chance once in 700 times
				w.pays(t, sql, &fresh, "0.0001")
			}
			if engine.salts[2] == engine.salts[0] || reflect.DeepEqual(engine.found[len(engine.found)-1], engine.found[0]) {
				t.Errorf("the test is weak: salts %v keep the same rows", engine.salts)
			}
			for i, row := range a.Intervals {
				width := func(x *Interval) float64 { return decimal(x.Upper) - decimal(x.Lower) }
				if x, y := width(row[1]), width(b.Intervals[i][1]); math.Abs(x-y) > 2+y/100 {
					t.Errorf("an interval of %v, and of %v where all is paid for", x, y)
				}
			}
			w.pays(t, sql, w.rho(t, "0.01"), "0")
			w.pays(t, sql, w.rho(t, "0.008"), "0")
			w.pays(t, sql, w.rho(t, "0.02"), "0.01") // the one that was paid for in full, not the average
			w.pays(t, sql, w.rho(t, "0.02"), "0")
			history := must(w.config.Ledger.History(t.Context()))
			sharpened := 0
			for _, e := range history {
				if e.Sharpens > 0 {
					sharpened++
				}
			}
			if sharpened != 2 {
				t.Errorf("the history has %d sharpened answers", sharpened)
			}
			if err := w.config.Ledger.Verify(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// What is not the same question of the same version, or cannot be averaged, pays for all.
func TestNotSharpened(t *testing.T) {
	w, engine := sharpening(t, "zcdp")
	const sql = "SELECT k, count(*) AS n FROM t GROUP BY k"
	w.pays(t, sql, w.rho(t, "0.004"), "0.004") // no version was declared
	w.pays(t, sql, w.rho(t, "0.01"), "0.01")
	for name, c := range map[string]struct {
		first, then string
		cost        string
		change      func(*QueryOptions)
		between     func()
		want        string
	}{
		"sharpened":               {sql, sql, "0.01", nil, nil, "0.006"},
		"another version":         {sql, sql, "0.01", nil, w.version, "0.01"},
		"other rows":              {sql, "SELECT k, count(*) AS n FROM t WHERE x > 1 GROUP BY k", "0.01", nil, nil, "0.01"},
		"fresh":                   {sql, sql, "0.01", func(o *QueryOptions) { o.Fresh = true }, nil, "0.01"},
		"a key":                   {sql, sql, "0.01", func(o *QueryOptions) { o.IdempotencyKey = "k" }, nil, "0.01"},
		"another confidence":      {sql, sql, "0.01", func(o *QueryOptions) { o.Confidence = 0.5 }, nil, "0.01"},
		"groups that were chosen": {"SELECT free, count(*) FROM t GROUP BY free", "SELECT free, count(*) FROM t GROUP BY free", "0.01", nil, nil, "0.01"},
		"noise of several":        {"SELECT k, avg(x) FROM t GROUP BY k", "SELECT k, avg(x) FROM t GROUP BY k", "0.01", nil, nil, "0.01"},
		"a tree":                  {"SELECT median(x) FROM t", "SELECT median(x) FROM t", "0.01", nil, nil, "0.01"},
		"too precise to round":    {sql, sql, "0.5", nil, nil, "0.5"},
		"next to nothing more":    {sql, sql, "0.004001", nil, nil, "0.004001"},
	} {
		w.version()
		w.pays(t, c.first, w.rho(t, "0.004"), "0.004")
		if c.between != nil {
			c.between()
		}
		o := w.rho(t, c.cost)
		if c.change != nil {
			c.change(o)
		}
		asked := len(engine.salts)
		if o.IdempotencyKey != "" {
			if a := must(w.Query(t.Context(), c.then, o)); a.Cost.Rho.String() != c.want {
				t.Errorf("%s: charged %v", name, a.Cost.Rho)
			}
		} else {
			w.pays(t, c.then, o, c.want)
		}
		if same := engine.salts[asked] == engine.salts[asked-1]; same != (c.want == "0.006") {
			t.Errorf("%s: the salt is the same: %v", name, same)
		}
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// Another program, or another engine, may keep other rows by a salt.
func TestSharpenedByItsOwnProgram(t *testing.T) {
	w, _ := sharpening(t, "zcdp")
	w.version()
	const sql = "SELECT k, count(*) AS n FROM t GROUP BY k"
	w.pays(t, sql, w.rho(t, "0.004"), "0.004")
	s := must(w.Prepare(t.Context(), sql, w.rho(t, "0.01")))
	s.versioned.Store(true)
	r := s.Request(Payer{})
	s.sharpen(&r)
	stored := must(w.config.Ledger.Reserve(t.Context(), r)).Sharpens.Answer
	if !r.Averages(stored) {
		t.Fatal("it is not sharpened")
	}
	if r.Keeps == "" {
		t.Fatal("it is not said how its rows are kept")
	}
	for name, of := range map[string][]byte{
		"no salts":       bytes.Replace(stored, []byte(`"salts"`), []byte(`"other"`), 1),
		"no tables":      bytes.Replace(stored, []byte(`"tables"`), []byte(`"other"`), 1),
		"what was large": []byte(`{"released":[]}`),
	} {
		if bytes.Equal(of, stored) || r.Averages(of) {
			t.Errorf("%s: it is sharpened", name)
		}
	}
	elsewhere := must(Open(t.Context(), Config{Catalog: w.config.Catalog, Engine: otherwise{w.config.Engine}, Ledger: w.config.Ledger}))
	s.db = elsewhere
	if s.averages() {
		t.Error("over another engine it is sharpened")
	}
}

// Of what another version of the engine kept, and of an answer with more numbers than are stored, nothing is sharpened: nobody reads it in vain.
func TestNothingToSharpen(t *testing.T) {
	w, engine := sharpening(t, "zcdp")
	w.version()
	const sql = "SELECT k, count(*) AS n FROM t GROUP BY k"
	w.pays(t, sql, w.rho(t, "0.004"), "0.004")
	engine.other = " of another version"
	w.pays(t, sql, w.rho(t, "0.01"), "0.01")

	w = shelve(t, "zcdp", "upper = 4, step = 1", "upper = 59999, step = 1")
	w.config.Engine = &salted{Engine: w.recorder.Engine}
	for sql, want := range map[string]bool{"SELECT k, count(*) FROM t GROUP BY k": true, "SELECT n, count(*) FROM t GROUP BY n": false} {
		if s := must(w.Prepare(t.Context(), sql, w.rho(t, "0.01"))); s.averages() != want {
			t.Errorf("%s: sharpened %v", sql, !want)
		}
	}
}

type otherwise struct{ engine.Engine } // of which nothing is known

// No salt is told: not in an answer, paid for, served or sharpened, nor in an explanation or the history.
func TestSaltsAreNotTold(t *testing.T) {
	w, engine := sharpening(t, "zcdp")
	w.version()
	const sql = "SELECT k, count(*) AS n FROM t GROUP BY k"
	var told []any
	for _, cost := range []string{"0.004", "0.004", "0.003", "0.01", "0.01"} {
		o := w.rho(t, cost)
		told = append(told, must(w.Explain(t.Context(), sql, o)), must(w.Query(t.Context(), sql, o)))
		o.Repeat = true
		told = append(told, must(w.Query(t.Context(), sql, o)))
	}
	told = append(told, must(w.config.Ledger.History(t.Context())))
	text := string(must(json.Marshal(told)))
	if len(engine.salts) == 0 || strings.Contains(text, `"salts"`) || slices.ContainsFunc(engine.salts, func(s int64) bool { return strings.Contains(text, fmt.Sprint(s)) }) {
		t.Errorf("salts %v are in\n%s", engine.salts, text)
	}
}

// Two who sharpen one answer at once are both charged their difference.
func TestSharpenedTwiceAtOnce(t *testing.T) {
	w, _ := sharpening(t, "zcdp")
	w.version()
	const sql = "SELECT k, count(*) AS n FROM t GROUP BY k"
	w.pays(t, sql, w.rho(t, "0.004"), "0.004")
	var all []*ledger.Reservation
	for range 2 {
		s := must(w.Prepare(t.Context(), sql, w.rho(t, "0.01")))
		s.versioned.Store(true)
		r := s.Request(Payer{})
		s.sharpen(&r)
		all = append(all, must(w.config.Ledger.Reserve(t.Context(), r)))
	}
	for _, r := range all {
		if r.Sharpens == nil || r.Charge.Rho.String() != "0.006" {
			t.Errorf("reserved %+v", r)
		}
	}
	if b := must(w.config.Ledger.Balance(t.Context(), "d")); b.Spent.Rho.String() != "0.016" {
		t.Errorf("spent %v", b.Spent.Rho)
	}
}

// An average that was too large is told later as the average that it is: with its noise, and the cost of what was released for it.
func TestWithheldAverage(t *testing.T) {
	w, engine := sharpening(t, "zcdp")
	w.version()
	const sql = "SELECT k, count(*) AS n FROM t GROUP BY k HAVING count(*) > -1000" // computed in a scratch
	w.pays(t, sql, w.rho(t, "0.004"), "0.004")
	engine.large = true
	again := w.rho(t, "0.01")
	again.Repeat = true // by the same analyst, who is told what it cost
	var r *Refusal
	if _, err := w.Query(t.Context(), sql, again); !errors.As(err, &r) || r.Code != "D221" {
		t.Fatalf("a large answer: %v", err)
	}
	engine.large = false
	served, repeated := w.pays(t, sql, w.rho(t, "0.01"), "0"), must(w.Query(t.Context(), sql, again))
	if rho := repeated.Cost.Rho.String(); rho != "0.006" || revealed(repeated.Cost.Events).Cmp(big.NewRat(6, 1000)) != 0 || !repeated.Reused {
		t.Errorf("the average cost %s by %v", rho, repeated.Cost.Events)
	}
	if !slices.ContainsFunc(repeated.Notes, func(n string) bool { return strings.Contains(n, "the average of what record") }) {
		t.Errorf("notes %q", repeated.Notes)
	}
	w.version()
	w.pays(t, sql, w.rho(t, "0.004"), "0.004")
	direct := w.pays(t, sql, w.rho(t, "0.01"), "0.006")
	for name, a := range map[string]*Answer{"served": served, "repeated": repeated} {
		if !reflect.DeepEqual(a.Mechanisms, direct.Mechanisms) || a.Mechanisms[0].Terms != 2 {
			t.Errorf("%s: the noise is %+v, not %+v", name, a.Mechanisms, direct.Mechanisms)
		}
		for i, row := range a.Intervals {
			width := func(x *Interval) float64 { return decimal(x.Upper) - decimal(x.Lower) }
			if x, y := width(row[1]), width(direct.Intervals[i][1]); x != y {
				t.Errorf("%s: an interval of %v, not %v", name, x, y)
			}
		}
	}
}

// An average is not told where a version of the data was declared while its rows were read: they may be of another version than the stored
// answer. What was charged stays charged.
func TestVersionDeclaredWhileSharpened(t *testing.T) {
	w, engine := sharpening(t, "zcdp")
	w.version()
	const sql = "SELECT k, count(*) AS n FROM t GROUP BY k"
	w.pays(t, sql, w.rho(t, "0.004"), "0.004")
	engine.read = w.version
	var r *Refusal
	a, err := w.Query(t.Context(), sql, w.rho(t, "0.01"))
	if !errors.As(err, &r) || r.Code != "D263" || !errors.Is(err, ledger.ErrVersion) || r.Hint == "" {
		t.Fatalf("an average of two versions: %v, %v", a, err)
	}
	if b := must(w.config.Ledger.Balance(t.Context(), "d")); b.Spent.Rho.String() != "0.01" || b.Uncommitted != 1 || b.Suspended {
		t.Errorf("after it: %+v", b)
	}
	if _, err := w.Query(t.Context(), sql, w.rho(t, "0.01")); err != nil { // by itself it is of the rows that were read
		t.Errorf("an answer during which a version is declared: %v", err)
	}
	engine.read = nil
	w.pays(t, sql, w.rho(t, "0.01"), "0.01") // nor is that one told again: it may be of either version
	w.pays(t, sql, w.rho(t, "0.01"), "0")
	if err := w.config.Ledger.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}
