//go:build cgo

package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// connect opens a connection of pgx's that is closed when the test ends.
func (s stand) connect(t testing.TB, change func(*pgx.ConnConfig), more ...string) *pgx.Conn {
	t.Helper()
	c, err := s.dial(t.Context(), change, more...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func (s stand) dial(ctx context.Context, change func(*pgx.ConnConfig), more ...string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(s.address(more...))
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(config)
	}
	return pgx.ConnectConfig(ctx, config)
}

// refused fails the test unless err has a SQLSTATE.
func refused(t *testing.T, err error, state string) *pgconn.PgError {
	t.Helper()
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != state {
		t.Errorf("got %v, not SQLSTATE %s", err, state)
		return &pgconn.PgError{}
	}
	return e
}

const byDepartment = "SELECT department, count(*) AS visits, avg(cost) AS cost FROM visits GROUP BY department ORDER BY department"

func TestPgxAsksEveryWay(t *testing.T) {
	s := start(t, nil)
	for name, mode := range map[string]pgx.QueryExecMode{
		"prepared, cached": pgx.QueryExecModeCacheStatement, "described, cached": pgx.QueryExecModeCacheDescribe,
		"described": pgx.QueryExecModeDescribeExec, "not described": pgx.QueryExecModeExec, "simple": pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(name, func(t *testing.T) {
			c := s.connect(t, func(c *pgx.ConnConfig) { c.DefaultQueryExecMode = mode }, "options='-c discreet.rho=0.001'")
			for range 2 {
				rows, err := c.Query(t.Context(), byDepartment)
				if err != nil {
					t.Fatal(err)
				}
				type answer struct {
					Department string
					Visits     int64
					Cost       *float64
				}
				all, err := pgx.CollectRows(rows, pgx.RowToStructByName[answer])
				if err != nil || len(all) != 8 || all[0].Department != "Cardiology" {
					t.Fatalf("%v: %v", err, all)
				}
			}
			var n int64
			if err := c.QueryRow(t.Context(), "SELECT count(*) FROM departments WHERE name = $1", "ICU").Scan(&n); err != nil || n != 1 {
				t.Fatalf("with a parameter: %d, %v", n, err)
			}
			_, err := c.Exec(t.Context(), "SELECT count(*) FROM visit")
			if e := refused(t, err, "42P01"); e.Position != 22 || e.Hint == "" {
				t.Errorf("place %d, hint %q", e.Position, e.Hint)
			}
			if err := c.Ping(t.Context()); err != nil { // the session goes on
				t.Error(err)
			}
		})
	}
}

// TestPgxDescribesAnew: where a setting changes the columns of a statement that pgx has cached, it is refused at most once, and described anew.
func TestPgxDescribesAnew(t *testing.T) {
	s := start(t, nil)
	for name, mode := range map[string]pgx.QueryExecMode{
		"prepared, cached": pgx.QueryExecModeCacheStatement, "described, cached": pgx.QueryExecModeCacheDescribe,
		"described": pgx.QueryExecModeDescribeExec, "not described": pgx.QueryExecModeExec, "simple": pgx.QueryExecModeSimpleProtocol,
	} {
		c := s.connect(t, func(c *pgx.ConnConfig) { c.DefaultQueryExecMode = mode }, "options='-c discreet.rho=0.001'")
		for round, set := range []string{"RESET discreet.intervals", "SET discreet.intervals = on", "SET discreet.intervals = off", "SET discreet.intervals = on"} {
			if _, err := c.Exec(t.Context(), set); err != nil {
				t.Fatal(err)
			}
			for try := range 2 {
				rows, err := c.Query(t.Context(), byDepartment)
				if err != nil {
					t.Fatal(err)
				}
				columns := 0
				for rows.Next() {
					values, err := rows.Values()
					if err != nil {
						t.Errorf("%s, round %d: %v", name, round, err)
					}
					columns = len(values)
				}
				if err := rows.Err(); err != nil {
					state := "0A000"
					if mode == pgx.QueryExecModeCacheDescribe { // it sends the statement again, with formats for the old columns, as PostgreSQL refuses too
						state = "08P01"
					}
					if refused(t, err, state); try > 0 || round == 0 {
						t.Errorf("%s, round %d, try %d: %v", name, round, try, err)
					}
				} else if want := 3 + 4*(round%2); columns != want {
					t.Errorf("%s, round %d: %d columns, want %d", name, round, columns, want)
				}
			}
		}
	}
}

func TestSignIn(t *testing.T) {
	s := start(t, nil)
	for name, test := range map[string]struct {
		change func(*pgx.ConnConfig)
		more   string
		state  string
	}{
		"wrong password":      {func(c *pgx.ConnConfig) { c.Password = "wrong" }, "", "28P01"},
		"nobody":              {func(c *pgx.ConnConfig) { c.User = "nobody" }, "", "28P01"},
		"wrong database":      {nil, "dbname=clinic", "3D000"},
		"unknown setting":     {nil, "options='-c discreet.roh=1'", "42704"},
		"a setting's value":   {nil, "options='-c discreet.rho=much'", "22023"},
		"TLS that is not had": {nil, "sslmode=require", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := s.dial(t.Context(), test.change, test.more)
			if err == nil {
				c.Close(t.Context())
				t.Fatal("it signed in")
			}
			if test.state != "" {
				refused(t, err, test.state)
			}
		})
	}
	for _, version := range []string{"3.0", "3.2"} {
		c := s.connect(t, func(c *pgx.ConnConfig) { c.MaxProtocolVersion = version })
		want := map[string]int{"3.0": 4, "3.2": 32}[version]
		if n := len(c.PgConn().SecretKey()); n != want {
			t.Errorf("protocol %s: a secret key of %d bytes, not %d", version, n, want)
		}
	}
}

