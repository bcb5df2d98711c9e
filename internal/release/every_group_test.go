//go:build cgo

package release_test

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/rewrite"
)

// A unit's groups are left as they are where no more can be, whatever the data, than it may be in, and nowhere else: of ranges, lists, and both.
func TestEveryGroupIsKeptOfFewAlone(t *testing.T) {
	for most := 1; most <= 8; most++ {
		cat, err := catalog.Parse("catalog.toml", fmt.Sprintf(`
[domains.d]
measure = "zcdp"
epsilon = 3.0
delta = 1e-7
[tables.t]
source = "t.parquet"
domain = "d"
unit = "u"
max_groups_per_unit = %d
max_rows_per_group = 3
[tables.t.columns]
u = { type = "bigint" }
k = { type = "bigint", lower = -2, upper = 2, step = 2 }
s = { type = "text", domain = ["a", "b"] }
p = { type = "text" }
`, most))
		if err != nil {
			t.Fatal(err)
		}
		for keys, groups := range map[string]int{"k": 3, "s": 2, "k, s": 6, "p": 9, "k, p": 9} { // p can be anything
			certificate, err := certify("SELECT "+keys+", count(*) FROM t GROUP BY "+keys, cat)
			if err != nil {
				t.Fatal(err)
			}
			if got := rewrite.Release(certificate.Releases[0], nil).EveryGroup; got != (groups <= most) {
				t.Errorf("%s: of %d groups a unit may be in %d: all are kept: %t", keys, groups, most, got)
			}
		}
	}
}
