// Package pgcatalog answers what PostgreSQL clients ask of pg_catalog and information_schema,
// from what the owner declares.
//
// It guarantees that an answer is a function of the session alone: of the catalog as far as
// the account may see it, the account's name, the settings and the time. It reaches no engine,
// no ledger and no file. What is not in the catalog that it is given does not exist: not in a
// list, not by name, not by number. Work, memory and the length of texts are bounded.
//
// It does not guarantee that every query has an answer: it evaluates what clients send, on
// the relations that PostgreSQL 15 has. A relation that nothing is known of is empty, a
// function of PostgreSQL without a meaning here gives NULL.
package pgcatalog

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Session is what answers depend on.
type Session struct {
	Catalog  *catalog.Catalog                 // as far as the account may see it; nil is empty
	Account  string                           // the only role that there is
	Database string                           // "discreet"
	Settings func(name string) (string, bool) // of the session, by names in lower case; may be nil
	Views    map[string][]Field
	Service  []Relation // the relations of the schema discreet
	Process  int32      // of BackendKeyData
	Started  time.Time  // when the server was
	Now      time.Time
}

// A Field is a column of a view, or of a relation of the schema discreet.
type Field struct {
	Name    string
	Type    sqltype.Type
	Comment string
}

// A Relation is one of the schema discreet, whose rows others know.
type Relation struct {
	Name, Comment string
	Fields        []Field
	// Rows gives the values as texts, nil for NULL. It is called where a query reads them.
	Rows func(context.Context) ([][]*string, error)
}

// A Parameter is a value for $N: its text, or nil for NULL. Type is the number of its type, or 0.
type Parameter struct {
	Type  uint32
	Value *string
}

// A Column describes a column of a result as a RowDescription does.
type Column struct {
	Name     string
	Type     uint32 // the number of its type
	Length   int16  // of the type; negative where it varies
	Modifier int32
	Table    uint32 // where it is a column of a relation
	Number   int16  // of the column there
}

// A Description says what a statement takes and gives.
type Description struct {
	Columns    []Column
	Parameters []uint32
}

// A Result is the answer. A value is its text, or nil for NULL.
type Result struct {
	Columns []Column
	Rows    [][]*string
}

// service is the schema of what the server tells of itself.
const service = "discreet"

// A Server holds PostgreSQL's system catalog. It may be used by several at once.
type Server struct {
	known *knowledge

	mu    sync.Mutex
	kinds map[string]kind // by statement; see kindOf
}

// New reads the system catalog.
func New() *Server { return &Server{known: load(system())} }

// Version is that of the PostgreSQL server whose catalog is shown.
func (s *Server) Version() string { return s.known.version }

// Answers says whether a statement is one for Query: a query that names relations of
// pg_catalog, information_schema and discreet alone, or none.
func (s *Server) Answers(sql string) bool { return s.kindOf(sql) != others }

// Understands says whether each part of a statement has a meaning here. It is true of a statement that names a relation,
// which nobody else can answer; where it is false, another may know what SELECT stddev(x) FROM (VALUES (1), (2)) AS v (x) is.
func (s *Server) Understands(sql string, types []uint32) bool {
	if s.kindOf(sql) != bare {
		return true
	}
	c, err := s.bare(sql, types)
	return err == nil && !c.strange
}

// bare compiles a statement that depends on no session's relations.
func (s *Server) bare(sql string, types []uint32) (c *compiler, err error) {
	defer recovered(&err)
	c, _, err = s.compile(context.Background(), &Session{}, sql, types)
	return c, err
}

// A kind says what a statement names.
type kind uint8

const (
	others    kind = iota // what is not for Query
	ofCatalog             // relations of PostgreSQL's catalog, or of the schema discreet
	bare                  // no relation
)

func (s *Server) kindOf(sql string) kind {
	if len(sql) > rememberedText {
		return readKind(sql)
	}
	s.mu.Lock()
	known, ok := s.kinds[sql]
	s.mu.Unlock()
	if ok {
		return known
	}
	known = readKind(sql)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kinds == nil || len(s.kinds) >= rememberedTexts {
		s.kinds = map[string]kind{}
	}
	s.kinds[strings.Clone(sql)] = known
	return known
}

// Of so many statements, each of at most so many bytes, kindOf parses none again: what a
// client sends with every execution.
const (
	rememberedTexts = 1000
	rememberedText  = 4 << 10
)

