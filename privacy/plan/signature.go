package plan

import (
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/privacy"
)

// A signature says how an event is called, in text and in JSON, and makes it of
// its arguments. Writing has its own description in formOf, because an event may
// have been made by Go code.
type signature struct {
	name       string
	parameters []parameter
	build      func(arguments) privacy.Event
}

// A parameter is left out where it has a default.
type parameter struct {
	name     string
	kind     kindOf
	fallback string
}

// A kindOf says what a parameter takes and which way a number that is not exact
// is rounded: towards the greater loss of privacy.
type kindOf uint8

const (
	up          kindOf = iota // a positive *big.Rat, that costs more as it grows
	down                      // ... that costs less as it grows
	upSquare                  // the square of up
	downSquare                // the square of down
	rate                      // up, at most 1
	probability               // [2]*big.Rat: bounds of a number between 0 and 1
	epsilonKind               // an Epsilon
	deltaKind                 // a Delta
	rhoKind                   // a Rho
	wholeUp                   // an int64, at least 1, that costs more as it grows
	wholeDown                 // ... that costs less as it grows
	oneEvent                  // an Event
	manyEvents                // []Event: all arguments
	points                    // pairs of an order and a value: all arguments
	masses                    // pairs of two probabilities: all arguments
)

func (k kindOf) paired() bool { return k == points || k == masses }
func (k kindOf) event() bool  { return k == oneEvent || k == manyEvents }
func (k kindOf) whole() bool  { return k == wholeUp || k == wholeDown }

// grows reports whether an event costs more as its parameter grows. The
// probability of a randomized response does above 1/k, where it is meant to be.
func (k kindOf) grows() bool { return k != down && k != downSquare && k != wholeDown }

type arguments []any

func (a arguments) rat(i int) *big.Rat        { return a[i].(*big.Rat) }
func (a arguments) int(i int) int64           { return a[i].(int64) }
func (a arguments) eps(i int) privacy.Epsilon { return a[i].(privacy.Epsilon) }
func (a arguments) delta(i int) privacy.Delta { return a[i].(privacy.Delta) }
func (a arguments) event(i int) privacy.Event { return a[i].(privacy.Event) }

var (
	eventParameter = parameter{"event", oneEvent, ""}
	epsParameter   = parameter{"eps", epsilonKind, ""}
	deltaParameter = parameter{"delta", deltaKind, ""}
)

