package sensitivity

import (
	"flag"
	"fmt"
	"go/types"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/claim"
)

// Law: whatever a function of numbers, slices, maps, structs and rows does, it moves no further
// than it is said to. The functions are the same each time; others are drawn with -rapid.seed, and
// more with -rapid.checks.
func TestRandomFunctionsMoveNoFurther(t *testing.T) {
	drawing(t, 8000)
	var c counted
	rapid.Check(t, c.check)
	t.Logf("%+v", c)
	if c.nonzero*20 < c.functions || c.moved*20 < c.ended {
		t.Error("too few functions, or runs of them, move at all")
	}
}

// drawing has rapid draw the same cases each time, unless its flags say otherwise: so many with
// DISCREET_SOAK, the first twentieth of them without, and of that the first fifth with -short. It
// returns how many.
func drawing(t *testing.T, checks int) int {
	if os.Getenv("DISCREET_SOAK") == "" {
		checks /= 20
	}
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(checks), "rapid.seed": "1"} {
		f := flag.Lookup(name)
		before := f.Value.String()
		if before != f.DefValue {
			continue
		}
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := f.Value.Set(before); err != nil {
				t.Error(err)
			}
		})
	}
	checks, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		checks /= 5 // rapid does the same
	}
	return checks
}

// counted are the functions that were drawn, those of them with a finite bound, runs of them on
// two neighbours, and how many of these ended and have other results.
type counted struct{ functions, finite, nonzero, runs, ended, moved int }

// inputsOf are private together.
var inputsOf = [][]string{{"r"}, {"r"}, {"r"}, {"r"}, {"q"}, {"q"}, {"q"}, {"x"}, {"x"}, {"x", "y"}, {"a"}, {"h"}, {"b"}, {"x", "q"}, {"x", "r"}, {"q", "r"}, {"x", "y", "a", "q", "r"}}

func (c *counted) check(t *rapid.T) {
	private := rapid.SampledFrom(inputsOf).Draw(t, "private")
	bags := map[string]bool{"q": rapid.Bool().Draw(t, "bag"), "r": rapid.IntRange(0, 5).Draw(t, "keys") > 0}
	text := drawn(t, private, bags)
	p, err := parsed(text)
	if err != nil {
		t.Skip("a variable that is not used, or a constant that does not fit")
	}
	c.functions++
	defer func() {
		if r := recover(); r != nil {
			if t.Failed() || strings.Contains(fmt.Sprintf("%T", r), "rapid.") {
				panic(r)
			}
			t.Fatalf("%v\n%s", r, text)
		}
	}()
	norm := rapid.SampledFrom([]claim.Norm{claim.L1, claim.L2, claim.LInf}).Draw(t, "norm")
	var given []Input
	for _, name := range private {
		given = append(given, Input{Name: name, Bag: bags[name], Norm: norm})
	}
	sig, err := p.infer("p.F", given, norm)
	if err != nil || !slices.ContainsFunc(sig.Inputs, func(s Sensitivity) bool { return s.Infinite == nil }) {
		return
	}
	c.finite++
	if slices.ContainsFunc(sig.Inputs, func(s Sensitivity) bool { return s.Infinite == nil && len(s.Most.terms) > 0 }) {
		c.nonzero++
	}
	for range 10 {
		one := arguments(t)
		two, distance := neighbour(t, one, sig, bags, norm)
		if len(distance) == 0 {
			continue
		}
		down := rapid.Bool().Draw(t, "down")
		r1, ok1 := run(p, one, down)
		r2, ok2 := run(p, two, down)
		c.runs++
		if !ok1 || !ok2 {
			continue
		}
		c.ended++
		at := public(one)
		most := 0.0
		for _, s := range sig.Inputs {
			if distance[s.Input] > 0 {
				most += s.Most.eval(at) * distance[s.Input]
			}
		}
		bag := bags["q"] && distance["q"] > 0 || bags["r"] && distance["r"] > 0
		var moves []float64
		for i := range r1 {
			moves = append(moves, between(r1[i], r2[i], bag, norm)...)
		}
		by := length(moves, norm)
		if by > 0 {
			c.moved++
		}
		if !(by <= most*(1+1e-9)+1e-9) {
			t.Fatalf("the result moves by %v, and at most by %v was inferred (%v in %s, bags %v, distances %v)\n%v\n%v\n%v\n%v\n%s", by, most, sig.Inputs, norm, bags, distance, one, two, r1, r2, text)
		}
	}
}

