package exact

import (
	"math/big"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// The programs of the tests, written as data: the front end is tested elsewhere.

type ex = program.Expression
type stmt = program.Statement

func num(r string) ex {
	v, ok := new(big.Rat).SetString(r)
	if !ok {
		panic(r)
	}
	return program.Number{Value: v, Sort: program.Real}
}

func intOf(n int64) ex { return program.Number{Value: big.NewRat(n, 1), Sort: program.Int} }

func rat(r string) *big.Rat {
	v, ok := new(big.Rat).SetString(r)
	if !ok {
		panic(r)
	}
	return v
}

func bin(x ex, op program.Op, y ex) ex { return program.Binary{Op: op, X: x, Y: y} }
func add(x, y ex) ex                   { return bin(x, program.Add, y) }
func sub(x, y ex) ex                   { return bin(x, program.Sub, y) }
func mul(x, y ex) ex                   { return bin(x, program.Mul, y) }
func quo(x, y ex) ex                   { return bin(x, program.Quo, y) }
func ge(x, y ex) ex                    { return bin(x, program.Ge, y) }
func neg(x ex) ex                      { return program.Unary{Op: program.Sub, X: x} }

// A builder makes a function.
type builder struct {
	f *program.Function
	c *claim.Claim
}

func function(name string) *builder {
	return &builder{&program.Function{Package: "test", Name: name}, &claim.Claim{}}
}

func (b *builder) input(name string, s program.Sort, slice bool) *program.Variable {
	v := &program.Variable{Name: name, Sort: s, Slice: slice, Input: true}
	b.f.Inputs = append(b.f.Inputs, v)
	return v
}

func (b *builder) each(q *program.Variable, lo, hi ex) {
	b.c.Adjacent = append(b.c.Adjacent, claim.Adjacency{Relation: claim.Each, Input: q, Low: lo, High: hi})
}

func (b *builder) one(q *program.Variable) {
	b.c.Adjacent = append(b.c.Adjacent, claim.Adjacency{Relation: claim.One, Input: q, Low: neg(num("1")), High: num("1")})
}

func (b *builder) requires(e ex) { b.c.Requires = append(b.c.Requires, e) }
func (b *builder) cost(e ex)     { b.c.Cost = &claim.Cost{Epsilon: e} }

func local(name string, s program.Sort) *program.Variable {
	return &program.Variable{Name: name, Sort: s}
}

func ref(v *program.Variable) ex         { return program.Ref{Var: v} }
func set(v *program.Variable, e ex) stmt { return &program.Assign{To: v, Value: e} }
func lap(v *program.Variable, scale ex) stmt {
	return &program.Draw{To: v, Law: program.Laplace, Parameter: scale}
}
func law(v *program.Variable, l program.Law, p ex) stmt {
	return &program.Draw{To: v, Law: l, Parameter: p}
}
func out(e ...ex) stmt { return &program.Output{Values: e} }
func ret(e ...ex) stmt { return &program.Return{Values: e} }
func when(c ex, then, otherwise []stmt) stmt {
	return &program.If{Cond: c, Then: then, Else: otherwise}
}
func yes() ex { return program.Truth(true) }
func no() ex  { return program.Truth(false) }

// over is a range loop over q: body is given the index, the element and the loop.
func over(q *program.Variable, body func(i, x *program.Variable, l *program.Loop) []stmt) []stmt {
	i := &program.Variable{Name: "i", Sort: program.Int, Natural: true}
	x := local("x", q.Sort)
	l := &program.Loop{Cond: bin(ref(i), program.Lt, program.Length{Slice: q})}
	l.Body = append([]stmt{set(x, program.Element{Slice: q, Index: ref(i)})}, body(i, x, l)...)
	l.Post = []stmt{set(i, add(ref(i), intOf(1)))}
	return []stmt{set(i, intOf(0)), l}
}

// svt describes a sparse vector: the scales of the threshold and of a query, times
// eps; whether it stops after n answers, and what it shows of one.
type svt struct {
	name             string
	threshold, query ex // scales × eps, over N
	bounded          bool
	show             func(x, eta, t *program.Variable) (draws []stmt, value ex)
	redraw           ex
	adjacent         string // "", "up", "down"
	cost             ex     // over eps and N; nil: eps
}

var (
	epsVar = &program.Variable{Name: "eps", Sort: program.Real, Input: true}
	nVar   = &program.Variable{Name: "N", Sort: program.Int, Input: true}
)

func (s svt) build() (*program.Function, *claim.Claim) {
	b := function(s.name)
	q := b.input("q", program.Real, true)
	threshold := b.input("T", program.Real, false)
	b.f.Inputs = append(b.f.Inputs, nVar, epsVar)
	switch s.adjacent {
	case "up":
		b.each(q, num("0"), num("1"))
	case "down":
		b.each(q, neg(num("1")), num("0"))
	default:
		b.each(q, neg(num("1")), num("1"))
	}
	b.requires(bin(ref(epsVar), program.Gt, num("0")))
	b.requires(bin(ref(nVar), program.Gt, intOf(0)))
	if s.cost == nil {
		s.cost = ref(epsVar)
	}
	b.cost(s.cost)
	rho, t, eta, count := local("rho", program.Real), local("t", program.Real), local("eta", program.Real), local("count", program.Int)
	b.f.Body = []stmt{
		lap(rho, quo(s.threshold, ref(epsVar))),
		set(t, add(ref(threshold), ref(rho))),
		set(count, intOf(0)),
	}
	b.f.Body = append(b.f.Body, over(q, func(i, x *program.Variable, l *program.Loop) []stmt {
		var body []stmt
		noisy := ref(x)
		if s.query != nil {
			body = append(body, lap(eta, quo(s.query, ref(epsVar))))
			noisy = add(ref(x), ref(eta))
		}
		var above []stmt
		below := []stmt{out(no())}
		if s.show == nil {
			above = append(above, out(yes()))
		} else {
			draws, value := s.show(x, eta, t)
			above = append(append(above, draws...), out(yes(), value))
			below = []stmt{out(no(), num("0"))}
		}
		if s.bounded {
			above = append(above, set(count, add(ref(count), intOf(1))))
			above = append(above, when(ge(ref(count), ref(nVar)), []stmt{&program.Break{Of: l}}, nil))
		}
		if s.redraw != nil {
			above = append(above, lap(rho, quo(s.redraw, ref(epsVar))), set(t, add(ref(threshold), ref(rho))))
		}
		return append(body, when(ge(noisy, ref(t)), above, below))
	})...)
	return b.f, b.c
}

// nTimes is c·N.
func nTimes(c string) ex { return mul(num(c), program.Call{Func: "real", Args: []ex{ref(nVar)}}) }

func gap(x, eta, t *program.Variable) ([]stmt, ex) { return nil, sub(add(ref(x), ref(eta)), ref(t)) }
func noisy(x, eta, t *program.Variable) ([]stmt, ex) {
	return nil, add(ref(x), ref(eta))
}
func fresh(x, eta, t *program.Variable) ([]stmt, ex) {
	third := local("third", program.Real)
	return []stmt{lap(third, quo(nTimes("3"), ref(epsVar)))}, add(ref(x), ref(third))
}

var (
	svtRight  = svt{name: "SVT", threshold: num("2"), query: nTimes("4"), bounded: true}
	gapSVT    = svt{name: "GapSVT", threshold: num("2"), query: nTimes("4"), bounded: true, show: gap}
	numSVT    = svt{name: "NumSVT", threshold: num("3"), query: nTimes("6"), bounded: true, show: fresh}
	svtUp     = svt{name: "SVTUp", threshold: num("2"), query: nTimes("2"), bounded: true, adjacent: "up"}
	svtDown   = svt{name: "SVTDown", threshold: num("2"), query: nTimes("2"), bounded: true, adjacent: "down"}
	lyu2      = svt{name: "Lyu2", threshold: nTimes("2"), query: nTimes("4"), bounded: true, redraw: nTimes("2")}
	lyu3      = svt{name: "Lyu3", threshold: num("2"), query: nTimes("2"), bounded: true, show: noisy}
	lyu4      = svt{name: "Lyu4", threshold: num("4"), query: num("4/3"), bounded: true}
	lyu5      = svt{name: "Lyu5", threshold: num("2")}
	lyu6      = svt{name: "Lyu6", threshold: num("2"), query: num("2")}
	badGapSVT = svt{name: "BadGapSVT", threshold: num("2"), query: nTimes("4"), bounded: true, show: noisy}
)

func (b *builder) values(name string) *program.Variable { return b.input(name, program.Real, true) }

// noisyMax returns the index of the largest noisy value, or with value that value.
func noisyMax(l program.Law, scale string, value bool) (*program.Function, *claim.Claim) {
	b := function("NoisyMax")
	q := b.values("q")
	b.f.Inputs = append(b.f.Inputs, epsVar)
	b.each(q, neg(num("1")), num("1"))
	b.requires(bin(ref(epsVar), program.Gt, num("0")))
	b.requires(bin(program.Length{Slice: q}, program.Gt, intOf(0)))
	b.cost(ref(epsVar))
	best, arg, eta, noisy := local("best", program.Real), local("arg", program.Int), local("eta", program.Real), local("noisy", program.Real)
	b.f.Body = append([]stmt{set(best, num("0")), set(arg, intOf(0))}, over(q, func(i, x *program.Variable, _ *program.Loop) []stmt {
		return []stmt{
			law(eta, l, quo(num(scale), ref(epsVar))),
			set(noisy, add(ref(x), ref(eta))),
			when(bin(bin(ref(i), program.Eq, intOf(0)), program.Or, bin(ref(noisy), program.Gt, ref(best))),
				[]stmt{set(arg, ref(i)), set(best, ref(noisy))}, nil),
		}
	})...)
	if value {
		b.f.Body = append(b.f.Body, ret(ref(best)))
	} else {
		b.f.Body = append(b.f.Body, ret(ref(arg)))
	}
	return b.f, b.c
}

// partialSum returns the sum with noise of a scale times 1/eps.
func partialSum(l program.Law, scale string) (*program.Function, *claim.Claim) {
	b := function("PartialSum")
	q := b.values("q")
	b.f.Inputs = append(b.f.Inputs, epsVar)
	b.one(q)
	b.requires(bin(ref(epsVar), program.Gt, num("0")))
	b.cost(ref(epsVar))
	sum, eta := local("sum", program.Real), local("eta", program.Real)
	b.f.Body = append([]stmt{set(sum, num("0"))}, over(q, func(i, x *program.Variable, _ *program.Loop) []stmt {
		return []stmt{set(sum, add(ref(sum), ref(x)))}
	})...)
	b.f.Body = append(b.f.Body, law(eta, l, quo(num(scale), ref(epsVar))), ret(add(ref(sum), ref(eta))))
	return b.f, b.c
}

// prefixSum shows each sum so far, every element with noise of its own.
func prefixSum(scale string) (*program.Function, *claim.Claim) {
	b := function("PrefixSum")
	q := b.values("q")
	b.f.Inputs = append(b.f.Inputs, epsVar)
	b.one(q)
	b.requires(bin(ref(epsVar), program.Gt, num("0")))
	b.cost(ref(epsVar))
	next, eta := local("next", program.Real), local("eta", program.Real)
	b.f.Body = append([]stmt{set(next, num("0"))}, over(q, func(i, x *program.Variable, _ *program.Loop) []stmt {
		return []stmt{lap(eta, quo(num(scale), ref(epsVar))), set(next, add(add(ref(next), ref(x)), ref(eta))), out(ref(next))}
	})...)
	return b.f, b.c
}

// smartSum is that of Chan, Shi and Song; bad adds no noise to blocks.
func smartSum(bad bool) (*program.Function, *claim.Claim) {
	b := function("SmartSum")
	q := b.values("q")
	m := b.input("M", program.Int, false)
	b.f.Inputs = append(b.f.Inputs, epsVar)
	b.one(q)
	b.requires(bin(ref(epsVar), program.Gt, num("0")))
	b.requires(bin(ref(m), program.Gt, intOf(0)))
	b.cost(mul(num("2"), ref(epsVar)))
	next, n, sum, eta := local("next", program.Real), local("n", program.Real), local("sum", program.Real), local("eta", program.Real)
	b.f.Body = append([]stmt{set(next, num("0")), set(n, num("0")), set(sum, num("0"))}, over(q, func(i, x *program.Variable, _ *program.Loop) []stmt {
		boundary := bin(bin(add(ref(i), intOf(1)), program.Rem, ref(m)), program.Eq, intOf(0))
		block := []stmt{lap(eta, quo(num("1"), ref(epsVar))), set(n, add(add(add(ref(n), ref(sum)), ref(x)), ref(eta)))}
		if bad {
			block = []stmt{set(n, add(add(ref(n), ref(sum)), ref(x)))}
		}
		return []stmt{when(boundary,
			append(block, set(sum, num("0")), set(next, ref(n)), out(ref(next))),
			[]stmt{lap(eta, quo(num("1"), ref(epsVar))), set(next, add(add(ref(next), ref(x)), ref(eta))), set(sum, add(ref(sum), ref(x))), out(ref(next))})}
	})...)
	return b.f, b.c
}

// adaptiveSVT is SVT with gap and two levels; bad shows the noisy value on top, and price
// is what an answer on the lower one takes of the budget: 2 if it is right.
func adaptiveSVT(bad bool, price string) (*program.Function, *claim.Claim) {
	b := function("AdaptiveSVT")
	q := b.values("q")
	threshold := b.input("T", program.Real, false)
	b.f.Inputs = append(b.f.Inputs, nVar, epsVar)
	b.each(q, neg(num("1")), num("1"))
	b.requires(bin(ref(epsVar), program.Gt, num("0")))
	b.requires(bin(ref(nVar), program.Gt, intOf(0)))
	b.cost(ref(epsVar))
	rho, t, e1, e2, spent := local("rho", program.Real), local("t", program.Real), local("e1", program.Real), local("e2", program.Real), local("spent", program.Real)
	b.f.Body = append([]stmt{
		lap(rho, quo(num("2"), ref(epsVar))), set(t, add(ref(threshold), ref(rho))), set(spent, nTimes("2")),
	}, over(q, func(i, x *program.Variable, l *program.Loop) []stmt {
		top := sub(add(ref(x), ref(e1)), ref(t))
		shown := top
		if bad {
			shown = add(ref(x), ref(e1))
		}
		middle := sub(add(ref(x), ref(e2)), ref(t))
		return []stmt{
			lap(e1, quo(nTimes("8"), ref(epsVar))),
			lap(e2, quo(nTimes("4"), ref(epsVar))),
			when(ge(top, num("16")), []stmt{out(intOf(2), shown), set(spent, add(ref(spent), num("1")))},
				[]stmt{when(ge(middle, num("0")), []stmt{out(intOf(1), middle), set(spent, add(ref(spent), num(price)))}, []stmt{out(intOf(0), num("0"))})}),
			when(bin(ref(spent), program.Gt, sub(nTimes("4"), num("2"))), []stmt{&program.Break{Of: l}}, nil),
		}
	})...)
	return b.f, b.c
}
