package render

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
)

// A packing dialect keeps the least of a unit's integers without a sort.
type packing interface {
	high(hash string, low int) string                // a bigint that is not negative, of a hash's high bits above low ones that are 0
	leastOf(x string, n int64, groups string) string // SELECTs, as h, the n least x of each unit
	nthLeast(x string, n int64) string               // aggregates bigints of which there are as many
	nth(list, i string) string                       // of constants, from 0
}

// What packs has few bits, so that most of the integer remains the hash's, and few groups of a
// unit are kept. Groups are ordered by as many bits of the hash in each form of a query, so that all forms keep the same ones: which form is asked
// may depend on the data: each unit's place for them is taken before it is known how many it has.
const (
	packedBits   = 24
	packedGroups = 16
)

// fieldBits is how many bits what a unit adds to a group takes, if that is known and never
// negative.
func (w *bounded) fieldBits(c plan.Contribution) (size int, ok bool) {
	switch c.Kind {
	case plan.UnitCount:
		return 1, true
	case plan.Added: // counts rows, where w is summable
		return bits.Len64(uint64(w.node.MaxRows)), true
	}
	return 0, false
}

// packs reports whether each of a unit's groups is one integer: the hash of the group, its
// number, and what the unit adds to it.
func (w *bounded) packs() bool {
	code, size := w.number()
	_, able := w.dialect.(packing)
	if !able || !w.cuts() || code == "" || !w.summable() || w.node.MaxGroups > packedGroups {
		return false
	}
	for _, c := range w.node.Contributions {
		field, ok := w.fieldBits(c)
		if !ok || w.node.Shown != nil && c.Kind == plan.UnitCount { // units of several groups are looked at
			return false
		}
		size += field
	}
	return size <= packedBits
}

// leastPacked sums, by key, what units add to those of their groups that have the least
// hashes. The number behind the hash breaks ties, so that what stands behind it decides
// nothing.
func (w *bounded) leastPacked(groups string) string {
	d := w.dialect.(packing)
	code, size := w.number()
	var parts, sums []string
	total := 0
	for i := len(w.node.Contributions) - 1; i >= 0; i-- {
		field, _ := w.fieldBits(w.node.Contributions[i])
		part := fmt.Sprintf("p%d", i)
		if w.node.Contributions[i].Value != nil && w.node.Contributions[i].Kind != plan.Added {
			part = "coalesce(" + part + ", 0)"
		}
		parts = append(parts, at(part, total))
		h := "h"
		if total > 0 {
			h = fmt.Sprintf("(h >> %d)", total)
		}
		sums = append(sums, fmt.Sprintf("%s AS x%d", w.dialect.sum(fmt.Sprintf("sum(%s & %d)", h, int64(1)<<field-1)), i))
		total += field
	}
	slices.Reverse(sums)
	parts = append(parts, at(code, total), d.high(w.hash(w.keys), packedBits))
	slices.Reverse(parts)
	columns := w.textsOf(d)
	return fmt.Sprintf("SELECT %s FROM (SELECT h, (h >> %d) & %d AS g FROM (%s) AS t) AS t GROUP BY g",
		strings.Join(append(columns, sums...), ", "), total, int64(1)<<size-1, d.leastOf(strings.Join(parts, " | "), w.node.MaxGroups, groups))
}

// at is a number above as many bits of 0.
func at(number string, low int) string {
	number = "CAST(" + number + " AS BIGINT)"
	if low == 0 {
		return number
	}
	return fmt.Sprintf("%s * %d", number, int64(1)<<low)
}
