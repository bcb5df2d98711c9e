package verify

import (
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/verify/internal/exact"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// refute searches for a counterexample, and reports whether it found one: exactly where
// the function's probabilities can be evaluated, by samples where they cannot.
func (d *decision) refute(ctx context.Context, hints []program.Pair) bool {
	f, c := d.unit.Function, d.unit.Claim
	x, tried, err := exact.Refute(ctx, f, c, hints, exact.Search{Workers: d.options.Workers})
	switch {
	case err != nil:
		d.tried = append(d.tried, "counterexamples: "+err.Error())
		return false
	case x != nil:
		d.refuted(Refuted, x)
		return true
	}
	d.tried = append(d.tried, "counterexamples: "+tried.String())
	if tried.Trials > 0 {
		return false
	}
	x, _, err = exact.Statistical(ctx, f, c, hints, exact.Sampling{Source: noise.NewSource(noise.System()), Failure: sampleFailure})
	switch {
	case err != nil:
		d.tried = append(d.tried, "samples: "+err.Error())
		return false
	case x == nil:
		d.tried = append(d.tried, "samples: they do not exclude the claim")
		return false
	}
	d.refuted(RefutedStatistical, x)
	d.note(fmt.Sprintf("by samples: a claim that holds is refuted so with probability at most %g", sampleFailure))
	return true
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
		Epsilon: Number(x.Forced), Claimed: Number(x.Claimed), Fails: x.Fails,
	}
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
