package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

// The answer for good keeps to ε, and what reports make of it has the channel that estimates
// use. The vector is of Arcolezi et al. 2021.
func TestRepeatedLaws(t *testing.T) {
	for _, o := range []RepeatedOptions{{Protocol: LongGRR}, {Protocol: LongOUE}, {Protocol: DBitFlip}, {Protocol: DBitFlip, Bits: 2}} {
		o.Values, o.Epsilon, o.Epochs = 4, eps("1.5"), 3
		r := must(NewRepeated(o))
		if got, want := r.Epsilon(), r.epsilon.MulRat(whole(3)); !got.Equal(want) || got.Float64() > 4.5 {
			t.Errorf("%s: epsilon %v", o.Protocol, got)
		}
		k := r.kernel.(finite)
		law := func(c Report, v int) func(func(Report, *big.Rat) bool) { return k.law(c, v) }
		coins := Report{}
		for range r.coins {
			coins = append(coins, 1)
		}
		if len(coins) == 4 {
			coins[3] = 0
		}
		if _, err := exceeds(4, r.epsilon, coins, law); err != nil {
			t.Errorf("%s: %v", o.Protocol, err)
		}
	}
	for _, v := range vectors(t) {
		if v.ID != "ldp.longitudinal.var" {
			continue
		}
		c := chained(plainChannel(big.NewRat(3, 4), big.NewRat(1, 4)), big.NewRat(3, 4), half())
		if got := c.variance(0); math.Abs(got-v.Expected["var"].(float64)) > 1e-12 {
			t.Errorf("variance %v", got)
		}
	}
}

// Two epochs of two values, written out: over all sequences, changing or not, reports of both
// epochs keep to twice ε. Where a new value is randomized when it comes, some have no bound.
func TestEpochsHideChanges(t *testing.T) {
	g := must(newGRR(2, eps("1")))
	law := func(sequence [2]int, whenNew bool) map[string]float64 {
		out := map[string]float64{}
		for a, p := range g.law(nil, sequence[0]) {
			if whenNew && sequence[1] == sequence[0] { // the answer stays
				out[fmt.Sprint(a, a)] += near(p)
				continue
			}
			for b, q := range g.law(nil, sequence[1]) {
				out[fmt.Sprint(a, b)] += near(p) * near(q)
			}
		}
		return out
	}
	worst := func(whenNew bool) (ratio float64) {
		all := [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
		for _, x := range all {
			for _, y := range all {
				for r, p := range law(x, whenNew) {
					ratio = max(ratio, p/law(y, whenNew)[r])
				}
			}
		}
		return ratio
	}
	if r := worst(false); r > math.Exp(2)*(1+1e-12) {
		t.Errorf("epochs: ratio %v", r)
	}
	if r := worst(true); !math.IsInf(r, 1) {
		t.Errorf("answers that stay with values hide changes, by a ratio of %v", r)
	}
}

// A memo answers an epoch for good, survives as JSON, and goes on with the last answer.
func TestMemo(t *testing.T) {
	s := noise.NewStream(entropy.New())
	r := must(NewRepeated(RepeatedOptions{Protocol: DBitFlip, Values: 70, Epsilon: eps("1"), Epochs: 2, Bits: 40}))
	m := r.Enrol()
	first := must(r.Report(s, m, 0, 5))
	var again Memo
	if err := json.Unmarshal(must(json.Marshal(m)), &again); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if got := must(r.Report(s, &again, 0, 9)); fmt.Sprint(got) != fmt.Sprint(first) {
			t.Fatal("the answer of an epoch changes")
		}
	}
	second := must(r.Report(s, &again, 1, 9))
	if fmt.Sprint(second[:40]) != fmt.Sprint(first[:40]) {
		t.Error("the coins change")
	}
	if got := must(r.Report(s, &again, 7, 3)); fmt.Sprint(got) != fmt.Sprint(second) {
		t.Error("the last answer does not stay")
	}
	if _, err := r.Report(s, &again, 0, 3); !errors.Is(err, ErrParameter) {
		t.Errorf("an epoch that has passed: %v", err)
	}
	if _, err := r.Report(s, &Memo{Epoch: 1, Answer: Report{9}}, 1, 3); !errors.Is(err, ErrReport) {
		t.Errorf("a damaged memo: %v", err)
	}
}

