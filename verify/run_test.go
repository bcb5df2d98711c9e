package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/verify"
)

// module makes a module in a temporary folder that uses this one, with files of the
// given texts, and returns the folder.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	const path = "github.com/discreet-dp/discreet"
	text := strings.Replace(string(mod), "module "+path, "module example.com/private", 1) +
		"\nrequire " + path + " v0.0.0\n\nreplace " + path + " => " + here + "\n"
	for name, content := range files {
		write(t, filepath.Join(dir, name), content)
	}
	write(t, filepath.Join(dir, "go.mod"), text)
	write(t, filepath.Join(dir, "go.sum"), string(sum))
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, o verify.Options) *verify.Report {
	t.Helper()
	r, err := verify.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const pick = `package p

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent each(scores) <= 1
//dp:requires eps > 0
//dp:cost eps
func Pick(scores []float64, eps float64, src *noise.Source) int {
	return src.Choose(scores, eps)
}
`

// A proof is found, stored, replayed without a solver, and of use no more when the
// function or its claim changes.
func TestRunStores(t *testing.T) {
	dir := module(t, map[string]string{"p.go": pick})
	r := run(t, verify.Options{Dir: dir})
	if !r.Proved() || len(r.Stored) != 1 {
		t.Fatalf("%+v", r)
	}
	if r := run(t, verify.Options{Dir: dir, Check: true}); !r.Proved() {
		t.Errorf("replayed: %+v", r)
	}
	if r := run(t, verify.Options{Dir: dir}); !r.Proved() || len(r.Stored) != 0 {
		t.Errorf("verified again: %+v", r)
	}
	write(t, filepath.Join(dir, "p.go"), "// Comments and layout are no part of a proof.\n\n"+strings.Replace(pick, "return", "\n\treturn", 1))
	if r := run(t, verify.Options{Dir: dir, Check: true}); !r.Proved() {
		t.Errorf("with another layout: %+v", r)
	}
	for _, change := range [][2]string{{"<= 1", "<= 2"}, {"dp:cost eps", "dp:cost eps/2"}, {"Choose(scores, eps)", "Choose(scores, 2*eps)"}} {
		write(t, filepath.Join(dir, "p.go"), strings.Replace(pick, change[0], change[1], 1))
		r := run(t, verify.Options{Dir: dir, Check: true})
		if r.Proved() || r.Results[0].Verdict != verify.Unknown || r.Results[0].Problems[0].Kind != verify.Certificate {
			t.Errorf("with %s for %s: %+v", change[1], change[0], r)
		}
	}
}

func TestRunStoresNothing(t *testing.T) {
	dir := module(t, map[string]string{"p.go": pick})
	for _, o := range []verify.Options{{Dir: dir, NoStore: true}, {Dir: dir, Check: true}} {
		run(t, o)
		if _, err := os.Stat(filepath.Join(dir, "discreet.proofs.json")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Proofs of functions that are not built here stay, and those of files that are read alone are
// not stored: of either a run does not know that nothing is claimed any more.
func TestRunKeepsProofsOfOtherFiles(t *testing.T) {
	elsewhere := strings.Replace(pick, "func Pick", "func Elsewhere", 1)
	dir := module(t, map[string]string{"p.go": pick, "q.go": elsewhere})
	proofs := filepath.Join(dir, "discreet.proofs.json")
	run(t, verify.Options{Dir: dir})
	both, err := os.ReadFile(proofs)
	if err != nil || !strings.Contains(string(both), `"Elsewhere"`) {
		t.Fatal(string(both), err)
	}
	alone := verify.Options{Dir: dir, Patterns: []string{"p.go"}}
	if r := run(t, alone); !r.Proved() || len(r.Results) != 1 || len(r.Stored) != 0 || r.Results[0].Certificate != "" {
		t.Errorf("a file: %+v", r)
	}
	alone.Check = true
	if _, err := verify.Run(t.Context(), alone); err == nil || !strings.Contains(err.Error(), "name the folder") {
		t.Errorf("the stored proofs of a file: %v", err)
	}
	write(t, filepath.Join(dir, "q.go"), "//go:build never\n\n"+elsewhere)
	run(t, verify.Options{Dir: dir})
	if kept, err := os.ReadFile(proofs); string(kept) != string(both) {
		t.Errorf("stored\n%s\nof\n%s%v", kept, both, err)
	}
}

// A directive that speaks of nothing in a function, or is malformed, leaves it without a verdict:
// also where rules need no help.
func TestRunRefusesMisplacedDirectives(t *testing.T) {
	for name, text := range map[string]string{
		"comment": "//dp:adjacent |x| <= 1\n//dp:requires eps > 0\n//dp:cost eps\n//dp:align 1\nfunc F(x, eps float64, src *noise.Source) float64 {\n\treturn x + src.Laplace(1/eps)\n}\n",
		"body":    "//dp:adjacent |x| <= 1\n//dp:requires eps > 0\n//dp:cost eps\nfunc F(x, eps float64, src *noise.Source) float64 {\n\t//dp:align nothing\n\tk := src.Laplace(1 / eps)\n\treturn x + k\n}\n",
		"loop":    "//dp:adjacent |x| <= 1\n//dp:requires eps > 0\n//dp:cost eps\nfunc F(x, eps float64, src *noise.Source) float64 {\n\t//dp:invariant 1 +\n\tfor range 3 {\n\t}\n\treturn x + src.Laplace(1 / eps)\n}\n",
	} {
		dir := module(t, map[string]string{"p.go": "package p\n\nimport \"github.com/discreet-dp/discreet/noise\"\n\n" + text})
		for _, check := range []bool{false, true} {
			r := run(t, verify.Options{Dir: dir, Check: check})
			if r.Proved() || len(r.Results[0].Problems) != 1 || r.Results[0].Problems[0].Kind != verify.Directive || !strings.Contains(r.Results[0].Claim, "\ncost eps") {
				t.Errorf("%s: %+v", name, r.Results)
			}
		}
	}
}

func TestRunRefuses(t *testing.T) {
	broken := module(t, map[string]string{"p.go": "package p\n\nfunc F() int { return \"\" }\n"})
	_, err := verify.Run(t.Context(), verify.Options{Dir: broken})
	load, ok := errors.AsType[*verify.LoadError](err)
	placed := func(p verify.Problem) bool { return p.Line == 3 && filepath.Base(p.File) == "p.go" }
	if !ok || !slices.ContainsFunc(load.Problems, placed) {
		t.Errorf("what does not compile: %v", err)
	}
	damaged := module(t, map[string]string{"p.go": pick, "discreet.proofs.json": "{"})
	if _, err := verify.Run(t.Context(), verify.Options{Dir: damaged}); err == nil {
		t.Error("a damaged file of proofs is accepted")
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := verify.Run(canceled, verify.Options{Dir: broken}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// A directive that makes no claim is a result of its own: it must not look as if all
// were well.
func TestRunReportsStrayDirectives(t *testing.T) {
	dir := module(t, map[string]string{"p.go": "package p\n\n//dp:cost eps\n\nfunc F(eps float64) float64 { return eps }\n"})
	r := run(t, verify.Options{Dir: dir})
	if r.Proved() || len(r.Results) != 1 || r.Results[0].Line != 3 {
		t.Errorf("%+v", r)
	}
}

func TestNumberJSON(t *testing.T) {
	if text, err := json.Marshal([]verify.Number{0.5, verify.Number(math.Inf(1))}); err != nil || string(text) != `[0.5,"infinity"]` {
		t.Errorf("%s, %v", text, err)
	}
}

// Claims of sensitivity, and costs that rules give, need no certificate.
func TestRunRules(t *testing.T) {
	dir := module(t, map[string]string{"p.go": `package p

import "github.com/discreet-dp/discreet/noise"

//dp:sensitivity x = 2
func Twice(x float64) float64 { return 2 * x }

//dp:sensitivity x = 1
func Thrice(x float64) float64 { return 3 * x }

//dp:adjacent |x| <= 1
//dp:requires sigma > 0
//dp:cost zcdp(1 / (2 * sigma * sigma))
func Gaussian(x, sigma float64, src *noise.Source) float64 { return x + src.Gaussian(sigma) }
`})
	for _, check := range []bool{false, true} {
		r := run(t, verify.Options{Dir: dir, Check: check})
		for i, want := range []verify.Verdict{verify.Proved, verify.Refuted, verify.Proved} {
			if got := r.Results[i]; got.Verdict != want || got.Certificate != "" {
				t.Errorf("check %v, %s: %+v", check, got.Function, got)
			}
		}
	}
}

// What no exact evaluation covers is refuted by samples, and called so.
func TestRunSamples(t *testing.T) {
	dir := module(t, map[string]string{"p.go": `package p

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Product(x, eps float64, src *noise.Source) float64 {
	return (x + src.Laplace(1/(20*eps))) * (1 + src.Laplace(1/(20*eps)))
}
`})
	for _, check := range []bool{false, true} { // samples are drawn anew for what is stored
		r := run(t, verify.Options{Dir: dir, Timeout: time.Minute, Check: check})
		if got := r.Results[0]; got.Verdict != verify.RefutedStatistical || got.Counterexample.Epsilon <= got.Counterexample.Claimed {
			t.Errorf("check %t: %+v", check, got)
		}
	}
}

// What calls functions that claim their cost is proved by those claims, once they are.
func TestClaimsOfCalls(t *testing.T) {
	needSolver(t)
	dir := module(t, map[string]string{"calls.go": `package private

import "github.com/discreet-dp/discreet/noise"

// First is the index of the first query that is noisily above t.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func First(q []int64, t int64, eps float64, src *noise.Source) int {
	t += src.DiscreteLaplace(2 / eps)
	for i, x := range q {
		if x+src.DiscreteLaplace(4/eps) >= t {
			return i
		}
	}
	return -1
}

// Wrong claims less than it costs.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Wrong(q []int64, t int64, eps float64, src *noise.Source) int {
	t += src.DiscreteLaplace(2 / eps)
	for i, x := range q {
		if x+src.DiscreteLaplace(1/eps) >= t {
			return i
		}
	}
	return -1
}

// Rounds asks k times.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k >= 0
//dp:cost float64(k) * eps
func Rounds(q []int64, t int64, k int, eps float64, src *noise.Source) []int {
	var out []int
	for range k {
		out = append(out, First(q, t, eps, src))
	}
	return out
}

// RoundsOfRounds asks twice for them.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k >= 0
//dp:cost 2 * float64(k) * eps
func RoundsOfRounds(q []int64, t int64, k int, eps float64, src *noise.Source) []int {
	a := Rounds(q, t, k, eps, src)
	b := Rounds(q, t, k, eps, src)
	return append(a, b...)
}

// Trusting calls what is not proved.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k >= 0
//dp:cost float64(k) * eps
func Trusting(q []int64, t int64, k int, eps float64, src *noise.Source) []int {
	var out []int
	for range k {
		out = append(out, Wrong(q, t, eps, src))
	}
	return out
}

// Twice moves by 2 what may move by 1.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k >= 0
//dp:cost float64(k) * eps
func Twice(q []int64, t int64, k int, eps float64, src *noise.Source) []int {
	double := make([]int64, len(q))
	for i, x := range q {
		double[i] = 2 * x
	}
	var out []int
	for range k {
		out = append(out, First(double, t, eps, src))
	}
	return out
}
`})
	want := map[string]bool{"First": true, "Rounds": true, "RoundsOfRounds": true}
	for _, r := range run(t, verify.Options{Dir: dir, Timeout: 5 * time.Minute}).Results {
		if proved := r.Verdict == verify.Proved; proved != want[r.Function] {
			t.Errorf("%s: %s, %s", r.Function, r.Verdict, r.Note)
		}
		if strings.HasPrefix(r.Function, "Rounds") && (!strings.Contains(r.Note, "by the claims, which are proved, of") || r.Over != verify.Integers) {
			t.Errorf("%s: over %s, %s", r.Function, r.Over, r.Note)
		}
	}
	// Without the proof of what is called, nothing rests on it.
	for _, r := range run(t, verify.Options{Dir: dir, Check: true}).Results {
		if proved := r.Verdict == verify.Proved; proved != want[r.Function] {
			t.Errorf("with what is stored, %s: %s, %s", r.Function, r.Verdict, r.Note)
		}
	}
	if err := os.Remove(filepath.Join(dir, "discreet.proofs.json")); err != nil {
		t.Fatal(err)
	}
	for _, r := range run(t, verify.Options{Dir: dir, Check: true}).Results {
		if r.Verdict != verify.Unknown {
			t.Errorf("with nothing stored, %s: %s, %s", r.Function, r.Verdict, r.Note)
		}
	}
}

const together = `package p

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:sensitivity x = 1
//dp:cost eps
func FalseCost(x, eps float64) float64 { return x }

//dp:adjacent |y| <= 1
//dp:sensitivity x = 1
//dp:cost 0
func FalseSensitivity(x, y float64) float64 { return 2 * x }

//dp:adjacent |x| <= 1
//dp:sensitivity x = 1
//dp:cost 0
func BothTrue(x float64) float64 { return 3 }
`

// Of a function that claims a sensitivity and a cost, both must hold.
func TestClaimsTogether(t *testing.T) {
	want := map[string]verify.Verdict{"FalseCost": verify.Unknown, "FalseSensitivity": verify.Refuted, "BothTrue": verify.Proved}
	r := run(t, verify.Options{Dir: module(t, map[string]string{"p.go": together}), NoStore: true})
	for _, r := range r.Results {
		if r.Verdict != want[r.Function] || r.Verdict != verify.Proved && (len(r.Proof) > 0 || r.LeastCost != "") {
			t.Errorf("%s: %s: %s", r.Function, r.Verdict, r.Note)
		}
	}
}

const far = `package p

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

//dp:sensitivity x = 1
func Thrice(x float64) float64 { return 3 * x }

//dp:adjacent |x| <= 1
//dp:sensitivity x = 1
func Jumps(x int64) bool { return x > 0 }

//dp:adjacent |b| <= 1
//dp:sensitivity b = 1
func Negates(b bool) (bool, bool) { return b, !b }

//dp:sensitivity q = 1 in linf
func Adds(q []float64) (s float64) {
	for _, x := range q {
		s += x
	}
	return s
}

//dp:sensitivity x = 1.5 in l2
func Repeats(x float64) []float64 { return []float64{x, x, x} }

//dp:sensitivity x = 1.75 in l2
func RepeatsRightly(x float64) []float64 { return []float64{x, x, x} }

//dp:sensitivity x = math.Sqrt(2)
func AboveTheRoot(x float64) float64 { return 1.4143 * x }

//dp:sensitivity x = math.Sqrt(2)
func BelowTheRoot(x float64) float64 { return 1.4142 * x }

//dp:sensitivity x = 0.0001
func Irrational(x float64) float64 { return math.Exp(x) }

//dp:sensitivity x = 0.0001
func IrrationalElement(x float64) []float64 { return []float64{math.Exp(x), x} }

//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 100
func First(rows []int64) int64 {
	first := int64(0)
	for i, r := range rows {
		if i == 0 {
			first = min(max(r, 0), 100)
		}
	}
	return first
}

//dp:adjacent bag(rows) <= 2
//dp:sensitivity rows = 1
func Kept(rows []float64) []float64 {
	var kept []float64
	for _, r := range rows {
		kept = append(kept, r)
	}
	return kept
}

//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Largest(rows []float64) float64 {
	best := math.Inf(-1)
	for _, r := range rows {
		best = max(best, min(max(r, 0), 1))
	}
	return best
}

//dp:adjacent |x| <= 1
//dp:sensitivity x = 0
func Within(x int) int {
	w := make([]int, 3)
	return w[x]
}

//dp:sensitivity x = 0
func WithinToo(x int) int {
	w := make([]int, 3)
	return w[x]
}

//dp:sensitivity x = 1
func Noisy(x float64, src *noise.Source) float64 { return 2*x + src.Laplace(1) }

//dp:adjacent x in [2, 2]
//dp:sensitivity x = 0
func Parity(x int64) int64 { return 10 * (x % 2) * (x % 2) }

//dp:requires x >= 0
//dp:sensitivity x = 1
func Steeper(x float64) float64 { return max(x, 0) + 3*min(x, 0) }

//dp:sensitivity x = 1
func Swells(x float64, n int) float64 {
	for range n {
		x *= x
	}
	return 0 * x
}
`

// A sensitivity is refuted by two inputs and what is returned for them, of which the JSON is
// in the contract's form; and not by neighbours that are none, by runs that do not end, by
// numbers that are not known exactly, or by a distance that may not be the one that is meant.
func TestSensitivityRefuted(t *testing.T) {
	want := map[string]string{
		"Thrice":       `{"inputs":{"x":0},"neighbour":{"x":1},"event":"returns 0","p":[1,1],"q":[0,0],"epsilon":"infinity","claimed":1,"distance":{"input":"x","moved":1,"norm":"l1","neighbour":"returns 3","results":3}}`,
		"Jumps":        "",
		"Negates":      `{"inputs":{"b":false},"neighbour":{"b":true},"event":"returns false, true","p":[1,1],"q":[0,0],"epsilon":"infinity","claimed":1,"distance":{"input":"b","moved":1,"norm":"l1","neighbour":"returns true, false","results":2}}`,
		"Adds":         "refuted",
		"Repeats":      `{"inputs":{"x":0},"neighbour":{"x":1},"event":"returns [0 0 0]","p":[1,1],"q":[0,0],"epsilon":"infinity","claimed":1.5,"distance":{"input":"x","moved":1,"norm":"l2","neighbour":"returns [1 1 1]","results":1.732050807568877}}`,
		"AboveTheRoot": "refuted",
		"First":        "refuted",
	}
	r := run(t, verify.Options{Dir: module(t, map[string]string{"p.go": far}), NoStore: true})
	for _, r := range r.Results {
		text := ""
		if r.Verdict == verify.Refuted {
			x, err := json.Marshal(r.Counterexample)
			if err != nil {
				t.Fatal(err)
			}
			text = string(x)
		}
		if text != want[r.Function] && (text == "" || want[r.Function] != "refuted") {
			t.Errorf("%s: %s %s", r.Function, r.Verdict, text)
		}
	}
}
