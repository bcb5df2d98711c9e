package bind

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
)

// What a pattern matches is the same in all engines, but which of several texts it is need not be: of alternatives PostgreSQL
// takes the longest match, as POSIX has it, RE2 and Joni the first that leads to one, as Perl does. All begin as far left as a
// match can. A pattern is agreed where the first match is the longest in every text, and no group that is asked for can have two
// texts in one match. Both are decided by going through all states that its program can be in.
//
// RE2 and Joni differ in repetitions of what can be empty; they are left out.

// maxSteps bounds the work of deciding, so that a pattern cannot hold up the others who ask.
const maxSteps = 500_000

// matches are what is known of a pattern's matches.
type matches struct {
	first    string // says why the first match need not be the longest, or ""
	empty    bool   // a match can be empty
	twofold  bool   // a match can come about in several ways
	groups   int
	constant []bool // of groups: it is a part of each match, once
	program  *syntax.Prog
}

// matchesOf looks at a pattern that checkPattern has nothing against.
func matchesOf(pattern string) matches {
	tree, err := syntax.Parse(pattern, syntax.Perl|syntax.DotNL)
	if err != nil {
		return matches{first: "is not valid"}
	}
	m := matches{groups: tree.MaxCap()}
	m.constant = make([]bool, m.groups+1)
	parts := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpConcat {
		parts = tree.Sub
	}
	for _, part := range parts {
		if part.Op == syntax.OpCapture {
			m.constant[part.Cap] = true
		}
	}
	if repeatsEmpty(tree) {
		m.first = "repeats what can be empty"
		return m
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return matches{first: "is not valid"}
	}
	m.program = program
	w := walk{program: program, known: map[string]bool{}}
	for _, before := range []syntax.EmptyOp{syntax.EmptyBeginText, 0} {
		start := state{first: []uint32{uint32(program.Start)}, all: []uint32{uint32(program.Start)}, before: before}
		for _, after := range []syntax.EmptyOp{0, syntax.EmptyEndText} {
			threads, _ := w.threads(start.all, before|after)
			m.empty = m.empty || w.matches(threads)
		}
		w.from(start)
	}
	m.twofold = w.twofold
	switch {
	case w.steps > maxSteps:
		m.first = "is too long to be looked through"
	case w.differs:
		m.first = "has a first match that need not be the longest"
	}
	return m
}

// repeatsEmpty reports whether a part that can be empty is repeated.
func repeatsEmpty(e *syntax.Regexp) bool {
	switch e.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat, syntax.OpQuest:
		if canBeEmpty(e.Sub[0]) {
			return true
		}
	}
	return slices.ContainsFunc(e.Sub, repeatsEmpty)
}

func canBeEmpty(e *syntax.Regexp) bool {
	switch e.Op {
	case syntax.OpLiteral:
		return len(e.Rune) == 0
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return canBeEmpty(e.Sub[0])
	case syntax.OpRepeat:
		return e.Min == 0 || canBeEmpty(e.Sub[0])
	case syntax.OpConcat:
		return !slices.ContainsFunc(e.Sub, func(s *syntax.Regexp) bool { return !canBeEmpty(s) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(e.Sub, canBeEmpty)
	}
	return true // repetitions, and anchors
}

// A walk goes through the states that a program can be in behind the beginning of a match.
type walk struct {
	program          *syntax.Prog
	known            map[string]bool
	steps            int
	differs, twofold bool
}

// A state has the threads of those who take the first match, without what comes after one, and all threads: places in the
// program, the preferred ones first.
type state struct {
	first, all []uint32
	before     syntax.EmptyOp
}

func (w *walk) from(start state) {
	states := []state{start}
	for len(states) > 0 && w.steps <= maxSteps {
		s := states[len(states)-1]
		states = states[:len(states)-1]
		if key := fmt.Sprint(s); w.known[key] {
			continue
		} else {
			w.known[key] = true
		}
		for _, after := range []syntax.EmptyOp{syntax.EmptyEndText, 0} {
			first, _ := w.threads(s.first, s.before|after)
			all, twofold := w.threads(s.all, s.before|after)
			w.twofold = w.twofold || twofold
			w.differs = w.differs || w.matches(all) && !w.matches(first) // the text may end here, or go on with what matches nothing
			if after != 0 {
				continue
			}
			if i := slices.IndexFunc(first, w.isMatch); i >= 0 {
				first = first[:i]
			}
			for _, r := range w.letters(all) {
				if next := (state{w.behind(first, r), w.behind(all, r), 0}); len(next.all) > 0 {
					states = append(states, next)
				}
			}
		}
	}
}

// threads follows what reads no letter. Its second result says whether two ways lead to one place.
func (w *walk) threads(from []uint32, holds syntax.EmptyOp) (out []uint32, twofold bool) {
	seen := map[uint32]bool{}
	var follow func(at uint32)
	follow = func(at uint32) {
		w.steps++
		i := &w.program.Inst[at]
		if seen[at] {
			twofold = twofold || i.Op != syntax.InstFail
			return
		}
		seen[at] = true
		switch i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			follow(i.Out)
			follow(i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			follow(i.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^holds == 0 {
				follow(i.Out)
			}
		case syntax.InstFail:
		default:
			out = append(out, at)
		}
	}
	for _, at := range from {
		follow(at)
	}
	return out, twofold
}

func (w *walk) isMatch(at uint32) bool { return w.program.Inst[at].Op == syntax.InstMatch }

func (w *walk) matches(threads []uint32) bool { return slices.ContainsFunc(threads, w.isMatch) }

// behind are the places behind a letter.
func (w *walk) behind(threads []uint32, letter rune) (out []uint32) {
	for _, at := range threads {
		w.steps++
		if i := &w.program.Inst[at]; i.Op != syntax.InstMatch && i.MatchRune(letter) {
			out = append(out, i.Out)
		}
	}
	return out
}

// letters are some of which each other one is matched as one of them is, by all threads.
func (w *walk) letters(threads []uint32) []rune {
	out := []rune{0}
	for _, at := range threads {
		w.steps++
		switch i := &w.program.Inst[at]; i.Op {
		case syntax.InstRune, syntax.InstRune1:
			if len(i.Rune) == 1 {
				out = append(out, i.Rune[0], i.Rune[0]+1)
				continue
			}
			for j, r := range i.Rune { // the first and the last of each range
				out = append(out, r+rune(j%2))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ungrouped makes groups that are only for repetition of all groups of a pattern.
func ungrouped(pattern string) string {
	var b strings.Builder
	class := false
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		b.WriteRune(r)
		switch {
		case r == '\\' && i+1 < len(runes):
			i++
			b.WriteRune(runes[i])
		case class:
			class = r != ']'
		case r == '[':
			class = true
		case r == '(' && (i+1 == len(runes) || runes[i+1] != '?'):
			b.WriteString("?:")
		}
	}
	return b.String()
}
