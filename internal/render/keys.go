package render

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// A sifting dialect looks for a key in its list once for each group, and not for each row, where every row counts: what
// is left out then takes nothing from what stays.
type sifting interface {
	sifted(key, texts string) string // a condition on groups
}

// sifting is the dialect in which keys that are none of their lists are left out after rows are grouped, or nil.
func (w *bounded) sifting() sifting {
	d, ok := w.dialect.(sifting)
	if !ok || !w.node.Whole || w.node.Shown != nil || !slices.ContainsFunc(w.node.Listed, func(list []string) bool { return list != nil }) {
		return nil
	}
	return d
}

// texts prints constants.
func (s scope) texts(list []string) string {
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = s.literal(text, sqltype.Of(sqltype.Text))
	}
	return strings.Join(quoted, ", ")
}

// A placing dialect looks for a text in a short list faster than it compares types of lists.
type placing interface {
	packing
	place(value, texts string) string // of a text among constants, from 1; 0 or NULL where it is none of them
	placed(place string) string       // the same from 0, without a sign
}

// shortList is how many texts a list has at most in which each text is looked for one by one.
const shortList = 32

// placing is the dialect in which key i is a place in a list, or nil where it is a text, or of
// a type of the list's.
func (w *bounded) placing(i int) placing {
	d, ok := w.dialect.(placing)
	if n := len(w.listed(i)); !ok || w.compared || n == 0 || n > shortList {
		return nil
	}
	return d
}

// unlisted is the text of a listed key.
func (w *bounded) unlisted(i int) string {
	if d := w.placing(i); d != nil {
		return d.nth(w.texts(w.listed(i)), w.keys[i]+" - 1")
	}
	if w.numbered() {
		return w.dialect.(splitting).element(w.texts(w.listed(i)), w.keys[i])
	}
	if d := w.gathering(); d != nil {
		return d.nth(w.texts(w.listed(i)), w.keys[i]+" - 1")
	}
	return w.dialect.unlisted(w.keys[i])
}

// A numbers is a key's plan.Range, where the dialect tells groups apart by their numbers.
type numbers plan.Range

func (w *bounded) ranged(i int) *numbers {
	if _, able := w.dialect.(totalling); !able || w.compared || i >= len(w.node.Ranges) {
		return nil
	}
	return (*numbers)(w.node.Ranges[i])
}

// place is which of the numbers a key is, from 0; of any other key it is one of them, too, so that it fails of none.
func (of *numbers) place(key string) string {
	return fmt.Sprintf("((least(greatest(CAST(%s AS BIGINT), %d), %d) - %d) // %d)", key, of.First, of.First+(of.Count-1)*of.Step, of.First, of.Step)
}

// count is how many values a key may have, 0 where that is not known.
func (w *bounded) count(i int) int {
	if of := w.ranged(i); of != nil {
		return int(of.Count)
	}
	return len(w.listed(i))
}

// numberOf says which of its list a key is, from 0, or "".
func (w *bounded) numberOf(i int) string {
	if of := w.ranged(i); of != nil {
		return "CAST(" + of.place(w.keys[i]) + " AS UBIGINT)"
	}
	if d := w.placing(i); d != nil {
		return d.placed(w.keys[i])
	}
	return w.dialect.number(w.keys[i])
}

// listed are the texts that a key may be, or nil.
func (w *bounded) listed(i int) []string {
	if i < len(w.node.Listed) {
		return w.node.Listed[i]
	}
	return nil
}

// textsOf are the texts of the keys of the group that has number g.
func (w *bounded) textsOf(d packing) (columns []string) {
	stride := 1
	for i := range w.keys {
		n := w.count(i)
		place := fmt.Sprintf("(g // %d) %% %d", stride, n)
		if of := w.ranged(i); of != nil {
			columns = append(columns, fmt.Sprintf("CAST(%d + (%s) * %d AS %s)", of.First, place, of.Step, w.dialect.typeName(w.types[w.keys[i]])))
		} else {
			columns = append(columns, d.nth(w.texts(w.listed(i)), place))
		}
		stride *= n
	}
	return columns
}

// numberBits bounds how much of a group's hash its number takes.
const numberBits = 20

// number is the number of a group among all that there can be, and how many bits it has;
// empty where that is not known.
func (w *bounded) number() (code string, size int) {
	var parts []string
	all := 1
	for i := range w.keys {
		n, code := w.count(i), w.numberOf(i)
		if n == 0 || code == "" || w.compared || all > 1<<numberBits/n {
			return "", 0
		}
		if all > 1 {
			code += fmt.Sprintf(" * %d", all)
		}
		parts = append(parts, code)
		all *= n
	}
	return strings.Join(parts, " + "), bits.Len(uint(all - 1))
}
