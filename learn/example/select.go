package example

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/sqltype"
)

// A Selection says which examples of the records that were read are in the set.
//
// Which those are of a unit is a function of the key and of the unit's own
// records: of what stands in them, never of their order or of other units. So a
// neighbour's set differs by the examples of one unit, PerUnit at most. The key need
// not be secret for that; one that the owner of the data did not draw could favour
// some records.
type Selection struct {
	PerUnit int      `json:"per_unit"` // examples that a unit keeps at most; 1 or more
	Key     [32]byte `json:"key"`
	// Holdout is the share of units that is held out, for tests; Held takes those, and
	// no others.
	Holdout float64 `json:"holdout,omitempty"`
	Held    bool    `json:"held,omitempty"`
}

// ErrSelection is returned for a selection that selects nothing that is bounded.
var ErrSelection = errors.New("not a selection")

// Validate refuses a selection without a bound, or with a share that is not from 0 to below 1.
func (s *Selection) Validate() error {
	switch {
	case s.PerUnit < 1:
		return fmt.Errorf("%w: a unit keeps %d examples", ErrSelection, s.PerUnit)
	case !(s.Holdout >= 0 && s.Holdout < 1):
		return fmt.Errorf("%w: %v of the units are held out", ErrSelection, s.Holdout)
	case s.Held && s.Holdout == 0:
		return fmt.Errorf("%w: what is held out is asked for, and nothing is", ErrSelection)
	}
	return nil
}

// hash is HMAC-SHA-256 under the key, of parts that nothing else is cut into.
func (s *Selection) hash(parts ...[]byte) (out [32]byte) {
	h := hmac.New(sha256.New, s.Key[:])
	var length [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(length[:], uint64(len(p)))
		h.Write(length[:])
		h.Write(p)
	}
	h.Sum(out[:0])
	return out
}

// takes reports whether a unit is on the side that is wanted.
func (s *Selection) takes(unit []byte) bool {
	if s.Holdout == 0 {
		return true
	}
	h := s.hash([]byte("side"), unit)
	held := float64(binary.LittleEndian.Uint64(h[:])) < s.Holdout*math.Exp2(64)
	return held == s.Held
}

// A Builder makes a set of records.
type Builder struct {
	reader    *reader
	selection Selection
	own       bool // each record is a unit
	units     map[string]*unit
	order     []*unit
	bytes     []byte
	set       Set
}

// A unit is the examples that it keeps.
type unit struct {
	name string
	kept []kept
}

type kept struct {
	rank    [32]byte
	example []byte
}

// NewBuilder returns a builder of a set by an encoding. With own, each record is a
// unit of its own; and the names that are given to Add mean nothing.
func NewBuilder(e *Encoding, s Selection, own bool) (*Builder, error) {
	r, err := e.reader()
	if err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	b := &Builder{reader: r, selection: s, own: own, units: map[string]*unit{}}
	b.set = Set{Width: r.width, Outputs: 1, Features: []float32{}}
	if b.set.Classes = len(e.ClassNames()); b.set.Classes > 0 || r.target == nil {
		b.set.Labels = []int32{}
	} else {
		b.set.Targets = []float32{}
	}
	if r.target == nil {
		b.set.Classes = 1 // all labels are missing
	}
	return b, nil
}

// Add adds the record of a unit: values of the encoding's columns, and last of its
// target if it has one.
func (b *Builder) Add(name string, values []sqltype.Value) {
	e := b.encode(values)
	if b.own {
		if b.selection.takes(e) {
			b.append(e)
		}
		return
	}
	if !b.selection.takes([]byte(name)) {
		return
	}
	u := b.units[name]
	if u == nil {
		u = &unit{name: name}
		b.units[name] = u
		b.order = append(b.order, u)
	}
	u.kept = append(u.kept, kept{b.selection.hash([]byte("rank"), []byte(name), e), e})
	if len(u.kept)/2 >= b.selection.PerUnit {
		u.choose(b.selection.PerUnit)
	}
}

// choose keeps the first examples by rank, in its order.
func (u *unit) choose(n int) {
	slices.SortFunc(u.kept, func(x, y kept) int {
		return cmp.Or(bytes.Compare(x.rank[:], y.rank[:]), bytes.Compare(x.example, y.example))
	})
	u.kept = u.kept[:min(len(u.kept), n)]
}

// encode is an example as bytes: the features that are not 0, and the label or
// target. Equal examples are equal bytes.
func (b *Builder) encode(values []sqltype.Value) []byte {
	r := b.reader
	row := make([]float32, r.width)
	r.features(values, row)
	b.bytes = b.bytes[:0]
	for i, x := range row {
		if x != 0 {
			b.bytes = binary.LittleEndian.AppendUint32(b.bytes, uint32(i))
			b.bytes = binary.LittleEndian.AppendUint32(b.bytes, math.Float32bits(x))
		}
	}
	last := uint32(math.MaxUint32) // no label
	switch {
	case r.target == nil:
	case b.set.Classes > 0:
		last = uint32(int32(r.target.class(values[len(r.columns)])))
	default:
		y := float32(math.NaN()) // a target that is NULL: an example that contributes nothing
		if u, ok := r.target.share(values[len(r.columns)]); ok {
			y = float32(r.scaled(u))
		}
		last = math.Float32bits(y)
	}
	return bytes.Clone(binary.LittleEndian.AppendUint32(b.bytes, last))
}

// append decodes an example to the set's end.
func (b *Builder) append(e []byte) {
	s := &b.set
	from := len(s.Features)
	s.Features = append(s.Features, make([]float32, s.Width)...)
	for ; len(e) > 4; e = e[8:] {
		s.Features[from+int(binary.LittleEndian.Uint32(e))] = math.Float32frombits(binary.LittleEndian.Uint32(e[4:]))
	}
	last := binary.LittleEndian.Uint32(e)
	if s.Classes > 0 {
		s.Labels = append(s.Labels, int32(last))
	} else {
		s.Targets = append(s.Targets, math.Float32frombits(last))
	}
}

// Set returns the set of what was added. The builder is used up.
func (b *Builder) Set() *Set {
	if b.own {
		return &b.set
	}
	b.set.Units, b.set.Names = []int32{}, []string{}
	for i, u := range b.order {
		u.choose(b.selection.PerUnit)
		b.set.Names = append(b.set.Names, u.name)
		for _, k := range u.kept {
			b.append(k.example)
			b.set.Units = append(b.set.Units, int32(i))
		}
	}
	return &b.set
}