// signatures are all events with a name; a sum and a repetition are spelled + and *.
var signatures = []signature{
	{"laplace", []parameter{{"b", down, ""}, {"sensitivity", up, "1"}},
		func(a arguments) privacy.Event { return privacy.Laplace{Scale: a.rat(0), Sensitivity: a.rat(1)} }},
	{"discrete_laplace", []parameter{{"b", down, ""}, {"sensitivity", up, "1"}},
		func(a arguments) privacy.Event {
			return privacy.DiscreteLaplace{Scale: a.rat(0), Sensitivity: a.rat(1)}
		}},
	{"gaussian", []parameter{{"sigma", downSquare, ""}, {"sensitivity", upSquare, "1"}},
		func(a arguments) privacy.Event {
			return privacy.Gaussian{Variance: a.rat(0), SensitivitySquared: a.rat(1)}
		}},
	{"discrete_gaussian", []parameter{{"sigma", downSquare, ""}, {"sensitivity", upSquare, "1"}},
		func(a arguments) privacy.Event {
			return privacy.DiscreteGaussian{Variance: a.rat(0), SensitivitySquared: a.rat(1)}
		}},
	{"skellam", []parameter{{"mu", down, ""}, {"sensitivity", upSquare, "1"}, {"l1", up, "1"}},
		func(a arguments) privacy.Event {
			return privacy.Skellam{Variance: a.rat(0), SensitivitySquared: a.rat(1), L1: a.rat(2)}
		}},
	{"tree", []parameter{{"sigma", down, ""}, {"leaves", wholeUp, ""}, {"sensitivity", up, "1"}},
		func(a arguments) privacy.Event {
			return privacy.Tree{Sigma: a.rat(0), Leaves: a.int(1), Sensitivity: a.rat(2)}
		}},
	{"pure", []parameter{epsParameter},
		func(a arguments) privacy.Event { return privacy.Pure{Epsilon: a.eps(0)} }},
	{"approx", []parameter{epsParameter, deltaParameter},
		func(a arguments) privacy.Event { return privacy.Approx{Epsilon: a.eps(0), Delta: a.delta(1)} }},
	{"selection", []parameter{epsParameter, deltaParameter},
		func(a arguments) privacy.Event { return privacy.Selection{Epsilon: a.eps(0), Delta: a.delta(1)} }},
	{"exponential", []parameter{epsParameter},
		func(a arguments) privacy.Event { return privacy.Exponential{Epsilon: a.eps(0)} }},
	{"permute_and_flip", []parameter{epsParameter},
		func(a arguments) privacy.Event { return privacy.PermuteAndFlip{Epsilon: a.eps(0)} }},
	{"noisy_max", []parameter{epsParameter},
		func(a arguments) privacy.Event { return privacy.NoisyMax{Epsilon: a.eps(0)} }},
	{"sparse_vector", []parameter{epsParameter},
		func(a arguments) privacy.Event { return privacy.SparseVector{Epsilon: a.eps(0)} }},
	{"randomized_response", []parameter{{"p", probability, ""}, {"k", wholeUp, "2"}},
		func(a arguments) privacy.Event {
			return privacy.RandomizedResponse{P: farther(a[0].([2]*big.Rat), a.int(1)), K: int(a.int(1))}
		}},
	{"zcdp", []parameter{{"rho", rhoKind, ""}},
		func(a arguments) privacy.Event { return privacy.ZCDP{Rho: a[0].(privacy.Rho)} }},
	{"gdp", []parameter{{"mu", up, ""}},
		func(a arguments) privacy.Event { return privacy.GDP{Mu: a.rat(0)} }},
	{"rdp", []parameter{{"order: eps", points, ""}},
		func(a arguments) privacy.Event { return a[0].(privacy.RDP) }},
	{"pair", []parameter{{"p: q", masses, ""}},
		func(a arguments) privacy.Event { return a[0].(privacy.Pair) }},
	{"poisson", []parameter{{"rate", rate, ""}, eventParameter},
		func(a arguments) privacy.Event { return privacy.Poisson{Rate: a.rat(0), Event: a.event(1)} }},
	{"truncated_poisson", []parameter{{"rate", rate, ""}, {"n", wholeUp, ""}, {"at_most", wholeDown, ""}, eventParameter},
		func(a arguments) privacy.Event {
			return privacy.TruncatedPoisson{Rate: a.rat(0), N: a.int(1), AtMost: a.int(2), Event: a.event(3)}
		}},
	{"without_replacement", []parameter{{"m", wholeUp, ""}, {"n", wholeDown, ""}, eventParameter},
		func(a arguments) privacy.Event {
			return privacy.WithoutReplacement{M: a.int(0), N: a.int(1), Event: a.event(2)}
		}},
	{"with_replacement", []parameter{{"m", wholeUp, ""}, {"n", wholeDown, ""}, eventParameter},
		func(a arguments) privacy.Event {
			return privacy.WithReplacement{M: a.int(0), N: a.int(1), Event: a.event(2)}
		}},
	{"shuffled", []parameter{{"n", wholeDown, ""}, eventParameter},
		func(a arguments) privacy.Event { return privacy.Shuffled{N: a.int(0), Event: a.event(1)} }},
	{"repeat_and_select", []parameter{{"mean", up, ""}, eventParameter, {"shape", up, "1"}},
		func(a arguments) privacy.Event {
			return privacy.RepeatAndSelect{Mean: a.rat(0), Event: a.event(1), Shape: a.rat(2)}
		}},
	{"add_remove", []parameter{eventParameter},
		func(a arguments) privacy.Event {
			return privacy.Under{Neighbours: privacy.AddRemove, Event: a.event(0)}
		}},
	{"replace_one", []parameter{eventParameter},
		func(a arguments) privacy.Event {
			return privacy.Under{Neighbours: privacy.ReplaceOne, Event: a.event(0)}
		}},
	{"replace_special", []parameter{eventParameter},
		func(a arguments) privacy.Event {
			return privacy.Under{Neighbours: privacy.ReplaceSpecial, Event: a.event(0)}
		}},
	{"parallel", []parameter{{"event", manyEvents, ""}},
		func(a arguments) privacy.Event { return privacy.Parallel{Events: a[0].([]privacy.Event)} }},
}

// farther returns the bound of p that is farther from 1/k, where a randomized
// response tells nothing.
func farther(p [2]*big.Rat, k int64) *big.Rat {
	if p[0].Cmp(big.NewRat(1, k)) < 0 {
		return p[0]
	}
	return p[1]
}

// signatureOf returns the signature of the event of that name.
func signatureOf(name string) (signature, bool) {
	for _, s := range signatures {
		if s.name == name {
			return s, true
		}
	}
	return signature{}, false
}

// variadic reports whether all arguments belong to one parameter.
func (s signature) variadic() bool {
	return s.parameters[0].kind == manyEvents || s.parameters[0].kind.paired()
}

func (s signature) find(name string) int {
	for i, p := range s.parameters {
		if p.name == name && !s.variadic() {
			return i
		}
	}
	return -1
}

// String shows how the event is called, such as "gaussian(sigma, sensitivity=1)".
func (s signature) String() string {
	var parameters []string
	for _, p := range s.parameters {
		if p.fallback != "" {
			p.name += "=" + p.fallback
		}
		parameters = append(parameters, p.name)
	}
	if s.variadic() {
		parameters = append(parameters, "...")
	}
	return s.name + "(" + strings.Join(parameters, ", ") + ")"
}

// nearest returns the candidate that name may be a misspelling of, or "".
func nearest(name string, candidates []string) string {
	name = strings.ToLower(name)
	best, least := "", max(1, len(name)/3)+1
	for _, c := range candidates {
		d := distance(name, c)
		if len(name) >= 3 && (strings.HasPrefix(c, name) || strings.HasPrefix(name, c)) {
			d = min(d, 1)
		}
		if d < least {
			best, least = c, d
		}
	}
	return best
}

// distance counts the letters that must be put in, left out, replaced or swapped
// with the next to get from a to b (optimal string alignment).
func distance(a, b string) int {
	if len(a) > 40 {
		return len(a)
	}
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j], d[i][j-1], d[i-1][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
