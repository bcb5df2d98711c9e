package privacy

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// A form is an event as its name and arguments, of which text and JSON are two
// spellings.
type form struct {
	name      string
	arguments []argument
}

// An argument is a number, an int64, an Event or a list of one of these.
type argument struct {
	name  string // the key in JSON
	named bool   // the name stands in the text as well
	value any
}

func noise(name, spread string, x, sensitivity *big.Rat, text func(*big.Rat) string) form {
	return form{name, []argument{{spread, false, number(text(x))}, {"sensitivity", true, number(text(sensitivity))}}}
}

func point(name string, amounts ...argument) form { return form{name, amounts} }

func epsArgument(e Epsilon) argument { return argument{"eps", false, number(e.String())} }
func deltaArgument(d Delta) argument { return argument{"delta", false, number(d.String())} }

func sample(name string, m, n int64, e Event) form {
	return form{name, []argument{{"m", false, m}, {"n", false, n}, {"event", false, e}}}
}

func formOf(e Event) form {
	switch e := e.(type) {
	case Laplace:
		return noise("laplace", "b", e.Scale, e.Sensitivity, ratText)
	case DiscreteLaplace:
		return noise("discrete_laplace", "b", e.Scale, e.Sensitivity, ratText)
	case Gaussian:
		return noise("gaussian", "sigma", e.Variance, e.SensitivitySquared, rootText)
	case DiscreteGaussian:
		return noise("discrete_gaussian", "sigma", e.Variance, e.SensitivitySquared, rootText)
	case Skellam:
		return form{"skellam", []argument{{"mu", false, number(ratText(e.Variance))}, {"sensitivity", true, number(rootText(e.SensitivitySquared))}, {"l1", true, number(ratText(e.L1))}}}
	case Tree:
		f := noise("tree", "sigma", e.Sigma, e.Sensitivity, ratText)
		f.arguments = []argument{f.arguments[0], {"leaves", false, e.Leaves}, f.arguments[1]}
		return f
	case Pure:
		return point("pure", epsArgument(e.Epsilon))
	case Approx:
		return point("approx", epsArgument(e.Epsilon), deltaArgument(e.Delta))
	case Selection:
		return point("selection", epsArgument(e.Epsilon), deltaArgument(e.Delta))
	case Exponential:
		return point("exponential", epsArgument(e.Epsilon))
	case PermuteAndFlip:
		return point("permute_and_flip", epsArgument(e.Epsilon))
	case NoisyMax:
		return point("noisy_max", epsArgument(e.Epsilon))
	case SparseVector:
		return point("sparse_vector", epsArgument(e.Epsilon))
	case RandomizedResponse:
		return form{"randomized_response", []argument{{"p", false, number(ratText(e.P))}, {"k", true, int64(e.K)}}}
	case ZCDP:
		return point("zcdp", argument{"rho", false, number(e.Rho.String())})
	case GDP:
		return point("gdp", argument{"mu", false, number(ratText(e.Mu))})
	case RDP:
		return form{"rdp", []argument{{"orders", false, numbers(e.Orders)}, {"eps", false, numbers(e.Eps)}}}
	case Pair:
		return form{"pair", []argument{{"p", false, numbers(e.P)}, {"q", false, numbers(e.Q)}}}
	case Poisson:
		return form{"poisson", []argument{{"rate", false, number(ratText(e.Rate))}, {"event", false, e.Event}}}
	case TruncatedPoisson:
		return form{"truncated_poisson", []argument{{"rate", false, number(ratText(e.Rate))}, {"n", false, e.N}, {"at_most", false, e.AtMost}, {"event", false, e.Event}}}
	case WithoutReplacement:
		return sample("without_replacement", e.M, e.N, e.Event)
	case WithReplacement:
		return sample("with_replacement", e.M, e.N, e.Event)
	case Shuffled:
		return form{"shuffled", []argument{{"n", false, e.N}, {"event", false, e.Event}}}
	case RepeatAndSelect:
		return form{"repeat_and_select", []argument{{"mean", false, number(ratText(e.Mean))}, {"event", false, e.Event}, {"shape", true, number(ratText(e.Shape))}}}
	case Parallel:
		return form{"parallel", []argument{{"events", false, e.Events}}}
	case Sum:
		return form{"sum", []argument{{"", false, e.Events}}}
	case Under:
		return form{e.name(), []argument{{"event", false, e.Event}}}
	case Repeat:
		return form{"repeat", []argument{{"count", false, int64(e.Count)}, {"event", false, e.Event}}}
	}
	panic(fmt.Sprintf("privacy: event %T has no form", e))
}

