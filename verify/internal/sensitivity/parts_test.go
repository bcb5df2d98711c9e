package sensitivity

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/claim"
)

// partsOf are numbers that are parts of q, and statements of them: N is a serial number, I and
// J are indices, V is a small number, R one of the parts, and B is a statement or nothing.
var partsOf = []string{
	"q[I]", "(q[I] - q[J])", "min(q[I], q[J])", "max(q[I], q[J])", "total(q[:I])", "total(q[I:])", "total(q[I:J])", "(total(q[:I]) - total(q[I:]))",
}

var partStatements = []string{
	"s += total(q[:I])", "z -= total(q[I:])", "x += total(q[I:J])", "lN := q[I:]\ns += total(lN[:1]) + lN[0]\nz += lN[J]", "for _, vN := range q[I:] {\nz = max(z, vN)\nB}",
	"lN := q[:I]\nfor jN := range lN {\ns += lN[jN]\nB}", "z, s = min(z, s), max(z, s)", "x, y = min(x, y), max(x, y)", "if x > y {\nx, y = y, x\n}", "if z < s {\nz, s = s, z\n} else {\nB}",
	"z, s = min(q[I], q[J]), max(q[I], q[J])", "if w[I] > w[J] {\nw[I], w[J] = w[J], w[I]\n}", "if R > R {\nz, s = s, z\n}", "z, s = V, q[I]\nif R > V {\nz, s = s, z\n}",
	"if x > R {\nx, y = y, x\n}", "z, s = q[I], q[J]\nif z > s {\nz, s = s, z\n}", "s, z = R, V\nif s > z {\ns, z = z, s\n}", "x, y, z = y, z, x",
	"zN, sN := z, s\nif zN > sN {\nzN, sN = s, z\n}\nz, s = zN, sN", "pN := P{R, 1, nil}\ns += pN.v\nz -= pN.v", "hN := []float64{x, y, z}\nx, y = hN[0], hN[I]\ns += hN[J]",
	"for jN := 0; jN+2 < len(q); jN += 2 {\ns += q[jN] - q[jN+1]\nB}", "for jN := I; jN+1 < len(q); jN += 2 {\nz += q[jN] + q[jN+J]\nB}",
	"for jN := len(q) - 1; jN >= 0; jN-- {\ns += q[jN]\nB}", "for jN := len(q) - 1; jN > 0; jN -= 2 {\ns = max(s, q[jN] + q[jN-1])\nB}",
	"for jN := len(w) - 1; jN > 0; jN-- {\nw[jN] += w[jN-1]\nB}", "for jN := len(w) - 1; jN >= I; jN-- {\nw[jN] = q[jN]\nB}",
	"for jN := 0; jN < len(q)-1; jN++ {\nif jN > I && c > 0 {\nbreak\n}\ns += q[jN+1] - q[jN]\nB}", "for jN := range q {\ns += q[len(q)-1-jN]\nB}", "for jN := range n {\ns += q[2*jN+I]\nB}",
	"for jN := range 3 {\nz += q[jN] / float64(jN+1)\nB}", "for jN := 1; jN < 4; jN++ {\ns += x / float64(jN)\nB}", "for jN := 1; jN <= n; jN++ {\ns += q[jN-1] * float64(jN)\nB}",
	"for jN := range q {\nfor iN := range 3 {\nu[iN] += q[jN]\nB}\n}", "for jN := range w {\nfor iN := 0; iN < 2; iN++ {\nw[jN] += R\nB}\n}",
	"for jN := range w {\nfor iN := 0; iN < 3; iN++ {\nw[jN] += R\nw[I] += w[jN]\nB}\n}", "for jN := range w {\nfor range 3 {\nw[jN] += R\ns += w[J]\nB}\n}",
	"for jN := range w {\nfor iN := range q {\nw[jN] = max(w[jN], q[iN])\nB}\n}", "for jN := range w {\nfor iN := 0; iN <= jN; iN++ {\nw[jN] += q[iN]\nB}\ns += w[J]\n}",
	"for jN := 0; jN+2 <= len(q); jN++ {\nfor iN := jN; iN < jN+2; iN++ {\ns += q[iN]\nB}\n}", "for jN := 0; jN+I < len(q); jN++ {\nfor iN := jN; iN <= jN+I; iN++ {\nz += q[iN]\nB}\n}",
	"for jN := range n {\nfor iN := range 3 {\nz += q[jN+iN]\nB}\n}", "for jN := range 2 {\nfor iN := range 3 {\nw[jN] += q[jN*3+iN]\nB}\n}", "for jN := range 2 {\nfor iN := range 3 {\nw[iN] += q[jN*2+iN]\nB}\n}",
	"for jN := range 2 {\nfor iN := range 2 {\nw[iN] += q[iN*2+jN]\nB}\n}", "for jN := range 2 {\nfor iN := range 3 {\ns += q[iN*2+jN]\nB}\nx += s\n}", "for jN := range 3 {\nfor iN := 1; iN < 3; iN++ {\ns = max(s, q[jN*I+iN])\nz += q[jN*iN+J]\nB}\n}",
	"for jN := range n {\nfor iN := range n {\ns += q[jN*n+iN] - q[iN*n+jN]\nB}\n}", "for jN := 0; jN < len(q); jN += 2 {\nhN := min(jN+2, len(q))\ns += total(q[jN:hN])\nz = max(z, total(q[jN:hN]))\nB}",
	"for jN := 0; jN < len(q); jN += 2 {\nhN := jN + 3\nif hN > len(q) {\nhN = len(q)\n}\nfor iN := jN; iN < hN; iN++ {\nw[0] += q[iN]\nB}\n}", "for jN := 0; jN+I <= len(q); jN++ {\nw[0] += total(q[jN:jN+I])\nz += total(q[jN:jN+I])\nB}",
	"for jN := 0; jN+2 <= len(q); jN += 2 {\nlN := q[jN:jN+2]\ns += lN[0] - lN[1]\nfor iN := range lN {\nw[iN] += lN[iN]\nB}\n}", "for jN := len(q) - 2; jN >= 0; jN-- {\nfor iN := range 2 {\nw[iN] += q[jN+iN]\nB}\n}", "for jN := 0; jN+1 < len(q); jN++ {\nfor iN := 1; iN >= 0; iN-- {\ns += q[jN+iN]\nB}\n}",
	"slices.Sort(w)", "sort.Float64s(w)\ns += w[I]", "slices.SortFunc(w, func(x, y float64) int { return cmp.Compare(x, y) })", "slices.SortFunc(w, func(x, y float64) int { return cmp.Compare(y, x) })", "sort.Slice(w, func(i, j int) bool { return w[i] < w[j] })", "sort.Slice(w, func(i, j int) bool { return w[i] > w[j] })\nz -= w[I]",
	"copy(w, q)\nsort.Slice(w, func(i, j int) bool { return w[i] < w[j] })", "copy(w, q)\nslices.SortFunc(w, func(x, y float64) int { return cmp.Compare(abs(x), abs(y)) })", "copy(w, q)\nsort.Slice(w, func(i, j int) bool { return q[i] < q[j] })", "copy(w, q)\nsort.Slice(w, func(i, j int) bool { return w[i] < u[j] })", "copy(w, q)\nslices.SortFunc(w, func(x, y float64) int { return int(x - y) })", "lN := slices.Clone(q)\nslices.Sort(lN)\nfor jN := range w {\nw[jN] += lN[jN]\nB}", "copy(w, q)\nsort.Slice(w, func(i, j int) bool { return w[i] + x < w[j] })",
	"for jN := range 3 {\nfor _, vN := range q {\nw[jN] += clamp(vN, 0, 1)\nB}\n}", "for jN := range w {\nfor iN := range 2 {\nif w[jN] > q[iN] {\nw[jN] = q[iN]\n}\nB}\n}",
}

