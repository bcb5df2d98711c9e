package local

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

// An attack from the analyzer's place, to whom all other respondents tell what they know: of a
// victim who has 0 or 1 it sees the reports, and says 1 where they are as likely of 1, against 0,
// as the law admits. The draws prove no more ε than is claimed, and nearly as much; a bound of
// package audit fails with probability 1e-10, of which there are 10.
func TestAttackOnTranscripts(t *testing.T) {
	t.Parallel()
	const confidence = 1 - 1e-10
	runs := 20_000
	s := noise.NewStream(entropy.New())
	attack := func(report func(value int) (Report, error), says func(Report) bool) float64 {
		c := audit.Counts{Members: runs, Others: runs}
		for range runs {
			if says(must(report(1))) {
				c.TruePositives++
			}
			if says(must(report(0))) {
				c.FalsePositives++
			}
		}
		return must(c.EpsilonLowerBound(0, confidence))
	}
	// likeliest are the reports, with these coins, whose likelihood ratio is the greatest.
	likeliest := func(k finite, coins int, epsilon float64) func(Report) bool {
		known := map[string]bool{}
		return func(r Report) bool {
			name := fmt.Sprint(r)
			said, ok := known[name]
			if !ok {
				of := func(value int) float64 {
					for x, p := range k.law(r[:coins:coins], value) {
						if fmt.Sprint(x) == name {
							return near(p)
						}
					}
					return 0
				}
				said = math.Log(of(1)/of(0)) > epsilon*(1-1e-6)
				known[name] = said
			}
			return said
		}
	}
	const epsilon = 1.2
	for _, p := range []Protocol{GRR, SUE, OUE, THE, Subset, Hadamard, HadamardResponse} {
		f := must(NewFrequency(FrequencyOptions{Protocol: p, Values: 4, Epsilon: eps("1.2")}))
		says := likeliest(f.kernel.(finite), len(f.form.coins), f.Epsilon().Float64())
		got := attack(func(v int) (Report, error) { return f.Randomize(s, v) }, says)
		if got > epsilon || got < epsilon/3 {
			t.Errorf("%s: the attack proves ε ≥ %v, claimed %v", p, got, epsilon)
		}
	}
	// Of a question that is asked in three epochs it sees one report of each, of the same memo twice. Of 60,000 the bound is
	// more than nine standard deviations above the least that is asked for.
	runs = 60_000
	r := must(NewRepeated(RepeatedOptions{Protocol: DBitFlip, Values: 2, Epsilon: eps("0.4"), Epochs: 3}))
	k := r.kernel.(finite)
	each := likeliest(k, 2, 0.4)
	got := attack(func(v int) (all Report, err error) {
		m := must(r.Begin(s))
		for epoch := range 3 {
			one, again := must(r.Report(s, m, epoch, v)), must(r.Report(s, m, epoch, v))
			if fmt.Sprint(one) != fmt.Sprint(again) {
				t.Error("an epoch's answer changes")
			}
			all = append(all, one...)
		}
		return all, nil
	}, func(all Report) bool { return each(all[:3]) && each(all[3:6]) && each(all[6:]) })
	if got > 1.2 || got < 0.3 {
		t.Errorf("three epochs: the attack proves ε ≥ %v, claimed 1.2", got)
	}
	runs = 20_000
	// The old unary encoding of pure-LDP, and GRR of which a report in ten is the answer itself.
	odds := exp(eps("1.2"), one()).Lo()
	p := down(over(odds, plus(odds, one())))
	old := &unary{k: 4, p: newChance(p), q: newChance(not(p))}
	if got := attack(func(v int) (Report, error) { return old.reply(s, nil, v) }, likeliest(old, 0, 2*epsilon)); got <= epsilon {
		t.Errorf("the old unary encoding is not refuted: %v", got)
	}
	grr := must(NewFrequency(FrequencyOptions{Protocol: GRR, Values: 4, Epsilon: eps("1.2")}))
	if got := attack(func(v int) (Report, error) {
		if must(s.Index(10)) == 0 {
			return Report{uint64(v)}, nil
		}
		return grr.Randomize(s, v)
	}, func(r Report) bool { return r[0] == 1 }); got <= epsilon {
		t.Errorf("answers that are told as they are, are not refuted: %v", got)
	}
}
