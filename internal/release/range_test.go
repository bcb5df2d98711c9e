//go:build cgo

package release_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// ends are the bounds that the analysis finds for an expression, and the least and the largest value that the engine computes of it;
// false where a statement that averages it is refused, or it is NULL in each row.
func (f finiteTable) ends(ctx context.Context, of string) (bounds, found [2]float64, ok bool, err error) {
	certificate, err := certify("SELECT avg("+of+") FROM t", f.catalog)
	if _, refused := errors.AsType[*diagnostic.Diagnostic](err); refused {
		return bounds, found, false, nil
	}
	if err != nil {
		return bounds, found, false, err
	}
	r := certificate.Releases[0]
	for _, c := range r.Components {
		if c.Arg == nil || c.Lower == nil {
			continue
		}
		text, err := render.Relation(&plan.Project{Input: r.Input, Exprs: []plan.Expr{c.Arg}, Names: []string{"x"}})
		if err != nil {
			return bounds, found, false, err
		}
		if _, err := f.machines.plain.ExecContext(ctx, "SET schema = 'd'"); err != nil {
			return bounds, found, false, err
		}
		var least, most *float64
		if err := f.machines.plain.QueryRowContext(ctx, "SELECT min(CAST(x AS DOUBLE)), max(CAST(x AS DOUBLE)) FROM ("+text+") AS t(x)").Scan(&least, &most); err != nil {
			return bounds, found, false, err
		}
		if least == nil {
			return bounds, found, false, nil
		}
		for i, end := range []sqltype.Value{c.Lower, c.Upper} {
			if bounds[i], err = strconv.ParseFloat(sqltype.Format(end), 64); err != nil {
				return bounds, found, false, err
			}
		}
		return bounds, [2]float64{*least, *most}, true, nil
	}
	return bounds, found, false, fmt.Errorf("nothing of %s is clamped", of)
}

// What is summed is clamped to an interval that holds every value that the engine computes of rows within
// the declared bounds: where it does not, answers are wrong by what is cut off.
func TestRangesHoldEveryValue(t *testing.T) {
	f := newFiniteTable(t, 7)
	check := func(of string) (checked bool, err error) {
		bounds, found, ok, err := f.ends(context.Background(), of)
		if err != nil || !ok {
			return false, err
		}
		slack := 1e-7 * max(math.Abs(bounds[0]), math.Abs(bounds[1])) // engines' last digits, and those of real
		if found[0] < bounds[0]-slack || found[1] > bounds[1]+slack {
			return true, fmt.Errorf("%s is in %v, and is clamped to %v", of, found, bounds)
		}
		return true, nil
	}
	for _, of := range []string{ // each was outside
		"greatest(age, k + 50)", "least(age, -big)", "ln(greatest(CASE WHEN q THEN 1000 END, 0.001))", // GREATEST passes over NULL
		"round((cost + big)::numeric(12,3), -1)", "trunc((cost + 4567)::numeric(12,3), -3)",
		"(price / 6)::numeric(8,0) * 10", "power(rate / 3, 9007199254740993)", // an even number in double precision
		"extract(day FROM coalesce(seen - few, INTERVAL '500 days -12000:00'))",
	} {
		if checked, err := check(of); err != nil {
			t.Error(err)
		} else if !checked && !strings.HasPrefix(of, "extract") {
			t.Errorf("%s has no bounds", of)
		}
	}
	checked, drawn := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for range soak(1, 15) {
			drawn++
			done, err := check(rangeNumbers{finiteKeys{rt}}.number(3))
			if err != nil {
				rt.Fatal(err)
			}
			if done {
				checked++
			}
		}
	})
	if checked*3 < drawn {
		t.Errorf("only %d of %d expressions have bounds: the test is weak", checked, drawn)
	}
}

// rangeNumbers draws numbers.
type rangeNumbers struct{ finiteKeys }

func (g rangeNumbers) number(depth int) string {
	a := func() string { return g.number(depth - 1) }
	if depth <= 0 {
		return g.finiteKeys.number(1)
	}
	switch g.n(16) {
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", a(), g.of("+", "-", "*"), a())
	case 2:
		return fmt.Sprintf("%s(%s)", g.of("exp", "ln", "log10"), a())
	case 3:
		return fmt.Sprintf("ln(greatest(%s, %s))", a(), g.of("1", "0.001", "100"))
	case 4:
		return fmt.Sprintf("exp((%s) / %s)", a(), g.of("120", "5000", "-0.5"))
	case 5:
		return fmt.Sprintf("power(%s, %s)", a(), g.of("2", "3", "0.5", "0.3333", "1", "7", "1000", "-1", "1e-3", "9007199254740993"))
	case 6:
		return fmt.Sprintf("(%s)::int", g.condition())
	case 7:
		return fmt.Sprintf("(%s - %s)", g.point(depth-1), g.point(depth-1))
	case 8:
		return fmt.Sprintf("extract(%s FROM %s)", g.of("epoch", "day"), g.span(depth-1))
	case 9:
		return fmt.Sprintf("extract(%s FROM %s)", g.of("epoch", "year", "decade", "isoyear", "month", "hour", "minute", "second", "week"), g.time(depth-1))
	case 10:
		return fmt.Sprintf("%s(%s, %s, %s)", g.of("date_diff", "timestamp_diff"), g.time(depth-1), g.time(depth-1), g.of("DAY", "HOUR", "MONTH", "YEAR", "SECOND", "QUARTER"))
	case 11:
		return fmt.Sprintf("CASE WHEN %s THEN %s %s END", g.condition(), a(), g.of("ELSE "+a(), "", "ELSE NULL"))
	case 12:
		return fmt.Sprintf("%s(%s, %s)", g.of("greatest", "least", "coalesce", "nullif"), a(), a())
	case 13:
		return fmt.Sprintf("(%s)::%s", a(), g.of("numeric(12,2)", "numeric(8,0)", "real", "int", "bigint", "numeric(20,6)"))
	}
	return g.of(g.finiteKeys.number(depth), g.finiteKeys.whole(depth))
}

func (g rangeNumbers) time(depth int) string {
	if depth <= 0 {
		return g.of("seen", "few", "day", "TIMESTAMP '1969-12-31 23:59:59.5'", "DATE '0001-01-01'")
	}
	switch g.n(6) {
	case 0:
		return fmt.Sprintf("(%s %s INTERVAL '%s')", g.time(depth-1), g.of("+", "-"), g.of("6 hours", "1 day", "1 month", "-2 days 03:00", "1 day -36:00", "-100 years", "9000000 days", "2000 years", "0.5 seconds"))
	case 1:
		return fmt.Sprintf("date_trunc('%s', %s)", g.of("second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade", "milliseconds"), g.time(depth-1))
	case 2:
		return fmt.Sprintf("(%s)::date", g.time(depth-1))
	case 3:
		return fmt.Sprintf("(%s)::timestamp", g.time(depth-1))
	case 4:
		return fmt.Sprintf("%s(%s, %s)", g.of("greatest", "least", "coalesce", "nullif"), g.time(depth-1), g.time(depth-1))
	}
	return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.condition(), g.time(depth-1), g.time(depth-1))
}

func (g rangeNumbers) span(depth int) string {
	switch g.n(4) {
	case 0:
		return "(-(" + g.time(depth) + "::timestamp - " + g.time(depth) + "))"
	case 1:
		return fmt.Sprintf("coalesce(%s::timestamp - %s, INTERVAL '%s')", g.time(depth), g.time(depth), g.of("6 hours", "10 days -240:00", "1 month"))
	}
	return "(" + g.time(depth) + "::timestamp - " + g.time(depth) + ")"
}
