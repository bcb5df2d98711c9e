// Package report writes verdicts for people and for other tools: as HTML beside the
// source, and as SARIF.
//
// It guarantees that everything that comes from sources is escaped.
//
// It does not guarantee the verdicts: it shows what package verify found, and concludes
// nothing.
package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/verify"
)

// A Reader reads a source file.
type Reader func(file string) ([]byte, error)

// lines reads files once each, to show parts of them.
type lines struct {
	read  Reader
	files map[string][]string
}

// of returns a file's lines; none if it cannot be read.
func (l *lines) of(file string) []string {
	if known, ok := l.files[file]; ok {
		return known
	}
	var all []string
	if text, err := l.read(file); err == nil {
		all = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	}
	if l.files == nil {
		l.files = map[string][]string{}
	}
	l.files[file] = all
	return all
}

// line returns one, counted from 1; "" if there is none.
func (l *lines) line(file string, n int) string {
	if all := l.of(file); n >= 1 && n <= len(all) {
		return all[n-1]
	}
	return ""
}

// Message says in one paragraph what the verdict on a function is and why.
func Message(r *verify.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s claims %s: %s", r.Function, Claim(r), r.Verdict)
	if r.Note != "" {
		b.WriteString(" (" + r.Note + ")")
	}
	switch c := r.Counterexample; {
	case c == nil:
	case c.Distance != nil:
		fmt.Fprintf(&b, ". It %s for %s, and for the neighbour %s it %s: %s", c.Event, Values(c.Inputs), Values(Moved(c)), c.Distance.Neighbour, Apart(c))
	default:
		fmt.Fprintf(&b, ". For %s and the neighbour %s, the event %q has probability %s against %s; %s is %s",
			Values(c.Inputs), Values(Moved(c)), c.Event, Interval(c.P), Interval(c.Q), Unit(c), Forced(c))
	}
	return b.String()
}

// Unit is what a counterexample to a cost forces: an epsilon or a rho.
func Unit(c *verify.Counterexample) string {
	if c.Measure == "zcdp" {
		return "rho"
	}
	return "epsilon"
}

// Forced says how much that is, and what the claim allows.
func Forced(c *verify.Counterexample) string {
	beside := ""
	if c.Measure == "approx" {
		beside = " beside the claim's delta"
	}
	times := ""
	if factor := float64(c.Epsilon) / float64(c.Claimed) * (1 - 1e-15); factor > 1 && !math.IsInf(factor, 1) { // rounded down
		times = Lower(factor) + " times that"
	}
	return strings.TrimSuffix(fmt.Sprintf("at least %s%s; claimed is %s: %s", Lower(float64(c.Epsilon)), beside, Upper(float64(c.Claimed)), times), ": ")
}

// Fails says for which values of its parameter a counterexample refutes the claim too.
func Fails(c *verify.Counterexample) string {
	return fmt.Sprintf("%s from %s to %s, tried at each factor of 2", c.Parameter, Upper(c.Fails[0]), Lower(c.Fails[1]))
}

// Apart says how far the results of a counterexample to a sensitivity lie apart.
func Apart(c *verify.Counterexample) string {
	d := c.Distance
	return fmt.Sprintf("%s apart in %s, where %s moves by %s; claimed is at most %s",
		Lower(float64(d.Results)), d.Norm, d.Input, Upper(float64(d.Moved)), Upper(float64(c.Claimed)))
}

// Claim is what a function claims, in a line: what of its directives speaks of cost
// and sensitivity.
func Claim(r *verify.Result) string {
	var kept []string
	for line := range strings.SplitSeq(r.Claim, "\n") {
		if word, _, _ := strings.Cut(line, " "); word == "cost" || word == "sensitivity" {
			kept = append(kept, line)
		}
	}
	if kept == nil {
		kept = strings.Split(r.Claim, "\n")
	}
	return strings.Join(kept, "; ")
}

// Moved is those inputs of a counterexample's neighbour that differ.
func Moved(c *verify.Counterexample) map[string]any {
	moved := maps.Clone(c.Neighbour)
	maps.DeleteFunc(moved, func(name string, v any) bool {
		before, ok := c.Inputs[name]
		return ok && value(before) == value(v)
	})
	return moved
}

// Values lists inputs in order of name: "q = [0, 1], t = 0".
func Values(inputs map[string]any) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		all = append(all, name+" = "+value(inputs[name]))
	}
	return strings.Join(all, ", ")
}

func value(v any) string {
	text, err := json.Marshal(v)
	if err != nil { // an infinity, say
		return fmt.Sprint(v)
	}
	return strings.ReplaceAll(string(text), ",", ", ")
}

// Interval writes a probability's interval, rounded outward to six digits.
func Interval(p [2]float64) string {
	low, high := Lower(p[0]), Upper(p[1])
	if low == high {
		return low
	}
	return "[" + low + ", " + high + "]"
}

// Lower writes a number with six digits, rounded down.
func Lower(x float64) string { return rounded(x, -1) }

// Upper writes a number with six digits, rounded up.
func Upper(x float64) string { return rounded(x, 1) }

func rounded(x float64, direction float64) string {
	const digits = 6
	switch {
	case math.IsInf(x, 1):
		return "infinity"
	case math.IsInf(x, -1) || math.IsNaN(x):
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	back := func(text string) float64 {
		y, _ := strconv.ParseFloat(text, 64) // an infinity if it overflows
		return y
	}
	shown := strconv.FormatFloat(x, 'g', digits, 64)
	if direction*(back(shown)-x) >= 0 && !math.IsInf(back(shown), 0) {
		return shown
	}
	// One unit of the last digit is more than what it was rounded by.
	_, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', digits-1, 64), "e")
	e, err := strconv.Atoi(exponent)
	if err == nil {
		shown = strconv.FormatFloat(back(shown)+direction*back(fmt.Sprintf("1e%d", e-digits+1)), 'g', digits, 64)
	}
	// Among the denormals there is no such unit, and beyond the largest number none.
	if y := back(shown); err != nil || math.IsInf(y, 0) || direction*(y-x) < 0 {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return shown
}
