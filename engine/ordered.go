package engine

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/sqltype"
)

// Ordered says what a Query asks of one table, for an adapter that reads the table's rows in the order of their units: so
// it meets all rows of a unit one after another, and bounds what they contribute without sorting or grouping them by unit.
// What it returns is what Query.SQL would, of rows and groups that another salted hash may choose.
//
// Of each unit, rows whose key is none of those listed are left out; the first MaxGroups groups are kept, in an order that is
// a salted hash of the unit and the group; and the contributions are summed by the keys over all units.
type Ordered struct {
	// Rows is a SELECT from OrderedTable of, in this order: the row's place in the table, a bigint; its unit; its keys; so many
	// Values, bigints or NULL; and, where Hashes says so, the hashes of its group and of itself as bigints that are not negative.
	Rows string
	Unit KeyForm
	Keys []OrderedKey
	// Shown are the keys by which is summed in the end, where these are not all; nil for all.
	Shown  []int
	Values int
	Hashes bool // else the adapter hashes what the rows hold

	MaxGroups, MaxRows int64 // 0 where nothing is to be left out
	Contributions      []OrderedContribution
}

// String prints all of it, so that what is asked can be compared.
func (o *Ordered) String() string { return fmt.Sprint(*o) }

// OrderedTable stands in Ordered.Rows, once, where the adapter puts its name of the table.
const OrderedTable = "$table"

// A KeyForm is how a unit or a key stands in Ordered.Rows: as a bigint or as a text.
type KeyForm uint8

// The forms.
const (
	BigintForm KeyForm = iota // also of booleans, 0 or 1, and of what counts days or microseconds: see sqltype
	TextForm
)

// An OrderedKey is one of the keys that groups are told apart by.
type OrderedKey struct {
	Type   sqltype.Type
	Form   KeyForm
	Listed []string // the texts that it may be; nil where it may be anything
}

// An OrderedKind says how the rows of a unit in a group add up.
type OrderedKind uint8

// The kinds.
const (
	RowsAdded   OrderedKind = iota // one for each of MaxRows rows
	ValuesAdded                    // Value of MaxRows rows, which a salted hash of the unit, the group and such values chooses
	SumClamped                     // the sum of Value over all rows, clamped
	UnitCounted                    // one, if Value is not NULL in one of the rows, or there is none
)

// An OrderedContribution is one exact integer of each group. A Value is the number of one of Ordered's, or −1. What is NULL adds nothing.
type OrderedContribution struct {
	Kind         OrderedKind
	Value        int
	Lower, Upper *big.Int
}
