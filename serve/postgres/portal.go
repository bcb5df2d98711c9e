package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// A piece is a statement within the script that a client sent, to which positions refer.
type piece struct {
	script string
	start  int
	text   string
}

// inner is a query within a statement, as of EXPLAIN.
func (p piece) inner(q sqlparse.Piece) piece { return piece{p.script, p.start + q.Start, q.Text} }

// A prepared statement is read once and run with different parameters. It holds no right: what
// its account may ask is checked whenever it runs.
type prepared struct {
	piece
	command sqlparse.Command // nil for a question
	oids    []uint32         // of parameters, as declared; 0 where the client leaves it open
	empty   bool

	shape    *shape  // once it was described
	shapedBy string  // the settings by which it was
	told     *layout // what the client was told of it, or of a portal of it; nil if nothing
}

// A shape is what is known of a statement before it runs.
type shape struct {
	layout
	parameters []uint32
}

// A portal is a prepared statement with its parameters. It runs once, when its first rows are
// asked for; a cursor is a portal with a statement of its own.
type portal struct {
	statement  *prepared
	parameters []parameterValue
	formats    []int16 // of the columns of its result
	result     *result
	at         int // rows before the next; a cursor may stand before the first or after the last

	cursor, noScroll, hold bool
	kept                   bool // a transaction that declared it was committed
}

// A result is what running a statement gives.
type result struct {
	columns []column // nil where it has no rows
	rows    rows
	tag     string // what CommandComplete says; with rows, what precedes their number
	copy    *copyForm
	bytes   int64 // about what the rows take in memory
}

// rows are read by position, in a format.
type rows interface {
	count() int
	// cell returns nil for NULL.
	cell(types *pgtype.Map, row, column int, format int16) ([]byte, error)
}

// describe sends the description of columns.
func (s *session) describe(columns []column, formats []int16) {
	if columns == nil {
		s.send(&pgproto3.NoData{})
		return
	}
	m := &pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, len(columns))}
	for i, c := range columns {
		m.Fields[i] = pgproto3.FieldDescription{
			Name: []byte(c.name), DataTypeOID: c.oid, DataTypeSize: sizeOf(c.oid), TypeModifier: c.modifier, Format: formatOf(formats, i),
		}
	}
	s.send(m)
}

// rowsTo sends the rows from first to before last.
func (s *session) rowsTo(ctx context.Context, r *result, first, last int, formats []int16) error {
	values := make([][]byte, len(r.columns))
	for i := first; i < last; i++ {
		for j := range values {
			var err error
			if values[j], err = r.rows.cell(s.types, i, j, formatOf(formats, j)); err != nil {
				return fmt.Errorf("encode row: %w", err)
			}
		}
		s.send(&pgproto3.DataRow{Values: values})
		if s.lost != nil {
			return s.lost
		}
		if i%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// complete says that a statement is done.
func (s *session) complete(tag string) {
	s.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
}

// execute runs a portal, unless it has run, and sends up to limit rows (all, if 0). In the
// simple protocol their description goes before them.
func (s *session) execute(ctx context.Context, p *portal, limit int, simple bool) error {
	if p.statement.empty {
		s.send(&pgproto3.EmptyQueryResponse{})
		return nil
	}
	if p.result != nil && p.result.columns == nil {
		return fail("55000", "portal has run and cannot be run again")
	}
	if p.result == nil {
		agreed := false
		r, err := s.perform(ctx, p.statement, p.parameters, func(l layout) (layout, error) {
			agreed = true
			return s.agrees(p)(l)
		})
		if err == nil && !agreed && r.copy == nil {
			_, err = s.agrees(p)(layout{columns: r.columns})
		}
		if err != nil {
			return err
		}
		if f := s.holds(p, r); f != nil {
			return f
		}
		p.result = r
	}
	r := p.result
	switch {
	case r.copy != nil:
		n, err := s.copyOut(ctx, r)
		if err != nil {
			return err
		}
		s.complete(fmt.Sprintf("COPY %d", n))
		return nil
	case r.columns == nil:
		s.complete(r.tag)
		return nil
	}
	if simple {
		s.describe(r.columns, p.formats)
	}
	first, last := p.at, r.rows.count()
	if limit > 0 {
		last = min(last, first+limit)
	}
	if err := s.rowsTo(ctx, r, first, last, p.formats); err != nil {
		return err
	}
	p.at = last
	if limit > 0 && last-first == limit { // as PostgreSQL: it looks no further than asked
		s.send(&pgproto3.PortalSuspended{})
		return nil
	}
	s.complete(r.counted(last - first))
	return nil
}

// held are the bytes of the results of a session's portals, but one.
func (s *session) held(but *portal) (held int64) {
	for _, other := range s.portals {
		if other != but && other.result != nil {
			held += other.result.bytes
		}
	}
	return held
}

// holds refuses a result that the session would hold beside those of its other cursors and
// portals, or all sessions together. What was charged is stored: asked again, it is answered
// free.
func (s *session) holds(p *portal, r *result) *failure {
	if r.bytes == 0 { // as of rows that a cursor holds
		return nil
	}
	free := "a statement that was answered before costs nothing"
	if s.settings.show("discreet.fresh") == "on" {
		free += ", once discreet.fresh is off"
	}
	held := s.held(p)
	if held > 0 && held+r.bytes > s.server.options.Limits.Results {
		return fail("54000", "[D221] the cursors and portals of this session hold too many bytes").
			reason("the owner bounds the results that a session holds; what was charged is stored").
			hint("CLOSE cursors or end the transaction, and ask again: " + free)
	}
	if !s.server.room.Take(s, s.asker.Account.Name, held+r.bytes) {
		return fail("54000", "[D221] the results that all sessions hold, or your account's, take too many bytes").
			reason("the owner bounds the results that sessions hold together, of which each account has a share; what was charged is stored").
			hint("CLOSE cursors, and those of your other sessions, or wait, and ask again: " + free)
	}
	return nil
}

// counted is the tag of a result of n rows.
func (r *result) counted(n int) string {
	switch r.tag {
	case "SELECT", "FETCH":
		return fmt.Sprintf("%s %d", r.tag, n)
	}
	return r.tag
}
