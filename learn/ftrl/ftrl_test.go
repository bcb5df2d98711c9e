package ftrl

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/learntest"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// line is a network of one weight and an offset.
func line(t *testing.T) *network.Network {
	t.Helper()
	net, err := network.New(network.Spec{Input: []int{1}, Layers: []network.Layer{{Type: "linear", Width: 1}}, Loss: network.Squared})
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// Weights tell no more of an example than μ = √(2ρ); with half the noise they do. At one
// step the weights are the noisy gradient.
func TestAudit(t *testing.T) {
	set := learntest.Regression([]float32{100}, []float32{0}) // the offset's gradient alone
	none := learntest.Empty(set)
	b := learntest.Purse(t, filter.ZCDP, privacy.AddRemove)
	bound := func(rho string) float64 {
		run := func(set *example.Set) func() bool {
			return func() bool {
				m, err := Train(t.Context(), noise.System(), b, line(t), set, Options{Options: learntest.Concentrated(t, rho), Steps: 1, Rate: 1, Examples: 1})
				if err != nil {
					t.Fatal(err)
				}
				return m.Parameters[1] > 0.5
			}
		}
		return learntest.MuBound(t, 4000, run(set), run(none))
	}
	if mu := bound("0.5"); mu > 1 {
		t.Errorf("at mu 1 it shows %v", mu)
	}
	if mu := bound("2"); mu <= 1 {
		t.Errorf("half the noise shows only %v: the audit sees nothing", mu)
	}
}

// Noise is that of the theorem, for units, passes and the depth of the tree.
func TestCalibration(t *testing.T) {
	set := learntest.Regression([]float32{1}, []float32{1})
	set.Units = []int32{0}
	o := Options{Options: learntest.Concentrated(t, "0.5"), Steps: 33, Passes: 4, Rate: 1, Examples: 10}
	o.PerUnit = 3
	b := learntest.Purse(t, filter.ZCDP, privacy.ReplaceOne)
	tr, err := newTraining(b, line(t), set, o)
	if err != nil {
		t.Fatal(err)
	}
	// 7 nodes on a path, 4 passes, 2·3 examples: σ² = 36·7·4/(2ρ).
	if got, want := tr.node.Deviation(cost.Places), math.Sqrt(36*7*4); math.Abs(got-want) > 1e-6 {
		t.Errorf("deviation %v, want %v", got, want)
	}
	if _, err := Train(t.Context(), noise.System(), b, line(t), set, o); err != nil {
		t.Fatal(err)
	}
	spent, err := b.Spent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if rho, _ := spent.Rho.Rat().Float64(); rho > 0.5 || rho < 0.5*(1-1e-6) {
		t.Errorf("charged %v", rho)
	}
}

// A unit has one step, and every example is in one.
func TestAssign(t *testing.T) {
	set := learntest.Regression(make([]float32, 60), make([][]float32, 60)...)
	set.Units = make([]int32, 60)
	rows := make([]int, 60)
	for i := range rows {
		rows[i], set.Units[i] = i, int32(i/3)
	}
	tr := &training{o: Options{Steps: 5}, set: set}
	steps, err := tr.assign(noise.System(), rows)
	if err != nil {
		t.Fatal(err)
	}
	of, n := map[int32]int{}, 0
	for s, rows := range steps {
		for _, row := range rows {
			n++
			if before, ok := of[set.Units[row]]; ok && before != s {
				t.Errorf("unit %d is in steps %d and %d", set.Units[row], before, s)
			}
			of[set.Units[row]] = s
		}
	}
	if n != 60 || len(of) != 20 {
		t.Errorf("%d examples of %d units", n, len(of))
	}
}

// It is stochastic descent with momentum where there is no noise.
func TestLeaderIsDescent(t *testing.T) {
	w := []float32{3}
	l := newLeader(w, 0.1, 0.5)
	descent, m, sum := 3.0, 0.0, int64(0)
	for step := range 20 {
		g := float64(step%3) - 0.5
		sum += int64(g * cost.One)
		m = 0.5*m + g
		descent -= 0.1 * m
		l.follow([]int64{sum}, []float64{0})
		if math.Abs(float64(w[0])-descent) > 1e-5 {
			t.Fatalf("step %d: %v, want %v", step, w[0], descent)
		}
		if step == 9 {
			l.rest([]int64{sum}, []float64{0})
			sum = 0
		}
	}
}

// Of 40 runs weights were off by 0.036: 0.6 is 16 deviations, of what is a sum of normal noise.
func TestLearns(t *testing.T) {
	var x [][]float32
	var y []float32
	for i := range 4000 {
		a := float32(i%101)/50 - 1
		x, y = append(x, []float32{a}), append(y, 2*a-1)
	}
	set := learntest.Regression(y, x...)
	for _, o := range []Options{{Steps: 64, Passes: 2, Rate: 0.1, Momentum: 0.5}, {Steps: 40, Passes: 3, Rate: 0.3}} {
		o.Options = learntest.Approx(t, "2", "0.00001")
		net := line(t)
		if _, err := Train(t.Context(), noise.System(), learntest.Purse(t, filter.Approx, privacy.AddRemove), net, set, o); err != nil {
			t.Fatal(err)
		}
		if w := net.Parameters(); math.Abs(float64(w[0])-2) > 0.6 || math.Abs(float64(w[1])+1) > 0.6 {
			t.Errorf("%+v: weights %v, want 2 and -1", o, w)
		}
	}
}

func TestRefusals(t *testing.T) {
	set := learntest.Regression([]float32{1}, []float32{1})
	b := learntest.Purse(t, filter.ZCDP, privacy.AddRemove)
	good := Options{Options: learntest.Concentrated(t, "1"), Rate: 1}
	for name, spoil := range map[string]func(*Options){
		"no guarantee": func(o *Options) { o.Options = cost.Options{} },
		"no rate":      func(o *Options) { o.Rate = 0 },
		"NaN rate":     func(o *Options) { o.Rate = math.NaN() },
		"NaN clip":     func(o *Options) { o.Clip = math.NaN() },
		"steps":        func(o *Options) { o.Steps = -1 },
		"momentum":     func(o *Options) { o.Momentum = 1 },
	} {
		o := good
		spoil(&o)
		if _, err := Train(t.Context(), noise.System(), b, line(t), set, o); !errors.Is(err, cost.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wide := learntest.Regression([]float32{1}, []float32{1, 2})
	if _, err := Train(t.Context(), noise.System(), b, line(t), wide, good); !errors.Is(err, cost.ErrParameter) {
		t.Error("a set that does not fit was not refused")
	}
	if _, err := Train(t.Context(), noise.System(), b, nil, set, good); !errors.Is(err, cost.ErrParameter) {
		t.Error("no network was not refused")
	}
}

// Weights are a function of the noisy sum, to the last bit, whatever momentum rounded
// before: what noise hides on the grid no rounding shows.
func TestWeightsAreOfNoisySumsAlone(t *testing.T) {
	of := func(sum int64, noise float64) float64 {
		l := newLeader([]float32{0}, 1, 0.9)
		for range 50 {
			l.follow([]int64{cost.One / 3}, []float64{1.0 / 3})
		}
		l.follow([]int64{sum}, []float64{noise - float64(sum)/cost.One})
		return l.v[0]
	}
	for examples := range int64(200) {
		if a, b := of(0, 1), of(examples*cost.One, 1); a != b {
			t.Fatalf("%d examples show: %v, and %v without", examples, b, a)
		}
	}
}
