package example

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/sqltype"
)

type record struct {
	unit   string
	values []sqltype.Value
}

func numbers() *Encoding {
	return &Encoding{Columns: []Column{{Name: "x", Type: "bigint", Lower: 0, Upper: 1 << 20}}, Target: &Column{Name: "y", Type: "boolean"}}
}

func build(t interface{ Fatal(...any) }, s Selection, own bool, all []record) *Set {
	b, err := NewBuilder(numbers(), s, own)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		b.Add(r.unit, r.values)
	}
	set := b.Set()
	if err := set.Validate(); err != nil {
		t.Fatal(err)
	}
	return set
}

// examples are a set's examples as texts, by unit.
func examples(s *Set) map[int32][]string {
	all := map[int32][]string{}
	for i := range s.Len() {
		u := int32(i)
		if s.Units != nil {
			u = s.Units[i]
		}
		all[u] = append(all[u], fmt.Sprint(s.Features[i*s.Width:(i+1)*s.Width], s.Labels[i]))
	}
	for _, e := range all {
		slices.Sort(e)
	}
	return all
}

// whole are the units' examples, without their numbers.
func whole(s *Set) (all []string) {
	for e := range maps.Values(examples(s)) {
		all = append(all, fmt.Sprint(e))
	}
	slices.Sort(all)
	return all
}

func randomRecords(t *rapid.T) (all []record) {
	for range rapid.IntRange(0, 30).Draw(t, "records") {
		all = append(all, record{rapid.SampledFrom([]string{"ann", "bob", "eve", ""}).Draw(t, "unit"),
			[]sqltype.Value{rapid.Int64Range(0, 9).Draw(t, "x"), rapid.Bool().Draw(t, "y")}})
	}
	return all
}

// The heart of the unit's guarantee: without one unit's records the set is the same
// but for the examples of that unit, of which there were PerUnit at most; and the
// order of records means nothing.
func TestNeighboursDifferByOneUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Selection{PerUnit: rapid.IntRange(1, 4).Draw(t, "per unit")}
		copy(s.Key[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
		s.Holdout = rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "holdout")
		s.Held = s.Holdout > 0 && rapid.Bool().Draw(t, "held")
		own := rapid.Bool().Draw(t, "own")
		all := randomRecords(t)
		with := build(t, s, own, all)

		shuffled := rapid.Permutation(all).Draw(t, "order")
		if got := whole(build(t, s, own, shuffled)); !slices.Equal(got, whole(with)) {
			t.Fatalf("the order of records matters: %v and %v", got, whole(with))
		}
		for _, e := range examples(with) {
			if len(e) > s.PerUnit {
				t.Fatalf("a unit keeps %d examples of %d", len(e), s.PerUnit)
			}
		}
		if own && len(all) > 0 { // a unit is a record
			without := whole(build(t, s, own, all[1:]))
			if rest := subtract(whole(with), without); len(rest) > 1 || len(subtract(without, whole(with))) > 0 {
				t.Fatalf("without a record %v is gone", rest)
			}
			return
		}
		for u, e := range examples(with) {
			if own {
				break
			}
			name := with.Names[u]
			alone := build(t, s, own, slices.DeleteFunc(slices.Clone(all), func(r record) bool { return r.unit != name }))
			if got := whole(alone); len(got) != 1 || got[0] != fmt.Sprint(e) {
				t.Fatalf("unit %q has the examples %v, alone %v", name, e, got)
			}
		}
		gone := slices.DeleteFunc(slices.Clone(all), func(r record) bool { return r.unit == "eve" })
		without := whole(build(t, s, own, gone))
		if rest := subtract(whole(with), without); len(rest) > 1 || len(subtract(without, whole(with))) > 0 {
			t.Fatalf("without a unit %v is gone, %v new", rest, subtract(without, whole(with)))
		}
	})
}

// subtract removes each of b once from a.
func subtract(a, b []string) []string {
	a = slices.Clone(a)
	for _, x := range b {
		if i := slices.Index(a, x); i >= 0 {
			a = slices.Delete(a, i, i+1)
		}
	}
	return a
}

