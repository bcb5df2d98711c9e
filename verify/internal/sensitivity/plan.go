package sensitivity

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// A Plan is what a function reveals, as events whose numbers are expressions over its
// parameters.
type Plan struct {
	items []item // with bounds for sources
	facts *facts
}

// sensitivity is that of an item.
func (it item) sensitivity() Expr { return it.sens[unit].most }

// String writes the plan as package privacy reads it, where the parameters are
// replaced by numbers.
func (p *Plan) String() string {
	if len(p.items) == 0 {
		return "nothing"
	}
	return text(p.items)
}

func text(items []item) string {
	var terms []string
	for _, it := range items {
		t := it.text()
		if !it.times.is(one()) {
			times := it.times.String()
			if len(it.times.terms) > 1 {
				times = "(" + times + ")"
			}
			t = times + " * " + t
		}
		terms = append(terms, t)
	}
	return strings.Join(terms, " + ")
}

func (it item) text() string {
	write := func(e Expr) string { return strings.ReplaceAll(e.String(), "log(", "ln(") }
	switch it.law {
	case laplace, discreteLaplace, gaussian, discreteGaussian:
		if it.law == discreteGaussian && it.vector {
			// Over the integers what moves by 1 in each of four numbers is told apart better than
			// what moves by 2 in one: all that is known of it is its zCDP.
			r, _ := it.scale.inverse()
			r = r.mul(it.sensitivity())
			return fmt.Sprintf("zcdp(%s)", write(r.mul(r).mul(rat(big.NewRat(1, 2)))))
		}
		return fmt.Sprintf("%s(%s, sensitivity=%s)", it.law, write(it.scale), write(it.sensitivity()))
	case exponentialLaw:
		return fmt.Sprintf("exponential(%s)", write(it.loss()))
	case pureCost, claimedCost:
		return fmt.Sprintf("pure(%s)", write(it.loss()))
	case approxCost:
		return fmt.Sprintf("approx(%s, %s)", write(it.epsilon), write(it.delta))
	case zcdpCost:
		return fmt.Sprintf("zcdp(%s)", write(it.rho.mul(it.sensitivity()).mul(it.sensitivity())))
	}
	var all []string
	for _, c := range it.choices {
		if len(c) > 0 {
			all = append(all, text(c))
		}
	}
	return "parallel(" + strings.Join(all, ", ") + ")"
}

// Event returns the plan with numbers for its parameters, which package accountant
// evaluates.
func (p *Plan) Event(parameters map[string]*big.Rat) (privacy.Event, error) {
	if len(p.items) == 0 {
		return nil, errors.New("the plan reveals nothing")
	}
	items, err := withNumbers(p.items, parameters)
	if err != nil {
		return nil, err
	}
	made, err := plan.Parse(text(items))
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", text(items), err)
	}
	return made.Event()
}

func withNumbers(items []item, parameters map[string]*big.Rat) ([]item, error) {
	at := func(e Expr) (Expr, error) {
		out, ok := e.rewrite(func(a *atom) (Expr, bool) {
			r, ok := parameters[a.name]
			if !ok {
				return Expr{}, false
			}
			return rat(r), true
		})
		if !ok {
			return Expr{}, fmt.Errorf("a division by zero in %s", e)
		}
		out.atoms(func(a *atom) {
			if a.op == parameter {
				ok = false
			}
		})
		if !ok {
			return Expr{}, fmt.Errorf("a parameter of %s has no value", e)
		}
		return out, nil
	}
	var out []item
	for _, it := range items {
		var err, errs error
		set := func(e *Expr) {
			*e, err = at(*e)
			errs = errors.Join(errs, err)
		}
		set(&it.times)
		set(&it.scale)
		set(&it.epsilon)
		set(&it.delta)
		set(&it.rho)
		if it.sens != nil {
			sens := it.sensitivity()
			set(&sens)
			it.sens = env{unit: {most: sens}}
		}
		choices := it.choices
		it.choices = nil
		for _, c := range choices {
			inner, err := withNumbers(c, parameters)
			errs = errors.Join(errs, err)
			it.choices = append(it.choices, inner)
		}
		if errs != nil {
			return nil, errs
		}
		if n, ok := it.times.number(); ok && n.Sign() == 0 {
			continue
		}
		out = append(out, it)
	}
	return out, nil
}

