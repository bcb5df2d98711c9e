package sqlparse

import "testing"

// TestParameters: a parameter is an expression like another where it may stand, and
// is refused where it may not, or has no number that a client could send.
func TestParameters(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT $1": "$1",
		"SELECT count(*) FROM t WHERE x = $2 + $1":  "$2",
		"SELECT count(*) FROM t LIMIT $1 OFFSET $2": "$1",
		"SELECT CAST($1 AS date)":                   "$1",
		"SELECT $3::int":                            "$3",
	} {
		if _, err := Parameterized(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		if _, err := Parse(sql); err == nil {
			t.Errorf("%s: read without values for %s", sql, want)
		}
	}
	for _, sql := range []string{"SELECT $0", "SELECT $1001", "SELECT $99999999999", "SELECT int $1", "SELECT x FROM $1", "SELECT 1 AS $1"} {
		if _, err := Parameterized(sql); err == nil {
			t.Errorf("%s: accepted", sql)
		}
	}
}
