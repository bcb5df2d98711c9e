package datanode

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// tableOf has a column of numbers and one of texts.
func tableOf(numbers []float64, texts []string) *frame {
	d := must(Table(Numbers("n", numbers), Texts("t", texts)))
	return &d.held().frame
}

// distances returns the L1 distance and the square of the L2 distance.
func distances(x, y []*big.Int) (l1, l2 *big.Rat) {
	sum, squares := new(big.Int), new(big.Int)
	for i := range x {
		d := new(big.Int).Sub(x[i], y[i])
		sum.Add(sum, d.Abs(d))
		squares.Add(squares, new(big.Int).Mul(d, d))
	}
	return new(big.Rat).SetInt(sum), new(big.Rat).SetInt(squares)
}

var testQueries = []Query{
	Count{}, CountWhere{Column: "t", Text: "a"}, CountWhere{Column: "n", Lower: -1, Upper: 2},
	Sum{"n", -1, 3}, Sum{"n", 0.1, 0.3}, Sum{"n", -7, -2}, Sum{"n", -1e-9, 1e9},
	Mean{"n", 0, 5}, Mean{"n", -3, -1},
	Histogram{Column: "t", Categories: []string{"a", "b"}}, Histogram{Column: "n", Edges: []float64{-1, 0, 2, 5}},
	Identity{"n", -1, 2},
}

// Neighbours' integers are never farther apart than the query says; and for every
// query there are neighbours that are as far apart.
func TestSensitivities(t *testing.T) {
	reached := map[string]bool{}
	attempt := func(t rapid.TB, q Query, n privacy.Neighbours, f, g *frame) {
		c, err := q.compile(f.shape(n == privacy.ReplaceOne))
		if errors.Is(err, ErrQuery) {
			return // a mean of nothing
		}
		if err != nil {
			t.Fatal(err)
		}
		l1, l2 := distances(c.exact(f), c.exact(g))
		if l1.Cmp(c.l1) > 0 || l2.Cmp(c.l2squared) > 0 {
			t.Fatalf("%v, %v: distances %v and √%v, not %v and √%v", q, n, l1, l2, c.l1, c.l2squared)
		}
		if l1.Cmp(c.l1) == 0 && l2.Cmp(c.l2squared) == 0 {
			reached[fmt.Sprint(q, n)] = true
		}
	}
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0.3, -1, 2, 5}
	value := rapid.OneOf(rapid.Float64Range(-10, 10), rapid.SampledFrom(odd))
	text := rapid.SampledFrom([]string{"a", "b", "c", ""})
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(value, 1, 5).Draw(t, "numbers")
		texts := rapid.SliceOfN(text, len(numbers), len(numbers)).Draw(t, "texts")
		i := rapid.IntRange(0, len(numbers)-1).Draw(t, "changed")
		f := tableOf(numbers, texts)
		less := tableOf(slices.Delete(slices.Clone(numbers), i, i+1), slices.Delete(slices.Clone(texts), i, i+1))
		numbers[i], texts[i] = value.Draw(t, "number"), text.Draw(t, "text")
		other := tableOf(numbers, texts)
		for _, q := range testQueries {
			if _, ok := q.(Identity); !ok {
				attempt(t, q, privacy.AddRemove, f, less)
				attempt(t, q, privacy.AddRemove, less, f)
			}
			attempt(t, q, privacy.ReplaceOne, f, other)
		}
	})
	for _, x := range odd {
		for _, y := range odd {
			for _, a := range []string{"a", "b"} {
				for _, q := range testQueries {
					if _, ok := q.(Identity); !ok {
						attempt(t, q, privacy.AddRemove, tableOf([]float64{x}, []string{a}), tableOf(nil, nil))
					}
					attempt(t, q, privacy.ReplaceOne, tableOf([]float64{x}, []string{a}), tableOf([]float64{y}, []string{"b"}))
				}
			}
		}
	}
	wide := Query(Sum{"n", -1e-9, 1e9}) // its lower bound is rounded outwards
	for _, q := range testQueries {
		for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
			_, local := q.(Identity)
			_, mean := q.(Mean)
			whole := q == Query(Count{}) && n == privacy.ReplaceOne // the count is public then
			// The centre of a mean may lie half a step off the middle.
			if !reached[fmt.Sprint(q, n)] && !(local && n == privacy.AddRemove) && !whole && !mean && q != wide {
				t.Errorf("%v, %v: no neighbours are as far apart as it says", q, n)
			}
		}
	}
}

