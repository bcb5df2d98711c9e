package kmeans

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/fixed"
	"github.com/discreet-dp/discreet/learn/internal/learntest"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// One point more moves counts and sums by no more than the theorem says, whatever the
// centers.
func TestSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(1, 20).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "d")
		set := &example.Set{Width: d, Features: rapid.SliceOfN(rapid.Float32Range(-9, 9), n*d, n*d).Draw(t, "points")}
		rows := make([]int, n)
		for i := range rows {
			rows[i] = i
		}
		m := &Model{Norm: 3}
		for range rapid.IntRange(1, 4).Draw(t, "k") {
			m.Centers = append(m.Centers, rapid.SliceOfN(rapid.Float64Range(-3, 3), d, d).Draw(t, "center"))
		}
		c1, s1 := m.parts(fixed.Clip(set, rows, 3, false))
		c0, s0 := m.parts(fixed.Clip(set, rows[1:], 3, false))
		counts, l1, l2 := int64(0), int64(0), int64(0)
		for c := range c1 {
			counts += max(c1[c]-c0[c], c0[c]-c1[c])
		}
		for j := range s1 {
			x := s1[j] - s0[j]
			l1 += max(x, -x)
			l2 += x * x
		}
		sum1, squares1 := totals(fixed.Clip(set, rows, 3, false))
		sum0, squares0 := totals(fixed.Clip(set, rows[1:], 3, false))
		for name, moved := range map[string]struct {
			s    cost.Sensitivity
			a, b []int64
		}{"sum": {point(d), sum1, sum0}, "squares": {squared(), squares1, squares0}} {
			l1, l2 := new(big.Int), new(big.Int)
			for j := range moved.a {
				x := big.NewInt(moved.a[j] - moved.b[j])
				l1.Add(l1, new(big.Int).Abs(x))
				l2.Add(l2, x.Mul(x, x))
			}
			if moved.s.L1.Cmp(new(big.Rat).SetInt(l1)) < 0 || moved.s.L2Squared.Cmp(new(big.Rat).SetInt(l2)) < 0 {
				t.Fatalf("the %s of all points moved by %v and the root of %v", name, l1, l2)
			}
		}
		s := point(d)
		if counts != 1 || s.L1.Cmp(big.NewRat(l1, 1)) < 0 || s.L2Squared.Cmp(big.NewRat(l2, 1)) < 0 {
			t.Fatalf("counts moved by %d, sums by %d and the root of %d", counts, l1, l2)
		}
	})
}

// A round's sums hide a point; with half the noise they do not.
func TestAudit(t *testing.T) {
	one := learntest.Labelled(2, []int32{0}, []float32{1})
	none := learntest.Empty(one)
	b := learntest.Purse(t, filter.Pure, privacy.AddRemove)
	bound := func(epsilon string) float64 {
		run := func(set *example.Set) func() bool {
			tr, err := newTraining(b, set, Options{Options: learntest.Pure(t, epsilon), Clusters: 1, Norm: 1, Rounds: 1, Centers: [][]float64{{0}}})
			if err != nil {
				t.Fatal(err)
			}
			return func() bool {
				m := &Model{Norm: 1, Centers: [][]float64{{0}}}
				_, sums := m.parts(fixed.Clip(set, tr.plan.Rows(false), 1, false))
				noisy, err := tr.sums.Add(noise.System(), sums, fixed.Places)
				if err != nil {
					t.Fatal(err)
				}
				return noisy[0] > 1
			}
		}
		return learntest.EpsilonBound(t, 6000, 0, run(one), run(none))
	}
	// Sums have half of epsilon in one dimension.
	if e := bound("2"); e > 1 {
		t.Errorf("sums at half of epsilon 2 show %v", e)
	}
	if e := bound("4"); e <= 1 {
		t.Errorf("half the noise shows only %v: the audit sees nothing", e)
	}
}

