//go:build cgo

package discreet

import (
	"slices"
	"strings"
	"testing"
)

// What holds of several aggregates of a release is said once, with all their names; what differs is said apart.
func TestNotesSayOnceWhatHoldsOfSeveral(t *testing.T) {
	db, _ := staged(t, 4)
	for sql, want := range map[string][]string{
		"SELECT median(x) AS m, percentile_cont(0.9) WITHIN GROUP (ORDER BY x) AS p, sum(x) AS s FROM t": {"m, p, s: values are clamped to [0, 9]"},
		"SELECT sum(x) AS s, sum(2 * x) AS d, avg(x) AS a FROM t":                                        {"s, a: values are clamped to [0, 9]", "d: values are clamped to [0, 18]"},
	} {
		e, err := db.Explain(t.Context(), sql, nil)
		if err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
		var said []string
		for _, n := range e.Notes {
			if strings.Contains(n, "clamped") {
				said = append(said, n)
			}
		}
		if !slices.Equal(said, want) {
			t.Errorf("%s: the notes are %q, want %q", sql, said, want)
		}
	}
}
