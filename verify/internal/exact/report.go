package exact

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// report makes a readable counterexample of a trial, evaluated once more with narrow
// intervals.
func (r *refuter) report(ctx context.Context, t trial) (*Counterexample, error) {
	t, err := r.simplified(ctx, t)
	if err != nil {
		return nil, err
	}
	return r.standing(ctx, t)
}

// standing evaluates a counterexample, and refuses what does not refute.
func (r *refuter) standing(ctx context.Context, t trial) (*Counterexample, error) {
	m := r.measurers[0]
	l, err := r.code.allowed(r.claim, t.pair)
	if err != nil {
		return nil, err
	}
	exactly, err := m.try(ctx, r.claim, t.pair, t.event, Options{Steps: 1_000_000, Width: 1e-9})
	if err == nil && l.judge(exactly.p, exactly.q).refuted {
		t = exactly
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// Whatever the search did, what is reported is checked here.
	if err := r.code.neighbours(r.claim, t.pair); err != nil {
		return nil, err
	}
	v := l.judge(t.p, t.q)
	if !v.refuted {
		return nil, fmt.Errorf("%w: a counterexample that does not stand", ErrUnsupported)
	}
	counter := &Counterexample{
		Pair:      program.Pair{First: r.code.inputs(t.pair.first), Second: r.code.inputs(t.pair.second)},
		Event:     r.code.words(t.event),
		Condition: *t.event,
		P:         Interval{t.p.lo, t.p.hi},
		Q:         Interval{t.q.lo, t.q.hi},
		Forced:    v.forced, Claimed: v.claimed, Measure: l.measure,
	}
	return counter, r.fails(ctx, t, counter)
}

// simplified drops elements and makes numbers plain while the claim stays refuted.
func (r *refuter) simplified(ctx context.Context, t trial) (trial, error) {
	m := r.measurers[0]
	left := 300
	still := func(p pair, e *Event) bool {
		if left--; left < 0 || ctx.Err() != nil || r.code.neighbours(r.claim, p) != nil {
			return false
		}
		u, err := m.try(ctx, r.claim, p, e, evaluation())
		if err != nil {
			return false
		}
		l, err := r.code.allowed(r.claim, u.pair)
		if err != nil || !l.refuted(u) {
			return false
		}
		t = u
		return true
	}
	for again := true; again && left > 0; {
		again = false
		for i, v := range r.code.function.Inputs {
			for j := 0; v.Slice && j < len(t.pair.first[i]); j++ {
				for _, e := range shrunk(t.event, j) {
					if p, ok := r.without(t.pair, i, j); ok && still(p, e) {
						again = true
						j--
						break
					}
				}
			}
		}
		for i, v := range r.code.function.Inputs {
			for j := range t.pair.first[i] {
				if j >= len(t.pair.second[i]) {
					break
				}
				x, y := t.pair.first[i][j], t.pair.second[i][j]
				// Equal, at 0, at 1, at half the distance: what is plainer comes first.
				tries := [][2]rational{{x, x}, {{}, y.minus(x)}, {x.minus(y), {}}}
				if same(x, y) {
					tries = [][2]rational{{{}, {}}, {integer(1), integer(1)}}
				}
				if half := wholly("int", x.times(fraction(1, 2))); !same(half, x) {
					tries = append(tries, [2]rational{half, half.plus(y.minus(x))})
				}
				for _, try := range tries {
					if plainness(try[0])+plainness(try[1]) >= plainness(x)+plainness(y) && !(same(try[0], try[1]) && !same(x, y)) {
						continue
					}
					p := t.pair.clone()
					p.first[i][j], p.second[i][j] = try[0], try[1]
					if still(p, t.event) {
						again = true
						break
					}
				}
			}
			_ = v
		}
		for i, leaf := range t.event.leaves() {
			if leaf.fixed() || leaf.Low == nil && leaf.High == nil {
				continue
			}
			e := t.event.clone()
			e.leaves()[i].Low, e.leaves()[i].High = nil, nil
			again = still(t.pair, e) || again
		}
	}
	return t, ctx.Err()
}

// plainness counts the digits of a number, and is 0 for 0.
func plainness(x rational) float64 {
	if x.sign() == 0 {
		return 0
	}
	f, _ := x.abs().rat().Float64()
	return math.Abs(math.Log2(f)) + 1 + math.Log2(float64(x.rat().Denom().BitLen()))
}

// without drops element j of input i, and of slices of the same length.
func (r *refuter) without(p pair, i, j int) (pair, bool) {
	n := len(p.first[i])
	q := p.clone()
	for k, v := range r.code.function.Inputs {
		if !v.Slice || len(p.first[k]) != n || len(p.second[k]) <= j {
			continue
		}
		q.first[k] = slices.Delete(q.first[k], j, j+1)
		q.second[k] = slices.Delete(q.second[k], j, j+1)
	}
	return q, len(q.first[i]) < n
}

// shrunk are the events that may be left when element j is dropped.
func shrunk(e *Event, j int) []*Event {
	f := e.clone()
	matched := false
	if len(f.Outputs) > j {
		f.Outputs = slices.Delete(f.Outputs, j, j+1)
		matched = true
	}
	for i := range f.Return {
		if r := &f.Return[i]; r.Slice && len(r.Elements) > j {
			r.Elements = slices.Delete(r.Elements, j, j+1)
			matched = true
		}
	}
	if matched {
		return []*Event{f, e}
	}
	all := []*Event{e}
	for i, r := range e.Return {
		if r.fixed() && r.Low.IsInt() && r.Low.Num().IsInt64() && r.Low.Num().Int64() > int64(j) {
			g := e.clone()
			g.Return[i] = Is(big.NewRat(r.Low.Num().Int64()-1, 1))
			all = append(all, g)
		}
	}
	return all
}

// fails finds the range of the claim's only parameter in which the counterexample
// stands, among values that lie a factor of 2 apart.
func (r *refuter) fails(ctx context.Context, t trial, counter *Counterexample) error {
	at := -1
	for v := range r.mentioned() {
		i := slices.Index(r.code.function.Inputs, v)
		if i < 0 || at >= 0 || r.relations[i] != nil {
			return nil
		}
		at = i
	}
	if at < 0 {
		return nil
	}
	stands := func(x rational) bool {
		p := t.pair.clone()
		p.first[at][0], p.second[at][0] = x, x
		if r.code.neighbours(r.claim, p) != nil {
			return false
		}
		l, err := r.code.allowed(r.claim, p)
		if err != nil {
			return false
		}
		var q [2]narrow
		for i, run := range [][][]rational{p.first, p.second} {
			if q[i], err = r.measurers[0].event(ctx, r.code.bind(run), t.event, evaluation()); err != nil {
				return false
			}
		}
		return l.judge(q[0], q[1]).refuted
	}
	here := t.pair.first[at][0]
	ends := [2]rational{here, here}
	for i, by := range []rational{fraction(1, 2), integer(2)} {
		for x, n := here.times(by), 0; n < 7 && stands(x); x, n = x.times(by), n+1 {
			ends[i] = x
		}
	}
	var fails [2]float64
	for i, x := range ends {
		fails[i], _ = x.rat().Float64()
	}
	slices.Sort(fails[:])
	counter.Fails, counter.Parameter = &fails, r.code.function.Inputs[at].Name
	return ctx.Err()
}

// words is an event in words: "outputs false, true", "returns [5 1/2]", "returns -1,
// a value of at most 3".
func (c *code) words(e *Event) string {
	if e.Not {
		is := e.clone()
		is.Not = false
		return "all but: " + c.words(is)
	}
	var parts []string
	var outputs []string
	sorts := c.sorts(func(s program.Statement) []program.Expression {
		if o, ok := s.(*program.Output); ok {
			return o.Values
		}
		return nil
	})
	for _, t := range e.Outputs {
		text := wordsOf(t, sorts, nil)
		if len(t) > 1 {
			text = "(" + text + ")"
		}
		outputs = append(outputs, text)
	}
	if len(outputs) > 0 {
		parts = append(parts, "outputs "+strings.Join(outputs, ", "))
	} else if e.Return == nil {
		parts = append(parts, "outputs nothing")
	}
	if len(e.Return) > 0 {
		parts = append(parts, "returns "+wordsOf(e.Return, c.sorts(func(s program.Statement) []program.Expression {
			if o, ok := s.(*program.Return); ok {
				return o.Values
			}
			return nil
		}), c.function))
	}
	if e.Return != nil && len(e.Return) == 0 && c.sorts(func(s program.Statement) []program.Expression {
		if r, ok := s.(*program.Return); ok {
			return r.Values
		}
		return nil
	}) != nil {
		parts = append(parts, "panics") // what has results returns them
	}
	if len(parts) == 0 {
		return "returns"
	}
	return strings.Join(parts, " and ")
}

// sorts are those of the values that statements reveal.
func (c *code) sorts(of func(program.Statement) []program.Expression) []program.Sort {
	for _, s := range c.steps {
		if values := of(s.statement); values != nil {
			var all []program.Sort
			for _, e := range values {
				all = append(all, program.SortOf(e))
			}
			return all
		}
	}
	return nil
}

// wordsOf are those of values that f returns, or shows otherwise (nil).
func wordsOf(ranges []Range, sorts []program.Sort, f *program.Function) string {
	var all []string
	for i, r := range ranges {
		s := program.Real
		if i < len(sorts) {
			s = sorts[i]
		}
		var texts []string
		if f != nil && i < len(f.Told) && f.Told[i] {
			texts = f.Texts
		}
		all = append(all, r.words(s, texts))
	}
	return strings.Join(all, ", ")
}

// words are a range's, of numbers of a sort or of those that stand for texts.
func (r Range) words(s program.Sort, texts []string) string {
	switch {
	case r.Slice:
		var all []string
		plain := true
		for _, e := range r.Elements {
			all = append(all, e.words(s, texts))
			plain = plain && e.fixed()
		}
		if plain {
			return "[" + strings.Join(all, " ") + "]"
		}
		return "[" + strings.Join(all, ", ") + "]"
	case r.Low == nil && r.High == nil:
		return "anything"
	case len(texts) > 0:
		var all []string
		for i, text := range texts {
			if n := big.NewRat(int64(i), 1); (r.Low == nil || r.Low.Cmp(n) <= 0) && (r.High == nil || n.Cmp(r.High) <= 0) {
				all = append(all, strconv.Quote(text))
			}
		}
		return strings.Join(all, " or ")
	case r.fixed() && s == program.Bool:
		return fmt.Sprint(r.Low.Sign() != 0)
	case r.fixed():
		return decimal(r.Low)
	case r.Low == nil:
		return "at most " + decimal(r.High)
	case r.High == nil:
		return "at least " + decimal(r.Low)
	}
	return "between " + decimal(r.Low) + " and " + decimal(r.High)
}

// decimal writes a number as Go would, where that is exact and short.
func decimal(r *big.Rat) string {
	if f, exact := r.Float64(); exact {
		if s := fmt.Sprint(f); len(s) < 12 {
			return s
		}
	}
	return r.RatString()
}
