package linear

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// ParseFormula reads an SMT-LIB term of sort Bool over the variables.
func ParseFormula(text string, vars ...Var) (Formula, error) {
	e, err := parse(text, vars)
	if err != nil {
		return Formula{}, fmt.Errorf("parse formula: %w", err)
	}
	if f, ok := e.(Formula); ok {
		return f, nil
	}
	return Formula{}, fmt.Errorf("parse formula: %v is a number", e)
}

func parse(text string, vars []Var) (Expr, error) {
	e, err := readOne(text)
	if err != nil {
		return nil, err
	}
	names := map[string]Expr{}
	if err := bind(names, vars); err != nil {
		return nil, err
	}
	return expression(e, &scope{names: names})
}

func bind(names map[string]Expr, vars []Var) error {
	for _, v := range vars {
		if names[v.Name] != nil {
			return fmt.Errorf("%s is declared twice", v.Name)
		}
		if v.Sort == Bool {
			names[v.Name] = v.Formula()
		} else {
			names[v.Name] = v.Term()
		}
		if err := names[v.Name].Err(); err != nil {
			return err
		}
	}
	return nil
}

// ParseValues reads the answer of (get-value (x ...)) for the variables, in order.
func ParseValues(text string, vars ...Var) (Model, error) {
	e, err := readOne(text)
	if err != nil {
		return nil, fmt.Errorf("parse values: %w", err)
	}
	if len(e.list) != len(vars) {
		return nil, fmt.Errorf("parse values: %v has not %d pairs", e, len(vars))
	}
	m := Model{}
	for i, pair := range e.list {
		v := vars[i]
		if len(pair.list) != 2 || !pair.list[0].isSymbol() || pair.list[0].word != v.Name {
			return nil, fmt.Errorf("parse values: %v is no value of %s", pair, v.Name)
		}
		body, err := expression(pair.list[1], nil)
		if err == nil {
			err = m.set(v, body)
		}
		if err != nil {
			return nil, fmt.Errorf("parse values: %w", err)
		}
	}
	return m, nil
}

func (m Model) set(v Var, value Expr) error {
	switch value := value.(type) {
	case Formula:
		if v.Sort == Bool && value.n == nil && value.op != opNone {
			m[v] = big.NewRat(0, 1)
			if value.IsTrue() {
				m[v] = big.NewRat(1, 1)
			}
			return nil
		}
	case Term:
		if r, ok := value.IsConstant(); ok && (v.Sort == Real || v.Sort == Int && r.IsInt()) {
			m[v] = r
			return nil
		}
	}
	return fmt.Errorf("%v is no value of %s, a variable of sort %v", value, v.Name, v.Sort)
}

// A scope binds names; an inner one hides the outer.
type scope struct {
	names map[string]Expr
	outer *scope
}

// expression reads one whose size is bounded.
func expression(e sexpr, in *scope) (Expr, error) {
	x, err := unbounded(e, in)
	if err != nil {
		return nil, err
	}
	if err := x.Err(); err != nil {
		return nil, fmt.Errorf("%v: %w", e, err)
	}
	if t, ok := x.(Term); ok {
		if err := t.bounded(); err != nil {
			return nil, fmt.Errorf("%v: %w", e, err)
		}
	}
	if x.size() > maxSize {
		return nil, fmt.Errorf("%v: more than %d parts when written out", e, maxSize)
	}
	return x, nil
}

// bounded refuses numbers so long that only repeated squaring makes them.
func (t Term) bounded() error {
	long := func(x number) bool {
		return x.big != nil && max(x.big.Num().BitLen(), x.big.Denom().BitLen()) > maxBits
	}
	bad := long(t.constant)
	for _, m := range t.monomials {
		bad = bad || long(m.coef)
	}
	if bad {
		return fmt.Errorf("a number has more than %d bits", maxBits)
	}
	return nil
}

func unbounded(e sexpr, in *scope) (Expr, error) {
	if !e.isList {
		return word(e, in)
	}
	if len(e.list) < 2 {
		return nil, fmt.Errorf("%v is no application", e)
	}
	head, args := e.list[0], e.list[1:]
	switch {
	case head.is("let"):
		return let(e, in)
	case head.is("forall") || head.is("exists") || !head.isSymbol():
		return nil, fmt.Errorf("%v is not supported", head)
	}
	xs := make([]Expr, len(args))
	for i, a := range args {
		x, err := expression(a, in)
		if err != nil {
			return nil, err
		}
		xs[i] = x
	}
	if head.quoted != 0 {
		return nil, fmt.Errorf("%v is not defined", head)
	}
	return apply(head.word, xs)
}