// loss is the ε of an item of pure privacy.
//
// Theorems. Noise of scale b on numbers at L1 distance Δ is Δ/b-DP (Dwork, McSherry,
// Nissim and Smith 2006). Choose, with P(i) proportional to exp(ε·s_i/2), is ε·Δ-DP
// where scores move by at most Δ each (McSherry and Talwar 2007). What is ε-DP for
// distance 1 is Δ·ε-DP for distance Δ, if all between is a database (group privacy).
func (it item) loss() Expr {
	if it.law == pureCost || it.law == claimedCost {
		return it.sensitivity().mul(it.epsilon)
	}
	inverse, _ := it.scale.inverse()
	return it.sensitivity().mul(inverse)
}

// hasScale reports whether the item is a draw of noise.
func (it item) hasScale() bool {
	switch it.law {
	case laplace, discreteLaplace, gaussian, discreteGaussian, exponentialLaw:
		return true
	}
	return false
}

func (it item) isPure() bool {
	switch it.law {
	case laplace, discreteLaplace, exponentialLaw, pureCost, claimedCost:
		return true
	}
	return false
}

// total adds up, and takes the most of choices.
func (p *Plan) total(items []item, of func(it item) (Expr, error)) (Expr, error) {
	sum := Expr{}
	for _, it := range items {
		var each Expr
		if it.law == choice {
			for _, c := range it.choices {
				x, err := p.total(c, of)
				if err != nil {
					return Expr{}, err
				}
				each = p.facts.max(each, x)
			}
		} else {
			var err error
			if each, err = of(it); err != nil {
				return Expr{}, err
			}
		}
		sum = sum.add(it.times.mul(each))
	}
	return sum, nil
}

// pure returns ε: costs add up (Dwork and Roth 2014, Theorem 3.16); releases on parts
// that share no record cost the most of them (McSherry 2009, Theorem 4).
func (p *Plan) pure() (Expr, error) {
	return p.total(p.items, func(it item) (Expr, error) {
		if !it.isPure() {
			return Expr{}, &Refusal{it.pos, it.text() + " is not ε-DP for any ε", "//dp:cost EPS, DELTA or //dp:cost zcdp(RHO), or Laplace noise"}
		}
		return it.loss(), nil
	})
}

// zcdp returns ρ.
//
// Theorems. Gaussian noise at L2 distance Δ is Δ²/2σ²-zCDP (Bun and Steinke 2016,
// Proposition 1.6; on integers Canonne, Kamath and Steinke 2020, Theorem 14); ε-DP is
// ε²/2-zCDP (Bun and Steinke 2016, Proposition 1.4); the exponential mechanism
// ε²/8-zCDP (Cesar and Rogers 2021, by its bounded range); ρ adds up (Lemma 1.7).
func (p *Plan) zcdp() (Expr, error) {
	return p.total(p.items, func(it item) (Expr, error) {
		switch it.law {
		case gaussian, discreteGaussian:
			inverse, _ := it.scale.inverse()
			r := it.sensitivity().mul(inverse)
			return r.mul(r).mul(rat(big.NewRat(1, 2))), nil
		case exponentialLaw:
			return it.loss().mul(it.loss()).mul(rat(big.NewRat(1, 8))), nil
		case zcdpCost:
			return it.rho.mul(it.sensitivity()).mul(it.sensitivity()), nil
		}
		if it.isPure() {
			return it.loss().mul(it.loss()).mul(rat(big.NewRat(1, 2))), nil
		}
		return Expr{}, fmt.Errorf("%s is not zCDP", it.text())
	})
}
