package render

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/sqltype"
)

// groupHash is what the groups of a unit are ordered by, and groupOrder the columns that
// make that a total order.
func (w *bounded) groupHash() string {
	if d := w.rehashing(); d != nil {
		return w.hashedNumber(d)
	}
	hash := w.hash(w.keys)
	if code, _ := w.number(); code != "" {
		return fmt.Sprintf("(%s & CAST(%d AS UBIGINT)) + %s", hash, uint64(math.MaxUint64)>>(packedBits+1)<<(packedBits+1), code)
	}
	return hash
}

func (w *bounded) groupOrder() []string {
	if code, _ := w.number(); code != "" || w.rehashing() != nil {
		return []string{"hk"}
	}
	return append([]string{"hk"}, w.keys...)
}

// rowHash is what the rows of a unit's group are ordered by, before the chosen columns, which break ties.
func (w *bounded) rowHash() string {
	d := w.rehashing()
	if d == nil || slices.ContainsFunc(w.chosen, func(c string) bool { return !w.types[c].IsInteger() }) {
		return w.hash(append(w.keys[:len(w.keys):len(w.keys)], w.chosen...))
	}
	hash := w.hashedNumber(d)
	for _, c := range w.chosen {
		hash = d.rehash(hash, "coalesce("+c+", 0)", w.types[c])
	}
	return fmt.Sprintf("%s << %d", hash, hashBits)
}

// hash is the salted hash of the unit and more columns.
func (w *bounded) hash(columns []string) string {
	columns = append([]string{"u"}, columns...)
	if w.compared {
		return w.digest(columns, func(c string) string { return c })
	}
	return w.dialect.hash(columns)
}

// digest is the hash that all engines share, of columns that stand where within says.
func (w *bounded) digest(columns []string, within func(string) string) string {
	parts := []string{w.dialect.salt()}
	for _, c := range columns {
		x := within(c)
		if i := slices.Index(w.keys, c); i >= 0 && w.listed(i) != nil {
			switch d := w.gathering(); {
			case w.numbered():
				x = w.dialect.(splitting).element(w.texts(w.listed(i)), x)
			case d != nil:
				x = d.nth(w.texts(w.listed(i)), x+" - 1")
			}
		}
		parts = append(parts, w.dialect.counted(w.dialect.convert(w.scope, x, w.types[c], sqltype.Of(sqltype.Text))))
	}
	return w.dialect.digest(parts) // as hexadecimal digits, which are in the order of the bytes
}
