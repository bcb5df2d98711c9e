package linear

import (
	"fmt"
	"math/big"
	"strings"
)

// Symbol is the name as an SMT-LIB symbol, in bars where it needs them. A bar or
// backslash, which no symbol holds, is an error.
func Symbol(name string) (string, error) {
	simple := name != "" && (name[0] < '0' || name[0] > '9') && !reserved(name)
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c == '|' || c == '\\' || c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			return "", fmt.Errorf("print %q: no SMT-LIB symbol holds %q", name, c)
		}
		simple = simple && isSymbolByte(c)
	}
	if simple {
		return name, nil
	}
	return "|" + name + "|", nil
}

func isSymbolByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("~!@$%^&*_-+=<>.?/", c) >= 0
}

// reserved reports whether the name means something else when it is bare.
func reserved(name string) bool {
	switch name {
	case "!", "_", "as", "let", "exists", "forall", "match", "par", "BINARY", "DECIMAL", "HEXADECIMAL", "NUMERAL", "STRING",
		"true", "false", "not", "and", "or", "xor", "ite", "distinct", "abs", "div", "mod", "to_real", "to_int", "is_int",
		"+", "-", "*", "/", "<", "<=", ">", ">=", "=", "=>":
		return true
	}
	return false
}

// Declare declares the variables as constants, a line each.
func Declare(vars ...Var) (string, error) {
	if err := oneSort(vars); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, v := range vars {
		s, err := Symbol(v.Name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "(declare-const %s %v)\n", s, v.Sort)
	}
	return b.String(), nil
}

// Script is a whole SMT-LIB file that asks whether f has a model: its logic, the
// declarations, an assertion for each conjunct and (check-sat).
func Script(f Formula) (string, error) {
	vars := Vars(f)
	declarations, err := Declare(vars...)
	if err != nil {
		return "", err
	}
	ints, reals := false, false
	for _, v := range vars {
		ints, reals = ints || v.Sort == Int, reals || v.Sort == Real
	}
	logic := "QF_LRA"
	switch {
	case ints && reals:
		logic = "QF_LIRA"
	case ints:
		logic = "QF_LIA"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(set-logic %s)\n%s", logic, declarations)
	for _, g := range f.Conjuncts() {
		s, err := g.SMT(Bool)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "(assert %s)\n", s)
	}
	b.WriteString("(check-sat)\n")
	return b.String(), nil
}

// SMT is the term in SMT-LIB as one of sort s, which is Int only if the term
// IsInt.
func (t Term) SMT(s Sort) (string, error) {
	if s != Real && (s != Int || t.err == nil && !t.IsInt()) {
		return "", fmt.Errorf("print term %v: it is not of sort %v", t, s)
	}
	return print(t, func(p *printer) { p.term(t, s) })
}

// SMT is the formula in SMT-LIB; s is Bool.
func (f Formula) SMT(s Sort) (string, error) {
	if s != Bool {
		return "", fmt.Errorf("print formula: it is not of sort %v", s)
	}
	return print(f, func(p *printer) { p.formula(f) })
}

// String is SMT-LIB, or the error.
func (t Term) String() string {
	s, err := t.SMT(t.Sort())
	if err != nil {
		return err.Error()
	}
	return s
}

// String is SMT-LIB, or the error.
func (f Formula) String() string {
	s, err := f.SMT(Bool)
	if err != nil {
		return err.Error()
	}
	return s
}

// print refuses what sharing keeps small but text would not.
func print(e Expr, write func(*printer)) (string, error) {
	if e.size() > maxText {
		return "", fmt.Errorf("print expression: more than %d parts when written out", maxText)
	}
	p := &printer{}
	write(p)
	if p.err != nil {
		return "", p.err
	}
	return p.b.String(), nil
}

type printer struct {
	b   strings.Builder
	err error // the first
}

func (p *printer) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *printer) symbol(name string) {
	s, err := Symbol(name)
	if err != nil {
		p.fail(err)
	}
	p.b.WriteString(s)
}

// number prints one of sort s: reals carry a decimal point, so that no solver
// takes them for integers.
func (p *printer) number(x number, s Sort) {
	r := x.view()
	point := ""
	if s == Real {
		point = ".0"
	}
	text := new(big.Int).Abs(r.Num()).String() + point
	if !r.IsInt() {
		text = "(/ " + text + " " + r.Denom().String() + point + ")"
	}
	if r.Sign() < 0 {
		text = "(- " + text + ")"
	}
	p.b.WriteString(text)
}

func (p *printer) term(t Term, s Sort) {
	if t.err != nil {
		p.fail(t.err)
		return
	}
	parts := len(t.monomials)
	if !t.constant.isZero() || parts == 0 {
		parts++
	}
	if parts > 1 {
		p.b.WriteString("(+ ")
	}
	for i, m := range t.monomials {
		if i > 0 {
			p.b.WriteByte(' ')
		}
		p.monomial(m, s)
	}
	if len(t.monomials) == 0 {
		p.number(t.constant, s)
	} else if !t.constant.isZero() {
		p.b.WriteByte(' ')
		p.number(t.constant, s)
	}
	if parts > 1 {
		p.b.WriteByte(')')
	}
}

func (p *printer) monomial(m monomial, s Sort) {
	switch {
	case m.coef.equal(whole(1)):
		p.base(m.base, s)
		return
	case m.coef.equal(whole(-1)):
		p.b.WriteString("(- ")
	default:
		p.b.WriteString("(* ")
		p.number(m.coef, s)
		p.b.WriteByte(' ')
	}
	p.base(m.base, s)
	p.b.WriteByte(')')
}

func (p *printer) base(b base, s Sort) {
	switch {
	case b.ite != nil:
		p.b.WriteString("(ite ")
		p.formula(b.ite.cond)
		p.b.WriteByte(' ')
		p.term(b.ite.then, s)
		p.b.WriteByte(' ')
		p.term(b.ite.other, s)
		p.b.WriteByte(')')
	case b.v.Sort == Int && s == Real:
		p.b.WriteString("(to_real ")
		p.symbol(b.v.Name)
		p.b.WriteByte(')')
	default:
		p.symbol(b.v.Name)
	}
}

func (p *printer) formula(f Formula) {
	switch f.op {
	case opNone:
		p.fail(f.Err())
	case opTrue:
		p.b.WriteString("true")
	case opFalse:
		p.b.WriteString("false")
	case opVar:
		p.symbol(f.n.v.Name)
	case opLe, opLt, opEq:
		p.b.WriteString(map[op]string{opLe: "(<= ", opLt: "(< ", opEq: "(= "}[f.op])
		sum := Term{monomials: f.n.term.monomials}
		s := sum.Sort()
		p.term(sum, s)
		p.b.WriteByte(' ')
		p.number(f.n.term.constant.neg(), s)
		p.b.WriteByte(')')
	default:
		p.b.WriteString(map[op]string{opNot: "(not", opAnd: "(and", opOr: "(or", opIff: "(="}[f.op])
		for _, a := range f.n.args {
			p.b.WriteByte(' ')
			p.formula(a)
		}
		p.b.WriteByte(')')
	}
}
