package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// simple answers a Query message: its statements one after the other, until one fails.
func (s *session) simple(ctx context.Context, text string) error {
	delete(s.statements, "")
	s.drop("")
	all, err := sqlparse.Script(text)
	if err != nil {
		if err := s.refuse(failed(ctx, err), piece{text, 0, text}); err != nil {
			return err
		}
	} else if len(all) == 0 {
		s.send(&pgproto3.EmptyQueryResponse{})
	}
	for _, st := range all {
		at := piece{text, st.Start, st.Text}
		p := &portal{statement: &prepared{piece: at, command: st.Command}}
		s.transaction.touch(&s.settings)
		if err := s.work(ctx, func(ctx context.Context) error { return s.execute(ctx, p, 0, true) }); err != nil {
			f := failed(ctx, err)
			if err := s.refuse(f, placed(f, at)); err != nil {
				return err
			}
			break
		}
	}
	s.settle(true)
	return s.ready()
}

// placed returns the text that the place of a failure refers to.
func placed(f *failure, otherwise piece) piece {
	if f.at != nil {
		return *f.at
	}
	return otherwise
}

// extended answers a message of the extended protocol. A failure has its place in the piece.
func (s *session) extended(ctx context.Context, m pgproto3.FrontendMessage) (*failure, piece) {
	s.transaction.touch(&s.settings)
	var at piece
	var err error
	switch m := m.(type) {
	case *pgproto3.Parse:
		at = piece{m.Query, 0, m.Query}
		err = s.parse(m)
	case *pgproto3.Bind:
		err = s.bind(m, &at)
	case *pgproto3.Describe:
		err = s.work(ctx, func(ctx context.Context) error { return s.describeObject(ctx, m, &at) })
	case *pgproto3.Execute:
		var p *portal
		if p, err = s.portal(m.Portal); err == nil {
			at = p.statement.piece
			err = s.work(ctx, func(ctx context.Context) error { return s.execute(ctx, p, int(min(m.MaxRows, 1<<30)), false) })
		}
	case *pgproto3.Close:
		if m.ObjectType == 'S' {
			delete(s.statements, m.Name)
		} else {
			s.drop(m.Name)
		}
		s.send(&pgproto3.CloseComplete{})
	}
	if err == nil {
		return nil, at
	}
	f := failed(ctx, err)
	return f, placed(f, at)
}

func (s *session) parse(m *pgproto3.Parse) error {
	if _, ok := s.statements[m.Name]; ok && m.Name != "" {
		return fail("42P05", fmt.Sprintf("prepared statement %s already exists", quote(m.Name)))
	}
	delete(s.statements, m.Name)
	if f := s.room(len(m.Query)); f != nil {
		return f
	}
	all, err := sqlparse.Script(m.Query)
	if err != nil {
		return err
	}
	p := &prepared{oids: slices.Clone(m.ParameterOIDs)}
	switch len(all) {
	case 0:
		p.empty, p.piece = true, piece{script: m.Query}
	case 1:
		p.piece, p.command = piece{m.Query, all[0].Start, all[0].Text}, all[0].Command
	default:
		return fail("42601", "cannot insert multiple commands into a prepared statement")
	}
	s.statements[m.Name] = p
	s.send(&pgproto3.ParseComplete{})
	return nil
}

