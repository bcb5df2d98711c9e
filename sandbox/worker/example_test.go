package worker_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/discreet-dp/discreet/sandbox"
	"github.com/discreet-dp/discreet/sandbox/worker"
	"github.com/discreet-dp/discreet/sqltype"
)

// A crew of which every worker is lost, or that never had one, makes calls itself, and makes the same.
func ExampleGather() {
	ctx := context.Background()
	code, err := os.ReadFile("../testdata/c/mapper.wasm")
	if err != nil {
		log.Fatal(err)
	}
	job := worker.Job{Module: code, Options: sandbox.Options{
		Columns: []sandbox.Column{{Name: "age", Type: sqltype.Of(sqltype.Integer)}, {Name: "cost", Type: sqltype.Of(sqltype.Double)}},
		Keys:    []string{"0-24", "25-49", "50-74", "75+"},
		Upper:   1000,
	}}
	mapper, err := sandbox.Load(ctx, job.Module, job.Options)
	if err != nil {
		log.Fatal(err)
	}
	defer mapper.Close(ctx)
	crew, err := worker.Gather(ctx, mapper, job, worker.Options{}) // its Members are workers
	if err != nil {
		log.Fatal(err)
	}
	defer crew.Close()
	outputs, err := crew.Map(ctx, [][][]sqltype.Value{{{int64(30), 99.5}}, {{int64(80), 2000.0}}, {{nil, 1.0}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outputs)
	// Output: [[{25-49 99.5}] [{75+ 1000}] []]
}