// A parter draws functions of parts.
type parter struct {
	t       *rapid.T
	serial  int
	indices []string
	reals   []string
}

func (w *parter) pick(of ...string) string { return rapid.SampledFrom(of).Draw(w.t, "") }

func (w *parter) statement(depth int) string {
	w.serial++
	return w.filled(w.pick(partStatements...), depth)
}

func (w *parter) filled(text string, depth int) string {
	var b strings.Builder
	serial, places := w.serial, map[rune]string{}
	for i, c := range text {
		switch {
		case c == 'N':
			fmt.Fprint(&b, serial)
		case c == 'I', c == 'J':
			if places[c] == "" {
				places[c] = w.pick(w.indices...)
			}
			b.WriteString(places[c])
		case c == 'V':
			x := w.pick(w.reals...)
			b.WriteString(w.pick("1", "-1", "c", x, x, "clamp("+x+", -1, 2)"))
		case c == 'R':
			b.WriteString(w.filled(w.pick(append(w.reals[:len(w.reals):len(w.reals)], partsOf...)...), 0))
		case c == 'B' && text[i+1] == '}':
			if depth == 0 || rapid.Bool().Draw(w.t, "inside") {
				continue
			}
			before := w.indices
			for _, name := range []string{"j", "i"} {
				if strings.Contains(text, "for "+name+"N ") {
					w.indices = append(slices.Clone(w.indices), fmt.Sprint(name, serial))
				}
			}
			b.WriteString(w.statement(depth - 1))
			b.WriteByte('\n')
			w.indices = before
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// Law: parts of a slice, elements that loops come to and numbers that are ordered move, all
// together, no further than is said. The functions have few statements, and neighbours differ in
// one number, so that what is counted too little is not hidden by what else moves.
func TestPartsMoveNoFurther(t *testing.T) {
	cases := drawing(t, 2000)
	finite, runs := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := &parter{t: t, indices: []string{"0", "1", "2", "n"}, reals: []string{"x", "y", "z", "s", "c"}}
		results := rapid.SampledFrom([][]string{{"s"}, {"z"}, {"s", "z"}, {"s + z"}, {"x", "y"}, {"z - s"}, {"w"}, {"s", "w"}}).Draw(t, "results")
		var of, body []string
		for _, r := range results {
			of = append(of, map[bool]string{true: "[]float64", false: "float64"}[r == "w"])
		}
		for range rapid.IntRange(1, 3).Draw(t, "statements") {
			body = append(body, w.statement(rapid.IntRange(0, 2).Draw(t, "depth")))
		}
		text := fmt.Sprintf(partsFrame, strings.Join(of, ", "), strings.Join(body, "\n"), strings.Join(results, ", "))
		p, err := parsed(text)
		if err != nil {
			t.Skip("a variable that is not used, or an index that is not declared yet")
		}
		norm := rapid.SampledFrom([]claim.Norm{claim.L1, claim.L1, claim.L1, claim.L2, claim.LInf}).Draw(t, "norm")
		sig, err := p.infer("p.F", []Input{{Name: "x"}, {Name: "y"}, {Name: "q", Norm: norm}}, norm)
		if err != nil {
			return
		}
		finite++
		run := func(x, y, c, n float64, q []float64) ([]any, bool) {
			d := p.funcs["p.F"]
			m := &machine{program: p, info: d.pkg.Info, vars: map[types.Object]any{}}
			return m.call(d, x, y, c, n, copied(q))
		}
		for range 4 {
			x, y, c, n := halves.Draw(t, "x"), halves.Draw(t, "y"), halves.Draw(t, "c"), float64(rapid.IntRange(0, 4).Draw(t, "n"))
			q := rapid.SliceOfN(halves, 5, 8).Draw(t, "q")
			r1, ok := run(x, y, c, n, q)
			if !ok {
				continue
			}
			at := map[string]float64{"c": c, "n": n, "len(q)": float64(len(q))}
			moves := func(in Sensitivity, r2 []any, ok bool) {
				if in.Infinite != nil || !ok {
					return
				}
				runs++
				var all []float64
				for j := range r1 {
					all = append(all, between(r1[j], r2[j], false, norm)...)
				}
				if by, most := length(all, norm), in.Most.eval(at)/4; !(by <= most*(1+1e-9)+1e-9) {
					t.Fatalf("the result moves by %v with %s, and at most by %v was inferred in %s, at %v, x %v, y %v\n%v\n%v\n%v\n%s", by, in.Input, most, norm, at, x, y, q, r1, r2, text)
				}
			}
			r2, ok := run(x+0.25, y, c, n, q)
			moves(sig.Inputs[0], r2, ok)
			r2, ok = run(x, y+0.25, c, n, q)
			moves(sig.Inputs[1], r2, ok)
			for i := range q {
				near := slices.Clone(q)
				near[i] += 0.25
				r2, ok = run(x, y, c, n, near)
				moves(sig.Inputs[2], r2, ok)
			}
		}
	})
	t.Logf("%d functions have a signature, %d runs", finite, runs)
	if 2*runs < cases {
		t.Errorf("%d runs", runs)
	}
}

const partsFrame = helpers + `
func total(v []float64) float64 {
	s := 0.0
	for _, x := range v { s += x }
	return s
}
func F(x, y, c float64, n int, q []float64) (%s) {
z, s := 0.0, 0.0
u := make([]float64, 5)
w := make([]float64, 5)
_, _, _, _ = z, s, u, w
%s
return %s
}`
