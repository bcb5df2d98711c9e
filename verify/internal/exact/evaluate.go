package exact

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A value is that of a scalar (a Bool is 0 or 1), or the elements of a slice.
type value struct {
	scalar   *form
	elements []*form // immutable
	// open is set on a number of which nothing is known, as a quotient of noise, and says
	// why: a path may show it, and not look at it.
	open error
}

// undecided is the error of an expression that hangs on a comparison of draws
// which the path so far leaves open. The path forks there, and evaluates again.
type undecided struct {
	terms  []formTerm
	at     rational
	strict bool
}

func (*undecided) Error() string { return "undecided" }

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUnsupported}, args...)...)
}

func (x *explorer) scalar(s *state, e program.Expression) (*form, error) {
	switch e := e.(type) {
	case program.Number:
		return constant(rationalOf(e.Value)), nil
	case program.Truth:
		return truth(bool(e)), nil
	case program.Ref:
		v := x.load(s, e.Var)
		if v.open != nil {
			return nil, v.open
		}
		if v.scalar != nil {
			return v.scalar, nil
		}
		return truth(false), nil
	case program.Length:
		return constant(integer(int64(len(x.load(s, e.Slice).elements)))), nil
	case program.Element:
		elements := x.load(s, e.Slice).elements
		i, err := x.position(s, e.Index, len(elements))
		if err != nil {
			return nil, err
		}
		return elements[i], nil
	case program.Unary:
		f, err := x.scalar(s, e.X)
		if err != nil {
			return nil, err
		}
		if e.Op == program.Not {
			b, err := x.isTrue(f)
			return truth(!b), err
		}
		return f.times(integer(-1)), nil
	case program.Binary:
		return x.binary(s, e)
	case program.Call:
		return x.call(s, e)
	case program.If3:
		b, err := x.truth(s, e.Cond)
		if err != nil {
			return nil, err
		}
		if b {
			return x.scalar(s, e.Then)
		}
		return x.scalar(s, e.Else)
	}
	return nil, unsupported("expression %v", e)
}

// position evaluates an index of a slice.
func (x *explorer) position(s *state, e program.Expression, length int) (int, error) {
	f, err := x.scalar(s, e)
	if err != nil {
		return 0, err
	}
	if !f.known() || !f.c.isInt() {
		return 0, unsupported("index %v depends on noise", e)
	}
	i, ok := f.c.int64()
	if !ok || i < 0 || i >= int64(length) {
		return 0, fmt.Errorf("%w: index %v is %v of %d", ErrInput, e, f.c.rat().RatString(), length)
	}
	return int(i), nil
}

func (x *explorer) truth(s *state, e program.Expression) (bool, error) {
	f, err := x.scalar(s, e)
	if err != nil {
		return false, err
	}
	return x.isTrue(f)
}

func (x *explorer) isTrue(f *form) (bool, error) {
	if !f.known() {
		return false, unsupported("a truth that is a number")
	}
	return f.c.sign() != 0, nil
}

func (x *explorer) binary(s *state, e program.Binary) (*form, error) {
	f, err := x.scalar(s, e.X)
	if err != nil {
		return nil, err
	}
	if e.Op == program.And || e.Op == program.Or {
		b, err := x.isTrue(f)
		if err != nil || b == (e.Op == program.Or) {
			return truth(b), err
		}
		return x.scalar(s, e.Y)
	}
	g, err := x.scalar(s, e.Y)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case program.Add, program.Sub:
		by := integer(1)
		if e.Op == program.Sub {
			by = integer(-1)
		}
		if h, ok := f.plus(g, by); ok {
			return h, nil
		}
		return nil, unsupported("%v: noise beside an irrational number", e)
	case program.Mul:
		return product(f, g, e)
	case program.Quo, program.Rem:
		if e.Op == program.Quo && f.near != nil && plain(e.X).String() == plain(e.Y).String() {
			if sign, ok := g.sign(); ok && sign != 0 {
				return constant(integer(1)), nil // what is irrational over itself
			}
		}
		return quotient(f, g, e)
	}
	d, ok := f.plus(g, integer(-1))
	if !ok {
		return nil, unsupported("%v: noise beside an irrational number", e)
	}
	switch e.Op {
	case program.Eq, program.Ne:
		b, err := x.isZero(s, d)
		return truth(b == (e.Op == program.Eq)), err
	case program.Ge, program.Lt:
		b, err := x.atLeast(s, d, false)
		return truth(b == (e.Op == program.Ge)), err
	case program.Gt, program.Le:
		b, err := x.atLeast(s, d, true)
		return truth(b == (e.Op == program.Gt)), err
	case program.Min, program.Max:
		b, err := x.atLeast(s, d, false)
		if b == (e.Op == program.Max) {
			return f, err
		}
		return g, err
	}
	return nil, unsupported("operator %v", e.Op)
}

