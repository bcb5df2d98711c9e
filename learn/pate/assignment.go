package pate

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/learn/example"
)

// MaxTeachers is the largest number of teachers.
const MaxTeachers = 1 << 20

// An Assignment says which teacher a unit's data go to: by HMAC-SHA-256 of the unit
// under a key that is drawn once for an ensemble, and that is private as the ensemble
// is.
//
// Each unit's teacher is a function of the key and of the unit alone, so that adding
// or removing one changes one teacher's part. Under ReplaceOne the newcomer may go
// elsewhere: two parts change.
//
// Where units have no names but their places in a list, taking one out moves others up.
// Then the same holds between runs that are coupled: the teachers of all units are
// independent and uniform (as far as HMAC is a random function) whatever their
// numbers are, and a mixture over what both runs share reveals no more than its worst
// part (divergences are jointly quasi-convex). This is why the key must be drawn anew
// for every ensemble.
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

// Parts returns the examples of each teacher, in their order in the set. Some teachers
// may have none.
func (a *Assignment) Parts(set *example.Set) []*example.Set {
	rows := make([][]int, a.teachers)
	var unit [4]byte
	for i := range set.Len() {
		u := int32(i)
		if set.Units != nil {
			u = set.Units[i]
		}
		binary.BigEndian.PutUint32(unit[:], uint32(u))
		t := a.Teacher(unit[:])
		rows[t] = append(rows[t], i)
	}
	parts := make([]*example.Set, a.teachers)
	for t := range parts {
		parts[t] = set.Pick(rows[t])
	}
	return parts
}

const redacted = "[ensemble withheld]"

// Format prints a redaction for every verb.
func (Assignment) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalJSON refuses.
func (Assignment) MarshalJSON() ([]byte, error) {
	return nil, errors.New("an assignment is not marshalled")
}
