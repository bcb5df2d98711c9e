package verify

import (
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/verify/internal/exact"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// refute searches for a counterexample, and reports whether it found one.
func (d *decision) refute(ctx context.Context, hints []program.Pair) bool {
	f, c := d.unit.Function, d.unit.Claim
	x, tried, err := exact.Refute(ctx, f, c, hints, exact.Search{})
	switch {
	case err != nil:
		d.tried = append(d.tried, "counterexamples: "+err.Error())
		return false
	case x == nil:
		d.tried = append(d.tried, "counterexamples: "+tried.String())
		return false
	}
	d.result.Verdict = Refuted
	d.result.Problems = nil
	d.result.Counterexample = &Counterexample{
		Inputs: values(f, x.First), Neighbour: values(f, x.Second), Event: x.Event,
		P: [2]float64{x.P.Lo, x.P.Hi}, Q: [2]float64{x.Q.Lo, x.Q.Hi},
		Epsilon: Number(x.Forced), Claimed: Number(x.Claimed), Fails: x.Fails,
	}
	return true
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
