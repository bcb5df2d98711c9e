package pate

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/learn/example"
)

// MaxTeachers is the largest number of teachers.
const MaxTeachers = 1 << 20

// An Assignment says which teacher a unit's data go to: by HMAC-SHA-256 of the unit
// under a key that is drawn once for an ensemble, is private as the ensemble is, and is
// not kept with it.
//
// A unit is told by its name. One without a name is told by what its examples are and,
// among units of the same examples, by how many of them there are before it. So each
// teacher's part is a function of the key and of the multiset of all units, and what a
// unit more adds to that multiset goes to one teacher: of n equal units the teachers are
// those of the numbers 0 to n−1, whichever of them was added. Adding or removing a unit
// changes one teacher's part. Under ReplaceOne the newcomer may go elsewhere: two parts
// change.
type Assignment struct {
	key      [32]byte
	teachers int
}

// NewAssignment draws a key.
func NewAssignment(teachers int) (*Assignment, error) {
	if teachers < 1 || teachers > MaxTeachers {
		return nil, fmt.Errorf("assign units: %d teachers; want 1 to %d", teachers, MaxTeachers)
	}
	a := &Assignment{teachers: teachers}
	if _, err := entropy.New().Read(a.key[:]); err != nil {
		return nil, fmt.Errorf("assign units: %w", err)
	}
	return a, nil
}

// Teachers returns the number of teachers.
func (a *Assignment) Teachers() int { return a.teachers }

// Teacher returns the teacher of a unit.
func (a *Assignment) Teacher(unit []byte) int {
	h := hmac.New(sha256.New, a.key[:])
	h.Write(unit)
	hi, _ := bits.Mul64(binary.BigEndian.Uint64(h.Sum(nil)), uint64(a.teachers))
	return int(hi)
}

// A place is where an example comes in its teacher's part.
type place struct {
	row           int
	unit, example [sha256.Size]byte
}

// Parts returns the examples of each teacher, in an order by the key. The order does not depend on
// that of the set, which may depend on the data of others. Some teachers may have no examples.
func (a *Assignment) Parts(set *example.Set) []*example.Set {
	places := make([][]place, a.teachers)
	for _, p := range a.places(set) {
		t := a.Teacher(p.unit[:])
		places[t] = append(places[t], p)
	}
	parts := make([]*example.Set, a.teachers)
	for t, part := range places {
		slices.SortFunc(part, func(x, y place) int {
			return cmp.Or(bytes.Compare(x.unit[:], y.unit[:]), bytes.Compare(x.example[:], y.example[:]))
		})
		rows := make([]int, len(part))
		for i, p := range part {
			rows[i] = p.row
		}
		parts[t] = set.Pick(rows)
	}
	return parts
}

// places tells units, and examples, by digests.
func (a *Assignment) places(set *example.Set) []place {
	h := hmac.New(sha256.New, a.key[:])
	digest := func(kind byte, data []byte) (d [sha256.Size]byte) {
		h.Reset()
		h.Write([]byte{kind})
		h.Write(data)
		h.Sum(d[:0])
		return d
	}
	all := make([]place, set.Len())
	of := map[int32][]int{} // the rows of each unit
	var text []byte
	for i := range all {
		text = text[:0]
		for _, x := range set.Features[i*set.Width : (i+1)*set.Width] {
			text = binary.BigEndian.AppendUint32(text, math.Float32bits(x))
		}
		for o := i * set.Outputs; o < (i+1)*set.Outputs; o++ {
			if set.Classes > 0 {
				text = binary.BigEndian.AppendUint32(text, uint32(set.Labels[o]))
			} else {
				text = binary.BigEndian.AppendUint32(text, math.Float32bits(set.Targets[o]))
			}
		}
		all[i] = place{row: i, example: digest('e', text)}
		u := int32(i)
		if set.Units != nil {
			u = set.Units[i]
		}
		of[u] = append(of[u], i)
	}
	before := map[[sha256.Size]byte]uint64{} // how many units with the same examples came before; their order does not matter
	for u, rows := range of {
		var unit [sha256.Size]byte
		if set.Names != nil {
			unit = digest('n', []byte(set.Names[u]))
		} else {
			var digests [][]byte
			for _, r := range rows {
				digests = append(digests, all[r].example[:])
			}
			slices.SortFunc(digests, bytes.Compare)
			same := digest('s', slices.Concat(digests...))
			unit = digest('u', binary.BigEndian.AppendUint64(same[:], before[same]))
			before[same]++
		}
		for _, r := range rows {
			all[r].unit = unit
		}
	}
	return all
}

const redacted = "[ensemble withheld]"

// Format prints a redaction for every verb.
func (Assignment) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalJSON refuses.
func (Assignment) MarshalJSON() ([]byte, error) {
	return nil, errors.New("an assignment is not marshalled")
}
