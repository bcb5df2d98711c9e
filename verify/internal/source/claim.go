package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// claim reads the directives of the function; nil if one of them is refused.
func (l *lowerer) claim(all []directive) *claim.Claim {
	before := len(l.refusals)
	c := &claim.Claim{}
	var lines []string
	for _, pass := range []string{"adjacent", ""} { // what is private is known first
		for _, d := range all {
			if (d.verb == "adjacent") != (pass == "adjacent") {
				continue
			}
			l.begin()
			l.try(func() { l.directive(c, d) })
		}
	}
	understood := true
	for _, d := range all {
		lines = append(lines, d.verb+" "+d.text)
		understood = understood && d.verb != ""
	}
	c.Text = strings.Join(lines, "\n")
	pos := l.fn.Pos
	switch {
	case len(l.refusals) > before || !understood:
	case c.Cost == nil && len(c.Sensitivities) == 0:
		l.report(all[0].pos, "a function without a claim", "there is nothing to prove", "add //dp:cost EPS")
	case c.Cost != nil && len(c.Adjacent) == 0:
		l.report(pos, "a cost without neighbours", "no input is private", "add //dp:adjacent each(q) <= 1, bag(rows) <= 1, or the like")
	}
	if len(l.refusals) > before || !understood {
		return nil
	}
	return c
}

func (l *lowerer) directive(c *claim.Claim, d directive) {
	switch d.verb {
	case "adjacent":
		for _, part := range split(d, "&&") {
			l.adjacent(c, part)
		}
	case "requires":
		e := l.parse(d.text, d.at)
		// It holds in both runs, and may well speak of what is private: the databases
		// that there are.
		g := ghost{l: l, at: d.at, scope: l.parameters, from: l.signed, inputs: true, scales: true}
		c.Requires = append(c.Requires, g.truth(e))
	case "cost":
		if c.Cost != nil {
			l.refuse(d.pos, "a second cost", "a claim has one", "")
		}
		c.Cost = l.cost(c, d)
	case "sensitivity":
		for _, part := range split(d, ",") {
			c.Sensitivities = append(c.Sensitivities, l.sensitivity(c, part))
		}
	}
}

// split cuts a directive's text at a separator that no bracket encloses.
func split(d directive, by string) (parts []directive) {
	depth, from := 0, 0
	cut := func(to int) {
		part := d.text[from:to]
		lead := len(part) - len(strings.TrimLeft(part, " \t"))
		parts = append(parts, directive{d.verb, strings.TrimSpace(part), d.pos, d.at + token.Pos(from+lead)})
	}
	for i := 0; i < len(d.text); i++ {
		switch d.text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		}
		if depth == 0 && strings.HasPrefix(d.text[i:], by) {
			cut(i)
			from = i + len(by)
			i = from - 1
		}
	}
	cut(len(d.text))
	return parts
}

// pathForm is of names of Go, with points in between.
const pathForm = `[\pL\p{Nd}_.]+`

var (
	relationForm = regexp.MustCompile(`^(\w+)\(\s*(` + pathForm + `)\s*\)\s*(<=|<|in\b|==|>=|=)\s*(.*)$`)
	scalarForm   = regexp.MustCompile(`^\|\s*(` + pathForm + `)\s*\|\s*(<=|<|==|>=|=)\s*(.*)$`)
	plainForm    = regexp.MustCompile(`^(` + pathForm + `)\s*(in)\s+(.*)$`)
	intervalForm = regexp.MustCompile(`^\[(.*)\]$`)
)

const adjacencyHint = "write each(q) <= c, one(q) <= c, each(q) in [0, c], |x| <= c, or bag(rows) <= k"

