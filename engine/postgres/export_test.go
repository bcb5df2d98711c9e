package postgres

import "github.com/jackc/pgx/v5/pgconn"

// Idle are the connections that nobody uses.
func (e *Engine) Idle() (all []*pgconn.PgConn) {
	e.pool.mu.Lock()
	defer e.pool.mu.Unlock()
	for _, s := range e.pool.idle {
		all = append(all, s.PgConn)
	}
	return all
}
