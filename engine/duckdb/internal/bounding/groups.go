//go:build cgo

package bounding

import (
	"math/bits"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb/internal/sink"
	"github.com/discreet-dp/discreet/sqltype"
)

// groups are those that a reader has met. Each has a code, from 0.
type groups struct {
	q     *Query
	keys  []*dictionary // of the values of each key
	pairs []*pairs      // what the keys up to the second are together, up to the third, and so on
	all   []group
	at    map[string]uint32 // the codes by the groups' texts
	next  []uint32          // scratch
}

// A group's text tells it from all others.
type group struct {
	key  []sqltype.Value
	text string
	hash uint64
}

// leftOut is in the place of a code where a row's keys are none of those listed.
const leftOut = ^uint32(0)

func newGroups(q *Query) *groups {
	g := &groups{q: q, at: map[string]uint32{}}
	for i, k := range q.of.Keys {
		d := &dictionary{q: q, of: k, long: map[string]uint32{}, null: unseen}
		if k.Listed != nil {
			d.listed = map[string]bool{}
			for _, text := range k.Listed {
				d.listed[text] = true
			}
		}
		g.keys = append(g.keys, d)
		if i > 0 {
			g.pairs = append(g.pairs, &pairs{q: q})
		}
	}
	return g
}

// codes are those of the groups of a chunk's rows, whose keys are the columns from first.
func (g *groups) codes(c *sink.Chunk, first int, out []uint32) ([]uint32, error) {
	if cap(out) < c.Rows {
		out, g.next = make([]uint32, c.Rows), make([]uint32, c.Rows)
	}
	out = out[:c.Rows]
	clear(out)
	known := 1 // without keys there is one group
	for i, d := range g.keys {
		if i == 0 {
			if err := d.codes(c, first, out); err != nil {
				return nil, err
			}
			known = len(d.values)
			continue
		}
		next := g.next[:c.Rows]
		if err := d.codes(c, first+i, next); err != nil {
			return nil, err
		}
		if err := g.pairs[i-1].codes(out, next); err != nil {
			return nil, err
		}
		known = len(g.pairs[i-1].of)
	}
	for code := len(g.all); code < known; code++ {
		if _, err := g.add(g.key(uint32(code))); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// key are the values of the keys of a group.
func (g *groups) key(code uint32) []sqltype.Value {
	key := make([]sqltype.Value, len(g.keys))
	for i := len(g.keys) - 1; i > 0; i-- {
		pair := g.pairs[i-1].of[code]
		key[i], code = g.keys[i].values[pair[1]], pair[0]
	}
	if len(key) > 0 {
		key[0] = g.keys[0].values[code]
	}
	return key
}

// add returns the code of a group, which is the next one of a new group.
func (g *groups) add(key []sqltype.Value) (uint32, error) {
	text := sqltype.Key(key...)
	if code, ok := g.at[text]; ok {
		return code, nil
	}
	code := uint32(len(g.all))
	g.all = append(g.all, group{key, text, g.q.hash.of(text)})
	g.at[text] = code
	return code, g.q.take(groupBytes + 2*len(text) + totalBytes*len(g.q.of.Contributions))
}

// groupBytes is about what a group takes beside its text and what is summed.
const groupBytes = 250

// A dictionary holds the values of a key, each under a code from 0.
type dictionary struct {
	q      *Query
	of     engine.OrderedKey
	listed map[string]bool   // nil where it may be anything
	table  table             // codes of numbers, and of short texts
	long   map[string]uint32 // and of long texts
	values []sqltype.Value
	null   uint32 // the code of NULL
}

// unseen is no code yet.
const unseen = leftOut - 1

func (d *dictionary) codes(c *sink.Chunk, column int, out []uint32) error {
	if d.of.Form == engine.TextForm {
		texts, present, err := c.Texts(column)
		if err != nil {
			return err
		}
		for i := range texts {
			text := &texts[i]
			if !present.Has(i) {
				out[i], err = d.nullCode()
			} else if first, second, short := text.Short(); !short {
				out[i], err = d.longCode(text)
			} else if s := d.table.likely(first, second); s != nil && s.is(first, second) {
				out[i] = s.code
			} else if s := d.table.find(first, second); s != nil {
				out[i] = s.code
			} else {
				out[i], err = d.code(string(text.Bytes()))
				d.table.put(first, second, out[i])
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	numbers, present, err := c.Integers(column)
	if err != nil {
		return err
	}
	for i, n := range numbers {
		if !present.Has(i) {
			out[i], err = d.nullCode()
		} else if s := d.table.likely(uint64(n), 0); s != nil && s.is(uint64(n), 0) {
			out[i] = s.code
		} else if s := d.table.find(uint64(n), 0); s != nil {
			out[i] = s.code
		} else {
			out[i], err = d.code(number(n, d.of.Type))
			d.table.put(uint64(n), 0, out[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// longCode is the code of a text that is not all in a table.
func (d *dictionary) longCode(text *sink.Text) (code uint32, err error) {
	code, ok := d.long[string(text.Bytes())]
	if !ok {
		own := string(text.Bytes())
		code, err = d.code(own)
		d.long[own] = code
	}
	return code, err
}

// code gives a new value one, unless it is none of those that are listed.
func (d *dictionary) code(v sqltype.Value) (uint32, error) {
	bytes := 4 * slotBytes
	text, isText := v.(string)
	if isText {
		bytes += 2 * len(text)
	}
	if d.listed != nil && !(isText && d.listed[text]) {
		return leftOut, d.q.take(bytes)
	}
	d.values = append(d.values, v)
	return uint32(len(d.values) - 1), d.q.take(bytes)
}

func (d *dictionary) nullCode() (uint32, error) {
	if d.null != unseen {
		return d.null, nil
	}
	if d.null = leftOut; d.listed == nil {
		d.null, d.values = uint32(len(d.values)), append(d.values, nil)
	}
	return d.null, nil
}

// number is a value of a type that stands as a bigint.
func number(n int64, t sqltype.Type) sqltype.Value {
	switch t.Kind {
	case sqltype.Boolean:
		return n != 0
	case sqltype.DateKind:
		return sqltype.Date(n)
	case sqltype.TimeKind:
		return sqltype.Time(n)
	case sqltype.TimestampKind:
		return sqltype.Timestamp(n)
	}
	return n
}

// pairs gives pairs of codes one code each, from 0.
type pairs struct {
	q     *Query
	table table
	of    [][2]uint32
}

// codes puts the codes of pairs in the place of their first ones.
func (p *pairs) codes(first, second []uint32) error {
	for i, a := range first {
		b := second[i]
		if a == leftOut || b == leftOut {
			first[i] = leftOut
			continue
		}
		if s := p.table.find(uint64(a), uint64(b)); s != nil {
			first[i] = s.code
			continue
		}
		first[i], p.of = uint32(len(p.of)), append(p.of, [2]uint32{a, b})
		p.table.put(uint64(a), uint64(b), first[i])
		if err := p.q.take(4 * slotBytes); err != nil {
			return err
		}
	}
	return nil
}

// A table finds codes by two words.
type table struct {
	slots []slot
	taken int
}

type slot struct {
	first, second uint64
	code          uint32
	taken         bool
}

const slotBytes = 24

// likely is the first slot where two words can be, or nil: mostly it is theirs.
func (t *table) likely(first, second uint64) *slot {
	if len(t.slots) == 0 {
		return nil
	}
	return &t.slots[spread(first, second)&uint64(len(t.slots)-1)]
}

// find returns the slot of two words, or nil.
func (t *table) find(first, second uint64) *slot {
	if s := t.likely(first, second); s == nil || s.is(first, second) {
		return s
	}
	if s := t.place(first, second); s.taken {
		return s
	}
	return nil
}

func (s *slot) is(first, second uint64) bool {
	return s.first == first && s.second == second && s.taken
}

// place is the slot where two words are, or would be.
func (t *table) place(first, second uint64) *slot {
	for i := spread(first, second); ; i++ {
		if s := &t.slots[i&uint64(len(t.slots)-1)]; !s.taken || s.is(first, second) {
			return s
		}
	}
}

func spread(first, second uint64) uint64 {
	hi, lo := bits.Mul64(first^0x9e3779b97f4a7c15, second^0xe7037ed1a0b428db)
	return hi ^ lo
}

func (t *table) put(first, second uint64, code uint32) {
	if t.taken++; 2*t.taken > len(t.slots) {
		old := t.slots
		t.slots = make([]slot, max(64, 2*len(old)))
		for _, s := range old {
			if s.taken {
				*t.place(s.first, s.second) = s
			}
		}
	}
	*t.place(first, second) = slot{first, second, code, true}
}
