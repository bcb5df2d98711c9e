package main

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// The answers are random, the cost is not.
func TestCost(t *testing.T) {
	var out strings.Builder
	if err := run(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	var costs []string
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "total cost") {
			costs = append(costs, strings.TrimSpace(line))
		}
	}
	if want := []string{"total cost: epsilon 0.2", "total cost: epsilon 0.4", "total cost: epsilon 0.6", "total cost: epsilon 0.8"}; !slices.Equal(costs, want) {
		t.Errorf("got %q in\n%s", costs, &out)
	}
}
