package privacy

import (
	"math/big"
	"strings"
)

// A signature says how an event is called, in text and in JSON, and makes it of
// its arguments. Writing has its own description in formOf, because an event may
// have been made by Go code.
type signature struct {
	name       string
	parameters []parameter
	build      func(arguments) Event
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

func (a arguments) rat(i int) *big.Rat { return a[i].(*big.Rat) }
func (a arguments) int(i int) int64    { return a[i].(int64) }
func (a arguments) eps(i int) Epsilon  { return a[i].(Epsilon) }
func (a arguments) delta(i int) Delta  { return a[i].(Delta) }
func (a arguments) event(i int) Event  { return a[i].(Event) }

var (
	eventParameter = parameter{"event", oneEvent, ""}
	epsParameter   = parameter{"eps", epsilonKind, ""}
	deltaParameter = parameter{"delta", deltaKind, ""}
)

// signatures are all events with a name; a sum and a repetition are spelled + and *.
var signatures = []signature{
	{"laplace", []parameter{{"b", down, ""}, {"sensitivity", up, "1"}},
		func(a arguments) Event { return Laplace{a.rat(0), a.rat(1)} }},
	{"discrete_laplace", []parameter{{"b", down, ""}, {"sensitivity", up, "1"}},
		func(a arguments) Event { return DiscreteLaplace{a.rat(0), a.rat(1)} }},
	{"gaussian", []parameter{{"sigma", downSquare, ""}, {"sensitivity", upSquare, "1"}},
		func(a arguments) Event { return Gaussian{a.rat(0), a.rat(1)} }},
	{"discrete_gaussian", []parameter{{"sigma", downSquare, ""}, {"sensitivity", upSquare, "1"}},
		func(a arguments) Event { return DiscreteGaussian{a.rat(0), a.rat(1)} }},
	{"skellam", []parameter{{"mu", down, ""}, {"sensitivity", upSquare, "1"}, {"l1", up, "1"}},
		func(a arguments) Event { return Skellam{a.rat(0), a.rat(1), a.rat(2)} }},
	{"tree", []parameter{{"sigma", down, ""}, {"leaves", wholeUp, ""}, {"sensitivity", up, "1"}},
		func(a arguments) Event { return Tree{Sigma: a.rat(0), Leaves: a.int(1), Sensitivity: a.rat(2)} }},
	{"pure", []parameter{epsParameter},
		func(a arguments) Event { return Pure{a.eps(0)} }},
	{"approx", []parameter{epsParameter, deltaParameter},
		func(a arguments) Event { return Approx{a.eps(0), a.delta(1)} }},
	{"selection", []parameter{epsParameter, deltaParameter},
		func(a arguments) Event { return Selection{a.eps(0), a.delta(1)} }},
	{"exponential", []parameter{epsParameter},
		func(a arguments) Event { return Exponential{a.eps(0)} }},
	{"permute_and_flip", []parameter{epsParameter},
		func(a arguments) Event { return PermuteAndFlip{a.eps(0)} }},
	{"noisy_max", []parameter{epsParameter},
		func(a arguments) Event { return NoisyMax{a.eps(0)} }},
	{"sparse_vector", []parameter{epsParameter},
		func(a arguments) Event { return SparseVector{a.eps(0)} }},
	{"randomized_response", []parameter{{"p", probability, ""}, {"k", wholeUp, "2"}},
		func(a arguments) Event {
			return RandomizedResponse{farther(a[0].([2]*big.Rat), a.int(1)), int(a.int(1))}
		}},
	{"zcdp", []parameter{{"rho", rhoKind, ""}},
		func(a arguments) Event { return ZCDP{a[0].(Rho)} }},
	{"gdp", []parameter{{"mu", up, ""}},
		func(a arguments) Event { return GDP{a.rat(0)} }},
	{"rdp", []parameter{{"order: eps", points, ""}},
		func(a arguments) Event { return a[0].(RDP) }},
	{"pair", []parameter{{"p: q", masses, ""}},
		func(a arguments) Event { return a[0].(Pair) }},
	{"poisson", []parameter{{"rate", rate, ""}, eventParameter},
		func(a arguments) Event { return Poisson{a.rat(0), a.event(1)} }},
	{"truncated_poisson", []parameter{{"rate", rate, ""}, {"n", wholeUp, ""}, {"at_most", wholeDown, ""}, eventParameter},
		func(a arguments) Event { return TruncatedPoisson{a.rat(0), a.int(1), a.int(2), a.event(3)} }},
	{"without_replacement", []parameter{{"m", wholeUp, ""}, {"n", wholeDown, ""}, eventParameter},
		func(a arguments) Event { return WithoutReplacement{a.int(0), a.int(1), a.event(2)} }},
	{"with_replacement", []parameter{{"m", wholeUp, ""}, {"n", wholeDown, ""}, eventParameter},
		func(a arguments) Event { return WithReplacement{a.int(0), a.int(1), a.event(2)} }},
	{"shuffled", []parameter{{"n", wholeDown, ""}, eventParameter},
		func(a arguments) Event { return Shuffled{a.int(0), a.event(1)} }},
	{"repeat_and_select", []parameter{{"mean", up, ""}, eventParameter, {"shape", up, "1"}},
		func(a arguments) Event { return RepeatAndSelect{Mean: a.rat(0), Event: a.event(1), Shape: a.rat(2)} }},
	{"add_remove", []parameter{eventParameter},
		func(a arguments) Event { return Under{AddRemove, a.event(0)} }},
	{"replace_one", []parameter{eventParameter},
		func(a arguments) Event { return Under{ReplaceOne, a.event(0)} }},
	{"replace_special", []parameter{eventParameter},
		func(a arguments) Event { return Under{ReplaceSpecial, a.event(0)} }},
	{"parallel", []parameter{{"event", manyEvents, ""}},
		func(a arguments) Event { return Parallel{a[0].([]Event)} }},
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
