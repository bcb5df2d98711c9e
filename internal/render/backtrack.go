package render

import (
	"regexp/syntax"
	"strconv"
	"strings"
)

// A library that matches by backtracking, as Trino's Joni does, tries all ways in which a pattern can read a text before it says that
// none matches. Of ([a-z]+ ?)+$ there are 2^27 for 28 letters and a sign behind them (34 s), so that one person's text would hold
// up a worker for good. A pattern is refused where the number of ways can grow exponentially with the text. It can exactly where
// two different ways lead from a place of the pattern back to it and read the same letters (Weber, Seidl: On the degree of ambiguity
// of finite automata, 1991, theorem 4.1).
//
// Places are those of Glushkov's automaton, one for each letter or class as it is written: regexp/syntax merges a|[a-z], Joni does not.

// most is what numbers of ways are counted to, and maxPairs bounds the work of deciding.
const (
	most     = 2
	maxPairs = 200_000
)

// backtracks reports whether the number of ways to read a text can grow exponentially. The pattern is one that bind has accepted.
func backtracks(pattern string) bool {
	p := &places{rest: pattern}
	p.alternatives(false)
	return p.failed || p.doubled()
}

// A piece is a part of a pattern: in how many ways it can be empty, begin and end with a place.
type piece struct {
	empty       int
	first, last map[int]int
}

type places struct {
	rest   string
	failed bool
	sets   [][]rune      // the ranges of letters that each place reads
	follow []map[int]int // in how many ways a place follows on another
}

func (p *places) alternatives(repeated bool) piece {
	out := p.sequence(repeated)
	for strings.HasPrefix(p.rest, "|") {
		p.rest = p.rest[1:]
		other := p.sequence(repeated)
		out = piece{min(out.empty+other.empty, most), plus(out.first, other.first, 1), plus(out.last, other.last, 1)}
	}
	return out
}

func (p *places) sequence(repeated bool) piece {
	out := piece{empty: 1}
	for p.rest != "" && p.rest[0] != '|' && p.rest[0] != ')' && !p.failed {
		out = p.then(out, p.quantified(repeated))
	}
	return out
}

func (p *places) then(a, b piece) piece {
	p.link(a.last, b.first)
	return piece{min(a.empty*b.empty, most), plus(a.first, b.first, a.empty), plus(b.last, a.last, b.empty)}
}

func (p *places) link(last, first map[int]int) {
	for l, n := range last {
		p.follow[l] = plus(p.follow[l], first, n)
	}
}

func plus(a, b map[int]int, times int) map[int]int {
	out := make(map[int]int, len(a)+len(b))
	for k, n := range a {
		out[k] = n
	}
	for k, n := range b {
		if n*times > 0 {
			out[k] = min(out[k]+n*times, most)
		}
	}
	return out
}

// quantified reads an atom with its quantifier. A count above 3, or within another one, is read as if it had no end: (a?){25} has
// 2^25 ways, too.
func (p *places) quantified(repeated bool) piece {
	before := p.rest
	atom := p.atom(repeated)
	if p.rest == "" {
		return atom
	}
	switch p.rest[0] {
	case '?':
		p.rest = p.rest[1:]
		return piece{min(atom.empty+1, most), atom.first, atom.last}
	case '*':
		p.rest = p.rest[1:]
		return p.loop(atom, 0)
	case '+':
		p.rest = p.rest[1:]
		return p.loop(atom, 1)
	case '{':
	default:
		return atom
	}
	count, after, _ := strings.Cut(p.rest[1:], "}")
	low, high, ranged := strings.Cut(count, ",")
	if !ranged {
		high = low
	}
	least, err := strconv.Atoi(low)
	largest, endless := strconv.Atoi(high)
	if p.failed = p.failed || err != nil; p.failed {
		return atom
	}
	if repeated || endless != nil || largest > 3 {
		p.rest = before
		body := p.atom(true)
		p.rest = after
		p.failed = p.failed || body.empty > 0 // any of the repetitions can be the empty ones
		return p.loop(body, min(least, 1))
	}
	out := piece{empty: 1}
	for i := range largest {
		p.rest = before
		next := p.atom(true)
		if i >= least {
			next.empty = min(next.empty+1, most)
		}
		out = p.then(out, next)
	}
	p.rest = after
	return out
}

