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
		{"type s struct { n int }\n" + claim + "func F(a, b *s, x, eps float64, src *noise.Source) int {\na.n++\nreturn b.n\n}", "writing into a.n: b may point to the same", ""},
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
		{"const tenth = 0.1\n" + claim + "func F(x, eps float64, src *noise.Source) float64 { return tenth * x }", "", "return (real 1/10 * x)"},
		{"//dp:adjacent |x| <= 1 && each(q) in [0, 1]\n//dp:adjacent one(t) <= eps/2\n//dp:requires len(q) == len(t) && eps > 0\n//dp:cost zcdp(eps*math.Sqrt(2))\nfunc F(x float64, q, t []float64, eps float64) float64 { return x }", "", "return x"},
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
		text := "package p\nimport (\"github.com/discreet-dp/discreet/noise\"; \"math\")\nvar _ = math.Pi\nvar _ *noise.Source\n\n" + c.text
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
