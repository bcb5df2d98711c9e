package discreet

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A bound cuts off about one unit in a hundred, and never more than noise allows; with few units none is found.
func TestCutOff(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const cells = 100
	for _, c := range []struct {
		units     int
		deviation float64
		found     bool
	}{{20_000, 10, true}, {2_000, 2, true}, {400, 0.02, true}, {100, 20, false}, {0, 1, false}} {
		found, worst, sum := 0, 0.0, 0.0
		const trials = 400
		for range trials {
			exact, noisy := make([]float64, cells), make([]float64, cells)
			for range c.units { // most lie around cell 70 from outside
				at := min(cells-1, max(0, int(70+6*r.NormFloat64())))
				exact[at]++
			}
			for i := range noisy {
				noisy[i] = math.Round(exact[i] + c.deviation*r.NormFloat64())
			}
			cut, ok := cutOff(noisy, c.deviation)
			if !ok {
				continue
			}
			found++
			lost := 0.0
			for _, n := range exact[:cut] {
				lost += n
			}
			worst, sum = max(worst, lost/math.Max(1, float64(c.units))), sum+float64(cut)
		}
		if c.found != (found == trials) || !c.found && found > 0 {
			t.Errorf("%d units at deviation %v: found in %d of %d", c.units, c.deviation, found, trials)
		}
		if c.found && (worst > 0.1 || sum/trials < 45) {
			t.Errorf("%d units at deviation %v: %.3f of the units are cut off, and %.0f cells of 55", c.units, c.deviation, worst, sum/trials)
		}
	}
}

// A grid ascends from end to end of the declared range, in values of the column's type, at most a quarter apart.
func TestEdges(t *testing.T) {
	value := func(typ sqltype.Type, text string) sqltype.Value { return must(sqltype.ParseValue(typ, text)) }
	decimal := sqltype.Type{Kind: sqltype.DecimalKind, Precision: 12, Scale: 2}
	for _, c := range []struct {
		typ        sqltype.Type
		low, high  string
		near, most string // the least distance of neighbours that counts as near, and how many edges there are
	}{
		{sqltype.Of(sqltype.Integer), "0", "1000000", "1", "100"}, {sqltype.Of(sqltype.Integer), "-50", "-3", "1", "40"},
		{sqltype.Of(sqltype.Bigint), "-9223372036854775807", "9223372036854775807", "5000000000", "300"},
		{decimal, "-1.05", "9999999999.99", "4", "300"}, {sqltype.Of(sqltype.Double), "0", "0.3", "1e-9", "150"}, {sqltype.Of(sqltype.Double), "-1e300", "1e300", "1e292", "300"},
	} {
		column := &catalog.Column{Name: "x", Type: c.typ, Lower: value(c.typ, c.low), Upper: value(c.typ, c.high), Auto: true}
		edges := edgesOf(column)
		var all []*big.Rat
		for _, e := range edges {
			v, err := sqltype.ParseValue(c.typ, plain(e))
			if err != nil {
				t.Fatalf("%v: edge %s: %v", c.typ, e, err)
			}
			all = append(all, must(numeric.ParseDecimal(sqltype.Format(v))))
		}
		near, most := must(numeric.ParseDecimal(c.near)), must(numeric.ParseDecimal(c.most))
		if big.NewRat(int64(len(all)), 1).Cmp(most) > 0 {
			t.Errorf("%v from %s to %s: %d edges", c.typ, c.low, c.high, len(all))
		}
		if sqltype.Format(value(c.typ, plain(edges[0]))) != sqltype.Format(column.Lower) || sqltype.Format(value(c.typ, plain(edges[len(edges)-1]))) != sqltype.Format(column.Upper) {
			t.Errorf("%v from %s to %s: from %s to %s", c.typ, c.low, c.high, edges[0], edges[len(edges)-1])
		}
		for i := 1; i < len(all); i++ {
			apart := new(big.Rat).Sub(all[i], all[i-1])
			inner := new(big.Rat).Abs(all[i-1])
			if a := new(big.Rat).Abs(all[i]); a.Cmp(inner) < 0 {
				inner = a
			}
			if apart.Sign() <= 0 || apart.Cmp(near) > 0 && apart.Cmp(new(big.Rat).Mul(inner, big.NewRat(26, 100))) > 0 {
				t.Errorf("%v: from %s to %s", c.typ, edges[i-1], edges[i])
			}
		}
	}
	if got, want := wholeEdges(10), []string{"1", "2", "3", "4", "5", "6", "7", "8", "10"}; !slices.Equal(got, want) {
		t.Errorf("whole numbers: %v, want %v", got, want)
	}
	if got := wholeEdges(1); !slices.Equal(got, []string{"1"}) {
		t.Errorf("whole numbers up to 1: %v", got)
	}
}

// The first line of a search says what it is of, and a name cannot say anything else.
func TestSearchesAreRead(t *testing.T) {
	c := must(catalog.Parse("discreet.toml", `[domains.d]
measure = "pure"
epsilon = 1
[tables."a\" b"]
source = "a.csv"
domain = "d"
unit = "who\" --"
contribution = "auto"
[tables."a\" b".columns]
"who\" --" = { type = "bigint" }
"x;" = { type = "double", lower = -1, upper = 1, bounds = "auto" }
`))
	seen := map[string]bool{}
	for _, b := range []Bound{{Table: `a" b`, Of: ofLower, Column: "x;"}, {Table: `a" b`, Of: ofUpper, Column: "x;"}, {Table: `a" b`, Of: ofRows},
		{Table: `a" b`, Of: ofRows, By: []string{"x;"}}, {Table: `a" b`, Of: ofGroups, By: []string{"x;"}}} {
		s, err := b.search(c)
		if err != nil {
			t.Fatal(err)
		}
		if read, ok := readBound(s.text); !ok || !read.Same(b) || seen[s.text] {
			t.Errorf("%+v is read as %+v", b, read)
		}
		seen[s.text] = true
		db := must(Open(t.Context(), Config{Catalog: c}))
		e, err := db.Explain(t.Context(), s.text, &QueryOptions{Spend: Spend{Epsilon: must(privacy.ParseEpsilon("1"))}})
		if err != nil {
			t.Fatalf("%s: %v", s.text, err)
		}
		if len(e.Mechanisms) != 1 || e.Mechanisms[0].Sensitivity != 1 {
			t.Errorf("%s\nis charged for %+v", s.text, e.Mechanisms)
		}
	}
	one, two := must((Bound{Table: `a" b`, Of: ofRows, By: []string{"x;", `who" --`}}).search(c)), must((Bound{Table: `a" b`, Of: ofRows, By: []string{`who" --`, "x;", "x;"}}).search(c))
	if one.text != two.text {
		t.Error("a search depends on the order of its keys")
	}
	if _, err := (Bound{Table: `a" b`, Of: "middle"}).search(c); err == nil {
		t.Error("a bound that is none is searched for")
	}
}