// With little noise answers are the query's.
func TestAnswers(t *testing.T) {
	rows := must(Table(Numbers("n", []float64{1, 2, 4, math.NaN(), 100}), Texts("t", []string{"a", "b", "a", "c", "d"})))
	for _, test := range []struct {
		q        Query
		replaced bool
		want     []float64
	}{
		{Count{}, false, []float64{5}},
		{CountWhere{Column: "t", Text: "a"}, false, []float64{2}},
		{CountWhere{Column: "n", Lower: 1, Upper: 2}, false, []float64{2}},
		{Sum{"n", 0, 5}, false, []float64{12}},
		{Sum{"n", 1, 5}, false, []float64{13}}, // what is missing is the nearest to zero
		{Mean{"n", 0, 5}, false, []float64{2.4}},
		{Mean{"n", 0, 5}, true, []float64{2.4}},
		{Mean{"n", 0, 2}, false, []float64{1.4}},
		{Histogram{Column: "t", Categories: []string{"c", "a", "x"}}, false, []float64{1, 2, 0}},
		{Histogram{Column: "n", Edges: []float64{1, 2, 5}}, true, []float64{1, 2}},
		{Identity{"n", 0, 5}, true, []float64{1, 2, 4, 0, 5}},
		{Identity{"", 0, 5}, true, []float64{1, 2, 4, 0, 5}},
		{Function{Values: 2, F: func(r Rows) []float64 { return []float64{float64(r.Len()), r.Numbers("n")[2]} }, Sensitivity: Vouched{Of: "f", L1: rat("1"), Decision: decided}}, false, []float64{5, 4}},
		{Function{Values: 1, F: func(Rows) []float64 { panic("secret") }, Sensitivity: Vouched{Of: "f", L1: rat("1"), Decision: decided}}, false, []float64{0}},
		{Function{Values: 1, F: func(Rows) []float64 { return []float64{math.NaN()} }, Sensitivity: Vouched{Of: "f", L1: rat("1"), Decision: decided}}, false, []float64{0}},
	} {
		neighbours := privacy.AddRemove
		if test.replaced {
			neighbours = privacy.ReplaceOne
		}
		node := testNode(t, neighbours)
		if err := node.Set("t", rows); err != nil {
			t.Fatal(err)
		}
		mechanisms := []Mechanism{Laplace{test.q, eps("1000000")}}
		if f, ok := test.q.(Function); !ok || f.Sensitivity.L2 != nil {
			mechanisms = append(mechanisms, Gaussian{Query: test.q, Rho: rho("1e12")})
		}
		for _, m := range mechanisms {
			if err := node.Configure(ctx, "t", m); err != nil {
				t.Fatal(err)
			}
			a, err := node.Query(ctx, "t")
			if err != nil {
				t.Fatalf("%v: %v", m, err)
			}
			if len(a.Values) != len(test.want) {
				t.Fatalf("%v: %v", m, a)
			}
			for i, w := range test.want { // noise beyond 100 scales has a probability below 1e-40
				if math.Abs(a.Values[i]-w) > 0.002 {
					t.Errorf("%v: %v, want %v", m, a.Values, test.want)
				}
			}
		}
	}
}

