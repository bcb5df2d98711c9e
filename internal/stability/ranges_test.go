package stability_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// What is averaged is clamped to what its declared bounds imply: cost from 0 to 5000, age from 0 to 120,
// seen_at in the year 2025.
func TestRangesOfExpressions(t *testing.T) {
	c := load(t)
	const sinceLast = "(SELECT seen_at - lag(seen_at) OVER (PARTITION BY patient_id ORDER BY seen_at) AS gap FROM visits) AS t"
	for _, test := range []struct{ of, from, clamped string }{
		{"(cost > 100)::int", "visits", "[0 1]"},
		{"(note = 'a')::int * 3", "visits", "[0 3]"},
		{"seen_at::date - DATE '2025-01-01'", "visits", "[0 365]"},
		{"(seen_at::date + 7) - DATE '2025-01-01'", "visits", "[7 372]"},
		{"date_diff(seen_at, TIMESTAMP '2024-12-31 12:00', DAY)", "visits", "[1 366]"},
		{"extract(epoch FROM seen_at)", "visits", "[1735689600.000000 1767225600.000000]"},
		{"extract(epoch FROM seen_at::date)", "visits", "[1735689600.000000 1767225600.000000]"},
		{"extract(epoch FROM seen_at + INTERVAL '1 day 00:00:01')", "visits", "[1735776001.000000 1767312001.000000]"},
		{"extract(epoch FROM date_trunc('week', seen_at))", "visits", "[1735516800.000000 1767225600.000000]"},
		{"extract(year FROM seen_at::date)", "visits", "[2025 2026]"},
		{"extract(epoch FROM gap) / 3600", sinceLast, "[-8760 8760]"},
		{"extract(day FROM gap)", sinceLast, "[-365 365]"},
		{"latest - earliest", "(SELECT min(seen_at::date) AS earliest, max(seen_at::date) AS latest FROM visits GROUP BY patient_id) AS t", "[-365 365]"},
		{"ln(greatest(cost, 1))", "visits", "[0 8.5171932]"},
		{"log10(cost + 10)", "visits", "[1 3.6998377]"},
		{"exp(age / 120)", "visits", "[1 2.7182818]"},
		{"power(age, 2)", "visits", "[0 14400]"},
		{"(cost - 1000) * (cost - 1000)", "visits", "[0 16000000]"},
		{"(cost + 10) * (cost + 10)", "visits", "[100 25100100]"},
		{"(-10 - cost) * (-10 - cost)", "visits", "[100 25100100]"},
		{"(cost - 1000) * (cost - 999)", "visits", "[-4001000 16004000]"},
		{"(cost - 1000) * (age - 1000)", "visits", "[-4000000 1000000]"},
		{"power(cost - 6000, 2)", "visits", "[0 36000000]"},
		{"power(cost - 1000, 3)", "visits", "[-1e+09 6.4e+10]"},
		{"power(cost - 1000, 0.5)", "visits", "[0 63.245553]"},
		{"CASE WHEN age > 50 THEN NULL ELSE cost END", "visits", "[0 5000]"},
		{"greatest(age, cost + 200)", "visits", "[0 5200]"}, // age where there is no cost
		{"greatest(cost + 200, 100)", "visits", "[100 5200]"},
		{"least(greatest(cost / 0, 0), 100)", "visits", "[0 100]"},
		{"least(cost / 0, age)", "visits", "D049"},
		{"round(bill + 50, -2)", "visits", "[100 5100]"},
		{"trunc(bill + 50, -2)", "visits", "[0 5000]"},
		{"(age / 7.0)::numeric(4,1) * 10", "visits", "[0.0 172.0]"},
		{"extract(month FROM stay)", "visits", "D049"},
		{"extract(epoch FROM stay)", "visits", "D049"},
		{"extract(epoch FROM seen_at + INTERVAL '1 month')", "visits", "D049"}, // of 28 days, or of 31
		{"ln(cost)", "visits", "D049"},                                         // as small as any number
		{"power(cost, -1)", "visits", "D049"},
		{"exp(cost)", "visits", "D049"},
	} {
		certificate, err := analyze(c, "SELECT avg("+test.of+") FROM "+test.from)
		var d *diagnostic.Diagnostic
		got := ""
		if err == nil {
			for _, component := range certificate.Releases[0].Components {
				if component.Arg != nil && component.Lower != nil {
					got = fmt.Sprintf("[%s %s]", end(component.Lower), end(component.Upper))
				}
			}
		} else if errors.As(err, &d) {
			got = d.Code
		}
		if got != test.clamped {
			t.Errorf("%s is clamped to %s, not to %s", test.of, got, test.clamped)
		}
	}
}

// end is a bound as text, a double of eight digits.
func end(v any) string {
	if f, ok := v.(float64); ok {
		return fmt.Sprintf("%.8g", f)
	}
	return fmt.Sprint(v)
}
