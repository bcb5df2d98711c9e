package privacy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// Arguments of events in JSON, named as in the text form. A number that is not a
// decimal stands as a string, "1/3" or "sqrt(2)".
type (
	noiseJSON struct {
		B           number `json:"b,omitempty"`
		Sigma       number `json:"sigma,omitempty"`
		Sensitivity number `json:"sensitivity"`
	}
	pointJSON struct {
		Eps   number `json:"eps,omitempty"`
		Delta number `json:"delta,omitempty"`
		Rho   number `json:"rho,omitempty"`
	}
	repeatJSON struct {
		Count int             `json:"count"`
		Event json.RawMessage `json:"event"`
	}
)

// number is the text of a constant expression; JSON has it as a number if it is a
// decimal.
type number string

func (n number) MarshalJSON() ([]byte, error) {
	if _, err := numeric.ParseDecimal(string(n)); err == nil {
		return []byte(n), nil
	}
	return json.Marshal(string(n))
}

func (n *number) UnmarshalJSON(data []byte) error {
	*n = number(bytes.Trim(data, `"`))
	return nil
}

// UnmarshalEvent reads one event from its JSON form, and validates it. A noise's
// sensitivity is 1 where it is not given. Unknown names and arguments are errors.
func UnmarshalEvent(data []byte) (Event, error) { return unmarshalEvent(data, 0) }

func unmarshalEvent(data []byte, depth int) (Event, error) {
	if depth > 16 {
		return nil, fmt.Errorf("unmarshal event: nested too deeply")
	}
	var named map[string]json.RawMessage
	if err := json.Unmarshal(data, &named); err != nil {
		return nil, fmt.Errorf("unmarshal event: %w", err)
	}
	if len(named) != 1 {
		return nil, fmt.Errorf("unmarshal event: want an object with one key, the event's name; got %d keys", len(named))
	}
	for name, arguments := range named {
		e, err := newEvent(name, arguments, depth)
		if err == nil {
			err = e.Validate()
		}
		if err != nil {
			return nil, fmt.Errorf("unmarshal event %s: %w", name, err)
		}
		return e, nil
	}
	panic("unreachable")
}

func newEvent(name string, arguments []byte, depth int) (Event, error) {
	switch name {
	case "discrete_laplace", "laplace", "discrete_gaussian", "gaussian":
		var a noiseJSON
		if err := strictUnmarshal(arguments, &a); err != nil {
			return nil, err
		}
		if a.Sensitivity == "" {
			a.Sensitivity = "1"
		}
		spread, parse := a.B, parseNumber
		if isGaussian := strings.HasSuffix(name, "gaussian"); isGaussian {
			spread, parse = a.Sigma, parseSquare
		}
		if a.B+a.Sigma != spread {
			return nil, fmt.Errorf("want b for laplace, sigma for gaussian")
		}
		x, err := parse(spread)
		if err != nil {
			return nil, err
		}
		s, err := parse(a.Sensitivity)
		if err != nil {
			return nil, err
		}
		switch name {
		case "discrete_laplace":
			return DiscreteLaplace{x, s}, nil
		case "laplace":
			return Laplace{x, s}, nil
		case "discrete_gaussian":
			return DiscreteGaussian{x, s}, nil
		default:
			return Gaussian{x, s}, nil
		}
	case "selection", "approx", "pure", "zcdp":
		var a pointJSON
		if err := strictUnmarshal(arguments, &a); err != nil {
			return nil, err
		}
		return newPoint(name, a)
	case "repeat":
		var a repeatJSON
		if err := strictUnmarshal(arguments, &a); err != nil {
			return nil, err
		}
		inner, err := unmarshalEvent(a.Event, depth+1)
		return Repeat{Count: a.Count, Event: inner}, err
	}
	return nil, fmt.Errorf("unknown event")
}

func newPoint(name string, a pointJSON) (e Event, err error) {
	has := func(eps, delta, rho bool) bool {
		return eps == (a.Eps != "") && delta == (a.Delta != "") && rho == (a.Rho != "")
	}
	var eps Epsilon
	var delta Delta
	var rho Rho
	read := func(n number, into interface{ UnmarshalText([]byte) error }) {
		if err == nil && n != "" {
			err = into.UnmarshalText([]byte(n))
		}
	}
	read(a.Eps, &eps)
	read(a.Delta, &delta)
	read(a.Rho, &rho)
	switch {
	case err != nil:
		return nil, err
	case name == "selection" && has(true, true, false):
		return Selection{eps, delta}, nil
	case name == "approx" && has(true, true, false):
		return Approx{eps, delta}, nil
	case name == "pure" && has(true, false, false):
		return Pure{eps}, nil
	case name == "zcdp" && has(false, false, true):
		return ZCDP{rho}, nil
	}
	return nil, fmt.Errorf("wrong arguments")
}

func parseNumber(n number) (*big.Rat, error) { return numeric.ParseRat(string(n)) }

// parseSquare returns the square of a number or of sqrt(number).
func parseSquare(n number) (*big.Rat, error) {
	if inner, ok := strings.CutPrefix(string(n), "sqrt("); ok {
		inner, ok = strings.CutSuffix(inner, ")")
		if !ok {
			return nil, fmt.Errorf("parse %q: %w", n, numeric.ErrSyntax)
		}
		return numeric.ParseRat(inner)
	}
	r, err := numeric.ParseRat(string(n))
	if err != nil {
		return nil, err
	}
	if r.Sign() < 0 { // its square would hide it
		return r, nil
	}
	return r.Mul(r, r), nil
}

func strictUnmarshal(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
