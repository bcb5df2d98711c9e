package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// command runs what steers the session.
func (s *session) command(ctx context.Context, st *prepared, parameters []parameterValue, agree agreement) (*result, error) {
	switch c := st.command.(type) {
	case sqlparse.Set:
		if c.Local && !s.transaction.open && c.Name != "" {
			s.notice("WARNING", "25P01", "SET LOCAL can only be used in transaction blocks")
		}
		return done("SET", s.set(c.Name, joined(c), c.Local))
	case sqlparse.SetTransaction:
		return done("SET", nil)
	case sqlparse.Reset:
		if c.Name == "" {
			s.settings.resetAll()
			return done("RESET", nil)
		}
		return done("RESET", s.set(c.Name, nil, false))
	case sqlparse.Show:
		return s.showSetting(c.Name)
	case sqlparse.SetConfig:
		return s.setConfig(c, parameters)
	case sqlparse.Begin, sqlparse.Commit, sqlparse.Rollback, sqlparse.Savepoint, sqlparse.Release, sqlparse.RollbackTo:
		return s.control(c)
	case sqlparse.Prepare:
		return s.prepare(st, c)
	case sqlparse.Execute:
		return s.executePrepared(ctx, c, agree)
	case sqlparse.Deallocate:
		return s.deallocate(c)
	case sqlparse.Declare:
		return s.declare(ctx, st, c, parameters)
	case sqlparse.Fetch:
		return s.fetch(ctx, c, agree)
	case sqlparse.Close:
		return s.close(c)
	case sqlparse.Copy:
		return s.copy(ctx, st, c, parameters)
	case sqlparse.Explain:
		return s.explain(ctx, st, c, parameters)
	case sqlparse.Discard:
		return s.discard(c)
	case sqlparse.Unlisten:
		return done("UNLISTEN", nil)
	case sqlparse.Lock:
		return done("LOCK TABLE", nil)
	}
	return nil, fail("0A000", "this command is not supported")
}

// commandShape describes the result of a command.
func (s *session) commandShape(ctx context.Context, st *prepared) (*shape, error) {
	switch c := st.command.(type) {
	case sqlparse.Show:
		if c.Name == "all" {
			return &shape{layout: layout{columns: allColumns()}}, nil
		}
		return &shape{layout: layout{columns: []column{textColumn(shownName(c.Name))}}}, nil
	case sqlparse.SetConfig:
		out := &shape{layout: layout{columns: []column{textColumn(c.Column)}}}
		for _, a := range []sqlparse.Argument{c.Name, c.Value, c.Local} {
			for a.Parameter > len(out.parameters) && a.Parameter <= 3 {
				out.parameters = append(out.parameters, textColumn("").oid)
			}
		}
		for i, oid := range st.oids {
			if i < len(out.parameters) && oid != 0 {
				out.parameters[i] = oid
			}
		}
		return out, nil
	case sqlparse.Explain:
		return &shape{layout: layout{columns: []column{textColumn(queryPlan)}}, parameters: slices.Clone(st.oids)}, nil
	case sqlparse.Execute:
		p, ok := s.statements[c.Name]
		if !ok {
			return nil, noStatement(c.Name)
		}
		inner, err := s.shapeOf(ctx, p)
		if err != nil {
			return nil, err
		}
		return &shape{layout: inner.layout}, nil
	case sqlparse.Fetch:
		p, err := s.cursor(c.Name)
		if err != nil || c.Move {
			return &shape{}, err
		}
		if p.result != nil {
			return &shape{layout: layout{columns: p.result.columns}}, nil
		}
		inner, err := s.shapeOf(ctx, p.statement)
		if err != nil {
			return nil, err
		}
		return &shape{layout: inner.layout}, nil
	case sqlparse.Copy, sqlparse.Declare:
		return &shape{parameters: slices.Clone(st.oids)}, nil
	}
	return &shape{}, nil
}

// done is the result of a command without rows, or its failure.
func done(tag string, f *failure) (*result, error) {
	if f != nil {
		return nil, f
	}
	return &result{tag: tag}, nil
}