// number is the text of a constant expression; JSON has it as a number if it is a
// decimal, otherwise as a string.
type number string

func (n number) MarshalJSON() ([]byte, error) {
	if _, err := numeric.ParseDecimal(string(n)); err == nil {
		return []byte(n), nil
	}
	return json.Marshal(string(n))
}

func numbers(rs []*big.Rat) []number {
	out := make([]number, len(rs))
	for i, r := range rs {
		out[i] = number(ratText(r))
	}
	return out
}

// text prints an event as a plan; of one that is too large, or endless, its type alone.
func text(e Event) string {
	left := maxParts
	if e != nil && errors.Is(finite(e, maxDepth, &left), errEndless) {
		return fmt.Sprintf("%T of too many parts", e)
	}
	return finiteText(e)
}

func finiteText(e Event) string {
	switch e := alone(e).(type) {
	case nil:
		return "?"
	case Sum:
		terms := make([]string, len(e.Events))
		for i, t := range e.Events {
			terms[i] = finiteText(t)
			if _, nested := alone(t).(Sum); nested {
				terms[i] = "(" + terms[i] + ")"
			}
		}
		return strings.Join(terms, " + ")
	case Repeat:
		inner := finiteText(e.Event)
		switch alone(e.Event).(type) {
		case Repeat, Sum:
			inner = "(" + inner + ")"
		}
		return fmt.Sprintf("%d*%s", e.Count, inner)
	case RDP:
		return "rdp(" + strings.Join(pairs(e.Orders, e.Eps), ", ") + ")"
	case Pair:
		return "pair(" + strings.Join(pairs(e.P, e.Q), ", ") + ")"
	}
	f := formOf(alone(e))
	var arguments []string
	for _, a := range f.arguments {
		name := ""
		if a.named {
			name = a.name + "="
		}
		switch v := a.value.(type) {
		case Event:
			arguments = append(arguments, finiteText(v))
		case []Event:
			for _, e := range v {
				arguments = append(arguments, finiteText(e))
			}
		default:
			arguments = append(arguments, fmt.Sprintf("%s%v", name, v))
		}
	}
	return f.name + "(" + strings.Join(arguments, ", ") + ")"
}

// pairs prints two lists as one of pairs; what either lacks is missing there.
func pairs(left, right []*big.Rat) []string {
	out := make([]string, max(len(left), len(right)))
	at := func(rs []*big.Rat, i int) string {
		if i < len(rs) {
			return ratText(rs[i])
		}
		return ratText(nil)
	}
	for i := range out {
		out[i] = at(left, i) + ": " + at(right, i)
	}
	return out
}

// alone returns the event that a sum of one is, of which a plan's text shows only
// that.
func alone(e Event) Event {
	for {
		s, ok := e.(Sum)
		if !ok || len(s.Events) != 1 {
			return e
		}
		e = s.Events[0]
	}
}

