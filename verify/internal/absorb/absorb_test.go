package absorb_test

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/absorb"
	"github.com/discreet-dp/discreet/verify/internal/exact"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/rewritetest"
)

// Programs near those of the test data reveal the same when their factors are absorbed, and
// their budgets are counted in shares.
func TestNear(t *testing.T) {
	rewritetest.Near(t, []string{"absorbed", "apart", "shares"}, map[string]func(*program.Function, []program.Expression) *program.Function{
		"Factors": absorb.Factors, "Shares": absorb.Shares,
	})
}

// What has no factor, or none that is known to be positive and the same, is what was given.
func TestApart(t *testing.T) {
	for _, u := range rewritetest.Load(t, "./testdata/apart") {
		if g := absorb.Factors(u.Function, u.Claim.Requires); g != u.Function {
			t.Errorf("%s: absorbed:\n%s", u.Name, program.Print(g))
		}
		if g := absorb.Shares(u.Function, u.Claim.Requires); g != u.Function {
			t.Errorf("%s: in shares:\n%s", u.Name, program.Print(g))
		}
	}
}

// Functions that count shares reveal everything with the probabilities that the given ones
// have.
func TestShares(t *testing.T) {
	for _, u := range rewritetest.Load(t, "./testdata/shares") {
		t.Run(u.Name, func(t *testing.T) {
			before := program.Print(u.Function)
			g := absorb.Shares(u.Function, u.Claim.Requires)
			if g == u.Function || strings.Contains(program.Print(g), "> eps") {
				t.Fatalf("not in shares:\n%s", program.Print(g))
			}
			rapid.Check(t, func(t *rapid.T) {
				number := func(name string, low, high, by int64) *big.Rat {
					return big.NewRat(rapid.Int64Range(low, high).Draw(t, name), by)
				}
				q := program.Value{Elements: []*big.Rat{}}
				for range rapid.IntRange(0, 4).Draw(t, "n") {
					q.Elements = append(q.Elements, number("q", -3, 3, 1))
				}
				in := program.Inputs{"q": q, "eps": program.Value{Number: number("eps", 1, 6, 2)}}
				rewritetest.Agree(t, u.Function, g, in, exact.Event{Return: []exact.Range{exact.Is(number("result", 0, 4, 1))}})
			})
			if program.Print(u.Function) != before {
				t.Error("the given function is changed")
			}
		})
	}
}

// Functions with factors absorbed reveal everything with the probabilities that the given
// ones have: both are evaluated on random inputs. The given ones stay as they are.
func TestAbsorbed(t *testing.T) {
	for _, u := range rewritetest.Load(t, "./testdata/absorbed") {
		t.Run(u.Name, func(t *testing.T) {
			before := program.Print(u.Function)
			g := absorb.Factors(u.Function, u.Claim.Requires)
			if g == u.Function || absorb.Factors(g, u.Claim.Requires) != g {
				t.Fatalf("not absorbed, or again:\n%s", program.Print(g))
			}
			rapid.Check(t, func(t *rapid.T) {
				number := func(name string, low, high, by int64) *big.Rat {
					return big.NewRat(rapid.Int64Range(low, high).Draw(t, name), by)
				}
				in := program.Inputs{}
				for _, v := range u.Function.Inputs {
					switch {
					case v.Slice:
						q := program.Value{Elements: []*big.Rat{}}
						for range rapid.IntRange(0, 2).Draw(t, "n") {
							q.Elements = append(q.Elements, number(v.Name, -3, 3, 1))
						}
						in[v.Name] = q
					case v.Name == "x":
						in[v.Name] = program.Value{Number: number(v.Name, -4, 4, 2)}
					case v.Sort == program.Int:
						in[v.Name] = program.Value{Number: number(v.Name, 1, 4, 1)}
					default:
						in[v.Name] = program.Value{Number: number(v.Name, 1, 6, 2)}
					}
				}
				event := exact.Event{Return: []exact.Range{{Low: number("at least", -4, 4, 3)}}}
				if strings.Contains(u.Name, "Loop") {
					event.Return = []exact.Range{exact.Is(number("result", 0, 1, 1))}
				}
				rewritetest.Agree(t, u.Function, g, in, event)
			})
			if program.Print(u.Function) != before {
				t.Error("the given function is changed")
			}
		})
	}
}
