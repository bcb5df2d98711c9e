package sensitivity

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// A writer draws the text of a function. What it draws of is likelier to have a finite bound the
// better it fits where it stands: in a loop over records that is what depends on the record and
// public numbers alone.
type writer struct {
	t       *rapid.T
	b       strings.Builder
	private []string        // inputs
	bag     map[string]bool // those of which are multisets
	with    []string        // what memory is used: of the keys of memories
	focused bool            // on memory: few other statements, and no other results
	serial  int
	scope
}

// A scope is what names there are.
type scope struct {
	reals, ints []string
	indices     []string // of the loops around, which stay what they are
	keys        []string // what is different in each iteration: indices, keys, and records
	loops, bags int      // loops around, and those over private records
	ranged      bool     // a loop over memory is around
}

// helpers are functions that the random ones call.
const helpers = `func clamp(v, lo, hi float64) float64 { return max(lo, min(v, hi)) }
func abs(v float64) float64 {
	if v < 0 { return -v }
	return v
}
func both(v float64) (float64, float64) { return v, clamp(v, 0, 1) }
func bump(d []float64, i int, v float64) { d[i] += v }
func count(d map[int]float64, k int) { d[k]++ }
func filled(n int, v float64) []float64 {
	d := make([]float64, 3)
	for i := range d {
		if i < n { d[i] = v }
	}
	return d
}
func tally(rows []int) map[int]float64 {
	d := map[int]float64{}
	for _, k := range rows { d[k]++ }
	return d
}
type P struct {
	v float64
	n int
	s []float64
}
type Q struct {
	v float64
	n int
}
`

// inputs are all that a function is given, in order.
var inputs = []string{"x", "y", "c", "a", "n", "q", "r", "h", "b"}

// drawn is the text of a function F.
func drawn(t *rapid.T, private []string, bag map[string]bool) string {
	w := &writer{t: t, private: private, bag: bag, scope: scope{reals: []string{"x", "y", "z", "s", "c"}, ints: []string{"a", "n", "k"}}}
	kinds := slices.Sorted(maps.Keys(memories))
	for range rapid.SampledFrom([]int{1, 1, 1, 2, 0}).Draw(t, "memories") {
		w.with = append(w.with, w.pick(kinds...))
	}
	results := []string{"x", "y", "z", "s", "float64(k + a)", "append([]float64(nil), w...)", "acc", "len(acc)"}
	types := []string{"float64", "float64", "float64", "float64", "float64", "[]float64", "[]float64", "int"}
	general := len(results)
	declared := ""
	for i, name := range w.with {
		if slices.Contains(w.with[:i], name) {
			continue
		}
		m := memories[name]
		declared += m.declared + "\n"
		results, types = append(results, m.results...), append(types, m.returns...)
	}
	w.focused = len(results) > general && w.oneIn(6) < 5
	if over := w.pick(private...); w.focused && w.oneIn(4) > 0 && (over == "r" || over == "q" || over == "h") {
		of := slices.DeleteFunc(slices.Clone(headers), func(h header) bool { return h.over != over })
		w.loop(rapid.SampledFrom(of).Draw(t, "loop"), 3, w.statement)
	}
	w.block(3)
	chosen := w.shown(results, general)
	var out, in []string
	for _, i := range chosen {
		out, in = append(out, results[i]), append(in, types[i])
	}
	list := strings.Join(out, ", ")
	return helpers + `func F(x, y, c float64, a, n int, q []float64, r []int, h [][]float64, b map[int]float64) (` + strings.Join(in, ", ") + `) {
z, s := 0.0, 0.0
k := 0
u := make([]float64, 3)
w := make([]float64, 3)
var acc []float64
_, _, _, _, _, _ = z, s, k, u, w, acc
` + declared + strings.ReplaceAll(w.b.String(), "RESULTS", list) + "return " + list + "\n}"
}

var (
	setting = regexp.MustCompile(`\b(\w+)(?:\.\w+|\[[^=\n]*\])*(?: [-+*]?=|\+\+|, \w+ :?= | :=)|(?:bump|count)\((\w+)|for (\w+)|, (\w+) :?= `)
	field   = regexp.MustCompile(`\.\w+`)
	word    = regexp.MustCompile(`\w+`)
)

