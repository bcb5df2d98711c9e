// Package linear is linear arithmetic over integers, reals and truth values: terms
// and formulas as immutable data, their SMT-LIB text both ways, and a decision
// procedure in exact rational arithmetic that needs no solver.
//
// Guarantees: [Unsat] answers Refuted only with a proof that a small checker in
// this package has replayed (check.go), and Satisfied only with a model that it
// has evaluated. Nothing here rounds. A construction that makes no sense (a truth
// value added to a number, a real put in an integer's place) gives a term or
// formula that carries an error, which every later construction passes on and
// every reader reports.
//
// What Refuted rests on, and a reviewer reads: numbers (number.go), the normal form
// of atoms (formula.go), substitution of known equations (substitute.go,
// eliminate.go), clauses (clausify.go), unit propagation and lemmas of Farkas
// (propagate.go, check.go). The search (search.go, simplex.go) is not trusted.
//
// It does not guarantee an answer: Unsat is complete for reals, given time, but
// integers beyond them are tightened, relaxed and branched upon up to a limit.
package linear

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// A Sort is what a variable ranges over. The zero Sort is none.
type Sort uint8

const (
	Int Sort = iota + 1
	Real
	Bool
)

// String is the sort in SMT-LIB.
func (s Sort) String() string {
	switch s {
	case Int:
		return "Int"
	case Real:
		return "Real"
	case Bool:
		return "Bool"
	}
	return "no sort"
}

// A Var is a variable; two are the same if name and sort are.
type Var struct {
	Name string
	Sort Sort
}

// An Expr is a [Term] or a [Formula].
type Expr interface {
	Err() error
	SMT(Sort) (string, error)
	fmt.Stringer
	size() int
}

// A Term is a linear term, c + Σ cᵢ·xᵢ, where each xᵢ is a variable or a
// conditional term. The zero Term is 0.
type Term struct {
	err       error
	constant  number
	monomials []monomial // by base, strictly ascending; no coefficient is 0
}

type monomial struct {
	base base
	coef number
}

// A base is a variable or, when ite is set, a conditional term.
type base struct {
	v   Var
	ite *conditional
}

// A conditional is cond ? then : other.
type conditional struct {
	cond        Formula
	then, other Term
	isInt       bool // both cases are integers
	hash        uint64
	parts       int // see size
}

// Number is the constant n.
func Number(n int64) Term { return Term{constant: whole(n)} }

// fraction is the constant p/q.
func fraction(p, q int64) Term {
	if q == 0 {
		return Term{err: errors.New("build term: division by 0")}
	}
	return Term{constant: fromBig(new(big.Rat).SetFrac(big.NewInt(p), big.NewInt(q)))}
}

// Constant is the constant r.
func Constant(r *big.Rat) Term { return Term{constant: fromRat(r)} }

// Term is the variable's value; it must be a number.
func (v Var) Term() Term {
	if v.Sort != Int && v.Sort != Real {
		return Term{err: fmt.Errorf("build term: %s of sort %v is no number", v.Name, v.Sort)}
	}
	return Term{monomials: []monomial{{base{v: v}, whole(1)}}}
}

// Err says why the term is none.
func (t Term) Err() error { return t.err }

// Add is t + u.
func (t Term) Add(u Term) Term { return t.plus(u, whole(1)) }

// Sub is t - u.
func (t Term) Sub(u Term) Term { return t.plus(u, whole(-1)) }

// Neg is -t.
func (t Term) Neg() Term { return t.scale(whole(-1)) }

// Scale is r·t.
func (t Term) Scale(r *big.Rat) Term { return t.scale(fromRat(r)) }

// Mul is t·u, of which one must be constant.
func (t Term) Mul(u Term) Term {
	switch {
	case t.err != nil:
		return t
	case u.err != nil:
		return u
	case len(t.monomials) == 0:
		return u.scale(t.constant)
	case len(u.monomials) == 0:
		return t.scale(u.constant)
	}
	return Term{err: errors.New("build term: a product of two variables is not linear")}
}

// sumOf adds up.
func sumOf(terms ...Term) Term {
	var s Term
	for _, t := range terms {
		s = s.Add(t)
	}
	return s
}

func (t Term) scale(k number) Term {
	if t.err != nil || k == whole(1) {
		return t
	}
	if k.isZero() {
		return Term{}
	}
	ms := make([]monomial, len(t.monomials))
	for i, m := range t.monomials {
		ms[i] = monomial{m.base, m.coef.mul(k)}
	}
	return Term{constant: t.constant.mul(k), monomials: ms}
}

// plus is t + k·u.
func (t Term) plus(u Term, k number) Term {
	if t.err != nil {
		return t
	}
	if u.err != nil {
		return u
	}
	if len(u.monomials) == 0 {
		return Term{constant: t.constant.add(u.constant.mul(k)), monomials: t.monomials}
	}
	a, b := t.monomials, u.monomials
	ms := make([]monomial, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		var order int
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = compareBases(a[0].base, b[0].base)
		}
		switch {
		case order < 0:
			ms, a = append(ms, a[0]), a[1:]
		case order > 0:
			ms, b = append(ms, monomial{b[0].base, b[0].coef.mul(k)}), b[1:]
		default:
			if c := a[0].coef.add(b[0].coef.mul(k)); !c.isZero() {
				ms = append(ms, monomial{a[0].base, c})
			}
			a, b = a[1:], b[1:]
		}
	}
	return Term{constant: t.constant.add(u.constant.mul(k)), monomials: ms}
}

