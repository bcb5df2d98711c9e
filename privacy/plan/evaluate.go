package plan

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// An evaluator makes the event that a tree describes.
type evaluator struct {
	x    *big.Rat // of the unknown; nil leaves events with an unknown as nil
	work int      // done so far, in operations on short numbers
}

// maxWork keeps what a text of maxText bytes may cost well below a second.
const maxWork = 1 << 20

// spend counts the work that led to n's value x, whose digits cost their square.
func (v *evaluator) spend(n *node, x constant, work int) error {
	r := x.rat
	if r == nil {
		r = x.square
	}
	if r != nil {
		bits := r.Num().BitLen() + r.Denom().BitLen()
		work += bits * bits >> 12
	}
	if v.work += work; v.work > maxWork {
		return n.span.fail("the numbers of the plan take too long to compute", "")
	}
	return nil
}

// number returns the value of a constant expression, in which the unknown stands
// for v.x.
func (v *evaluator) number(n *node) (constant, error) {
	switch n.op {
	case literal:
		return rational(n.value), v.spend(n, rational(n.value), 1)
	case unknown:
		return rational(v.x), nil
	}
	x, err := v.number(n.of[0])
	if err != nil {
		return constant{}, err
	}
	var y constant
	work := 1
	if len(n.of) == 2 {
		if y, err = v.number(n.of[1]); err != nil {
			return constant{}, err
		}
	}
	switch n.op {
	case negated:
		x = x.neg()
	case added:
		x = x.add(y)
	case less:
		x = x.add(y.neg())
	case times:
		x = x.mul(y)
	case over:
		x, err = x.quo(y)
	case function:
		x, err = x.apply(n.text)
		work = 500 // some hundred microseconds
	}
	if err == nil && !x.short() {
		err = errTooLong
	}
	if err != nil {
		return constant{}, n.span.fail(fmt.Sprintf("%v: %v", abridged(n.String()), err), "")
	}
	return x, v.spend(n, x, work)
}

// abridged returns at most some 40 letters of a text.
func abridged(s string) string { return token{kind: letters, text: s}.String() }

// event returns the event that n describes, or nil if there is an unknown in it
// that has no value.
func (v *evaluator) event(n *node) (e privacy.Event, err error) {
	switch n.op {
	case summed:
		var events []privacy.Event
		if events, err = v.events(n.of); err != nil {
			return nil, err
		}
		e = privacy.Sum{Events: events}
	case repeated:
		var count any
		if count, err = v.argument(n, parameter{"the count", wholeUp, ""}, n.of[0]); err != nil {
			return nil, err
		}
		inner, err := v.event(n.of[1])
		if err != nil || inner == nil || count == nil {
			return nil, err
		}
		e = privacy.Repeat{Count: int(count.(int64)), Event: inner}
	default:
		if e, err = v.call(n); err != nil {
			return nil, err
		}
	}
	if n.unknown && v.x == nil || e == nil {
		return nil, nil
	}
	if err := e.Validate(); err != nil {
		return nil, n.span.fail(err.Error(), "")
	}
	return e, nil
}