// encode writes a valid event as JSON, its arguments in the order of the text.
func encode(e Event) ([]byte, error) {
	if err := sound(e); err != nil {
		return nil, err
	}
	f := formOf(e)
	if list, ok := f.arguments[0].value.([]Event); ok {
		return json.Marshal(map[string][]Event{f.name: list})
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{"%s":{`, f.name)
	for i, a := range f.arguments {
		value, err := json.Marshal(a.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%s":%s`, a.name, value)
	}
	b.WriteString("}}")
	return []byte(b.String()), nil
}

func ratText(r *big.Rat) string {
	if r == nil {
		return "?"
	}
	return numeric.FormatRat(r)
}

// rootText prints the square root of r: a number where it is rational.
func rootText(r *big.Rat) string {
	if r == nil {
		return "?"
	}
	if root, ok := numeric.ExactSqrt(r); ok {
		return numeric.FormatRat(root)
	}
	return "sqrt(" + numeric.FormatRat(r) + ")"
}

func (e DiscreteLaplace) String() string    { return text(e) }
func (e Laplace) String() string            { return text(e) }
func (e DiscreteGaussian) String() string   { return text(e) }
func (e Gaussian) String() string           { return text(e) }
func (e Selection) String() string          { return text(e) }
func (e Pure) String() string               { return text(e) }
func (e Approx) String() string             { return text(e) }
func (e ZCDP) String() string               { return text(e) }
func (e Exponential) String() string        { return text(e) }
func (e PermuteAndFlip) String() string     { return text(e) }
func (e NoisyMax) String() string           { return text(e) }
func (e SparseVector) String() string       { return text(e) }
func (e RandomizedResponse) String() string { return text(e) }
func (e RDP) String() string                { return text(e) }
func (e GDP) String() string                { return text(e) }
func (e Tree) String() string               { return text(e) }
func (e Poisson) String() string            { return text(e) }
func (e TruncatedPoisson) String() string   { return text(e) }
func (e WithoutReplacement) String() string { return text(e) }
func (e WithReplacement) String() string    { return text(e) }
func (e Shuffled) String() string           { return text(e) }
func (e Repeat) String() string             { return text(e) }
func (e Sum) String() string                { return text(e) }
func (e Parallel) String() string           { return text(e) }

func (e DiscreteLaplace) MarshalJSON() ([]byte, error)    { return encode(e) }
func (e Laplace) MarshalJSON() ([]byte, error)            { return encode(e) }
func (e DiscreteGaussian) MarshalJSON() ([]byte, error)   { return encode(e) }
func (e Gaussian) MarshalJSON() ([]byte, error)           { return encode(e) }
func (e Selection) MarshalJSON() ([]byte, error)          { return encode(e) }
func (e Pure) MarshalJSON() ([]byte, error)               { return encode(e) }
func (e Approx) MarshalJSON() ([]byte, error)             { return encode(e) }
func (e ZCDP) MarshalJSON() ([]byte, error)               { return encode(e) }
func (e Exponential) MarshalJSON() ([]byte, error)        { return encode(e) }
func (e PermuteAndFlip) MarshalJSON() ([]byte, error)     { return encode(e) }
func (e NoisyMax) MarshalJSON() ([]byte, error)           { return encode(e) }
func (e SparseVector) MarshalJSON() ([]byte, error)       { return encode(e) }
func (e RandomizedResponse) MarshalJSON() ([]byte, error) { return encode(e) }
func (e RDP) MarshalJSON() ([]byte, error)                { return encode(e) }
func (e GDP) MarshalJSON() ([]byte, error)                { return encode(e) }
func (e Tree) MarshalJSON() ([]byte, error)               { return encode(e) }
func (e Poisson) MarshalJSON() ([]byte, error)            { return encode(e) }
func (e TruncatedPoisson) MarshalJSON() ([]byte, error)   { return encode(e) }
func (e WithoutReplacement) MarshalJSON() ([]byte, error) { return encode(e) }
func (e WithReplacement) MarshalJSON() ([]byte, error)    { return encode(e) }
func (e Shuffled) MarshalJSON() ([]byte, error)           { return encode(e) }
func (e Repeat) MarshalJSON() ([]byte, error)             { return encode(e) }
func (e Sum) MarshalJSON() ([]byte, error)                { return encode(e) }
func (e Parallel) MarshalJSON() ([]byte, error)           { return encode(e) }
