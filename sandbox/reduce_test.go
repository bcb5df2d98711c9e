package sandbox

import (
	"context"
	"errors"
	"iter"
	"math"
	"math/big"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sandbox/internal/wasmtest"
	"github.com/discreet-dp/discreet/sqltype"
)

type record = []sqltype.Value

func visits(ages ...int64) (units [][]record) {
	for i, age := range ages {
		units = append(units, []record{{age, float64(i)}})
	}
	return units
}

func epsilon(t testing.TB, s string) privacy.Epsilon {
	t.Helper()
	e, err := privacy.ParseEpsilon(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// nearlyNothing is a cost at which noise exceeds 1/100 with probability below e^-70.
func nearlyNothing(t testing.TB) Cost { return Cost{Epsilon: epsilon(t, "1000000")} }

func wallet(t testing.TB, n privacy.Neighbours) budget.Budget {
	t.Helper()
	b, err := budget.NewInMemory("patients", filter.Budget{Measure: filter.Pure, Epsilon: epsilon(t, "1000000"), Neighbours: n})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func loaded(t testing.TB, binary []byte, o Options) *Mapper {
	t.Helper()
	m, err := Load(context.Background(), binary, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m
}

// grouped is the prebuilt mapper that answers a cost under the age's group.
func grouped(t testing.TB) *Mapper {
	t.Helper()
	b, err := os.ReadFile("testdata/c/mapper.wasm")
	if err != nil {
		t.Fatal(err)
	}
	return loaded(t, b, Options{
		Columns: []Column{{"age", sqltype.Of(sqltype.Integer)}, {"cost", sqltype.Of(sqltype.Double)}},
		Keys:    []string{"young", "middle", "old", "oldest"}, Lower: 0, Upper: 64,
	})
}

// The reducers, which call a mapper in parallel, compute what their names say: here without noise
// to speak of.
func TestReducersInParallel(t *testing.T) {
	ctx, bits := context.Background(), noise.System()
	// costs 0..5 under young, middle, middle, oldest, oldest, oldest; the last is clamped
	units := visits(10, 30, 40, 80, 99, 90)
	units = append(units, []record{{int64(90), 1e9}}, []record{{nil, 1.0}})
	job := func() *Job {
		return &Job{Mapper: grouped(t), Units: slices.Values(units), Budget: wallet(t, privacy.AddRemove)}
	}
	near := func(name string, got []Answer, want ...float64) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %v", name, got)
		}
		for i, a := range got {
			if math.Abs(a.Value-want[i]) > 1e-2 || a.Low > a.Value || a.High < a.Value || a.High-a.Low > 1e-1 ||
				a.Key != []string{"young", "middle", "old", "oldest"}[i] {
				t.Errorf("%s: %+v, want %v", name, a, want[i])
			}
		}
	}
	count, err := job().Count(ctx, bits, nearlyNothing(t))
	if err != nil {
		t.Fatal(err)
	}
	near("count", count, 1, 2, 0, 4)
	sum, err := job().Sum(ctx, bits, nearlyNothing(t))
	if err != nil {
		t.Fatal(err)
	}
	near("sum", sum, 0, 3, 0, 3+4+5+64)
	mean, err := job().Mean(ctx, bits, nearlyNothing(t))
	if err != nil {
		t.Fatal(err)
	}
	near("mean", slices.Concat(mean[:2], mean[3:], nil)[:2], 0, 1.5)
	if math.Abs(mean[3].Value-19) > 1e-2 || mean[2].Value != 32 {
		t.Errorf("means %+v", mean[2:])
	}
	bins, err := job().Histogram(ctx, bits, []float64{0, 4, 64}, nearlyNothing(t))
	if err != nil {
		t.Fatal(err)
	}
	var counts []float64
	for _, b := range bins {
		counts = append(counts, b.Value)
	}
	if want := []float64{1, 0, 2, 0, 0, 0, 1, 3}; !slices.Equal(counts, want) || bins[7].Key != "oldest" || bins[7].Lower != 4 || bins[7].Upper != 64 {
		t.Errorf("bins %+v, want %v", bins, want)
	}
	quantiles, err := job().Quantiles(ctx, bits, QuantileOptions{Key: "oldest", Quantiles: []*big.Rat{big.NewRat(3, 8)}, Step: big.NewRat(1, 1), Epsilon: epsilon(t, "100000")})
	if err != nil || len(quantiles) != 1 || quantiles[0] != 4 {
		t.Errorf("quantiles %v, %v", quantiles, err)
	}
	most, err := job().Max(ctx, bits, epsilon(t, "100000"))
	if err != nil || most != "oldest" {
		t.Errorf("max %q, %v", most, err)
	}
}

// What is charged: the outputs of a unit times the largest value, twice that where a
// unit is replaced.
func TestEvents(t *testing.T) {
	module := wasmtest.Module{
		Pages: 1, Max: 1,
		Funcs: []wasmtest.Func{
			{Export: buffers, Results: "i32", Code: "i32.const 0"},
			{Export: mapRecords, Params: "i32", Results: "i32", Code: "i32.const 3"},
		},
		Data: []wasmtest.Data{{At: 0, Bytes: []byte("\x40\x00\x00\x00\x00\x04\x00\x00\x00\x08\x00\x00\x04\x00\x00\x00")}},
	}
	m := loaded(t, module.Bytes(), Options{Columns: []Column{{"x", sqltype.Of(sqltype.Bigint)}}, Lower: -8, Upper: 4, MaxOutputs: 3})
	const steps = 1 << 41 // -8 on the grid on which the sum is: 8 is 2^3, of which Frexp says 4
	for _, test := range []struct {
		n          privacy.Neighbours
		byUnit     bool
		maxRecords int64
		outputs    int64
	}{
		{privacy.AddRemove, false, 0, 3}, {privacy.AddRemove, false, 5, 15}, {privacy.AddRemove, true, 5, 3},
		{privacy.ReplaceOne, false, 5, 30}, {privacy.ReplaceOne, true, 0, 6},
	} {
		j := &Job{Mapper: m, Units: slices.Values[[][]record](nil), ByUnit: test.byUnit, MaxRecords: test.maxRecords}
		for name, want := range map[string]int64{"count": test.outputs, "histogram": test.outputs, "sum": test.outputs * steps} {
			w := &watched{Budget: wallet(t, test.n)}
			j.Budget = w
			var err error
			switch name {
			case "count":
				_, err = j.Count(context.Background(), noise.System(), Cost{Epsilon: epsilon(t, "1/2")})
			case "sum":
				_, err = j.Sum(context.Background(), noise.System(), Cost{Epsilon: epsilon(t, "1/2")})
			case "histogram":
				_, err = j.Histogram(context.Background(), noise.System(), []float64{0, 1}, Cost{Epsilon: epsilon(t, "1/2")})
			}
			if err != nil {
				t.Fatal(err)
			}
			e, ok := w.events[0].(privacy.DiscreteLaplace)
			if !ok || len(w.events) != 1 || e.Sensitivity.Cmp(big.NewRat(want, 1)) != 0 || e.Scale.Cmp(big.NewRat(2*want, 1)) != 0 {
				t.Errorf("%s, %+v: %v, want a sensitivity of %d", name, test, w.events, want)
			}
		}
	}
}

// A watched budget keeps what it was asked for.
type watched struct {
	budget.Budget
	events []privacy.Event
}

func (w *watched) Reserve(ctx context.Context, r budget.Release) (budget.Reservation, error) {
	w.events = append(w.events, r.Events...)
	return w.Budget.Reserve(ctx, r)
}

// hostile answers as many outputs as its record says, with the record's number for
// value and key: what a unit can do at worst.
var hostile = wasmtest.Module{
	Pages: 1, Max: 1, Globals: []int64{0},
	Funcs: []wasmtest.Func{
		{Export: buffers, Results: "i32", Code: "i32.const 0"},
		{Export: mapRecords, Params: "i32", Results: "i32", Locals: "i32 i64", Code: `
			global.get 0 i64.const 1 i64.add global.set 0
			i32.const 64 i64.load global.get 0 i64.mul local.set 2
			loop
				local.get 1 local.get 2 f64.convert_i64_s f64.store offset=2048
				local.get 1 local.get 2 i32.wrap_i64 i32.const 3 i32.rem_u i32.store offset=2056
				local.get 1 i32.const 16 i32.add local.tee 1 i32.const 64 i32.ne br_if 0
			end
			i32.const 64 i64.load i32.wrap_i64 i32.const 7 i32.and`},
	},
	Data: []wasmtest.Data{{At: 0, Bytes: []byte("\x40\x00\x00\x00\x00\x04\x00\x00\x00\x08\x00\x00\x04\x00\x00\x00")}},
}

// Exact counts and sums of neighbours differ by no more than the noise is made for,
// whatever a unit's records and the module do.
func TestSensitivityHolds(t *testing.T) {
	payer := wallet(t, privacy.AddRemove)
	m := loaded(t, hostile.Bytes(), Options{
		Columns: []Column{{"x", sqltype.Of(sqltype.Bigint)}}, Keys: []string{"a", "b"}, Lower: -30, Upper: 50, MaxOutputs: 4,
		Default: []Output{{"a", 50}, {"b", -30}, {"a", 50}},
	})
	g, err := m.gridAround(0, sumBits)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		drawUnit := rapid.SliceOfN(rapid.Map(rapid.Int64Range(-100, 100), func(n int64) record { return record{n} }), 0, 6)
		units := rapid.SliceOfN(drawUnit, 0, 4).Draw(t, "units")
		other := drawUnit.Draw(t, "other")
		j := &Job{Mapper: m, Budget: payer, MaxRecords: rapid.Int64Range(1, 4).Draw(t, "records")}
		if rapid.Bool().Draw(t, "by unit") {
			j.ByUnit, j.MaxRecords = true, rapid.Int64Range(0, 4).Draw(t, "records of a unit")
		}
		exact := func(units [][]record) (counts, totals []*big.Int) {
			j.Units = slices.Values(units)
			all, err := run(ctx, &counting{}, j, func() *sums { return newSums(2, g) })
			if err != nil {
				t.Fatal(err)
			}
			return together(all)
		}
		counts, totals := exact(units)
		moreCounts, moreTotals := exact(append(slices.Clone(units), other))
		outputs, err := j.Outputs()
		if err != nil {
			t.Fatal(err)
		}
		distance := func(a, b []*big.Int) *big.Int {
			d := new(big.Int)
			for i := range a {
				x := new(big.Int).Sub(a[i], b[i])
				d.Add(d, x.Abs(x))
			}
			return d
		}
		if d := distance(counts, moreCounts); d.Cmp(big.NewInt(outputs)) > 0 {
			t.Fatalf("counts differ by %v, the noise is for %d", d, outputs)
		}
		if d, most := distance(totals, moreTotals), new(big.Int).Mul(g.most, big.NewInt(outputs)); d.Cmp(most) > 0 {
			t.Fatalf("sums differ by %v, the noise is for %v", d, most)
		}
		// Nor do workers and the order of the units show.
		slices.Reverse(units)
		again, totalsAgain := exact(units)
		chosen := slices.ContainsFunc(units, func(u []record) bool { return j.MaxRecords > 0 && int64(len(u)) > j.MaxRecords })
		if !chosen && (distance(counts, again).Sign() != 0 || distance(totals, totalsAgain).Sign() != 0) {
			t.Fatal("the order of the units shows")
		}
	})
}

