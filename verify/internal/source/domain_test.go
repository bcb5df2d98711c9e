package source_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Where it follows from what is required that a scale is positive, nothing is written
// down; where it does not, that the source panics. What is known of a number now is not
// what was known when something was computed of it.
func TestDomains(t *testing.T) {
	known := newImporter(t)
	for _, c := range []struct{ requires, body, guard string }{
		{"eps > 0", "return src.Laplace(2/eps)", ""},
		{"eps >= 0.5", "return src.Laplace(2/eps)", ""},
		{"0 < eps && eps < n", "return src.Laplace(n/eps)", ""},
		{"eps > 0 && n == 2*eps", "return src.Laplace(n)", ""},
		{"eps > 1", "return src.Laplace(1/(eps-1))", ""},
		{"eps > 0 && k > 0", "return src.Laplace(4*float64(k)/eps)", ""},
		{"eps > 0", "s := 1/eps\nreturn src.Laplace(s)", ""},
		{"eps > 0", "return float64(len(q)) + src.Laplace(math.Exp(n)/eps)", ""},
		{"eps > 0", "x := 0.0\nfor i := 1; i < len(q); i++ {\nx += src.Laplace(float64(i)/eps)\n}\nreturn x", ""},
		{"eps >= 0", "return src.Laplace(2/eps)", "(! (eps > real 0))"},
		{"n > 0", "return src.Laplace(2/eps)", "(! (eps > real 0))"},
		{"eps != 0", "return src.Laplace(2/eps)", "(! (eps > real 0))"},
		{"eps > 0 || n > 0", "return src.Laplace(2/eps)", "(! (eps > real 0))"},
		{"eps > 0", "eps -= 1\nreturn src.Laplace(1/eps)", "> real 0))"},
		{"eps > n && n > eps", "return src.Laplace(1/eps)", "(! (eps > real 0))"},
		{"eps > 0", "return src.Laplace(n*eps)", "(! (n > real 0))"},
		{"eps > 0", "i := 0\ns := float64(i)\ni++\nreturn src.Laplace(s/eps) + float64(i)", "> "},
		{"eps > 0", "s := 0.0\nif n > 0 {\ns = 1\n}\nreturn src.Laplace(s/eps)", "(! (s > real 0))"},
	} {
		text := "package p\nimport (\"github.com/discreet-dp/discreet/noise\"; \"math\")\nvar _ = math.Pi\n\n" +
			"//dp:adjacent each(q) <= 1\n//dp:requires " + c.requires + "\n//dp:cost eps\n" +
			"func F(q []float64, eps, n float64, k int, src *noise.Source) float64 {\n" + c.body + "\n}\n"
		units, strays, wrong := known.lower(t, text)
		if wrong != nil || len(strays) > 0 || len(units) != 1 || len(units[0].Refusals) > 0 {
			t.Fatalf("%v %v\n%s", wrong, strays, text)
		}
		printed := program.Print(units[0].Function)
		guarded := strings.Contains(printed, "return \n")
		if guarded != (c.guard != "") || !strings.Contains(printed, c.guard) {
			t.Errorf("want a guard %q\n%s\nread as\n%s", c.guard, text, printed)
		}
	}
}
