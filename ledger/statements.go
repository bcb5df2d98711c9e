package ledger

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// statements run SQL that is parsed once, on a pool or on a connection, and live as long.
// Their texts are few and constant.
type statements struct {
	on interface {
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	}
	once   bool // nothing is asked twice: nothing is kept
	closed bool
	mu     sync.Mutex
	parsed map[string]*sql.Stmt
}

// of returns the statement of a text, or nil where the text is to be run as it is: also
// where it cannot be parsed now, of which running it says why.
func (s *statements) of(text string) *sql.Stmt {
	if s.once {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if known := s.parsed[text]; known != nil {
		return known
	}
	made, err := s.on.PrepareContext(context.Background(), text) //nolint:sqlclosecheck // it is kept
	if err != nil {
		return nil
	}
	if s.parsed == nil {
		s.parsed = map[string]*sql.Stmt{}
	}
	s.parsed[text] = made
	return made
}

// close ends what was parsed, before the pool or the connection ends: SQLite moves its log
// into the file when the last connection is closed, and that is not while statements live.
func (s *statements) close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.parsed {
		err = errors.Join(err, known.Close())
	}
	s.parsed, s.closed = nil, true
	return storage(err)
}

func (s *statements) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if known := s.of(text); known != nil { //nolint:sqlclosecheck // it is kept
		return known.QueryContext(ctx, args...)
	}
	return s.on.QueryContext(ctx, text, args...)
}

func (s *statements) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	if known := s.of(text); known != nil { //nolint:sqlclosecheck // it is kept
		return known.QueryRowContext(ctx, args...)
	}
	return s.on.QueryRowContext(ctx, text, args...)
}

func (s *statements) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if known := s.of(text); known != nil { //nolint:sqlclosecheck // it is kept
		return known.ExecContext(ctx, args...)
	}
	return s.on.ExecContext(ctx, text, args...)
}