func readKind(sql string) kind {
	q, err := parse(sql)
	if err != nil {
		return others
	}
	out := bare
	ctes := withNames(q)
	visit(q, func(r *statement.Relation) {
		switch {
		case out == others, r.Schema == "" && ctes[r.Name]:
		case r.Schema == "pg_catalog", r.Schema == "information_schema", r.Schema == service, r.Schema == "" && strings.HasPrefix(r.Name, "pg_"):
			out = ofCatalog
		default:
			out = others
		}
	}, nil)
	return out
}

// parse reads one query.
func parse(sql string) (*statement.Select, error) {
	list, err := statement.Parse(sql)
	if err != nil {
		var d *diagnostic.Diagnostic
		var u *statement.Unmodelled
		switch {
		case errors.As(err, &u):
			return nil, &Error{SQLState: unsupported, Message: u.Error(), Position: max(0, u.At+1)}
		case errors.As(err, &d):
			state := syntax
			if d.Code == "D005" || d.Code == "D001" {
				state = "54001"
			}
			return nil, &Error{SQLState: state, Message: d.Message, Hint: d.Hint, Position: d.Span.Start + 1}
		}
		return nil, &Error{SQLState: syntax, Message: err.Error()}
	}
	if len(list) != 1 || list[0].Select == nil {
		return nil, &Error{SQLState: syntax, Message: "a single query is expected"}
	}
	return list[0].Select, nil
}

// Describe says what a statement takes and gives, without running it. types are those of its
// parameters, as far as they are known (0: not).
func (s *Server) Describe(session Session, sql string, types []uint32) (d *Description, err error) {
	defer recovered(&err)
	c, p, err := s.compile(context.Background(), &session, sql, types) // it reads no rows
	if err != nil {
		return nil, err
	}
	d = &Description{Columns: c.describe(p)}
	for _, p := range c.params {
		t := p.typ
		if t == oidUnknown {
			t = oidText
		}
		d.Parameters = append(d.Parameters, uint32(t))
	}
	return d, nil
}

// Query answers a statement. The error is an *Error.
func (s *Server) Query(ctx context.Context, session Session, sql string, parameters []Parameter) (r *Result, err error) {
	defer recovered(&err)
	var types []uint32
	for _, p := range parameters {
		types = append(types, p.Type)
	}
	c, p, err := s.compile(ctx, &session, sql, types)
	if err != nil {
		return nil, err
	}
	q := &query{ctx: ctx, database: c.database, arguments: parameters, cache: map[any]any{}}
	r = &Result{Columns: c.describe(p)}
	p.run(q, nil, func(row []any) bool {
		q.hold(len(row) + 2)
		out := make([]*string, len(row))
		for i, v := range row {
			if v != nil {
				text := q.made(q.write(p.columns[i].typ, v))
				out[i] = &text
			}
		}
		r.Rows = append(r.Rows, out)
		return true
	})
	return r, nil
}

// faulty is the message of an error that is a fault of this package.
const faulty = "this catalog query cannot be answered"

// recovered turns the end of a statement into an error. A fault of this package's own is one too:
// a statement must never end the process that answers others.
func recovered(err *error) {
	switch r := recover().(type) {
	case nil:
	case *Error:
		*err = r
	default:
		*err = &Error{SQLState: unsupported, Message: faulty}
	}
}

func (s *Server) compile(ctx context.Context, session *Session, sql string, types []uint32) (*compiler, *plan, error) {
	q, err := parse(sql)
	if err != nil {
		return nil, nil, err
	}
	c := &compiler{database: open(ctx, s.known, session), compiledViews: map[*relation]*plan{}}
	visit(q, func(*statement.Relation) { c.lenient = true }, nil)
	for _, t := range types {
		p := &parameter{typ: oid(t)}
		if t == 0 || s.known.types[p.typ] == nil {
			p.typ = oidUnknown
		}
		c.params = append(c.params, p)
	}
	return c, c.query(q, nil), nil
}

func (c *compiler) describe(p *plan) (out []Column) {
	for i, col := range p.columns {
		// Clients are told what a domain is made of.
		base := c.base(col.typ)
		d := Column{Name: col.name, Type: uint32(base), Length: -1, Modifier: col.mod}
		if info := c.types[col.typ]; info != nil && info.kind == 'd' && col.mod < 0 {
			d.Modifier = info.mod
		}
		if info := c.types[base]; info != nil {
			d.Length = info.length
		}
		if i < len(p.origins) {
			d.Table, d.Number = uint32(p.origins[i].table), p.origins[i].attnum
		}
		out = append(out, d)
	}
	return out
}
