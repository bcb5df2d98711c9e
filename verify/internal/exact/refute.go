package exact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Search bounds a search for a counterexample. Its result does not depend on the
// number of workers.
type Search struct {
	// Budget is how many pairs and events are evaluated, about; 0 means 12 000.
	Budget int
	// Workers evaluate at the same time; 0 means 1.
	Workers int
	// Progress, if not nil, is told what is being tried. It is called from one
	// goroutine at a time.
	Progress func(string)
}

// A Counterexample is a pair of neighbours and an event that exclude a claim.
type Counterexample struct {
	program.Pair
	// Event is what is revealed, in words: "returns [false true]".
	Event string
	// Condition is the event.
	Condition Event
	// P and Q hold the event's probability under the first and the second.
	P, Q Interval
	// Forced is a lower bound of the epsilon that P and Q force, with the claim's
	// delta: of the rho for zCDP. It is +Inf where Q is 0.
	Forced float64
	// Claimed is what the claim allows the pair: an epsilon, or a rho.
	Claimed float64
	Measure claim.Measure
	// Fails is a range of the claim's only parameter, inclusive, at every tested
	// value of which the same pair and event refute it, and Parameter its name; nil
	// where the cost has none, or several.
	Fails     *[2]float64
	Parameter string
}

// Tried says what a search looked at.
type Tried struct {
	// Trials is how many pairs with events were evaluated.
	Trials int
	// Longest is the length of the longest slice of them.
	Longest int
	// Closest is the largest part of the claim that any of them needed: 1 is all of
	// it. It is 0 for claims with a delta.
	Closest float64
	// Reason is why nothing was evaluated, if nothing was.
	Reason error
	// Open is set where some of what is revealed was left out of all events.
	Open bool
}

// String is a note for an unknown verdict.
func (t *Tried) String() string {
	if t.Trials == 0 && t.Reason != nil {
		return "no inputs were tried: " + t.Reason.Error()
	}
	s := fmt.Sprintf("%d pairs of inputs and events were evaluated, of up to %d elements", t.Trials, t.Longest)
	if t.Closest > 0 {
		s += fmt.Sprintf("; the closest needs %.4g of what is claimed", t.Closest)
	}
	return s
}

// Refute searches for a counterexample to a claim's cost. It returns nil, and what it
// tried, where it finds none within its budget: that proves nothing.
func Refute(ctx context.Context, f *program.Function, cl *claim.Claim, hints []program.Pair, o Search) (*Counterexample, *Tried, error) {
	tried := &Tried{}
	if cl.Cost == nil {
		return nil, tried, fmt.Errorf("%w: there is no cost to refute", ErrUnsupported)
	}
	c, err := compile(f)
	if err != nil {
		return nil, tried, err
	}
	r := &refuter{space: newSpace(c, cl), tried: tried, Search: o}
	if r.Budget == 0 {
		r.Budget = 12_000
	}
	r.Workers = max(1, r.Workers)
	for range r.Workers {
		r.measurers = append(r.measurers, newMeasurer(c))
	}
	t, err := r.search(ctx, hints)
	tried.Open = c.opened.Load()
	if err != nil || t == nil {
		return nil, tried, err
	}
	counter, err := r.report(ctx, *t)
	return counter, tried, err
}

// A refuter is a search.
type refuter struct {
	*space
	Search
	tried     *Tried
	measurers []*measurer
	pool      []trial
	kept      []trial // the best of each pair
	scales    []rational
	// deal is set where a few events of each shape are tried before the others: a search that
	// is cut leaves none out.
	deal bool
}