// counting bits are the same in every run, so that the choices of the units that
// neighbours share are coupled: what one more unit at the end draws comes last.
type counting struct{ n uint64 }

func (c *counting) Uint64() (uint64, error) {
	c.n += 0x9e3779b97f4a7c15
	return c.n ^ c.n>>31, nil
}

// Each choice of records is equally likely: 24,000 draws of 2 from 4 records, chi-square
// with 5 degrees of freedom above 55 has a probability below 1.4e-10.
func TestChoiceIsUniform(t *testing.T) {
	records := []record{{int64(0)}, {int64(1)}, {int64(2)}, {int64(3)}}
	hits := map[int64]float64{}
	const n = 24_000
	for range n {
		kept, err := choose(noise.System(), records, 2)
		if err != nil || len(kept) != 2 {
			t.Fatal(kept, err)
		}
		hits[1<<kept[0][0].(int64)|1<<kept[1][0].(int64)]++
	}
	chi := 0.0
	for _, h := range hits {
		chi += (h - n/6) * (h - n/6) / (n / 6)
	}
	if len(hits) != 6 || chi > 55 {
		t.Errorf("chi-square %v of %v", chi, hits)
	}
	if records[0][0] != int64(0) || records[3][0] != int64(3) {
		t.Error("the caller's records were moved")
	}
}

