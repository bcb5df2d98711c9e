package sqltype_test

import (
	"testing"

	"github.com/discreet-dp/discreet/sqltype"
)

// TestInUTC: a point in time with a zone is the one in UTC that PostgreSQL says.
func TestInUTC(t *testing.T) {
	for text, want := range map[string]string{
		"2025-06-01 12:00:00+02": "2025-06-01 10:00:00", "2025-06-01T12:00:00.25-03:30": "2025-06-01 15:30:00.25", "2025-06-01 12:00:00+0200": "2025-06-01 10:00:00",
		"2025-06-01 12:00:00Z": "2025-06-01 12:00:00", "2024-01-01 00:00:00.000Z": "2024-01-01 00:00:00", "2025-06-01 12:00+02": "2025-06-01 10:00:00",
		"2025-06-01 12:00:00 UTC": "2025-06-01 12:00:00", "2025-01-01 00:30:00+1": "2024-12-31 23:30:00", "2025-06-01 12:00:00+02:30:15": "2025-06-01 09:29:45",
	} {
		if got, ok := sqltype.InUTC(text); !ok || got != want {
			t.Errorf("%s: %s, %v, not %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"2025-06-01 12:00:00", "2025-06-01", "2025-06-01 12:00:00+16", "2025-06-01 12:00:00 Europe/Rome", "2025-13-01 12:00:00Z", "2025-06-01 25:00:00Z", "9999-12-31 23:59:59-15", "now", ""} {
		if got, ok := sqltype.InUTC(text); ok || got != text {
			t.Errorf("%s: %s, %v", text, got, ok)
		}
	}
}
