//go:build cgo

package render_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/render"
)

// TestSize: the text of a nested expression grows linearly with its depth, and
// DuckDB runs it.
func TestSize(t *testing.T) {
	db, cat := openWild(t), nastyCatalog(t)
	for _, wrap := range []string{
		"(1 / (2 + #))", "sqrt(1 + #)", "nullif(#, 1)", "coalesce(#, 2)", "(# * 1.5 + i)", "round(#)", "exp(-(#))",
		"(# % 7 + i)", "abs(-(#))", "length(# || 'x')", "greatest(#, 1, i)", "CASE WHEN # > 1 THEN 2 ELSE 3 END",
		"length(substring(x, #, #))", "length(split_part(x, ',', #))", "(extract(day FROM day + #))::integer",
		"width_bucket(#, 0, 10, 5)", "round(#::numeric(12,4), -1)::integer", "(#::text)::integer",
		"length(replace(#::text, '1', '23'))", "(#::double precision::text::double precision)::integer",
	} {
		copies := strings.Count(wrap, "#")
		depth := 24
		if copies > 1 {
			depth = 6 // the statement itself doubles at each level
		}
		expr, sizes := "i", []int{}
		for range depth {
			expr = strings.ReplaceAll(wrap, "#", expr)
			n, err := compile(cat, "SELECT "+expr+" FROM t")
			if err != nil {
				break // refused: too many digits, or too deep
			}
			text, err := render.Relation(n)
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, len(text)-1000)
			if len(sizes) < depth {
				continue
			}
			if _, err := duckQuery(db, text, n.Columns()); err != nil {
				t.Errorf("%s: %v", wrap, err)
			}
		}
		if half, full := sizes[len(sizes)/2], sizes[len(sizes)-1]; copies == 1 && full > 4*max(half, 1000) {
			t.Errorf("%s: %d bytes at half the depth, %d at depth %d", wrap, half, full, len(sizes))
		}
	}
}
