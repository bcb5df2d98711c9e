package datanode

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// Neighbours' scores are never farther apart than a utility says, and in one direction
// where it says so.
func TestUtilities(t *testing.T) {
	utilities := []Utility{Frequency{"t", []string{"a", "b"}}, Revenue{"n", []float64{0.1, 1, 3, 7.3}}}
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Float64Range(-1, 10), 1, 5).Draw(t, "numbers")
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), len(numbers), len(numbers)).Draw(t, "texts")
		last := len(numbers) - 1
		f, less := tableOf(numbers, texts), tableOf(numbers[:last], texts[:last])
		numbers[last], texts[last] = rapid.Float64Range(-1, 10).Draw(t, "number"), "b"
		other := tableOf(numbers, texts)
		for _, u := range utilities {
			for _, replaced := range []bool{false, true} {
				s := must(u.score(f.shape(replaced)))
				g := less
				if replaced {
					g = other
				}
				limit, _ := s.sensitivity.Float64()
				up, down := false, false
				for i, x := range s.scores(f) {
					d := x - s.scores(g)[i]
					up, down = up || d > 0, down || d < 0
					if math.Abs(d) > limit || x != math.Trunc(x) {
						t.Fatalf("%v: scores %v apart, not %v", u, d, limit)
					}
				}
				if s.monotone && up && down || s.monotone == replaced {
					t.Fatalf("%v: not monotone", u)
				}
			}
		}
	})
}

func TestChoices(t *testing.T) {
	declared := func(f func(Rows) []float64) Scores {
		return Scores{Candidates: []string{"x", "y"}, F: f, Sensitivity: Vouched{Of: "s", Max: rat("1"), Decision: decided}}
	}
	for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
		node := testNode(t, n)
		bids := must(Table(Numbers("bid", []float64{1, 1, 1, 3.01}), Texts("item", []string{"a", "b", "b", "c"})))
		if err := node.Set("bids", bids); err != nil {
			t.Fatal(err)
		}
		b := memory("study", filter.Budget{Measure: filter.Pure, Epsilon: eps("10000"), Neighbours: n})
		for _, test := range []struct {
			u    Utility
			text string
			want float64
		}{
			// The auction of McSherry and Talwar: 1.00 brings 4, 3.01 brings 3.01, 3.02 nothing.
			{Revenue{"bid", []float64{1, 3.01, 3.02}}, "", 1},
			{Frequency{"item", []string{"a", "b", "c"}}, "b", 0},
			{declared(func(r Rows) []float64 { return []float64{0, float64(r.Len())} }), "y", 0},
		} {
			before := must(b.Left(ctx)).Epsilon.Rat()
			if err := node.Configure(ctx, "bids", Adaptive{Budget: b, Mechanism: Choice{test.u, eps("1000")}}); err != nil {
				t.Fatal(err)
			}
			a, err := node.Query(ctx, "bids") // another choice has probability below e^-100
			if err != nil || test.text != "" && a.Texts[0] != test.text || test.want > 0 && a.Value() != test.want {
				t.Errorf("%v: %v, %v", test.u, a, err)
			}
			if spent := before.Sub(before, must(b.Left(ctx)).Epsilon.Rat()); spent.Cmp(rat("1000")) != 0 {
				t.Errorf("%v: spent %v", test.u, spent)
			}
		}
	}
	node := testNode(t, privacy.AddRemove)
	if err := node.Set("bids", must(Table(Numbers("bid", []float64{1}), Texts("item", []string{"a"})))); err != nil {
		t.Fatal(err)
	}
	b := pureBudget("study", "1")
	if err := node.Configure(ctx, "bids", Adaptive{Budget: b}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []Mechanism{
		Choice{}, Choice{Revenue{"bid", []float64{1}}, eps("0")}, Choice{Revenue{"bid", nil}, eps("1")}, Choice{Revenue{"bid", []float64{-1}}, eps("1")},
		Choice{Revenue{"bid", []float64{math.NaN()}}, eps("1")}, Choice{Revenue{"bid", []float64{math.Inf(1)}}, eps("1")}, Choice{Revenue{"item", []float64{1}}, eps("1")},
		Choice{Frequency{"item", nil}, eps("1")}, Choice{Frequency{"bid", []string{"a"}}, eps("1")},
	} {
		if _, err := node.QueryWith(ctx, "bids", m); err == nil {
			t.Errorf("%v is accepted", m)
		}
	}
	scores := declared(func(Rows) []float64 { return []float64{0, 1} })
	for _, m := range []Mechanism{Choice{scores, eps("0.1")}, Choice{&scores, eps("0.1")}} {
		if _, err := node.QueryWith(ctx, "bids", m); !errors.Is(err, ErrNoAccess) {
			t.Error("an analyst declares a sensitivity")
		}
	}
	if left := must(b.Left(ctx)).Epsilon.String(); left != "1" {
		t.Errorf("left: %v", left)
	}
}
