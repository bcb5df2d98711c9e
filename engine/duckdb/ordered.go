//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb/internal/bounding"
	"github.com/discreet-dp/discreet/sqltype"
)

// boundFunction hands rows over to be bounded: see bounding. No statement can name it but ours.
const boundFunction = "discreet_bound"

// boundRoom bounds what is held of one query's groups and units, in bytes. They are not in the memory of the instance.
const boundRoom = 64 << 20

// errRowsLost says that not each row was handed over, once.
var errRowsLost = errors.New("a row was not read, or twice")

// registerBound makes the function known to the instance.
func (e *Engine) registerBound(conn *sql.Conn) error {
	return conn.Raw(func(c any) error { return e.sinks.Register(c.(*duckdb.Conn), boundFunction) })
}

// inOrder answers a query over an archive's copy of its table, which has the rows of each unit together: see
// engine.Ordered. It reports whether it did. Whatever stands in its way is no failure of the statement, which is then asked as all others are: what the
// groups of many units take, or a copy that is in another order than it should be, which is seen.
func (e *Engine) inOrder(ctx context.Context, q engine.Query) (rows [][]sqltype.Value, ok bool, err error) {
	if q.Ordered == nil || len(q.Tables) != 1 {
		return nil, false, nil
	}
	table := e.archivedOf(q.Tables[0])
	if table == "" {
		return nil, false, nil
	}
	rows, err = e.bound(ctx, q.Ordered, table, q.Salt)
	if ctx.Err() != nil {
		return nil, false, errors.Join(ctx.Err(), err)
	}
	return rows, err == nil, nil
}

// archivedOf is the archive's copy that a table of the catalog is read from, or "".
func (e *Engine) archivedOf(name string) string {
	if s := e.copyOf(name); s != nil {
		<-s.turn
		defer func() { s.turn <- struct{}{} }()
		if s.from != nil {
			return s.from.table
		}
		return ""
	}
	e.opening.Lock()
	defer e.opening.Unlock()
	if k := e.kept[catalog.Fold(name)]; k != nil && k.from != nil {
		return k.from.table
	}
	return ""
}

// bound runs a query over a table in the order of its units.
func (e *Engine) bound(ctx context.Context, o *engine.Ordered, table string, salt int64) ([][]sqltype.Value, error) {
	q := bounding.New(o, salt, boundRoom)
	number := e.sinks.Open(q.Receive)
	defer e.sinks.Close(number)
	of := substitute(o.Rows, map[string]string{engine.OrderedTable[1:]: table, "salt": fmt.Sprint(salt)})
	names := make([]string, 2+len(o.Keys)+o.Values, 4+len(o.Keys)+o.Values)
	if o.Hashes {
		names = names[:cap(names)]
	}
	for i := range names {
		names[i] = fmt.Sprintf("r%d", i)
	}
	columns := strings.Join(names, ", ")
	text := fmt.Sprintf("SELECT count(*), count(%s(%d::BIGINT, %s)) FROM (%s) AS t(%s)", boundFunction, number, columns, of, columns)
	bigint := sqltype.Of(sqltype.Bigint)
	counts, err := selectRows(ctx, e.db, text, []sqltype.Type{bigint, bigint})
	if err != nil {
		return nil, err
	}
	rows, read, err := q.Finish()
	if err != nil {
		return nil, err
	}
	if len(counts) != 1 || counts[0][0] != read || counts[0][1] != read {
		return nil, errRowsLost
	}
	return rows, nil
}
