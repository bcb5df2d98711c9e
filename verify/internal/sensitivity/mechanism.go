package sensitivity

import (
	"go/ast"
	"slices"
	"strings"
)

// A device is what is known of a mechanism of package mechanism: what it costs stands in
// its options, and holds by the theorems there for what moves by at most the sensitivity
// that they name. That is checked of all that it is given.
type device struct {
	// each are the methods of which every call costs what the options say; run those
	// of a run whose whole cost they say.
	each, run []string
	// norm is that in which the second argument may move by the option Sensitivity; none
	// says that it may move by anything.
	norm int
	none bool
}

var devices = map[string]device{
	"NewExponential":          {each: []string{"Choose"}, norm: linf},
	"NewNoisyMax":             {each: []string{"Choose", "ChooseGap"}, norm: linf},
	"NewPermuteAndFlip":       {each: []string{"Choose"}, norm: linf},
	"NewTopK":                 {each: []string{"Choose", "ChooseGaps"}, norm: linf},
	"NewAboveThreshold":       {run: []string{"Ask"}, norm: linf},
	"NewSparseVector":         {run: []string{"Ask"}, norm: linf},
	"NewAdaptiveSparseVector": {run: []string{"Ask"}, norm: linf},
	"NewVector":               {each: []string{"Release"}},
	"NewRandomizedResponse":   {each: []string{"Respond"}, none: true},
}

// withinLaw is of a check that nothing moves by more than a mechanism was told: its scale.
// It costs nothing.
const withinLaw law = "within"

// mechanism is a constructor of package mechanism, or a method of what it made.
func (a *analysis) mechanism(st *state, c *closure, args []value, x *ast.CallExpr) (value, bool) {
	name := c.fn.Name()
	if c.self == nil {
		d, ok := devices[name]
		if !ok || len(args) != 1 {
			return value{}, false
		}
		return value{kind: tuple, elems: []value{a.device(st, name, d, args[0], x), a.public("err")}}, true
	}
	if c.self.kind != mechanical {
		return value{}, false
	}
	d := devices[c.self.name]
	each := slices.Contains(d.each, name)
	if !each && !slices.Contains(d.run, name) || len(args) != 2 {
		a.fail(x, strings.Join(slices.Concat(d.each, d.run), ", "), "the method %s of what %s returns", name, c.self.name)
	}
	norm, of := d.norm, c.self.fields["Sensitivity"].sym
	if c.self.name == "NewVector" {
		norm, of = l1, c.self.fields["L1"].sym
		if l2norm, ok := c.self.fields["L2"]; ok {
			norm, of = l2, l2norm.sym
		}
	}
	a.random(args[0], x)
	e := a.given(st, args[1], norm, x)
	switch {
	case d.none:
	case len(e) > 0:
		a.reals = true
		a.charge(st, item{pos: x.Pos(), law: withinLaw, scale: of, sens: e, times: one()})
	}
	if each && (len(e) > 0) {
		a.charge(st, a.price(*c.self, x))
	}
	st.spent[a.next()] = true // it may be seen that it is called
	return a.released(st, c.fn.Signature().Results(), false), true
}

// given is how far an argument moves.
func (a *analysis) given(st *state, v value, norm int, x *ast.CallExpr) env {
	if v.kind != ref {
		return a.env(a.number(st, v, x).sym)
	}
	a.touch(v.obj, nil)
	o := a.settled(st.heap[v.obj])
	if o.bag {
		a.fail(x, "a number for each public candidate", "how many numbers there are depends on private data")
	}
	return o.env[norm]
}

// device reads options.
func (a *analysis) device(st *state, name string, d device, options value, x *ast.CallExpr) value {
	if len(a.envs(st, options)[l1]) > 0 {
		a.fail(x, "public options", "an option of %s depends on private data", name)
	}
	v := value{kind: mechanical, id: a.next(), name: name, fields: map[string]value{}}
	keep := func(option string) {
		e := a.option(st, options, option, x)
		if len(e.terms) > 0 && !e.is(named("nil")) {
			v.fields[option] = value{sym: a.exactly(e, x)}
		}
	}
	switch {
	case name == "NewVector":
		for _, o := range []string{"L1", "L2", "Epsilon", "Rho"} {
			keep(o)
		}
		_, one := v.fields["L1"]
		_, two := v.fields["L2"]
		_, eps := v.fields["Epsilon"]
		_, rho := v.fields["Rho"]
		if one == two || one != eps || two != rho {
			a.fail(x, "L1 and Epsilon, or L2 and Rho", "options of which it is not known what they ask for")
		}
	default:
		keep("Epsilon")
		if !d.none {
			keep("Sensitivity")
		}
		if _, ok := v.fields["Epsilon"]; !ok {
			a.fail(x, "an Epsilon that is given", "options of which it is not known what they ask for")
		}
		if _, ok := v.fields["Sensitivity"]; !ok && !d.none {
			a.fail(x, "a Sensitivity that is given", "options of which it is not known what they ask for")
		}
		if !d.none && len(a.option(st, options, "Monotone", x).terms) > 0 {
			a.fail(x, "options without Monotone", "that all scores change in the same direction is not known")
		}
	}
	if len(d.run) > 0 {
		a.charge(st, a.price(v, x))
	}
	return v
}

// exactly is the value of an option that may be a rational of package math/big.
func (a *analysis) exactly(e Expr, x *ast.CallExpr) Expr {
	e, ok := e.rewrite(func(at *atom) (Expr, bool) {
		if k := a.knowns[at.name]; k != nil && k.rational != nil {
			return *k.rational, true
		}
		return Expr{}, false
	})
	if !ok || !a.fixed(e) {
		a.fail(x, "numbers by parameters, and big.NewRat", "an option depends on a number of the program")
	}
	return e
}

// price is what the options of a mechanism say that it costs.
func (a *analysis) price(v value, x *ast.CallExpr) item {
	if rho, ok := v.fields["Rho"]; ok {
		return item{pos: x.Pos(), law: zcdpCost, rho: rho.sym, times: one()}
	}
	return item{pos: x.Pos(), law: pureCost, epsilon: v.fields["Epsilon"].sym, times: one()}
}

// withoutChecks leaves out what costs nothing.
func withoutChecks(items []item) []item {
	var out []item
	for _, it := range items {
		if it.law == withinLaw {
			continue
		}
		var choices [][]item
		for _, c := range it.choices {
			if c = withoutChecks(c); len(c) > 0 {
				choices = append(choices, c)
			}
		}
		if it.law == choice && len(choices) == 0 {
			continue
		}
		it.choices = choices
		out = append(out, it)
	}
	return out
}
