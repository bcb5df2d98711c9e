//go:build cgo

// Package least is a function of DuckDB's that bounds what units contribute: an aggregate of a
// unit's rows that keeps, of the groups that they are in, so many whose codes are least.
//
//	discreet_least_GROUPS_VALUES(code BIGINT, value BIGINT, ...)
//	    -> STRUCT(h BIGINT, s0 HUGEINT, ...)[]
//
// The first 56 bits of a code are its group's: those of a salted hash of unit and group, and behind them
// the group's number, so that different groups of a unit have different ones. The last 8 are ignored, and are in h how many rows
// the group has, or 255 if there are more. A row whose code is NULL is in no group. It must not be
// called with ORDER BY, for which DuckDB hands over states in another form. A value that is NULL is not summed; s is NULL if all are.
//
// # Why it is a function of the multiset of the unit's rows
//
// A state holds the least GROUPS groups of the rows that it has seen, with the counts and exact sums of all rows of these
// groups among them. A group that leaves it never comes back, since those that made it leave are less and are only replaced by lesser
// ones: so a group that is kept in the end was kept from its first row on, in every state that saw one of its rows. Counts, sums
// and the choice of the least are associative and commutative. So neither the order of rows nor how they are divided among threads matters, and
// one unit's result depends on no other unit.
//
// A state has a fixed size and no pointers: DuckDB writes it to disk where memory is short.
//
// It does not guarantee privacy: who calls it decides by the code which groups are kept, and clamps the counts and sums.
package least

/*
#cgo CFLAGS: -fexceptions
#include "least.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"reflect"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// Most is the greatest number of values that are summed.
const Most = C.LEAST_VALUES

// A Shape says which of the functions is meant.
type Shape struct{ Groups, Values int }

// Name is the function's.
func (s Shape) Name() string { return fmt.Sprintf("discreet_least_%d_%d", s.Groups, s.Values) }

var errRefused = errors.New("DuckDB refuses the function")

// Register makes the function of a shape known to the instance of a connection, once.
func Register(c *duckdb.Conn, s Shape) error {
	if s.Groups < 1 || s.Values < 0 || s.Values > Most {
		return fmt.Errorf("register %s: there is no such shape", s.Name())
	}
	return register(c, s.Name(), func(conn C.duckdb_connection) bool {
		return C.discreet_least_register(conn, C.int(s.Groups), C.int(s.Values)) != 0
	})
}

// register makes a function known to the instance of a connection, which the driver keeps to itself.
func register(c *duckdb.Conn, name string, function func(conn C.duckdb_connection) bool) error {
	conn := reflect.ValueOf(c).Elem().FieldByName("conn")
	if !conn.IsValid() || conn.Type() != reflect.TypeFor[mapping.Connection]() || conn.FieldByName("Ptr").IsNil() {
		return fmt.Errorf("register %s: the driver holds its connection in another way: %w", name, errRefused)
	}
	if !function(C.duckdb_connection(conn.FieldByName("Ptr").UnsafePointer())) {
		return fmt.Errorf("register %s: %w", name, errRefused)
	}
	return nil
}
