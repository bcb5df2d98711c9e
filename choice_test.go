//go:build cgo

package discreet

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// What is chosen is what the statement means, with little noise; the answer says that it is a choice, among how many, and how far it may be off; its cost is all that
// is spent; what reads it reads one row.
func TestChoices(t *testing.T) {
	db, _ := staged(t, 400)
	const often = "SELECT mode() WITHIN GROUP (ORDER BY CASE WHEN x > 2 THEN 'much' ELSE 'little' END) AS often FROM t"
	a, err := db.Query(t.Context(), often, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Rows) != 1 || a.Rows[0][0] != "much" || a.Intervals[0][0] != nil || !a.Columns[0].Noisy || a.Columns[0].Why == "" {
		t.Errorf("chosen: %+v", a)
	}
	m := a.Mechanisms
	if len(m) != 1 || m[0].Column != "often" || m[0].Mechanism != "noisy_max" || m[0].Candidates != 2 || m[0].Choices != 1 || m[0].Sensitivity != 4 || m[0].MaxRowsPerGroup != 4 || !(m[0].CountBound > 0) {
		t.Errorf("mechanisms: %+v", m)
	}
	if !slices.ContainsFunc(a.Notes, func(n string) bool { return strings.Contains(n, "a choice among 2 values") }) {
		t.Errorf("notes: %v", a.Notes)
	}
	if a.Cost.Epsilon.String() != "1000" || len(a.Cost.Events) != 1 || a.Cost.Events[0].String() != "noisy_max(1000)" {
		t.Errorf("cost: %v", a.Cost)
	}
	for sql, want := range map[string]any{
		"SELECT count(*) / 10 FROM t WHERE k IN (SELECT m FROM (SELECT mode() WITHIN GROUP (ORDER BY k) AS m FROM t WHERE k = 'b') AS s)": int64(40),
		"SELECT often || '!' FROM (" + often + ") AS s":                          "much!",
		"SELECT x > 2 AS often FROM t GROUP BY 1 ORDER BY count(*) DESC LIMIT 1": true,
		"SELECT count(*) FROM (" + often + ") AS s":                              int64(1),
	} {
		a, err := db.Query(t.Context(), sql, nil)
		if err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
		if a.Rows[0][0] != want {
			t.Errorf("%s is %v, want %v", sql, a.Rows[0][0], want)
		}
	}
	e, err := db.Explain(t.Context(), often, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.ExpectedError) != 1 || !e.ExpectedError[0].Behind || e.ExpectedError[0].Error != m[0].CountBound {
		t.Errorf("expected errors: %+v", e.ExpectedError)
	}
	words := strings.Join(e.Certificate.Releases[0].Words, "\n")
	for _, want := range []string{"a unit may have rows of every value", "one of the 2 values of the public domain of often is published, chosen by the counts of all, and no count is",
		"changes the count of each value by at most 4, all of them in one direction"} {
		if !strings.Contains(words, want) {
			t.Errorf("the certificate lacks %q:\n%s", want, words)
		}
	}
	const each = "SELECT x > 4 AS high, mode() WITHIN GROUP (ORDER BY k) FROM t GROUP BY 1"
	if e, err = db.Explain(t.Context(), each, nil); err != nil {
		t.Fatal(err)
	}
	if m := e.Mechanisms[0].Mechanism; m != "discrete_laplace" && m != "discrete_gaussian" { // under (epsilon, delta) counts may err less than several choices
		t.Errorf("several choices under approx: %s", m)
	}
	// An accuracy is one of counts.
	if e, err = db.Explain(t.Context(), often, &QueryOptions{Accuracy: Accuracy{Error: big.NewRat(9, 1)}}); err != nil {
		t.Fatal(err)
	}
	if len(e.Mechanisms) != 1 || e.Mechanisms[0].Mechanism != "discrete_laplace" || e.ExpectedError[0].Behind || e.ExpectedError[0].Error > 9 {
		t.Errorf("with an accuracy: %+v, %+v", e.Mechanisms, e.ExpectedError)
	}
}

// Where the counts of all values are released anyway, the value with the largest is read from them: both agree, and are paid once.
func TestCountsBesideAChoice(t *testing.T) {
	db, _ := staged(t, 400)
	for _, sql := range []string{
		"WITH c AS (SELECT k, count(*) AS n FROM t GROUP BY k) SELECT c.k, n, m.k AS top FROM c, (SELECT k FROM c ORDER BY n DESC LIMIT 1) AS m ORDER BY n DESC LIMIT 1",
		"WITH c AS (SELECT k, count(*) AS n FROM t GROUP BY k) SELECT c.k, n, m.k FROM c JOIN (SELECT k FROM c ORDER BY n DESC LIMIT 1) AS m ON m.k = c.k",
	} {
		a, err := db.Query(t.Context(), sql, &QueryOptions{Spend: Spend{Epsilon: must(privacy.ParseEpsilon("0.01"))}, Weights: []*big.Rat{big.NewRat(1, 1)}})
		if err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
		if len(a.Cost.Events) != 1 || len(a.Rows) != 1 || a.Rows[0][0] != a.Rows[0][2] {
			t.Errorf("%s: %v for %v", sql, a.Rows, a.Cost.Events)
		}
	}
}

// A stored choice serves the same statement for less, and no other: not what shows counts, not one of other values or rows, none that asks for more.
func TestChoicesServe(t *testing.T) {
	db, _ := staged(t, 4)
	if _, err := db.config.Ledger.NewVersion(t.Context(), "first", "", db.config.Now()); err != nil {
		t.Fatal(err)
	}
	ask := func(sql, epsilon string) *Answer {
		t.Helper()
		o := &QueryOptions{Reuse: true, Repeat: true, Analyst: "a" + epsilon, NoDefault: true, Spend: Spend{Epsilon: must(privacy.ParseEpsilon(epsilon))}}
		a, err := db.Query(t.Context(), sql, o)
		if err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
		return a
	}
	const mode = "SELECT mode() WITHIN GROUP (ORDER BY k) FROM t"
	ask(mode, "10")
	for _, c := range []struct {
		sql, epsilon string
		reused       bool
	}{
		{mode, "9", true},
		{"SELECT value AS mode FROM (SELECT approx_top_count(k, 1) FROM t) AS s", "9", false},       // of counts
		{"SELECT value AS mode, count FROM (SELECT approx_top_count(k, 1) FROM t) AS s", "1", true}, // of the same ones
		{"SELECT k, count(*) FROM t GROUP BY k", "1", false},
		{"SELECT mode() WITHIN GROUP (ORDER BY k) FROM t WHERE x > 3", "1", false},
		{"SELECT mode() WITHIN GROUP (ORDER BY x) FROM t", "1", false},
		{mode, "11", false},
	} {
		if a := ask(c.sql, c.epsilon); a.Reused != c.reused {
			t.Errorf("%s for %s: reused %v", c.sql, c.epsilon, a.Reused)
		}
	}
}
