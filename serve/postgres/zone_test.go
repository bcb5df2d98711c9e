package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// TestZones: a point in time with a zone is the timestamp in UTC, in text and in arrays, as with
// PostgreSQL in that zone; a timestamp stays as it was written.
func TestZones(t *testing.T) {
	types := pgtype.NewMap()
	for _, test := range []struct {
		oid        uint32
		text, want string
	}{
		{pgtype.TimestamptzOID, "2025-06-01 12:00:00+02", "2025-06-01 10:00:00"}, {pgtype.TimestamptzOID, "2025-06-01T12:00:00.25-03:30", "2025-06-01 15:30:00.25"},
		{pgtype.TimestamptzOID, "2025-06-01 12:00:00+0200", "2025-06-01 10:00:00"}, {pgtype.TimestamptzOID, "2025-06-01 12:00:00Z", "2025-06-01 12:00:00"},
		{pgtype.TimestamptzOID, "2025-06-01 12:00:00", "2025-06-01 12:00:00"}, {pgtype.TimestampOID, "2025-06-01 12:00:00+02", "2025-06-01 12:00:00+02"},
		{pgtype.TimestamptzArrayOID, `{"2025-06-01 12:00:00+02",NULL}`, `{"2025-06-01 10:00:00",NULL}`}, {0, "2025-06-01T12:00:00+02:00", "2025-06-01T12:00:00+02:00"},
	} {
		p, err := parameterValue{oid: test.oid, bytes: []byte(test.text)}.read(types)
		if err != nil || *p.Text != test.want {
			t.Errorf("%s of type %d: %v, not %s (%v)", test.text, test.oid, p.Text, test.want, err)
		}
	}
}