func (s *session) bind(m *pgproto3.Bind, at *piece) error {
	st, ok := s.statements[m.PreparedStatement]
	if !ok {
		return noStatement(m.PreparedStatement)
	}
	*at = st.piece
	if err := checkFormats(m.ParameterFormatCodes, len(m.Parameters)); err != nil {
		return fail("08P01", err.Error())
	}
	if err := checkFormats(m.ResultFormatCodes, len(m.ResultFormatCodes)); err != nil {
		return fail("08P01", err.Error())
	}
	p := &portal{statement: st, formats: slices.Clone(m.ResultFormatCodes)}
	for i, b := range m.Parameters {
		v := parameterValue{format: formatOf(m.ParameterFormatCodes, i), bytes: slices.Clone(b)} // they lie in the reader's buffer
		if b != nil && v.bytes == nil {
			v.bytes = []byte{}
		}
		if i < len(st.oids) {
			v.oid = st.oids[i]
		}
		p.parameters = append(p.parameters, v)
	}
	if m.DestinationPortal == "" {
		s.drop("")
	} else if _, ok := s.portals[m.DestinationPortal]; ok {
		return fail("42P03", fmt.Sprintf("cursor %s already exists", quote(m.DestinationPortal)))
	}
	size := 0
	for _, v := range m.Parameters {
		size += len(v)
	}
	if f := s.room(size); f != nil {
		return f
	}
	if err := s.open(m.DestinationPortal, p); err != nil {
		return err
	}
	s.send(&pgproto3.BindComplete{})
	return nil
}

func (s *session) describeObject(ctx context.Context, m *pgproto3.Describe, at *piece) error {
	if m.ObjectType == 'S' {
		st, ok := s.statements[m.Name]
		if !ok {
			return noStatement(m.Name)
		}
		*at = st.piece
		shape, err := s.shapeOf(ctx, st)
		if err != nil {
			return err
		}
		st.told = &shape.layout
		s.send(&pgproto3.ParameterDescription{ParameterOIDs: shape.parameters})
		s.describe(shape.columns, nil)
		return nil
	}
	p, err := s.portal(m.Name)
	if err != nil {
		return err
	}
	*at = p.statement.piece
	if p.result != nil {
		s.describe(p.result.columns, p.formats)
		return nil
	}
	shape, err := s.shapeOf(ctx, p.statement)
	if err != nil {
		return err
	}
	told := p.statement.told
	if told == nil {
		told = &shape.layout
	}
	as, ok := told.taking(shape.layout)
	if !ok {
		return changed()
	}
	if err := checkFormats(p.formats, len(as.columns)); err != nil {
		return fail("08P01", err.Error())
	}
	p.statement.told = told
	s.describe(as.columns, p.formats)
	return nil
}

func noStatement(name string) *failure {
	return fail("26000", fmt.Sprintf("prepared statement %s does not exist", quote(name)))
}

func (s *session) portal(name string) (*portal, error) {
	if p, ok := s.portals[name]; ok {
		return p, nil
	}
	return nil, fail("34000", fmt.Sprintf("portal %s does not exist", quote(name)))
}

// room refuses what a session would hold beyond its bounds.
func (s *session) room(more int) *failure {
	limits := s.server.options.Limits
	if len(s.statements) >= limits.Statements {
		return fail("54000", "the session has too many prepared statements").hint("deallocate some")
	}
	for _, p := range s.statements {
		more += len(p.script)
	}
	for _, p := range s.portals {
		more += len(p.statement.script)
		for _, v := range p.parameters {
			more += len(v.bytes)
		}
	}
	if more > limits.Held {
		return fail("54000", "the statements and parameters of this session are too long together").hint("deallocate statements and close portals")
	}
	return nil
}

// open keeps a portal, within the session's bound.
func (s *session) open(name string, p *portal) error {
	if len(s.portals) >= s.server.options.Limits.Portals {
		return fail("54000", "the session has too many portals and cursors").hint("close some")
	}
	s.portals[name] = p
	return nil
}

func (s *session) drop(portal string) { delete(s.portals, portal) }

// settle ends an implicit transaction; one that BEGIN opened goes on.
func (s *session) settle(ok bool) {
	if s.transaction.open {
		return
	}
	s.finish(ok)
}

// finish ends a transaction, and with it the portals that do not outlive it.
func (s *session) finish(ok bool) {
	if ok {
		s.transaction.commit(&s.settings)
	} else {
		s.transaction.rollback(&s.settings)
	}
	for name, p := range s.portals {
		if p.kept = p.kept || ok && p.hold; !p.kept {
			delete(s.portals, name)
		}
	}
}