func (v *evaluator) events(nodes []*node) ([]privacy.Event, error) {
	var out []privacy.Event
	for _, n := range nodes {
		e, err := v.event(n)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func (v *evaluator) call(n *node) (privacy.Event, error) {
	s, _ := signatureOf(n.text)
	a := make(arguments, len(s.parameters))
	known := true
	for i, p := range s.parameters {
		var err error
		switch p.kind {
		case manyEvents:
			a[i], err = v.events(n.of)
		case points:
			a[i], err = v.curve(n)
		case masses:
			a[i], err = v.pair(n)
		default:
			a[i], err = v.argument(n, p, n.of[i])
		}
		if err != nil {
			return nil, err
		}
		known = known && a[i] != nil
	}
	if !known || n.unknown && v.x == nil {
		return nil, nil
	}
	return s.build(a), nil
}

// curve reads the points of an rdp.
func (v *evaluator) curve(n *node) (privacy.RDP, error) {
	var curve privacy.RDP
	for i, part := range n.of {
		p := parameter{"an order", down, ""}
		if i%2 == 1 {
			p = parameter{"eps", up, ""}
		}
		a, err := v.argument(n, p, part)
		if err != nil {
			return privacy.RDP{}, err
		}
		r, _ := a.(*big.Rat)
		if i%2 == 1 {
			curve.Eps = append(curve.Eps, r)
		} else {
			curve.Orders = append(curve.Orders, r)
		}
	}
	return curve, nil
}

// pair reads the outcomes of a pair. Their probabilities are exact.
func (v *evaluator) pair(n *node) (any, error) {
	if n.unknown && v.x == nil {
		return nil, nil
	}
	var e privacy.Pair
	for i, part := range n.of {
		x, err := v.number(part)
		if err != nil {
			return nil, err
		}
		one := big.NewRat(1, 1)
		switch {
		case x.rat == nil:
			return nil, part.span.fail(fmt.Sprintf("the probability %v is not rational", abridged(part.String())), "write it as a decimal, or as a fraction")
		case x.rat.Sign() < 0 || x.rat.Cmp(one) > 0:
			return nil, part.span.fail(fmt.Sprintf("the probability %v does not lie between 0 and 1", abridged(part.String())), "")
		case i%2 == 0:
			e.P = append(e.P, copied(x.rat))
		default:
			e.Q = append(e.Q, copied(x.rat))
		}
	}
	return e, nil
}

// argument returns what the node a says for the parameter p of the event n, or
// nil if that is an unknown without a value.
func (v *evaluator) argument(n *node, p parameter, a *node) (any, error) {
	if p.kind == oneEvent {
		e, err := v.event(a)
		if e == nil {
			return nil, err
		}
		return e, err
	}
	if a == nil {
		var err error
		if a, err = newLiteral(p.fallback, n.span); err != nil {
			return nil, err
		}
	}
	if a.unknown && v.x == nil {
		return nil, nil
	}
	x, err := v.number(a)
	if err != nil {
		return nil, err
	}
	fail := func(why, hint string) (any, error) {
		name, text := p.name, abridged(a.String())
		if n.op == call {
			name += " of " + n.text
		}
		if a.unknown {
			text += " with ? = " + abridged(numeric.FormatRat(v.x))
		}
		return nil, a.span.fail(fmt.Sprintf("%s is %s, which %s", name, text, why), hint)
	}
	one := big.NewRat(1, 1)
	switch {
	case p.kind.whole():
		switch {
		case x.rat == nil || !x.rat.IsInt():
			return fail("is not a whole number", "ceil("+abridged(a.String())+") is the next one")
		case x.rat.Sign() <= 0:
			return fail("is not positive", "")
		case x.rat.Cmp(new(big.Rat).SetInt64(privacy.MaxCount)) > 0:
			return fail("exceeds 1e12", "")
		}
		return x.rat.Num().Int64(), nil
	case p.kind == epsilonKind:
		return amountOf(x, privacy.NewEpsilon, fail)
	case p.kind == deltaKind:
		return amountOf(x, privacy.NewDelta, fail)
	case p.kind == rhoKind:
		return amountOf(x, privacy.NewRho, fail)
	case x.sign() <= 0:
		return fail("is not positive", "")
	case p.kind == rate && x.up().Cmp(one) > 0:
		return fail("exceeds 1", "")
	case p.kind == probability:
		if x.up().Cmp(one) >= 0 {
			return fail("is not below 1", "")
		}
		return [2]*big.Rat{copied(x.down()), copied(x.up())}, nil
	}
	r := copied(p.kind.round(x))
	if r.Sign() <= 0 || !isShort(r) {
		return fail("is too large or too small", "")
	}
	return r, nil
}

// copied keeps the tree's numbers apart from those of events.
func copied(r *big.Rat) *big.Rat { return new(big.Rat).Set(r) }

// round returns x as the rational that an event keeps.
func (k kindOf) round(x constant) *big.Rat {
	switch k {
	case down:
		return x.down()
	case upSquare:
		return x.upSquare()
	case downSquare:
		return x.downSquare()
	}
	return x.up()
}

func amountOf[A any](x constant, newAmount func(*big.Rat) (A, error), fail func(why, hint string) (any, error)) (any, error) {
	a, err := newAmount(x.up())
	if err != nil {
		return fail("is refused: "+err.Error(), "")
	}
	return a, nil
}
