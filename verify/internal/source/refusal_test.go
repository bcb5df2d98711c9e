package source_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Functions beside those of the reference page, and what is refused of them; "" if
// nothing is, and want is part of what they are read as.
func TestRefusals(t *testing.T) {
	known := newImporter(t)
	const claim = "//dp:adjacent |x| <= 1\n//dp:cost eps\n"
	for _, c := range []struct{ text, refused, want string }{
		{claim + "func F(x, eps float64, src *noise.Source) float64 {\n//dp:align -diff(x)\nk := src.Laplace(1)\nreturn x + k + id(src.Laplace(2))\n}\nfunc id(x float64) float64 { return x }", "",
			"k real ~ Laplace(real 1)\n\t\talign (- diff(x))\n\tlaplace1 real ~ Laplace(real 2)\n\treturn"},
		{claim + "func F(x, eps float64, src *noise.Source) float64 {\neps /= 2\nreturn x + src.Laplace(1/eps)\n}", "",
			"input eps real\n\teps·2 real = eps\n\teps·2 real = (eps·2 / real 2)\n\tif (! (eps·2 > real 0))\n\t\treturn \n\tlaplace1 real ~ Laplace((real 1 / eps·2))"},
		{"type s struct { n int }\n" + claim + "func (a *s) F(b *s, x, eps float64, src *noise.Source) int {\na.n++\nreturn b.n\n}", "writing into a.n: b may point to the same, or into it", ""},
		{"type S struct { N int }\n" + claim + "func F(a *S, x, eps float64, src *noise.Source) {\na.N++\n}", "writing into a.N: whoever has the struct sees it", ""},
		{"type s struct { n int }\nfunc (a *s) next() int { a.n++; return a.n }\nfunc f(a s, n int) int { return a.n + n }\n" + claim + "func F(a s, x, eps float64, src *noise.Source) int {\nreturn f(a, a.next())\n}", "reading a.n beside a call that changes it", ""},
		{claim + "func F(x, eps float64, src *noise.Source) []float64 {\na := []float64{x}\nb := append(a, 1)\nc := append(a, 2)\nreturn append(b, c...)\n}", "appending to c: b may share its elements", ""},
		{claim + "func F(x, eps float64, src *noise.Source) []float64 {\nvar a, b []float64\nfor range 3 {\nb = a\na = []float64{x}\na[0] = 2\n}\nreturn b\n}", "", "a[int 0] = real 2"},
		{claim + "func F(x, eps float64, src *noise.Source) []float64 {\nvar a, b []float64\nfor range 3 {\nb = a\nfor i := range a {\na[i] = 2\n}\n}\nreturn b\n}", "writing into a: b may share its elements", ""},
		{claim + "func F(x, eps float64, src *noise.Source) float64 {\na := []float64{x}\nvar b []float64\nn := 0.0\nfor range 3 {\na[0] = n\nfor _, y := range b {\nn += y\n}\nb = a\n}\nreturn n\n}", "writing into a: b may share its elements", ""},
		{claim + "func F(x, eps float64, src *noise.Source) (int, error) {\n//dp:align cond(result > 0, 1, -1)\nk := src.Laplace(1)\nif x + k > 0 {\nreturn 1, nil\n}\nreturn 0, nil\n}", "", "align cond((result > int 0), int 1, int -1)"},
		{claim + "func F(x, eps float64, src *noise.Source) bool {\n//dp:align cond(result, 1, -1)\nk := src.Laplace(1)\nreturn x + k > 0\n}", "", "align cond((result == int 1), int 1, int -1)"},
		{claim + "func F(x float64, result bool, eps float64, src *noise.Source) float64 {\n//dp:align cond(result, -diff(x), -diff(x))\nk := src.Laplace(1)\nreturn x + k\n}", "", "align cond(result, (- diff(x)), (- diff(x)))"},
		{claim + "func F(x, eps float64, src *noise.Source) (result int) {\n//dp:align cond(result > 0, 1, -1)\nk := src.Laplace(1)\nif x + k > 0 {\nresult = 1\n}\nreturn\n}", "", "align cond((result > int 0), int 1, int -1)"},
		{claim + "func F(x, eps float64, src *noise.Source) int {\n//dp:align cond(result > 0, 1, -1)\nk := src.Laplace(1)\nresult := 0\nif x + k > 0 {\nresult = 1\n}\nreturn result\n}", "", "align cond((result > int 0), int 1, int -1)\n\tresult·2 int = int 0"},
		{claim + "func F(x, eps float64, src *noise.Source) bool {\nreturn G(x, eps, src)\n}\n" + claim + "func G(x, eps float64, src *noise.Source) bool {\n//dp:align cond(result, 1, -1)\nk := src.Laplace(1)\nreturn x + k > 0\n}", "", "align cond((result == int 1), int 1, int -1)"},
		{claim + "func F(x, eps float64, src *noise.Source) bool {\nreturn g(x, src)\n}\nfunc g(x float64, src *noise.Source) bool {\n//dp:align cond(result, 1, -1)\nk := src.Laplace(1)\nreturn x + k > 0\n}", "result: it is of the function with the claim, and this one is called", ""},
		{claim + "func F(x, eps float64, src *noise.Source) bool {\nf := func() bool {\n//dp:align cond(result, 1, -1)\nk := src.Laplace(1)\nreturn x + k > 0\n}\nreturn f()\n}", "result: it is of the function with the claim, and this one is called", ""},
		{claim + "func F(x, eps float64, src *noise.Source) (int, int) {\n//dp:align cond(result > 0, 1, -1)\nk := src.Laplace(1)\nif x + k > 0 {\nreturn 1, 2\n}\nreturn 0, 0\n}", "result: the function does not have one result", ""},
		{claim + "func F(x, eps float64, src *noise.Source) {\n//dp:align cond(result > 0, 1, -1)\nk := src.Laplace(1)\nif x + k > 0 {\nreturn\n}\n}", "result: the function does not have one result", ""},
		{claim + "func F(x, eps float64, src *noise.Source) []int {\n//dp:align cond(result > 0, 1, -1)\nk := src.Laplace(1)\nif x + k > 0 {\nreturn nil\n}\nreturn []int{1}\n}", "result: it is of type []int, and couplings are for one integer or truth at a time", ""},
		{claim + "func F(x, eps float64, src *noise.Source) bool {\n//dp:invariant result\nfor range 3 {\n}\nreturn x + src.Laplace(1) > 0\n}", "result: there is no such input here", ""},
		{claim + "func F(x, eps float64, src *noise.Source) error {\nreturn errors.New(fmt.Sprint(x))\n}", "an error that quotes a value: it shows the value", ""},
		{claim + "func F(x, eps float64, src *noise.Source) error {\nvar err error\nif x > 0 {\nerr = w(a)\n} else {\nerr = w(b)\n}\nreturn err\n}\nfunc w(err error) error { return fmt.Errorf(\"w: %w\", err) }\nvar a, b = errors.New(\"a\"), errors.New(\"b\")", "", "err int = int 2\n\telse\n\t\terr int = int 4"},
		{claim + "func F(x, eps float64, src *noise.Source) float64 {\nif g() == g() {\nreturn src.Laplace(1)\n}\nreturn x\n}\nfunc g() error { return errors.New(\"g\") }", "comparing two errors: each errors.New makes another one", ""},
		{"var a, b error = errors.New(\"a\"), nil\n" + claim + "func F(x, eps float64, src *noise.Source) error {\nif b != nil {\nreturn a\n}\nreturn b\n}", "the error b: it may be nil, or set anew", ""},
		{"var a = errors.New(\"a\")\nfunc init() { a = nil }\n" + claim + "func F(x, eps float64, src *noise.Source) error {\nreturn a\n}", "the error a: it may be nil, or set anew", ""},
		{claim + "func F(x, eps float64, src *noise.Source) (bool, bool) {\nvar err error\nset := func() bool { err = errors.New(\"a\"); return true }\nreturn err == nil, set()\n}", "reading err beside a call that changes it", ""},
		{"type s struct { n float64 }\nfunc (a s) get(y float64) float64 { return a.n + y }\n" + claim + "func F(x, eps float64, src *noise.Source) float64 {\na := s{x}\nset := func() float64 { a.n = 0; return 0 }\nreturn a.get(set())\n}", "reading a.n beside a call that changes it", ""},
		{claim + "func F(x, eps float64, src *noise.Source) []float64 {\nvar v []float64\ngrow := func() float64 { v = append(v, 0); return x }\nv = append(v, grow())\nreturn v\n}", "reading v beside a call that changes it", ""},
		{"type s struct { n int }\n" + claim + "func F(a *s, x, eps float64, src *noise.Source) bool {\nreturn a == nil || src != nil\n}", "", "input src != nil bool"},
		{"type s struct { n int }\n" + claim + "func F(x, eps float64, src *noise.Source) bool {\na := &s{1}\nreturn a == nil\n}", "", "return false"},
		{"type s struct { n int }\ntype t struct { in s }\n" + claim + "func (b *t) F(a *s, x, eps float64, src *noise.Source) int {\nb.in.n++\nreturn a.n\n}", "writing into b.in.n: a may point to the same, or into it", ""},
		{"type s struct { n int }\ntype t struct { in s }\n" + claim + "func (a *s) F(b *t, x, eps float64, src *noise.Source) int {\na.n++\nreturn b.in.n\n}", "writing into a.n: b may point to the same, or into it", ""},
		{claim + "func F(x, eps float64, src *noise.Source, yield func([]float64) bool) {\nb := []float64{0}\nyield(b)\nb[0] = x\n}", "writing into b: what was yielded may share its elements", ""},
		{claim + "func F(x, eps float64, src *noise.Source, yield func([]float64) bool) {\nb := make([]float64, 0, 9)\nfor range 3 {\nyield(b)\nb = append(b, x)\n}\n}", "appending to b: what was yielded may share its elements", ""},
		{claim + "func F(x, eps float64, src *noise.Source, yield func([]float64) bool) {\nfor range 3 {\nb := []float64{1}\nb[0] = 2\nyield(b)\n}\n}", "", "output b"},
		{"type s struct { N float64 }\n" + claim + "func F(x, eps float64, src *noise.Source, yield func(*s) bool) {\nvar b s\nyield(&b)\nb.N = x\n}", "yielding a pointer: what it points to may change when it was seen", ""},
		{claim + "func F(x, eps float64, src *noise.Source) []float64 {\na := make([]float64, 0, 1)\nb := append(a, x)\n_ = b\nreturn a\n}", "showing a: behind its end is what b was appended", ""},
		{claim + "func F(x, eps float64, src *noise.Source) []float64 {\na := []float64{1}\nb := a\na = append(a, 2)\nreturn append(a, b...)\n}", "", "return"},
		{claim + "func F(x, eps float64, n int, src *noise.Source) []float64 {\nreturn make([]float64, 3, n)\n}", "", "if (! ((n - int 3) >= int 0))\n\t\treturn"},
		{claim + "func F(x, eps float64, q []float64, src *noise.Source) []float64 {\nreturn make([]float64, 0, len(q))\n}", "", "input q []real\n\tslice []real = make int 0\n"},
		{"func len(q []float64) int { return 1 }\n//dp:adjacent each(q) <= 1\n//dp:requires len(q) == 1\n//dp:cost eps\nfunc F(q []float64, eps float64, src *noise.Source) float64 {\nreturn src.Laplace(1)\n}", "len: it is declared here, and means something else in directives", ""},
		{"type constants struct { Pi float64 }\n//dp:adjacent |x| <= math.Pi\n//dp:cost eps\nfunc F(x float64, math constants, eps float64, src *noise.Source) float64 {\nreturn src.Laplace(1)\n}", "math: it is declared here, and means something else in directives", ""},
		{"//dp:adjacent |x| <= 1\n//dp:requires true\n//dp:cost eps\nfunc F(x float64, true bool, eps float64, src *noise.Source) float64 {\nreturn src.Laplace(1)\n}", "true: it is declared here, and means something else in directives", ""},
		{"func Log(x float64) float64 { return 9 }\n//dp:adjacent |x| <= 1\n//dp:cost math.Log(2)\nfunc F(x, eps float64, src *noise.Source) float64 {\nreturn src.Laplace(1)\n}", "", "laplace1 real ~ Laplace(real 1)"},
		{"//dp:adjacent |x| <= 1\n//dp:requires 24-h >= 0\n//dp:cost eps\nfunc F(x float64, h uint8, eps float64, src *noise.Source) float64 {\nreturn src.Laplace(1)\n}", "a difference of unsigned integers: below zero it wraps around", ""},
		{"//dp:adjacent |x| <= float64(-h[0])\n//dp:cost eps\nfunc F(x float64, h []uint, eps float64, src *noise.Source) float64 {\nreturn src.Laplace(1)\n}", "a difference of unsigned integers: below zero it wraps around", ""},
		{"//dp:adjacent |x| <= 1\n//dp:requires 24-float64(h) >= 0 && len(q)-1 >= 0\n//dp:cost eps\nfunc F(x float64, h uint8, q []uint, eps float64, src *noise.Source) float64 {\nreturn src.Laplace(1)\n}", "", "laplace1 real ~ Laplace(real 1)"},
		{"//dp:adjacent |x| <= 1\n//dp:cost c\nfunc F(x, eps float64, src *noise.Source) float64 {\nconst c = 5\nreturn src.Laplace(c)\n}", "c: there is no such input here", ""},
		{"//dp:adjacent |x| <= c\n//dp:requires eps > math.E\n//dp:cost eps\nfunc F(x, eps float64, src *noise.Source) float64 {\nconst c, math = 5, 6\nreturn src.Laplace(c * math)\n}\nconst c = 3", "", "Laplace(real 30)"},
		{claim + "func F(x, eps float64, src *noise.Source) any {\nif x > 0 {\nreturn int32(1)\n}\nreturn int64(1)\n}", "showing a value of type any: of which type it is would be shown with it", ""},
		{claim + "func F(x, eps float64, src *noise.Source, yield func(any) bool) {\nyield(1)\n}", "showing a value of type any: of which type it is would be shown with it", ""},
		{"type low struct{}\nfunc (low) Error() string { return \"\" }\n" + claim + "func F(x, eps float64, src *noise.Source) error {\nreturn low{}\n}", "an error of type p.low: of which type it is would be shown with it", ""},
		{"type low struct{}\nfunc (low) Error() string { return \"\" }\nfunc both() (float64, low) { return 0, low{} }\n" + claim + "func F(x, eps float64, src *noise.Source) (float64, error) {\nreturn both()\n}", "an error of type p.low: of which type it is would be shown with it", ""},
		{"type h struct { s noise.Stream }\n" + claim + "func F(x, eps float64, a h) (int, error) {\nb := a\ni, err := b.s.Index(2)\nif err != nil {\nreturn 0, err\n}\nj, err := a.s.Index(2)\nif err != nil {\nreturn 0, err\n}\nreturn i - j, nil\n}", "this draw: it is outside the subset", ""},
		{claim + "func F(x, eps float64, src noise.Source) float64 {\nother := src\nreturn src.Laplace(1) - other.Laplace(1)\n}", "this source of noise: where it comes from is not known", ""},
		{claim + "func F(x, eps float64, src *noise.Source) float64 {\nreturn float64(float32(src.Round(x, 1))) + src.Laplace(1)\n}", "a conversion to float32: it drops digits", ""},
		{claim + "func F(x, eps float64, src *noise.Source) float64 {\na := []float64{1, 2}\ni := 0\ni, a[i] = two()\nreturn a[0]\n}\nfunc two() (int, float64) { return 1, 0 }", "", "old"},
		{claim + "func F(x, eps float64, src *noise.Source) float64 {\na := []float64{1, 2}\ni := 0\nfor i, a[i] = range a {\n}\nreturn a[0]\n}", "this variable of a range: what it is may depend on the other", ""},
		{claim + "func F(x, eps float64, src *noise.Source) bool {\nif math.Inf(1) > math.MaxFloat64 {\nreturn x > 0\n}\nreturn false\n}", "", "return (x > real 0)"},
		{claim + "func F(x, eps float64, src *noise.Source) bool {\nbest := -math.MaxFloat64\nif best < x {\nbest = x\n}\nreturn best > math.Inf(-1)\n}", "arithmetic on what may be infinite: numbers are real", ""},
		{claim + "func F(x, eps float64, src *noise.Source) float64 {\nbest := math.Inf(-1)\nif x > 0 {\nbest = x\n}\nreturn x - best\n}", "", "sum real = real 1\n\telse\n\t\tsum real = (x - best)\n\treturn best·infinite, sum"},
		{claim + "func F(x, eps float64, src *noise.Source) float64 {\nbest := math.Inf(-1)\nif x > 0 {\nbest = x\n}\nreturn best - best\n}", "", "if best·infinite\n\t\tif best·infinite\n\t\t\tsum real = real 0\n\t\telse\n\t\t\tsum real = real -1\n"},
		{claim + "func F(x, eps float64, src *noise.Source) float64 {\nif x > 0 {\nreturn math.Inf(1)\n}\nreturn math.Inf(-1)\n}", "showing infinities of two kinds: of one number it is known whether it is infinite", ""},
		{claim + "func F(x, eps float64, src *noise.Source) float64 {\nif x > 0 {\nreturn math.Inf(1)\n}\nreturn math.Inf(1) - 1\n}", "showing infinities of two kinds", ""},
		{claim + "func F(x, eps float64, src *noise.Source, yield func(float64) bool) {\nif !yield(math.Inf(1)) {\nreturn\n}\nif !yield(math.Inf(-1)) {\nreturn\n}\n}", "showing infinities of two kinds", ""},
		{claim + "func F(x, eps float64, src *noise.Source) (int, float64) {\nif x > 0 {\nreturn 1, math.Inf(1)\n}\nreturn 2, 3\n}", "", "return int 2, false, real 3"},
		{claim + "func F(x, eps float64, src *noise.Source) (n float64) {\na := [2]float64{x, 1}\nfor _, y := range a {\na[1] = y\nn += y\n}\nreturn n\n}", "changing a while ranging over it: the range goes on with what it was", ""},
		{claim + "func F(x, eps float64, src *noise.Source) bool {\na, b := [2]float64{x}, [2]float64{1, x}\nreturn a == b\n}", "slices or structs assigned side by side", ""},
		{claim + "func F(x, eps float64, src *noise.Source) bool {\na := [2]float64{x}\nb := a\nb[0]++\nreturn a == b\n}", "a slice: a number or a truth is expected here", ""},
		{claim + "func F(x, eps float64, src *noise.Source) bool {\nbest := math.Inf(-1)\nif x > 0 {\nbest = x\n}\nreturn x - best > 1\n}", "", "return ((best·infinite && (sum == real 1)) || ((! best·infinite) && (sum > real 1)))"},
		{claim + "func F(x, eps float64, src *noise.Source) bool {\nbest := math.Inf(-1)\nif x > 0 {\nbest = x\n}\nreturn math.IsInf(x - best, 1)\n}", "the function IsInf", ""},
		{claim + "func F(x, eps float64, src *noise.Source) float64 {\nbest := math.Inf(-1)\nif x > 0 {\nbest = x\n}\nreturn max(x - best, 0)\n}", "what may be infinite: a number is expected here", ""},
		{claim + "func F(x, eps float64, src *noise.Source) float64 {\nbest := math.Inf(-1)\nif x > 0 {\nbest = x\n}\ngap := best - x\ngap = best\nreturn gap\n}", "assigning what may be infinite: it is outside the subset", ""},
		{claim + "func F(x, eps float64, src *noise.Source) []float64 {\nif x > 0 {\nreturn nil\n}\nreturn []float64{}\n}", "showing a slice that is nil or empty: which of them may tell of private data", ""},
		{claim + "func F(x, eps float64, src *noise.Source) []float64 {\nvar a []float64\nif x > 0 {\na = make([]float64, 0, 3)\n}\nreturn a\n}", "showing a slice that is nil or empty", ""},
		{claim + "func F(x, eps float64, src *noise.Source) []float64 {\nif x > 0 {\nreturn nil\n}\nvar a []float64\nfor range 3 {\na = append(a, 1)\n}\nif x < -3 {\nreturn []float64{2}\n}\nreturn a\n}", "", "return a"},
		{"type s struct { n float64 }\n" + claim + "func F(a *s, x, eps float64, src *noise.Source) float64 {\na.n = x\nreturn src.Laplace(1)\n}", "writing into a.n: the caller sees it", ""},
		{"type s struct { n float64 }\n" + claim + "func F(a s, x, eps float64, src *noise.Source) float64 {\na.n = x\nreturn a.n + src.Laplace(1)\n}", "", "a.n real = x"},
		{"const tenth = 0.1\n" + claim + "func F(x, eps float64, src *noise.Source) float64 { return tenth * x }", "", "return (real 1/10 * x)"},
		{"//dp:adjacent |x| <= 1 && each(q) in [0, 1]\n//dp:adjacent one(t) <= eps/2\n//dp:requires len(q) == len(t) && eps > 0\n//dp:cost zcdp(eps*math.Sqrt(2))\nfunc F(x float64, q, t []float64, eps float64) float64 { return x }", "", "return x"},
		{"//dp:adjacent |größe| <= 1 && each(q_é) in [0, 1]\n//dp:requires ε > 0\n//dp:cost ε\nfunc F(größe float64, q_é []float64, ε float64) float64 { return größe }", "", "return größe"},
		{"//dp:sensitivity größe = 1\nfunc F(größe float64) float64 { return größe }", "", "return größe"},
		{"//dp:adjacent each(q) < 1\n//dp:cost eps\nfunc F(q []float64, eps float64) {}", "an adjacency with <", ""},
		{"//dp:adjacent each(x) <= 1\n//dp:cost eps\nfunc F(x, eps float64) {}", "x: it is no slice", ""},
		{"//dp:adjacent |q| <= 1\n//dp:cost eps\nfunc F(q []float64, eps float64) {}", "|q|: q is a slice", ""},
		{"//dp:adjacent |b| <= 1 && each(q) <= 1\n//dp:cost eps\nfunc F(b bool, q []bool, eps float64) bool { return b }", "", "return b"},
		{"//dp:adjacent |y| <= 1\n//dp:cost eps\nfunc F(x, eps float64) {}", "y: the function has no such input", ""},
		{"//dp:adjacent |x| <= 1\n//dp:adjacent |x| <= 2\n//dp:cost eps\nfunc F(x, eps float64) {}", "a second adjacency of x", ""},
		{"//dp:adjacent |x| <= 1\n//dp:cost eps\n//dp:cost 2*eps\nfunc F(x, eps float64) {}", "a second cost", ""},
		{"//dp:adjacent |x| <= 1\nfunc F(x, eps float64) {}", "a function without a claim", ""},
		{"//dp:adjacent bag(q) <= 1\n//dp:cost eps * float64(len(q))\nfunc F(q []float64, eps float64) {}", "len(q): neighbours have different numbers", ""},
		{"//dp:adjacent one(m) <= 1\n//dp:cost eps\nfunc F(m map[int]float64, eps float64) {}", "m: two keys may be equal", ""},
		{"// dp:cost eps\nfunc F(x, eps float64) {}", "comment // dp:cost eps: looks like a directive and is none", ""},
		{"//dp:adjacent |x| <= 1\n\n//dp:cost eps\nfunc F(x, eps float64) {}", "directive //dp:adjacent: it speaks of nothing here", ""},
		{"//dp:adjacent |x| <= 1\n//dp:requires x >= 1/2\n//dp:cost eps\nfunc F(x, eps float64) {}", "a quotient of integers", ""},
	} {
		text := "package p\nimport (\"errors\"; \"fmt\"; \"github.com/discreet-dp/discreet/noise\"; \"math\")\nvar _ = math.Pi\nvar _, _ = errors.New, fmt.Errorf\nvar _ *noise.Source\n\n" + c.text
		units, strays, wrong := known.lower(t, text)
		if wrong != nil {
			t.Fatalf("%v\n%s", wrong, text)
		}
		var refused []string
		for _, r := range strays {
			refused = append(refused, r.What+": "+r.Why)
		}
		printed := ""
		for _, u := range units {
			for _, r := range u.Refusals {
				refused = append(refused, r.What+": "+r.Why)
			}
			if u.Function != nil {
				printed = program.Print(u.Function)
			}
		}
		all := strings.Join(refused, "\n")
		if (c.refused == "") != (all == "") || !strings.Contains(all, c.refused) || c.want != "" && !strings.Contains(printed, c.want) {
			t.Errorf("refused %q, want %q\n%s\nread as\n%s", all, c.refused, c.text, printed)
		}
	}
}