// A center's two coordinates are off by normal numbers of deviation 0.024 (40 runs: 0.03 away on average), so that one is 0.3
// away with probability exp(-0.3²/(2·0.024²)) < 1e-30.
func TestFindsClusters(t *testing.T) {
	want := [][]float64{{2, 2}, {-2, 1}, {0, -2.5}}
	var x [][]float32
	for i := range 6000 {
		c := want[i%3]
		x = append(x, []float32{float32(c[0] + 0.3*math.Sin(float64(i))), float32(c[1] + 0.3*math.Cos(float64(7*i)))})
	}
	set := learntest.Labelled(2, nil, x...)
	for _, guarantee := range []cost.Options{learntest.Pure(t, "2"), learntest.Approx(t, "1", "0.00001")} {
		b := learntest.Purse(t, filter.Approx, privacy.AddRemove)
		m, err := Train(t.Context(), noise.System(), b, set, Options{Options: guarantee, Clusters: 3, Norm: 3.5, Centers: [][]float64{{1, 0}, {-1, 0}, {0, -1}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range want {
			if near := m.Centers[m.Cluster([]float32{float32(c[0]), float32(c[1])})]; math.Hypot(near[0]-c[0], near[1]-c[1]) > 0.3 {
				t.Errorf("no center near %v: %v", c, m.Centers)
			}
		}
		spent, err := b.Spent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, _ := spent.Epsilon.Rat().Float64()
		if asked, _ := guarantee.Epsilon.Rat().Float64(); got > asked || got < asked*(1-1e-6) {
			t.Errorf("charged %v", got)
		}
	}
}

// First centers are in the ball, apart, and the given ones are left as they are.
func TestFirstCenters(t *testing.T) {
	set := learntest.Labelled(2, nil, []float32{1, 1, 1})
	given := [][]float64{{0, 0, 0}, {1, 0, 0}}
	for _, centers := range [][][]float64{nil, given} {
		m, err := Train(t.Context(), noise.System(), learntest.Purse(t, filter.Pure, privacy.AddRemove), set, Options{Options: learntest.Pure(t, "1"), Clusters: 2, Norm: 5, Centers: centers})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range m.Centers {
			if r := math.Hypot(math.Hypot(c[0], c[1]), c[2]); r > 5*(1+1e-9) {
				t.Errorf("a center at %v", c)
			}
		}
	}
	if given[0][0] != 0 || given[1][0] != 1 {
		t.Errorf("given centers became %v", given)
	}
}

func TestRefusals(t *testing.T) {
	set := learntest.Labelled(2, nil, []float32{1})
	b := learntest.Purse(t, filter.Pure, privacy.AddRemove)
	good := Options{Options: learntest.Pure(t, "1"), Clusters: 2, Norm: 1}
	for name, spoil := range map[string]func(*Options){
		"no guarantee":   func(o *Options) { o.Options = cost.Options{} },
		"no clusters":    func(o *Options) { o.Clusters = 0 },
		"a NaN norm":     func(o *Options) { o.Norm = math.NaN() },
		"rounds":         func(o *Options) { o.Rounds = -1 },
		"a lower bound":  func(o *Options) { o.Lower = []float64{0} },
		"crossed bounds": func(o *Options) { o.Lower, o.Upper = []float64{1}, []float64{0} },
		"NaN bounds":     func(o *Options) { o.Lower, o.Upper = []float64{math.NaN()}, []float64{0} },
		"few centers":    func(o *Options) { o.Centers = [][]float64{{1}} },
		"narrow centers": func(o *Options) { o.Centers = [][]float64{{}, {1}} },
		"NaN centers":    func(o *Options) { o.Centers = [][]float64{{1}, {math.NaN()}} },
	} {
		o := good
		spoil(&o)
		if _, err := Train(t.Context(), noise.System(), b, set, o); !errors.Is(err, cost.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCalibration(t *testing.T) {
	set := learntest.Labelled(2, nil, []float32{1, 1, 1, 1})
	tr, err := newTraining(learntest.Purse(t, filter.ZCDP, privacy.ReplaceOne), set, Options{Options: learntest.Concentrated(t, "0.3"), Clusters: 2, Norm: 1, Rounds: 3})
	if err != nil {
		t.Fatal(err)
	}
	// A tenth of ρ for first centers, a third of the rest for counts, in three rounds;
	// replacement doubles distances.
	if got, want := tr.moments.squares.Deviation(2*fixed.Places), 2*math.Sqrt(1/(2*0.3/25)); math.Abs(got-want) > 1e-6 {
		t.Errorf("deviation %v of squares, want %v", got, want)
	}
	if got, want := tr.counts.Deviation(0), 2*math.Sqrt(3/(2*0.09)); math.Abs(got-want) > 1e-6 {
		t.Errorf("deviation %v of counts, want %v", got, want)
	}
	if got, want := tr.sums.Deviation(fixed.Places), 2*math.Sqrt(3/(2*0.18)); math.Abs(got-want) > 1e-6 {
		t.Errorf("deviation %v of sums, want %v", got, want)
	}
}