// reached are the names that what is private may have come to, by the lines of a body.
func reached(body string, private []string) map[string]bool {
	names := map[string]bool{}
	for _, x := range private {
		names[x] = true
	}
	has := func(line string) bool {
		return slices.ContainsFunc(word.FindAllString(field.ReplaceAllString(line, ""), -1), func(x string) bool { return names[x] })
	}
	for range 2 {
		blocks := []bool{false}
		for line := range strings.Lines(body) {
			in := blocks[len(blocks)-1] || has(line)
			for _, m := range setting.FindAllStringSubmatch(line, -1) {
				for _, x := range m[1:] {
					names[x] = names[x] || in && x != ""
				}
			}
			switch strings.Count(line, "{") - strings.Count(line, "}") {
			case 1:
				blocks = append(blocks, in)
			case -1:
				blocks = blocks[:max(len(blocks)-1, 1)]
			}
		}
	}
	return names
}

// shown draws results: mostly what private data come to, and of memory where the function is of
// that.
func (w *writer) shown(results []string, general int) []int {
	if !w.focused && w.oneIn(5) == 0 {
		return []int{0, 1, 2, 3, 4, 5, 6, 7}
	}
	var fit []int
	for range 3 {
		names := reached(w.b.String(), w.private)
		for i, r := range results {
			moves := slices.ContainsFunc(word.FindAllString(field.ReplaceAllString(r, ""), -1), func(x string) bool { return names[x] })
			if moves && (!w.focused || i >= general || i == 2 || i == 3) {
				fit = append(fit, i)
			}
		}
		if len(fit) > 0 {
			break
		}
		w.statement(2)
	}
	if len(fit) == 0 || w.oneIn(10) == 0 {
		fit = []int{rapid.IntRange(0, len(results)-1).Draw(w.t, "result")}
	}
	return rapid.SliceOfNDistinct(rapid.SampledFrom(fit), 1, min(len(fit), 2), rapid.ID[int]).Draw(w.t, "results")
}

func (w *writer) pick(of ...string) string { return rapid.SampledFrom(of).Draw(w.t, "") }

// oneIn is 0 once in n draws.
func (w *writer) oneIn(n int) int { return rapid.IntRange(0, n-1).Draw(w.t, "") }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

// public is one of several that is no private input, if there is any.
func (w *writer) public(of ...string) string {
	if some := slices.DeleteFunc(of, func(x string) bool { return slices.Contains(w.private, x) }); len(some) > 0 {
		return w.pick(some...)
	}
	return "1"
}

// key is a key of a map.
func (w *writer) key() string {
	of := []string{"0", "1", "2", "k"}
	if w.bags == 0 && w.oneIn(4) == 0 {
		if x := w.moving(); x != "float64(a)" {
			return "int(" + x + ")"
		}
		return "a"
	}
	if w.oneIn(8) == 0 {
		of = []string{"a", "n", "r[0]", "int(" + w.pick(w.reals...) + ")"}
	}
	if len(w.keys) > 0 && w.oneIn(3) > 0 {
		k := w.pick(w.keys...)
		of = []string{k, k, k + "%2", k + "%2", "max(" + k + ", 0)", "-" + k, k + "/2", k + "+1"}
	}
	return w.pick(of...)
}

// index is one of a slice of three.
func (w *writer) index() string {
	if len(w.indices) > 0 && w.oneIn(4) > 0 {
		i := w.pick(w.indices...)
		return w.pick(i, i, i, i, i, "2-"+i, "("+i+"+1)%3", "max("+i+"-1, 0)")
	}
	if len(w.keys) > 0 && w.oneIn(3) > 0 {
		k := w.pick(w.keys...)
		return w.pick("("+k+"+3)%3", "min(max("+k+", 0), 2)")
	}
	if w.oneIn(8) == 0 {
		return w.pick("min(max(a, 0), 2)", "k%3", "n")
	}
	return w.pick("0", "1", "2")
}

// small is a number with a bound, mostly.
func (w *writer) small() string {
	of := []string{"1", "1", "0.5", "-1", "2", "c"}
	if w.oneIn(3) == 0 {
		x := w.pick(w.reals...)
		of = []string{"clamp(" + x + ", 0, 1)", "clamp(" + x + ", -1, 2)", "clamp(" + x + ", -1, 1)"}
	}
	if w.bags == 0 && w.oneIn(2) == 0 {
		return w.moving()
	}
	if w.bags == 0 && w.oneIn(3) == 0 {
		x := w.pick(w.reals...)
		of = []string{"x", "y", x, x, "q[" + w.index() + "]", "u[" + w.index() + "]", "w[" + w.index() + "]", "h[" + w.index() + "][" + w.index() + "]", "b[" + w.key() + "]", "x / 2", "abs(x)", "max(x, " + x + ")"}
	}
	return w.pick(of...)
}

