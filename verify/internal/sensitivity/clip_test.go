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

// What clipping is made of: a norm is added up, a factor is made of it, and elements are added
// times that. Most drawn together clip nothing, or not by the norm of what they add. E is a vector,
// F mostly the same, D a bound.
var (
	clipNorms = []string{
		"for _, v := range E {\ns += v * v\n}", "for j := range E {\ns += E[j] * E[j]\n}", "for j := range 3 {\ns += E[j] * E[j]\n}", "for j := range 3 {\nif j < len(F) {\ns += E[j] * E[j]\n}\n}", "for j := 0; j < len(E); j++ {\ns += E[j] * F[j]\n}",
		"for _, v := range E {\ns += abs(v)\n}", "for _, v := range E {\ns += math.Abs(v)\n}", "for _, v := range E {\ns += math.Abs(v)\n}", "for j := range 3 {\nif j < len(E) {\ns += math.Abs(E[j])\n}\n}", "for j := range n {\ns += math.Abs(E[j])\n}", "for j, v := range E {\nif j < 2 {\ns += v * v\n}\n}", "for _, v := range E {\ns += v\n}",
	}
	clipRoots   = []string{"m := math.Sqrt(s)", "m := math.Sqrt(s)", "m := math.Sqrt(s)", "m := math.Sqrt(o)", "m := s", "m := s", "m := 2 * math.Sqrt(s)", "m := math.Sqrt(s) / 2"}
	clipFactors = []string{
		"f := min(1, D/m)", "f := min(1, D/m)", "f := math.Min(1, D/m)", "f := 1 / max(1, m/D)", "f := D / max(m, D)", "f := max(1, D/m)", "f := min(D, 1/m)", "f := 1 / max(D, m)",
		"f := 1.0\nif m > D {\nf = D / m\n}", "f := 1.0\nif D <= m {\nf = D / m\n}", "f := 1.0\nif m < D {\nf = D / m\n}", "f := 1.0\nif s > D*D {\nf = D / m\n}", "f := 1.0\nif s > D {\nf = D / m\n}", "f := 1.0\nif m > 2*D {\nf = D / m\n}", "f := D / m\nif m <= D {\nf = 1\n}", "f := 1.0",
	}
	clipParts = []string{"v * f", "f * v", "v * f", "v * f * 2", "v * f / 2", "v * f * c", "v * clamp(s, -1, 1) * f", "clamp(v, -1, 1) * f", "v / max(1, m/D)", "v - v*f"}
	clipAdds  = []string{
		"for j, v := range F {\ng[j] += P\n}", "for j, v := range F {\ng[j] += P\n}", "for j := range g {\nif j < len(F) {\nv := F[j]\ng[j] += P\n}\n}", "for j := range 3 {\nv := F[j]\ng[j] += P\n}", "for j := range n {\nv := F[j]\ng[j] += P\n}",
		"for _, v := range F {\ng[0] += P\n}", "for _, v := range F {\nz += P\n}", "for j, v := range F {\nif T {\nv *= D / m\n}\ng[j] += v\n}", "for j, v := range F {\nif T {\ng[j] += v * D / m\n} else {\ng[j] += v\n}\n}", "for j, v := range F {\nif T {\ng[j] += v\n} else {\ng[j] += P\n}\n}", "for j, v := range F {\nif T {\nv = v * D / m\n}\nz += v\n}",
		"for j, v := range F {\ng[j] += P\ng[j] += v * f\n}", "for j, v := range F {\nif j%2 == 0 {\ng[j] += P\n}\n}", "for j, v := range F {\ng[(j+1)%3] += P\n}", "for j := range 3 {\nu, v := E[j], F[j]\n_ = u\ng[j] += P\n}", "for j := range 3 {\nu, v := F[j], E[j]\ng[j] += P - u + F[j]\n}",
	}
	clipTests = []string{"m > D", "m > D", "m >= D", "D < m", "m < D", "s > D*D", "s > D", "m > 2*D", "m > D/2", "m <= D"}
)

// clipText draws what is done with a vector.
func clipText(t *rapid.T, of, other string) string {
	pick := func(of ...string) string { return rapid.SampledFrom(of).Draw(t, "") }
	bound := pick("c", "c", "c", "1", "c/2")
	text := strings.Join([]string{"for _, v := range F {\no += v * v\n}", pick(clipNorms...), pick(clipRoots...), pick(clipFactors...), "_ = f", pick(clipAdds...)}, "\n")
	for strings.Contains(text, "P\n") {
		text = strings.Replace(text, "P\n", pick(clipParts...)+"\n", 1)
	}
	text = strings.ReplaceAll(text, "T {", pick(clipTests...)+" {")
	added := of
	if rapid.IntRange(0, 3).Draw(t, "other") == 0 {
		added = other
	}
	return strings.NewReplacer("D", bound, "E", of, "F", added).Replace(text)
}