// Estimates of one epoch are without bias, and their intervals hold: 300 surveys, at 6.8
// deviations. The second coin left out of the estimate is seen.
func TestRepeatedEstimates(t *testing.T) {
	t.Parallel()
	counts := []int{60, 25, 15}
	for _, o := range []RepeatedOptions{{Protocol: LongGRR}, {Protocol: LongOUE}, {Protocol: DBitFlip, Bits: 2}} {
		o.Values, o.Epsilon, o.Epochs = 3, eps("2"), 1
		r := must(NewRepeated(o))
		s := noise.NewStream(entropy.New())
		const runs = 300
		sum, outside := make([]float64, 3), 0.0
		bare := 0.0
		for range runs {
			var reports []Report
			for v, c := range counts {
				for range c {
					reports = append(reports, must(r.Report(s, r.Enrol(), 0, v)))
				}
			}
			e := must(r.Estimate(reports, EstimateOptions{Beta: big.NewRat(1, 10)}))
			for v, c := range counts {
				sum[v] += e.Raw[v] - float64(c)/100
				if x := float64(c) / 100; x < e.Low[v] || x > e.High[v] {
					outside += 1.0 / 3
				}
			}
			once := *r
			once.estimated = &Frequency{options: r.estimated.options, kernel: r.kernel, form: r.reported}
			bare += must(once.Estimate(reports, EstimateOptions{})).Raw[0] - 0.6
		}
		for v, c := range counts {
			// Of dbitflip the coins vary, too: at most as much again.
			d := math.Sqrt(2 * r.Variance(float64(c)/100) / 100 / runs)
			if math.Abs(sum[v])/runs > 6.8*d {
				t.Errorf("%s: value %d is %v off, deviation %v", o.Protocol, v, sum[v]/runs, d)
			}
			if v == 0 && o.Protocol != DBitFlip && math.Abs(bare)/runs < 6.8*d {
				t.Errorf("%s: without the second coin the estimate is %v off", o.Protocol, bare/runs)
			}
		}
		if outside > runs*0.1+6.8*math.Sqrt(runs*0.09) {
			t.Errorf("%s: %v of %d intervals fail", o.Protocol, outside, runs)
		}
	}
}

// The law of fake data keeps to ε for neighbours that differ in every attribute. With the ε that
// the literature amplifies to, it does not.
func TestFakeData(t *testing.T) {
	values := []int{2, 3}
	o := AttributesOptions{Division: Fake, Values: values, Epsilon: eps("1")}
	records := [][]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}
	check := func(a *Attributes) error {
		law := func(_ Report, i int) func(func(Report, *big.Rat) bool) { return a.FakeLaw(records[i]) }
		_, err := exceeds(len(records), eps("1"), nil, law)
		return err
	}
	if err := check(must(NewAttributes(o))); err != nil {
		t.Error(err)
	}
	amplified := o
	amplified.Epsilon = eps("1.4899") // ln(2(e−1)+1), rounded down
	if check(must(NewAttributes(amplified))) == nil {
		t.Error("the amplified epsilon holds for neighbours that differ in all attributes")
	}
}

