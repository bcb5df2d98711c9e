package learn

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// What can be known without data is refused before there is a charge, as Start would.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*Options)
		refused bool
	}{
		{"a plan", func(*Options) {}, false},
		{"steps of too many examples", func(o *Options) { o.Plan.Population.Units, o.Plan.Batch = 3_000_000, 1_100_000 }, true},
		{"no budget", func(o *Options) { o.Budget = nil }, true},
		{"another relation", func(o *Options) { o.Plan.Neighbours = privacy.ReplaceOne }, true},
		{"fast noise without a delta for it", func(o *Options) {
			o.Plan.Noise.Sampler, o.Plan.Delta = Fast, must(privacy.ParseDelta("1e-4")) // all that there is
		}, true},
		{"too many at a time", func(o *Options) { o.Plan.Physical = 1 << 17 }, true},
	} {
		p := small()
		p.Population.Units, p.Batch, p.Steps, p.Noise.Multiplier = 1000, 10, 100, 1.5
		b := purse(t, filter.Approx, "20", privacy.AddRemove)
		o := Options{Plan: p, Network: mlp(4), Budget: b, Statement: "train"}
		c.change(&o)
		before := fmt.Sprint(must(b.Left(ctx)))
		err := Check(o)
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", c.name, err)
		}
		if after := fmt.Sprint(must(b.Left(ctx))); after != before {
			t.Errorf("%s: it left %s of %s", c.name, after, before)
		}
		o.Data = circles(1000, 1)
		if _, started := Start(ctx, o); (started != nil) != (err != nil) {
			t.Errorf("%s: Start says %v, Check %v", c.name, started, err)
		}
	}
}
