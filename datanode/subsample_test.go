package datanode

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func numbersTo(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	return x
}

// A sample of fixed size needs the real, public number of rows; one at a rate rows
// that may be added.
func TestSampleSizes(t *testing.T) {
	count := Laplace{Sum{"", 0, 1}, eps("1")}
	for _, test := range []struct {
		m    Subsampled
		n    privacy.Neighbours
		want bool
	}{
		{Subsampled{Mechanism: count, Size: 2, Of: 4}, privacy.ReplaceOne, true},
		{Subsampled{Mechanism: count, Size: 4, Of: 4}, privacy.ReplaceOne, true},
		{Subsampled{Mechanism: count, Rate: rat("1/2")}, privacy.AddRemove, true},
		{Subsampled{Mechanism: count, Rate: rat("1")}, privacy.AddRemove, true},
		{Subsampled{Mechanism: count, Size: 2, Of: 4}, privacy.AddRemove, false},
		{Subsampled{Mechanism: count, Size: 2, Of: 400}, privacy.ReplaceOne, false}, // would understate
		{Subsampled{Mechanism: count, Size: 2, Of: 3}, privacy.ReplaceOne, false},
		{Subsampled{Mechanism: count, Size: 5, Of: 4}, privacy.ReplaceOne, false},
		{Subsampled{Mechanism: count, Size: 0, Of: 4}, privacy.ReplaceOne, false},
		{Subsampled{Mechanism: count, Size: -1, Of: 4}, privacy.ReplaceOne, false},
		{Subsampled{Mechanism: count, Rate: rat("1/2")}, privacy.ReplaceOne, false},
		{Subsampled{Mechanism: count, Rate: rat("0")}, privacy.AddRemove, false},
		{Subsampled{Mechanism: count, Rate: rat("-1")}, privacy.AddRemove, false},
		{Subsampled{Mechanism: count, Rate: rat("2")}, privacy.AddRemove, false},
		{Subsampled{Mechanism: count, Rate: rat("1/2"), Size: 2, Of: 4}, privacy.AddRemove, false},
		{Subsampled{Mechanism: count}, privacy.AddRemove, false},
		{Subsampled{Rate: rat("1/2")}, privacy.AddRemove, false},
	} {
		node := testNode(t, test.n)
		b := memory("study", filter.Budget{Measure: filter.Pure, Epsilon: eps("10"), Neighbours: test.n})
		if err := node.Configure(ctx, "x", Adaptive{Budget: b, Mechanism: test.m}); err != nil {
			t.Fatal(err)
		}
		_, err := node.Query(ctx, "x")
		if (err == nil) != test.want || err != nil && !errors.Is(err, ErrQuery) {
			t.Errorf("%v, %v: %v", test.m, test.n, err)
		}
		if left := must(b.Left(ctx)); err != nil && left.Epsilon.String() != "10" {
			t.Errorf("%v, %v: refused, and left %v", test.m, test.n, left)
		}
	}
}

// The charge is ln(1 + m/n·(e^ε − 1)), as the vectors of Balle, Barthe and Gaboardi 2018,
// Theorem 9 have it (testdata/vectors.json), and no less.
func TestAmplifiedCharge(t *testing.T) {
	for _, v := range vectors(t).Subsampling {
		node := testNode(t, privacy.ReplaceOne)
		if err := node.Set("x", Vector(numbersTo(v.Data))); err != nil {
			t.Fatal(err)
		}
		b := memory("study", filter.Budget{Measure: filter.Pure, Epsilon: eps("10"), Neighbours: privacy.ReplaceOne})
		inner := must(privacy.EpsilonFromFloat(v.Epsilon))
		for _, query := range []Query{Sum{"", 0, 9}, Mean{"", 0, 9}, CountWhere{Upper: 9}, Histogram{Edges: []float64{0, 9, 99}}} {
			before := must(b.Left(ctx)).Epsilon.Rat()
			if err := node.Configure(ctx, "x", Adaptive{Budget: b, Mechanism: Subsampled{Mechanism: Laplace{query, inner}, Size: v.Sample, Of: int64(v.Data)}}); err != nil {
				t.Fatal(err)
			}
			if _, err := node.Query(ctx, "x"); err != nil {
				t.Fatal(err)
			}
			charged, _ := before.Sub(before, must(b.Left(ctx)).Epsilon.Rat()).Float64()
			if charged < v.Want*(1-1e-15) || charged > v.Want*(1+1e-9) {
				t.Errorf("%v: charged %v, want %v", query, charged, v.Want)
			}
		}
	}
}

