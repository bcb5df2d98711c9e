package linear

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// An op is a formula's outermost symbol; the zero op is of no formula.
type op uint8

const (
	opNone op = iota
	opTrue
	opFalse
	opVar // a variable of sort Bool
	opLe  // term <= 0
	opLt  // term < 0
	opEq  // term = 0
	opNot // of a variable, an equality, And, Or or Iff
	opAnd
	opOr
	opIff
)

// A Formula is built by this package's functions. The zero Formula is none and
// carries an error: a forgotten one proves nothing.
type Formula struct {
	op  op
	n   *node // nil for constants
	err error
}

type node struct {
	v     Var       // of opVar
	term  Term      // of atoms: coprime integer coefficients; over integers tight, see atom
	args  []Formula // of opNot, opAnd, opOr, opIff
	hash  uint64
	parts int // see size
}

// True holds.
func True() Formula { return Formula{op: opTrue} }

// False does not.
func False() Formula { return Formula{op: opFalse} }

// Truth is b as a formula.
func Truth(b bool) Formula {
	if b {
		return True()
	}
	return False()
}

// Formula is the variable's truth; its sort must be Bool.
func (v Var) Formula() Formula {
	if v.Sort != Bool {
		return Formula{err: fmt.Errorf("build formula: %s of sort %v is no truth value", v.Name, v.Sort)}
	}
	return Formula{op: opVar, n: &node{v: v, hash: v.hash(hashFormula), parts: 1}}
}

// Err says why the formula is none.
func (f Formula) Err() error {
	if f.op == opNone && f.err == nil {
		return errors.New("build formula: a formula was left out")
	}
	return f.err
}

// Le is t <= u.
func Le(t, u Term) Formula { return atom(opLe, t.Sub(u)) }

// Lt is t < u.
func Lt(t, u Term) Formula { return atom(opLt, t.Sub(u)) }

// Ge is t >= u.
func Ge(t, u Term) Formula { return Le(u, t) }

// Gt is t > u.
func Gt(t, u Term) Formula { return Lt(u, t) }

// Eq is t = u.
func Eq(t, u Term) Formula { return atom(opEq, t.Sub(u)) }

// Ne is t != u.
func Ne(t, u Term) Formula { return Not(Eq(t, u)) }

// atom is "t op 0" in normal form: the coefficients are scaled to coprime integers
// and, in an equality, the first is positive. If the variables are integers then
// so is Σ cᵢ·xᵢ, and the constant is tightened to an integer as well: s < b is
// s <= ⌈b⌉-1, s <= b is s <= ⌊b⌋, and s = b fails unless b is an integer.
func atom(o op, t Term) Formula {
	if t.err != nil {
		return Formula{err: t.err}
	}
	if len(t.monomials) == 0 {
		return Truth(o.holds(t.constant.sign()))
	}
	t = t.scale(content(t.monomials).inv())
	if !slices.ContainsFunc(t.monomials, func(m monomial) bool { return !m.base.isInt() }) {
		switch {
		case o == opLt: // s < -c
			o, t.constant = opLe, t.constant.neg().ceil().sub(whole(1)).neg()
		case o == opLe: // s <= -c
			t.constant = t.constant.ceil()
		case !t.constant.isInt():
			return False()
		}
	}
	if o == opEq && t.monomials[0].coef.sign() < 0 {
		t = t.Neg()
	}
	return Formula{op: o, n: &node{term: t, hash: mix(mix(hashFormula, uint64(o)), t.hash()), parts: t.size()}}
}

// holds reports whether "t op 0" does for a t of the sign.
func (o op) holds(sign int) bool {
	switch o {
	case opLe:
		return sign <= 0
	case opLt:
		return sign < 0
	}
	return sign == 0
}

// Not is the negation.
func Not(f Formula) Formula {
	switch f.op {
	case opTrue:
		return False()
	case opFalse:
		return True()
	case opLe: // t > 0
		return atom(opLt, f.n.term.Neg())
	case opLt:
		return atom(opLe, f.n.term.Neg())
	case opNot:
		return f.n.args[0]
	case opNone:
		return f
	}
	return compound(opNot, []Formula{f})
}

// And is the conjunction; of none, True.
func And(fs ...Formula) Formula { return junction(opAnd, opTrue, opFalse, fs) }

