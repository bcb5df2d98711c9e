package exact

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A chain is a trial built answer by answer. A function that reveals something of each
// element, and shares one noisy number between them, is forced to most where many
// answers press that number one way and the others spend all that there is of a budget:
// an event that small inputs do not have, and of little probability. It is come to by
// links, which are answers to one element alone, near the other inputs and far above and
// below them: one is put before the others, again and again, while that gains.
type chain struct {
	trial
	// made are the classes of its links, in order. Links of a class give answers of one
	// kind, and differ in the level of their element.
	made []int
}

const (
	// longestChain is how many links one has.
	longestChain = 12
	// maxLinks are those that chains from a setting are made of, and maxAlike those of
	// one level and outcome, whose scores are linkApart from each other.
	maxLinks  = 16
	maxAlike  = 4
	linkApart = 0.02
	// chainGain is what a link must add to the score of a chain.
	chainGain = 1e-3
	// chainShare is the least budget with which a setting is worth being tried.
	chainShare = 100
)

// chains builds chains from settings, few from each; then more from those that came
// farthest, of different whole numbers: counts of answers are among those. It climbs from
// the best.
func (r *refuter) chains(ctx context.Context, climbs int) (*trial, error) {
	settings := r.counted()
	r.say("answers before answers")
	t, ends, err := r.chained(ctx, settings, 2, r.Budget/2)
	if t != nil || err != nil {
		return t, err
	}
	order := make([]int, len(ends))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(ends[j].score, ends[i].score) })
	var best []setting
	seen := map[string]bool{}
	for _, i := range order {
		if k := r.whole(settings[i]); !seen[k] && len(best) < 4 && ends[i].event != nil {
			seen[k] = true
			best = append(best, settings[i])
		}
	}
	r.say("more answers before answers")
	if t, ends, err = r.chained(ctx, best, 8, r.Budget); t != nil || err != nil {
		return t, err
	}
	r.pool = nil
	for _, c := range ends {
		if c.event != nil {
			r.pool = append(r.pool, c.trial)
		}
	}
	return r.climbs(ctx, climbs)
}

