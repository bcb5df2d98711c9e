package discreet

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// The buckets beyond the ends are explained where they are shown, from either side.
func TestOuterBuckets(t *testing.T) {
	number := func(v sqltype.Value) plan.Expr { return &plan.Literal{Value: v} }
	key := func(low, high float64, from, to int64) stability.Key {
		return stability.Key{Expr: &plan.Call{Function: plan.WidthBucket, Args: []plan.Expr{nil, number(low), number(high), number(int64(10))}},
			Domain: []*catalog.PublicDomain{{Lower: big.NewRat(from, 1), Upper: big.NewRat(to, 1), Step: big.NewRat(1, 1)}}}
	}
	for _, test := range []struct {
		key  stability.Key
		want string
	}{
		{key(0, 100, 0, 11), "bucket 0 is of less than 0, bucket 11 is of 100 or more"},
		{key(0, 100, 1, 11), "bucket 11 is of 100 or more"},
		{key(0, 100, 1, 10), ""},
		{key(100, 0, 0, 11), "bucket 0 is of more than 100, bucket 11 is of 0 or less"},
		{stability.Key{Expr: &plan.Call{Function: plan.WidthBucket, Args: []plan.Expr{nil, number(0.0), number(5.0), number(int64(1))}},
			Domain: []*catalog.PublicDomain{{Values: []sqltype.Value{int64(0), int64(1)}}}}, "bucket 0 is of less than 0"},
		{stability.Key{Expr: number(int64(1))}, ""},
	} {
		if got := outerBuckets(test.key); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