// control runs the statements of transactions.
func (s *session) control(c sqlparse.Command) (*result, error) {
	t := &s.transaction
	switch c := c.(type) {
	case sqlparse.Begin:
		if t.open {
			s.notice("WARNING", "25001", "there is already a transaction in progress")
			return done("BEGIN", nil)
		}
		t.touch(&s.settings)
		t.open = true
		return done("BEGIN", nil)
	case sqlparse.Commit:
		return s.conclude("COMMIT", !t.failed, c.Chain)
	case sqlparse.Rollback:
		return s.conclude("ROLLBACK", false, c.Chain)
	case sqlparse.Savepoint:
		if !t.open {
			return nil, fail("25P01", "SAVEPOINT can only be used in transaction blocks")
		}
		if len(t.points) >= maxSavepoints {
			return nil, fail("54000", "the transaction has too many savepoints")
		}
		t.points = append(t.points, savepoint{c.Name, s.settings.clone()})
		return done("SAVEPOINT", nil)
	case sqlparse.Release:
		i, f := t.find(c.Name, "RELEASE SAVEPOINT")
		if f != nil {
			return nil, f
		}
		t.points = t.points[:i]
		return done("RELEASE", nil)
	case sqlparse.RollbackTo:
		i, f := t.find(c.Name, "ROLLBACK TO SAVEPOINT")
		if f != nil {
			return nil, f
		}
		s.settings = t.points[i].settings.clone()
		t.points, t.failed = t.points[:i+1], false
		return done("ROLLBACK", nil)
	}
	return nil, fail("0A000", "this command is not supported")
}

// maxSavepoints bounds what a transaction keeps.
const maxSavepoints = 100

// find returns the savepoint of a name.
func (t *transaction) find(name, statement string) (int, *failure) {
	if !t.open {
		return 0, fail("25P01", statement+" can only be used in transaction blocks")
	}
	i := t.point(name)
	if i < 0 {
		return 0, fail("3B001", fmt.Sprintf("savepoint %s does not exist", quote(clip(name))))
	}
	return i, nil
}

// conclude ends a transaction. What was spent in it stays spent.
func (s *session) conclude(statement string, ok, chain bool) (*result, error) {
	if !s.transaction.open {
		if chain {
			return nil, fail("25P01", statement+" AND CHAIN can only be used in transaction blocks")
		}
		s.notice("WARNING", "25P01", "there is no transaction in progress")
	}
	s.finish(ok)
	if chain {
		s.transaction.touch(&s.settings)
		s.transaction.open = true
	}
	if !ok {
		statement = "ROLLBACK"
	}
	return done(statement, nil)
}

// prepare is PREPARE.
func (s *session) prepare(st *prepared, c sqlparse.Prepare) (*result, error) {
	if _, ok := s.statements[c.Name]; ok {
		return nil, fail("42P05", fmt.Sprintf("prepared statement %s already exists", quote(clip(c.Name))))
	}
	if f := s.room(len(st.script)); f != nil {
		return nil, f
	}
	p := &prepared{piece: st.inner(c.Query)}
	for _, name := range c.Types {
		t, ok := s.types.TypeForName(name)
		if !ok {
			return nil, fail("42704", fmt.Sprintf("type %s does not exist", quote(clip(name))))
		}
		p.oids = append(p.oids, t.OID)
	}
	s.statements[c.Name] = p
	return done("PREPARE", nil)
}

// executePrepared is EXECUTE: what it asks is asked anew.
func (s *session) executePrepared(ctx context.Context, c sqlparse.Execute, agree agreement) (*result, error) {
	p, ok := s.statements[c.Name]
	if !ok {
		return nil, noStatement(clip(c.Name))
	}
	var values []parameterValue
	for i, a := range c.Arguments {
		if a.Parameter > 0 {
			return nil, fail("0A000", "EXECUTE takes constants")
		}
		v := parameterValue{bytes: []byte(a.Text)}
		if a.Null {
			v.bytes = nil
		}
		if i < len(p.oids) {
			v.oid = p.oids[i]
		}
		values = append(values, v)
	}
	if _, ok := p.command.(sqlparse.Execute); ok {
		return nil, fail("0A000", "EXECUTE of EXECUTE is not supported")
	}
	return s.perform(ctx, p, values, agree)
}

func (s *session) deallocate(c sqlparse.Deallocate) (*result, error) {
	if c.Name == "" {
		clear(s.statements)
		return done("DEALLOCATE ALL", nil)
	}
	if _, ok := s.statements[c.Name]; !ok {
		return nil, noStatement(clip(c.Name))
	}
	delete(s.statements, c.Name)
	return done("DEALLOCATE", nil)
}

func (s *session) discard(c sqlparse.Discard) (*result, error) {
	switch {
	case c.Plans:
		return done("DISCARD PLANS", nil)
	case !c.All:
		return done("DISCARD", nil)
	case s.transaction.open:
		return nil, fail("25001", "DISCARD ALL cannot run inside a transaction block")
	}
	clear(s.statements)
	clear(s.portals)
	s.settings.resetAll()
	s.last = nil
	return done("DISCARD ALL", nil)
}