// run runs the function F on arguments by their names.
func run(p *Program, args map[string]any, down bool) ([]any, bool) {
	d := p.funcs["p.F"]
	m := &machine{program: p, info: d.pkg.Info, vars: map[types.Object]any{}, down: down}
	var list []any
	for _, name := range inputs {
		list = append(list, copied(args[name]))
	}
	return m.call(d, list...)
}

var (
	halves = rapid.Map(rapid.IntRange(-4, 4), func(i int) float64 { return float64(i) / 2 })
	wholes = rapid.Map(rapid.IntRange(-1, 3), func(i int) float64 { return float64(i) })
)

// arguments are drawn for all inputs.
func arguments(t *rapid.T) map[string]any {
	rows := make([][]float64, rapid.IntRange(0, 3).Draw(t, "rows"))
	for i := range rows {
		rows[i] = rapid.SliceOfN(halves, 3, 3).Draw(t, "h")
	}
	b := table{}
	for range rapid.IntRange(0, 3).Draw(t, "len(b)") {
		b[wholes.Draw(t, "key")] = halves.Draw(t, "b")
	}
	return map[string]any{
		"x": halves.Draw(t, "x"), "y": halves.Draw(t, "y"), "c": halves.Draw(t, "c"),
		"a": wholes.Draw(t, "a"), "n": wholes.Draw(t, "n"),
		"q": rapid.SliceOfN(halves, 0, 5).Draw(t, "q"), "r": rapid.SliceOfN(wholes, 0, 5).Draw(t, "r"), "h": rows, "b": b,
	}
}

// public are the numbers that bounds are made of.
func public(args map[string]any) map[string]float64 {
	at := map[string]float64{
		"len(q)": float64(len(args["q"].([]float64))), "len(r)": float64(len(args["r"].([]float64))),
		"len(h)": float64(len(args["h"].([][]float64))), "len(b)": float64(len(args["b"].(table))),
	}
	for name, v := range args {
		if v, ok := v.(float64); ok {
			at[name] = v
		}
	}
	return at
}

// neighbour moves some of the inputs that have finite bounds, and says how far.
func neighbour(t *rapid.T, one map[string]any, sig Signature, bags map[string]bool, norm claim.Norm) (map[string]any, map[string]float64) {
	two, distance := maps.Clone(one), map[string]float64{}
	for _, s := range sig.Inputs {
		if s.Infinite != nil || len(sig.Inputs) > 1 && rapid.Bool().Draw(t, "stays") {
			continue
		}
		by := rapid.SampledFrom([]float64{-0.5, 0.25, 1, 3}).Draw(t, "by")
		switch v := one[s.Input].(type) {
		case float64:
			if s.Input == "a" {
				by = math.Ceil(by)
			}
			two[s.Input], distance[s.Input] = v+by, math.Abs(by)
		case []float64:
			record, step := halves, 0.5
			if s.Input == "r" {
				record, step = wholes, 1
			}
			two[s.Input], distance[s.Input] = moved(t, v, bags[s.Input], norm, record, step)
		case [][]float64:
			w := make([][]float64, len(v))
			var all []float64
			for i := range w {
				by := 0.0
				w[i], by = moved(t, v[i], false, norm, halves, 0.5)
				all = append(all, by)
			}
			two[s.Input], distance[s.Input] = w, length(all, norm)
		case table:
			w := table{}
			var all []float64
			for _, k := range slices.Sorted(maps.Keys(v)) {
				by := rapid.SampledFrom([]float64{0, 0, 1, -0.5}).Draw(t, "move")
				w[k], all = v[k].(float64)+by, append(all, by)
			}
			two[s.Input], distance[s.Input] = w, length(all, norm)
		}
		if distance[s.Input] == 0 {
			delete(distance, s.Input)
		}
	}
	return two, distance
}
