package postgres

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/declaration"
	"github.com/discreet-dp/discreet/serve/postgres/pgcatalog"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Catalog answers what clients ask about the database itself, and the tables of the schema
// discreet, from declarations and books alone.
type Catalog interface {
	// Answers says whether a statement is about the catalog, or names no relation.
	Answers(sql string) bool
	// Understands says whether each part of such a statement has a meaning to the catalog. types are those
	// of its parameters.
	Understands(sql string, types []uint32) bool
	Query(ctx context.Context, s pgcatalog.Session, sql string, parameters []pgcatalog.Parameter) (*pgcatalog.Result, error)
	Describe(s pgcatalog.Session, sql string, types []uint32) (*pgcatalog.Description, error)
}

// aboutCatalog says who answers a question: the catalog, or the gateway. What names a relation of
// pg_catalog never reaches the gateway. What names none, and has a part that the catalog gives no meaning, is
// the gateway's if that knows all of it.
func (s *session) aboutCatalog(ctx context.Context, at piece, oids []uint32) bool {
	c := s.server.options.Catalog
	if !c.Answers(at.text) {
		return false
	}
	if c.Understands(at.text, oids) {
		return true
	}
	var unknown *discreet.Refusal // another error is the gateway's to say
	_, err := s.describeData(ctx, at, oids)
	return errors.As(err, &unknown)
}

// catalogSession is what answers about the catalog depend on.
func (s *session) catalogSession() (pgcatalog.Session, error) {
	o := s.server.options
	out := pgcatalog.Session{
		Catalog: o.Gateway.Catalog(s.asker), Account: s.asker.Account.Name, Database: database, Settings: s.settings.read,
		Views: map[string][]pgcatalog.Field{}, Service: s.tables(), Process: int32(s.running.number), Started: s.server.started, Now: o.Now(),
	}
	if out.Catalog == nil {
		return out, nil
	}
	for _, v := range out.Catalog.Views {
		all, err := declaration.Tables(out.Catalog, v.Name, 0)
		if err != nil || len(all) != 1 {
			return out, fail("58000", "a view of the catalog cannot be read")
		}
		for _, c := range all[0].Columns {
			t, err := sqltype.Parse(c.Type)
			if err != nil {
				t = sqltype.Of(sqltype.Text)
			}
			out.Views[v.Name] = append(out.Views[v.Name], pgcatalog.Field{Name: c.Name, Type: t})
		}
	}
	return out, nil
}

func catalogColumns(list []pgcatalog.Column) []column {
	out := make([]column, len(list))
	for i, c := range list {
		out[i] = column{c.Name, c.Type, c.Modifier}
	}
	return out
}
