package render

import (
	"fmt"
	"math"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// A rehashing dialect hashes one value by its type, and what a hash was made of before.
type rehashing interface {
	splitting
	seed() string                                 // the salt, which hashes are made of
	rehash(hash, x string, t sqltype.Type) string // of a value that is not NULL
}

// codeBits are those of a group's number among all that there can be, behind the lower half of its hash: the server mixes
// the upper half less, and ordered by that, some pairs of groups were kept twice as often as others.
const codeBits, hashBits = 8, 32

const _ = uint(1<<codeBits - mostMasks*maskPlaces) // no group is without a number

// rehashing is the dialect, where a unit's groups are ordered by hashedNumber.
func (w *bounded) rehashing() rehashing {
	d, able := w.dialect.(rehashing)
	if !able || w.compared || !w.numbered() {
		return nil
	}
	return d
}

// hashedNumber is a group's hash, and behind it which group it is, in each form of a query: all keep the same groups of a
// unit. It is never NULL.
func (w *bounded) hashedNumber(d rehashing) string {
	code := w.code()
	return fmt.Sprintf("%s << %d | %s", d.rehash(d.rehash(d.seed(), "u", w.types["u"]), code, sqltype.Of(sqltype.Integer)), hashBits, code)
}

// order counts rows of each unit that the bounds leave, where all keys are listed. A row is the number that
// its group has (see hashedNumber), so that rows of a unit have one number if they are
// of one group, and groups stand in the order of their hashes. The numbers of each unit are gathered in that order.
//
// Of its groups the first L0 are kept, as the L0-th of the distinct numbers is the greatest that is kept. Of a
// group all rows are kept but those that have a row of their group R places behind them: the last R, or all if
// there are fewer. So what is counted of a unit is a function of its own rows and the salt. Arrays that are
// spread beside each other are filled up with NULL.
//
// The fence keeps the number from being computed once more for the second array.
func (w *bounded) order(d rehashing, rows string) string {
	b := w.node
	code, n := w.code(), fmt.Sprintf("CAST(x & %d AS INTEGER)", 1<<codeBits-1)
	number := w.hashedNumber(d)
	if w.compared { // the digest's hexadecimal digits
		number, n = fmt.Sprintf("%s || lpad(CAST(%s AS TEXT), 3, '0')", w.hash(w.keys), code), "CAST(right(x, 3) AS INTEGER)"
	}
	text := fmt.Sprintf("SELECT u, %s AS x FROM (%s) AS t%s", number, rows, d.fence())
	text = fmt.Sprintf("SELECT array_agg(x ORDER BY x) AS x, (array_agg(DISTINCT x ORDER BY x))[%d] AS most FROM (%s) AS t GROUP BY u", min(b.MaxGroups, 1<<codeBits), text)
	text = fmt.Sprintf("SELECT unnest(x) AS x, unnest(x[%d:]) AS later, most FROM (%s) AS t", min(b.MaxRows, math.MaxInt32-1)+1, text)
	var keys []string
	stride := 1
	for i, key := range w.keys {
		keys = append(keys, fmt.Sprintf("n / %d %% %d AS %s", stride, len(w.listed(i)), key))
		stride *= len(w.listed(i))
	}
	text = fmt.Sprintf("SELECT %s AS n FROM (%s) AS t WHERE x IS DISTINCT FROM later AND (most IS NULL OR x <= most)", n, text)
	return w.group(fmt.Sprintf("SELECT %s FROM (%s) AS t", strings.Join(keys, ", "), text), func(int, plan.Contribution) string { return "count(*)" })
}
