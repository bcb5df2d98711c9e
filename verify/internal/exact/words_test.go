package exact

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Integers that stand for texts are shown as these.
func TestTexts(t *testing.T) {
	f := &program.Function{Texts: []string{"", "above", "below"}, Told: []bool{true, false, true}}
	is := func(n int64) Range { return Is(big.NewRat(n, 1)) }
	sorts := []program.Sort{program.Int, program.Int, program.Int}
	ranges := []Range{is(1), is(1), {Slice: true, Elements: []Range{is(2), is(0)}}}
	if got, want := wordsOf(ranges, sorts, f), `"above", 1, ["below" ""]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := wordsOf([]Range{{High: big.NewRat(1, 1)}}, sorts, f), `"" or "above"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := wordsOf(ranges[:1], sorts, nil), "1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
