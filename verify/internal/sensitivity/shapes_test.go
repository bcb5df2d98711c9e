package sensitivity

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// A kindOfMemory is its declaration, numbers that are read of it, statements, loops over it, and
// results with their types. In each I and J stand for an index, K for a key, R for a
// number, V for a small number, C for a condition, B for a block, N for a new name.
type kindOfMemory struct {
	declared         string
	reals, ints      []string
	statements       []string
	refused          []string // statements too, which the rules refuse
	loops            []header
	results, returns []string
}

// A header begins loops, in which there are new names.
type header struct {
	text                       string
	reals, ints, indices, keys string // by spaces
	over                       string // the input that it is over
	deep                       bool   // it is of two loops
}

// memory reports whether a loop is over memory that is written to elsewhere.
func (h header) memory() bool {
	return !slices.ContainsFunc(headers, func(g header) bool { return g.text == h.text })
}

// headers begin loops over what all functions have.
var headers = []header{
	{text: "for _, vN := range r {", ints: "vN", keys: "vN", over: "r"},
	{text: "for _, vN := range r {", ints: "vN", keys: "vN", over: "r"},
	{text: "for jN := range r {", ints: "r[jN]", keys: "r[jN]", over: "r"},
	{text: "for _, vN := range q {", reals: "vN", over: "q"},
	{text: "for _, vN := range q {", reals: "vN", keys: "int(vN)", over: "q"},
	{text: "for jN, vN := range q {", reals: "vN", indices: "jN", over: "q"},
	{text: "for jN := range q {", reals: "q[jN]", indices: "jN", over: "q"},
	{text: "for jN := range 3 {", indices: "jN"},
	{text: "for jN := range 3 {", indices: "jN"},
	{text: "for jN := range w {", indices: "jN"},
	{text: "for jN := range u {", indices: "jN"},
	{text: "for jN, vN := range u {", reals: "vN", indices: "jN"},
	{text: "for jN := range n {", indices: "jN"},
	{text: "for jN := 0; jN < 3; jN++ {", indices: "jN"},
	{text: "for jN := 1; jN < 3; jN++ {", indices: "jN"},
	{text: "for jN := 1; jN <= 2; jN++ {", indices: "jN"},
	{text: "for jN := 0; jN < len(w); jN++ {", indices: "jN"},
	{text: "for jN := 0; jN < 3 && jN <= n; jN++ {", indices: "jN"},
	{text: "for jN := n; jN < 3; jN++ {", indices: "jN"},
	{text: "for range 2 {"},
	{text: "for range n {"},
	{text: "for k < 3 {\nk++", indices: "k-1"},
	{text: "for _, eN := range h {\nfor _, vN := range eN {", reals: "vN", deep: true, over: "h"},
	{text: "for jN, eN := range h {\nfor iN, vN := range eN {", reals: "vN", indices: "iN jN", deep: true, over: "h"},
	{text: "for jN, eN := range h {", reals: "eN[0] eN[1]", indices: "jN", over: "h"},
	{text: "for jN := range 3 {\nfor iN := range h {", reals: "h[iN][jN] h[iN][0]", indices: "iN jN", deep: true, over: "h"},
	{text: "for kN, vN := range b {", reals: "vN", ints: "kN", keys: "kN"},
	{text: "for jN := range 3 {\nfor iN := range 3 {", indices: "iN jN", deep: true},
}

