package release

import (
	"math/big"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// Who walks through rows and domains meets what a map of the rows has. Where they are not in one
// order, nobody walks.
func TestCompleteByWalkingIsByMap(t *testing.T) {
	walked := 0
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.IntRange(0, 3).Draw(t, "keys")
		values := make([]*rapid.Generator[sqltype.Value], keys)
		domains := make([][]sqltype.Value, keys)
		r := &Release{Release: &stability.Release{}}
		for i := range keys {
			values[i] = rapid.SampledFrom([]*rapid.Generator[sqltype.Value]{
				rapid.Map(rapid.IntRange(0, 5), func(n int) sqltype.Value { return int64(n) }),
				rapid.Map(rapid.IntRange(0, 5), func(n int) sqltype.Value { return string(rune('a' + n)) }),
				rapid.Map(rapid.IntRange(0, 5), func(n int) sqltype.Value { return sqltype.Decimal{Unscaled: big.NewInt(int64(n)), Scale: 1} }),
			}).Draw(t, "type")
			domains[i] = rapid.SliceOfN(values[i], 0, 5).Draw(t, "domain")
			if rapid.IntRange(0, 3).Draw(t, "in order") > 0 {
				slices.SortFunc(domains[i], sqltype.Compare)
				domains[i] = slices.CompactFunc(domains[i], func(a, b sqltype.Value) bool { return sqltype.Compare(a, b) == 0 })
			}
			r.Keys = append(r.Keys, stability.Key{})
		}
		r.Components = make([]stability.Component, 1)
		var rows [][]sqltype.Value
		for n := range rapid.IntRange(0, 12).Draw(t, "rows") {
			var row []sqltype.Value
			for i := range keys {
				row = append(row, values[i].Draw(t, "key"))
				if rapid.IntRange(0, 9).Draw(t, "NULL") == 0 {
					row[i] = nil
				}
			}
			rows = append(rows, append(row, sqltype.Decimal{Unscaled: big.NewInt(int64(n))}))
		}
		if rapid.IntRange(0, 3).Draw(t, "rows in order") > 0 {
			slices.SortFunc(rows, func(a, b []sqltype.Value) int { return compareKeys(a, b, keys) })
			rows = slices.CompactFunc(rows, func(a, b []sqltype.Value) bool { return compareKeys(a, b, keys) == 0 })
		}
		if walker(rows, domains) != nil {
			walked++
		}
		got, find := r.complete(rows, domains), finder(rows, keys)
		cells := 1
		for _, d := range domains {
			cells *= len(d)
		}
		if len(got) != cells {
			t.Fatalf("%d rows for %d cells", len(got), cells)
		}
		for at, row := range got {
			var key []sqltype.Value
			for i, rest := keys-1, at; i >= 0; i, rest = i-1, rest/len(domains[i]) {
				key = append(key, domains[i][rest%len(domains[i])])
			}
			slices.Reverse(key)
			want := find(key)
			if want == nil {
				want = append(key, nil)
			}
			if !reflect.DeepEqual(row, want) {
				t.Fatalf("cell %d is %v, want %v", at, row, want)
			}
		}
	})
	if walked < 10 {
		t.Errorf("only %d walked", walked)
	}
}

// Numbers that share their room are as if each had its own, also those that outgrow it.
func TestIntegersShareNothing(t *testing.T) {
	huge := new(big.Int).Lsh(big.NewInt(-3), 200)
	of := []sqltype.Value{nil, sqltype.Decimal{Unscaled: big.NewInt(7)}, sqltype.Decimal{Unscaled: huge}, sqltype.Decimal{Unscaled: big.NewInt(-1)}}
	rows := make([][]sqltype.Value, len(of))
	for i, v := range of {
		rows[i] = []sqltype.Value{v}
	}
	got, err := integers(rows, 0)
	if err != nil {
		t.Fatal(err)
	}
	top := new(big.Int).Lsh(big.NewInt(1), 64)
	for _, n := range got {
		n.Add(n, top)
	}
	for i, n := range got {
		want := new(big.Int).Set(top)
		if d, ok := of[i].(sqltype.Decimal); ok {
			want.Add(want, d.Unscaled)
		}
		if n.Cmp(want) != 0 {
			t.Errorf("number %d is %v, want %v", i, n, want)
		}
	}
	if huge.Cmp(new(big.Int).Lsh(big.NewInt(-3), 200)) != 0 {
		t.Error("the engine's number was changed")
	}
	for _, v := range []sqltype.Value{int64(1), sqltype.Decimal{Unscaled: big.NewInt(1), Scale: 1}} {
		if _, err := integers([][]sqltype.Value{{v}}, 0); err != errShape {
			t.Errorf("%v: %v", v, err)
		}
	}
}
