package dataset

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

var ctx = context.Background()

func numbers(t testing.TB, b budget.Budget, records ...int64) Dataset[int64] {
	t.Helper()
	d, err := New(noise.System(), records, b)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRecordsAreNotShown(t *testing.T) {
	const secret = 314159
	d := numbers(t, pureBudget("b", privacy.AddRemove), secret)
	var shown bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%s", "%x", "%q", "%p", "%t"} {
		fmt.Fprintf(&shown, verb, d)
		fmt.Fprintf(&shown, verb, &d)
		fmt.Fprintf(&shown, verb, []Dataset[int64]{d})
		fmt.Fprintf(&shown, verb, struct{ D Dataset[int64] }{d})
		fmt.Fprintf(&shown, verb, struct{ d Dataset[int64] }{d}) // fmt asks no method of unexported fields
	}
	log := slog.New(slog.NewJSONHandler(&shown, nil))
	log.Info("d", "d", d, "pointer", &d, "many", []Dataset[int64]{d})
	fmt.Fprint(&shown, d.String(), d.GoString(), errors.New(fmt.Sprint(d)))
	if err := json.NewEncoder(&shown).Encode(d); err == nil {
		t.Error("records are JSON")
	}
	if err := gob.NewEncoder(&shown).Encode(d); err == nil {
		t.Error("records are gob")
	}
	if _, err := d.MarshalText(); err == nil {
		t.Error("records are text")
	}
	for _, form := range []string{"314159", "4cb2f"} {
		if strings.Contains(shown.String(), form) {
			t.Errorf("%s is shown:\n%s", form, &shown)
		}
	}
	for i := range reflect.TypeFor[Dataset[int64]]().NumMethod() {
		m := reflect.TypeFor[Dataset[int64]]().Method(i)
		for o := range m.Type.NumOut() {
			if out := m.Type.Out(o); out.Kind() == reflect.Slice && out.Elem().Kind() == reflect.Int64 {
				t.Errorf("%s returns records", m.Name)
			}
		}
	}
}