func TestBadQueries(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	f := tableOf([]float64{1}, []string{"a"})
	for _, q := range []Query{
		Sum{"t", 0, 1}, Sum{"x", 0, 1}, Sum{"", 0, 1}, Sum{"n", 1, 1}, Sum{"n", 1, 0}, Sum{"n", nan, 1}, Sum{"n", 0, nan}, Sum{"n", 0, inf}, Sum{"n", -inf, 0},
		Sum{"n", -1e300, 1e300}, Sum{"n", 0, 1e-300}, Mean{"n", 0, 0}, Mean{"t", 0, 1}, CountWhere{Column: "x"}, CountWhere{Column: "n", Lower: 1}, CountWhere{Column: "n", Lower: nan, Upper: 1},
		Histogram{Column: "t"}, Histogram{Column: "t", Categories: []string{"a", "a"}}, Histogram{Column: "t", Edges: []float64{1, 2}}, Histogram{Column: "n"},
		Histogram{Column: "n", Edges: []float64{1}}, Histogram{Column: "n", Edges: []float64{1, 1}}, Histogram{Column: "n", Edges: []float64{1, nan}}, Histogram{Column: "n", Categories: []string{"1"}},
		Identity{"t", 0, 1}, Identity{"n", 1, 0},
		Function{Values: 1, F: func(Rows) []float64 { return nil }, Sensitivity: Vouched{Of: "f", Decision: decided}},
		Function{Values: 1, F: func(Rows) []float64 { return nil }, Sensitivity: Vouched{Of: "f", L1: rat("-1"), Decision: decided}},
		Function{Values: 0, F: func(Rows) []float64 { return nil }, Sensitivity: Vouched{Of: "f", L1: rat("1"), Decision: decided}},
		Function{Values: 1, Sensitivity: Vouched{Of: "f", L1: rat("1"), Decision: decided}},
	} {
		for _, replaced := range []bool{false, true} {
			if _, err := q.compile(f.shape(replaced)); !errors.Is(err, ErrQuery) {
				t.Errorf("%v: %v", q, err)
			}
		}
	}
	if _, err := (Identity{"n", 0, 1}).compile(f.shape(false)); !errors.Is(err, ErrQuery) {
		t.Errorf("identity where rows are added: %v", err)
	}
	undeclared := Function{Values: 1, F: func(Rows) []float64 { return []float64{1} }, Sensitivity: Vouched{Of: "f", L1: rat("1")}}
	if _, err := undeclared.compile(f.shape(false)); !errors.Is(err, ErrUndecided) {
		t.Error(err)
	}
	if err := testNode(t, privacy.AddRemove).Configure(ctx, "x", loud(undeclared)); !errors.Is(err, ErrUndecided) {
		t.Error(err)
	}
}

// What a Function's values are rounded to is at most as far apart as it says.
func TestFunctionOnGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.Float64Range(1e-3, 1e3).Draw(t, "sensitivity")
		x := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 3, 3).Draw(t, "x")
		y := slices.Clone(x)
		y[0] += s
		exactly := new(big.Rat).Sub(new(big.Rat).SetFloat64(y[0]), new(big.Rat).SetFloat64(x[0]))
		if exactly.Sign() <= 0 {
			return
		}
		f := func(values []float64) Function {
			return Function{Values: 3, F: func(Rows) []float64 { return values }, Sensitivity: Vouched{Of: "f", L1: exactly, L2: exactly, Decision: decided}}
		}
		c := must(f(x).compile(shape{}))
		l1, l2 := distances(c.exact(&frame{}), must(f(y).compile(shape{})).exact(&frame{}))
		if l1.Cmp(c.l1) > 0 || l2.Cmp(c.l2squared) > 0 {
			t.Fatalf("distances %v and √%v, not %v and √%v", l1, l2, c.l1, c.l2squared)
		}
	})
}

// Numbers of an event that a caller or a reader of answers changes later are not those of the
// definition, nor of what is kept and charged.
func TestDeclaredEventIsACopy(t *testing.T) {
	node := testNode(t, privacy.AddRemove)
	scale := rat("2")
	m := Declared{
		Event:   privacy.Laplace{Scale: scale, Sensitivity: rat("1")},
		Answer:  func(noise.Bits, Rows) ([]float64, error) { return []float64{7}, nil },
		Vouched: Vouched{Of: "mine", Decision: decided},
	}
	if err := node.Configure(ctx, "x", m); err != nil {
		t.Fatal(err)
	}
	want := m.Event.(privacy.Laplace).String()
	for range 3 {
		scale.SetInt64(1000)
		a := must(node.Query(ctx, "x"))
		if got := fmt.Sprint(a.Events[0]); got != want {
			t.Errorf("it reveals %s, want %s", got, want)
		}
		a.Events[0].(privacy.Laplace).Scale.SetInt64(1000)
	}
	// A budget that comes now pays for it.
	b := pureBudget("study", "1")
	if err := node.Configure(ctx, "x", Adaptive{Budget: b}); err != nil {
		t.Fatal(err)
	}
	if left := must(b.Left(ctx)).Epsilon.String(); left != "0.5" {
		t.Errorf("left is %s", left)
	}
}

