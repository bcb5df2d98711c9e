package exact

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A climber improves a trial by changing one thing at a time.
type climber struct {
	*measurer
	space *space
	// left is how many more trials it may evaluate.
	left  int
	steps []rational
	best  trial
}

// plainTrial is the work of an event with a handful of draws, for both runs: what a
// search has a budget of. The work of evaluations is counted in statements, and as
// much as they take for integrals.
const plainTrial = 1000

// evaluation bounds one trial: those that take longer are not worth it.
func evaluation() Options { return Options{Steps: 30_000, Width: 1e-2, Paths: 100} }

// better evaluates a trial and keeps it if it is better. It reports whether it is,
// and stops with an error of the context only.
func (c *climber) better(ctx context.Context, p pair, e *Event) (bool, error) {
	if c.left--; c.left < 0 {
		return false, nil
	}
	if c.space.code.neighbours(c.space.claim, p) != nil {
		return false, nil
	}
	before := c.work
	t, err := c.try(ctx, c.space.claim, p, e, evaluation())
	c.left -= (c.work - before) / plainTrial
	if err != nil {
		return false, ctx.Err()
	}
	// A gain must be worth its while, or a climb creeps up to a limit.
	worth := 1e-4
	if c.space.claim.Cost.Measure == claim.Approximate {
		worth = 1e-3 * min(1, math.Abs(c.best.score)) // a difference of probabilities, of any size
	}
	if !(t.score-c.best.score > worth) {
		return false, nil
	}
	c.best = t
	return true, nil
}

// refuted reports whether the best trial certainly excludes the claim.
func (c *climber) refuted() (bool, error) {
	l, err := c.code.allowed(c.space.claim, c.best.pair)
	return err == nil && l.refuted(c.best), err
}

// climb goes up until nothing helps, or the claim is refuted.
func (c *climber) climb(ctx context.Context) (bool, error) {
	for c.left > 0 {
		improved := false
		for _, kind := range []func(context.Context) (bool, error){c.distances, c.positions, c.intervals, c.grow} {
			up, err := kind(ctx)
			if err != nil {
				return false, err
			}
			improved = improved || up
			if done, err := c.refuted(); done || err != nil {
				return done, err
			}
		}
		if !improved {
			return false, nil
		}
	}
	return false, nil
}

// distances tries other distances of single elements.
func (c *climber) distances(ctx context.Context) (improved bool, err error) {
	for _, at := range c.space.coordinates(c.best.pair) {
		for _, d := range c.space.moves(c.best.pair, at.input) {
			p := c.best.pair.clone()
			x := p.first[at.input][at.element]
			if p.second[at.input][at.element] = x.plus(d); same(p.second[at.input][at.element], c.best.pair.second[at.input][at.element]) {
				continue
			}
			// Pairs may have been swapped: the other sign is tried too.
			up, err := c.better(ctx, p, c.best.event)
			if err != nil {
				return improved, err
			}
			if !up {
				q := c.best.pair.clone()
				q.second[at.input][at.element] = x.minus(d)
				if up, err = c.better(ctx, q, c.best.event); err != nil {
					return improved, err
				}
			}
			improved = improved || up
		}
	}
	return improved, nil
}

// groups are sets of elements that are moved together: those that differ alike
// between the runs, and each alone.
func (c *climber) groups() [][]coordinate {
	all := c.space.coordinates(c.best.pair)
	for i, r := range c.space.relations {
		v := c.code.function.Inputs[i]
		if r == nil && v.Slice || r != nil && len(all) == 0 {
			for j := range c.best.pair.first[i] {
				all = append(all, coordinate{i, j})
			}
		}
	}
	signs := map[int][]coordinate{}
	for _, at := range all {
		if at.element < len(c.best.pair.second[at.input]) {
			s := c.best.pair.second[at.input][at.element].cmp(c.best.pair.first[at.input][at.element])
			signs[s] = append(signs[s], at)
		}
	}
	var found [][]coordinate
	for _, s := range []int{-1, 0, 1} {
		if len(signs[s]) > 1 && len(signs[s]) < len(all) {
			found = append(found, signs[s])
		}
	}
	for _, at := range all {
		found = append(found, []coordinate{at})
	}
	return append(found, c.knobs()...)
}

// knobs are the public scalars, each alone, that no cost or distance is counted in:
// thresholds, most of them.
func (c *climber) knobs() (found [][]coordinate) {
	price := c.space.mentioned()
	for i, v := range c.code.function.Inputs {
		if !v.Slice && v.Sort != program.Bool && c.space.relations[i] == nil && price[v] == free && !c.space.bounding(v) {
			found = append(found, []coordinate{{i, 0}})
		}
	}
	return found
}

// positions moves elements of both runs together.
func (c *climber) positions(ctx context.Context) (improved bool, err error) {
	for _, group := range c.groups() {
		for {
			moved := false
			for _, step := range c.steps {
				for _, d := range []rational{step, step.negated()} {
					p := c.best.pair.clone()
					for _, at := range group {
						if at.element < len(p.first[at.input]) {
							p.first[at.input][at.element] = p.first[at.input][at.element].plus(d)
						}
						if at.element < len(p.second[at.input]) {
							p.second[at.input][at.element] = p.second[at.input][at.element].plus(d)
						}
					}
					up, err := c.better(ctx, p, c.best.event)
					if err == nil && !up && c.space.claim.Cost.Measure == claim.Approximate {
						if e := c.following(group, d); e != nil {
							up, err = c.better(ctx, p, e)
						}
					}
					if err != nil {
						return improved, err
					}
					moved = moved || up
				}
			}
			if !moved || c.left <= 0 {
				break
			}
			improved = true
		}
	}
	return improved, nil
}

