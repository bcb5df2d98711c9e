package postgres

import (
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet"
)

// A layout is how an answer is laid out in columns: each value, and after a noisy one the bounds of its interval, where they are wanted.
type layout struct {
	columns []column // nil where there are no rows
	sources []source // where each comes from; nil of what is no answer about data

	intervals bool // whether bounds are wanted
}

type source struct {
	column int
	end    end
}

// An end is a value itself, or a bound of its interval.
type end uint8

const (
	value end = iota
	lower
	upper
)

// layoutOf lays out the columns of an answer.
func layoutOf(list []discreet.Column, intervals bool) layout {
	l := layout{columns: make([]column, 0, len(list)), intervals: intervals}
	add := func(name string, c discreet.Column, from source) {
		l.columns, l.sources = append(l.columns, columnOf(name, c.Type)), append(l.sources, from)
	}
	for i, c := range list {
		add(c.Name, c, source{i, value})
		if intervals && c.Noisy {
			add(c.Name+"_low", c, source{i, lower})
			add(c.Name+"_high", c, source{i, upper})
		}
	}
	return l
}

// An agreement returns how an answer is sent that would have a layout, or why it cannot be sent.
type agreement func(layout) (layout, error)

// mostColumns is how many a row has at most, as in PostgreSQL.
const mostColumns = 1664

// agrees takes what the client can be sent of a portal's statement: the columns that it was told of, in formats that are known, within what
// a session may hold.
func (s *session) agrees(p *portal) agreement {
	return func(l layout) (layout, error) {
		if told := p.statement.told; told != nil {
			as, ok := told.taking(l)
			if !ok {
				return l, changed()
			}
			l = as
		}
		if len(l.columns) > mostColumns {
			return l, fail("54011", fmt.Sprintf("an answer can have at most %d columns", mostColumns)).hint("ask for fewer columns, or RESET discreet.intervals")
		}
		if err := checkFormats(p.formats, len(l.columns)); err != nil {
			return l, fail("08P01", err.Error())
		}
		if l.sources != nil && s.held(p) >= s.server.options.Limits.Results {
			return l, fail("54000", "[D221] the cursors and portals of this session hold as many bytes as they may").
				reason("the owner bounds the results that a session holds; nothing was charged").hint("CLOSE cursors or end the transaction, and ask again")
		}
		return l, nil
	}
}

// changed refuses rows of other columns than were described, in the words and by the routine that drivers know: they describe the statement anew then.
func changed() *failure {
	f := fail("0A000", "cached plan must not change result type").reason("settings, the catalog or a public table have changed since the statement was described; nothing was charged").
		hint("prepare the statement again")
	f.routine = "RevalidateCachedQuery"
	return f
}

// taking returns how an answer of another layout is sent under the description of this one, if it can be: as it is where both are the same. Where
// fewer values have intervals than was described, their bounds are NULL.
func (l layout) taking(other layout) (layout, bool) {
	if (l.columns == nil) == (other.columns == nil) && slices.EqualFunc(l.columns, other.columns, sameColumn) {
		return other, true
	}
	if l.intervals != other.intervals {
		return other, false
	}
	at := 0
	for i, of := range l.sources {
		if at < len(other.sources) && other.sources[at] == of && sameColumn(l.columns[i], other.columns[at]) {
			at++
		} else if of.end == value {
			return other, false
		}
	}
	return l, at > 0 && at == len(other.sources)
}

// sameColumn reports whether a value of one column can be sent as one of the other: a decimal's precision is no part of it.
func sameColumn(a, b column) bool { return a.name == b.name && a.oid == b.oid }

// answerRows are the rows of an answer.
type answerRows struct {
	answer *discreet.Answer
	layout
}

func (r answerRows) count() int { return len(r.answer.Rows) }

func (r answerRows) cell(types *pgtype.Map, row, column int, format int16) ([]byte, error) {
	from := r.sources[column]
	v := r.answer.Rows[row][from.column]
	if from.end != value {
		v = nil
		if row < len(r.answer.Intervals) {
			if i := r.answer.Intervals[row][from.column]; i != nil {
				if v = i.Lower; from.end == upper {
					v = i.Upper
				}
			}
		}
	}
	switch {
	case v == nil:
		return nil, nil
	case format == pgtype.BinaryFormatCode:
		return binaryOf(types, v, r.columns[column].oid)
	}
	return []byte(textOf(v, r.columns[column].oid)), nil
}