// Ite is t where c holds and u elsewhere.
func Ite(c Formula, t, u Term) Term {
	for _, e := range []Expr{c, t, u} {
		if e.Err() != nil {
			return Term{err: e.Err()}
		}
	}
	switch {
	case c.op == opTrue || compareTerms(t, u) == 0:
		return t
	case c.op == opFalse:
		return u
	case c.op == opNot:
		c, t, u = c.n.args[0], u, t
	}
	if addSizes(c.size(), t.size(), u.size()) > maxBuilt {
		return Term{err: errLarge}
	}
	i := &conditional{cond: c, then: t, other: u, isInt: t.IsInt() && u.IsInt(), parts: addSizes(c.size(), t.size(), u.size())}
	i.hash = mix(mix(mix(hashConditional, c.hash()), t.hash()), u.hash())
	return Term{monomials: []monomial{{base{ite: i}, whole(1)}}}
}

// Abs is |t|.
func Abs(t Term) Term { return Ite(Ge(t, Number(0)), t, t.Neg()) }

// Min is the lesser of t and u.
func Min(t, u Term) Term { return Ite(Le(t, u), t, u) }

// Max is the greater of t and u.
func Max(t, u Term) Term { return Ite(Ge(t, u), t, u) }

// IsInt reports whether the term's form shows that it is an integer: its
// coefficients are, and so are what they multiply.
func (t Term) IsInt() bool {
	if t.err != nil || !t.constant.isInt() {
		return false
	}
	for _, m := range t.monomials {
		if !m.coef.isInt() || !m.base.isInt() {
			return false
		}
	}
	return true
}

func (b base) isInt() bool {
	if b.ite != nil {
		return b.ite.isInt
	}
	return b.v.Sort == Int
}

// Sort is Int if IsInt, else Real.
func (t Term) Sort() Sort {
	if t.IsInt() {
		return Int
	}
	return Real
}

// IsConstant returns the term's value, if it has no variables.
func (t Term) IsConstant() (*big.Rat, bool) {
	if t.err != nil || len(t.monomials) > 0 {
		return nil, false
	}
	return t.constant.rat(), true
}

// IsZero reports whether the term is 0 by its form.
func (t Term) IsZero() bool { return t.err == nil && len(t.monomials) == 0 && t.constant.isZero() }

// Coefficient is that of v outside of conditionals; see Linear.
func (t Term) Coefficient(v Var) *big.Rat {
	for _, m := range t.monomials {
		if m.base.ite == nil && m.base.v == v {
			return m.coef.rat()
		}
	}
	return new(big.Rat)
}

// Linear returns the term's constant and coefficients; false if it has
// conditionals.
func (t Term) Linear() (constant *big.Rat, coefficients map[Var]*big.Rat, ok bool) {
	coefficients = map[Var]*big.Rat{}
	for _, m := range t.monomials {
		if m.base.ite != nil {
			return nil, nil, false
		}
		coefficients[m.base.v] = m.coef.rat()
	}
	return t.constant.rat(), coefficients, t.err == nil
}

// Equal reports whether two terms have the same form.
func (t Term) Equal(u Term) bool { return t.err == nil && u.err == nil && compareTerms(t, u) == 0 }

// size is that of the expression written out, without sharing; it saturates.
func (t Term) size() int {
	n := 1
	for _, m := range t.monomials {
		n++
		if m.base.ite != nil {
			n = addSizes(n, m.base.ite.parts)
		}
	}
	return n
}

func (f Formula) size() int {
	if f.n == nil {
		return 1
	}
	return f.n.parts
}

func addSizes(ns ...int) int {
	sum := 0
	for _, n := range ns {
		sum = min(sum+n, 1<<40)
	}
	return sum
}

// The order of bases, terms and formulas is total and structural; hashes only
// make it fast.

func compareBases(a, b base) int {
	switch {
	case a.ite == nil && b.ite == nil:
		return cmp.Or(cmp.Compare(a.v.Name, b.v.Name), cmp.Compare(a.v.Sort, b.v.Sort))
	case a.ite == nil:
		return -1
	case b.ite == nil:
		return 1
	case a.ite == b.ite:
		return 0
	}
	return cmp.Or(
		cmp.Compare(a.ite.hash, b.ite.hash),
		compareFormulas(a.ite.cond, b.ite.cond),
		compareTerms(a.ite.then, b.ite.then),
		compareTerms(a.ite.other, b.ite.other))
}

func compareTerms(t, u Term) int {
	return cmp.Or(t.constant.cmp(u.constant), slices.CompareFunc(t.monomials, u.monomials, func(m, n monomial) int {
		return cmp.Or(compareBases(m.base, n.base), m.coef.cmp(n.coef))
	}))
}

func (t Term) hash() uint64 {
	h := mix(hashTerm, t.constant.hash())
	for _, m := range t.monomials {
		if m.base.ite != nil {
			h = mix(h, m.base.ite.hash)
		} else {
			h = m.base.v.hash(h)
		}
		h = mix(h, m.coef.hash())
	}
	return h
}

func (v Var) hash(h uint64) uint64 {
	for i := range len(v.Name) {
		h = mix(h, uint64(v.Name[i]))
	}
	return mix(h, uint64(v.Sort))
}

func (x number) hash() uint64 {
	if x.big != nil {
		return mix(x.big.Num().Uint64(), x.big.Denom().Uint64())
	}
	return mix(uint64(x.num), uint64(x.over))
}

const (
	hashTerm        = 14695981039346656037
	hashConditional = hashTerm + 1
	hashFormula     = hashTerm + 2
)

// mix is a step of FNV-1a on words, with the high bits folded in.
func mix(h, x uint64) uint64 {
	h = (h ^ x) * 1099511628211
	return h ^ h>>29
}
