package bind

import (
	"fmt"
	"regexp/syntax"
	"slices"
)

// Where all matches are looked for, each search begins behind the last match. A search reads on behind the match that it finds for
// as long as an earlier beginning, or a longer match, could still come about. If that fails late, the next search reads the
// same letters again, and time can grow with the square of a text's length: a[^Z]*Z|a over aaaa.
//
// An attempt is what begins at one letter: a walk through the deterministic automaton of the pattern. It is in vain from its last
// match on (or from its beginning). Theorem: let every strongly connected part C of states without a match, which an attempt that
// begins within a text can reach, have one of two properties: no match fits into what is read within C; or no attempt that begins
// while another one is within C reaches a cycle without a match while the other one stays there. Then a letter is read by a number
// of searches that depends on the pattern alone, so that time is linear.
//
// Proof: let a letter be read in vain by k searches. Their attempts a1 < ... < ak are alive there, and between the beginnings of
// two lies a match. With n states, a1 changes its strongly connected part at most n times, so that it stays in one of them, C, while
// at least k/(n+1) - 1 of the others begin. Beyond two of these a match fits into what a1 reads within C. Beyond n+2 of these, one
// attempt reads more than n letters while a1 is within C and is in vain there, so that it passes a state twice: it reached a cycle
// without a match. Both properties fail then, so that k is at most (n+1)(n+4). An attempt that begins at the text's begin is one more. ∎
//
// It is a theorem about engines that read a letter once a search, as RE2 does. PostgreSQL and Joni begin again at each letter
// where no match was found, and can take quadratic time for one match, which no pattern of daily use would avoid.

// An attempts is the deterministic automaton of one pattern's attempts within a text.
type attempts struct {
	*walk
	sets     [][]uint32 // the threads of each state
	matched  []bool
	number   map[string]int
	next     [][]int // the states that follow, of those that have no match
	part     []int   // the strongly connected part of each state without a match
	circular []bool  // of parts: there is a cycle in it
}

// rescans reports whether all matches of a pattern can take more than linear time, or are too long to be looked through.
func rescans(program *syntax.Prog) bool {
	a := &attempts{walk: &walk{program: program}, number: map[string]int{}}
	a.state([]uint32{uint32(program.Start)})
	for i := 0; i < len(a.sets); i++ {
		if a.steps > maxSteps {
			return true
		}
		for _, r := range a.letters(a.sets[i]) {
			if j, ok := a.state(a.behind(a.sets[i], r)); ok && !a.matched[i] && !a.matched[j] {
				a.next[i] = append(a.next[i], j)
			}
		}
	}
	a.connect()
	for c, circular := range a.circular {
		if circular && a.meets(c) {
			return true
		}
	}
	return a.steps > maxSteps
}

// state returns the number of the state that has these threads; false of none.
func (a *attempts) state(from []uint32) (int, bool) {
	threads, _ := a.threads(from, 0)
	if len(threads) == 0 {
		return 0, false
	}
	slices.Sort(threads)
	key := fmt.Sprint(threads)
	n, ok := a.number[key]
	if !ok {
		n = len(a.sets)
		a.number[key] = n
		a.sets = append(a.sets, threads)
		a.matched = append(a.matched, a.matches(threads))
		a.next = append(a.next, nil)
	}
	return n, true
}

// connect finds the strongly connected parts of the states without a match (Tarjan).
func (a *attempts) connect() {
	n := len(a.sets)
	a.part = make([]int, n)
	index, low := make([]int, n), make([]int, n)
	var stack []int
	count := 0
	var visit func(i int)
	visit = func(i int) {
		count++
		index[i], low[i], a.part[i] = count, count, -1
		stack = append(stack, i)
		for _, j := range a.next[i] {
			if index[j] == 0 {
				visit(j)
				low[i] = min(low[i], low[j])
			} else if a.part[j] < 0 {
				low[i] = min(low[i], index[j])
			}
		}
		if low[i] < index[i] {
			return
		}
		c := len(a.circular)
		a.circular = append(a.circular, slices.Contains(a.next[i], i) || stack[len(stack)-1] != i)
		for {
			j := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if a.part[j] = c; j == i {
				return
			}
		}
	}
	for i := range a.sets {
		if index[i] == 0 && !a.matched[i] {
			visit(i)
		}
	}
}

// meets reports whether, while an attempt is within the part c, a match fits in and another attempt reaches a cycle.
func (a *attempts) meets(c int) bool {
	fits, reaches := false, false
	type pair struct{ within, other int }
	known := map[pair]bool{}
	var pairs []pair
	for i := range a.sets {
		if !a.matched[i] && a.part[i] == c {
			pairs = append(pairs, pair{i, 0})
		}
	}
	for len(pairs) > 0 && a.steps <= maxSteps {
		p := pairs[len(pairs)-1]
		pairs = pairs[:len(pairs)-1]
		if known[p] {
			continue
		}
		known[p] = true
		fits = fits || a.matched[p.other]
		reaches = reaches || !a.matched[p.other] && a.circular[a.part[p.other]]
		if fits && reaches {
			return true
		}
		for _, r := range a.letters(slices.Concat(a.sets[p.within], a.sets[p.other])) {
			i, ok := a.state(a.behind(a.sets[p.within], r))
			if !ok || a.matched[i] || a.part[i] != c {
				continue
			}
			if j, ok := a.state(a.behind(a.sets[p.other], r)); ok {
				pairs = append(pairs, pair{i, j})
			}
		}
	}
	return false
}