// A function that fails on a record gives that record the default, however it fails.
func TestFailingFunctions(t *testing.T) {
	fail := map[string]func(){
		"panic":         func() { panic("secret") },
		"nil panic":     func() { panic(nil) }, //nolint:govet // what a program may do
		"runtime error": func() { var s []int; s[len(s)]++ },
		"Goexit":        runtime.Goexit,
	}
	for name, f := range fail {
		t.Run(name, func(t *testing.T) {
			guarded := func(x int64) int64 {
				if x%2 == 1 {
					f()
				}
				return x
			}
			d := numbers(t, pureBudget("b", privacy.AddRemove), 1, 2, 3, 4, 5)
			for _, c := range []struct{ got, want any }{
				{Where(d, func(x int64) bool { return guarded(x) > 0 }).records(), []int64{2, 4}},
				{Select(d, -1, guarded).records(), []int64{-1, 2, -1, 4, -1}},
				{SelectMany(d, 2, func(x int64) []int64 { return []int64{x, guarded(x)} }).records(), []int64{2, 2, 4, 4}},
				{len(GroupBy(d, guarded).records()), 2},
				{len(Limit(d, 1, guarded).records()), 2},
				{len(Join(d, d, guarded, guarded).records()), 2},
				{len(BoundedJoin(d, d, guarded, guarded, JoinBound{1, 1}).records()), 2},
				{Partition(d, []int64{2, 3}, guarded)[0].records(), []int64{2}},
				{len(Partition(d, []int64{2, 3}, guarded)[1].records()), 0},
				{len(must(NewOfUnits(noise.System(), d.records(), d.stakes[0].budget, guarded, 1)).records()), 2},
			} {
				if !reflect.DeepEqual(c.got, c.want) {
					t.Errorf("got %v, want %v", c.got, c.want)
				}
			}
			c := must(newClamped(SumOptions{Lower: 0, Upper: 8, Default: 7}, 0, sumBits))
			got := c.grid.of(sum(c, d.records(), func(x int64) float64 { return float64(guarded(x)) }))
			if got != 7+2+7+4+7 {
				t.Errorf("the sum is %v", got)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	type good struct {
		A int
		B [2]string
		C bool
	}
	type float struct{ X [1]float64 }
	type blank struct{ _ int }
	for name, err := range map[string]error{
		"int": checkKeys[int](), "string": checkKeys[string](), "struct": checkKeys[good](), "byte array": checkKeys[[4]byte](),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"float64": checkKeys[float64](), "float in struct": checkKeys[float](), "any": checkKeys[any](),
		"pointer": checkKeys[*int](), "complex": checkKeys[complex64](), "channel": checkKeys[chan int](), "blank": checkKeys[blank](),
	} {
		if !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := pureBudget("b", privacy.AddRemove)
	floats := must(New(noise.System(), []float64{0, math.Copysign(0, -1), math.NaN()}, b))
	for _, d := range []Dataset[float64]{Distinct(floats), Union(floats, floats), Limit(floats, 1, func(x float64) float64 { return x })} {
		if _, err := NoisyCount(ctx, noise.System(), d, Options{Epsilon: eps("1")}); !errors.Is(err, ErrParameter) {
			t.Errorf("floats are compared: %v", err)
		}
	}
}

// What cannot be answered is refused with nothing charged, whatever the records are.
func TestRefusalsChargeNothing(t *testing.T) {
	b := pureBudget("b", privacy.AddRemove)
	d := numbers(t, b, 1, 2, 3)
	one := Options{Epsilon: eps("1")}
	f := func(x int64) float64 { return float64(x) }
	self := func(x int64) int64 { return x }
	bits := noise.System()
	count := func(d Dataset[int64], o Options) error { return second(NoisyCount(ctx, bits, d, o)) }
	sumOf := func(o SumOptions) error {
		o.Options = one
		return errors.Join(second(NoisySum(ctx, bits, d, f, o)), second(NoisyAverage(ctx, bits, d, f, o)))
	}
	vector := func(o VectorOptions) error {
		o.Options = one
		return second(NoisyVectorSum(ctx, bits, d, func(int64) []float64 { return nil }, o))
	}
	quantile := func(q float64, o QuantileOptions) error {
		o.Options = one
		return second(NoisyQuantiles(ctx, bits, d, f, []float64{q}, o))
	}
	nan, inf := math.NaN(), math.Inf(1)
	good := QuantileOptions{Lower: 0, Upper: 1, Step: 0.5}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for name, err := range map[string]error{
		"no cost":            count(d, Options{}),
		"two costs":          count(d, Options{Epsilon: eps("1"), Rho: rho("1")}),
		"delta alone":        count(d, Options{Delta: del("1e-6")}),
		"rho with delta":     count(d, Options{Rho: rho("1"), Delta: del("1e-6")}),
		"rho under pure":     count(d, Options{Rho: rho("1")}),
		"confidence 1":       count(d, Options{Epsilon: eps("1"), Confidence: 1}),
		"confidence NaN":     count(d, Options{Epsilon: eps("1"), Confidence: nan}),
		"too much":           count(d, Options{Epsilon: eps("1001")}),
		"context ended":      second(NoisyCount(ended, bits, d, one)),
		"zero dataset":       count(Dataset[int64]{}, one),
		"zero in Concat":     count(Concat(d, Dataset[int64]{}), one),
		"zero grouped":       second(NoisyCount(ctx, bits, GroupBy(Dataset[int64]{}, self), one)),
		"SelectMany of 0":    count(SelectMany(d, 0, func(int64) []int64 { return nil }), one),
		"Take of -1":         count(Take(d, -1), one),
		"Limit of 0":         count(Limit(d, 0, self), one),
		"Distinct up to 0":   count(DistinctUpTo(d, 0), one),
		"join of 0":          second(NoisyCount(ctx, bits, BoundedJoin(d, d, self, self, JoinBound{1, 0}), one)),
		"stability":          count(SelectMany(SelectMany(d, 1<<40, func(int64) []int64 { return nil }), 2, func(int64) []int64 { return nil }), one),
		"no parts":           second(NoisyCount(ctx, bits, Where(Partition(d, []int64{1, 1}, self)[0], func(int64) bool { return true }), one)),
		"equal keys":         second(NoisyHistogram(ctx, bits, d, []int64{1, 1}, self, one)),
		"no keys":            second(NoisyHistogram(ctx, bits, d, nil, self, one)),
		"NaN bound":          sumOf(SumOptions{Lower: nan, Upper: 1}),
		"infinite bound":     sumOf(SumOptions{Lower: 0, Upper: inf}),
		"no bounds":          sumOf(SumOptions{}),
		"bounds reversed":    sumOf(SumOptions{Lower: 2, Upper: 1}),
		"NaN default":        sumOf(SumOptions{Upper: 1, Default: nan}),
		"a tiny bound":       sumOf(SumOptions{Upper: 1e-305}),
		"a huge bound":       sumOf(SumOptions{Upper: 1e300}),
		"dimension 0":        vector(VectorOptions{Clip: 1}),
		"clip 0":             vector(VectorOptions{Dimension: 1}),
		"clip NaN":           vector(VectorOptions{Dimension: 1, Clip: nan}),
		"clip infinite":      vector(VectorOptions{Dimension: 1, Clip: inf}),
		"quantile 0":         quantile(0, good),
		"quantile NaN":       quantile(nan, good),
		"quantile infinite":  quantile(inf, good),
		"no range":           quantile(0.5, QuantileOptions{}),
		"range NaN":          quantile(0.5, QuantileOptions{Lower: nan, Upper: 1, Step: 1}),
		"a median at rho":    second(NoisyMedian(ctx, bits, d, f, QuantileOptions{Options: Options{Rho: rho("1")}, Upper: 1, Step: 1})),
		"no candidates":      second(Choose(ctx, bits, d, nil, func(int64, int) float64 { return 0 }, ScoreOptions{Options: one, Upper: 1})),
		"no range of scores": second(Choose(ctx, bits, d, []int{1}, func(int64, int) float64 { return 0 }, ScoreOptions{Options: one})),
		"NaN scores":         second(Choose(ctx, bits, d, []int{1}, func(int64, int) float64 { return 0 }, ScoreOptions{Options: one, Upper: nan})),
		"order statistic 0":  second(NoisyOrderStatistic(ctx, bits, d, f, 0, QuantileOptions{Options: one, Upper: 1, Step: 1})),
		"order above 2^53":   second(NoisyOrderStatistic(ctx, bits, d, f, 1<<53+1, QuantileOptions{Options: one, Upper: 1, Step: 1})),
		"infinite step":      second(NoisyOrderStatistic(ctx, bits, d, f, 1, QuantileOptions{Options: one, Upper: 1, Step: inf})),
		"no steps":           second(NoisyOrderStatistic(ctx, bits, d, f, 1, QuantileOptions{Options: one, Upper: 1})),
		"too many steps":     second(NoisyOrderStatistic(ctx, bits, d, f, 1, QuantileOptions{Options: one, Upper: 1, Step: 1e-9})),
		"NaN steps":          second(NoisyOrderStatistic(ctx, bits, d, f, 1, QuantileOptions{Options: one, Upper: nan, Step: 1})),
		"infinite range":     second(NoisyOrderStatistic(ctx, bits, d, f, 1, QuantileOptions{Options: one, Lower: -inf, Upper: 1, Step: 1})),
		"no budget":          second(New[int64](bits, nil, nil)),
		"count without bits": second(NoisyCount(ctx, nil, d, one)),
		"median, no bits":    second(NoisyMedian(ctx, nil, d, f, good)),
		"no randomness":      second(New[int64](nil, nil, b)),
		"no records of unit": second(NewOfUnits(bits, d.records(), b, self, 0)),
		"units by float":     second(NewOfUnits(bits, d.records(), b, f, 1)),
		"no reader":          second(ReadLines(nil, JSON[int](), LineOptions[int]{})),
	} {
		if err == nil {
			t.Errorf("%s was admitted", name)
		}
	}
	if got := must(b.Spent(ctx)).Epsilon; got.Sign() != 0 {
		t.Errorf("refusals cost %v", got)
	}
}

func second[T any](_ T, err error) error { return err }

// broken gives no bits.
type broken struct{}

func (broken) Uint64() (uint64, error) { return 0, errors.New("no bits") }

func TestMissingRandomnessFailsClosed(t *testing.T) {
	b := pureBudget("b", privacy.AddRemove)
	d := numbers(t, b, 1, 2, 3)
	a, err := NoisyCount(ctx, broken{}, d, Options{Epsilon: eps("1")})
	if err == nil || a.Value != 0 || a.High != 0 {
		t.Errorf("without bits the answer is %+v", a)
	}
	d.bits = broken{}
	one := func(int64) int64 { return 1 }
	for _, d := range []Dataset[int64]{Take(d, 1), Limit(d, 1, one)} {
		if _, err := NoisyCount(ctx, noise.System(), d, Options{Epsilon: eps("1")}); err == nil {
			t.Error("records are chosen without bits")
		}
	}
	if _, err := NoisyCount(ctx, noise.System(), GroupBy(d, one), Options{Epsilon: eps("1")}); err == nil {
		t.Error("a group has an order without bits")
	}
}

// Sums are exact, and the same in any order.
func TestSumsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := SumOptions{Lower: rapid.Float64Range(-100, 0).Draw(t, "lower"), Upper: rapid.Float64Range(0.5, 100).Draw(t, "upper"), Default: 1}
		values := rapid.SliceOf(rapid.OneOf(rapid.Float64(), rapid.Float64Range(-100, 100), rapid.Just(math.NaN()), rapid.Just(math.Inf(1)))).Draw(t, "values")
		for range rapid.IntRange(0, 2).Draw(t, "more") {
			values = slices.Concat(values, values, values, values, values, values)
		}
		c := must(newClamped(o, 0, sumBits))
		self := func(x float64) float64 { return x }
		total := sum(c, values, self)
		if sum(c, rapid.Permutation(values).Draw(t, "order"), self).Cmp(total) != 0 {
			t.Fatal("the order matters")
		}
		want := new(big.Float).SetPrec(3000)
		for _, x := range values {
			if math.IsNaN(x) {
				x = o.Default
			}
			want.Add(want, new(big.Float).SetFloat64(min(max(x, o.Lower), o.Upper)))
		}
		exact := new(big.Float).SetInt(total)
		exact.SetMantExp(exact, c.grid.exponent)
		off, _ := exact.Sub(want, exact).Float64()
		if size := max(-o.Lower, o.Upper); math.Abs(off) > float64(len(values))*size*0x1p-49 {
			t.Fatalf("the sum is off by %v", off)
		}
		for _, x := range values { // of a neighbour
			if s := c.steps(x); !math.IsNaN(x) && big.NewInt(max(s, -s)).Cmp(c.perRecord) > 0 {
				t.Fatalf("%v moves the sum by %d, more than %v", x, s, c.perRecord)
			}
		}
	})
}

// A clipped vector has at most the norm, whatever rounding did.
func TestClippedVectorsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		norm := rapid.Float64Range(1e-3, 1e3).Draw(t, "norm")
		g := must(gridFor(norm, vectorBits))
		c := newClip(g, norm, rapid.Bool().Draw(t, "L2"))
		v := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-2*norm, 2*norm), rapid.Float64()), 1, 5).Draw(t, "v")
		steps := make([]int64, len(v))
		if !c.steps(v, steps) {
			t.Fatalf("%v is not finite", v)
		}
		sum, limit := new(big.Int), new(big.Int).SetUint64(c.most)
		for i, s := range steps {
			if s != 0 && (s > 0) != (v[i] > 0) {
				t.Fatalf("%v becomes %v", v, steps)
			}
			x := big.NewInt(max(s, -s))
			if c.squared {
				x.Mul(x, x)
			}
			sum.Add(sum, x)
		}
		if c.squared {
			limit.Mul(limit, limit)
		}
		if sum.Cmp(limit) > 0 {
			t.Fatalf("%v becomes %v, with a norm above %d", v, steps, c.most)
		}
	})
	g := must(gridFor(1, vectorBits))
	c, steps := newClip(g, 1, true), make([]int64, 2)
	if !c.steps([]float64{0.6, 0.8}, steps) || math.Abs(float64(steps[0])/float64(c.most)-0.6) > 1e-8 {
		t.Errorf("(0.6, 0.8) becomes %v", steps)
	}
	if !c.steps([]float64{3, 4}, steps) || math.Abs(float64(steps[1])/float64(c.most)-0.8) > 1e-8 {
		t.Errorf("(3, 4) becomes %v", steps)
	}
	if !c.steps([]float64{1e308, -1e308}, steps) || math.Abs(float64(steps[1])/float64(c.most)+math.Sqrt(0.5)) > 1e-8 {
		t.Errorf("(1e308, -1e308) becomes %v", steps)
	}
	if c.steps([]float64{math.NaN(), 1}, steps) || c.steps([]float64{math.Inf(-1), 1}, steps) {
		t.Error("what is not finite has steps")
	}
}