func word(e sexpr, in *scope) (Expr, error) {
	if e.isSymbol() {
		for s := in; s != nil; s = s.outer {
			if x, ok := s.names[e.word]; ok {
				return x, nil
			}
		}
		switch {
		case e.is("true"):
			return True(), nil
		case e.is("false"):
			return False(), nil
		}
		return nil, fmt.Errorf("%v is not defined", e)
	}
	// NUMERAL or DECIMAL; big.Rat would read more, exponents among it.
	digits, decimals, point := strings.Cut(e.word, ".")
	if e.quoted == 0 && isDigits(digits) && (!point || isDigits(decimals)) && len(e.word) <= maxBits/4 {
		if r, ok := new(big.Rat).SetString(e.word); ok {
			return Constant(r), nil
		}
	}
	return nil, fmt.Errorf("%v is neither a name nor a number", e)
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// let binds its names at once, so that none sees another.
func let(e sexpr, in *scope) (Expr, error) {
	if len(e.list) != 3 || !e.list[1].isList {
		return nil, fmt.Errorf("%v is not (let (BINDINGS) BODY)", e)
	}
	names := map[string]Expr{}
	for _, binding := range e.list[1].list {
		if len(binding.list) != 2 || !binding.list[0].isSymbol() {
			return nil, fmt.Errorf("%v is no binding", binding)
		}
		name := binding.list[0].word
		if names[name] != nil {
			return nil, fmt.Errorf("%s is bound twice", name)
		}
		x, err := expression(binding.list[1], in)
		if err != nil {
			return nil, err
		}
		names[name] = x
	}
	return expression(e.list[2], &scope{names, in})
}

// apply applies a symbol of the theories to arguments.
func apply(symbol string, args []Expr) (Expr, error) {
	least, most := 1, len(args)
	switch symbol {
	case "not", "to_real", "abs":
		most = 1
	case "/":
		least, most = 2, 2
	case "ite":
		least, most = 3, 3
	case "=>", "xor", "=", "distinct", "<=", "<", ">=", ">", "*":
		least = 2
	case "and", "or", "+", "-":
	default:
		return nil, fmt.Errorf("%s is not supported", symbol)
	}
	if len(args) < least || len(args) > most {
		return nil, fmt.Errorf("%s of %d arguments", symbol, len(args))
	}
	fs, notFormulas := formulas(args)
	switch symbol {
	case "not", "and", "or", "=>", "xor":
		if notFormulas != nil {
			return nil, fmt.Errorf("%s: %w", symbol, notFormulas)
		}
		return connect(symbol, fs), nil
	case "=", "distinct":
		if notFormulas == nil {
			return compare(symbol, fs, Iff)
		}
	case "ite":
		return choose(args)
	}
	ts, err := terms(args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", symbol, err)
	}
	switch symbol {
	case "=", "distinct":
		return compare(symbol, ts, Eq)
	case "<=":
		return chain(ts, Le), nil
	case "<":
		return chain(ts, Lt), nil
	case ">=":
		return chain(ts, Ge), nil
	case ">":
		return chain(ts, Gt), nil
	}
	return calculate(symbol, ts)
}

func connect(symbol string, fs []Formula) Formula {
	last := len(fs) - 1
	switch symbol {
	case "not":
		return Not(fs[0])
	case "and":
		return And(fs...)
	case "or":
		return Or(fs...)
	case "=>": // associates to the right
		f := fs[last]
		for i := last - 1; i >= 0; i-- {
			f = Implies(fs[i], f)
		}
		return f
	}
	f := fs[0] // xor, to the left
	for _, g := range fs[1:] {
		f = xor(f, g)
	}
	return f
}

// choose is ite, of formulas or of numbers.
func choose(args []Expr) (Expr, error) {
	c, ok := args[0].(Formula)
	if !ok {
		return nil, errors.New("the condition of ite is a number")
	}
	if fs, err := formulas(args[1:]); err == nil {
		return If(c, fs[0], fs[1]), nil
	}
	ts, err := terms(args[1:])
	if err != nil {
		return nil, fmt.Errorf("ite: %w", err)
	}
	return Ite(c, ts[0], ts[1]), nil
}

func calculate(symbol string, ts []Term) (Expr, error) {
	switch symbol {
	case "+":
		return sumOf(ts...), nil
	case "-":
		if len(ts) == 1 {
			return ts[0].Neg(), nil
		}
		return ts[0].Sub(sumOf(ts[1:]...)), nil
	case "*":
		t := ts[0]
		for _, u := range ts[1:] {
			t = t.Mul(u)
			if err := t.bounded(); err != nil {
				return nil, err
			}
		}
		return t, nil
	case "/":
		d, ok := ts[1].IsConstant()
		if !ok || d.Sign() == 0 {
			return nil, errors.New("division by what is not a constant other than 0")
		}
		return ts[0].Scale(d.Inv(d)), nil
	case "abs":
		return Abs(ts[0]), nil
	}
	return ts[0], nil // to_real
}

func formulas(args []Expr) ([]Formula, error) {
	fs := make([]Formula, len(args))
	for i, a := range args {
		f, ok := a.(Formula)
		if !ok {
			return nil, fmt.Errorf("argument %d is a number", i+1)
		}
		fs[i] = f
	}
	return fs, nil
}

func terms(args []Expr) ([]Term, error) {
	ts := make([]Term, len(args))
	for i, a := range args {
		t, ok := a.(Term)
		if !ok {
			return nil, fmt.Errorf("argument %d is no number", i+1)
		}
		ts[i] = t
	}
	return ts, nil
}

// compare is = of neighbours, or distinct of all pairs.
func compare[E Expr](symbol string, xs []E, equal func(a, b E) Formula) (Expr, error) {
	if symbol == "=" {
		return chain(xs, equal), nil
	}
	if len(xs) > 100 {
		return nil, fmt.Errorf("distinct of %d arguments", len(xs))
	}
	var all []Formula
	for i, a := range xs {
		for _, b := range xs[i+1:] {
			all = append(all, Not(equal(a, b)))
		}
	}
	return And(all...), nil
}

func chain[E Expr](xs []E, holds func(a, b E) Formula) Formula {
	var all []Formula
	for i := 1; i < len(xs); i++ {
		all = append(all, holds(xs[i-1], xs[i]))
	}
	return And(all...)
}