// search goes from small inputs, all of them, to climbs from the best.
func (r *refuter) search(ctx context.Context, hints []program.Pair) (*trial, error) {
	var first []pair
	for _, h := range hints {
		if p, ok := r.code.pairOf(h); ok && r.code.neighbours(r.claim, p) == nil {
			first = append(first, p)
		}
	}
	if t, err := r.enumerate(ctx, "hints", first, r.Budget/4); t != nil || err != nil {
		return t, err
	}
	settings := r.settings(16, searchDepth)
	if len(settings) == 0 && r.tried.Trials == 0 {
		r.tried.Reason = errors.New("no small inputs meet what is required")
	}
	// Longer inputs are tried with few settings: not those that differ in the price.
	plain := slices.Clone(settings)
	price := r.mentioned()
	slices.SortStableFunc(plain, func(s, t setting) int {
		return cmp.Compare(r.repriced(price, s, settings[0]), r.repriced(price, t, settings[0]))
	})
	for _, round := range []struct {
		n, settings, trials, climbs int
	}{{1, 16, 10, 0}, {2, 16, 10, 6}, {3, 4, 12, 6}, {4, 2, 20, 12}} {
		var pairs []pair
		for i, s := range plain {
			if i >= round.settings && len(pairs) >= 150 {
				break
			}
			pairs = append(pairs, r.pairs(r.flat(s, round.n), 100)...)
			if round.n == 1 {
				pairs = append(pairs, r.pairs(r.flat(s, 0), 20)...)
			}
		}
		if round.n == 1 && len(plain) > 0 && r.scaled { // noise may depend on the size of what is private
			for _, level := range append(fractions(1, 5), r.points[2:]...) {
				pairs = append(pairs, r.pairs(r.raised(plain[0], round.n, level), 10)...)
			}
		}
		what := fmt.Sprintf("inputs of %d elements", round.n)
		if t, err := r.enumerate(ctx, what, pairs, r.Budget*round.trials/100); t != nil || err != nil {
			return t, err
		}
		if t, err := r.climbs(ctx, round.climbs); t != nil || err != nil {
			return t, err
		}
	}
	var pairs []pair
	for _, s := range r.axes() {
		pairs = append(pairs, r.pairs(r.flat(s, 1), 10)...)
		pairs = append(pairs, r.pairs(r.flat(s, 0), 5)...)
	}
	if t, err := r.enumerate(ctx, "each input at its extremes", pairs, r.Budget/10); t != nil || err != nil || len(settings) == 0 {
		return t, err
	}
	pairs = nil
	for _, n := range r.sizes() {
		for _, level := range r.levels() {
			pairs = append(pairs, r.pairs(r.raised(settings[0], n, level), 12)...)
		}
	}
	if t, err := r.enumerate(ctx, "as many elements as the function names", pairs, r.Budget/20); t != nil || err != nil {
		return t, err
	}
	if t, err := r.stretches(ctx, 15, 6); t != nil || err != nil {
		return t, err
	}
	if t, err := r.chains(ctx, 6); t != nil || err != nil {
		return t, err
	}
	for _, n := range []int{2, 3} {
		r.kept, r.pool, pairs = nil, nil, nil
		for _, s := range r.axes() {
			pairs = append(pairs, r.pairs(r.flat(s, n), 30)...)
		}
		what := fmt.Sprintf("each input at its extremes, with %d elements", n)
		if t, err := r.enumerate(ctx, what, pairs, r.Budget*15/100); t != nil || err != nil {
			return t, err
		}
		if t, err := r.climbs(ctx, 6); t != nil || err != nil {
			return t, err
		}
	}
	if t, err := r.stretches(ctx, 15, 6); t != nil || err != nil {
		return t, err
	}
	return r.farther(ctx, plain[0], 4)
}

// farther tries inputs whose elements already lie apart as those of their neighbours do: what
// tells two of them apart tells more then. The events of each shape come in turn.
func (r *refuter) farther(ctx context.Context, s setting, n int) (*trial, error) {
	var pairs []pair
	for _, p := range r.pairs(r.flat(s, n), 100) {
		if p = r.moved(p); r.code.neighbours(r.claim, p) == nil {
			pairs = append(pairs, p)
		}
	}
	var points []rational
	for _, x := range r.points {
		points = append(points, x, x.negated())
	}
	r.points = slices.CompactFunc(points, same)
	r.kept, r.pool, r.deal = nil, nil, true
	what := fmt.Sprintf("inputs of %d elements that lie apart", n)
	if t, err := r.enumerate(ctx, what, pairs, r.Budget*40/100); t != nil || err != nil {
		return t, err
	}
	return r.climbs(ctx, 12)
}

// moved is a pair whose slices have both moved as the second did.
func (s *space) moved(p pair) pair {
	q := p.clone()
	for i, v := range s.code.function.Inputs {
		if !v.Slice || len(p.first[i]) != len(p.second[i]) {
			continue
		}
		for j, x := range p.first[i] {
			d := p.second[i][j].minus(x)
			q.first[i][j], q.second[i][j] = q.first[i][j].plus(d), q.second[i][j].plus(d)
		}
	}
	return q
}

// dealt takes the events of each shape in turn, single outcomes first: of whole noise all
// others are made of these.
func dealt(lists [][]*Event) (all []*Event) {
	open := func(e *Event) (n int) {
		for _, leaf := range e.leaves() {
			if !leaf.fixed() {
				n++
			}
		}
		return n
	}
	longest := 0
	for _, list := range lists {
		slices.SortStableFunc(list, func(e, f *Event) int { return cmp.Compare(open(e), open(f)) })
		longest = max(longest, len(list))
	}
	for i := range longest {
		for _, list := range lists {
			if i < len(list) {
				all = append(all, list[i])
			}
		}
	}
	return all
}

