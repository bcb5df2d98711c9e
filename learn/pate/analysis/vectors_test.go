package analysis

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// testdata/pate.json holds values of the reference implementations (tensorflow/privacy
// at 03035d5, the Gaussian ones computed anew with mpmath at 120 digits); each vector
// names its source.
type vector struct {
	ID, Function string
	Params       struct {
		Counts, Votes, Orders             []float64
		Rows                              string
		RDP                               []float64
		Gamma                             float64 `json:"noise_eps"`
		Lmbd, Logq, Sigma, Sigma1, Sigma2 float64
		Q                                 float64
		Eps                               float64 `json:"priv_eps"`
		Pure                              float64 `json:"pure_eps"`
		T, Threshold, L, Order, Delta     float64
		K, Moments, Queries               int
		Asked, Answered                   float64
		Teachers                          int `json:"num_teachers"`
	}
	Expected  json.RawMessage
	Tolerance struct{ Rel float64 }
}

// UnmarshalJSON tells the parameter orders, which one vector has as text, apart.
func (v *vector) UnmarshalJSON(data []byte) error {
	type plain vector
	var p plain
	text := string(data)
	if strings.Contains(text, "concat(") {
		text = strings.ReplaceAll(text, `"orders"`, `"default orders"`)
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	*v = vector(p)
	return nil
}

// table reads rows such as "20 x [70,20,10] + 5 x [45,40,0*8]".
func table(t *testing.T, text string) *Votes {
	t.Helper()
	v := &Votes{}
	for part := range strings.SplitSeq(text, " + ") {
		var row []int32
		count, list, _ := strings.Cut(part, " x ")
		for word := range strings.SplitSeq(strings.Trim(list, "[]"), ",") {
			number, times, has := strings.Cut(word, "*")
			n := 1
			if has {
				n = whole(t, times)
			}
			for range n {
				row = append(row, int32(whole(t, number)))
			}
		}
		for range whole(t, count) {
			v.Counts = append(v.Counts, row...)
		}
		v.Classes = len(row)
	}
	return v
}

func whole(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// twister is the generator of numpy.random.RandomState, MT19937, so that a vector's
// recipe can be followed.
type twister struct {
	state [624]uint32
	next  int
}

func newTwister(seed uint32) *twister {
	m := &twister{next: 624}
	m.state[0] = seed
	for i := 1; i < 624; i++ {
		m.state[i] = 1812433253*(m.state[i-1]^m.state[i-1]>>30) + uint32(i)
	}
	return m
}

func (m *twister) word() uint32 {
	if m.next == 624 {
		for i := range m.state {
			y := m.state[i]&0x80000000 | m.state[(i+1)%624]&0x7fffffff
			m.state[i] = m.state[(i+397)%624] ^ y>>1 ^ y&1*0x9908b0df
		}
		m.next = 0
	}
	y := m.state[m.next]
	m.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (m *twister) below(n int) int {
	a, b := m.word()>>5, m.word()>>6
	return int((float64(a)*67108864 + float64(b)) / 9007199254740992 * float64(n))
}

// syftVotes follow the recipe of the vector syft_defect.
func syftVotes() (v *Votes, labels []int) {
	const teachers, queries = 100, 50
	m := newTwister(0)
	v = &Votes{Classes: 10, Counts: make([]int32, queries*10)}
	for range teachers {
		for q := range queries {
			class := m.below(10)
			if q < 10 {
				class = 0
			}
			v.Row(q)[class]++
		}
	}
	for range queries {
		labels = append(labels, m.below(10))
	}
	return v, labels
}

func analyze(t *testing.T, v *Votes, o Options) *Result {
	t.Helper()
	r, err := Analyze(v, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// compute returns what this package says to a vector, in the form of its expectation.
func (v *vector) compute(t *testing.T) any {
	p := &v.Params
	rdp := func(f func(order float64) float64) (all []float64) {
		for _, order := range p.Orders {
			all = append(all, f(order))
		}
		return all
	}
	threshold := Threshold{p.Threshold, p.Sigma1}
	if p.T > 0 {
		threshold.At = p.T
	}
	name, _, _ := strings.Cut(v.Function, " (")
	switch name {
	case "lnmax_q":
		return math.Exp(LNMax{p.Gamma}.LogQ(p.Counts))
	case "compute_logq_laplace":
		return LNMax{1 / p.Lmbd}.LogQ(p.Counts)
	case "logmgf_from_counts":
		m := LNMax{p.Gamma}
		return m.Moment(m.LogQ(p.Counts), p.L)
	case "logmgf_exact(q=1)":
		return pure{p.Eps}.Moment(math.Log(p.Q), p.L)
	case "rdp_pure_eps":
		return rdp(func(order float64) float64 { return pure{p.Pure}.RDP(p.Logq, order) })
	case "sens_at_k":
		return LNMax{p.Gamma}.laplaceMomentSensitivity(p.Counts, p.L, p.K)
	case "perform_analysis":
		r := analyze(t, table(t, p.Rows), Options{LNMax: &LNMax{p.Gamma}, Delta: p.Delta, Orders: steps(nil, 1, float64(p.Moments), 1)})
		return map[string]any{"data_dep": r.Dependent.Epsilon, "dep_order": r.Dependent.Order,
			"data_ind": r.Independent.Epsilon, "ind_order": r.Independent.Order}
	case "data-independent eps":
		v := &Votes{Classes: 2, Counts: make([]int32, 2*p.Queries)}
		return analyze(t, v, Options{LNMax: &LNMax{p.Gamma}, Delta: p.Delta, Orders: steps(nil, 1, float64(p.Moments), 1)}).Independent.Epsilon
	case "PySyft perform_analysis: labels passed as `indices` versus row numbers":
		votes, labels := syftVotes()
		o := Options{LNMax: &LNMax{p.Gamma}, Delta: p.Delta, Orders: steps(nil, 1, float64(p.Moments), 1)}
		right, wrong := analyze(t, votes, o), analyze(t, votes.Rows(labels), o)
		return map[string]any{"with_row_numbers": map[string]any{"dep": right.Dependent.Epsilon, "ind": right.Independent.Epsilon},
			"with_labels_as_indices": map[string]any{"dep": wrong.Dependent.Epsilon, "ind": wrong.Independent.Epsilon}}
	case "compute_logq_gaussian":
		return GNMax{p.Sigma}.LogQ(p.Counts)
	case "rdp_gaussian":
		return rdp(func(order float64) float64 { return GNMax{p.Sigma}.RDP(p.Logq, order) })
	case "rdp_data_independent_gaussian":
		return rdp(GNMax{p.Sigma}.IndependentRDP)
	case "compute_eps_from_delta":
		b := Epsilon(p.Orders, p.RDP, p.Delta)
		return []float64{b.Epsilon, b.Order}
	case "compute_logpr_answered + compute_rdp_threshold":
		log := threshold.LogAnswered(p.Counts)
		return map[string]any{"log_pr_answered": log, "rdp": rdp(func(order float64) float64 { return threshold.RDP(log, order) })}
	case "Confident-GNMax expected eps, data dependent":
		r := analyze(t, table(t, p.Rows), Options{GNMax: &GNMax{p.Sigma2}, Threshold: &threshold, Delta: p.Delta})
		return map[string]any{"expected_answered": r.Answered, "eps": r.Dependent.Epsilon, "order": r.Dependent.Order}
	case "data-independent eps, 640 asked 286 answered":
		o := Options{GNMax: &GNMax{p.Sigma2}, Threshold: &threshold, Delta: p.Delta, Answered: make([]bool, int(p.Asked))}
		for i := range int(p.Answered) {
			o.Answered[i] = true
		}
		r := analyze(t, &Votes{Classes: 2, Counts: make([]int32, 2*int(p.Asked))}, o)
		return map[string]any{"eps": r.Independent.Epsilon, "order": r.Independent.Order}
	case "compute_local_sensitivity_bounds_gnmax":
		s, err := NewGNMaxSensitivity(p.Sigma, len(p.Votes), p.Order)
		if err != nil {
			t.Fatal(err)
		}
		bounds := s.bounds(p.Votes, p.Teachers)
		if p.Teachers < 1000 {
			return bounds
		}
		zeros := slices.IndexFunc(bounds, func(x float64) bool { return x != 0 })
		flat := slices.Index(bounds, bounds[len(bounds)-1])
		return map[string]any{"zeros": float64(zeros), "then": bounds[zeros:flat], "plateau": bounds[flat], "plateau_count": float64(len(bounds) - flat)}
	case "compute_local_sensitivity_bounds_threshold":
		return newThresholdSensitivity(Threshold{p.Threshold, p.Sigma}, p.Order, p.Teachers).bounds(p.Counts)
	case "compute_logq0_gnmax":
		s, err := NewGNMaxSensitivity(p.Sigma, 10, p.Order)
		if err != nil {
			t.Fatal(err)
		}
		return s.LogQ0()
	case "logmgf outside the theorem's range q<=1/(e^eps+1)":
		// The vector's third number is what a bound beyond its range says.
		return map[string]any{"proven_bound": pure{p.Eps}.Moment(math.Log(p.Q), p.L), "limit_q": math.Exp(pure{p.Eps}.Limit())}
	}
	t.Fatalf("no function %q", name)
	return nil
}

func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/pate.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) != 30 {
		t.Errorf("%d vectors", len(vectors))
	}
	for _, v := range vectors {
		t.Run(v.ID, func(t *testing.T) {
			var want any
			if err := json.Unmarshal(v.Expected, &want); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(v.compute(t))
			if err != nil {
				t.Fatal(err)
			}
			var got any
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if bad := differs(got, want, v.Tolerance.Rel); bad != "" {
				t.Errorf("%s\ngot  %s\nwant %s", bad, text, v.Expected)
			}
		})
	}
}

// differs compares numbers within a relative tolerance, and lists and objects by what
// they hold; an object may be without what the expectation has on other programs.
func differs(got, want any, rel float64) string {
	switch want := want.(type) {
	case float64:
		if g, ok := got.(float64); !ok || !(math.Abs(g-want) <= rel*math.Abs(want)) {
			return fmt.Sprintf("%v is not %v", got, want)
		}
	case []any:
		g, _ := got.([]any)
		if g == nil && len(want) == 1 {
			g = []any{got}
		}
		if len(g) != len(want) {
			return fmt.Sprintf("%d numbers, not %d", len(g), len(want))
		}
		for i := range want {
			if bad := differs(g[i], want[i], rel); bad != "" {
				return fmt.Sprintf("[%d] %s", i, bad)
			}
		}
	case map[string]any:
		g, _ := got.(map[string]any)
		for k := range want {
			if k == "pate_2017_code" {
				continue
			}
			if bad := differs(g[k], want[k], rel); bad != "" {
				return k + ": " + bad
			}
		}
	}
	return ""
}