// Shares of several attributes, at 6.8 deviations of surveys; intervals hold.
func TestAttributes(t *testing.T) {
	t.Parallel()
	s := noise.NewStream(entropy.New())
	truth := [][]float64{{0.75, 0.25}, {0.5, 0, 0.5}}
	for _, d := range []Division{Split, Sample, Fake} {
		a := must(NewAttributes(AttributesOptions{Division: d, Values: []int{2, 3}, Epsilon: eps("2")}))
		if e := a.Epsilon().Float64(); e > 2 || e < 1.999 {
			t.Errorf("%s: epsilon %v", d, e)
		}
		const runs, n = 200, 200
		sum, outside := [][]float64{make([]float64, 2), make([]float64, 3)}, 0.0
		for range runs {
			tally := a.NewTally()
			for i := range n {
				if err := tally.Add(must(a.Randomize(s, []int{min(i%4/3, 1), i % 2 * 2}))); err != nil {
					t.Fatal(err)
				}
			}
			for j := range truth {
				e := must(tally.Estimate(j, EstimateOptions{Beta: big.NewRat(1, 20)}))
				for v, x := range truth[j] {
					sum[j][v] += (e.Raw[v] - x) / runs
					if x < e.Low[v] || x > e.High[v] {
						outside += 1.0 / 5
					}
				}
			}
		}
		for j := range truth {
			for v := range truth[j] {
				if math.Abs(sum[j][v]) > 0.08 { // above 8 deviations of the worst, which is 0.0095
					t.Errorf("%s: value %d of attribute %d is %v off", d, v, j, sum[j][v])
				}
			}
		}
		if d != Sample && outside > runs*0.05+6.8*math.Sqrt(runs*0.05) {
			t.Errorf("%s: %v of %d intervals fail", d, outside, runs)
		}
		for _, bad := range [][]Report{nil, {nil, nil}, {{9}, {9}}, {{0}}} {
			if err := a.NewTally().Add(bad); !errors.Is(err, ErrReport) {
				t.Errorf("%s: %v is counted", d, bad)
			}
		}
	}
}

// Sums over ranges and quantiles are near the truth; bounds hold.
func TestHierarchy(t *testing.T) {
	s := noise.NewStream(entropy.New())
	h := must(NewHierarchy(HierarchyOptions{Values: 50, Epsilon: eps("3"), Branches: 4}))
	if h.Levels() != 3 || h.Epsilon().Float64() > 3 {
		t.Errorf("%d levels, epsilon %v", h.Levels(), h.Epsilon())
	}
	tally := h.NewTally()
	const n = 30_000
	for i := range n {
		if err := tally.Add(must(h.Randomize(s, 10+i%20))); err != nil { // uniform on 10 to 29
			t.Fatal(err)
		}
	}
	r := must(tally.Ranges(big.NewRat(1, 1e9)))
	for _, tc := range []struct {
		lo, hi int
		want   float64
	}{{0, 50, 1}, {10, 30, 1}, {0, 10, 0}, {12, 17, 0.25}, {30, 50, 0}, {7, 31, 1}, {20, 25, 0.25}} {
		raw, low, high := r.Share(tc.lo, tc.hi)
		if low > tc.want || high < tc.want || math.Abs(raw-tc.want) > 0.12 { // 6.8 deviations of 8 ranges
			t.Errorf("[%d, %d): %v in [%v, %v], want %v", tc.lo, tc.hi, raw, low, high, tc.want)
		}
	}
	if q := r.Quantile(0.5); q < 17 || q > 22 {
		t.Errorf("the median is %d", q)
	}
	for _, bad := range []Report{nil, {9}, {0}} {
		if err := tally.Add(bad); !errors.Is(err, ErrReport) {
			t.Errorf("%v is counted", bad)
		}
	}
}

// Strings that many have are found, and none that nobody has: those stand out by four standard
// deviations with probability 3e-5 each.
func TestStrings(t *testing.T) {
	t.Parallel()
	s := noise.NewStream(entropy.New())
	for _, p := range Discoveries() {
		x := must(NewStrings(StringsOptions{Protocol: p, Epsilon: eps("4"), Length: 3, Top: 4, Salt: "s"}))
		tally := x.NewTally()
		words := []string{"cat", "cat", "cat", "dog", "dog", "ox"}
		for i := range 30_000 {
			r := must(x.Randomize(s, words[i%len(words)]))
			if err := tally.Add(must(x.Parse(x.Format(r)))); err != nil {
				t.Fatal(err)
			}
		}
		found := must(tally.Find())
		if len(found) < 3 || found[0].Text != "cat" || found[1].Text != "dog" || found[2].Text != "ox" {
			t.Errorf("%s: %+v", p, found)
		} else if math.Abs(found[0].Share-0.5) > 0.1 { // 7 deviations
			t.Errorf("%s: %+v", p, found)
		}
		if err := tally.Add(Report{99}); !errors.Is(err, ErrReport) {
			t.Errorf("%s: %v", p, err)
		}
	}
	for _, o := range []StringsOptions{{}, {Protocol: PEM}, {Protocol: "x", Epsilon: eps("1")}, {Protocol: PEM, Epsilon: eps("1"), Length: 8}} {
		if _, err := NewStrings(o); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