var memories = map[string]kindOfMemory{
	"table": {"m := map[int]float64{}\n_ = m", []string{"m[K]", "m[K]"}, []string{"len(m)"}, []string{
		"m[K] += V", "m[K] += V", "m[K]++", "m[K] = V", "m[K] = V", "m[K] = R", "m[K] = 1", "m[K] = 1", "m[K] = 0.5", "m[K] = 0.5", "m[K] = 2", "count(m, K)",
		"m[K] = 1\nm[J] += V", "m[K] = 1\nm[K] += V", "m[K] += V\nm[J] = 1", "for _, vN := range r {\nm[vN] = 0.5\n}", "m[K] = max(m[K], V)", "m[K] = min(m[K]+V, 2)", "m[K] += V\nm[J] += V", "if C {\nm[K] = 1\n} else {\nm[K] = 2\n}", "if C {\nm[K] += V\n} else {\nm[J] += V\n}", "if m[K] < 2 {\nm[K]++\n}", "if len(m) < 2 {\nm[K] = 1\n}",
		"z += m[K]", "s = m[K]", "z = float64(len(m))", "w[I] = m[K]", "w[I] += m[K]",
		"if vN, ok := m[K]; ok {\nz += vN\nB}", "if _, ok := m[K]; ok {\nB}", "if _, ok := m[K]; ok {\nz++\n}", "if _, ok := m[K]; !ok {\nm[K] = V\n}", "vN, okN := m[K]\nif !okN {\nvN = V\n}\nz += vN", "if len(m) > 1 {\nB}", "_, okN := m[K]\nif okN {\ns = 1\n}",
		"for kN, vN := range m {\n_, _ = kN, vN\ns += clamp(vN, -1, 2)\nB}", "for _, vN := range m {\ns += vN\nB}", "for kN := range m {\n_ = kN\ns += m[kN]\nB}",
		"for range m {\ns++\n}", "for range m {\nz++\n}", "for range m {\nz++\n}", "for _, vN := range m {\ns = max(s, vN)\n}", "for _, vN := range m {\nif vN > 0 {\ns += V\n}\n}", "for kN, vN := range m {\nw[0] += vN * clamp(float64(kN), 0, 1)\n}", "for _, vN := range m {\nacc = append(acc, vN)\n}",
		"m = map[int]float64{}", "m = make(map[int]float64)", "m = tally(r)", "m = map[int]float64{0: V, 1: V}", "m[K]++\nm[K]++",
		"for kN, vN := range b {\nm[kN] += vN\n}", "for kN, vN := range b {\nm[kN] = vN\n}", "for kN, vN := range b {\nm[kN%2] += vN\n}",
		"for jN := range r {\nm[r[jN]] += V\nB}", "for _, vN := range r {\nm[vN] = 1\n}", "for _, vN := range r {\nm[vN%2] += V\n}", "for jN := range 3 {\nw[jN] = m[jN]\n}", "for jN := range 3 {\nm[jN] = V\n}",
	}, []string{"delete(m, K)", "for kN := range m {\ndelete(m, kN)\n}"}, []header{
		{text: "for kN, vN := range m {", reals: "vN", ints: "kN", keys: "kN"},
		{text: "for kN := range m {", reals: "m[kN]", ints: "kN", keys: "kN"},
		{text: "for _, vN := range m {", reals: "vN"},
		{text: "for range m {"},
	}, []string{"m", "m", "m[0]", "len(m)", "len(m)", "m[1] + m[2]"}, []string{"map[int]float64", "map[int]float64", "float64", "int", "int", "float64"}},
	"tables": {"m := map[int]float64{}\no := map[int]float64{}\n_, _ = m, o", []string{"m[K]", "o[K]"}, []string{"len(m)", "len(o)"}, []string{
		"m[K] += V", "o[K] += V", "m[K] = 1", "o[K] = 1", "o[K] = m[K]", "o[K] += m[K]", "if C {\nm[K] += V\n} else {\no[K] += V\n}", "if C {\nm[K] = 1\n} else {\no[K] = 1\n}", "if C {\nm[K] = 1\n} else {\no[K] += 1\n}", "if C {\nm[K]++\nz++\n} else {\no[K]++\ns++\n}",
		"for kN, vN := range o {\nm[kN] += vN\n}", "for range m {\nz++\n}", "for range o {\nz++\n}", "for kN, vN := range m {\no[kN] = vN\n}", "for jN := range 3 {\nm[jN] += o[jN]\n}", "for kN := range o {\nm[kN] = 1\n}", "m, o = o, m", "if C {\nm = o\n}", "o = tally(r)", "if C {\nm[K] += V\n}\nif C {\no[K] += V\n}",
	}, []string{}, []header{
		{text: "for kN, vN := range m {", reals: "vN", ints: "kN", keys: "kN"},
		{text: "for kN := range o {", reals: "o[kN]", ints: "kN", keys: "kN"},
	}, []string{"m", "o", "len(m)", "len(o)", "m[0] + o[0]"}, []string{"map[int]float64", "map[int]float64", "int", "int", "float64"}},
	"groups": {"g := map[int][]float64{}\n_ = g", []string{"float64(len(g[K]))", "g[K][I]"}, []string{"len(g)", "len(g[K])"}, []string{
		"g[K] = append(g[K], V)", "g[K] = append(g[K], V)", "g[K] = append(g[K], V, V)", "g[K] = append(g[K], R)", "g[K] = []float64{V}", "g[K] = []float64{V}", "g[K] = append(g[K], V)\ng[J] = append(g[J], V)",
		"for _, gN := range g {\ns += float64(len(gN))\nB}", "for kN, gN := range g {\n_ = kN\nfor _, vN := range gN {\ns += clamp(vN, -1, 1)\nB}\n}", "for _, gN := range g {\nfor _, vN := range gN {\nacc = append(acc, vN)\n}\n}",
		"for jN := range 3 {\nfor _, vN := range g[jN] {\nw[jN] += clamp(vN, 0, 1)\nB}\n}", "for jN := range 3 {\nw[jN] = float64(len(g[jN]))\n}", "for jN := range 3 {\nw[jN] = clamp(float64(len(g[jN])), 0, V)\n}", "for _, gN := range g {\nif len(gN) > 0 {\ns++\n}\n}",
	}, []string{"for _, vN := range q {\ng[int(vN)] = append(g[int(vN)], vN)\n}", "for jN, vN := range r {\n_ = jN\ng[vN] = append(g[vN], V)\nB}"}, []header{
		{text: "for kN, eN := range g {\nfor _, vN := range eN {", reals: "vN", ints: "kN", keys: "kN", deep: true},
		{text: "for _, eN := range g {", ints: "len(eN)"},
	}, []string{"g", "len(g)", "len(g[0])"}, []string{"map[int][]float64", "int", "int"}},
	"desks": {"d := map[int]Q{}\n_ = d", []string{"d[K].v"}, []string{"len(d)", "d[K].n"}, []string{
		"d[K] = Q{V, 1}", "d[K] = Q{V, k}", "eN := d[K]\neN.v += V\nd[K] = eN", "eN := d[K]\neN.v = V\neN.n++\nd[K] = eN", "z += d[K].v", "if d[K].n < 1 {\nd[K] = Q{V, 1}\n}", "if C {\nd[K] = Q{V, 1}\n}",
		"for _, eN := range d {\ns += eN.v\n}", "for kN := range d {\ns += d[kN].v\n}", "for jN := range 3 {\nw[jN] = d[jN].v\n}",
	}, []string{}, []header{
		{text: "for kN, eN := range d {", reals: "eN.v", ints: "eN.n", keys: "kN"},
	}, []string{"d", "len(d)", "d[0].v", "d[0].n"}, []string{"map[int]Q", "int", "float64", "int"}},
	"point": {"var p, o P\n_, _ = p, o", []string{"p.v", "p.v", "p.s[I]", "o.v", "float64(len(p.s))"}, []string{"p.n", "len(p.s)"}, []string{
		"p.v = R", "p.v += V", "p.v += V", "o.v += V", "p.n++", "p.n = len(p.s)", "p.s = append(p.s, V)", "p.s = append(p.s, R)", "p.s[I] = R", "p.s[I] += V", "p = o", "o = p", "oN := p\n_ = oN\noN.v += V\nz += oN.v", "p = P{R, 1, nil}", "p = P{V, k, []float64{R, V}}",
		"if C {\np.v += V\n} else {\no.v += V\n}", "if C {\np.v += V\n} else {\np.n++\n}", "if C {\np.v += V\n}", "if C {\np.v = V\n} else {\np.v = V\n}", "if C {\np = o\n}", "p.v = max(p.v, V)",
		"p = P{V, 0, u}", "p.s = w", "w = p.s", "p.s = make([]float64, 3)", "for jN, vN := range p.s {\n_, _ = jN, vN\np.s[jN] = V + vN\nB}", "for _, vN := range p.s {\ns += vN\nB}", "for _, vN := range q {\np.v += clamp(vN, 0, 1)\np.n++\nB}", "for _, vN := range q {\np.s = append(p.s, vN)\nB}",
		"p, o = o, p", "o.s = append(o.s, V)", "o.s[I] = V", "tN := p.s\n_ = tN\ns += float64(len(tN))",
	}, []string{"p.v, p.n = V, p.n+1"}, nil, []string{"p.v", "p.n", "append([]float64(nil), p.s...)", "o.v", "len(p.s)", "p"}, []string{"float64", "int", "[]float64", "float64", "int", "P"}},
	"points": {"l := make([]Q, 3)\n_ = l", []string{"l[I].v", "l[I].v"}, []string{"len(l)", "l[I].n"}, []string{
		"l[I] = Q{R, 1}", "l[I] = Q{V, k}", "l[I] = Q{V, 0}", "l[I] = Q{V, 0}", "l[I] = l[J]", "l = append(l, Q{V, 1})", "eN := l[I]\neN.v += V\nz += eN.v", "eN := l[I]\neN.v = V\nl[I] = eN", "eN := l[I]\neN.v += V\nl[I] = eN", "eN := l[I]\neN.n++\nl[J] = eN",
		"for jN := range l {\nl[jN] = Q{V, jN}\nB}", "for jN := range l {\neN := l[jN]\neN.v += V\nl[jN] = eN\nB}", "for jN, eN := range l {\n_, _ = jN, eN\ns += eN.v\nB}", "for _, eN := range l {\neN.v = V\ns += eN.v\n}", "z += l[I].v", "w[I] = l[I].v", "w[I] = l[J].v",
		"for _, vN := range q {\nl = append(l, Q{vN, 1})\n}", "for jN, vN := range w {\nl[jN] = Q{vN, 0}\nB}", "if C {\nl[I] = Q{V, 0}\n}",
	}, []string{"l[I].v += V", "l = append(l, l[I])\nl[I] = Q{V, 0}"}, []header{
		{text: "for jN := range l {", reals: "l[jN].v", indices: "jN"},
		{text: "for jN, eN := range l {", reals: "eN.v", indices: "jN"},
	}, []string{"l[0].v", "len(l)", "l[1].v + l[2].v", "l"}, []string{"float64", "int", "float64", "[]Q"}},
	"rows": {"t := make([][]float64, 3)\nfor i := range t {\nt[i] = make([]float64, 3)\n}", []string{"t[I][J]", "t[I][J]", "float64(len(t[I]))"}, []string{"len(t)", "len(t[I])"}, []string{
		"t[I] = append(t[I], V)", "t[I] = make([]float64, 3)", "t = append(t, []float64{V, R, 1})", "t = append(t, u)", "t[I] = u", "t[I] = acc", "w[I] = float64(len(t[J]))", "u = t[I]", "t[I] = t[J]", "t[I], t[J] = t[J], t[I]", "t[I] = []float64{V, V, V}", "t[I] = filled(2, V)",
		"eN := make([]float64, 3)\nfor iN := range eN {\neN[iN] = R\n}\nt[I] = eN", "eN := make([]float64, 3)\ncopy(eN, q)\nt[I] = eN", "for jN := range t {\nsN := 0.0\nfor _, vN := range t[jN] {\nsN += vN\n}\nw[jN] = sN\n}", "w[I] = t[I][0] + t[I][1]", "for jN, eN := range h {\nsN := 0.0\nfor _, vN := range eN {\nsN += vN\n}\nw[jN] = sN\n}",
		"for jN, eN := range h {\nsN := 0.0\nfor _, vN := range eN {\nsN = max(sN, vN)\n}\nw[jN] = sN\n}", "for _, eN := range h {\nfor iN, vN := range eN {\nw[iN] += vN\n}\n}", "for jN, eN := range h {\nt[jN] = eN\n}", "t[I] = h[I]", "if C {\nt[I] = filled(1, V)\n}",
		"for _, eN := range t {\nfor _, vN := range eN {\ns += vN\nB}\n}", "for jN, eN := range t {\nw[jN] = eN[I]\nB}", "for jN := range t {\nw[jN] += t[jN][I]\nB}",
		"for _, eN := range t {\ns += float64(len(eN))\n}", "for _, vN := range q {\nt[0] = append(t[0], vN)\nB}", "for jN := range t {\nt[jN] = make([]float64, 2)\nB}", "for _, vN := range q {\nt = append(t, []float64{vN})\n}", "eN := t[I]\n_ = eN\ns += eN[J]", "t[I] = t[I][:2]",
	}, []string{"for jN := range 3 {\nt[I][jN] = w[jN]\n}", "for jN := range 3 {\nt[jN][jN] = q[jN]\n}", "for jN := range t {\nfor iN := range t[jN] {\nt[jN][iN] += V\n}\n}", "for jN := range t {\nfor iN := range t[jN] {\nt[jN][iN] = V\n}\nB}", "for jN := range t {\nt[jN] = append(t[jN], V)\nB}", "t[I][J] += V", "t[I][J] = R", "t[I][J] = V"}, []header{
		{text: "for jN := range t {\nfor iN := range t[jN] {", reals: "t[jN][iN]", indices: "jN iN", deep: true},
		{text: "for jN, eN := range t {\nfor _, vN := range eN {", reals: "vN", indices: "jN", deep: true},
		{text: "for jN, eN := range t {", reals: "eN[0]", indices: "jN"},
	}, []string{"t", "t[0][0]", "append([]float64(nil), t[1]...)", "len(t)", "append([]float64(nil), w...)"}, []string{"[][]float64", "float64", "[]float64", "int", "[]float64"}},
	"slots": {"", nil, nil, []string{
		"u[I] = V", "u[I] += V", "u[I] = V", "u[I] += V", "w[I] = V", "w[I] += V", "w[I] = u[I] + V", "w[I] = u[J]", "w[I] += u[J]", "u[I]++", "u[I] = max(u[I], V)", "u[I] = min(u[I], V)", "u[I] = u[I]/2 + V", "u[I] = u[I]*2", "u[I] = V - u[I]", "u[I] = z", "z = u[I]", "s += u[I]", "z += u[I]", "z = max(z, u[I])", "z += V",
		"if C {\nu[I] = V\n}", "if C {\nu[I] += V\n}", "if C {\nu[I] = V\n} else {\nu[J] = V\n}", "if C {\nu[I] += V\n} else {\nw[I] += V\n}", "if C {\nu[I] += V\n} else {\nz += V\n}", "if C {\nz += V\n} else {\ns += V\n}", "cN := C\nif cN {\nz += V\n}\nif !cN {\ns += V\n}", "tN := R\nif tN < 1 {\nz += V\n}\nif tN >= 1 {\ns += V\n}", "tN := R\nif tN <= 0 {\nz += V\n}\nif tN >= 0 {\ns += V\n}", "tN := R\nif tN == 1 {\nu[I] += V\n}\nif tN > 1 {\nw[I] += V\n}", "tN := R\nif tN > c {\nz += V\n}\nif tN < 1 {\nz += V\n}", "u[I] += V\nu[J] += V", "u[I] += V\nw[J] += V", "u[I] = V\nz += u[J]", "w[I] = V\nz += w[J]", "w[I] = 1\nz += w[J]", "u[I] = V\nu[J] = u[I]",
		"if I > 0 {\nw[I] = w[I-1] + V\n}", "w[I] = w[max(I-1, 0)] + V", "if u[I] < u[J] {\nu[I], u[J] = u[J], u[I]\n}", "u[I], u[J] = u[J], u[I]", "bump(u, I, V)", "bump(w, I, V)", "u = filled(2, V)", "for jN := range u {\nu[jN] = V\n}", "for jN := range w {\nw[jN] = u[jN]\n}",
		"acc = append(acc, V)", "acc = append(acc, V)", "acc = append(acc, V, V)", "if C {\nacc = append(acc, V)\n}", "w = append(w, V)", "u = append(u, V)", "s += float64(len(acc))", "acc = append(acc, V)\nz += acc[I]", "w = append(w, V)\nz += w[I]", "for jN := range 3 {\nacc = append(acc, 1)\nz += acc[jN]\n}", "for range 3 {\nacc = append(acc, 1)\n}", "w = append(w, 1)\nz += w[I]", "w[I] = V\nw = append(w, V)", "z += w[I]\nw = append(w, V)", "acc[I] = V\nacc = append(acc, V)", "if len(acc) < 2 {\nacc = append(acc, V)\n}",
		"dN := make([]float64, 3)\ndN[I] = V\nz += dN[J]", "dN := make([]float64, 3)\nif C {\ndN[I] = V\n} else {\ndN[J] = V\n}\nz += dN[I]", "dN := []float64{V, V, V}\nz += dN[I]", "var dN []float64\nfor _, vN := range q {\ndN = append(dN, vN)\n}\ns += float64(len(dN))", "if k < 2 {\nk++\nu[I] = V\n}", "if z < 2 {\nz += V\n}",
		"fN := func(v float64) float64 { return clamp(v, 0, c) + z }\ns += fN(V)", "zN, sN := both(V)\nz += zN\ns += sN", "if C {\nbreak\n}", "if C {\ncontinue\n}",
	}, []string{}, nil, []string{"append([]float64(nil), u...)", "append([]float64(nil), u...)", "append([]float64(nil), w...)", "z", "s", "acc", "len(acc)", "u[0]", "u[0] + u[1]"}, []string{"[]float64", "[]float64", "[]float64", "float64", "float64", "[]float64", "int", "float64", "float64"}},
	"names": {"", nil, nil, []string{
		"u = w", "w = u", "w = w[:2]", "w = w[1:]", "u, w = w, u", "copy(u, w)", "copy(w, q)", "copy(u, q)", "dN := append([]float64(nil), u...)\ndN[I] = V\nu = dN", "dN := make([]float64, 3)\ncopy(dN, q)\nw = dN", "w = q", "acc = w", "acc = append(acc, w...)", "w = append(w, u...)", "w = append(u, V)", "u = acc",
		"w[I], w[J] = w[J], w[I]", "for jN := range w {\nw[jN], u[jN] = u[jN], w[jN]\n}", "acc = acc[:0]", "acc = nil", "u = make([]float64, 3)", "for jN := range w {\nw[jN] = u[jN] + V\nB}", "for jN := range q {\nacc = append(acc, q[jN])\n}", "dN := w\nfor jN, vN := range dN {\ns += vN * float64(jN)\n}",
	}, []string{"clear(w)", "dN := u\ndN[I] = V\ns += dN[I]", "dN := u\nu[I] = V\nz += dN[J]", "dN := w[:2]\nw = append(dN, V)\nu[I] = V", "w = append(u[:1], V)"}, nil, []string{"append([]float64(nil), u...)", "append([]float64(nil), w...)", "u", "w", "acc"}, []string{"[]float64", "[]float64", "[]float64", "[]float64", "[]float64"}},
}

