package sensitivity

import (
	"strings"
	"testing"
)

// What keeps the discipline, and what does not: each of the latter shows by one name what
// was written by another, or in another order, or reads what the rules do not.
func TestDiscipline(t *testing.T) {
	for _, c := range []struct{ name, code, refused string }{
		{"own slice", `out := make([]float64, n); for i := range out { out[i] = q[i] }; return out`, ""},
		{"own rows", `m := make([][]float64, n); for i := range m { m[i] = make([]float64, n); m[i][0] = q[i] }; return m[0]`, ""},
		{"grown", `var out []float64; for _, x := range q { out = append(out, x) }; return out`, ""},
		{"named at last", `a := make([]float64, n); a[0] = 1; b := a; return append(b, 2)`, ""},
		{"named at last, then given away", `a := make([]float64, n); a[0] = 1; b := a; b[0] = 2; return b`, ""},
		{"new in each round", `var m [][]float64; for range n { r := make([]float64, n); r[0] = 1; m = append(m, r) }; return m[0]`, ""},
		{"copied", `a := append([]float64(nil), q...); a[0] = 1; return a`, ""},
		{"made by another", `a := doubled(q); a[0] = 1; return a`, ""},
		{"written by another", `a := make([]float64, n); fill(a, 2); return a`, ""},
		{"own counter of a literal", `s := 0.0; add := func(x float64) { s += x }; for _, x := range q { add(x) }; return []float64{s}`, ""},

		{"parameter under two names", `a := q; a[0] = 1; return a`, "another name"},
		{"part of a parameter", `a := q[:1]; a = append(a, 2); return q`, "another name"},
		{"two names, then written", `a := make([]float64, n); b := a; a[0] = 1; return b`, "written to after another name"},
		{"two names, the second written", `a := make([]float64, n); b := a; b[0] = 1; return a`, "another name"},
		{"two names in a loop", `a := make([]float64, n); var b []float64; for i := range n { a[i] = 1; b = a }; return b`, "written to after another name"},
		{"one row twice", `r := make([]float64, n); var m [][]float64; for range n { m = append(m, r) }; m[0][0] = 1; return m[1]`, "another name"},
		{"row of a parameter's memory", `m := [][]float64{q}; m[0][0] = 1; return q`, "another name"},
		{"in a struct", `a := make([]float64, n); b := box{a}; b.v[0] = 1; return a`, "another name"},
		{"by a function that returns it", `a := make([]float64, n); b := same(a); b[0] = 1; return a`, "another name"},
		{"by a function that writes, beside a read", `a := make([]float64, n); s := a[0] + first(a); return []float64{s}`, "also reads"},
		{"twice the same argument", `a := make([]float64, n); both(a, a); return a`, "also reads"},
		{"behind a part", `a := make([]float64, n); b := append(a[:0], 1); _ = b; return a`, "part of a slice"},
		{"behind a part under another type", `type v []float64; a := make([]float64, n); b := append(v(a[:0]), 1); _ = b; return a`, "no variable"},
		{"twice behind the end", `a := make([]float64, 0, n); b := append(a, 1); c := append(a, 2); _ = c; return b`, "written to after another name"},
		{"array copied", `var a [2]float64; b := a; b[0] = 1; return []float64{a[0]}`, "another name"},
		{"array sliced", `var a [2]float64; b := a[:]; a[0] = 1; return b`, "slice of an array"},
		{"array parameter", `var a [2]float64; set(a); return []float64{a[0]}`, "copy of an array"},
		{"array ranged over", `var a [2]float64; for _, x := range a { a[1] += x }; return []float64{a[1]}`, "while it is ranged over"},
		{"slice ranged over", `a := make([]float64, n); for _, x := range a { a[1] += x }; return a`, "while it is ranged over"},
		{"address", `x := 1.0; p := &x; *p = 2; return []float64{x}`, "address"},
		{"address by a method", `var c counter; d := c.self(); c.n = 1; return []float64{d.n}`, "keep the address"},
		{"method value of a pointer", `var c counter; f := c.self; return []float64{f().n}`, "method as a value"},
		{"package variable", `kept = q; return kept`, "variable of the package"},
		{"package variable's memory", `kept[0] = 1; return kept`, "variable of the package"},
		{"literal writes a slice", `a := make([]float64, n); set := func() { a[0] = 1 }; set(); return a`, "function literal writes"},
		{"literal acts beside a read", `s := 0.0; add := func() float64 { s++; return s }; return []float64{s + add()}`, "function literal writes"},
		{"literal moves a bound", `m := n; more := func() { m++ }; s := 0.0; for i := 0; i < m; i++ { more(); s++ }; return []float64{s}`, "function literal writes"},
		{"literal kept", `s := 0.0; f := []func(){func() { s++ }}; f[0](); return []float64{s}`, "function literal writes"},
		{"literal reads before a write", `a := make([]float64, n); f := func() float64 { return a[0] }; a[0] = 1; return []float64{f()}`, "function literal reads"},
		{"several places", `a := make([]float64, n); i := 0; i, a[i] = 1, 2; return a[i:]`, "may move"},
		{"append among others", `a := make([]float64, n); m := 0; a, m = append(a, 1), len(a); _ = m; return a`, "append among"},
		{"overlapping", `a := make([]float64, n); copy(a[1:], a); return a`, "also reads"},
		{"insert", `a := make([]float64, n); copy(a, q); return insert(a)`, "is set"},
		{"given away under a literal", `a := make([]float64, n); get := func() float64 { return a[0] }; b := a; b[0] = 1; return []float64{get()}`, "another name"},
		{"given away by a function that reads later", `a := make([]float64, n); get := reader(a); b := a; b[0] = 1; return []float64{get()}`, "another name"},
		{"function passed on", `a := make([]float64, n); f := first; return []float64{f(a)}`, "passed on"},
		{"shadowed", `a := make([]float64, n); if n > 1 { a := append(a, 1); a[0] = 2 }; return a`, "another name"},
		{"key of a map", `b := &box{q}; m := map[*box]bool{}; m[b] = true; b.v = append(b.v, 1); return q`, "another name"},
		{"literal under another type", `type of func() float64; s := 0.0; f := of(func() float64 { s++; return s }); return []float64{s + f()}`, "function literal writes"},
		{"place found by a call", `m := 0; at := func() int { return m }; a := make([]float64, n); m, a[at()] = 1, 2; _ = m; return a`, "a call finds a place"},
		{"place found by a call, value by another", `at := func() int { return n }; a := make([]float64, n); a[at()] = float64(at()); return a`, "a call finds a place"},
		{"range into a place", `a := make([]int, 1); for a[0] = range n { }; return q`, "no variable"},
		{"array of one of two types", `var a [2]float64; setAny(a); return []float64{a[0]}`, "copy of an array"},
		{"defer", `defer func() { n++ }(); return q`, "not of the subset"},
		{"label", `l: for range n { for range n { continue l } }; return q`, "not of the subset"},
		{"goto", `if n > 0 { goto end }; n++; end: return q`, "jump"},
		{"assertion", `var x any = q; return x.([]float64)`, "not of the subset"},
		{"channel", `c := make(chan float64); go func() { c <- 1 }(); return []float64{<-c}`, "not of the subset"},
		{"print", `println(q[0]); return q`, "builtin println"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := programOf(t, `
type box struct{ v []float64 }
type counter struct{ n float64 }
func (c *counter) self() *counter { return c }
var kept []float64
func same(x []float64) []float64 { return x }
func doubled(x []float64) []float64 { y := make([]float64, len(x)); for i := range x { y[i] = 2 * x[i] }; return y }
func fill(x []float64, c float64) { for i := range x { x[i] = c } }
func first(x []float64) float64 { x[0] = 1; return 0 }
func both(x, y []float64) { x[0] = 1; y[0] = 2 }
func set(a [2]float64) { a[0] = 1 }
func setAny[T [2]float64 | [3]float64](a T) { a[0] = 1 }
func reader(a []float64) func() float64 { return func() float64 { return a[0] } }
func insert(a []float64) []float64 { a = append(a, 1); return a }
func F(q []float64, n int) []float64 { `+c.code+` }`)
			k := p.keeper(p.funcs["p.F"])
			switch {
			case c.refused == "" && k.refusal != nil:
				t.Errorf("refused: %s", k.refusal.Reason)
			case c.refused != "" && (k.refusal == nil || !strings.Contains(k.refusal.Reason, c.refused)):
				t.Errorf("refused with %v, want %q", k.refusal, c.refused)
			}
		})
	}
}