// following is the event in which what showed an element of the group moves with it, or
// nil if nothing does.
func (c *climber) following(group []coordinate, d rational) *Event {
	e := c.best.event.clone()
	found := false
	for _, leaf := range e.leaves() {
		if !leaf.fixed() {
			continue
		}
		at := rationalOf(leaf.Low)
		shows := func(run [][]rational) bool {
			return slices.ContainsFunc(group, func(x coordinate) bool {
				return x.element < len(run[x.input]) && same(run[x.input][x.element], at)
			})
		}
		if shows(c.best.pair.first) || shows(c.best.pair.second) {
			*leaf, found = Is(at.plus(d).rat()), true
		}
	}
	if !found {
		return nil
	}
	return e
}

// intervals moves and changes the conditions on what depends on noise.
func (c *climber) intervals(ctx context.Context) (improved bool, err error) {
	for i := range c.best.event.leaves() {
		for {
			var changed []*Event
			change := func(low, high *rational) {
				e := c.best.event.clone()
				leaf := e.leaves()[i]
				leaf.Low, leaf.High = nil, nil
				if low != nil {
					leaf.Low = low.rat()
				}
				if high != nil {
					leaf.High = high.rat()
				}
				changed = append(changed, e)
			}
			leaf := c.best.event.leaves()[i]
			var low, high *rational
			if leaf.Low != nil {
				r := rationalOf(leaf.Low)
				low = &r
			}
			if leaf.High != nil {
				r := rationalOf(leaf.High)
				high = &r
			}
			if low == nil && high == nil {
				break
			}
			if low != nil && high != nil && !leaf.fixed() {
				change(low, nil)
				change(nil, high)
			}
			for _, step := range c.steps {
				for _, d := range []rational{step, step.negated()} {
					moved := func(r *rational) *rational {
						if r == nil {
							return nil
						}
						s := r.plus(d)
						return &s
					}
					change(moved(low), moved(high))
				}
			}
			up := false
			for _, e := range changed {
				if up, err = c.better(ctx, c.best.pair, e); err != nil {
					return improved, err
				}
				if up {
					improved = true
					break
				}
			}
			if !up || c.left <= 0 {
				break
			}
		}
	}
	return improved, nil
}

// longestTrial is the length of slices beyond which none grows.
const longestTrial = 24

// grow repeats an element, and what was revealed of it.
func (c *climber) grow(ctx context.Context) (improved bool, err error) {
	for i, v := range c.code.function.Inputs {
		if !v.Slice || c.space.relations[i] == nil {
			continue
		}
		for j := 0; j < len(c.best.pair.first[i]) && len(c.best.pair.first[i]) < longestTrial; j++ {
			n := len(c.best.pair.first[i])
			if len(c.best.pair.second[i]) != n {
				break
			}
			p := c.space.repeated(c.best.pair, i, j)
			for _, e := range grown(c.best.event, j, n) {
				up, err := c.better(ctx, p, e)
				if err != nil {
					return improved, err
				}
				if up {
					improved = true
					break
				}
			}
		}
	}
	return improved, nil
}

// stretched are trials with one element repeated many times, and what was revealed of it:
// what is free for a program forces its noise to move then.
func (s *space) stretched(t trial) (found []trial) {
	for i, v := range s.code.function.Inputs {
		if !v.Slice || s.relations[i] == nil || s.relations[i].Relation == claim.Bag {
			continue
		}
		n := len(t.pair.first[i])
		for j := range n {
			p, e := t.pair.clone(), t.event
			for more := range stretch {
				p = s.repeated(p, i, j)
				e = grown(e, j, n+more)[0]
			}
			found = append(found, trial{pair: p, event: e})
		}
	}
	return found
}

// stretch is how often an element is repeated at once.
const stretch = 6

// repeated is a pair in which element j of slice i is there twice, and those of the
// slices that are as long; of one that may differ in one element, the first of them
// does not.
func (s *space) repeated(of pair, i, j int) pair {
	p := of.clone()
	n := len(p.first[i])
	for k, w := range s.code.function.Inputs {
		if w.Slice && len(p.first[k]) == n && len(p.second[k]) == n {
			p.first[k] = slices.Insert(p.first[k], j, p.first[k][j])
			p.second[k] = slices.Insert(p.second[k], j, p.second[k][j])
		}
	}
	if r := s.relations[i]; r.Relation == claim.One {
		p.second[i][j] = p.first[i][j]
	}
	return p
}

// grown are the events that may follow when element j of n is repeated: what is
// revealed of each is repeated, an index behind it moves on, or nothing changes.
func grown(e *Event, j, n int) []*Event {
	var all []*Event
	f := e.clone()
	matched := false
	if len(f.Outputs) > j && j < n {
		f.Outputs = slices.Insert(f.Outputs, j, cloneRanges(f.Outputs[j]))
		matched = true
	}
	for i := range f.Return {
		if r := &f.Return[i]; r.Slice && len(r.Elements) > j {
			r.Elements = slices.Insert(r.Elements, j, cloneRanges(r.Elements[j:j+1])...)
			matched = true
		}
	}
	if matched {
		return append(all, f)
	}
	for i := range e.Return {
		r := e.Return[i]
		if r.fixed() && r.Low.IsInt() && r.Low.Num().IsInt64() && r.Low.Num().Int64() >= int64(j) && r.Low.Num().Int64() < int64(n) {
			g := e.clone()
			g.Return[i] = Is(integer(r.Low.Num().Int64() + 1).rat())
			all = append(all, g)
		}
	}
	return append(all, e)
}
