package fuse_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/exact"
	"github.com/discreet-dp/discreet/verify/internal/fuse"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/rewritetest"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

func loops(list []program.Statement) (n int) {
	for _, s := range list {
		if _, ok := s.(*program.Loop); ok {
			n++
		}
	}
	return n
}

// Programs near those of the test data reveal the same when they are rewritten.
func TestNear(t *testing.T) {
	rewrites := map[string]func(*program.Function, []program.Expression) *program.Function{}
	for name, rewrite := range map[string]func(*program.Function) *program.Function{
		"Returns": fuse.Returns, "Late": fuse.Late, "Sums": fuse.Sums, "Elements": fuse.Elements, "Loops": fuse.Loops, "Rewrite": fuse.Rewrite,
	} {
		rewrites[name] = func(f *program.Function, _ []program.Expression) *program.Function { return rewrite(f) }
	}
	rewritetest.Near(t, []string{"apart", "differences", "fused", "late", "returns", "set", "sums"}, rewrites)
}

// What must not be fused is what was given.
func TestApart(t *testing.T) {
	for _, u := range rewritetest.Load(t, "./testdata/apart") {
		if g := fuse.Loops(u.Function); g != u.Function {
			t.Errorf("%s is fused:\n%s", u.Name, program.Print(g))
		}
	}
}

// Fused functions have fewer loops, and reveal everything with the probabilities that the
// given ones have, which stay as they are.
func TestFused(t *testing.T) {
	for _, u := range rewritetest.Load(t, "./testdata/fused") {
		t.Run(u.Name, func(t *testing.T) {
			before := program.Print(u.Function)
			g := fuse.Loops(u.Function)
			if loops(g.Body) >= loops(u.Function.Body) {
				t.Fatalf("not fused:\n%s", program.Print(g))
			}
			if fuse.Loops(g) != g || program.Print(fuse.Loops(u.Function)) != program.Print(g) {
				t.Error("fused again, or otherwise")
			}
			agree(t, u, g)
			if program.Print(u.Function) != before {
				t.Error("the given function is changed")
			}
		})
	}
}

// agree says that g reveals everything with the probabilities that the function of a unit
// has: both are evaluated on random inputs, for every result that may come.
func agree(t *testing.T, u *source.Unit, g *program.Function) {
	t.Helper()
	fewest := 0
	if strings.Contains(fmt.Sprint(u.Claim.Requires), "len(") {
		fewest = 1
	}
	rapid.Check(t, func(t *rapid.T) {
		rewritetest.Unambiguous(t, g)
		in := program.Inputs{
			"q":   {Elements: []*big.Rat{}},
			"t":   {Number: big.NewRat(rapid.Int64Range(-2, 2).Draw(t, "t"), 1)},
			"eps": {Number: big.NewRat(rapid.Int64Range(1, 3).Draw(t, "eps"), 2)},
		}
		q := in["q"]
		for _, x := range rapid.SliceOfN(rapid.Int64Range(-2, 2), fewest, 3).Draw(t, "q") {
			q.Elements = append(q.Elements, big.NewRat(x, 1))
		}
		in["q"] = q
		results := 1
		for _, s := range u.Function.Body {
			if r, ok := s.(program.Return); ok {
				results = len(r.Values)
			}
		}
		event := exact.Event{}
		for range results {
			event.Return = append(event.Return, exact.Is(big.NewRat(rapid.Int64Range(-1, 3).Draw(t, "result"), 1)))
		}
		rewritetest.Agree(t, u.Function, g, in, event)
	})
}

// Elements that were just set are read as what they were set to, where nothing was set
// since.
func TestElements(t *testing.T) {
	for _, u := range rewritetest.Load(t, "./testdata/set") {
		t.Run(u.Name, func(t *testing.T) {
			before := program.Print(u.Function)
			g := fuse.Elements(u.Function)
			if (g == u.Function) != strings.HasPrefix(u.Name, "Not") {
				t.Fatalf("rewritten:\n%s", program.Print(g))
			}
			if fuse.Elements(g) != g || program.Print(fuse.Elements(u.Function)) != program.Print(g) {
				t.Errorf("rewritten again, or otherwise:\n%s", program.Print(fuse.Elements(g)))
			}
			agree(t, u, g)
			if program.Print(u.Function) != before {
				t.Error("the given function is changed")
			}
		})
	}
}

