package clinic

import (
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/filter"
)

func TestCatalogLoads(t *testing.T) {
	path, err := Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	visits, ok := c.Table("visits")
	if !ok || visits.Domain == nil || visits.MaxGroups != 12 || visits.MaxRows != 12 {
		t.Fatalf("the catalog declares %+v", visits)
	}
	for _, d := range departments() {
		if !strings.Contains(string(departmentsText), "\n"+d.name+",") {
			t.Errorf("departments.csv lacks %s", d.name)
		}
	}
	for _, col := range visitColumns(nil) {
		if _, ok := visits.Column(col.name); !ok {
			t.Errorf("the catalog does not declare %s", col.name)
		}
	}
}

// Five questions that the budget affords, with something left.
func TestQuestionsFitTheBudget(t *testing.T) {
	questions := Questions()
	if len(questions) != 5 {
		t.Errorf("%d questions, want 5", len(questions))
	}
	c, err := catalog.Parse("discreet.toml", string(catalogText))
	if err != nil {
		t.Fatal(err)
	}
	d := c.Domains[0]
	f, err := filter.New(filter.Budget{Measure: filter.Measure(d.Measure), Epsilon: d.Epsilon, Delta: d.Delta, SelectionDelta: d.SelectionDelta})
	if err != nil {
		t.Fatal(err)
	}
	budget := f.Amounts(f.Budget()).Rho.Rat()
	asked := new(big.Rat)
	for _, q := range questions {
		rho, ok := new(big.Rat).SetString(q.Rho)
		if !ok || rho.Sign() <= 0 {
			t.Fatalf("%s: rho %q", q.Title, q.Rho)
		}
		asked.Add(asked, rho)
	}
	if asked.Cmp(budget) >= 0 {
		t.Errorf("the questions ask for rho %s of %s", asked.FloatString(4), budget.FloatString(4))
	}
	t.Logf("the questions ask for rho %s of %s", asked.FloatString(4), budget.FloatString(4))
}