func TestDeclared(t *testing.T) {
	node := testNode(t, privacy.AddRemove)
	m := Declared{
		Event:   privacy.Pure{Epsilon: eps("0.5")},
		Answer:  func(noise.Bits, Rows) ([]float64, error) { return []float64{7}, nil },
		Vouched: Vouched{Of: "mine", Decision: decided},
	}
	b := pureBudget("study", "1")
	if err := node.Configure(ctx, "x", Adaptive{Budget: b, Mechanism: m}); err != nil {
		t.Fatal(err)
	}
	if a, err := node.Query(ctx, "x"); err != nil || a.Value() != 7 || must(b.Left(ctx)).Epsilon.String() != "0.5" {
		t.Errorf("%v, %v", a, err)
	}
	m.Event = nil
	if err := node.Configure(ctx, "x", Adaptive{Mechanism: m}); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Query(ctx, "x"); !errors.Is(err, ErrNoEvent) {
		t.Error(err)
	}
	m.Event = privacy.Pure{Epsilon: eps("0.1")}
	for _, answer := range []func(noise.Bits, Rows) ([]float64, error){
		func(noise.Bits, Rows) ([]float64, error) { panic("4711") },
		func(noise.Bits, Rows) ([]float64, error) { runtime.Goexit(); return nil, nil },
		func(noise.Bits, Rows) ([]float64, error) { return nil, errors.New("4711") },
	} {
		m.Answer = answer
		if err := node.Configure(ctx, "x", Adaptive{Mechanism: m}); err != nil {
			t.Fatal(err)
		}
		if _, err := node.Query(ctx, "x"); err == nil || slices.Contains([]byte(err.Error()), '7') {
			t.Errorf("the error shows data: %v", err)
		}
	}
	// Only owners declare.
	if err := node.Configure(ctx, "x", Adaptive{}); err != nil {
		t.Fatal(err)
	}
	f := Function{Values: 1, F: func(Rows) []float64 { return []float64{1} }, Sensitivity: Vouched{Of: "f", L1: rat("1"), Decision: decided}}
	// Behind a pointer, or within another type, too.
	type disguised struct{ Function }
	type mine struct{ Laplace }
	for _, m := range []Mechanism{m, &m, Laplace{f, eps("0.1")}, Laplace{&f, eps("0.1")}, &Laplace{f, eps("0.1")}, Laplace{disguised{f}, eps("0.1")},
		mine{Laplace{f, eps("0.1")}}, Subsampled{Mechanism: &Laplace{&f, eps("0.1")}, Rate: rat("1/2")}, Subsampled{Mechanism: Laplace{f, eps("0.1")}, Rate: rat("1/2")}} {
		if _, err := node.QueryWith(ctx, "x", m); !errors.Is(err, ErrNoAccess) {
			t.Errorf("%v: %v", m, err)
		}
	}
	acts := must(node.Acts(ctx))
	if d := acts[0].Declared; len(d) != 1 || d[0].Of != "mine" || d[0].By == "" {
		t.Errorf("%+v", acts[0])
	}
}

func TestDataThatAreRefused(t *testing.T) {
	for _, make := range []func() (Data, error){
		func() (Data, error) { return Matrix(nil) },
		func() (Data, error) { return Matrix([][]float64{{}}) },
		func() (Data, error) { return Matrix([][]float64{{1, 2}, {3}}) },
		func() (Data, error) { return Table() },
		func() (Data, error) { return Table(Column{}) },
		func() (Data, error) { return Table(Numbers("a", nil), Numbers("a", nil)) },
		func() (Data, error) { return Table(Numbers("a", []float64{1}), Texts("b", nil)) },
		func() (Data, error) { return Labeled([][]float64{{1}}, nil) },
		func() (Data, error) { return CatalogTable(nil, "d", "t") },
		func() (Data, error) { return File(context.Background(), "nowhere.csv", FileColumn{Name: "a"}) },
	} {
		if _, err := make(); err == nil {
			t.Error("accepted")
		}
	}
	node := testNode(t, privacy.AddRemove)
	if node.Set("", Number(1)) == nil || node.Set("x", Data{}) == nil {
		t.Error("accepted")
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(path, []byte("name,age,city\nann,30,Bonn\nbob,x,\n\"c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := must(File(context.Background(), path, FileColumn{Name: "age"}, FileColumn{Name: "city", Text: true}))
	f := d.held().frame
	if f.rows < 2 || f.columns[0].numbers[0] != 30 || !math.IsNaN(f.columns[0].numbers[1]) || f.columns[1].texts[0] != "Bonn" || f.columns[1].texts[1] != "" {
		t.Error("the file reads otherwise")
	}
	if _, err := File(context.Background(), path, FileColumn{Name: "wage"}); err == nil {
		t.Error("a column that is not there")
	}
}
