//go:build cgo

package bounding

import (
	"cmp"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// A bounder adds up what units contribute.
type bounder struct {
	of     *engine.Ordered
	hash   hashes
	chosen []int     // the values that the choice of rows looks at
	totals [][]total // of each contribution, by the code of the group
	kept   []bool    // the groups that a unit has kept

	// Of one unit.
	counts  []int64 // the rows in each group; none where the group is left out
	met     []uint32
	hashes  []uint64 // of its groups
	ranked  []ranked
	groups  []uint32 // those that it keeps
	starts  []int    // where the rows of a group stand among those that are ranked
	without []bool   // the rows that are left out, beside those of groups that are
	parts   []total
}

// A total is a sum of 128 bits, and whether anything was added.
type total struct {
	low  uint64
	high int64
	any  bool
}

const totalBytes = 24

func (t *total) add(n int64) {
	var carry uint64
	t.low, carry = bits.Add64(t.low, uint64(n), 0)
	t.high += n>>63 + int64(carry)
	t.any = true
}

func (t *total) plus(other total) {
	var carry uint64
	t.low, carry = bits.Add64(t.low, other.low, 0)
	t.high += other.high + int64(carry)
	t.any = t.any || other.any
}

func (t total) number() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(t.high), 64)
	return n.Add(n, new(big.Int).SetUint64(t.low))
}

// A ranked group or row is chosen by its hash.
type ranked struct {
	hash uint64
	of   uint32 // its code, or its number
}

func (b *bounder) init(q *Query) {
	b.of, b.hash, b.totals = q.of, q.hash, make([][]total, len(q.of.Contributions))
	for _, c := range q.of.Contributions {
		if c.Kind == engine.ValuesAdded {
			b.chosen = append(b.chosen, c.Value)
		}
	}
}

// grow makes room for as many groups as there are.
func (b *bounder) grow(groups int) {
	more := groups - len(b.counts)
	if more <= 0 {
		return
	}
	b.counts, b.hashes = append(b.counts, make([]int64, more)...), append(b.hashes, make([]uint64, more)...)
	b.parts, b.kept = append(b.parts, make([]total, more)...), append(b.kept, make([]bool, more)...)
	b.starts = append(b.starts, make([]int, more)...)
	for c := range b.totals {
		b.totals[c] = append(b.totals[c], make([]total, more)...)
	}
}

// bound adds what is kept of a unit's rows, all of which are there.
func (b *bounder) bound(u *unit, g *groups) {
	b.grow(len(g.all))
	b.met = b.met[:0]
	for _, code := range u.codes {
		if b.counts[code] == 0 {
			b.met = append(b.met, code)
		}
		b.counts[code]++
	}
	groups := b.met
	if most := b.of.MaxGroups; most > 0 && int64(len(groups)) > most {
		groups = b.firstGroups(u, g)
	}
	without := b.leaveOut(u, g, groups)
	for i, c := range b.of.Contributions {
		totals := b.totals[i]
		switch c.Kind {
		case engine.RowsAdded:
			for _, code := range groups {
				totals[code].add(min(b.counts[code], b.of.MaxRows))
			}
		case engine.ValuesAdded:
			for row, v := range u.values[c.Value] {
				if code := u.codes[row]; v != null && b.counts[code] > 0 && (without == nil || !without[row]) {
					totals[code].add(v)
				}
			}
		default:
			b.wholeGroups(u, groups, c, totals)
		}
	}
	for _, code := range groups { // the others have none
		b.kept[code], b.counts[code] = true, 0
	}
}

// firstGroups are the groups that a unit keeps where it has too many: those of the least hashes. The others have no rows then.
func (b *bounder) firstGroups(u *unit, g *groups) []uint32 {
	most := int(b.of.MaxGroups)
	b.ranked = b.ranked[:0]
	if len(u.hg) > 0 { // the same of all rows of a group
		for row, code := range u.codes {
			b.hashes[code] = uint64(u.hg[row])
		}
		for _, code := range b.met {
			b.ranked = append(b.ranked, ranked{b.hashes[code], code})
		}
	} else {
		of := b.hash.unit(u.key)
		for _, code := range b.met {
			b.ranked = append(b.ranked, ranked{mix(of ^ g.all[code].hash), code})
		}
	}
	choose(b.ranked, most, func(x, y uint32) int { return strings.Compare(g.all[x].text, g.all[y].text) })
	b.groups = b.groups[:0]
	for _, r := range b.ranked[:most] {
		b.groups = append(b.groups, r.of)
	}
	for _, r := range b.ranked[most:] {
		b.counts[r.of] = 0
	}
	return b.groups
}

// choose puts those n before the others that have the least hashes and, where hashes are the same, are the least.
func choose(all []ranked, n int, compare func(x, y uint32) int) {
	least(all, n)
	last := uint64(0)
	for _, r := range all[:n] {
		last = max(last, r.hash)
	}
	for _, r := range all[n:] {
		if r.hash == last {
			slices.SortFunc(all, func(x, y ranked) int { return cmp.Or(cmp.Compare(x.hash, y.hash), compare(x.of, y.of)) })
			return
		}
	}
}

