package release

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// BenchmarkMillionGroups releases a million groups with three aggregates, with the noise of each
// and an interval for each. Draws are the three million draws alone.
func BenchmarkMillionGroups(b *testing.B) {
	const groups = MaxCells
	bigint := sqltype.Of(sqltype.Bigint)
	r := &Release{Release: &stability.Release{MaxGroups: 1, MaxRows: 1, Columns: []plan.Column{{Name: "k", Type: bigint}},
		Keys: []stability.Key{{Expr: &plan.Ref{T: bigint}, Name: "k", Domain: []*catalog.PublicDomain{{}}}}}}
	rate, err := privacy.ParseRho("0.0001")
	if err != nil {
		b.Fatal(err)
	}
	for i := range 3 {
		r.Components = append(r.Components, stability.Component{Kind: stability.Rows, Grid: big.NewRat(1, 1), ArgGrid: big.NewRat(1, 1), PerGroup: big.NewInt(1)})
		r.Aggregates = append(r.Aggregates, stability.Aggregate{Function: plan.CountStar, Type: bigint, Components: []int{i}})
		r.Columns = append(r.Columns, plan.Column{Name: "n", Type: bigint})
		n, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: big.NewRat(1, 1), Rho: rate})
		if err != nil {
			b.Fatal(err)
		}
		r.Noise = append(r.Noise, Noise{Additive: n, Name: "discrete_gaussian"})
	}
	domain := make([]sqltype.Value, groups)
	rows := make([][]sqltype.Value, groups)
	for i := range rows {
		domain[i] = int64(i)
		count := sqltype.Decimal{Unscaled: big.NewInt(int64(i % 1000))}
		rows[i] = []sqltype.Value{int64(i), count, count, count}
	}
	b.Run("table", func(b *testing.B) {
		for b.Loop() {
			t, err := r.Publish(engine.NewExact(rows), [][]sqltype.Value{domain}, entropy.New())
			if err != nil {
				b.Fatal(err)
			}
			if _, _, err := t.Rows(big.NewRat(19, 20), []int{1}); err != nil {
				b.Fatal(err)
			}
		}
	})
	values := make([]*big.Int, groups)
	for i := range values {
		values[i] = big.NewInt(int64(i))
	}
	b.Run("draws", func(b *testing.B) {
		for b.Loop() {
			for _, n := range r.Noise {
				if err := n.AddTo(entropy.New(), values); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