// plain is a sum without the zeros in it.
func plain(e program.Expression) program.Expression {
	b, ok := e.(program.Binary)
	if !ok || b.Op != program.Add {
		return e
	}
	for _, pair := range [][2]program.Expression{{b.X, b.Y}, {b.Y, b.X}} {
		if n, ok := pair[0].(program.Number); ok && n.Value.Sign() == 0 {
			return plain(pair[1])
		}
	}
	return e
}

func product(f, g *form, e program.Expression) (*form, error) {
	if !f.known() {
		f, g = g, f
	}
	switch {
	case f.known():
		return g.times(f.c), nil
	case f.concrete() && g.concrete():
		near := f.enclosure().Mul(g.enclosure())
		return &form{near: &near}, nil
	}
	return nil, unsupported("%v multiplies noise", e)
}

func quotient(f, g *form, e program.Binary) (*form, error) {
	if !g.concrete() {
		return nil, unsupported("%v divides by noise", e)
	}
	sign, ok := g.sign()
	switch {
	case !ok:
		return nil, unsupported("%v divides by what may be zero", e)
	case sign == 0:
		return nil, fmt.Errorf("%w: %v divides by zero", ErrInput, e)
	}
	if program.SortOf(e) == program.Int {
		a, ok1 := f.c.int64()
		b, ok2 := g.c.int64()
		if !f.known() || !g.known() || !ok1 || !ok2 {
			return nil, unsupported("%v divides an integer that is noise", e)
		}
		if e.Op == program.Rem {
			return constant(integer(a % b)), nil
		}
		return constant(integer(a / b)), nil
	}
	if e.Op == program.Rem {
		return nil, unsupported("%v", e)
	}
	if g.known() {
		return f.times(g.c.inverse()), nil
	}
	if !f.concrete() {
		return nil, unsupported("%v: noise beside an irrational number", e)
	}
	a, b := f.enclosure(), *g.near
	if sign < 0 {
		a, b = a.Neg(), b.Neg()
	}
	near := a.Quo(b)
	return &form{near: &near}, nil
}

func (x *explorer) call(s *state, e program.Call) (*form, error) {
	args := make([]*form, len(e.Args))
	for i, a := range e.Args {
		f, err := x.scalar(s, a)
		if err != nil {
			return nil, err
		}
		args[i] = f
	}
	want := 1
	if e.Func == "pow" || e.Func == "grid" {
		want = 2
	}
	if len(args) != want {
		return nil, unsupported("%v", e)
	}
	f := args[0]
	switch e.Func {
	case "real":
		return f, nil
	case "abs":
		b, err := x.atLeast(s, f, false)
		if b {
			return f, err
		}
		return f.times(integer(-1)), err
	case "grid":
		return grid(f, args[1], e)
	}
	if !f.concrete() {
		return nil, unsupported("%v of noise", e)
	}
	if len(args) > 1 || !f.known() || f.c.big != nil {
		return mathematics(e, f, args[1:])
	}
	key := functionOf{e.Func, f.c}
	if g, ok := x.code.functions.Load(key); ok {
		return g.(*form), nil
	}
	g, err := mathematics(e, f, nil)
	if err == nil {
		x.code.functions.Store(key, g)
	}
	return g, err
}

// A functionOf is a mathematical function of one fraction.
type functionOf struct {
	name string
	of   rational
}

