package pgsql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// A round trip to a database on another machine takes longer than most of what a short transaction
// does there. What it begins with is known beforehand (see Ahead), and so is what it writes (see
// Later): then it takes two.

// A Statement is a text with its parameters.
type Statement struct {
	Text string
	Args []any
}

// An earlier statement is one that was sent ahead, with what the server said.
type earlier struct {
	text   string
	values [][]byte
	result *result
	err    error
}

// A later statement is one that has not been sent yet.
type later struct {
	name    string // of the parsed text
	values  [][]byte
	formats []int16
	rows    int64 // that it must change
}

// mostLater bounds what waits.
const mostLater = 64

// ErrRows says that a statement has changed another number of rows than it should.
var ErrRows = errors.New("a statement has changed another number of rows than it should")

// Ahead sends statements in one round trip, of which each is run after the one before. Whoever
// runs one of them on the connection afterwards, with the same text and parameters, is given what
// the server said then, once. All else that goes to the server makes it forget the rest: nobody is
// given what was read before something was written. After one that fails none is run; who
// runs it gets the error.
func Ahead(ctx context.Context, c *sql.Conn, all ...Statement) error {
	return c.Raw(func(raw any) error { return raw.(*conn).askAhead(ctx, all) })
}

// Later has a statement sent with the next one of the connection, at the latest with Commit, where
// an error of it is said then: also ErrRows, if it changes another number of rows. ROLLBACK
// forgets it.
func Later(ctx context.Context, c *sql.Conn, rows int64, text string, args ...any) error {
	return c.Raw(func(raw any) error {
		c := raw.(*conn)
		c.ahead = nil
		l := later{rows: rows}
		named, err := converted(args)
		if err != nil {
			return err
		}
		if l.values, l.formats, err = encode(named); err != nil {
			return err
		}
		if l.name, err = c.named(ctx, text); err != nil {
			return err
		}
		if c.later = append(c.later, l); len(c.later) >= mostLater {
			return c.flush(ctx)
		}
		return nil
	})
}

// converted are parameters as a driver is given them.
func converted(args []any) ([]driver.NamedValue, error) {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		if v, ok := a.(driver.Valuer); ok {
			var err error
			if a, err = v.Value(); err != nil {
				return nil, err
			}
		}
		v, err := driver.DefaultParameterConverter.ConvertValue(a)
		if err != nil {
			return nil, err
		}
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return out, nil
}

// named has the server parse a text once in a session.
func (c *conn) named(ctx context.Context, text string) (string, error) {
	if name := c.names[text]; name != "" {
		return name, nil
	}
	s, err := c.PrepareContext(ctx, text)
	if err != nil {
		return "", err
	}
	if c.names == nil {
		c.names = map[string]string{}
	}
	c.names[text] = s.(*statement).d.Name
	return c.names[text], nil
}

func (c *conn) askAhead(ctx context.Context, all []Statement) error {
	if err := c.flush(ctx); err != nil {
		return err
	}
	batch := &pgconn.Batch{}
	ahead := make([]earlier, len(all))
	for i, s := range all {
		ahead[i].text = s.Text
		if len(s.Args) == 0 && !strings.HasPrefix(s.Text, "SELECT ") { // as BEGIN
			batch.ExecParams(s.Text, nil, nil, nil, []int16{1})
			continue
		}
		args, err := converted(s.Args)
		if err != nil {
			return err
		}
		values, formats, err := encode(args)
		if err != nil {
			return err
		}
		name, err := c.named(ctx, s.Text)
		if err != nil {
			return err
		}
		ahead[i].values = values
		batch.ExecPrepared(name, values, formats, []int16{1})
	}
	results, said := c.to.ExecBatch(ctx, batch), 0
	for ; said < len(all) && results.NextResult(); said++ {
		from := results.ResultReader()
		r := &result{}
		for _, f := range from.FieldDescriptions() {
			r.types, r.columns = append(r.types, f.DataTypeOID), append(r.columns, f.Name)
		}
		for from.NextRow() {
			row := make([][]byte, len(from.Values()))
			for i, v := range from.Values() {
				row[i] = slices.Clone(v)
			}
			r.rows = append(r.rows, row)
		}
		tag, err := from.Close()
		if err != nil {
			break
		}
		r.affected = tag.RowsAffected()
		ahead[said].result = r
	}
	err := failure(results.Close())
	if said < len(all) {
		if err == nil {
			err = &Error{text: "no connection to the database"}
		}
		ahead[said].err = err
		ahead = ahead[:said+1]
	} else if err != nil {
		return err
	}
	c.ahead = ahead
	return nil
}

// told returns what the server said of a statement that was sent ahead. If it was not, all
// others are forgotten, and what waits is sent.
func (c *conn) told(ctx context.Context, text string, values [][]byte) (r *result, err error) {
	at := slices.IndexFunc(c.ahead, func(e earlier) bool { return e.text == text && slices.EqualFunc(e.values, values, same) })
	if at < 0 {
		c.ahead = nil
		return nil, c.flush(ctx)
	}
	e := c.ahead[at]
	c.ahead = slices.Delete(c.ahead, at, at+1)
	return e.result, e.err
}

// same tells NULL from nothing.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && string(a) == string(b) }

// flush sends what waits.
func (c *conn) flush(ctx context.Context) error {
	if len(c.later) == 0 {
		return nil
	}
	_, err := c.send(ctx)
	return err
}

// send sends what waits, and statements after it, all in one round trip. It returns the words that
// the server has for these.
func (c *conn) send(ctx context.Context, after ...string) (tags []string, err error) {
	waiting := c.later
	c.later = nil
	batch := &pgconn.Batch{}
	for _, l := range waiting {
		batch.ExecPrepared(l.name, l.values, l.formats, nil)
	}
	for _, text := range after {
		batch.ExecParams(text, nil, nil, nil, nil)
	}
	results, n := c.to.ExecBatch(ctx, batch), 0
	for ; results.NextResult(); n++ {
		tag, failed := results.ResultReader().Close()
		switch {
		case failed != nil:
		case n >= len(waiting):
			tags = append(tags, tag.String())
		case tag.RowsAffected() != waiting[n].rows:
			err = ErrRows
		}
		if failed != nil {
			break
		}
	}
	if lost := failure(results.Close()); lost != nil {
		var said *Error
		if errors.As(lost, &said) && said.Code != "" && n < len(waiting) {
			said.Before = true
		}
		return nil, lost
	}
	return tags, err
}
