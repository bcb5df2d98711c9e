//go:build cgo

package bounding

import (
	"cmp"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What is chosen are those of the least hashes and, of equal hashes, the least by what they are: in whatever order they come.
func TestChoiceIsOfContents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hashes := rapid.SliceOfN(rapid.Uint64Range(0, 4), 1, 40).Draw(t, "hashes")
		all := make([]ranked, len(hashes))
		for i, h := range hashes {
			all[i] = ranked{h, uint32(i)}
		}
		n := rapid.IntRange(1, len(all)).Draw(t, "n")
		want := slices.Clone(all)
		slices.SortFunc(want, func(x, y ranked) int { return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.of, y.of)) })
		got := rapid.Permutation(all).Draw(t, "order")
		choose(got, n, func(x, y uint32) int { return cmp.Compare(x, y) })
		slices.SortFunc(got[:n], func(x, y ranked) int { return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.of, y.of)) })
		if !slices.Equal(got[:n], want[:n]) {
			t.Fatalf("%d of %v: %v, want %v", n, all, got[:n], want[:n])
		}
	})
}

// Sums of 128 bits are exact, and so are their bounds.
func TestTotalsAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var sum total
		want := new(big.Int)
		for _, n := range rapid.SliceOf(rapid.Int64()).Draw(t, "numbers") {
			sum.add(n)
			want.Add(want, big.NewInt(n))
		}
		var twice total
		twice.plus(sum)
		twice.plus(sum)
		if got := twice.number(); sum.number().Cmp(want) != 0 || got.Cmp(new(big.Int).Add(want, want)) != 0 {
			t.Fatalf("%v and %v, want %v", sum.number(), got, want)
		}
		lower, upper := big.NewInt(rapid.Int64().Draw(t, "lower")), big.NewInt(rapid.Int64().Draw(t, "upper"))
		if rapid.Bool().Draw(t, "wide") {
			lower, upper = lower.Lsh(lower, 20), upper.Lsh(upper, 20)
		}
		if lower.Cmp(upper) > 0 {
			lower, upper = upper, lower
		}
		within := want
		if within.Cmp(lower) < 0 {
			within = lower
		}
		if within.Cmp(upper) > 0 {
			within = upper
		}
		if got := clamped(sum, lower, upper).number(); got.Cmp(within) != 0 {
			t.Fatalf("%v in [%v, %v]: %v, want %v", want, lower, upper, got, within)
		}
	})
}
