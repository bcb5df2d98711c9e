package discreet

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// outerBuckets says what the buckets beyond the ends of width_bucket hold, of those that the declared bounds leave.
func outerBuckets(k stability.Key) string {
	e, ok := k.Expr.(*plan.Call)
	if !ok || e.Function != plan.WidthBucket || len(e.Args) != 4 {
		return ""
	}
	var ends [2]float64
	for i := range ends {
		l, ok := e.Args[1+i].(*plan.Literal)
		if !ok {
			return ""
		}
		r, ok := sqltype.Rat(l.Value)
		if !ok {
			return ""
		}
		ends[i], _ = r.Float64()
	}
	n, ok := e.Args[3].(*plan.Literal)
	if !ok {
		return ""
	}
	last, _ := n.Value.(int64)
	before, after := "less than", "or more"
	if ends[0] > ends[1] {
		before, after = "more than", "or less"
	}
	var words []string
	if holds(k.Domain, 0) {
		words = append(words, fmt.Sprintf("bucket 0 is of %s %.8g", before, ends[0]))
	}
	if holds(k.Domain, last+1) {
		words = append(words, fmt.Sprintf("bucket %d is of %.8g %s", last+1, ends[1], after))
	}
	return strings.Join(words, ", ")
}

func holds(domain []*catalog.PublicDomain, n int64) bool {
	return slices.ContainsFunc(domain, func(d *catalog.PublicDomain) bool {
		if d.Lower == nil || d.Upper == nil {
			return slices.ContainsFunc(d.Values, func(v sqltype.Value) bool { return v == n })
		}
		at := big.NewRat(n, 1)
		return d.Lower.Cmp(at) <= 0 && at.Cmp(d.Upper) <= 0
	})
}