// Or is the disjunction; of none, False.
func Or(fs ...Formula) Formula { return junction(opOr, opFalse, opTrue, fs) }

// junction flattens, drops the neutral and repeated, and stops at the absorbing,
// which two complementary arguments amount to.
func junction(o, neutral, absorbing op, fs []Formula) Formula {
	var args []Formula
	seen := map[uint64][]Formula{}
	absorbed := false
	var add func(f Formula) error
	add = func(f Formula) error {
		switch f.op {
		case opNone:
			return f.Err()
		case neutral:
			return nil
		case absorbing:
			absorbed = true
			return nil
		case o:
			for _, g := range f.n.args {
				if err := add(g); err != nil {
					return err
				}
			}
			return nil
		}
		h := f.n.hash
		for _, g := range seen[h] {
			if compareFormulas(f, g) == 0 {
				return nil
			}
		}
		seen[h] = append(seen[h], f)
		args = append(args, f)
		return nil
	}
	for _, f := range fs {
		if err := add(f); err != nil {
			return Formula{err: err}
		}
	}
	for _, f := range args {
		if f.op == opNot || f.op == opLe || f.op == opLt {
			g := Not(f)
			absorbed = absorbed || slices.ContainsFunc(seen[g.hash()], func(s Formula) bool { return compareFormulas(s, g) == 0 })
		}
	}
	switch {
	case absorbed:
		return Formula{op: absorbing}
	case len(args) == 0:
		return Formula{op: neutral}
	case len(args) == 1:
		return args[0]
	}
	return compound(o, args)
}

// Implies is f → g.
func Implies(f, g Formula) Formula { return Or(Not(f), g) }

// Iff is f ↔ g.
func Iff(f, g Formula) Formula {
	switch {
	case f.op == opNone:
		return f
	case g.op == opNone:
		return g
	case f.op == opTrue:
		return g
	case g.op == opTrue:
		return f
	case f.op == opFalse:
		return Not(g)
	case g.op == opFalse:
		return Not(f)
	}
	switch {
	case compareFormulas(f, g) == 0:
		return True()
	case compareFormulas(f, Not(g)) == 0:
		return False()
	}
	return compound(opIff, []Formula{f, g})
}

// xor is f ≠ g.
func xor(f, g Formula) Formula { return Not(Iff(f, g)) }

// If is f where c holds and g elsewhere.
func If(c, f, g Formula) Formula { return And(Implies(c, f), Or(c, g)) }

func compound(o op, args []Formula) Formula {
	h, parts := mix(hashFormula, uint64(o)), 1
	for _, a := range args {
		h, parts = mix(h, a.hash()), addSizes(parts, a.size())
	}
	if parts > maxBuilt {
		return Formula{err: errLarge}
	}
	return Formula{op: o, n: &node{args: args, hash: h, parts: parts}}
}

func (f Formula) hash() uint64 {
	if f.n == nil {
		return mix(hashFormula, uint64(f.op))
	}
	return f.n.hash
}

// IsTrue and IsFalse report whether construction has folded f to a constant.
func (f Formula) IsTrue() bool  { return f.op == opTrue }
func (f Formula) IsFalse() bool { return f.op == opFalse }

// Equal reports whether two formulas have the same form.
func (f Formula) Equal(g Formula) bool {
	return f.op != opNone && g.op != opNone && compareFormulas(f, g) == 0
}

// Conjuncts are f's arguments if it is a conjunction, else f alone.
func (f Formula) Conjuncts() []Formula {
	switch f.op {
	case opTrue:
		return nil
	case opAnd:
		return slices.Clone(f.n.args)
	}
	return []Formula{f}
}

func compareFormulas(f, g Formula) int {
	if f.n == g.n && f.op == g.op {
		return 0
	}
	if c := cmp.Or(cmp.Compare(f.op, g.op), cmp.Compare(f.hash(), g.hash())); c != 0 || f.n == nil {
		return c
	}
	switch f.op {
	case opVar:
		return compareBases(base{v: f.n.v}, base{v: g.n.v})
	case opLe, opLt, opEq:
		return compareTerms(f.n.term, g.n.term)
	}
	return slices.CompareFunc(f.n.args, g.n.args, compareFormulas)
}
