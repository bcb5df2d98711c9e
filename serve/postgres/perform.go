package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/postgres/pgcatalog"
)

// perform runs a statement. agree is asked about its columns before anything is charged, where something can be.
func (s *session) perform(ctx context.Context, st *prepared, parameters []parameterValue, agree agreement) (*result, error) {
	if s.transaction.failed {
		switch st.command.(type) {
		case sqlparse.Commit, sqlparse.Rollback, sqlparse.RollbackTo:
		default:
			return nil, fail("25P02", "current transaction is aborted, commands ignored until end of transaction block")
		}
	}
	if st.command == nil {
		return s.ask(ctx, st.piece, st.oids, parameters, st.agreeing(agree))
	}
	return s.command(ctx, st, parameters, st.agreeing(agree))
}

// agreeing forgets the shape of a statement whose answer would have another.
func (st *prepared) agreeing(agree agreement) agreement {
	return func(l layout) (layout, error) {
		l, err := agree(l)
		if err != nil {
			st.shape = nil
		}
		return l, err
	}
}

// ask answers a question: about the catalog, about this session, or about data.
func (s *session) ask(ctx context.Context, at piece, oids []uint32, values []parameterValue, agree agreement) (*result, error) {
	about := s.aboutCatalog(ctx, at, oids)
	parameters := make([]discreet.Parameter, len(values))
	for i, v := range values {
		var err error
		if v.oid == 0 && v.format == pgtype.BinaryFormatCode && v.bytes != nil {
			// What a binary value is, its statement knows.
			if v.oid, err = s.inferred(ctx, at, oids, i); err != nil {
				return nil, err
			}
		}
		if parameters[i], err = v.read(s.types); err != nil {
			return nil, fail("22P03", fmt.Sprintf("incorrect data in bind parameter %d", i+1)).reason(err.Error())
		}
	}
	if about {
		return s.askCatalog(ctx, at, values, parameters)
	}
	o, err := s.request()
	if err != nil {
		return nil, err
	}
	o.Parameters = parameters
	asker := s.asker
	asker.Looked = true // by work
	// Whoever has paid and is gone finds the answer stored.
	o.Finish, o.Ends = true, func(cause error) bool { return !errors.Is(cause, errGone) }
	// A refusal after the charge would be paid for: what can be said against the columns is said before.
	var as layout
	o.Admit = func(columns []discreet.Column) (err error) {
		as, err = agree(layoutOf(columns, s.intervals()))
		return err
	}
	a, err := s.server.options.Gateway.Query(ctx, asker, at.text, o)
	if err != nil {
		return nil, in(ctx, err, at)
	}
	s.last = a
	return &result{tag: "SELECT", columns: as.columns, rows: answerRows{a, as}, bytes: gateway.Size(a)}, nil
}

// askCatalog answers a question about the catalog.
func (s *session) askCatalog(ctx context.Context, at piece, values []parameterValue, parameters []discreet.Parameter) (*result, error) {
	session, err := s.catalogSession()
	if err != nil {
		return nil, err
	}
	given := make([]pgcatalog.Parameter, len(parameters))
	for i, p := range parameters {
		given[i] = pgcatalog.Parameter{Type: values[i].oid, Value: p.Text}
	}
	leave, err := s.server.options.Gateway.Look(ctx, s.asker)
	if err != nil {
		return nil, in(ctx, err, at)
	}
	defer leave()
	r, err := s.server.options.Catalog.Query(ctx, session, at.text, given)
	if err != nil {
		return nil, in(ctx, err, at)
	}
	columns := catalogColumns(r.Columns)
	bytes := int64(0)
	for _, row := range r.Rows {
		for _, v := range row {
			bytes += 8
			if v != nil {
				bytes += 16 + int64(len(*v))
			}
		}
	}
	return &result{tag: "SELECT", columns: columns, rows: textRows{r.Rows, columns}, bytes: bytes}, nil
}

// inferred returns the type of parameter i, by the statement.
func (s *session) inferred(ctx context.Context, at piece, oids []uint32, i int) (uint32, error) {
	shape, err := s.questionShape(ctx, at, oids)
	if err != nil || i >= len(shape.parameters) {
		return 0, err
	}
	return shape.parameters[i], nil
}

