//go:build cgo

package least

/*
#include "least.h"
*/
import "C"

import (
	"fmt"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// MostSums is the greatest number of values, MostTotals that of totals, and MostRows the greatest R.
const (
	MostSums   = C.LEAST_SUMS
	MostTotals = C.LEAST_TOTALS
	MostRows   = C.LEAST_ROWS
)

// Totals says which of the functions is meant that read the rows of a copy, of which it is known of every row how many rows its unit
// has, and return what all units together contribute to each group:
//
//	discreet_totals_VALUES_TOTALS(asked VARCHAR, unit BIGINT, rows BIGINT, shown BOOLEAN, group INTEGER, order UBIGINT, hash UBIGINT, value BIGINT, ...)
//	    -> STRUCT(g BIGINT, x0 HUGEINT, ...)[]
//
// It is called without GROUP BY, over all rows of the copy: rows that are not shown, and those whose group is NULL or negative, are in no
// group, but must come. A group's code is that of the package: the first 39 bits of the order, which is a hash of unit and group, and 16 of the group's number, above the last 8. What is asked is
// a constant: L0, R and the number of groups, and of each total
//
//	n              rows, R of a unit and group at most
//	u              units
//	sJ             units that have a value J
//	aJ             values J of the R first rows of a unit and group, in the order of their hashes, and then of all values that are added
//	cJ:LOWER:UPPER sums of values J of all of a unit's rows in a group, clamped
//
// as in "8 4 100 n c0:-5:9". A group without units is not returned, and a total to which nothing was added is NULL.
//
// # Why it is right in any order, and fast in one
//
// A state holds of a unit what package least keeps of it, and the R first rows of each group: functions of the multiset of the unit's rows, that can be
// computed of parts of them and merged (a row that is not among the R first of a part is not among those of the whole). It adds a unit's
// contribution to the totals once it has seen as many rows as the unit has, by the copy. While rows of one unit follow each other, that needs no
// table of units. A unit of which rows are missing when another's come waits in a table, where what else comes of it is merged with it: in the same
// state, or when states are combined. So neither the order of rows, nor how they are cut into chunks, nor how they are divided among threads, matters to
// the totals, and no unit is added twice or in parts. At the end no unit waits: otherwise the query fails, as then a row of the copy did not come,
// which no record can bring about. It fails, too, where rows of a unit that are not yet added say different numbers of rows. That no row comes twice, it takes from DuckDB, as every aggregate does.
//
// Memory is bounded by the totals of each thread and the units that wait: where rows come in the order of their units, two of each part of the copy that a thread
// reads at a time (122,880 rows), of fixed size, however many rows they have. Where a query is given up, DuckDB 1.5.5 does not destroy the states
// of all threads: of 370 states in 100 such queries 8 to 13 were left, whose memory stays with the process.
type Totals struct{ Values, Totals int }

// Name is the function's.
func (t Totals) Name() string { return fmt.Sprintf("discreet_totals_%d_%d", t.Values, t.Totals) }

// Register makes the function known to the instance of a connection, once.
func (t Totals) Register(c *duckdb.Conn) error {
	if t.Values < 0 || t.Values > MostSums || t.Totals < 1 || t.Totals > MostTotals {
		return fmt.Errorf("register %s: there is no such function", t.Name())
	}
	return register(c, t.Name(), func(conn C.duckdb_connection) bool {
		return C.discreet_totals_register(conn, C.int(t.Values), C.int(t.Totals)) != 0
	})
}