// chained builds chains from settings, of each length so many, and returns the best of
// each setting.
func (r *refuter) chained(ctx context.Context, settings []setting, width, budget int) (*trial, []chain, error) {
	settings = settings[:min(len(settings), budget/chainShare)]
	if len(settings) == 0 {
		return nil, nil, nil
	}
	share := budget / len(settings) * plainTrial
	ends := make([]chain, len(settings))
	counts := make([]int, len(settings))
	winner, err := r.each(ctx, len(settings), func(m *measurer, i int) (bool, error) {
		until := m.work + share
		links, err := r.links(ctx, m, settings[i], until)
		if err != nil || len(links) == 0 {
			return false, ctx.Err()
		}
		l, err := r.code.allowed(r.claim, links[0].pair)
		if err != nil {
			return false, ctx.Err()
		}
		ends[i].score = math.Inf(-1)
		open := links
		for range longestChain {
			open = foremost(open, width)
			if len(open) == 0 {
				break
			}
			if open[0].score > ends[i].score {
				ends[i] = open[0]
			}
			if l.refuted(open[0].trial) {
				return true, nil
			}
			var longer []chain
			for _, c := range open {
				for _, k := range links {
					if m.work > until {
						break
					}
					counts[i]++
					t, ok := r.linked(ctx, m, k.trial, c.trial)
					if ctx.Err() != nil {
						return false, ctx.Err()
					}
					if ok && t.score > c.score+chainGain {
						made := append(slices.Clone(c.made), k.made...)
						slices.Sort(made)
						longer = append(longer, chain{t, made})
					}
				}
			}
			open = longer
		}
		return false, nil
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range min(winner+1, len(ends)) {
		if ends[i].event != nil {
			r.note(counts[i], ends[i].trial)
		}
	}
	if winner < len(ends) {
		return &ends[winner].trial, nil, nil
	}
	return nil, ends, nil
}

// linked is a trial with a link before it, or behind it if the link ends the run.
func (r *refuter) linked(ctx context.Context, m *measurer, link, to trial) (t trial, ok bool) {
	for _, both := range [][2]trial{{link, to}, {to, link}} {
		p, e, ok := r.joined(both[0], both[1])
		if !ok {
			return t, false
		}
		t, err := m.try(ctx, r.claim, p, e, evaluation())
		if err != nil || t.p.hi > 0 {
			return t, err == nil
		}
	}
	return t, false
}

// joined has the elements of two trials, and what is revealed of them, one after the
// other. It reports false where they disagree about anything else, and where they are no
// neighbours together.
func (r *refuter) joined(s, t trial) (p pair, e *Event, ok bool) {
	p, e = t.pair.clone(), t.event.clone()
	for i, v := range r.code.function.Inputs {
		switch {
		case v.Slice:
			p.first[i] = slices.Concat(s.pair.first[i], p.first[i])
			p.second[i] = slices.Concat(s.pair.second[i], p.second[i])
		case !same(s.pair.first[i][0], p.first[i][0]) || !same(s.pair.second[i][0], p.second[i][0]):
			return p, e, false
		}
	}
	f := s.event.clone()
	e.Outputs = slices.Concat(f.Outputs, e.Outputs)
	if len(f.Return) != len(e.Return) {
		return p, e, false
	}
	for i, x := range f.Return {
		y := &e.Return[i]
		switch {
		case x.Slice != y.Slice:
			return p, e, false
		case x.Slice:
			y.Elements = slices.Concat(x.Elements, y.Elements)
		case !equal(x.Low, y.Low) || !equal(x.High, y.High):
			return p, e, false
		}
	}
	return p, e, r.code.neighbours(r.claim, p) == nil
}

// links are the answers to single elements that force most, the best of each outcome and
// level first; where elements do not move by themselves, those that do not are others.
func (r *refuter) links(ctx context.Context, m *measurer, s setting, until int) ([]chain, error) {
	type place struct {
		link chain
		rank int // among those of its outcome and level
	}
	var all []place
	classes := map[string]int{}
	levels := []rational{{}}
	for i := 0; i < len(levels); i++ {
		flat := r.raised(s, 1, levels[i])
		pairs := r.pairs(flat, 10)
		if r.together(flat) {
			pairs = append(pairs, flat)
		}
		of := map[string][]trial{}
		var outcomes []string
		for _, p := range pairs {
			shapes, scales, err := m.shapes(ctx, p, 5_000, 20)
			if err != nil {
				return nil, err
			}
			if len(levels) == 1 && len(scales) > 0 {
				far := wholly("ceil", scales[len(scales)-1].times(integer(4)))
				levels = append(levels, far, far.negated())
			}
			for _, sh := range shapes {
				k := fmt.Sprint(sh.event.outcome(), p.equal())
				if of[k] == nil {
					outcomes = append(outcomes, k)
				}
				if _, known := classes[k]; !known {
					classes[k] = len(classes) * maxAlike
				}
				for _, e := range sh.single(r.points) {
					if m.work > until {
						break
					}
					if t, err := m.try(ctx, r.claim, p, e, evaluation()); err == nil && t.p.lo > 0 {
						of[k] = append(of[k], t)
					}
				}
			}
		}
		for _, k := range outcomes {
			slices.SortStableFunc(of[k], func(s, t trial) int { return cmp.Compare(t.score, s.score) })
			rank, last := 0, math.Inf(1)
			for _, t := range of[k] {
				if rank < maxAlike && last-t.score > linkApart {
					all = append(all, place{chain{t, []int{classes[k] + rank}}, rank})
					rank, last = rank+1, t.score
				}
			}
		}
	}
	slices.SortStableFunc(all, func(s, t place) int {
		return cmp.Or(cmp.Compare(s.rank, t.rank), cmp.Compare(t.link.score, s.link.score))
	})
	var links []chain
	for _, x := range all[:min(maxLinks, len(all))] {
		links = append(links, x.link)
	}
	return links, ctx.Err()
}

// single are events of a shape, few of them: what is open lies near a number that the
// function names, or beyond it.
func (sh shape) single(points []rational) []*Event {
	if len(sh.slots) == 0 {
		return []*Event{sh.event}
	}
	var all []*Event
	for _, sl := range sh.slots {
		width := sl.spread.times(fraction(1, 64))
		for _, p := range append([]rational{sl.center}, points...) {
			low := sl.round(p).rat()
			high := low
			if !sl.whole { // beside what may have probability of its own
				low, high = p.plus(width).rat(), p.plus(width).plus(width).rat()
			}
			for _, r := range []Range{{Low: low, High: high}, {Low: low}} {
				e := sh.event.clone()
				*e.leaves()[sl.leaf] = r
				all = append(all, e)
			}
		}
	}
	return all
}

// foremost are the best chains, most of them, each made of others.
func foremost(all []chain, most int) []chain {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(s, t chain) int { return cmp.Compare(t.score, s.score) })
	var taken []chain
	seen := map[string]bool{}
	for _, c := range all {
		if k := fmt.Sprint(c.made); !seen[k] && len(taken) < most && !math.IsInf(c.score, -1) {
			seen[k] = true
			taken = append(taken, c)
		}
	}
	return taken
}

// counted are the plainest setting and those that differ from it in a small whole number,
// or in the first two choices of another input.
func (s *space) counted() []setting {
	plain := s.settings(1, searchDepth)
	if len(plain) == 0 {
		return nil
	}
	tried := map[int]int{}
	return append(plain, slices.DeleteFunc(s.axes(), func(t setting) bool {
		for i, v := range s.code.function.Inputs {
			switch {
			case same(t[i], plain[0][i]):
			case v.Sort == program.Int:
				return t[i].abs().cmp(integer(5)) > 0
			default:
				tried[i]++
				return tried[i] > 2
			}
		}
		return true
	})...)
}

// whole names the numbers of a setting that are not real.
func (s *space) whole(of setting) string {
	var b strings.Builder
	for i, v := range s.code.function.Inputs {
		if v.Sort != program.Real {
			b.WriteString(of[i].rat().RatString() + " ")
		}
	}
	return b.String()
}

// together reports whether how one element moves limits how others may.
func (s *space) together(p pair) bool {
	return slices.ContainsFunc(s.relations, func(a *claim.Adjacency) bool {
		if a == nil {
			return false
		}
		lo, hi, err := s.code.between(*a, s.code.bind(p.first))
		return a.Relation == claim.One || err == nil && lo.plus(hi).sign() != 0
	})
}
