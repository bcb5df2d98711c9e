package local

import (
	"math"
	"strings"
	"testing"

	collect "github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/internal/cli/clitest"
	"github.com/discreet-dp/discreet/privacy"
)

// The truth of a vector is the mean of each coordinate within the cube; of strings what counts of them, together where that
// is the same.
func TestTruths(t *testing.T) {
	p := population{values: []string{"1 -3", "0 0.5"}, counts: []int64{1, 3}, all: 4}
	if got := p.truths(&vectors{dimension: 2}); got["0"] != 0.25 || got["1"] != -0.25+0.375 {
		t.Errorf("coordinates %v", got)
	}
	p.values = []string{"abcd", "abc"}
	if got := p.truths(&texts{length: 3}); len(got) != 1 || got["abc"] != 1 {
		t.Errorf("strings %v", got)
	}
}

// A string that is not found is off by its share, and so is one that nobody has; what is expected says so where a share
// does not stand out, or more do than are looked for.
func TestErrorsOfStrings(t *testing.T) {
	made, err := collect.NewStrings(collect.StringsOptions{Protocol: collect.PEM, Epsilon: clitest.Must(privacy.ParseEpsilon("4")), Length: 3, Top: 2})
	if err != nil {
		t.Fatal(err)
	}
	x := &texts{made, made.NewTally(), 3, 2}
	const n = 1_000_000
	stands, err := made.Error(n, nil)
	if err != nil {
		t.Fatal(err)
	}
	truths := map[string]float64{"a": 0.5, "b": 0.3, "c": 0.2}
	got, told, central := x.errors(truths, []row{{value: "a", estimate: 0.4}, {value: "z", estimate: 0.1}}, n, 0.01)
	root := func(sum, n float64) float64 { return math.Sqrt(sum / n) }
	for what, c := range map[string][2]float64{
		"as it came": {got, root(0.01+0.09+0.04+0.01, 4)}, "a curator's": {central, root(0.04, 4)},
		"expected": {told, root(2*stands*stands/16+0.04+0, 4)}, // c is the third of two
	} {
		if math.Abs(c[0]-c[1]) > 1e-12 {
			t.Errorf("%s: %v, want %v", what, c[0], c[1])
		}
	}
	few, _ := made.Error(10, nil)
	if _, told, _ = x.errors(truths, nil, 10, 0.01); few < 0.5 || math.Abs(told-root(0.25+0.09+0.04, 3)) > 1e-12 {
		t.Errorf("where nothing stands out %v is expected", told)
	}
	if says := x.found(truths, []row{{value: "a"}, {value: "z"}}, n); !strings.HasPrefix(says, "found 1 of 3 strings, and 1 that nobody has") {
		t.Error(says)
	}
}
