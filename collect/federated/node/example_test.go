package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/federated/node"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A clinic is asked how many patients it has, and its owner approves.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "clinic")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "patients.csv"), []byte("age,ill\n34,true\n71,false\n50,true\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	half, _ := privacy.ParseEpsilon("0.5")
	books, err := node.OpenBooks(ctx, dir, node.Config{Data: []node.Data{{
		Name: "patients", CSV: "patients.csv", Units: 3, Protects: federated.Person,
		Encoding: &example.Encoding{Columns: []example.Column{{Name: "age", Type: "integer", Upper: 100}}, Target: &example.Column{Name: "ill", Type: "boolean", Values: []string{"false", "true"}}},
		Budget:   node.Budget{Measure: filter.Pure, Epsilon: half},
		Policy:   node.Policy{Askers: []string{"coordinator"}},
	}}}, time.Now)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer books.Close()
	clinic, err := node.NewHolder(ctx, "clinic", books, noise.System())
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := clinic.Ask(ctx, "coordinator", node.Request{ID: "how-many", Reason: "beds", Query: &node.Query{Data: "patients", Of: "count", Epsilon: half}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.State, "for", s.Reason+":", s.What)
	if _, err := books.Decide(ctx, "coordinator", "how-many", true, "ada", ""); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := clinic.Answer(ctx, "coordinator", "how-many"); err != nil {
		fmt.Println(err)
		return
	}
	s, err = books.Status(ctx, "coordinator", "how-many")
	fmt.Println(s.State, "left:", s.Left.Epsilon, err)
	// Output:
	// pending for beds: laplace(epsilon=0.5) of count()
	// released left: 0 <nil>
}