func (p *places) loop(a piece, least int) piece {
	p.link(a.last, a.first)
	return piece{min(a.empty+1-least, most), a.first, a.last}
}

// atom reads a letter, a class, an anchor or a group.
func (p *places) atom(repeated bool) piece {
	switch {
	case p.rest[0] == '(':
		p.rest = strings.TrimPrefix(p.rest[1:], "?:")
		out := p.alternatives(repeated)
		p.failed = p.failed || p.rest == ""
		p.rest = strings.TrimPrefix(p.rest, ")")
		return out
	case p.rest[0] == '^', p.rest[0] == '$':
		p.rest = p.rest[1:]
		return piece{empty: 1}
	}
	length := len(string([]rune(p.rest)[:1]))
	switch p.rest[0] {
	case '\\':
		length = min(2, len(p.rest))
	case '[':
		for escaped := false; length < len(p.rest); length++ {
			if p.rest[length] == ']' && !escaped {
				length++
				break
			}
			escaped = p.rest[length] == '\\' && !escaped
		}
	}
	e, err := syntax.Parse(p.rest[:length], syntax.Perl|syntax.DotNL)
	p.rest = p.rest[length:]
	if err != nil {
		p.failed = true
		return piece{empty: 1}
	}
	set := []rune{0, 0x10FFFF}
	switch e.Op {
	case syntax.OpCharClass:
		set = e.Rune
	case syntax.OpLiteral:
		set = []rune{e.Rune[0], e.Rune[0]}
	}
	p.sets = append(p.sets, set)
	p.follow = append(p.follow, nil)
	at := map[int]int{len(p.sets) - 1: 1}
	return piece{0, at, at}
}

// doubled reports whether two ways lead from a place back to it and read the same letters: whether, among pairs of places that can
// be reached by the same letters, a pair of one place and a pair of two, or two ways between pairs of one, lie on a cycle.
func (p *places) doubled() bool {
	type pair struct{ a, b int }
	number := map[pair]int{}
	var pairs []pair
	var next [][]int
	at := func(q pair) int {
		n, ok := number[q]
		if !ok {
			n = len(pairs)
			number[q] = n
			pairs = append(pairs, q)
			next = append(next, nil)
		}
		return n
	}
	for i := range p.sets {
		at(pair{i, i})
	}
	work := 0
	for i := 0; i < len(pairs); i++ {
		for a := range p.follow[pairs[i].a] {
			for b := range p.follow[pairs[i].b] {
				if work++; work > maxPairs {
					return true
				}
				if meet(p.sets[a], p.sets[b]) {
					next[i] = append(next[i], at(pair{a, b}))
				}
			}
		}
	}
	for _, c := range components(next) {
		one, two := false, false
		in := map[int]bool{}
		for _, i := range c {
			in[i] = true
			one = one || pairs[i].a == pairs[i].b
			two = two || pairs[i].a != pairs[i].b
		}
		if one && two {
			return true
		}
		for _, i := range c {
			for _, j := range next[i] {
				if one && in[j] && p.follow[pairs[i].a][pairs[j].a] > 1 {
					return true
				}
			}
		}
	}
	return false
}

// meet reports whether two lists of ranges have a letter in common.
func meet(a, b []rune) bool {
	for i := 0; i+1 < len(a); i += 2 {
		for j := 0; j+1 < len(b); j += 2 {
			if a[i] <= b[j+1] && b[j] <= a[i+1] {
				return true
			}
		}
	}
	return false
}

// components are the strongly connected parts of a graph (Tarjan).
func components(next [][]int) (out [][]int) {
	index, low := make([]int, len(next)), make([]int, len(next))
	placed := make([]bool, len(next))
	var stack []int
	count := 0
	var visit func(i int)
	visit = func(i int) {
		count++
		index[i], low[i] = count, count
		stack = append(stack, i)
		for _, j := range next[i] {
			if index[j] == 0 {
				visit(j)
				low[i] = min(low[i], low[j])
			} else if !placed[j] {
				low[i] = min(low[i], index[j])
			}
		}
		if low[i] < index[i] {
			return
		}
		var part []int
		for {
			j := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			placed[j] = true
			if part = append(part, j); j == i {
				break
			}
		}
		out = append(out, part)
	}
	for i := range next {
		if index[i] == 0 {
			visit(i)
		}
	}
	return out
}
