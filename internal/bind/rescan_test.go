package bind

import (
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// daily are patterns that analysts write to replace or count all matches.
var daily = []string{
	`[0-9]+`, `\d+`, `\d`, `[^0-9]`, `[^0-9]+`, `[ \t\r\n]+`, ` +`, ` {2,}`, `^ +| +$`, `[^a-zA-Z0-9]+`, `[^A-Za-z ]`, `[A-Z]`, `[A-Z]+`,
	`[A-Z][a-z]+`, `[a-z]+`, `[A-Za-z_][A-Za-z0-9_]*`, `[^,]*,`, `[^,]+`, `,`, `, *`, ` *, *`, `[,;|]`, `[.,;:!?]+`, `['"]`, `"[^"]*"`,
	`"([^"\\]|\\.)*"`, `'[^']*'`, `\([^)]*\)`, ` *\([^()]*\)`, `\[[^\]]*\]`, `\{[^}]*\}`, `<[^>]+>`, `</?[a-z]+[^>]*>`, `&[a-z]+;`, `&(amp|lt|gt);`,
	`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}`, `[^@ ]+@[^@ ]+\.[a-z]+`, `@[A-Za-z0-9_]+`, `#[A-Za-z0-9_]+`,
	`https?://[^ ]+`, `https?://[^/ ]+/`, `https?://([^/ ?]+)(/[^ ?]*)?(\?[^ ]*)?`, `www\.[a-z0-9.-]+`, `\?.*$`, `#.*`, `[?&]utm_[a-z]+=[^&]*`, `[?&][^=&]+=[^&]*`,
	`(\d{1,3}\.){3}\d{1,3}`, `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, `[0-9a-fA-F]+`, `0x[0-9a-f]+`, `([0-9A-F]{2}:){5}[0-9A-F]{2}`,
	`\d{4}-\d{2}-\d{2}`, `\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?`, `\d{1,2}/\d{1,2}/\d{2,4}`, `\d{1,2}:\d{2}`,
	`-?\d+(\.\d+)?`, `[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?`, `[0-9]{1,3}(,[0-9]{3})*`, `[0-9]+%`, `[$]?[0-9]+(\.[0-9]{2})?`, `[0-9]+ ?(mg|ml|kg)`,
	`\+?[0-9][0-9 ()-]{6,}[0-9]`, `\(?[0-9]{3}\)?[ -]?[0-9]{3}-[0-9]{4}`, `[0-9]{3}-[0-9]{2}-[0-9]{4}`, `[0-9]{5}(-[0-9]{4})?`, `[A-Z]{1,2}[0-9][0-9A-Z]? ?[0-9][A-Z]{2}`,
	`ICD-?[0-9]+`, `[A-Z][0-9]{2}(\.[0-9]{1,4})?`, `(Mr|Mrs|Dr|Prof)\.? `, `(foo|bar|baz)`, `error|warning`, `a.*b`, `[^/]+$`, `/[^/]*`, `\.[a-z0-9]+$`, `^0+`, `0+$`, `^.*:`, `[a-z]+ing`,
	`--[^\n]*`, `/\*[^*]*\*/`, `[a-z]+=[^;]*;`, `(^|,)x(,|$)`, `\b?x`[3:], `[A-Z][a-z]+ [A-Z][a-z]+`, `[A-Z][a-z]+, [A-Z]\.`, `[a-z]+(-[a-z]+)*`, `[a-z]+(, [a-z]+)+`, `([^;]*);`,
}

// All matches of what analysts write daily are read in linear time.
func TestDailyPatternsAreAccepted(t *testing.T) {
	for _, pattern := range daily {
		if d := checkPattern(pattern); d != "" {
			t.Errorf("%s %s", pattern, d)
			continue
		}
		m := matchesOf(pattern)
		if m.first != "" || m.empty {
			t.Errorf("%s: %+v", pattern, m)
		} else if rescans(m.program) {
			t.Errorf("%s is refused, as if it read a text again for each match", pattern)
		}
	}
}

// What is read again, with its rewriting that is not.
func TestPatternsThatReadAgain(t *testing.T) {
	for pattern, want := range map[string]bool{
		`a[^Z]*Z|a`: true, `a[^aZ]*Z|a`: false,
		`a([^Z]*Z)?`: true, `a([^aZ]*Z)?`: false,
		`a[^Z]*Z|b`: true, `a[^abZ]*Z|b`: false,
		`<[^>]*>|<`: true, `<[^<>]*>|<`: false,
		`foo.*bar|baz`: true, `^foo.*bar|baz`: false, `foo[^o]*bar|baz`: false,
		`[a-z ]+[0-9]|x`: true, `[a-z]+@x`: false,
		`a(.{200}Z)?`: false, `a(b|.*Z)?`: true, `(a.*Z)?b`: true, `(a|b.*Z)c?`: true, `(a|b[^ab]*Z)c?`: false,
	} {
		if d := checkPattern(pattern); d != "" {
			t.Fatalf("%s %s", pattern, d)
		}
		if m := matchesOf(pattern); m.program == nil || rescans(m.program) != want {
			t.Errorf("%s is read again: %t, want %t", pattern, !want, want)
		}
	}
}

// reads counts the letters that are read while all matches are looked for, from left to right.
func reads(program *syntax.Prog, text string) int {
	w := &walk{program: program}
	count := 0
	for from := 0; from < len(text); {
		type attempt struct {
			start   int
			threads []uint32
		}
		var alive []attempt
		start, end := -1, -1 // of the match
		for at := from; ; at++ {
			if start < 0 {
				alive = append(alive, attempt{at, []uint32{uint32(program.Start)}})
			}
			var holds syntax.EmptyOp
			if at == 0 {
				holds |= syntax.EmptyBeginText
			}
			if at == len(text) {
				holds |= syntax.EmptyEndText
			}
			for i, a := range alive {
				threads, _ := w.threads(a.threads, holds)
				if alive[i].threads = threads; w.matches(threads) && (start < 0 || a.start <= start) && at > a.start {
					start, end = a.start, at
				}
			}
			if at == len(text) {
				break
			}
			alive = slices.DeleteFunc(alive, func(a attempt) bool { return start >= 0 && a.start > start })
			if len(alive) == 0 {
				break
			}
			count++
			for i := range alive {
				alive[i].threads = w.behind(alive[i].threads, rune(text[at]))
			}
			alive = slices.DeleteFunc(alive, func(a attempt) bool { return len(a.threads) == 0 })
			if len(alive) == 0 && start >= 0 {
				break
			}
		}
		if start < 0 {
			break
		}
		from = end
	}
	return count
}

// No text of a short part that is repeated is read again and again for an accepted pattern, and some is for a refused one.
func TestAcceptedPatternsReadOnce(t *testing.T) {
	var parts []string
	for _, length := range []int{1, 2} {
		for n := range pow(3, length) {
			part := make([]byte, length)
			for i := range part {
				part[i], n = "abc"[n%3], n/3
			}
			parts = append(parts, string(part))
		}
	}
	parts = append(parts, "abc", "aab", "abb", "bca")
	accepted, refused := 0, 0
	property := func(t *rapid.T) {
		var pattern string
		for range rapid.IntRange(2, 7).Draw(t, "atoms") {
			pattern += rapid.SampledFrom([]string{"a", "b", "c", ".", ".*", "[ab]*", "[^c]*", "|", "(", ")", "?", "+", "*", "^", "$", "{1,2}"}).Draw(t, "atom")
		}
		if checkPattern(pattern) != "" {
			return
		}
		m := matchesOf(pattern)
		if m.first != "" || m.empty {
			return
		}
		const k = 10
		again := ""
		for _, prefix := range []string{"", "a"} {
			for _, part := range parts {
				if again != "" {
					break
				}
				n := func(times int) int { return reads(m.program, prefix+strings.Repeat(part, times)) }
				if n(3*k)-2*n(2*k)+n(k) > 4*k { // 0 or nearly so where time is linear, k² or more where it is not
					again = prefix + "(" + part + ")*"
				}
			}
		}
		switch r := rescans(m.program); {
		case again != "" && !r:
			t.Errorf("%s reads %s again and again", pattern, again)
		case again != "":
			refused++
		case !r:
			accepted++
		}
	}
	for range 200 {
		if rapid.Check(t, property); t.Failed() || accepted >= 20 && refused >= 1 {
			return
		}
	}
	t.Errorf("only %d patterns were accepted, and %d refused", accepted, refused)
}
