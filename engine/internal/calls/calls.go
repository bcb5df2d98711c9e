// Package calls makes what a mapped table's code sees at once of the records that an adapter reads.
package calls

import (
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// MaxUnitRecords are the records of a unit that its code sees at most: the first in the order of
// all columns that it sees, so that they are a function of the unit's records alone.
const MaxUnitRecords = 1 << 16

// What is handed on at a time, so that memory does not grow with a table.
const batchRecords, batchBytes = 1024, 1 << 20

// A Gatherer makes calls of records, and hands them on some at a time. It is for one goroutine.
//
// Where code sees all records of a unit, they must come one after another, in the order of their
// columns. Of a unit that has more than MaxUnitRecords, or more bytes than the code has room for,
// the rest is not kept: the code makes what it makes of too many.
type Gatherer struct {
	byUnit         bool
	columns        int
	room           int64
	to             func([]engine.Call) error
	batch          []engine.Call
	records, bytes int64
	unit           int64 // bytes of the last call
}

// New returns a Gatherer of what code sees.
func New(s engine.Seen, to func([]engine.Call) error) *Gatherer {
	return &Gatherer{byUnit: s.ByUnit, columns: len(s.Columns), room: s.Room, to: to}
}

// Add takes one row: the columns that the code sees, and then the unit, if there is one.
func (g *Gatherer) Add(row []sqltype.Value) error {
	record := row[:g.columns:g.columns]
	var unit sqltype.Value
	if len(row) > g.columns {
		unit = row[g.columns]
	}
	size := int64(0)
	for _, v := range record {
		size += engine.CellBytes
		if s, ok := v.(string); ok {
			size += int64(len(s))
		}
	}
	if last := len(g.batch) - 1; g.byUnit && last >= 0 && sqltype.Compare(g.batch[last].Unit, unit) == 0 {
		if c := &g.batch[last]; len(c.Records) < MaxUnitRecords && (g.room == 0 || g.unit <= g.room) {
			c.Records = append(c.Records, record)
			g.records, g.bytes, g.unit = g.records+1, g.bytes+size, g.unit+size
		}
		return nil
	}
	if g.records >= batchRecords || g.bytes >= batchBytes {
		if err := g.Flush(); err != nil {
			return err
		}
	}
	g.batch = append(g.batch, engine.Call{Unit: unit, Records: [][]sqltype.Value{record}})
	g.records, g.bytes, g.unit = g.records+1, g.bytes+size, size
	return nil
}

// Flush hands on what is left. What comes next is of another unit.
func (g *Gatherer) Flush() error {
	if len(g.batch) == 0 {
		return nil
	}
	batch := g.batch
	g.batch, g.records, g.bytes, g.unit = nil, 0, 0, 0
	return g.to(batch)
}
