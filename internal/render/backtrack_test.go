package render

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Which patterns can be read in exponentially many ways.
func TestBacktracks(t *testing.T) {
	for pattern, want := range map[string]bool{
		`^([a-z]+ ?)+$`: true, `^[a-z]+( [a-z]+)* ?$`: false, `(a+)+b`: true, `(a*)*b`: true, `(a|a)*b`: true, `(a|[a-z])*b`: true, `([0-9]|\d|x)+y`: true,
		`(ab|ab)*c`: true, `(a|b|ab)*c`: true, `(a|ba?)*c`: true, `(a|bc?)*d`: false, `(a?){25}`: true, `(a?){3}`: false, `((a?){3}){3}`: true, `(.*a){9}`: true, `([0-9]{1,3}\.){3}[0-9]{1,3}`: false,
		`.*foo.*bar`: false, `[^@ ]+@[^@ ]+\.[a-z]+`: false, `^([A-Za-z0-9_.-]+)@(([a-z]+\.)+)([a-z]{2,5})$`: false, `^([a-z0-9]+\.?)+@x`: true,
		`"([^"\\]|\\.)*"`: false, `(\d+,?)+`: true, `(\d+,)*\d+`: false, `(foo|bar|foobar)*`: true, `(.|\n)*x`: true, `([^,]*,){3}`: false, `([^,]*,){4,}x`: false,
		`[a-z]{1,200}[0-9]*`: false, `a{3}b{2,}`: false, `(^|a)*b`: false, `(|a)+b`: false, `[\]a]*[\]]?b`: false, `([\]a]*[\]]?)*b`: true, `é+(é|ü)*x`: false,
	} {
		if got := backtracks(pattern); got != want {
			t.Errorf("%s: %t, want %t", pattern, got, want)
		}
	}
}

// ways counts the ways in which a pattern, read as it is written, reads a text from its beginning: those that backtracking tries.
func ways(p *places, first map[int]int, text string) float64 {
	now := map[int]float64{}
	for at, n := range first {
		now[at] = float64(n)
	}
	count := 0.0
	for _, r := range text {
		then := map[int]float64{}
		for at, n := range now {
			if !meet(p.sets[at], []rune{r, r}) {
				continue
			}
			count += n
			for to, m := range p.follow[at] {
				then[to] += n * float64(m)
			}
		}
		now = then
	}
	return count
}

// What is refused has a short text, repeated, whose number of ways is more than a polynomial's, and what is accepted has none.
func TestBacktracksIsExponential(t *testing.T) {
	refused, accepted := 0, 0
	property := func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "[ab]", ".", "a", "|", "(", "(", ")", ")*", ")+", "*", "?", "+"}), 3, 9).Draw(t, "atoms"), "")
		if _, err := regexp.Compile(pattern); err != nil || regexp.MustCompile(`[*+?][*+?]|\(\)|[(|][*+?]|^[*+?]`).MatchString(pattern) {
			return
		}
		p := &places{rest: pattern}
		first := p.alternatives(false).first
		froms := []map[int]int{first}
		for at := range p.sets { // some text leads to each place
			froms = append(froms, map[int]int{at: 1})
		}
		most := 0.0
		look := func(part string) {
			for _, from := range froms {
				n := func(times int) float64 { return 1 + ways(p, from, strings.Repeat(part, times)) }
				if less := n(50); less < 1e300 { // of a polynomial of degree 8 it is 2^9
					most = max(most, n(100)/less)
				} else {
					most = less
				}
			}
		}
		for _, part := range []string{"a", "b", "ab", "ba", "aab", "abb", "abc", "aabb"} {
			look(part)
		}
		for word := 2; backtracks(pattern) && most <= 1<<9 && word < 1<<11; word++ { // a text that is read in several ways may be longer
			look(strings.NewReplacer("0", "a", "1", "b").Replace(strconv.FormatInt(int64(word), 2)[1:]))
		}
		switch got := backtracks(pattern); {
		case got != (most > 1<<9):
			t.Errorf("%s: refused %t, and twice the text has %.0f times as many ways", pattern, got, most)
		case got:
			refused++
		default:
			accepted++
		}
	}
	for range 100 {
		if rapid.Check(t, property); t.Failed() || refused >= 5 && accepted >= 5 {
			return
		}
	}
	t.Errorf("%d patterns refused, %d accepted", refused, accepted)
}