// Every measure charges a sample, and less than all.
func TestAmplifiedInEveryMeasure(t *testing.T) {
	for _, measure := range []filter.Measure{filter.Pure, filter.Approx, filter.ZCDP, filter.Whitehouse, filter.RDP, filter.GDP} {
		b := filter.Budget{Measure: measure, Epsilon: eps("3"), Delta: del("2e-6"), SelectionDelta: del("1e-6")}
		if measure == filter.Pure || measure == filter.Approx {
			b.SelectionDelta = privacy.Delta{}
		}
		if measure == filter.Pure {
			b.Delta = privacy.Delta{}
		}
		for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
			b.Neighbours = n
			node := testNode(t, n)
			if err := node.Set("x", Vector(numbersTo(1000))); err != nil {
				t.Fatal(err)
			}
			m := memory(string(measure), b)
			inner := Laplace{Sum{"", 0, 9}, eps("0.5")}
			sampled := Subsampled{Mechanism: inner, Rate: rat("1/10")}
			if n == privacy.ReplaceOne {
				sampled = Subsampled{Mechanism: inner, Size: 100, Of: 1000}
			}
			if err := node.Configure(ctx, "x", Adaptive{Budget: m}); err != nil {
				t.Fatal(err)
			}
			cost := func(q Mechanism) *big.Rat {
				before := must(m.Spent(ctx)).In(measure)[0].Amount.Rat()
				if _, err := node.QueryWith(ctx, "x", q); err != nil {
					t.Fatalf("%s, %v, %v: %v", measure, n, q, err)
				}
				after := must(m.Spent(ctx)).In(measure)[0].Amount.Rat()
				return after.Sub(after, before)
			}
			whole, part := cost(inner), cost(sampled)
			if whole.Mul(whole, rat("1/2")); part.Sign() <= 0 || part.Cmp(whole) >= 0 {
				t.Errorf("%s, %v: a sample costs %v", measure, n, part)
			}
		}
	}
}

// Gaussian noise on samples is charged at the δ of the request.
func TestSampledGaussian(t *testing.T) {
	node := testNode(t, privacy.AddRemove)
	b := memory("study", filter.Budget{Measure: filter.Approx, Epsilon: eps("1"), Delta: del("1e-5")})
	sampled := Subsampled{Mechanism: Gaussian{Query: Sum{"", 0, 9}, Rho: rho("0.01"), Delta: del("1e-6")}, Rate: rat("1/10")}
	if err := node.Configure(ctx, "x", Adaptive{Budget: b, Mechanism: sampled}); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Query(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	if s := must(b.Spent(ctx)); s.Epsilon.Sign() <= 0 || s.Epsilon.Float64() > 0.2 || s.Delta.Sign() <= 0 || s.Delta.Float64() > 1e-6 {
		t.Errorf("spent %v, %v", s.Epsilon, s.Delta)
	}
}

// Each row is in the sample as often as it should be: over 20,000 draws the counts of
// 5 rows are within 6.5 standard deviations, which fails with probability below
// 5·2·Φ(−6.5) < 1e-9.
func TestDrawing(t *testing.T) {
	const draws, n = 20_000, 5
	for _, test := range []struct {
		m Subsampled
		p float64
	}{{Subsampled{Size: 2}, 0.4}, {Subsampled{Rate: rat("0.3")}, 0.3}} {
		var seen [n]int
		for range draws {
			rows := must(test.m.draw(noise.System(), n))
			in := map[int]bool{}
			for _, r := range rows {
				seen[r]++
				in[r] = true
			}
			if len(in) != len(rows) || test.m.Rate == nil && len(rows) != 2 {
				t.Fatalf("drew %v", rows)
			}
		}
		slack := 6.5 * math.Sqrt(draws*test.p*(1-test.p))
		for r, k := range seen {
			if math.Abs(float64(k)-draws*test.p) > slack {
				t.Errorf("row %d was drawn %d times of %d", r, k, draws)
			}
		}
		// A rate wrong by a tenth is seen.
		if math.Abs(1.1*draws*test.p-draws*test.p) < slack {
			t.Error("the test is blind")
		}
	}
}

type vectorFile struct {
	Source      string
	Subsampling []struct {
		Epsilon float64
		Sample  int64
		Data    int
		Want    float64
	}
	Samplers []struct {
		Gamma, Rho float64
		Samples    int
	}
}

func vectors(t *testing.T) (v vectorFile) {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