// Nothing is read before it is paid, and what is paid stays.
func TestChargeFirst(t *testing.T) {
	ctx := context.Background()
	poor, err := budget.NewInMemory("patients", filter.Budget{Measure: filter.Pure, Epsilon: epsilon(t, "1")})
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	units := iter.Seq[[][]sqltype.Value](func(yield func([][]sqltype.Value) bool) {
		read++
		yield([]record{{int64(1), 1.0}})
	})
	j := &Job{Mapper: grouped(t), Units: units, Budget: poor}
	if _, err := j.Count(ctx, noise.System(), Cost{Epsilon: epsilon(t, "2")}); !errors.Is(err, budget.ErrExceeded) || read != 0 {
		t.Errorf("%v, read %d times", err, read)
	}
	left := func() string {
		l, err := poor.Left(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return l.Epsilon.String()
	}
	for name, f := range map[string]func() error{
		"no mapper": func() error {
			_, err := (&Job{Units: units, Budget: poor}).Mean(ctx, noise.System(), nearlyNothing(t))
			return err
		},
		"no units": func() error {
			_, err := (&Job{Mapper: j.Mapper, Budget: poor}).Sum(ctx, noise.System(), nearlyNothing(t))
			return err
		},
		"no budget": func() error {
			_, err := (&Job{Mapper: j.Mapper, Units: units}).Max(ctx, noise.System(), epsilon(t, "1"))
			return err
		},
		"no cost": func() error { _, err := j.Count(ctx, noise.System(), Cost{}); return err },
		"two costs": func() error {
			r, _ := privacy.ParseRho("1")
			_, err := j.Count(ctx, noise.System(), Cost{Epsilon: epsilon(t, "1"), Rho: r})
			return err
		},
		"no confidence": func() error {
			_, err := j.Sum(ctx, noise.System(), Cost{Epsilon: epsilon(t, "1"), Confidence: math.NaN()})
			return err
		},
		"no edges": func() error {
			_, err := j.Histogram(ctx, noise.System(), []float64{1}, Cost{Epsilon: epsilon(t, "1")})
			return err
		},
		"edges of NaN": func() error {
			_, err := j.Histogram(ctx, noise.System(), []float64{math.NaN(), 1}, Cost{Epsilon: epsilon(t, "1")})
			return err
		},
		"equal edges": func() error {
			_, err := j.Histogram(ctx, noise.System(), []float64{1, 1}, Cost{Epsilon: epsilon(t, "1")})
			return err
		},
		"unknown key": func() error { _, err := j.Quantiles(ctx, noise.System(), QuantileOptions{Key: "dead"}); return err },
		"no epsilon":  func() error { _, err := j.Max(ctx, noise.System(), privacy.Epsilon{}); return err },
		"negative bound": func() error {
			k := *j
			k.MaxRecords = -1
			_, err := k.Count(ctx, noise.System(), Cost{Epsilon: epsilon(t, "1")})
			return err
		},
		"far too many": func() error {
			k := *j
			k.MaxRecords = 1 << 50
			_, err := k.Mean(ctx, noise.System(), Cost{Epsilon: epsilon(t, "1")})
			return err
		},
		"Gaussian noise ": func() error {
			r, _ := privacy.ParseRho("1/10")
			_, err := j.Mean(ctx, noise.System(), Cost{Rho: r})
			return err
		},
	} {
		err := f()
		if err == nil || read != 0 || left() != "1" {
			t.Errorf("%s: %v, read %d, left %s", name, err, read, left())
		}
		if name != "Gaussian noise " && !errors.Is(err, ErrOptions) && !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := j.Count(ctx, broken{}, Cost{Epsilon: epsilon(t, "1/4")}); !errors.Is(err, errBroken) || left() != "0.75" {
		t.Errorf("%v, left %s", err, left())
	}
	ctx2, cancel := context.WithCancel(ctx)
	j.Units = func(yield func([][]sqltype.Value) bool) {
		cancel()
		yield([]record{{int64(1), 1.0}})
	}
	if _, err := j.Count(ctx2, noise.System(), Cost{Epsilon: epsilon(t, "1/4")}); !errors.Is(err, context.Canceled) || left() != "0.5" {
		t.Errorf("%v, left %s", err, left())
	}
}

var errBroken = errors.New("no more bits")

type broken struct{}

func (broken) Uint64() (uint64, error) { return 0, errBroken }
