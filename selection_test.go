//go:build cgo

package discreet

import (
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// A count of units decides which groups are shown, and the answer says from what count on; where counts are added up, groups
// are selected by noise of their own, so that the sum has the narrow interval of independent noise.
func TestCountsDecideWhichGroupsAreShown(t *testing.T) {
	db, _ := staged(t, 400)
	const counts = "SELECT who / 100 AS k, count(DISTINCT who) AS n FROM t GROUP BY 1"
	for sql, decides := range map[string]bool{
		counts: true,
		"SELECT k, n + 1 FROM (" + counts + ") AS w":                                       true,
		"SELECT max(n) FROM (" + counts + ") AS w":                                         true,
		"SELECT sum(n) FROM (" + counts + ") AS w":                                         false,
		"SELECT k, n * 100.0 / sum(n) OVER () FROM (" + counts + ") AS w":                  false,
		"SELECT who / 100, count(*) FROM t GROUP BY 1":                                     false, // of four rows of a unit
		"SELECT who / 100, count(DISTINCT who), count(*), sum(x) FROM t GROUP BY 1":        true,
		"SELECT k, count(DISTINCT who) FROM t GROUP BY k":                                  false, // its groups are public
		"SELECT who / 100, count(DISTINCT who) FROM t GROUP BY 1 HAVING count(*) > 1":      true,
		"SELECT who / 100, count(DISTINCT who) FROM t GROUP BY ROLLUP (1) ORDER BY 2 DESC": true,
	} {
		a, err := db.Query(t.Context(), sql, nil)
		if err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
		at := slices.IndexFunc(a.Mechanisms, func(m Mechanism) bool { return m.Threshold > 0 })
		said := slices.ContainsFunc(a.Notes, func(n string) bool { return strings.Contains(n, "a group is shown if its noisy count is") })
		if (at >= 0) != decides || said != decides || decides && (a.Mechanisms[at].Column != "group selection" || !slices.Contains(a.Kept, "group selection")) {
			t.Errorf("%s: mechanisms %+v\nnotes %q\nkept %q", sql, a.Mechanisms, a.Notes, a.Kept)
		}
		chooses := func(e privacy.Event) bool { return strings.Contains(e.String(), "selection(") }
		if slices.Contains(a.Kept, "group selection") && (a.Cost.Delta.Sign() == 0 || !slices.ContainsFunc(a.Cost.Events, chooses)) {
			t.Errorf("%s: groups are chosen for %v, %v", sql, a.Cost.Amounts, a.Cost.Events)
		}
	}
}