// moving is a number that a private input is, or has.
func (w *writer) moving() string {
	switch x := w.pick(w.private...); x {
	case "a":
		return "float64(a)"
	case "q":
		return "q[" + w.index() + "]"
	case "r":
		return "float64(r[" + w.index() + "])"
	case "h":
		return "h[" + w.index() + "][" + w.index() + "]"
	case "b":
		return "b[" + w.pick("0", "1", "k") + "]"
	default:
		return x
	}
}

func (w *writer) real(depth int) string {
	if len(w.with) > 0 && depth < 2 && w.oneIn(4) == 0 {
		if of := memories[w.pick(w.with...)].reals; len(of) > 0 {
			return w.filled(w.pick(of...), 0)
		}
	}
	if depth == 0 {
		return w.pick(append(slices.Clone(w.reals), "1", "-1", "2", "0.5", "u["+w.index()+"]", "q["+w.index()+"]", "w["+w.index()+"]")...)
	}
	x, y := w.real(depth-1), w.real(0)
	switch rapid.IntRange(0, 12).Draw(w.t, "real") {
	case 0, 1, 2:
		return "(" + x + " + " + y + ")"
	case 3:
		return "(" + x + " - " + y + ")"
	case 4:
		return "(" + x + " * " + y + ")"
	case 5:
		return "min(" + x + ", " + y + ")"
	case 6:
		return "max(" + x + ", " + y + ")"
	case 7:
		return "clamp(" + x + ", -1, 2)"
	case 8:
		return "(" + x + " / 2)"
	case 9:
		return "float64(" + w.int(1) + ")"
	case 10:
		return "abs(" + x + ")"
	case 11:
		return "clamp(" + x + ", c, float64(n))"
	}
	return y
}

func (w *writer) int(depth int) string {
	if len(w.with) > 0 && depth < 2 && w.oneIn(6) == 0 {
		if of := memories[w.pick(w.with...)].ints; len(of) > 0 {
			return w.filled(w.pick(of...), 0)
		}
	}
	if depth == 0 {
		return w.pick(append(append(slices.Clone(w.ints), w.indices...), "1", "2", "-1", "0", "len(acc)", "len(q)")...)
	}
	x, y := w.int(depth-1), w.int(0)
	switch rapid.IntRange(0, 7).Draw(w.t, "int") {
	case 0, 1:
		return "(" + x + " + " + y + ")"
	case 2:
		return "(" + x + " - " + y + ")"
	case 3:
		return "(" + x + " / " + w.pick("2", "3", "-2", "max(n, 1)") + ")"
	case 4:
		return "(" + x + " % 2)"
	case 5:
		return "min(" + x + ", " + y + ")"
	case 6:
		return "(" + x + " * " + y + ")"
	}
	return y
}

func (w *writer) cond() string {
	op := w.pick("<", "<=", ">", ">=", "==", "!=")
	if len(w.keys) > 0 && w.oneIn(3) > 0 {
		k := w.pick(w.keys...)
		return w.pick(k+"%2 == 0", k+"%2 != 0", k+" "+op+" 1", k+" "+op+" 0", k+" "+op+" n")
	}
	if w.oneIn(3) == 0 {
		return w.public("n", "c", "a", "k", "x") + " " + op + " " + w.pick("0", "1")
	}
	var c string
	switch w.oneIn(5) {
	case 0:
		c = w.int(1) + " " + op + " " + w.int(0)
	case 1:
		c = w.pick(append(slices.Clone(w.indices), "n")...) + " " + op + " " + w.pick("0", "1", "2")
	default:
		c = w.real(1) + " " + op + " " + w.real(0)
	}
	switch w.oneIn(10) {
	case 0:
		return "!(" + c + ")"
	case 1:
		return c + " && " + w.real(0) + " > 0"
	case 2:
		return c + " || " + w.real(0) + " > 0"
	}
	return c
}
