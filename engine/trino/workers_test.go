//go:build cgo && unix

package trino_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/trinotest"
	"github.com/discreet-dp/discreet/sqltype"
)

// A statement over a coordinator and two workers gives what all rows give. One whose worker is killed
// is a failure of resources, which says nothing else and is not tried again; the cluster answers
// further statements with the worker that is left.
func TestWorkerIsKilled(t *testing.T) {
	c := &cluster{trinotest.StartCluster(t, trinotest.Options{Workers: 2}), "lake"}
	schema := c.Schema(t)
	c.Exec(t, "CREATE TABLE "+schema+".visits AS SELECT CAST(200 * i + j AS BIGINT) AS u FROM UNNEST(sequence(0, 199)) AS a(i) CROSS JOIN UNNEST(sequence(1, 200)) AS b(j)")
	e, err := c.openAs(t, accepting(parse(t, people+"[tables.visits]\nsource = \""+schema+".visits\"\nunit = \"u\"\ndomain = \"people\"\n[tables.visits.columns]\nu = { type = \"bigint\" }\n")), "owner")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(sql string) (string, error) {
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
		defer stop()
		x, err := e.Exact(ctx, engine.Query{SQL: sql, Tables: []string{"visits"}, Values: 1})
		if err != nil {
			return "", err
		}
		return sqltype.Format(x.RevealExact()[0][0]), nil
	}
	const short = `SELECT CAST(count(*) AS DECIMAL(38,0)) FROM "visits"`
	if got, err := ask(short); err != nil || got != "40000" {
		t.Fatalf("two workers count %s, %v", got, cause(err))
	}
	outcome := make(chan error, 1)
	go func() {
		got, err := ask(`SELECT CAST(count(*) AS DECIMAL(38,0)) FROM "visits" AS a, "visits" AS b, (SELECT u FROM "visits" WHERE u < 2000) AS c WHERE (a.u * 7919 + b.u * 104729 + c.u) % 1000003 = 5`)
		if err == nil {
			err = fmt.Errorf("it answers %s", got)
		}
		outcome <- err
	}()
	running := func() bool {
		rows := c.Exec(t, "SELECT count(*) FROM system.runtime.tasks AS t JOIN system.runtime.queries AS q ON q.query_id = t.query_id WHERE t.node_id = 'node1' AND t.state = 'RUNNING' AND q.query LIKE '%104729%'")
		return *rows[0][0] != "0"
	}
	for !running() {
		select {
		case err := <-outcome:
			t.Fatalf("it has ended before a worker was killed: %v", cause(err))
		case <-time.After(100 * time.Millisecond):
		}
	}
	c.KillWorker(0)
	err = <-outcome
	if !errors.Is(err, engine.ErrResource) || err.Error() != engine.ErrResource.Error() {
		t.Errorf("a statement whose worker is killed: %v", err)
	}
	t.Logf("for the owner: %v", cause(err))
	for again := 0; ; again++ { // until the coordinator gives the worker up
		got, err := ask(short)
		if err == nil && got == "40000" {
			break
		}
		if err == nil || again == 20 {
			t.Fatalf("with one worker left it counts %s, %v", got, cause(err))
		}
		time.Sleep(time.Second)
	}
}