func (l *lowerer) adjacent(c *claim.Claim, d directive) {
	var a claim.Adjacency
	var name, op, bound string
	var nameAt, boundAt int
	isBag := false
	if m := relationForm.FindStringSubmatchIndex(d.text); m != nil {
		name, nameAt, op, bound, boundAt = d.text[m[4]:m[5]], m[4], d.text[m[6]:m[7]], d.text[m[8]:m[9]], m[8]
		switch word := d.text[m[2]:m[3]]; word {
		case "each":
			a.Relation = claim.Each
		case "one":
			a.Relation = claim.One
		case "bag":
			a.Relation, isBag = claim.Bag, true
		default:
			l.refuse(d.at, "the relation "+word, "there is no such relation", adjacencyHint)
		}
	} else if m := scalarForm.FindStringSubmatchIndex(d.text); m != nil {
		a.Relation = claim.Scalar
		name, nameAt, op, bound, boundAt = d.text[m[2]:m[3]], m[2], d.text[m[4]:m[5]], d.text[m[6]:m[7]], m[6]
	} else if m := plainForm.FindStringSubmatchIndex(d.text); m != nil {
		a.Relation = claim.Scalar
		name, nameAt, op, bound, boundAt = d.text[m[2]:m[3]], m[2], d.text[m[4]:m[5]], d.text[m[6]:m[7]], m[6]
	} else {
		l.refuse(d.at, "this adjacency", "it is not understood", adjacencyHint)
	}
	at := d.at + token.Pos(nameAt)
	a.Input = l.adjacentInput(name, at, a.Relation)
	l.private[a.Input] = true
	l.bagged[a.Input] = isBag
	for _, b := range c.Adjacent {
		if b.Input == a.Input {
			l.refuse(at, "a second adjacency of "+name, "an input has one", "write the smaller of both")
		}
	}
	g := ghost{l: l, at: d.at + token.Pos(boundAt), scope: l.parameters, from: l.signed, claim: c, inputs: true, real: true}
	switch op {
	case "<=":
		a.High = g.number(l.parse(bound, g.at))
		a.Low = program.Unary{Op: program.Sub, X: a.High}
		if n, ok := a.High.(program.Number); ok && n.Value.Sign() < 0 {
			l.refuse(g.at, "a distance below zero", "no two inputs are that near", "")
		}
	case "in":
		m := intervalForm.FindStringSubmatchIndex(bound)
		if m == nil || isBag {
			l.refuse(g.at, "this interval", "it is not understood", adjacencyHint)
		}
		ends := split(directive{text: bound[m[2]:m[3]], at: g.at + token.Pos(m[2])}, ",")
		if len(ends) != 2 {
			l.refuse(g.at, "this interval", "it does not have two ends", adjacencyHint)
		}
		g.at = ends[0].at
		a.Low = g.number(l.parse(ends[0].text, ends[0].at))
		g.at = ends[1].at
		a.High = g.number(l.parse(ends[1].text, ends[1].at))
		if lo, ok := a.Low.(program.Number); ok {
			if hi, ok := a.High.(program.Number); ok && lo.Value.Cmp(hi.Value) > 0 {
				l.refuse(g.at, "an empty interval", "there are no neighbours", "write the lower end first")
			}
		}
	default:
		l.refuse(d.at, "an adjacency with "+op, "a distance is bounded by <=, or in an interval", adjacencyHint)
	}
	c.Adjacent = append(c.Adjacent, a)
}

// adjacentInput is the input that an adjacency names.
func (l *lowerer) adjacentInput(name string, at token.Pos, of claim.Relation) *program.Variable {
	e := l.inputNamed(name, at)
	switch e := e.(type) {
	case slice:
		if of == claim.Scalar {
			l.refuse(at, "|"+name+"|", name+" is a slice", "write each("+name+") <= c, or one("+name+") <= c")
		}
		return e.v
	case mapping:
		if of != claim.Each {
			l.refuse(at, name, "two keys may be equal, so that more than one of the values read may move", "write each("+name+") <= c, or take a slice of the values")
		}
		return e.v
	case scalar:
		if of != claim.Scalar {
			l.refuse(at, name, "it is no slice", "write |"+name+"| <= c")
		}
		return e.v
	}
	if of == claim.Bag {
		// Rows of any type: those who read the syntax know what they are.
		if v := l.bags[name]; v != nil {
			return v
		}
		v := l.variable(name, program.Int, at)
		v.Slice, v.Input = true, true
		l.bags[name] = v
		return v
	}
	l.refuse(at, name, "it is "+e.what()+", and has no distance", "name a number, or a slice of numbers")
	return nil
}

