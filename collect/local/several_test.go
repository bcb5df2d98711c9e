package local

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

// Reports of several attributes, of hierarchies and of repeated questions are read as they were
// written; what is no report of them is refused.
func TestSeveralAreReadAsWritten(t *testing.T) {
	s := noise.NewStream(entropy.New())
	for _, o := range []AttributesOptions{{Division: Split}, {Division: Split, Protocol: OLH}, {Division: Sample, Protocol: OUE}, {Division: Fake}} {
		o.Values, o.Epsilon = []int{3, 70, 2}, eps("2")
		a := must(NewAttributes(o))
		for range 50 {
			r := must(a.Randomize(s, []int{2, 69, 9}))
			got, err := a.Parse(a.Format(r))
			if err != nil || fmt.Sprint(got) != fmt.Sprint(r) {
				t.Fatalf("%s: %q is read as %v, %v", o.Division, a.Format(r), got, err)
			}
		}
		for _, bad := range []string{"", "-|-", "-|-|-|-", "x|-|-", "9|-|-"} {
			if _, err := a.Parse(bad); !errors.Is(err, ErrReport) {
				t.Errorf("%s: %q: %v", o.Division, bad, err)
			}
		}
	}
	h := must(NewHierarchy(HierarchyOptions{Values: 100, Epsilon: eps("1")}))
	for range 100 {
		r := must(h.Randomize(s, 99))
		if got, err := h.Parse(h.Format(r)); err != nil || fmt.Sprint(got) != fmt.Sprint(r) {
			t.Fatalf("%q is read as %v, %v", h.Format(r), got, err)
		}
	}
	for _, bad := range []string{"", "4 0 0", "-1 0 0", "0", "0 1 2 3 4 5"} {
		if _, err := h.Parse(bad); !errors.Is(err, ErrReport) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, p := range Repetitions() {
		r := must(NewRepeated(RepeatedOptions{Protocol: p, Values: 70, Epsilon: eps("1"), Epochs: 2}))
		m := must(r.Begin(s))
		report := must(r.Report(s, m, 1, 69))
		if got, err := r.Parse(r.Format(report)); err != nil || fmt.Sprint(got) != fmt.Sprint(report) {
			t.Errorf("%s: %q is read as %v, %v", p, r.Format(report), got, err)
		}
	}
}

// The variances that are stated are those that are seen: of 4,000 surveys of 40 respondents, each
// within 20 %, which is 7 deviations or more of what 40 runs saw. Without what coins add
// (one respondent in three tells an attribute, one in three a level) they are too small by far.
func TestSeveralVariances(t *testing.T) {
	t.Parallel()
	s := noise.NewStream(entropy.New())
	const runs, people = 4000, 40
	seen := func(estimate func() float64) float64 {
		sum, squares := 0.0, 0.0
		for range runs {
			x := estimate()
			sum, squares = sum+x, squares+x*x
		}
		return (squares - sum*sum/runs) / (runs - 1)
	}
	check := func(what string, got, want float64) {
		if math.Abs(got/want-1) > 0.2 {
			t.Errorf("%s: the variance is %v, and %v is stated", what, got, want)
		}
	}
	for _, d := range []Division{Split, Sample, Fake} {
		a := must(NewAttributes(AttributesOptions{Division: d, Values: []int{2, 3, 4}, Epsilon: eps("3"), Protocol: GRR}))
		got := seen(func() float64 {
			tally := a.NewTally()
			for i := range people {
				if err := tally.Add(must(a.Randomize(s, []int{i % 2, 0, 0}))); err != nil {
					t.Fatal(err)
				}
			}
			if d == Sample && tally.tallies[0].Reports() == 0 {
				return 0.5 // nobody told it; happens with probability 9e-8
			}
			return must(tally.Estimate(0, EstimateOptions{})).Raw[0]
		})
		want := a.Variance(0, 0.5) / people
		if d == Sample {
			want *= 1 + 2.0/people*3 // the number of those who told it varies: E(1/m) is above 1/E(m)
		}
		check(string(d), got, want)
	}
}
