package learn

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/privacy"
)

// A noisy count costs what it says, is near, differs from one to the next, and never
// says nobody.
func TestCountUnits(t *testing.T) {
	set := circles(600, 1)
	for i := range set.Len() {
		set.Units = append(set.Units, int32(i/6))
	}
	half := must(privacy.ParseEpsilon("0.5"))
	for _, c := range []struct {
		units Units
		want  int64
		scale float64
	}{
		{Units{Bounded, 4}, 100, 2},
		{Units{Grouped, 4}, 400, 8},
	} {
		b := purse(t, filter.Pure, "100", privacy.AddRemove)
		seen := map[int64]bool{}
		for range 100 {
			p, err := CountUnits(ctx, b, set, c.units, half)
			// A draw is this far out with probability below 2exp(-28), of a hundred.
			if err != nil || p.Basis != NoisyCount || math.Abs(float64(p.Units-c.want)) > 28*c.scale {
				t.Fatalf("%v: %+v, %v", c.units, p, err)
			}
			seen[p.Units] = true
		}
		if len(seen) < 3 {
			t.Errorf("%v: a hundred counts have %d values", c.units, len(seen))
		}
		if e := must(b.Spent(ctx)).Epsilon.String(); e != "50" {
			t.Errorf("%v: a hundred counts cost %s", c.units, e)
		}
		if _, err := CountUnits(ctx, purse(t, filter.Pure, "0.4", privacy.AddRemove), set, c.units, half); !errors.Is(err, budget.ErrExceeded) {
			t.Error(err)
		}
		if _, err := CountUnits(ctx, b, set, Units{}, half); err == nil {
			t.Error("units that are not said")
		}
		if _, err := CountUnits(ctx, b, set, c.units, privacy.Epsilon{}); err == nil {
			t.Error("no epsilon")
		}
	}
	b := purse(t, filter.Pure, "100", privacy.AddRemove)
	for range 20 {
		if p := must(CountUnits(ctx, b, &example.Set{Width: 1, Outputs: 1}, Units{}, half)); p.Units < 1 {
			t.Errorf("nobody is counted as %d", p.Units)
		}
	}
}

// A plan in JSON is the plan.
func TestPlanJSON(t *testing.T) {
	p := lasting("", nil).Plan
	p.Units, p.Neighbours, p.Physical = Units{Grouped, 3}, privacy.ReplaceOne, 16
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back Plan
	if err := json.Unmarshal(data, &back); err != nil || back.Hash() != p.Hash() || !back.Delta.Equal(p.Delta) {
		t.Errorf("%s, %v", data, err)
	}
	back.Delta = p.Delta
	if !reflect.DeepEqual(back, p) {
		t.Errorf("%+v reads back as %+v", p, back)
	}
	other := p
	other.Noise.Multiplier = math.Nextafter(p.Noise.Multiplier, 0)
	if other.Hash() == p.Hash() || p.Hash() == "" {
		t.Error("two plans have one hash")
	}
}
