//go:build cgo

package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	verifies = regexp.MustCompile(`^discreet verify\b`)
	seconds  = regexp.MustCompile(`(?m) {2,}\d+\.\d\d$`)
	found    = regexp.MustCompile(`(?m)^(  (?:inputs|neighbour|event|probability|epsilon|rho)) .*$`)
	falseFor = regexp.MustCompile(`(?m)^  false for .*\n`)
)

// verdictsOf masks how long each claim took, and which of its counterexamples was
// found: that hangs on what a solver proposes.
func verdictsOf(text string) string {
	text = seconds.ReplaceAllString(text, "  #")
	return found.ReplaceAllString(falseFor.ReplaceAllString(text, ""), "$1 #")
}

var (
	number = regexp.MustCompile(`[-+]?\d[\d.,]*(e[-+]?\d+)?`)
	dashes = regexp.MustCompile(`--+`)
	gauges = regexp.MustCompile(`\[[#.]{30}\]`)
)

// equal compares what a page shows with what was printed. Of what is noisy
// numbers and order do not count, and rows neither if only the shape does.
func equal(shown []string, printed string, noisy, shape bool) bool {
	shown = clean(shown, noisy, shape)
	var got []string
	if printed != "" {
		got = clean(strings.Split(printed, "\n"), noisy, shape)
	}
	if noisy {
		slices.Sort(shown)
		slices.Sort(got)
	}
	i := slices.Index(shown, "...")
	if i < 0 {
		return slices.Equal(shown, got)
	}
	before, after := shown[:i], shown[i+1:]
	if noisy { // sorted, so that any line may be among those left out
		return !slices.ContainsFunc(slices.Concat(before, after), func(l string) bool { return !slices.Contains(got, l) })
	}
	return len(before)+len(after) <= len(got) && slices.Equal(before, got[:i]) && slices.Equal(after, got[len(got)-len(after):])
}

func clean(lines []string, noisy, shape bool) (out []string) {
	rows := false
	for i, line := range lines {
		line = strings.TrimRight(line, " ")
		rows = rows && !strings.Contains(line, ": ") // the talk after the table
		if rows && shape {
			continue
		}
		rows = rows || i == 1
		if noisy {
			line = gauges.ReplaceAllString(line, "[gauge]")
			line = number.ReplaceAllString(line, "#")
			line = strings.Join(strings.Fields(dashes.ReplaceAllString(line, "--")), " ")
			// Whether a computed value has an interval depends on the noise, and so
			// does the note that says where it has none.
			if line = strings.TrimSuffix(line, " [# #]"); strings.Contains(line, "has no interval in row") {
				continue
			}
		}
		out = append(out, line)
	}
	return out
}

// The comparison of pages is shown what differs and what does not.
func TestEqual(t *testing.T) {
	for _, test := range []struct {
		shown, printed string
		noisy, shape   bool
		want           bool
	}{
		{"a 1", "a 1", false, false, true},
		{"a 1", "a 2", false, false, false},
		{"a 1\n...\nz", "a 1\nb\nc\nz", false, false, true},
		{"a 1\n...\nz", "a 1\nb\nc\ny", false, false, false},
		{"n  [1, 2]\na  -3.5e-7", "a 4\nn [10, 20]", true, false, true},
		{"n  [1, 2]", "n NULL", true, false, false},
		{"n  3 [1, 2]", "n  3\nnote: x has no interval in row 1: why", true, false, true},
		{"n  3 [1, 2]", "n  NULL", true, false, false},
		{"n  [1, 2]\n...\nz", "z\na\nn [3, 4]", true, false, true},
		{"k  n\n-  -\na  1\nb  2\ncost: 1", "k  n\n-  -\nc  1\ncost: 2", true, true, true},
		{"k  n\n-  -\na  1\nb  2\ncost: 1", "k  n\n-  -\nc  1\ncost: 2", true, false, false},
		{"k  n\n-  -\na  1\nb  2\ncost: 1", "k  m\n-  -\nc  1\ncost: 2", true, true, false},
	} {
		if got := equal(strings.Split(test.shown, "\n"), test.printed, test.noisy, test.shape); got != test.want {
			t.Errorf("%q and %q: %v", test.shown, test.printed, got)
		}
	}
}

// Of a verdict neither the time counts nor which counterexample was found.
func TestVerdictsOf(t *testing.T) {
	const shown = "F  cost eps  refuted  reals    12.30\n\nrefuted: F (f.go:1)\n  inputs       q = [0]\n  epsilon      at least 2\n  false for    eps from 1 to 2, tried at each factor of 2"
	for _, test := range []struct {
		old, fresh string
		want       bool
	}{
		{"12.30", " 0.03", true},
		{"q = [0]", "q = [0, 1]", true},
		{"\n  false for    eps from 1 to 2, tried at each factor of 2", "\n", true},
		{"refuted  reals", "unknown  reals", false},
		{"refuted: F", "unknown: F", false},
		{"cost eps", "cost 2*eps", false},
		{"\n  inputs       q = [0]", "", false},
	} {
		fresh := strings.Replace(shown, test.old, test.fresh, 1)
		if got := strings.TrimSpace(verdictsOf(shown+"\n")) == strings.TrimSpace(verdictsOf(fresh+"\n")); got != test.want {
			t.Errorf("%q for %q: %v", test.fresh, test.old, got)
		}
	}
}