// TestRulesHoldWithinASession: a table that is taken from an account is gone for its running
// session, in lists as in questions, and a disabled account's session ends.
func TestRulesHoldWithinASession(t *testing.T) {
	s := start(t, nil)
	c := s.connect(t, nil)
	tables := func() (n int) {
		t.Helper()
		if err := c.QueryRow(t.Context(), "SELECT count(DISTINCT table_name) FROM discreet.tables").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := tables(); n != 2 {
		t.Errorf("there are %d tables", n)
	}
	if err := s.People.Tables(t.Context(), "olga", "anna", []string{"departments"}); err != nil {
		t.Fatal(err)
	}
	if n := tables(); n != 1 {
		t.Errorf("of one table that is allowed, %d are listed", n)
	}
	_, err := c.Exec(t.Context(), "SELECT count(*) FROM visits")
	refused(t, err, "42P01")
	if err := s.People.Disable(t.Context(), "olga", "anna"); err != nil {
		t.Fatal(err)
	}
	_, err = c.Exec(t.Context(), "SELECT relname FROM pg_class")
	refused(t, err, "28000")
	if err := c.Ping(t.Context()); err == nil {
		t.Error("the session goes on")
	}
	if _, err := s.dial(t.Context(), nil); err == nil {
		t.Error("a disabled account signs in")
	}
}

// TestTimeoutsSuspendNothing: when to give up is the caller's choice; a statement that took
// longer than that closes the domain for nobody.
func TestTimeoutsSuspendNothing(t *testing.T) {
	c := start(t, nil).connect(t, nil, "options='-c discreet.rho=0.0001'")
	ended := 0
	for _, limit := range []string{"2ms", "5ms", "10ms", "15ms", "20ms", "30ms"} {
		if _, err := c.Exec(t.Context(), "SET statement_timeout = '"+limit+"'"); err != nil {
			t.Fatal(err)
		}
		_, err := c.Exec(t.Context(), "SELECT department, avg(age), sum(cost), stddev(age) FROM visits WHERE age > 10 GROUP BY department /* "+limit+" */ HAVING count(*) > "+limit[:1])
		if err != nil {
			refused(t, err, "57014")
			ended++
		}
	}
	if _, err := c.Exec(t.Context(), "RESET statement_timeout"); err != nil {
		t.Fatal(err)
	}
	var suspended bool
	if err := c.QueryRow(t.Context(), "SELECT bool_or(suspended) FROM discreet.budget").Scan(&suspended); err != nil {
		t.Fatal(err)
	}
	if suspended || ended == 0 {
		t.Errorf("%d statements ended in time, and the domain is suspended: %v", ended, suspended)
	}
}