// least puts n of the least hashes before the others (Hoare 1961, Algorithm 65: Find).
func least(all []ranked, n int) {
	for n > 0 && n < len(all) {
		pivot := all[len(all)/2].hash
		i, j := 0, len(all)-1
		for i <= j {
			for all[i].hash < pivot {
				i++
			}
			for pivot < all[j].hash {
				j--
			}
			if i <= j {
				all[i], all[j] = all[j], all[i]
				i, j = i+1, j-1
			}
		}
		switch { // none of all[:j+1] is above the pivot, and none of all[i:] below
		case n <= j+1:
			all = all[:j+1]
		case n >= i:
			all, n = all[i:], n-i
		default:
			return
		}
	}
}

// leaveOut says which rows are left out, where a group that is kept has more than may be: nil if none is, or it does not matter which.
func (b *bounder) leaveOut(u *unit, g *groups, groups []uint32) []bool {
	most := b.of.MaxRows
	if len(b.chosen) == 0 || most == 0 {
		return nil
	}
	over := 0
	for _, code := range groups {
		if b.counts[code] > most {
			b.starts[code], over = over, over+int(b.counts[code])
		}
	}
	if over == 0 {
		return nil
	}
	b.without = append(b.without[:0], make([]bool, len(u.codes))...)
	b.ranked = append(b.ranked[:0], make([]ranked, over)...)
	var of uint64
	if len(u.hr) == 0 {
		of = b.hash.unit(u.key)
	}
	for row, code := range u.codes {
		if b.counts[code] <= most {
			continue
		}
		var hash uint64
		if len(u.hr) > 0 {
			hash = uint64(u.hr[row])
		} else {
			hash = of ^ g.all[code].hash
			for _, c := range b.chosen {
				hash = mix(hash ^ uint64(u.values[c][row]))
			}
		}
		b.ranked[b.starts[code]] = ranked{hash, uint32(row)}
		b.starts[code]++
	}
	for _, code := range groups {
		if n := b.counts[code]; n > most {
			rows := b.ranked[b.starts[code]-int(n) : b.starts[code]]
			choose(rows, int(most), func(x, y uint32) int {
				for _, c := range b.chosen {
					if order := cmp.Compare(u.values[c][x], u.values[c][y]); order != 0 {
						return order
					}
				}
				return 0
			})
			for _, r := range rows[most:] {
				b.without[r.of] = true
			}
		}
	}
	return b.without
}

// wholeGroups adds a contribution that looks at all rows of a unit's group.
func (b *bounder) wholeGroups(u *unit, groups []uint32, c engine.OrderedContribution, totals []total) {
	if c.Value < 0 {
		for _, code := range groups {
			totals[code].add(1)
		}
		return
	}
	for _, code := range groups {
		b.parts[code] = total{}
	}
	for row, v := range u.values[c.Value] {
		if code := u.codes[row]; v != null && b.counts[code] > 0 {
			b.parts[code].add(v)
		}
	}
	for _, code := range groups {
		switch part := b.parts[code]; {
		case !part.any:
		case c.Kind == engine.UnitCounted:
			totals[code].add(1)
		default:
			totals[code].plus(clamped(part, c.Lower, c.Upper))
		}
	}
}

// clamped is a sum within bounds.
func clamped(t total, lower, upper *big.Int) total {
	if t.high == int64(t.low)>>63 && lower.IsInt64() && upper.IsInt64() {
		var out total
		out.add(min(max(int64(t.low), lower.Int64()), upper.Int64()))
		return out
	}
	n := t.number()
	if n.Cmp(lower) < 0 {
		n = lower
	}
	if n.Cmp(upper) > 0 {
		n = upper
	}
	low := new(big.Int).And(n, new(big.Int).SetUint64(^uint64(0)))
	return total{low.Uint64(), new(big.Int).Rsh(n, 64).Int64(), true}
}

// add adds what another has added up, whose groups have these codes here.
func (b *bounder) add(other *bounder, codes []uint32, g *groups) {
	b.grow(len(g.all))
	for code, kept := range other.kept {
		if !kept {
			continue
		}
		to := codes[code]
		b.kept[to] = true
		for c := range b.totals {
			b.totals[c][to].plus(other.totals[c][code])
		}
	}
}

// result are the groups that a unit has kept, by the keys that are shown.
func (b *bounder) result(g *groups) [][]sqltype.Value {
	var keys [][]sqltype.Value
	var sums [][]total
	at := map[string]int{}
	for code, kept := range b.kept {
		if !kept {
			continue
		}
		key := g.all[code].key
		if b.of.Shown != nil {
			key = make([]sqltype.Value, len(b.of.Shown))
			for i, k := range b.of.Shown {
				key[i] = g.all[code].key[k]
			}
		}
		text := sqltype.Key(key...)
		i, ok := at[text]
		if !ok {
			i = len(keys)
			at[text], keys, sums = i, append(keys, key), append(sums, make([]total, len(b.totals)))
		}
		for c := range b.totals {
			sums[i][c].plus(b.totals[c][code])
		}
	}
	out := make([][]sqltype.Value, len(keys))
	for i, key := range keys {
		out[i] = slices.Clone(key)
		for _, t := range sums[i] {
			if t.any {
				out[i] = append(out[i], sqltype.Decimal{Unscaled: t.number()})
			} else {
				out[i] = append(out[i], nil)
			}
		}
	}
	if len(out) == 0 && b.of.Shown == nil && len(b.of.Keys) == 0 || b.of.Shown != nil && len(b.of.Shown) == 0 && len(out) == 0 {
		out = append(out, make([]sqltype.Value, len(b.totals))) // the sums of nothing
	}
	return out
}