// A difference of one-sided noise is one draw, and each result is as probable as before;
// what only looks like one stays as it is.
func TestDifferences(t *testing.T) {
	for _, u := range rewritetest.Load(t, "./testdata/differences") {
		t.Run(u.Name, func(t *testing.T) {
			g := fuse.Loops(u.Function)
			if strings.HasPrefix(u.Decl.Doc.Text(), "wrong:") {
				if g != u.Function {
					t.Errorf("fused:\n%s", program.Print(g))
				}
				return
			}
			if strings.Contains(program.Print(g), "~ Geometric") {
				t.Fatalf("not fused:\n%s", program.Print(g))
			}
			rapid.Check(t, func(t *rapid.T) {
				in := program.Inputs{
					"x":   {Number: big.NewRat(rapid.Int64Range(-3, 3).Draw(t, "x"), 1)},
					"eps": {Number: big.NewRat(rapid.Int64Range(1, 3).Draw(t, "eps"), 2)},
				}
				event := exact.Event{Return: []exact.Range{exact.Is(big.NewRat(rapid.Int64Range(-4, 4).Draw(t, "result"), 1))}}
				rewritetest.Agree(t, u.Function, g, in, event)
			})
		})
	}
}

// Noise that is read in sums with an input alone is added to it where it is drawn, and each
// result is as probable as before.
func TestSums(t *testing.T) {
	for _, u := range rewritetest.Load(t, "./testdata/sums") {
		t.Run(u.Name, func(t *testing.T) {
			before := program.Print(u.Function)
			g := fuse.Sums(u.Function)
			if (g == u.Function) != strings.HasPrefix(u.Name, "Not") {
				t.Fatalf("rewritten:\n%s", program.Print(g))
			}
			if fuse.Sums(g) != g {
				t.Errorf("rewritten again:\n%s", program.Print(fuse.Sums(g)))
			}
			if g != u.Function {
				agree(t, u, g)
			}
			if program.Print(u.Function) != before {
				t.Error("the given function is changed")
			}
		})
	}
}

// Of several returns at the end one is made, and each result is as probable as before.
func TestReturns(t *testing.T) {
	for _, u := range rewritetest.Load(t, "./testdata/returns") {
		t.Run(u.Name, func(t *testing.T) {
			before := program.Print(u.Function)
			g := fuse.Returns(u.Function)
			if (g == u.Function) != strings.HasPrefix(u.Name, "Not") {
				t.Fatalf("rewritten:\n%s", program.Print(g))
			}
			if strings.HasPrefix(u.Name, "Not") {
				return
			}
			if n := strings.Count(program.Print(g), "return "); n != 1 {
				t.Errorf("%d returns:\n%s", n, program.Print(g))
			}
			agree(t, u, g)
			if program.Print(u.Function) != before {
				t.Error("the given function is changed")
			}
		})
	}
}

// Noise that a sum begins with is drawn behind the loop that makes the sum, and each result
// is as probable as before.
func TestLate(t *testing.T) {
	for _, u := range rewritetest.Load(t, "./testdata/late") {
		t.Run(u.Name, func(t *testing.T) {
			before := program.Print(u.Function)
			g := fuse.Late(u.Function)
			if (g == u.Function) != strings.HasPrefix(u.Name, "Not") {
				t.Fatalf("rewritten:\n%s", program.Print(g))
			}
			if fuse.Late(g) != g {
				t.Errorf("rewritten again:\n%s", program.Print(fuse.Late(g)))
			}
			if g != u.Function {
				agree(t, u, g)
			}
			if program.Print(u.Function) != before {
				t.Error("the given function is changed")
			}
		})
	}
}