// mathematics is a function of concrete numbers.
func mathematics(e program.Call, f *form, rest []*form) (*form, error) {
	in := f.enclosure()
	sign, signed := f.sign()
	var near numeric.Interval
	switch e.Func {
	case "exp":
		if f.known() && sign == 0 {
			return constant(integer(1)), nil
		}
		if new(big.Rat).Abs(in.Hi()).Cmp(big.NewRat(1<<16, 1)) > 0 {
			return nil, unsupported("%v, which is that large", e)
		}
		near = in.Exp()
	case "log":
		if !signed {
			return nil, unsupported("%v of what may be zero", e)
		}
		if sign <= 0 {
			return nil, fmt.Errorf("%w: %v", ErrInput, e)
		}
		if f.known() && f.c.cmp(integer(1)) == 0 {
			return constant(rational{}), nil
		}
		near = in.Log()
	case "sqrt":
		if !signed {
			return nil, unsupported("%v of what may be below zero", e)
		}
		if sign < 0 {
			return nil, fmt.Errorf("%w: %v", ErrInput, e)
		}
		if f.known() {
			if root, ok := numeric.ExactSqrt(f.c.rat()); ok {
				return constant(rationalOf(root)), nil
			}
		}
		near = in.Sqrt()
	case "pow":
		return power(e, f, rest[0])
	case "floor", "ceil", "round", "int":
		if !f.known() {
			return nil, unsupported("%v of an irrational number", e)
		}
		return constant(rationalOf(new(big.Rat).SetInt(whole(e.Func, f.c.rat())))), nil
	default:
		return nil, unsupported("function %s", e.Func)
	}
	return &form{near: &near}, nil
}

// whole rounds as Go's math.Floor, Ceil, Round and the conversion to int do.
func whole(how string, r *big.Rat) *big.Int {
	switch how {
	case "floor":
		return numeric.Floor(r)
	case "ceil":
		return numeric.Ceil(r)
	case "int":
		return new(big.Int).Quo(r.Num(), r.Denom())
	}
	half := new(big.Rat).Add(new(big.Rat).Abs(r), big.NewRat(1, 2))
	n := numeric.Floor(half)
	if r.Sign() < 0 {
		n.Neg(n)
	}
	return n
}

func power(e program.Call, base, exponent *form) (*form, error) {
	n, ok := exponent.c.int64()
	if !ok || !exponent.known() {
		return nil, unsupported("%v: an exponent that is not whole", e)
	}
	if n < -64 || n > 64 || !base.known() {
		return nil, unsupported("%v", e)
	}
	if base.c.sign() == 0 && n < 0 {
		return nil, fmt.Errorf("%w: %v", ErrInput, e)
	}
	r := big.NewRat(1, 1)
	for range abs(n) {
		r.Mul(r, base.c.rat())
	}
	if n < 0 {
		r.Inv(r)
	}
	return constant(rationalOf(r)), nil
}

// grid is Source.Round: the multiple of 2^(⌊log2 scale⌋−40) nearest to a constant, halves
// up.
func grid(f, scale *form, e program.Expression) (*form, error) {
	if !f.known() || !scale.known() || scale.c.sign() <= 0 {
		return nil, unsupported("%v", e)
	}
	step := big.NewRat(1, 1)
	two := big.NewRat(2, 1)
	for step.Cmp(scale.c.rat()) > 0 {
		step.Quo(step, two)
	}
	for next := new(big.Rat); next.Mul(step, two).Cmp(scale.c.rat()) <= 0; {
		step.Set(next)
	}
	step.Quo(step, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 40)))
	half := new(big.Rat).Add(new(big.Rat).Quo(f.c.rat(), step), big.NewRat(1, 2))
	steps, most := numeric.Floor(half), new(big.Int).Lsh(big.NewInt(1), 51)
	if steps.CmpAbs(most) > 0 {
		steps.Mul(most, big.NewInt(int64(steps.Sign())))
	}
	n := new(big.Rat).SetInt(steps)
	return constant(rationalOf(n.Mul(n, step))), nil
}
