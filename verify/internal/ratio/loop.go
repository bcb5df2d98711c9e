package ratio

import (
	"fmt"
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// loop relates a loop: what is known before every round is found by joining what is
// known after rounds, and the number of rounds, equal in both runs, multiplies what one
// costs.
func (p *prover) loop(s *program.Loop, at state) (effect, error) {
	line := p.line(s.Pos)
	before := at.paid
	at.paid, at.fresh = []cost{free()}, nil
	at = p.begin(s, at)
	head, round, err := p.head(s, at)
	if err != nil {
		return effect{}, err
	}
	paid := p.largest(round.costs())
	steps := round.steps
	rarely := p.rarely(s)
	free := len(paid) == 1 && paid[0].free()
	if !free {
		once, more, err := p.sparse(s, head, paid, steps, rarely)
		if len(p.hits[s]) > 0 {
			once, more, err = p.struck(s, head)
		}
		if err == nil {
			paid, steps = once, more
		} else if times, err := p.rounds(s, at); err != nil {
			return effect{}, err
		} else {
			paid = p.repeated(paid, times)
			steps = append(steps, Step{line, fmt.Sprintf("at most %v rounds, each at that cost", times)})
		}
	}
	total := p.after(before, paid)
	end := head
	for x, states := range round.exits {
		if x.loop == s && !x.next {
			for _, b := range states {
				end = p.join(end, b)
			}
		}
	}
	end.paid, end.fresh = total, nil
	result := effect{end: end, exits: map[exit][]state{}, steps: steps}
	if round.returned != nil {
		result.returned = total
	}
	for x, states := range round.exits {
		if x.loop != s && len(p.hits[s]) > 0 {
			return effect{}, undecided("line %d: a loop is left for another one", line)
		}
		if x.loop != s {
			for _, b := range states {
				b.paid = total
				result.exits[x] = append(result.exits[x], b)
			}
		}
	}
	return result, nil
}

// costs are those of one round, however it ends.
func (e effect) costs() []cost {
	all := slices.Concat(e.end.paid, e.returned)
	for _, states := range e.exits {
		for _, b := range states {
			all = slices.Concat(all, b.paid)
		}
	}
	return all
}

// head is what is known whenever the condition is evaluated, and the round from there:
// what was known before stays known after it.
func (p *prover) head(s *program.Loop, at state) (state, effect, error) {
	head := at
	for range 4 + 2*len(at.vars) {
		round, err := p.round(s, head)
		if err != nil {
			return state{}, effect{}, err
		}
		end := round.end
		end.paid = head.paid
		next := p.join(head, end)
		next.paid = head.paid
		if alike(head, next) {
			return head, round, nil
		}
		// A bound that grows would go on growing.
		for v, x := range next.vars {
			if y := head.vars[v]; x.relation == near && (y.relation == near || y.relation == equal) && !sameInterval(x, y) && y.relation == near {
				x.relation = apart
				next.vars[v] = x
			}
		}
		head = next
	}
	return state{}, effect{}, undecided("line %d: what stays true in the loop", p.line(s.Pos))
}

func sameInterval(x, y value) bool {
	return x.low.String() == y.low.String() && x.high.String() == y.high.String()
}

func alike(s, t state) bool {
	return maps.EqualFunc(s.vars, t.vars, func(x, y value) bool {
		text := func(e program.Expression) string {
			if e == nil {
				return ""
			}
			return e.String()
		}
		return x.relation == y.relation && (x.relation != near || sameInterval(x, y)) &&
			text(x.expr) == text(y.expr) && text(x.length) == text(y.length) && text(x.uniform) == text(y.uniform) &&
			x.lengths == y.lengths && x.one == y.one && x.permuted == y.permuted
	})
}

// round relates one round, in which the condition holds.
func (p *prover) round(s *program.Loop, at state) (effect, error) {
	cond, after, steps := p.eval(s.Cond, at, p.line(s.Pos))
	if cond.relation != equal {
		return effect{}, undecided("line %d: how often the loop runs depends on private data", p.line(s.Pos))
	}
	body, err := p.list(s.Body, after)
	if err != nil {
		return effect{}, err
	}
	body = effect{steps: steps}.then(body)
	for _, b := range body.exits[exit{s, true}] {
		body.end = p.join(body.end, b)
	}
	delete(body.exits, exit{s, true})
	if body.end.dead {
		return body, nil
	}
	post, err := p.list(s.Post, body.end)
	if err != nil {
		return effect{}, err
	}
	return body.then(post), nil
}

// rounds is an upper bound of the number of rounds: n−start for a counter that goes up
// by one and stays below n.
func (p *prover) rounds(s *program.Loop, at state) (fraction, error) {
	set := assigned(slices.Concat(s.Body, s.Post))
	for _, c := range conjuncts(s.Cond) {
		b, ok := c.(program.Binary)
		if !ok {
			continue
		}
		x, y, op := b.X, b.Y, b.Op
		if op == program.Gt || op == program.Ge {
			x, y = y, x
			op = map[program.Op]program.Op{program.Gt: program.Lt, program.Ge: program.Le}[op]
		}
		i, ok := x.(program.Ref)
		if !ok || op != program.Lt && op != program.Le || counter(s) != i.Var || touches(y, set) {
			continue
		}
		start, first := p.fraction(p.value(i, at))
		end, second := p.fraction(p.value(y, at))
		if first != nil || second != nil {
			continue
		}
		n := end.minus(start)
		if op == program.Le {
			n = n.plus(rational(one))
		}
		if p.nonnegative(n.num) {
			return n, nil
		}
		return n, undecided("line %d: that the number of rounds, %v, is not negative", p.line(s.Pos), n)
	}
	return fraction{}, undecided("line %d: how often the loop runs at most", p.line(s.Pos))
}

// counter is the whole variable that goes up by one after every round, and is set nowhere
// else in it. (From 0 below 2.5 there are three rounds.)
func counter(s *program.Loop) *program.Variable {
	for _, t := range s.Post {
		a, ok := t.(*program.Assign)
		if !ok || a.To.Sort != program.Int {
			continue
		}
		next := program.Binary{Op: program.Add, X: program.Ref{Var: a.To}, Y: program.Number{Value: one}}
		if a.Value.String() != next.String() {
			continue
		}
		sets := 0
		program.Each(slices.Concat(s.Body, s.Post), func(t program.Statement) {
			if program.Written(t) == a.To {
				sets++
			}
		})
		if sets == 1 {
			return a.To
		}
	}
	return nil
}

func conjuncts(e program.Expression) []program.Expression {
	if b, ok := e.(program.Binary); ok && b.Op == program.And {
		return slices.Concat(conjuncts(b.X), conjuncts(b.Y))
	}
	return []program.Expression{e}
}

func touches(e program.Expression, set map[*program.Variable]bool) bool {
	found := false
	refs(e, func(v *program.Variable) { found = found || set[v] })
	return found
}

// rarely lists the inputs of which one element differs, if the loop reads them nowhere
// but at its counter: at most one round meets that element.
func (p *prover) rarely(s *program.Loop) []*program.Variable {
	i := counter(s)
	if i == nil {
		return nil
	}
	set := assigned(p.f.Body)
	var found []*program.Variable
	for _, a := range p.claim.Adjacent {
		if a.Relation != claim.One || set[a.Input] || p.public[a.Input] {
			continue
		}
		all, at := 0, 0
		program.Each(slices.Concat(s.Body, s.Post), func(t program.Statement) {
			for _, e := range reads(t) {
				all += mentions(e, a.Input)
				at += elements(e, a.Input, i)
			}
		})
		if all > 0 && all == at && mentionsIn(s.Post, a.Input) == 0 {
			found = append(found, a.Input)
		}
	}
	return found
}

func mentionsIn(list []program.Statement, v *program.Variable) (n int) {
	program.Each(list, func(t program.Statement) {
		for _, e := range reads(t) {
			n += mentions(e, v)
		}
	})
	return n
}

// elements counts the places where an expression reads v[i].
func elements(e program.Expression, v, i *program.Variable) int {
	if x, ok := e.(program.Element); ok && x.Slice == v {
		if r, ok := x.Index.(program.Ref); ok && r.Var == i {
			return 1
		}
	}
	n := 0
	for _, x := range parts(e) {
		n += elements(x, v, i)
	}
	return n
}

// sparse takes the rounds that meet a differing element apart from the others, which
// must cost nothing.
func (p *prover) sparse(s *program.Loop, head state, paid []cost, steps []Step, rarely []*program.Variable) ([]cost, []Step, error) {
	if len(rarely) == 0 {
		return nil, nil, undecided("line %d: that few rounds meet a differing element", p.line(s.Pos))
	}
	q := *p
	q.public = maps.Clone(p.public)
	h := head
	for _, v := range rarely {
		q.public[v] = true
		x := h.get(v)
		h = h.set(v, value{lengths: x.lengths, length: x.length})
	}
	round, err := q.round(s, h)
	if err != nil {
		return nil, nil, err
	}
	rest := q.largest(round.costs())
	if len(rest) != 1 || !rest[0].free() {
		return nil, nil, undecided("line %d: a round that meets no differing element costs %v", p.line(s.Pos), rest[0])
	}
	for v, x := range round.end.vars {
		if y, ok := h.vars[v]; ok && y.relation == equal && x.relation != equal {
			return nil, nil, undecided("line %d: %s stays equal in rounds that meet no differing element", p.line(s.Pos), v.Name)
		}
	}
	n := rational(one)
	for range len(rarely) - 1 {
		n = n.plus(rational(one))
	}
	if len(rarely) > 1 {
		paid = p.repeated(paid, n)
	}
	return paid, append(steps, Step{p.line(s.Pos), fmt.Sprintf("%v round at most meets an element that differs; the others cost nothing", n)}), nil
}
