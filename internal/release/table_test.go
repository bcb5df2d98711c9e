package release

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
	"pgregory.net/rapid"
)

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

// Values 1, 2, 3, 10 within [0, 10], centre 5: N = 4, S = −4, Q = 16+9+4+25 = 54.
func TestDerivedValues(t *testing.T) {
	for f, want := range map[plan.AggregateFunction]string{
		plan.Avg:     "4",    // 5 − 4/4
		plan.VarPop:  "12.5", // 54/4 − 1
		plan.VarSamp: "50/3", // (54 − 16/4)/3
	} {
		g := stability.Aggregate{Function: f, Lower: rat("0"), Upper: rat("10")}
		got := derive(g, []extent{at(rat("4")), at(rat("-4")), at(rat("54"))}, rat("5"), true)
		if got.lower.Cmp(rat(want)) != 0 || got.upper.Cmp(rat(want)) != 0 {
			t.Errorf("%s is %v, want %s", f, got, want)
		}
	}
}

// With too few rows, or noise that leads out of the bounds, the value is the
// documented one.
func TestDerivedValuesAtTheEdges(t *testing.T) {
	for _, test := range []struct {
		f       plan.AggregateFunction
		n, s, q string
		want    string
	}{
		{plan.Avg, "0", "100", "0", "5"},
		{plan.Avg, "-3", "100", "0", "5"},
		{plan.Avg, "1", "100", "0", "10"},
		{plan.Avg, "1", "-100", "0", "0"},
		{plan.VarPop, "0", "0", "0", "25"},
		{plan.VarPop, "1", "0", "-9", "0"},
		{plan.VarPop, "1", "0", "900", "25"},
		{plan.VarSamp, "1", "0", "900", "50"},
		{plan.VarSamp, "2", "0", "900", "50"},
		{plan.StddevPop, "1", "0", "900", "5"},
	} {
		g := stability.Aggregate{Function: test.f, Lower: rat("0"), Upper: rat("10")}
		got := derive(g, []extent{at(rat(test.n)), at(rat(test.s)), at(rat(test.q))}, rat("5"), true)
		if got.lower.Cmp(rat(test.want)) != 0 {
			t.Errorf("%s of N %s, S %s, Q %s is %v, want %s", test.f, test.n, test.s, test.q, got.lower, test.want)
		}
	}
}

// The extent of an aggregate holds its value at every point of its parts'.
func TestExtentsHoldTheirPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := func(name string) (extent, *big.Rat) {
			a, b := rapid.Int64Range(-50, 200).Draw(t, name), rapid.Int64Range(0, 60).Draw(t, name+" width")
			return extent{big.NewRat(a, 1), big.NewRat(a+b, 1)}, big.NewRat(a+rapid.Int64Range(0, b).Draw(t, name+" at"), 1)
		}
		n, nAt := part("n")
		s, sAt := part("s")
		q, qAt := part("q")
		f := rapid.SampledFrom([]plan.AggregateFunction{plan.Avg, plan.VarPop, plan.VarSamp, plan.StddevPop, plan.StddevSamp}).Draw(t, "function")
		g := stability.Aggregate{Function: f, Lower: big.NewRat(-10, 1), Upper: big.NewRat(30, 1)}
		whole := derive(g, []extent{n, s, q}, big.NewRat(10, 1), false)
		point := derive(g, []extent{at(nAt), at(sAt), at(qAt)}, big.NewRat(10, 1), true)
		if point.lower.Cmp(whole.lower) < 0 || point.upper.Cmp(whole.upper) > 0 {
			t.Fatalf("%s: %v is outside %v", f, point, whole)
		}
	})
}

func TestToType(t *testing.T) {
	double, bigint, money := sqltype.Of(sqltype.Double), sqltype.Of(sqltype.Bigint), sqltype.DecimalOf(5, 2)
	third := rat("1/3")
	f, _ := third.Float64() // the nearest double lies below 1/3
	for _, test := range []struct {
		t    sqltype.Type
		r    *big.Rat
		mode rounding
		want sqltype.Value
	}{
		{bigint, rat("2.5"), toNearest, int64(3)}, {bigint, rat("-2.5"), toNearest, int64(-3)},
		{bigint, rat("2.5"), down, int64(2)}, {bigint, rat("-2.5"), down, int64(-3)},
		{bigint, rat("2.5"), up, int64(3)}, {bigint, rat("-2.5"), up, int64(-2)},
		{bigint, rat("1e30"), toNearest, int64(math.MaxInt64)}, {bigint, rat("-1e30"), toNearest, int64(-math.MaxInt64)},
		{double, third, toNearest, f}, {double, third, down, f}, {double, third, up, math.Nextafter(f, 1)},
		{double, rat("-0"), toNearest, 0.0}, {double, rat("1e400"), up, math.MaxFloat64},
		{money, rat("12.345"), toNearest, sqltype.Decimal{Unscaled: big.NewInt(1235), Scale: 2}},
		{money, rat("1e9"), toNearest, sqltype.Decimal{Unscaled: big.NewInt(99999), Scale: 2}},
	} {
		if got := toType(test.t, test.r, test.mode); sqltype.Compare(got, test.want) != 0 {
			t.Errorf("%v as %v, rounded %d: %v, want %v", test.r, test.t, test.mode, got, test.want)
		}
	}
}
