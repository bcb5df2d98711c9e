package bind

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Which patterns have a first match that is always the longest, can match the empty text, and can match in two ways.
func TestMatchesOfPatterns(t *testing.T) {
	for pattern, want := range map[string]matches{
		"^[A-Z]":              {},
		"a|ab":                {first: "longest"},
		"ab|a":                {},
		"(a|ab)(c|bcd)":       {groups: 2},
		"(a|ab)(c|bcd)?":      {first: "longest", groups: 2},
		"a?(ab)?":             {first: "longest", empty: true, groups: 1},
		"ab?":                 {},
		".*@":                 {},
		"([^@]*)@(.*)":        {groups: 2},
		"(.*)@(.*)":           {groups: 2, twofold: true},
		"a*":                  {empty: true},
		"^$":                  {empty: true},
		"$":                   {empty: true},
		"(a*)*":               {first: "repeats", groups: 1},
		"(|a)b":               {groups: 1},
		"|a":                  {first: "longest", empty: true},
		"a$|ab":               {},
		"a|ab$":               {first: "longest"},
		"[a-z]{1,200}[0-9]*":  {},
		"(a|b|ab){1,40}c{9,}": {first: "too long", groups: 1},
	} {
		if d := checkPattern(pattern); d != "" {
			t.Fatalf("%s: %s", pattern, d)
		}
		got := matchesOf(pattern)
		if !strings.Contains(got.first, want.first) || want.first == "" && (got.first != "" || got.twofold != want.twofold) || want.first != "too long" && want.first != "repeats" && got.empty != want.empty || got.groups != want.groups {
			t.Errorf("%s: %+v, want %+v", pattern, got, want)
		}
	}
	for pattern, want := range map[string][]int{"(a)(b)?": {1}, "((a)|b)c": {1}, "(a)|b": nil, "(a)+": nil, "x(a)y(?:(b)|c)": {1}, "(a)": {1}} {
		var got []int
		for group, constant := range matchesOf(pattern).constant {
			if constant {
				got = append(got, group)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the groups %v are in each match, want %v", pattern, got, want)
		}
	}
}

// Of every agreed pattern the first match is the longest in all short texts, and where it cannot come about in two ways its
// groups are those of POSIX, too; and where it cannot be empty, none is.
func TestAgreedMatchesAreTheLongest(t *testing.T) {
	var texts []string
	for _, length := range []int{0, 1, 2, 3, 4, 5, 6} {
		for n := range pow(3, length) {
			text := make([]byte, length)
			for i := range text {
				text[i], n = "abc"[n%3], n/3
			}
			texts = append(texts, string(text))
		}
	}
	agreed, differ, grouped := 0, 0, 0
	property := func(t *rapid.T) {
		var pattern string
		for range rapid.IntRange(1, 7).Draw(t, "atoms") {
			pattern += rapid.SampledFrom([]string{"a", "b", "c", "ab", ".", "^", "$", "|", "(a|b)", "(ab|a)", "(c)", "(", ")", "*", "+", "?", "{1,2}", "[ab]"}).Draw(t, "atom")
		}
		if checkPattern(pattern) != "" {
			return
		}
		m := matchesOf(pattern)
		first, longest := regexp.MustCompile("(?s)"+pattern), regexp.MustCompile("(?s)"+pattern)
		longest.Longest()
		same := true
		for _, text := range texts {
			f, l := first.FindStringSubmatchIndex(text), longest.FindStringSubmatchIndex(text)
			if f == nil {
				continue
			}
			same = same && f[1] == l[1]
			if m.first == "" && f[1] != l[1] {
				t.Errorf("%s in %q: the first match ends at %d, the longest at %d", pattern, text, f[1], l[1])
			}
			if f[0] == f[1] && !m.empty && m.first == "" {
				t.Errorf("%s matches the empty text in %q", pattern, text)
			}
			if m.first == "" && !m.twofold && !slices.Equal(f, l) {
				t.Errorf("%s in %q: groups %v and %v", pattern, text, f, l)
			}
		}
		switch {
		case m.first == "" && !m.twofold && m.groups > 0:
			grouped++
		case m.first == "":
			agreed++
		case !same:
			differ++
		}
	}
	// One hundred patterns have none that differs in 8 of 100 runs, twenty times as many in less than one of 10^20.
	for range 20 {
		if rapid.Check(t, property); t.Failed() || agreed >= 5 && differ >= 1 && grouped >= 1 {
			return
		}
	}
	t.Errorf("only %d patterns agreed, %d with groups, and %d did not", agreed, grouped, differ)
}

func pow(base, exponent int) int {
	out := 1
	for range exponent {
		out *= base
	}
	return out
}

// A pattern without its groups matches the same texts.
func TestWithoutGroups(t *testing.T) {
	for pattern, want := range map[string]string{"(a)(?:b)": "(?:a)(?:b)", `\((a)[(]`: `\((?:a)[(]`, `[\](](x)`: `[\](](?:x)`, "a": "a"} {
		if got := ungrouped(pattern); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
}
