//go:build unix

package pgsql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/pgsql"
	"github.com/discreet-dp/discreet/internal/postgrestest"
)

// session is one of a new server, with a table of one number.
func session(t *testing.T) (c, other *sql.Conn) {
	t.Helper()
	f := map[string]string{}
	for _, pair := range strings.Fields(postgrestest.Start(t)) {
		k, v, _ := strings.Cut(pair, "=")
		f[k] = v
	}
	db, err := pgsql.Open(fmt.Sprintf("postgres://%s@/%s?host=%s", f["user"], f["dbname"], url.QueryEscape(f["host"])), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, of := range []**sql.Conn{&c, &other} {
		if *of, err = db.Conn(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*of).Close() })
	}
	run(t, c, "CREATE TABLE n (n bigint PRIMARY KEY, b bytea); INSERT INTO n VALUES (1, NULL)")
	return c, other
}

func run(t *testing.T, c *sql.Conn, text string) {
	t.Helper()
	if _, err := c.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func number(t *testing.T, c *sql.Conn, text string, args ...any) (n int64) {
	t.Helper()
	if err := c.QueryRowContext(t.Context(), text, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

const sum, below = "SELECT coalesce(sum(n), 0)::bigint FROM n", "SELECT count(*) FROM n WHERE n < ? AND b IS NOT DISTINCT FROM ?"

// What was sent ahead is told once, to who runs the same: then it is asked anew. NULL is not an empty
// text, and other parameters are another statement.
func TestAhead(t *testing.T) {
	c, other := session(t)
	ctx := t.Context()
	ahead := func() {
		t.Helper()
		err := pgsql.Ahead(ctx, c, pgsql.Statement{Text: "BEGIN"}, pgsql.Statement{Text: sum}, pgsql.Statement{Text: below, Args: []any{int64(10), []byte(nil)}})
		if err != nil {
			t.Fatal(err)
		}
		run(t, other, "INSERT INTO n SELECT max(n) + 1 FROM n") // which who was told does not see
	}
	ahead()
	run(t, c, "BEGIN")
	if a, b := number(t, c, sum), number(t, c, below, int64(10), []byte(nil)); a != 1 || b != 1 {
		t.Errorf("told %d and %d", a, b)
	}
	if a, b := number(t, c, sum), number(t, c, below, int64(10), []byte(nil)); a != 3 || b != 2 {
		t.Errorf("told again %d and %d", a, b)
	}
	run(t, c, "ROLLBACK")

	ahead()
	run(t, c, "BEGIN")
	if n := number(t, c, below, int64(10), []byte{}); n != 0 {
		t.Errorf("with an empty text in place of NULL: %d", n)
	}
	if n := number(t, c, sum); n != 6 { // another statement went to the server in between
		t.Errorf("told what was read before: %d", n)
	}
	run(t, c, "ROLLBACK")

	// One that fails is told to who runs it, and what is before it as it is.
	err := pgsql.Ahead(ctx, c, pgsql.Statement{Text: "BEGIN"}, pgsql.Statement{Text: "SELECT 1 / (n - 1) FROM n"}, pgsql.Statement{Text: sum})
	if err != nil {
		t.Fatal(err)
	}
	run(t, c, "BEGIN")
	var said *pgsql.Error
	if err := c.QueryRowContext(ctx, "SELECT 1 / (n - 1) FROM n").Scan(new(int64)); !errors.As(err, &said) || said.Code != "22012" {
		t.Errorf("what failed: %v", err)
	}
	run(t, c, "ROLLBACK")
}

// What is sent later is there for the next statement, changes as many rows as it must, and is
// committed with the rest or not at all.
func TestLater(t *testing.T) {
	c, other := session(t)
	ctx := t.Context()
	later := func(rows int64, text string, args ...any) {
		t.Helper()
		if err := pgsql.Later(ctx, c, rows, text, args...); err != nil {
			t.Fatal(err)
		}
	}
	const insert = "INSERT INTO n (n, b) VALUES (?, ?)"
	if err := pgsql.Ahead(ctx, c, pgsql.Statement{Text: "BEGIN"}, pgsql.Statement{Text: sum}); err != nil {
		t.Fatal(err)
	}
	run(t, c, "BEGIN")
	later(1, insert, int64(5), nil)
	if n := number(t, c, sum); n != 6 {
		t.Errorf("after something was written, told %d", n)
	}
	later(1, insert, int64(6), []byte("x"))
	if err := pgsql.Commit(ctx, c); err != nil {
		t.Fatal(err)
	}
	if n := number(t, other, sum); n != 12 {
		t.Errorf("committed: %d", n)
	}

	run(t, c, "BEGIN")
	later(1, insert, int64(7), nil)
	run(t, c, "ROLLBACK")
	run(t, c, "BEGIN")
	if err := pgsql.Commit(ctx, c); err != nil {
		t.Fatal(err)
	}
	if n := number(t, other, sum); n != 12 {
		t.Errorf("what was rolled back is there: %d", n)
	}

	run(t, c, "BEGIN")
	later(1, insert, int64(8), nil)
	later(1, insert, int64(1), nil) // which is there
	later(1, insert, int64(9), nil)
	var said *pgsql.Error
	if err := pgsql.Commit(ctx, c); !errors.As(err, &said) || said.Code != "23505" || !said.Before {
		t.Errorf("a commit after what failed: %v", err)
	}
	run(t, c, "ROLLBACK")
	if n := number(t, other, sum); n != 12 {
		t.Errorf("after a commit that was not tried: %d", n)
	}

	run(t, c, "BEGIN")
	later(1, "UPDATE n SET b = NULL WHERE n = ?", int64(100))
	if err := c.QueryRowContext(ctx, sum).Scan(new(int64)); !errors.Is(err, pgsql.ErrRows) {
		t.Errorf("an update of no row: %v", err)
	}
	run(t, c, "ROLLBACK")

	run(t, c, "BEGIN")
	if err := c.QueryRowContext(ctx, "SELECT 1 / 0").Scan(new(int64)); err == nil {
		t.Error("divided by zero")
	}
	later(1, insert, int64(10), nil) // in a transaction that has failed
	run(t, c, "ROLLBACK")

	run(t, c, "BEGIN")
	for i := range 200 { // more than wait
		later(1, insert, int64(1000+i), nil)
	}
	gone, stop := context.WithCancel(ctx)
	stop()
	if err := pgsql.Commit(gone, c); err == nil {
		t.Error("committed for nobody")
	}
}