// Law: vectors that are clipped by a norm, and sums of such, move no further than is said, be
// they records or one that is given.
func TestClippedMovesNoFurther(t *testing.T) {
	cases := drawing(t, 2500)
	finite, clipped, runs := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.Bool().Draw(t, "records")
		body := ""
		if records {
			body = "for _, e := range h {\ns, o := 0.0, 0.0\n" + clipText(t, "e.s", "e.t") + "\n}"
		} else {
			body = "s, o := 0.0, 0.0\n" + clipText(t, "q", "r")
		}
		text := fmt.Sprintf(clipFrame, body, rapid.SampledFrom([]string{"g", "g", "g", "[]float64{z}", "append(g, z)"}).Draw(t, "result"))
		p, err := parsed(text)
		if err != nil {
			t.Skip("a variable that is not used")
		}
		norm := rapid.SampledFrom([]claim.Norm{claim.L1, claim.L2, claim.L2, claim.LInf}).Draw(t, "norm")
		in := []Input{{Name: "q", Norm: norm}, {Name: "r", Norm: norm}}
		if records {
			in = []Input{{Name: "h", Bag: true}}
		}
		sig, err := p.infer("p.F", in, norm)
		if err != nil || sig.Inputs[0].Infinite != nil {
			return
		}
		finite++
		run := func(c, n float64, q []float64, h []structure) ([]float64, bool) {
			d := p.funcs["p.F"]
			m := &machine{program: p, info: d.pkg.Info, vars: map[types.Object]any{}}
			all, ok := m.call(d, c, n, copied(q), []float64{1, -2, 4}, copied(h))
			if !ok {
				return nil, false
			}
			return all[0].([]float64), true
		}
		vector := rapid.SliceOfN(rapid.SampledFrom([]float64{-4, -2, -0.5, 0, 0.25, 0.5, 1, 3}), 3, 3)
		record := rapid.Custom(func(t *rapid.T) structure {
			long := rapid.SampledFrom([]int{0, 1, 2, 3, 3, 3, 3, 3, 3})
			return structure{s: vector.Draw(t, "s")[:long.Draw(t, "len(s)")], t: vector.Draw(t, "t")[:long.Draw(t, "len(t)")]}
		})
		for range 6 {
			c, n := rapid.SampledFrom([]float64{0.25, 0.5, 1, 2, 3}).Draw(t, "c"), float64(rapid.IntRange(0, 3).Draw(t, "n"))
			q, h := vector.Draw(t, "q"), rapid.SliceOfN(record, 0, 2).Draw(t, "h")
			near, more, by := slices.Clone(q), h, 1.0
			if records {
				more = append(slices.Clone(h), record.Draw(t, "row"))
			} else {
				near, by = moved(t, q, false, norm, halves, 0.25)
			}
			r1, ok1 := run(c, n, q, h)
			r2, ok2 := run(c, n, near, more)
			if !ok1 || !ok2 {
				continue
			}
			runs++
			all := apartness(r1, r2, false, norm)
			most := sig.Inputs[0].Most.eval(map[string]float64{"c": c, "n": n, "len(q)": 3, "len(h)": float64(len(h))}) * by
			if got := length(all, norm); !(got <= most*(1+1e-9)+1e-9) {
				t.Fatalf("the result moves by %v, and at most by %v was inferred in %s, at c %v, n %v, q %v and %v, h %v and %v\n%s", got, most, norm, c, n, q, near, h, more, text)
			} else if got > most/2 && got > 0 {
				clipped++
			}
		}
	})
	t.Logf("%d functions have a bound; of %d runs %d move by more than half of it", finite, runs, clipped)
	if 5*runs < 2*cases || 25*clipped < cases {
		t.Errorf("%d runs, of which %d move far", runs, clipped)
	}
}

const clipFrame = helpers + `
type V struct {
	v float64
	n int
	s, t []float64
}
func F(c float64, n int, q, r []float64, h []V) []float64 {
c = max(c, 0.25)
g := make([]float64, 3)
z := 0.0
_ = z
%s
return %s
}`
