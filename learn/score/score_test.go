package score

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"pgregory.net/rapid"
)

// The area under the curve, against its definition.
func TestAreaUnder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all []rank
		for range rapid.IntRange(0, 30).Draw(t, "examples") {
			all = append(all, rank{float64(rapid.IntRange(0, 5).Draw(t, "score")), rapid.Bool().Draw(t, "yes")})
		}
		var won, pairs float64
		for _, a := range all {
			for _, b := range all {
				if a.yes && !b.yes {
					pairs++
					switch {
					case a.score > b.score:
						won++
					case a.score == b.score:
						won += 0.5
					}
				}
			}
		}
		want, got := won/pairs, areaUnder(slices.Clone(all))
		if math.Abs(got-want) > 1e-12 || math.IsNaN(got) != math.IsNaN(want) {
			t.Fatalf("%v of %v, want %v", got, all, want)
		}
	})
}

// One unit, of at most k examples, moves the cells by k in all, whatever it has.
func TestCellsMoveByWhatAUnitHas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := Scorer{Loss: network.CrossEntropy, Classes: rapid.IntRange(3, 6).Draw(t, "classes")}
		set := &example.Set{Width: 1, Classes: s.Classes, Outputs: 1}
		var outputs []float32
		k := rapid.IntRange(0, 4).Draw(t, "examples of the unit")
		for range 5 + k {
			set.Features = append(set.Features, 0)
			set.Labels = append(set.Labels, int32(rapid.IntRange(-1, s.Classes-1).Draw(t, "label")))
			for range s.Classes {
				outputs = append(outputs, rapid.Float32().Draw(t, "score"))
			}
		}
		cells := func(n int) []int {
			part := *set
			part.Features, part.Labels = set.Features[:n], set.Labels[:n]
			counts := make([]int, s.Cells())
			for _, row := range s.Rows(&part, outputs) {
				counts[row]++
			}
			return counts
		}
		moved := 0
		with, without := cells(5+k), cells(5)
		for i := range with {
			moved += max(with[i]-without[i], without[i]-with[i])
		}
		if moved > k {
			t.Fatalf("%d examples move the counts by %d", k, moved)
		}
	})
}

// The interval holds the accuracy of every table that the noise may have hidden.
func TestConclude(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := Scorer{Loss: network.CrossEntropy, Classes: rapid.IntRange(2, 6).Draw(t, "classes")}
		m := &Noisy{Within: rapid.Int64Range(0, 50).Draw(t, "within")}
		exact, noisy := make([]int64, s.Cells()), make([]int64, s.Cells())
		var right, all float64
		for i := range exact {
			exact[i] = rapid.Int64Range(0, 1000).Draw(t, "count")
			noisy[i] = exact[i] + rapid.Int64Range(-m.Within, m.Within).Draw(t, "noise")
			all += float64(exact[i])
			width := 2
			if s.matrix() {
				width = s.Classes
			}
			if i%width == i/width {
				right += float64(exact[i])
			}
		}
		s.Conclude(m, noisy)
		if all == 0 || m.Interval == nil || math.IsNaN(m.Interval[0]) || math.IsNaN(m.Interval[1]) {
			return
		}
		if accuracy := right / all; accuracy < m.Interval[0]-1e-12 || accuracy > m.Interval[1]+1e-12 {
			t.Fatalf("%v is not in %v", accuracy, *m.Interval)
		}
	})
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	set := &example.Set{Width: 1, Features: make([]float32, 4), Classes: 2, Outputs: 1, Labels: []int32{0, 1, 1, -1}}
	s := Scorer{Loss: network.Logistic, Classes: 2}
	m := s.Measure(set, []float32{-1, 2, -3, 9})
	if m.Examples != 4 || m.Unlabeled != 1 || *m.Accuracy != 2./3 || *m.AUC != 0.5 || fmt.Sprint(m.Confusion) != "[[1 0] [1 1]]" {
		t.Errorf("%+v", m)
	}
	if want := (math.Log1p(math.Exp(-1)) + math.Log1p(math.Exp(-2)) + math.Log1p(math.Exp(3))) / 3; math.Abs(m.Loss-want) > 1e-6 {
		t.Errorf("loss %v, want %v", m.Loss, want)
	}
	nan := float32(math.NaN())
	if p := (Scorer{Loss: network.CrossEntropy, Classes: 3}).Probabilities([]float32{nan, 1, 2}); fmt.Sprint(p) != "[0.3333333333333333 0.3333333333333333 0.3333333333333333]" {
		t.Errorf("scores that are no numbers: %v", p)
	}
	encoding := &example.Encoding{Target: &example.Column{Lower: 0, Upper: 10}}
	s = Scorer{Loss: network.Squared, Encoding: encoding}
	set = &example.Set{Width: 1, Features: make([]float32, 3), Outputs: 1, Targets: []float32{-1, 1, nan}}
	if m := s.Measure(set, []float32{-0.8, 0.6, 0}); math.Abs(*m.MAE-1.5) > 1e-6 || math.Abs(*m.RMSE-math.Sqrt((1+4)/2.)) > 1e-6 || m.Unlabeled != 1 {
		t.Errorf("%+v", m)
	}
}
