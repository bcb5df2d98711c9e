package stability

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// A row of value 0 adds to a sum whose values are clamped to 1 and more: no condition is known of the rows that add to it.
func TestClampedZerosAdd(t *testing.T) {
	t.Parallel()
	boolean, bigint := sqltype.Type{Kind: sqltype.Boolean}, sqltype.Type{Kind: sqltype.Bigint}
	met := &plan.Ref{T: boolean}
	for name, arg := range map[string]plan.Expr{
		"a case":      &plan.Case{Whens: []plan.When{{Condition: met, Result: &plan.Literal{Value: int64(5), T: bigint}}}, Else: &plan.Literal{Value: int64(0), T: bigint}, T: bigint},
		"a condition": &plan.Cast{Arg: met, T: bigint},
	} {
		for lower, want := range map[int64]int{0: 1, 1: 0} {
			if got := len(adding(Component{Kind: Sum, Arg: arg, LowerUnits: big.NewInt(lower)})); got != want {
				t.Errorf("%s, clamped to %d or more: %d conditions, want %d", name, lower, got, want)
			}
		}
	}
}