// Lines are records of their own: what becomes of one does not depend on the others.
func TestLines(t *testing.T) {
	file := "name,age\nada,36\n\"bob\",41\r\n\"eve,2\ncarl\nzoe,x\n\nmax," + strings.Repeat("9", 100) + "\n\"a\"\"b\",7"
	type person struct {
		name string
		age  int
	}
	decode := CSV(',', 2, func(f []string) (p person, err error) {
		if p.name = f[0]; p.name == "bob" {
			panic("bob")
		}
		_, err = fmt.Sscanf(f[1], "%d", &p.age)
		return p, err
	})
	got := must(ReadLines(strings.NewReader(file), decode, LineOptions[person]{Skip: 1, MaxLength: 50}))
	if want := []person{{"ada", 36}, {`a"b`, 7}}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	got = must(ReadLines(strings.NewReader(file), decode, LineOptions[person]{Skip: 1, MaxLength: 50, Malformed: &person{name: "?"}}))
	if len(got) != 8 || got[1].name != "?" {
		t.Errorf("got %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.StringMatching(`[12,"\\{}\[\] ]{0,6}`)).Draw(t, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		var want []any
		for _, l := range lines {
			var v any
			if json.Unmarshal([]byte(l), &v) == nil {
				want = append(want, v)
			}
		}
		got := must(ReadLines(strings.NewReader(strings.Join(append(lines, ""), end)), JSON[any](), LineOptions[any]{}))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q: got %v, want %v", lines, got, want)
		}
	})
	failing := errors.New("disk")
	if _, err := ReadLines(failingReader{failing}, decode, LineOptions[person]{}); !errors.Is(err, failing) {
		t.Error(err)
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// A unit has no more records than was said, and others lose none.
func TestUnitsAreBounded(t *testing.T) {
	for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
		records := []int64{10, 11, 12, 13, 20, 30, 31}
		d := must(NewOfUnits(noise.System(), records, pureBudget("b", n), func(x int64) int64 { return x / 10 }, 2))
		times := map[int64]int{}
		for _, x := range d.records() {
			times[x/10]++
		}
		if times[1] != 2 || times[2] != 1 || times[3] != 2 {
			t.Errorf("units have %v records", times)
		}
		u := must(NewUnits(noise.System(), records, pureBudget("b", n), func(x int64) int64 { return x / 10 }))
		if got, want := u.stakes[0].stability, int64(1+int(n)); got != want || len(u.records()) != 3 {
			t.Errorf("under %v there are %d units, with stability %d", n, len(u.records()), got)
		}
		if want := int64(2 + 2*int(n)); d.stakes[0].stability != want {
			t.Errorf("under %v the stability is %d, want %d", n, d.stakes[0].stability, want)
		}
	}
}

// words gives its words one after the other.
type words []uint64

func (w *words) Uint64() (uint64, error) {
	x := (*w)[0]
	*w = (*w)[1:]
	return x, nil
}

// 2^64 is 1 modulo 3: with one word drawn again the rest is fair.
func TestChoicesAreFair(t *testing.T) {
	if x, err := below(&words{0, 5}, 3); x != 2 || err != nil {
		t.Errorf("below 3: %d, %v", x, err)
	}
	if x, err := below(&words{0}, 4); x != 0 || err != nil {
		t.Errorf("below 4: %d, %v", x, err)
	}
}

// What each operator makes of small multisets.
func TestOperators(t *testing.T) {
	b := pureBudget("b", privacy.AddRemove)
	x, y := numbers(t, b, 1, 1, 1, 2, 3), numbers(t, b, 1, 2, 2, 4)
	self := func(x int64) int64 { return x }
	parity := func(x int64) int64 { return x % 2 }
	for name, c := range map[string]struct {
		got  Dataset[int64]
		want []int64
	}{
		"Where":        {Where(x, func(x int64) bool { return x > 1 }), []int64{2, 3}},
		"Select":       {Select(x, 0, func(x int64) int64 { return -x }), []int64{-3, -2, -1, -1, -1}},
		"SelectMany":   {SelectMany(y, 2, func(x int64) []int64 { return []int64{x, 10 * x, 100 * x}[:min(x, 3)] }), []int64{1, 2, 2, 4, 20, 20, 40}},
		"Take":         {Take(x, 9), []int64{1, 1, 1, 2, 3}},
		"Take 0":       {Take(x, 0), nil},
		"Limit":        {Limit(x, 2, self), []int64{1, 1, 2, 3}},
		"Distinct":     {Distinct(x), []int64{1, 2, 3}},
		"DistinctUpTo": {DistinctUpTo(x, 2), []int64{1, 1, 2, 3}},
		"Union":        {Union(x, y), []int64{1, 1, 1, 2, 2, 3, 4}},
		"Intersect":    {Intersect(x, y), []int64{1, 2}},
		"Except":       {Except(x, y), []int64{1, 1, 3}},
		"Concat":       {Concat(x, y), []int64{1, 1, 1, 1, 2, 2, 2, 3, 4}},
		"Partition":    {Partition(x, []int64{0, 1}, parity)[1], []int64{1, 1, 1, 3}},
		"GroupBy":      {Select(GroupBy(x, parity), 0, func(g Group[int64, int64]) int64 { return 10*g.Key + int64(len(g.Records)) }), []int64{1, 14}},
		"Join": {Select(Join(x, y, self, self), 0, func(p Pair[int64, []int64, []int64]) int64 {
			return 100*p.Key + int64(10*len(p.Left)+len(p.Right))
		}), []int64{131, 212}},
		"BoundedJoin": {Select(BoundedJoin(x, y, self, self, JoinBound{2, 3}), 0, func(p Pair[int64, int64, int64]) int64 {
			return 100*p.Key + 10*p.Left + p.Right
		}), []int64{111, 111, 222, 222}},
	} {
		if c.got.err != nil {
			t.Errorf("%s: %v", name, c.got.err)
		}
		if got := slices.Sorted(slices.Values(c.got.records())); !slices.Equal(got, c.want) {
			t.Errorf("%s is %v, want %v", name, got, c.want)
		}
	}
	if got := must(Collect(noise.System(), slices.Values([]int64{1, 2}), b)).records(); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("an iterator gives %v", got)
	}
}
