package bind_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// TestZonesArePassedOver: PostgreSQL 15's reading of points in time as drivers write them, where a
// timestamp without a zone or a date stands: node-postgres writes the first, lib/pq the fourth.
func TestZonesArePassedOver(t *testing.T) {
	cat := clinic(t)
	bound := func(condition string) (string, error) {
		q, err := sqlparse.Parse("SELECT count(*) FROM visits WHERE " + condition)
		if err != nil {
			return "", err
		}
		n, err := bind.Bind(q, cat)
		if err != nil {
			return "", err
		}
		return plan.Format(n), nil
	}
	for written, read := range map[string]string{
		"2025-06-01T02:03:04.050+02:00": "2025-06-01 02:03:04.05", "2025-06-01T00:00:00Z": "2025-06-01 00:00:00", "2025-06-01 00:00:00+00": "2025-06-01 00:00:00",
		"2025-06-01 12:30:00Z": "2025-06-01 12:30:00", "2025-06-01 12:30:00-0330": "2025-06-01 12:30:00", "2025-06-01 12:30 UTC": "2025-06-01 12:30:00",
		"2025-06-01T12:30:00.123456+05:45": "2025-06-01 12:30:00.123456",
	} {
		day, _, _ := strings.Cut(read, " ")
		for _, test := range [][2]string{
			{"seen_at >= '" + written + "'", "seen_at >= '" + read + "'"}, {"day = '" + written + "'", "day = '" + day + "'"},
			{"seen_at < TIMESTAMP '" + written + "'", "seen_at < TIMESTAMP '" + read + "'"}, {"day = '" + written + "'::date", "day = '" + day + "'::date"},
		} {
			got, err := bound(test[0])
			want, wrong := bound(test[1])
			if err != nil || wrong != nil || got != want {
				t.Errorf("%s is\n%swant\n%s (%v, %v)", test[0], got, want, err, wrong)
			}
		}
	}
	for _, none := range []string{"2025-06-01T00:00:00+16", "2025-02-30T00:00:00Z", "2025-06-01T25:00:00Z", "2025-06-01T00:00:00+00+00", "2025-06-01T00:00:00 somewhere", "2025-06-01Z00:00:00", "2025-06-01T00:00:00+02:60"} {
		for _, condition := range []string{"seen_at = '" + none + "'", "day = '" + none + "'"} {
			if got, err := bound(condition); err == nil {
				t.Errorf("%s is\n%s", condition, got)
			}
		}
	}
}

// TestConstantsOfPrograms: what programs write for a point in time with a zone, and for a pattern in
// either case, is the constant that it means.
func TestConstantsOfPrograms(t *testing.T) {
	cat := clinic(t)
	bound := func(condition string) (string, error) {
		q, err := sqlparse.Parse("SELECT count(*) FROM visits WHERE " + condition)
		if err != nil {
			return "", err
		}
		n, err := bind.Bind(q, cat)
		if err != nil {
			return "", err
		}
		return plan.Format(n), nil
	}
	for written, meant := range map[string]string{
		"seen_at >= timestamp with time zone '2025-06-01 02:00:00+02:30'": "seen_at >= timestamp '2025-05-31 23:30:00'",
		"seen_at >= '2025-06-01 00:00:00.000Z'::timestamptz":              "seen_at >= timestamp '2025-06-01 00:00:00'",
		"seen_at >= CAST('2025-06-01' AS timestamptz)":                    "seen_at >= timestamp '2025-06-01'",
		"upper(department) LIKE UPPER('%card%')":                          "upper(department) LIKE '%CARD%'",
		"department LIKE lower('%CARD_')":                                 "department LIKE '%card_'",
		"department NOT LIKE upper(NULL)":                                 "department NOT LIKE NULL",
		"upper(department) ~ upper('^[a-c]')":                             "upper(department) ~ '^[A-C]'",
	} {
		got, err := bound(written)
		want, wrong := bound(meant)
		if err != nil || wrong != nil || got != want {
			t.Errorf("%s is\n%swant\n%s (%v, %v)", written, got, want, err, wrong)
		}
	}
	for _, none := range []string{
		"seen_at >= timestamptz '2025-06-01 00:00:00 Europe/Rome'", "seen_at >= timestamptz '2025-06-01 00:00:00+16'", "seen_at >= timestamptz 'tomorrow'", "seen_at::timestamptz > timestamp '2025-06-01'",
		"department LIKE upper('%É')", "department LIKE upper(department)", "department LIKE upper(lower('a'))",
	} {
		if got, err := bound(none); err == nil {
			t.Errorf("%s is\n%s", none, got)
		}
	}
}