// stretches repeats elements of the best of each pair many times, and climbs from there:
// a climb goes on from what is best of short inputs, which need not be best of long ones.
func (r *refuter) stretches(ctx context.Context, trials, climbs int) (*trial, error) {
	var longer []trial
	for _, t := range r.kept {
		longer = append(longer, r.stretched(t)...)
	}
	longer = spread(longer, r.Budget*trials/1000)
	r.kept, r.pool = nil, nil
	r.say("longer inputs")
	tried := make([]bool, len(longer))
	winner, err := r.each(ctx, len(longer), func(m *measurer, i int) (bool, error) {
		p, e := longer[i].pair, longer[i].event
		l, err := r.code.allowed(r.claim, p)
		if err != nil || r.code.neighbours(r.claim, p) != nil {
			return false, ctx.Err()
		}
		t, err := m.try(ctx, r.claim, p, e, evaluation())
		if err != nil {
			return false, ctx.Err()
		}
		longer[i], tried[i] = t, true
		return l.refuted(t), nil
	})
	if err != nil {
		return nil, err
	}
	for i, t := range longer[:min(winner+1, len(longer))] {
		if tried[i] {
			r.note(1, t)
			r.pool = append(r.pool, t)
		}
	}
	if winner < len(longer) {
		return &longer[winner], nil
	}
	return r.climbs(ctx, climbs)
}

// repriced counts the inputs of the cost in which settings differ.
func (r *refuter) repriced(price map[*program.Variable]role, s, t setting) int {
	n := 0
	for i, v := range r.code.function.Inputs {
		if price[v] != free && !same(s[i], t[i]) {
			n++
		}
	}
	return n
}

func (r *refuter) say(what string) {
	if r.Progress != nil {
		r.Progress(what)
	}
}

