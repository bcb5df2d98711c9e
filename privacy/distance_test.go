package privacy_test

import (
	"math/big"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/eventtest"
	"github.com/discreet-dp/discreet/privacy"
)

// degrees say of every number of an event how it grows with the distance of neighbours:
// whoever adds a number to an event decides.
var degrees = map[string]int{
	"Sensitivity": 1, "L1": 1, "SensitivitySquared": 2,
	"Scale": 0, "Variance": 0, "Sigma": 0, "P": 0, "Q": 0, "Mu": 0, "Orders": 0, "Eps": 0, "Rate": 0, "Mean": 0, "Shape": 0,
}

// moved is e with its numbers, by their names, as of neighbours times as far apart; all that
// is in it too, but for what states its relation, if deep.
func moved(t *testing.T, e privacy.Event, times *big.Rat, deep bool) privacy.Event {
	t.Helper()
	if _, states := e.(privacy.Under); states && deep {
		return e
	}
	v := reflect.New(reflect.TypeOf(e)).Elem()
	v.Set(reflect.ValueOf(e))
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch f := v.Field(i).Interface().(type) {
		case *big.Rat:
			degree, ok := degrees[name]
			if !ok {
				t.Fatalf("%T.%s: nobody says whether it is a distance", e, name)
			}
			for range degree {
				f = new(big.Rat).Mul(f, times)
			}
			v.Field(i).Set(reflect.ValueOf(f))
		case []*big.Rat:
			if degree, ok := degrees[name]; !ok || degree != 0 {
				t.Fatalf("%T.%s: nobody says whether it is a distance", e, name)
			}
		case privacy.Event:
			if deep {
				v.Field(i).Set(reflect.ValueOf(moved(t, f, times, deep)))
			}
		case []privacy.Event:
			if deep {
				var out []privacy.Event
				for _, part := range f {
					out = append(out, moved(t, part, times, deep))
				}
				v.Field(i).Set(reflect.ValueOf(out))
			}
		}
	}
	return v.Interface().(privacy.Event)
}

// The replace-one law, of every type of event: each distance counts twice, wherever it
// stands, but in what states its relation; nothing else changes, and no other relation
// changes anything.
func TestOfPlan(t *testing.T) {
	changed := 0
	for _, e := range eventtest.Every(t) {
		before := e.String()
		if got, want := privacy.OfPlan(e, privacy.ReplaceOne), moved(t, e, big.NewRat(2, 1), true); got.String() != want.String() {
			t.Errorf("%v under replace-one is %v, want %v", e, got, want)
		} else if got.String() != before {
			changed++
		}
		third := big.NewRat(1, 3)
		if got, want := privacy.AtDistance(e, third), moved(t, e, third, false); got.String() != want.String() {
			t.Errorf("%v at a third of the distance is %v, want %v", e, got, want)
		}
		for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceSpecial} {
			if got := privacy.OfPlan(e, n); got.String() != before {
				t.Errorf("%v under %v is %v", e, n, got)
			}
		}
		if e.String() != before {
			t.Errorf("%s was changed to %v", before, e)
		}
	}
	if changed < 12 {
		t.Errorf("%d events change under replace-one", changed)
	}
}

// The law is of distances: of counts in several groups, a unit's removal changes one in one
// place, and its replacement two; no replacement changes more than the two removals.
func TestReplacementIsTwoRemovals(t *testing.T) {
	const groups = 4
	counts := func(units []int) (c [groups]int) {
		for _, g := range units {
			if g >= 0 { // -1 is absent
				c[g]++
			}
		}
		return c
	}
	l1 := func(a, b [groups]int) (d int) {
		for i := range a {
			d += max(a[i]-b[i], b[i]-a[i])
		}
		return d
	}
	removal, replacement := 0, 0
	for others := range groups {
		for from := range groups {
			removal = max(removal, l1(counts([]int{others, from}), counts([]int{others, -1})))
			for to := range groups {
				replacement = max(replacement, l1(counts([]int{others, from}), counts([]int{others, to})))
			}
		}
	}
	if want := new(big.Rat).Mul(big.NewRat(int64(removal), 1), privacy.Distance(privacy.ReplaceOne)); want.Cmp(big.NewRat(int64(replacement), 1)) != 0 {
		t.Errorf("a removal moves %d, a replacement %d", removal, replacement)
	}
}