// filled writes for the letters of a template what they stand for: of an index or a key
// the same everywhere, so that m[K] = append(m[K], V) is in place.
func (w *writer) filled(text string, depth int) string {
	var b strings.Builder
	places := map[rune]string{}
	place := func(c rune, draw func() string) string {
		if _, ok := places[c]; !ok {
			places[c] = draw()
		}
		return places[c]
	}
	second := w.index
	if strings.Contains(text, "[K]") {
		second = w.key
	}
	serial := w.serial
	for i, c := range text {
		switch {
		case c == 'N':
			fmt.Fprint(&b, serial)
		case c == 'I':
			b.WriteString(place(c, w.index))
		case c == 'J':
			b.WriteString(place(c, second))
		case c == 'K':
			b.WriteString(place(c, w.key))
		case c == 'V':
			b.WriteString(w.small())
		case c == 'R':
			b.WriteString(w.real(min(depth, 1)))
		case c == 'C':
			b.WriteString(w.cond())
		case c == 'B' && text[i+1] == '}':
			b.WriteString(w.inside(depth))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// inside is a block in a template, or nothing.
func (w *writer) inside(depth int) string {
	if depth == 0 || rapid.Bool().Draw(w.t, "inside") {
		return ""
	}
	outer := w.b
	w.b = strings.Builder{}
	w.loops++
	w.statement(depth - 1)
	w.loops--
	text := w.b.String()
	w.b = outer
	return text
}

// remember writes a statement about memory: one of its own, a loop, or a conditional.
func (w *writer) remember(depth int) {
	w.serial++
	m := memories[w.pick(w.with...)]
	kind := w.oneIn(12)
	switch {
	case depth > 0 && kind < 5 && w.loops < 2:
		of := headers
		if w.bags == 0 && w.oneIn(3) > 0 {
			of = slices.DeleteFunc(slices.Clone(of), func(h header) bool { return !slices.Contains(w.private, h.over) })
		}
		if len(m.loops) > 0 && kind == 0 || len(of) == 0 {
			of = slices.DeleteFunc(slices.Concat(m.loops, headers), func(h header) bool { return h.over != "" })
		}
		h := rapid.SampledFrom(of).Draw(w.t, "loop")
		if h.memory() {
			outer := w.ranged
			w.ranged = true
			defer func() { w.ranged = outer }()
		}
		w.loop(h, depth, w.remember)
		return
	case depth > 0 && kind == 5:
		w.line("if %s {", w.cond())
		w.remember(depth - 1)
		if rapid.Bool().Draw(w.t, "else") {
			w.line("} else {")
			w.remember(depth - 1)
		}
		w.line("}")
		return
	}
	if w.ranged || len(m.statements) == 0 {
		m = memories["slots"] // what is ranged over is not written to
	}
	text := w.pick(m.statements...)
	if len(m.refused) > 0 && w.oneIn(20) == 0 {
		text = w.pick(m.refused...)
	}
	if w.loops == 0 && (strings.HasSuffix(text, "break\n}") || strings.HasSuffix(text, "continue\n}")) {
		return
	}
	reals := w.reals
	if strings.Contains(text, " vN := range q") || strings.Contains(text, " vN := range g") {
		w.reals = append(slices.Clone(reals), fmt.Sprint("v", w.serial))
	}
	text = w.filled(text, depth)
	w.reals = reals
	w.line("%s", text)
}

// loop writes a loop, and in it statements that are drawn.
func (w *writer) loop(h header, depth int, statement func(depth int)) {
	w.serial++
	named := func(text string) []string { return strings.Fields(strings.ReplaceAll(text, "N", fmt.Sprint(w.serial))) }
	outer := w.scope
	w.reals, w.ints = append(slices.Clone(w.reals), named(h.reals)...), append(slices.Clone(w.ints), named(h.ints)...)
	w.keys = append(slices.Clone(w.keys), append(named(h.keys), named(h.indices)...)...)
	w.loops++
	if w.indices = append(slices.Clone(w.indices), named(h.indices)...); w.bag[h.over] && slices.Contains(w.private, h.over) {
		w.indices = outer.indices
		w.bags++
	}
	w.line("%s", strings.ReplaceAll(h.text, "N", fmt.Sprint(w.serial)))
	for _, letter := range "ijkev" {
		if name := fmt.Sprint(string(letter), w.serial); strings.Contains(h.text, string(letter)+"N") {
			w.line("_ = %s", name)
		}
	}
	for range rapid.SampledFrom([]int{1, 1, 2, 2, 3}).Draw(w.t, "statements") {
		statement(depth - 1)
	}
	w.line("}")
	if h.deep {
		w.line("}")
	}
	w.scope = outer
}

func (w *writer) block(depth int) {
	for range rapid.IntRange(1, 3).Draw(w.t, "statements") {
		w.statement(depth)
	}
}

func (w *writer) statement(depth int) {
	if len(w.with) > 0 && w.oneIn(10) > 3 || w.focused && w.oneIn(10) > 0 {
		w.remember(depth)
		return
	}
	target := w.pick("x", "y", "z", "s")
	kind := rapid.IntRange(0, 21).Draw(w.t, "kind")
	if depth == 0 {
		kind %= 11
	}
	w.serial++
	n := w.serial
	switch kind {
	case 0, 1:
		w.line("%s = %s", target, w.real(2))
	case 2, 3:
		w.line("%s += %s", target, w.real(1))
	case 4:
		w.line("%s = %s", w.pick("a", "k"), w.int(2))
	case 5:
		w.line("k += %s", w.int(1))
	case 6:
		w.line("%s[%s] = %s", w.pick("u", "w"), w.index(), w.real(1))
	case 7:
		w.line("%s[%s] += %s", w.pick("u", "w"), w.index(), w.real(1))
	case 8:
		w.line("%s = append(%s, %s)", "acc", "acc", w.real(1))
	case 9:
		if w.loops > 0 {
			w.line("if %s { %s }", w.cond(), w.pick("break", "continue"))
			return
		}
		w.line("w = append(w, %s)", w.real(1))
	case 10:
		if rapid.IntRange(0, 3).Draw(w.t, "return") == 0 {
			w.line("if %s { return RESULTS }", w.cond())
			return
		}
		w.line("%s = append(%s, %s)", "w", "w", w.real(1))
	case 11, 12, 13:
		w.line("if %s {", w.cond())
		w.block(depth - 1)
		if rapid.Bool().Draw(w.t, "else") {
			w.line("} else {")
			w.block(depth - 1)
		}
		w.line("}")
	case 14, 15:
		over := w.pick(append(slices.Clone(w.indices), "3", "2", "n", "w", "q", "u")...)
		w.loop(header{text: "for iN := range " + over + " {", indices: "iN"}, depth, w.statement)
	case 16:
		low, high := w.pick("0", "1", "n", "-1"), w.pick("3", "n", "len(w)", "k", "len(acc)")
		w.loop(header{text: "for iN := " + low + "; iN " + w.pick("<", "<=") + " " + high + "; iN++ {", indices: "iN"}, depth, w.statement)
	case 17, 18, 19:
		w.loop(header{text: "for _, vN := range " + w.pick("q", "q", "q", "u", "w", "acc") + " {", reals: "vN"}, depth, w.statement)
	case 20:
		w.line("t%d := make([]float64, %s)", n, w.pick("3", "n", "len(w)"))
		w.line("for j%d := range t%d {\nt%d[j%d] = %s\n}\nw = t%d", n, n, n, n, w.real(1), n)
	case 21:
		w.loop(header{text: "for k " + w.pick("< 3", "<= n") + " {\nk++"}, depth, w.statement)
	}
}
