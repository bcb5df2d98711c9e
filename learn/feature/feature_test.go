package feature_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/feature"
)

func TestOfEncoding(t *testing.T) {
	e := &example.Encoding{Columns: []example.Column{
		{Name: "age", Type: "integer", Lower: 0, Upper: 100, Bins: 4},
		{Name: "sex", Type: "text", Values: []string{"f", "m"}},
		{Name: "age group", Type: "text", Values: []string{"old"}},
		{Name: "pay", Type: "double", Lower: 0, Upper: 1},
	}}
	want := []feature.Feature{
		{Name: "age", At: 0, Lower: -1, Upper: 1, Null: true},
		{Name: "sex", At: 10, Values: 3},
		{Name: "age group", At: 13, Values: 2},
		{Name: "pay", At: 15, Lower: -1, Upper: 1, Null: true},
	}
	got := feature.Of(e)
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if err := feature.Check(got, e.Width()); err != nil {
		t.Error(err)
	}
	if err := feature.Check(got, e.Width()-1); !errors.Is(err, feature.ErrFeature) {
		t.Errorf("beyond the width: %v", err)
	}
}

func TestBins(t *testing.T) {
	cuts := feature.Cuts(4)
	if !slices.IsSorted(cuts) || len(cuts) != 6 || cuts[0] <= 0 || cuts[5] >= 1 {
		t.Fatalf("cuts %v", cuts)
	}
	number := feature.Feature{Lower: 10, Upper: 20, Null: true}
	for _, c := range []struct {
		x    []float32
		want int
	}{
		{[]float32{10, 0}, 0}, {[]float32{-5, 0}, 0}, {[]float32{20, 0}, 6}, {[]float32{99, 0}, 6}, {[]float32{15, 0}, 5},
		{[]float32{15, 1}, 7}, {[]float32{float32(math.NaN()), 0}, 7},
	} {
		if got := number.Bin(c.x, cuts); got != c.want || got >= number.Bins(cuts) {
			t.Errorf("%v is in bin %d, want %d", c.x, got, c.want)
		}
	}
	category := feature.Feature{At: 1, Values: 3}
	if got := category.Bin([]float32{9, 0, 1, 0}, cuts); got != 1 || category.Bins(cuts) != 3 {
		t.Errorf("the second value is in bin %d", got)
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, f := range []feature.Feature{
		{At: -1, Values: 1}, {At: 3, Values: 1}, {At: 2, Values: 2}, {At: math.MaxInt, Values: 2}, {Values: -1},
		{At: 0, Lower: 1, Upper: 1}, {At: 0, Lower: math.NaN(), Upper: 1}, {At: 0, Lower: 0, Upper: math.Inf(1)},
		{At: 2, Lower: 0, Upper: 1, Null: true},
	} {
		if err := feature.Check([]feature.Feature{f}, 3); !errors.Is(err, feature.ErrFeature) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if err := feature.Check(nil, 3); !errors.Is(err, feature.ErrFeature) {
		t.Errorf("none: %v", err)
	}
}
