package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// declare is DECLARE: it checks the question, which runs when its first rows are fetched.
func (s *session) declare(ctx context.Context, st *prepared, c sqlparse.Declare, parameters []parameterValue) (*result, error) {
	switch {
	case !s.transaction.open && !c.Hold:
		return nil, fail("25P01", "DECLARE CURSOR can only be used in transaction blocks").hint("BEGIN first, or declare it WITH HOLD")
	case c.BinaryTransfer:
		return nil, fail("0A000", "binary cursors are not supported").hint("a driver asks for the binary format by itself")
	}
	if _, ok := s.portals[c.Name]; ok {
		return nil, fail("42P03", fmt.Sprintf("cursor %s already exists", quote(clip(c.Name))))
	}
	p := &portal{
		statement: &prepared{piece: st.inner(c.Query), oids: st.oids}, parameters: parameters,
		cursor: true, noScroll: c.NoScroll, hold: c.Hold,
	}
	if _, err := s.shapeOf(ctx, p.statement); err != nil {
		return nil, err
	}
	if err := s.open(c.Name, p); err != nil {
		return nil, err
	}
	return done("DECLARE CURSOR", nil)
}

// cursor returns the cursor of a name.
func (s *session) cursor(name string) (*portal, error) {
	if p, ok := s.portals[name]; ok && p.cursor {
		return p, nil
	}
	return nil, fail("34000", fmt.Sprintf("cursor %s does not exist", quote(clip(name))))
}

// fetch is FETCH and MOVE. The position of a cursor is a number of rows: 0 before the first,
// n on row n, one more than there are after the last.
func (s *session) fetch(ctx context.Context, c sqlparse.Fetch, agree agreement) (*result, error) {
	p, err := s.cursor(c.Name)
	if err != nil {
		return nil, err
	}
	if p.noScroll && p.result == nil && move(0, 0, c).back { // before it is charged
		return nil, scansForward()
	}
	if p.result == nil {
		r, err := s.perform(ctx, p.statement, p.parameters, agree)
		if err != nil {
			return nil, err
		}
		if f := s.holds(p, r); f != nil {
			return nil, f
		}
		p.result = r
	}
	if p.result.columns == nil || p.result.rows == nil {
		return nil, fail("0A000", "this cursor has no rows")
	}
	v := move(p.at, p.result.rows.count(), c)
	if p.noScroll && v.back {
		return nil, scansForward()
	}
	p.at = v.to
	if c.Move {
		return done(fmt.Sprintf("MOVE %d", v.count), nil)
	}
	return &result{tag: "FETCH", columns: p.result.columns, rows: part{p.result.rows, v}}, nil
}

func scansForward() *failure {
	return fail("55000", "cursor can only scan forward").hint("declare it with SCROLL option to enable backward scan")
}

// A movement is what a FETCH passes over.
type movement struct {
	first, count, step int // rows, the first row is 0
	to                 int // position afterwards
	back               bool
}

// move gives the movement of a FETCH from a position among n rows.
func move(at, n int, c sqlparse.Fetch) movement {
	count := c.Count
	direction := c.Direction
	if count < 0 && (direction == sqlparse.Forward || direction == sqlparse.Backward) {
		count, direction = -max(count, -sqlparse.All), sqlparse.Forward+sqlparse.Backward-direction
	}
	one := func(to int64) movement {
		v := movement{to: int(min(max(to, 0), int64(n)+1)), step: 1}
		if v.to >= 1 && v.to <= n {
			v.first, v.count = v.to-1, 1
		}
		v.back = v.to < at || v.to == at && v.count == 1
		return v
	}
	switch direction {
	case sqlparse.Absolute:
		if count < 0 {
			return one(int64(n) + 1 + max(count, -int64(n)-1))
		}
		return one(min(count, int64(n)+1))
	case sqlparse.Relative:
		return one(int64(at) + min(max(count, -int64(n)-1), int64(n)+1))
	case sqlparse.Backward:
		if count == 0 {
			return one(int64(at))
		}
		to := int(max(int64(at)-count, 0)) // rows at-1 down to the one at the new position
		return movement{first: at - 2, count: max(at-max(to, 1), 0), step: -1, to: to, back: true}
	}
	if count == 0 {
		return one(int64(at))
	}
	last := int64(n)
	to := int64(n) + 1
	if count <= int64(n)-int64(at) {
		last = int64(at) + count
		to = last
	}
	return movement{first: at, count: int(max(last-int64(at), 0)), step: 1, to: int(to)}
}

// A part of rows, in the order of a movement.
type part struct {
	rows
	movement
}

func (p part) count() int { return p.movement.count }

func (p part) cell(types *pgtype.Map, row, column int, format int16) ([]byte, error) {
	return p.rows.cell(types, p.first+row*p.step, column, format)
}

// close is CLOSE.
func (s *session) close(c sqlparse.Close) (*result, error) {
	if c.Name == "" {
		clear(s.portals)
		return done("CLOSE CURSOR ALL", nil)
	}
	if _, err := s.cursor(c.Name); err != nil {
		return nil, err
	}
	s.drop(c.Name)
	return done("CLOSE CURSOR", nil)
}
