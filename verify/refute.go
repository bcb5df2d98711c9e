package verify

import (
	"context"
	"fmt"
	"go/types"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/exact"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/replay"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// refute searches for a counterexample, and reports whether it found one: exactly where
// the function's probabilities can be evaluated, by samples where they cannot.
func (d *decision) refute(ctx context.Context, hints []program.Pair) bool {
	f, c := d.unit.Function, d.unit.Claim
	x, tried, err := exact.Refute(ctx, f, c, hints, exact.Search{Workers: d.options.Workers})
	switch {
	case err != nil:
		d.try(counterexamples, err.Error())
		return false
	case x != nil:
		d.refuted(Refuted, x)
		d.keep(replay.Counterexample, x)
		return true
	}
	d.try(counterexamples, tried.String())
	if tried.Trials > 0 && !tried.Open {
		return false
	}
	x, _, err = exact.Statistical(ctx, f, c, hints, exact.Sampling{Source: noise.NewSource(noise.System()), Failure: sampleFailure})
	switch {
	case err != nil:
		d.try(samples, err.Error())
		return false
	case x == nil:
		d.try(samples, "they do not exclude the claim")
		return false
	}
	d.sampled(x)
	d.keep(replay.Samples, x)
	return true
}

// sampled records a counterexample by samples.
func (d *decision) sampled(x *exact.Counterexample) {
	d.refuted(RefutedStatistical, x)
	d.note(fmt.Sprintf("by samples: a claim that holds is refuted so with probability at most %g", sampleFailure))
}

// sampleFailure bounds the probability that samples refute a claim that holds.
const sampleFailure = 1e-9

// refuted records a counterexample.
func (d *decision) refuted(v Verdict, x *exact.Counterexample) {
	f := d.unit.Function
	d.result.Verdict, d.result.Problems = v, nil
	d.result.Counterexample = &Counterexample{
		Inputs: values(f, x.First), Neighbour: values(f, x.Second), Event: x.Event,
		P: [2]float64{x.P.Lo, x.P.Hi}, Q: [2]float64{x.Q.Lo, x.Q.Hi},
		Measure: measures[x.Measure], Epsilon: Number(x.Forced), Claimed: Number(x.Claimed), Parameter: x.Parameter, Fails: x.Fails,
	}
}

// measures are the names of measures, as everywhere.
var measures = [...]string{claim.Pure: "pure", claim.Approximate: "approx", claim.ZCDP: "zcdp"}

// moved looks for small inputs whose results lie farther apart than a sensitivity allows,
// where the function was read and its results are numbers.
func (d *decision) moved(ctx context.Context) bool {
	f, c := d.unit.Function, d.unit.Claim
	fn, ok := d.unit.Info.Defs[d.unit.Decl.Name].(*types.Func)
	if !ok || f == nil {
		return false
	}
	shown, ok := numbers(fn.Signature().Results())
	if !ok {
		return false
	}
	within, cancel := context.WithTimeout(ctx, d.options.Timeout/10)
	defer cancel()
	x, err := exact.RefuteSensitivity(within, f, c, shown, exact.Search{Budget: 500})
	if err != nil || x == nil {
		return false
	}
	over, note := source.Exactness(f, x.Claim)
	d.result.Verdict, d.result.Over, d.result.Note, d.result.Problems = Refuted, Over(over), note, nil
	d.result.Counterexample = &Counterexample{
		Inputs: values(f, x.First), Neighbour: values(f, x.Second), Event: x.Results[0],
		P: [2]float64{1, 1}, Epsilon: Number(math.Inf(1)), Claimed: Number(x.Allowed.Hi),
		Distance: &Distance{
			Input: x.Input, Moved: Number(x.Moved.Hi), Norm: string(x.Norm),
			Neighbour: x.Results[1], Results: Number(x.Distance.Lo),
		},
	}
	return true
}

// numbers counts the numbers, truths and slices of them of which results are made; slices of
// structs are one for each of their fields. It reports false of results of anything else.
func numbers(results *types.Tuple) (n int, ok bool) {
	var count func(t types.Type, in bool) bool // in is set within a slice
	count = func(t types.Type, in bool) bool {
		switch t := t.Underlying().(type) {
		case *types.Basic:
			n++
			return t.Info()&(types.IsNumeric|types.IsBoolean) != 0
		case *types.Slice:
			return !in && count(t.Elem(), true)
		case *types.Struct:
			for v := range t.Fields() {
				if !count(v.Type(), in) {
					return false
				}
			}
			return true
		}
		return false
	}
	for v := range results.Variables() {
		if !count(v.Type(), false) {
			return 0, false
		}
	}
	return n, true
}

// values are those of inputs as JSON has them.
func values(f *program.Function, in program.Inputs) map[string]any {
	all := map[string]any{}
	for _, v := range f.Inputs {
		x, ok := in[v.Name]
		switch {
		case !ok:
		case v.Slice:
			list := make([]any, len(x.Elements))
			for i, e := range x.Elements {
				list[i] = value(v.Sort, e)
			}
			all[v.Name] = list
		default:
			all[v.Name] = value(v.Sort, x.Number)
		}
	}
	return all
}

// value is a number, as a fraction in text if a float64 does not hold it.
func value(s program.Sort, x *big.Rat) any {
	switch {
	case x == nil:
		return nil
	case s == program.Bool:
		return x.Sign() != 0
	case x.IsInt() && x.Num().IsInt64():
		return x.Num().Int64()
	}
	if v, exact := x.Float64(); exact {
		return v
	}
	return fmt.Sprint(x.RatString())
}
