//go:build cgo

package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// TestGoneAfterTheCharge: a statement whose client is gone after it was charged goes on, and whoever asks again finds its answer for nothing. One that its client
// cancels ends.
func TestGoneAfterTheCharge(t *testing.T) {
	slow := gatewaytest.NewSlow()
	s := start(t, nil, slow.In)
	const sql = "SELECT department, count(*) FROM visits GROUP BY department HAVING count(*) > 1000000" // no row whose sending fails
	c := s.connect(t, nil, "options='-c discreet.rho=0.001'")
	f := c.PgConn().Frontend()
	f.Send(&pgproto3.Query{String: sql + "; SELECT count(*) FROM visits WHERE age > 1"})
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	<-slow.Asked // it is charged
	if err := c.PgConn().Conn().Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-slow.Ended:
		t.Fatalf("it ended with its client: %v", err)
	case <-time.After(200 * time.Millisecond): // more than it takes to notice
	}
	close(slow.May)
	balance := func() (spent string, unanswered int64) {
		t.Helper()
		all, err := s.Budget(t.Context(), gateway.Asker{Account: s.SignIn(t, "olga"), Door: "postgres"})
		if err != nil {
			t.Fatal(err)
		}
		return all[0].Spent.Rho.String(), all[0].Uncommitted
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, n := balance(); n == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it is not answered")
		}
	}
	time.Sleep(100 * time.Millisecond) // the second one is not asked
	before, _ := balance()
	again := s.connect(t, nil, "options='-c discreet.rho=0.001'")
	var reused bool
	if _, err := again.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
	if err := again.QueryRow(t.Context(), "SELECT reused FROM discreet.last_answer").Scan(&reused); err != nil || !reused {
		t.Errorf("asked again it is charged again (%v)", err)
	}
	if after, _ := balance(); after != before || before != "0.001" {
		t.Errorf("spent %s and then %s", before, after)
	}
}

// TestCancelledAfterTheCharge: a wish to cancel ends a statement also after it was charged.
func TestCancelledAfterTheCharge(t *testing.T) {
	slow := gatewaytest.NewSlow()
	s := start(t, nil, slow.In)
	c := s.connect(t, nil, "options='-c discreet.rho=0.001'")
	done := make(chan error, 1)
	go func() { _, err := c.Exec(context.Background(), "SELECT count(*) FROM visits"); done <- err }()
	<-slow.Asked
	if err := c.PgConn().CancelRequest(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-slow.Ended; !errors.Is(err, context.Canceled) && err == nil {
		t.Errorf("it went on: %v", err)
	}
	refused(t, <-done, "57014")
}
