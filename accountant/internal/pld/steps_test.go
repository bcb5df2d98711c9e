package pld

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// A cell of a mixture costs a step for each thing that is done for each of its components:
// counted as that of two normal laws, a limit of work would be passed sevenfold.
func TestCellsOfMixturesAreCounted(t *testing.T) {
	spent := func(p loss.Pair, put func(p loss.Pair, g grid)) int64 {
		meter := work.New(t.Context())
		err := meter.Do(math.MaxInt64, func() error {
			g := grid{meter: meter, step: 1.0 / 64}
			for i := int64(-64); i <= 64; i++ {
				g.nodes = append(g.nodes, i)
			}
			put(p, g)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return meter.Spent()
	}
	one, err := loss.SampledGaussianReplace(0.5, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(p loss.Pair, g grid){
		"above":   func(p loss.Pair, g grid) { above(p, g) },
		"merge":   func(p loss.Pair, g grid) { merge(p, g) },
		"profile": func(p loss.Pair, g grid) { profileOf(g.meter, p, 128) },
	} {
		for _, units := range []int64{2, 8} {
			group, err := loss.SampledGaussianGroup(0.5, 0.01, units, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got, alone := spent(group, put), spent(one, put); got < (units+2)*alone {
				t.Errorf("%s: a group of %d takes %d steps, one unit that is replaced %d", name, units, got, alone)
			}
		}
	}
}
