package discreet

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// An answer serves by its noise one by one: what is wider, of another sensitivity, of another mechanism, or of
// a mechanism that is not known here, does not.
func TestAsPrecise(t *testing.T) {
	laplace := func(scale, sensitivity int64) privacy.Event {
		return privacy.DiscreteLaplace{Scale: big.NewRat(scale, 3), Sensitivity: big.NewRat(sensitivity, 1)}
	}
	gauss := func(variance, squared int64) privacy.Event {
		return privacy.DiscreteGaussian{Variance: big.NewRat(variance, 3), SensitivitySquared: big.NewRat(squared, 1)}
	}
	selection := func(epsilon, delta string) privacy.Event {
		return privacy.Selection{Epsilon: must(privacy.ParseEpsilon(epsilon)), Delta: must(privacy.ParseDelta(delta))}
	}
	tree := func(sigma int64) privacy.Event {
		return privacy.Tree{Sigma: big.NewRat(sigma, 1), Sensitivity: big.NewRat(1, 1), Leaves: 4}
	}
	choice := func(times int, epsilon string) privacy.Event {
		return privacy.Repeat{Count: times, Event: privacy.Exponential{Epsilon: must(privacy.ParseEpsilon(epsilon))}}
	}
	max := func(epsilon string) privacy.Event {
		return privacy.NoisyMax{Epsilon: must(privacy.ParseEpsilon(epsilon))}
	}
	type events = []privacy.Event
	for _, c := range []struct {
		name            string
		released, asked events
		want            bool
	}{
		{"the same", events{laplace(5, 1), gauss(5, 1)}, events{laplace(5, 1), gauss(5, 1)}, true},
		{"narrower", events{laplace(4, 1), gauss(4, 1)}, events{laplace(5, 1), gauss(5, 1)}, true},
		{"wider", events{laplace(6, 1)}, events{laplace(5, 1)}, false},
		{"wider, Gaussian", events{gauss(6, 1)}, events{gauss(5, 1)}, false},
		{"one wider, one much narrower", events{laplace(6, 1), laplace(1, 1)}, events{laplace(5, 1), laplace(5, 1)}, false},
		{"another sensitivity", events{laplace(4, 2)}, events{laplace(5, 1)}, false},
		{"another sensitivity, Gaussian", events{gauss(4, 2)}, events{gauss(5, 1)}, false},
		{"another mechanism", events{gauss(1, 1)}, events{laplace(5, 1)}, false},
		{"one too few", events{laplace(5, 1)}, events{laplace(5, 1), laplace(5, 1)}, false},
		{"more chance of a group", events{selection("1", "1e-6")}, events{selection("0.5", "1e-7")}, true},
		{"less delta", events{selection("1", "1e-8")}, events{selection("0.5", "1e-7")}, false},
		{"less epsilon", events{selection("0.1", "1e-6")}, events{selection("0.5", "1e-7")}, false},
		{"choices that tell more values apart", events{choice(3, "0.5"), max("2")}, events{choice(3, "0.4"), max("1")}, true},
		{"choices that tell fewer apart", events{choice(3, "0.3")}, events{choice(3, "0.4")}, false},
		{"a largest count with more noise", events{max("0.5")}, events{max("1")}, false},
		{"fewer choices", events{choice(2, "0.4")}, events{choice(3, "0.4")}, false},
		{"another way to choose", events{max("1")}, events{privacy.Exponential{Epsilon: must(privacy.ParseEpsilon("1"))}}, false},
		{"a choice for counts", events{max("1")}, events{laplace(5, 1)}, false},
		{"what is not known, equal", events{tree(5)}, events{tree(5)}, true},
		{"what is not known, narrower", events{tree(4)}, events{tree(5)}, false},
	} {
		if got := asPrecise(c.released, c.asked); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
