//go:build cgo

package attack_test

// J: books that guard something else.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/ledger"
)

const guardedCatalog = `[domains.person]
measure = "pure"
epsilon = 1000000
[domains.other]
measure = "pure"
epsilon = 1000000
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
city = { type = "text", domain = ["Bonn", "Ulm"] }
age = { type = "integer", lower = 0, upper = 100 }
[tables.staff]
source = "staff.csv"
domain = "other"
unit = "row"
[tables.staff.columns]
wage = { type = "integer", lower = 0, upper = 10 }
`

// Attack J5: the owner's file is edited, and goes on with the books that there are. What
// changes whom, or what, a budget protects is refused; what does not, is served.
func TestJ5EditedCatalog(t *testing.T) {
	sources := files{"visits.csv": crowd(5), "staff.csv": "wage\n1\n", "later.csv": crowd(6)}
	for name, tc := range map[string]struct {
		edit   []string // pairs of texts
		passes bool
	}{
		"nothing":                     {nil, true},
		"a unit that is finer":        {[]string{"unit = \"person\"\nmax_groups_per_unit = 2\nmax_rows_per_group = 3", `unit = "row"`}, false},
		"another unit":                {[]string{`unit = "person"`, `unit = "age"`}, false},
		"another source":              {[]string{"visits.csv", "later.csv"}, false},
		"public":                      {[]string{"domain = \"person\"\nunit = \"person\"\nmax_groups_per_unit = 2\nmax_rows_per_group = 3", "public = true", `, domain = ["Bonn", "Ulm"]`, "", ", lower = 0, upper = 100", ""}, false},
		"another domain":              {[]string{`domain = "person"`, `domain = "other"`, `unit = "person"`, `unit = "row"`, "max_groups_per_unit = 2\nmax_rows_per_group = 3\n", ""}, false},
		"public, and the domain gone": {[]string{"[domains.person]\nmeasure = \"pure\"\nepsilon = 1000000\n", "", "domain = \"person\"\nunit = \"person\"\nmax_groups_per_unit = 2\nmax_rows_per_group = 3", "public = true", `, domain = ["Bonn", "Ulm"]`, "", ", lower = 0, upper = 100", ""}, false},
		"another name of the table":   {[]string{"tables.visits", "tables.stays"}, true},
		"the same in other words":     {[]string{`"visits.csv"`, `"./visits.csv"`}, true},
		"other bounds":                {[]string{"upper = 100", "upper = 90", "max_rows_per_group = 3", "max_rows_per_group = 1"}, true},
		"another public domain":       {[]string{`["Bonn", "Ulm"]`, `["Bonn"]`}, true},
		"a column more":               {[]string{"person = { type", "cost = { type = \"double\" }\nperson = { type"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, guardedCatalog, sources)
			c, err := catalog.Parse(w.catalog.Path, strings.NewReplacer(tc.edit...).Replace(guardedCatalog))
			if err != nil {
				t.Fatal(err)
			}
			_, err = discreet.Open(context.Background(), discreet.Config{Catalog: c, Engine: w.engine, Ledger: w.ledger})
			if tc.passes && err != nil || !tc.passes && !errors.Is(err, ledger.ErrGuardDiffers) {
				t.Errorf("opened: %v", err)
			}
		})
	}
}

// Attack J7: another catalog over the same ledger declares some of the files of a guarded
// pattern public, or as another domain's.
func TestJ7NarrowerSource(t *testing.T) {
	guarded := strings.Replace(guardedCatalog, "visits.csv", "v/year=*/*.csv", 1)
	const public = `[tables.codes]
source = %q
public = true
[tables.codes.columns]
city = { type = "text" }
`
	sources := files{"v/year=2024/a.csv": crowd(5), "v/year=2025/a.csv": crowd(6), "v/codes.csv": "city\nBonn\n", "staff.csv": "wage\n1\n"}
	for source, passes := range map[string]bool{
		"v/codes.csv": true, "v/year=2024/a.csv": false, "v/year=2024/*.csv": false, "v/*/a.csv": false, "v/**/*.csv": false,
	} {
		w := newWorld(t, guarded, sources)
		c, err := catalog.Parse(w.catalog.Path, fmt.Sprintf(public, source))
		if err != nil {
			t.Fatal(err)
		}
		_, err = discreet.Open(context.Background(), discreet.Config{Catalog: c, Engine: w.engine, Ledger: w.ledger})
		if passes && err != nil || !passes && !errors.Is(err, ledger.ErrGuardDiffers) {
			t.Errorf("%s is public: %v", source, err)
		}
	}
}

// A process that goes on with the catalog that was is refused by its next statement.
func TestJ1ConfirmedMeanwhile(t *testing.T) {
	w := newWorld(t, guardedCatalog, files{"visits.csv": crowd(5), "staff.csv": "wage\n1\n"})
	const sql = "SELECT count(*) FROM visits"
	w.ask(t, sql, nil)
	c, err := catalog.Parse(w.catalog.Path, strings.Replace(guardedCatalog, "visits.csv", "later.csv", 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ledger.Confirm(context.Background(), discreet.Budgets(c)[0], "", noon); err != nil {
		t.Fatal(err)
	}
	spent := must(w.ledger.Balance(context.Background(), "person")).Spent.Epsilon
	var r *discreet.Refusal
	if _, err := w.Query(context.Background(), sql, nil); !errors.As(err, &r) || r.Code != "D078" || !errors.Is(err, ledger.ErrGuardDiffers) {
		t.Errorf("asked by the former catalog: %v", err)
	}
	if after := must(w.ledger.Balance(context.Background(), "person")).Spent.Epsilon; !after.Equal(spent) {
		t.Errorf("refused, and charged: %v after %v", after, spent)
	}
}

// Attack J6: bounds and public domains are no promise, and may change; each statement
// stands in the history with those that it was served with.
func TestJ6BoundsStandWithTheStatement(t *testing.T) {
	seen := map[string]bool{}
	for _, edit := range [][2]string{{"", ""}, {"upper = 100", "upper = 90"}, {`["Bonn", "Ulm"]`, `["Bonn", "Kiel"]`}, {"max_rows_per_group = 3", "max_rows_per_group = 2"}} {
		w := newWorld(t, strings.Replace(guardedCatalog, edit[0], edit[1], 1), files{"visits.csv": crowd(5), "staff.csv": "wage\n1\n"})
		w.ask(t, "SELECT city, sum(age) FROM visits GROUP BY city", nil)
		var history []struct {
			Kind        string
			Certificate struct {
				Mechanisms []struct {
					Lower, Upper *float64
					Rows         int64 `json:"max_rows_per_group"`
				}
				Domains []struct {
					Key    string
					Values int
					Digest []byte
				} `json:"public_domains"`
			}
		}
		if err := json.Unmarshal([]byte(w.history(t)), &history); err != nil {
			t.Fatal(err)
		}
		for _, h := range history {
			if h.Kind != "reserve" {
				continue
			}
			c := h.Certificate
			if len(c.Mechanisms) != 1 || c.Mechanisms[0].Upper == nil || len(c.Domains) != 1 || c.Domains[0].Key != "city" || c.Domains[0].Values != 2 {
				t.Fatalf("the record has %+v", c)
			}
			seen[marshal(t, c)] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("four declarations left %d kinds of records", len(seen))
	}
}