// inputNamed returns an input by its path: q, or r.q.
func (l *lowerer) inputNamed(path string, at token.Pos) entity {
	parts := strings.Split(path, ".")
	_, obj := l.parameters.LookupParent(parts[0], l.signed)
	v, ok := obj.(*types.Var)
	if !ok {
		l.refuse(at, parts[0], "the function has no such input", l.inputHint(parts[0]))
	}
	e, ok := l.find(v)
	if !ok {
		l.refuse(at, parts[0], "it is no input", l.inputHint(parts[0]))
	}
	for _, part := range parts[1:] {
		if p, ok := e.(pointer); ok {
			l.claimOf(p.presence)
			e = p.to
		}
		r, ok := e.(*record)
		i := -1
		if ok {
			i = fieldIndex(r.typ, ast.NewIdent(part))
		}
		if i < 0 {
			l.refuse(at, path, "there is no such field", "")
		}
		e = r.field(i)
	}
	return e
}

// inputHint names the input with the fewest edits.
func (l *lowerer) inputHint(name string) string {
	best, least := "", len(name)+1
	for obj := range l.frame.env {
		if d := edits(name, obj.Name()); d < least || d == least && obj.Name() < best {
			best, least = obj.Name(), d
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + "?"
}

// parse reads an expression of a directive; positions in it count from at.
func (l *lowerer) parse(text string, at token.Pos) ast.Expr {
	if strings.TrimSpace(text) == "" {
		l.refuse(at, "an empty expression", "there is nothing to read", "")
	}
	e, err := parser.ParseExpr(text)
	if err != nil {
		l.refuse(at, "the expression "+text, "it is not an expression of Go", "")
	}
	return e
}

// cost reads EPS, or EPS, DELTA, or zcdp(RHO).
func (l *lowerer) cost(c *claim.Claim, d directive) *claim.Cost {
	amount := func(part directive) program.Expression {
		g := ghost{l: l, at: part.at, scope: l.parameters, from: l.signed, claim: c, inputs: true, real: true, scales: true}
		return g.number(l.parse(part.text, part.at))
	}
	parts := split(d, ",")
	if len(parts) == 2 {
		return &claim.Cost{Measure: claim.Approximate, Epsilon: amount(parts[0]), Delta: amount(parts[1])}
	}
	if len(parts) != 1 {
		l.refuse(d.at, "this cost", "it is not understood", "write EPS, or EPS, DELTA, or zcdp(RHO)")
	}
	text := parts[0].text
	if inner, ok := strings.CutPrefix(text, "zcdp("); ok && strings.HasSuffix(inner, ")") {
		return &claim.Cost{Measure: claim.ZCDP, Rho: amount(directive{text: strings.TrimSuffix(inner, ")"), at: parts[0].at + token.Pos(len("zcdp("))})}
	}
	return &claim.Cost{Measure: claim.Pure, Epsilon: amount(parts[0])}
}

var sensitivityForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(` + pathForm + `)\s*=\s*(.*?)(?:\s+in\s+(\w+))?$`)
})

// sensitivity reads x = 1 [in l1|l2|linf].
func (l *lowerer) sensitivity(c *claim.Claim, d directive) claim.Sensitivity {
	m := sensitivityForm().FindStringSubmatchIndex(d.text)
	if m == nil {
		l.refuse(d.at, "this sensitivity", "it is not understood", "write x = 1, or x = 1 in l2")
	}
	s := claim.Sensitivity{Input: d.text[m[2]:m[3]], Norm: claim.L1}
	if m[6] >= 0 {
		switch s.Norm = claim.Norm(d.text[m[6]:m[7]]); s.Norm {
		case claim.L1, claim.L2, claim.LInf:
		default:
			l.refuse(d.at+token.Pos(m[6]), "the norm "+string(s.Norm), "there is no such norm", "write l1, l2 or linf")
		}
	}
	l.inputNamed(s.Input, d.at)
	at := d.at + token.Pos(m[4])
	g := ghost{l: l, at: at, scope: l.parameters, from: l.signed, claim: c, inputs: true, real: true}
	s.Most = g.number(l.parse(d.text[m[4]:m[5]], at))
	return s
}