// each calls do for 0, ..., n−1, on all workers, and returns the least index for
// which it is true; what lies behind it may not be called.
func (r *refuter) each(ctx context.Context, n int, do func(m *measurer, i int) (bool, error)) (int, error) {
	var mu sync.Mutex
	next, found := 0, n
	var failed error
	var wg sync.WaitGroup
	for _, m := range r.measurers {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= found || failed != nil
				mu.Unlock()
				if stop {
					return
				}
				yes, err := do(m, i)
				if err == nil {
					err = ctx.Err()
				}
				mu.Lock()
				if err != nil {
					failed = err
				} else if yes {
					found = min(found, i)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return found, failed
}

// enumerate evaluates pairs with all the events that their first runs suggest.
func (r *refuter) enumerate(ctx context.Context, what string, pairs []pair, most int) (*trial, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	r.say(what)
	pairs = spread(pairs, max(20, most/4))
	share := max(4, most/len(pairs))
	best := make([][]trial, len(pairs))
	counts := make([]int, len(pairs))
	reasons := make([]error, len(pairs))
	scales := make([][]rational, len(pairs))
	winner, err := r.each(ctx, len(pairs), func(m *measurer, i int) (bool, error) {
		shapes, s, err := m.shapes(ctx, pairs[i], 20_000, 100)
		if scales[i] = s; err != nil {
			reasons[i] = err
			return false, ctx.Err()
		}
		l, err := r.code.allowed(r.claim, pairs[i])
		if err != nil {
			reasons[i] = err
			return false, nil
		}
		lists := make([][]*Event, len(shapes))
		for i, sh := range shapes {
			lists[i] = sh.events(r.points)
		}
		events := slices.Concat(lists...)
		if r.deal {
			events = dealt(lists)
		}
		if r.claim.Cost.Measure == claim.Approximate {
			events = opposites(events)
		}
		start := m.work
		if !r.deal {
			events = spread(events, share)
		}
		for _, e := range events[:min(share, len(events))] {
			if m.work-start > share*plainTrial {
				break
			}
			t, err := m.try(ctx, r.claim, pairs[i], e, evaluation())
			if err != nil {
				reasons[i] = err
				if ctx.Err() != nil {
					return false, ctx.Err()
				}
				continue
			}
			counts[i]++
			best[i] = append(best[i], t)
			if l.refuted(t) {
				return true, nil
			}
		}
		slices.SortStableFunc(best[i], func(s, t trial) int { return cmp.Compare(t.score, s.score) })
		best[i] = best[i][:min(3, len(best[i]))]
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	for i := range min(winner+1, len(pairs)) {
		r.note(counts[i], best[i]...)
		if reasons[i] != nil && r.tried.Reason == nil {
			r.tried.Reason = reasons[i]
		}
		for _, s := range scales[i] {
			if len(r.scales) < 8 && !slices.ContainsFunc(r.scales, func(x rational) bool { return same(x, s) }) {
				r.scales = append(r.scales, s)
			}
		}
	}
	if winner < len(pairs) {
		t := best[winner][len(best[winner])-1]
		return &t, nil
	}
	for _, b := range best {
		r.pool = append(r.pool, b...)
		if len(b) > 0 {
			r.kept = append(r.kept, b[0])
		}
	}
	return nil, nil
}

// spread picks at most most of a list, evenly.
func spread[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	picked := make([]T, most)
	for i := range picked {
		picked[i] = all[i*len(all)/most]
	}
	return picked
}

// note records what was tried.
func (r *refuter) note(trials int, all ...trial) {
	r.tried.Trials += trials
	for _, t := range all {
		for i := range t.pair.first {
			if r.code.function.Inputs[i].Slice {
				r.tried.Longest = max(r.tried.Longest, len(t.pair.first[i]), len(t.pair.second[i]))
			}
		}
		if r.claim.Cost.Measure != claim.Approximate && !math.IsInf(t.score, 0) {
			r.tried.Closest = max(r.tried.Closest, t.score+1)
		}
	}
}

// climbs improves the best trials of the pool, which leave it.
func (r *refuter) climbs(ctx context.Context, n int) (*trial, error) {
	slices.SortStableFunc(r.pool, func(s, t trial) int { return cmp.Compare(t.score, s.score) })
	starts := r.diverse(n)
	if len(starts) == 0 {
		return nil, nil
	}
	r.say(fmt.Sprintf("climbing from the %d closest", len(starts)))
	steps := r.distancesThatMatter()
	ends := make([]*climber, len(starts))
	share := r.Budget / 50
	winner, err := r.each(ctx, len(starts), func(m *measurer, i int) (bool, error) {
		ends[i] = &climber{measurer: m, space: r.space, left: share, steps: steps, best: starts[i]}
		return ends[i].climb(ctx)
	})
	if err != nil {
		return nil, err
	}
	for i := range min(winner+1, len(ends)) {
		r.note(share-max(0, ends[i].left), ends[i].best)
	}
	if winner < len(ends) {
		return &ends[winner].best, nil
	}
	return nil, nil
}

// diverse takes the best trials from the pool, of different scores, and no more than
// a third of one choice of scalars, or of one outcome: one that comes close early would
// crowd out others.
func (r *refuter) diverse(n int) []trial {
	var taken, rest []trial
	of := map[string]int{}
	for _, t := range r.pool {
		if slices.ContainsFunc(taken, func(s trial) bool { return math.Abs(s.score-t.score) < 1e-6 }) {
			continue
		}
		scalars, outcome := r.scalars(t.pair), "event "+t.event.outcome()
		if most := (n + 2) / 3; len(taken) < n && of[scalars] < most && of[outcome] < most && !math.IsInf(t.score, -1) {
			taken = append(taken, t)
			of[scalars]++
			of[outcome]++
		} else {
			rest = append(rest, t)
		}
	}
	if n > 0 {
		r.pool = rest
	}
	return taken
}

// scalars names the choice of inputs that are the same in both runs, but for those
// of which the cost speaks.
func (r *refuter) scalars(p pair) string {
	var b strings.Builder
	price := r.mentioned()
	for i, v := range r.code.function.Inputs {
		if !v.Slice && r.relations[i] == nil && price[v] == free {
			b.WriteString(p.first[i][0].rat().RatString() + " ")
		}
	}
	return b.String()
}

// distancesThatMatter are 1, and multiples of the scales of noise.
func (r *refuter) distancesThatMatter() []rational {
	all := []rational{integer(1)}
	if len(r.scales) > 0 {
		slices.SortFunc(r.scales, rational.cmp)
		last := r.scales[len(r.scales)-1]
		all = append(all, r.scales[0], last, last.times(integer(4)), last.times(integer(16)))
	}
	for _, v := range r.code.function.Inputs {
		if v.Slice && v.Sort != program.Real {
			for i := range all {
				all[i] = wholly("ceil", all[i])
			}
		}
	}
	slices.SortFunc(all, rational.cmp)
	return slices.CompactFunc(all, same)
}
