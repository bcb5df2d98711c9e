package accountant

import (
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// A Warning is what a plan cannot show and its reader ought to check.
type Warning struct {
	Text    string
	Instead privacy.Event // the plan if the warning applies, else nil
	Bound   *Bound        // the pld accountant's bound of Instead, nil if there is none
}

// warn looks for Poisson samples. A plan cannot show how batches were really drawn;
// training loops that shuffle the data and cut it into batches are not Poisson samples,
// and the difference is large (Chua et al. 2024, https://arxiv.org/abs/2403.17673).
// What is proved of them without amplification: within an epoch every unit is in one
// batch, so that an epoch is parallel composition and costs the event once.
func (r *Report) warn(ctx context.Context, o Options) {
	instead, found := shuffledInstead(r.Plan, 1)
	if !found {
		return
	}
	w := Warning{
		Text: "the batches must be Poisson samples: every unit is in each by its own coin. If they are cut from shuffled data, " +
			"the sampling proves nothing, and the plan is the event once an epoch (a removed unit's place staying empty)",
		Instead: instead,
	}
	ask := Epsilon
	x := r.Delta
	if r.Epsilon != nil {
		ask, x = Delta, r.Epsilon
	}
	if other, err := ask(ctx, instead, *x, Options{Neighbours: o.Neighbours, Orders: o.Orders, Group: o.Group, Accountant: PLD, Work: o.work() / 8}); err == nil {
		if b, ok := other.Best(); ok {
			w.Bound = &b
			w.Text += fmt.Sprintf(": %s %.6g", b.quantity(), b.value().High)
		}
	}
	r.Warnings = append(r.Warnings, w)
}

// shuffledInstead returns count times e with every Poisson sample as if batches
// were shuffled: ⌈count·rate⌉ epochs of the event within. A unit is in one batch an
// epoch.
func shuffledInstead(e privacy.Event, count int) (instead privacy.Event, found bool) {
	switch e := e.(type) {
	case privacy.Poisson:
		epochs := numeric.Ceil(new(big.Rat).Mul(e.Rate, new(big.Rat).SetInt64(int64(count))))
		inner, _ := shuffledInstead(e.Event, 1)
		return times(int(epochs.Int64()), inner), e.Rate.Cmp(big.NewRat(1, 1)) < 0
	case privacy.TruncatedPoisson:
		return shuffledInstead(privacy.Poisson{Rate: e.Rate, Event: e.Event}, count)
	case privacy.Under:
		e.Event, found = shuffledInstead(e.Event, count)
		return e, found
	case privacy.Repeat:
		if product := new(big.Int).Mul(big.NewInt(int64(count)), big.NewInt(int64(e.Count))); product.IsInt64() {
			return shuffledInstead(e.Event, int(product.Int64()))
		}
	case privacy.Sum:
		out := make([]privacy.Event, len(e.Events))
		for i, t := range e.Events {
			f := false
			out[i], f = shuffledInstead(t, count)
			found = found || f
		}
		return privacy.Sum{Events: out}, found
	}
	return times(count, e), false
}

func times(count int, e privacy.Event) privacy.Event {
	if count == 1 {
		return e
	}
	return privacy.Repeat{Count: count, Event: e}
}
