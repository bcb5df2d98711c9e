package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/engine"
)

// Idle are the connections that nobody uses.
func (e *Engine) Idle() (all []*pgconn.PgConn) {
	e.pool.mu.Lock()
	defer e.pool.mu.Unlock()
	for _, s := range e.pool.idle {
		all = append(all, s.PgConn)
	}
	return all
}

// FeedSQL is what Feed asks the server for where one connection reads a table.
func (e *Engine) FeedSQL(ctx context.Context, s engine.Seen) (string, error) {
	t, err := e.begin(ctx, []string{s.Table}, false, nil)
	if err != nil {
		return "", err
	}
	defer t.end()
	r := &feed{engine: e, seen: s, table: t.tables[0], count: 1}
	for _, name := range s.Columns {
		c, _ := r.table.declared.Column(name)
		r.columns = append(r.columns, c)
	}
	text, _ := r.text(0)
	return with([]string{r.table.read}) + text, nil
}
