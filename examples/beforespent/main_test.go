package main

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/programtest"
	"github.com/discreet-dp/discreet/filter"
)

var rewrite = flag.Bool("rewrite", false, "draw the plot anew")

func TestProgram(t *testing.T) { programtest.Check(t, "beforespent", run, *rewrite) }

// The first two cases by pure, rogers and whitehouse are computed independently
// (local-shuffle-multiparty and accounting references); a node admits as many.
func TestRuns(t *testing.T) {
	for i, want := range []string{"[100 31 73]", "[100 147 349]"} {
		c := cases[i]
		var got []string
		for _, f := range filters[:3] {
			n, err := admitted(f, c.whole, c.delta, c.each)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, n.String())
		}
		if fmt.Sprint(got) != want {
			t.Errorf("case %d: %v, want %s", i, got, want)
		}
		for _, f := range []filter.Measure{filter.Pure, filter.Whitehouse, filter.ZCDP, filter.RDP} {
			n, err := admitted(f, c.whole, c.delta, c.each)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := runs(context.Background(), f, c.whole, c.delta, c.each); err != nil || int64(got) != n.Int64() {
				t.Errorf("case %d, %s: a node answers %d times, %v; the filter admits %v", i, f, got, err, n)
			}
		}
	}
}