// What a unit keeps depends on the key: over many keys each of its records is kept as
// often as another. Each of 10 counts is binomial with p = 0.3; false-reject
// probability below 1e-9 by Hoeffding at 0.11 of 1000 keys, and a selection by order
// of the file misses by 0.7.
func TestSelectionIsByHash(t *testing.T) {
	const keys = 1000
	var all []record
	for x := range int64(10) {
		all = append(all, record{"ann", []sqltype.Value{x, true}})
	}
	count := map[float32]int{}
	for k := range keys {
		s := Selection{PerUnit: 3, Key: [32]byte{byte(k), byte(k >> 8)}}
		set := build(t, s, false, all)
		for i := range set.Len() {
			count[set.Features[i*set.Width]]++
		}
	}
	if len(count) != 10 {
		t.Fatalf("%d records are ever kept", len(count))
	}
	for x, n := range count {
		if math.Abs(float64(n)/keys-0.3) > 0.11 {
			t.Errorf("record %v is kept by %d keys of %d", x, n, keys)
		}
	}
}

// Training and test share no unit, and together they are all; about the declared
// share is held out (4,000 units: five standard deviations are 0.032).
func TestHoldout(t *testing.T) {
	var all []record
	for i := range int64(8000) {
		all = append(all, record{fmt.Sprint(i % 4000), []sqltype.Value{i, i%2 == 0}})
	}
	for _, own := range []bool{false, true} {
		s := Selection{PerUnit: 2, Holdout: 0.2}
		train := build(t, s, own, all)
		s.Held = true
		test := build(t, s, own, all)
		if train.Len()+test.Len() != len(all) {
			t.Errorf("%d and %d of %d", train.Len(), test.Len(), len(all))
		}
		if share := float64(test.Len()) / float64(len(all)); math.Abs(share-0.2) > 0.032 {
			t.Errorf("%v of the units are held out", share)
		}
		if both := subtract(whole(train), subtract(whole(train), whole(test))); len(both) > 0 {
			t.Errorf("%d units are on both sides", len(both))
		}
	}
}

// Labels that are missing or unknown are below 0, and targets NaN.
func TestMissingTargets(t *testing.T) {
	set := build(t, Selection{PerUnit: 1}, true, []record{{"", []sqltype.Value{int64(1), nil}}, {"", []sqltype.Value{int64(1), true}}})
	if !slices.Equal(set.Labels, []int32{-1, 1}) || set.Classes != 2 {
		t.Errorf("%v", set.Labels)
	}
	e := numbers()
	e.Target = &Column{Name: "y", Type: "double", Lower: 0, Upper: 10}
	b, err := NewBuilder(e, Selection{PerUnit: 1}, true)
	if err != nil {
		t.Fatal(err)
	}
	b.Add("", []sqltype.Value{int64(0), 7.5})
	b.Add("", []sqltype.Value{int64(0), nil})
	if set := b.Set(); set.Classes != 0 || set.Targets[0] != 0.5 || !math.IsNaN(float64(set.Targets[1])) {
		t.Errorf("%v", set.Targets)
	}
	e.Target = nil
	if b, err = NewBuilder(e, Selection{PerUnit: 1}, true); err != nil {
		t.Fatal(err)
	}
	b.Add("", []sqltype.Value{int64(0)})
	if set := b.Set(); set.Validate() != nil || !slices.Equal(set.Labels, []int32{-1}) {
		t.Error("a set without targets does not fit together")
	}
}

func TestSelectionRefusals(t *testing.T) {
	for _, s := range []Selection{{}, {PerUnit: -1}, {PerUnit: 1, Holdout: 1}, {PerUnit: 1, Holdout: -0.1}, {PerUnit: 1, Holdout: math.NaN()}, {PerUnit: 1, Held: true}} {
		if _, err := NewBuilder(numbers(), s, true); !errors.Is(err, ErrSelection) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// Equal hashes of different parts would make a unit's choice depend on another's.
func TestHashCutsItsParts(t *testing.T) {
	s := Selection{PerUnit: 1}
	a, b := s.hash([]byte("ab"), []byte("c")), s.hash([]byte("a"), []byte("bc"))
	if bytes.Equal(a[:], b[:]) {
		t.Error("parts run into each other")
	}
}