// in says that an error's place is in at, which may be a part of what the client sent.
func in(ctx context.Context, err error, at piece) error {
	f := failed(ctx, err)
	f.at = &at
	return f
}

// shapeOf returns what is known of a statement before it runs.
func (s *session) shapeOf(ctx context.Context, st *prepared) (*shape, error) {
	by := s.shaping()
	if st.shape != nil && st.shapedBy == by {
		return st.shape, nil
	}
	shape, err := s.newShape(ctx, st)
	if err != nil {
		return nil, err
	}
	st.shape, st.shapedBy = shape, by
	return shape, nil
}

// shaping are the settings on which it depends which columns an answer has: by an accuracy, or a cost, a value may be chosen by counts that have intervals.
func (s *session) shaping() string {
	var by []string
	for _, name := range ours() {
		if name != idempotencyKey {
			by = append(by, name+"="+s.settings.show(name))
		}
	}
	return strings.Join(by, "\x00")
}

func (s *session) intervals() bool { return s.settings.show("discreet.intervals") == "on" }

func (s *session) newShape(ctx context.Context, st *prepared) (*shape, error) {
	if st.empty {
		return &shape{}, nil
	}
	if st.command == nil {
		return s.questionShape(ctx, st.piece, st.oids)
	}
	return s.commandShape(ctx, st)
}

func (s *session) questionShape(ctx context.Context, at piece, oids []uint32) (*shape, error) {
	if s.transaction.failed {
		return nil, fail("25P02", "current transaction is aborted, commands ignored until end of transaction block")
	}
	if s.aboutCatalog(ctx, at, oids) {
		session, err := s.catalogSession()
		if err != nil {
			return nil, err
		}
		d, err := s.server.options.Catalog.Describe(session, at.text, oids)
		if err != nil {
			return nil, in(ctx, err, at)
		}
		return &shape{layout: layout{columns: catalogColumns(d.Columns)}, parameters: d.Parameters}, nil
	}
	d, err := s.describeData(ctx, at, oids)
	if err != nil {
		return nil, in(ctx, err, at)
	}
	out := &shape{layout: layoutOf(d.Columns, s.intervals())}
	if len(d.Parameters) > 0 { // by whose values decimals have more places or fewer: a driver takes no more than are described
		for i := range out.columns {
			out.columns[i].modifier = noModifier
		}
	}
	for i, t := range d.Parameters {
		oid := parameterOID(s.types, t)
		if i < len(oids) && oids[i] != 0 {
			oid = oids[i]
		}
		out.parameters = append(out.parameters, oid)
	}
	for i := len(d.Parameters); i < len(oids); i++ {
		out.parameters = append(out.parameters, oids[i])
	}
	return out, nil
}

// describeData asks the gateway what a question takes and gives.
func (s *session) describeData(ctx context.Context, at piece, oids []uint32) (*discreet.Description, error) {
	o, err := s.wishes()
	if err != nil {
		return nil, err
	}
	types := make([]discreet.ParameterType, len(oids))
	for i, oid := range oids {
		types[i] = parameterType(s.types, oid)
		types[i].Type = known(types[i])
	}
	return s.server.options.Gateway.Describe(ctx, s.asker, at.text, types, o)
}

// textRows are rows of texts, nil for NULL.
type textRows struct {
	rows    [][]*string
	columns []column
}

func (r textRows) count() int { return len(r.rows) }

func (r textRows) cell(types *pgtype.Map, row, column int, format int16) ([]byte, error) {
	v := r.rows[row][column]
	switch {
	case v == nil:
		return nil, nil
	case format == pgtype.BinaryFormatCode:
		return binaryOfText(types, *v, r.columns[column].oid)
	}
	return []byte(*v), nil
}

// texts is a result of one text column.
func texts(tag, name string, lines ...string) *result {
	columns := []column{textColumn(name)}
	rows := make([][]*string, len(lines))
	for i := range lines {
		rows[i] = []*string{&lines[i]}
	}
	return &result{tag: tag, columns: columns, rows: textRows{rows, columns}}
}

func textColumn(name string) column { return column{name, pgtype.TextOID, noModifier} }

// unknownOption refuses a word in parentheses.
func unknownOption(statement string, o sqlparse.Option) *failure {
	return fail("42601", fmt.Sprintf("%s does not know the option %q", statement, strings.ToLower(clip(o.Name))))
}
