package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/learn/pate/internal/tail"
)

// GNMaxSensitivity bounds how far the divergence of order Order that GNMax with Sigma
// has, by q, may be between neighbours near given votes.
//
// What may be published is the function β of ln q: Theorem 6 below ln q0, and
// Proposition 8 from there on, where q0 is the largest q at which the former is proved
// and no worse. With m classes one teacher moves q at most to
//
//	B_U(q) = (m−1)/2·erfc(erfcinv(2q/(m−1)) − 1/σ), and no lower than B_L, with + 1/σ
//
// (Papernot et al. 2018, Proposition 11: every gap changes by 2 at most, and Jensen).
// Where another class comes to lead, a gap was 1 at most, and q above q0, before and
// after. Then (Proposition 13), if
//
//	C5: β does not fall as q rises to q0,
//	C6: β(B_U(q)) − β(q) does not fall as q rises to q1 = B_L(q0),
//
// the larger of β(B_U(q))−β(q) and β(q)−β(B_L(q)), at q1 instead of any q between q1
// and q0, bounds the local sensitivity (Algorithm 3); and so the votes at distance d
// with q as near to [q1, q0] as may be have the largest one (Algorithms 4 and 5).
//
// Whether C5 and C6 hold is for Check to prove, for each Sigma, Classes and Order.
type GNMaxSensitivity struct {
	Sigma   float64
	Classes int
	Order   float64

	logq0, logq1 float64
	plateau      float64 // of the local sensitivity, between q1 and q0
}

// NewGNMaxSensitivity finds q0 and q1.
func NewGNMaxSensitivity(sigma float64, classes int, order float64) (*GNMaxSensitivity, error) {
	switch {
	case !(sigma > 0) || math.IsInf(sigma, 1):
		return nil, fmt.Errorf("sigma %g must be above 0", sigma)
	case classes < 2:
		return nil, fmt.Errorf("%d classes; want two or more", classes)
	case !(order > 1) || math.IsInf(order, 1):
		return nil, fmt.Errorf("order %g must be above 1", order)
	}
	s := &GNMaxSensitivity{Sigma: sigma, Classes: classes, Order: order}
	if err := s.findLogQ0(); err != nil {
		return nil, err
	}
	s.logq1 = s.down(s.logq0)
	// The second of the two is the larger one only where C6 fails.
	s.plateau = max(s.independent()-s.rdp(s.logq1), s.rdp(s.logq1)-s.rdp(s.down(s.logq1)))
	return s, nil
}

func (s *GNMaxSensitivity) independent() float64 { return GNMax{s.Sigma}.IndependentRDP(s.Order) }

// findLogQ0 finds ln q0. Below the upper end that is tried q satisfies, with
// µ2 > 1+σ: µ1 >= α, a gap of two votes or more, and −ln q > ε2.
func (s *GNMaxSensitivity) findLogQ0() error {
	g := GNMax{s.Sigma}
	hi := -max(square(1+1/s.Sigma), square((s.Order-0.99)/s.Sigma))
	gain := func(logq float64) (float64, bool) {
		k := g.known(logq)
		return k.at(s.Order-1)/(s.Order-1) - s.independent(), s.Order < k.limit
	}
	d, proved := gain(hi)
	if !proved {
		return fmt.Errorf("sigma %g, order %g: Theorem 6 does not reach the q from which it could be published", s.Sigma, s.Order)
	}
	if d < 0 {
		s.logq0 = hi
		return nil
	}
	lo := 2 * hi
	for {
		if d, proved = gain(lo); d <= 0 || !proved {
			break
		}
		if lo < -1e12 {
			return fmt.Errorf("sigma %g, order %g: votes never make a difference", s.Sigma, s.Order)
		}
		lo *= 1.5
	}
	if !proved {
		return fmt.Errorf("sigma %g, order %g: Theorem 6 does not reach the q from which it could be published", s.Sigma, s.Order)
	}
	for range 200 { // bisection, to the last bit
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if d, proved = gain(mid); d <= 0 && proved {
			lo = mid
		} else {
			hi = mid
		}
	}
	s.logq0 = lo
	return nil
}

func square(x float64) float64 { return x * x }

// LogQ0 returns ln q0.
func (s *GNMaxSensitivity) LogQ0() float64 { return s.logq0 }

// RDP returns β: what may be published.
func (s *GNMaxSensitivity) RDP(logq float64) float64 {
	if logq >= s.logq0 {
		return s.independent()
	}
	return s.rdp(logq)
}

// rdp is Theorem 6, and Proposition 8 where it does not apply: then C5 fails.
func (s *GNMaxSensitivity) rdp(logq float64) float64 {
	k := GNMax{s.Sigma}.known(logq)
	if s.Order >= k.limit {
		return s.independent()
	}
	return max(0, k.at(s.Order-1)/(s.Order-1))
}

// moved returns ln of (m−1)/2·erfc(erfcinv(2q/(m−1)) + by).
func (s *GNMaxSensitivity) moved(logq, by float64) float64 {
	half := math.Log(float64(s.Classes-1) / 2)
	return half + tail.LogErfc(tail.InverseLogErfc(logq-half)+by)
}

// down returns ln B_L(q), up ln B_U(q).
func (s *GNMaxSensitivity) down(logq float64) float64 { return s.moved(logq, 1/s.Sigma) }
func (s *GNMaxSensitivity) up(logq float64) float64   { return min(0, s.moved(logq, -1/s.Sigma)) }

// rise returns β(B_U(q)) − β(q), for q up to q0.
func (s *GNMaxSensitivity) rise(logq float64) float64 {
	if logq >= s.logq1 { // B_U(q1) is q0 exactly; rounding would miss it
		return s.independent() - s.rdp(logq)
	}
	return s.RDP(s.up(logq)) - s.rdp(logq)
}

// value is Algorithm 3: a bound of the local sensitivity of β at q.
func (s *GNMaxSensitivity) value(logq float64) float64 {
	switch {
	case s.logq1 <= logq && logq <= s.logq0:
		return s.plateau
	case logq < s.logq1:
		return max(s.rise(logq), s.rdp(logq)-s.rdp(s.down(logq)), 0)
	}
	return max(s.independent()-s.RDP(s.down(logq)), 0)
}

// bounds are Algorithms 4 and 5: a bound of the local sensitivity at the distances 0
// to teachers−1 from given votes. They never fall.
func (s *GNMaxSensitivity) bounds(votes []float64, teachers int) []float64 {
	g := GNMax{s.Sigma}
	bounds := make([]float64, teachers)
	for d := range bounds {
		bounds[d] = s.plateau
	}
	logq := g.LogQ(votes)
	if teachers == 0 || s.logq1 <= logq && logq <= s.logq0 {
		return bounds
	}
	votes = slices.Clone(votes)
	slices.SortFunc(votes, func(a, b float64) int { return cmp.Compare(b, a) })
	bounds[0] = s.value(logq)
	left := logq > s.logq0
	for d := 1; d < teachers; d++ {
		if left && !(logq > s.logq0 && votes[1] > 0) || !left && logq >= s.logq1 {
			break
		}
		if left { // a vote for the leader, from the runner-up: q falls fastest
			votes[0]++
			votes[1]--
			for i := 1; i+1 < len(votes) && votes[i] < votes[i+1]; i++ {
				votes[i], votes[i+1] = votes[i+1], votes[i]
			}
		} else { // q rises fastest
			votes[0]--
			votes[1]++
		}
		logq = g.LogQ(votes)
		bounds[d] = s.value(logq)
	}
	return bounds
}

// thresholdSensitivity bounds how far the divergence of the test may be between
// neighbours near given votes.
type thresholdSensitivity struct {
	Threshold
	Order    float64
	Teachers int
	steps    []float64 // by the largest count: the largest change that one vote makes
}

// newThresholdSensitivity computes the divergence at every largest count.
func newThresholdSensitivity(t Threshold, order float64, teachers int) *thresholdSensitivity {
	s := &thresholdSensitivity{t, order, teachers, make([]float64, teachers+1)}
	rdp := make([]float64, teachers+1)
	for v := range rdp {
		b := t.known(float64(v))
		rdp[v] = b.rdp(order, t.IndependentRDP(order))
	}
	for v := range s.steps {
		if v > 0 {
			s.steps[v] = math.Abs(rdp[v] - rdp[v-1])
		}
		if v < teachers {
			s.steps[v] = max(s.steps[v], math.Abs(rdp[v+1]-rdp[v]))
		}
	}
	return s
}

// at returns the local sensitivity at votes whose largest count is d away.
func (s *thresholdSensitivity) at(largest, d int) float64 {
	up, down := 0.0, 0.0
	if largest+d <= s.Teachers && largest+d >= 0 {
		up = s.steps[largest+d]
	}
	if largest-d >= 0 && largest-d <= s.Teachers {
		down = s.steps[largest-d]
	}
	return max(up, down)
}

// bounds returns the local sensitivity at exactly the distances 0 to teachers−1, as
// the published code does. They rise and fall: in a sum over queries the votes of one
// may be nearer than d, and Envelope must be taken first.
func (s *thresholdSensitivity) bounds(votes []float64) []float64 {
	largest := int(math.RoundToEven(votes[best(votes)]))
	bounds := make([]float64, s.Teachers)
	for d := range min(max(largest, s.Teachers-largest), s.Teachers) {
		bounds[d] = s.at(largest, d)
	}
	return bounds
}

// envelope makes of local sensitivities at exact distances those at distances up to d.
func envelope(bounds []float64) []float64 {
	out := slices.Clone(bounds)
	for d := 1; d < len(out); d++ {
		out[d] = max(out[d], out[d-1])
	}
	return out
}

// Smooth returns the β-smooth sensitivity max_d e^(−βd)·LS(d) (Nissim, Raskhodnikova
// and Smith 2007).
func Smooth(beta float64, bounds []float64) (most float64) {
	for d, b := range bounds {
		most = max(most, math.Exp(-beta*float64(d))*b)
	}
	return most
}

// laplaceMomentSensitivity is what the code of 2017 calls the sensitivity at distance
// k of LNMax's moment: by how much it grows when the k+1st vote goes from the leader to
// the runner-up, 0 where these come too near or l is large. It is here to compare. It
// bounds no local sensitivity, because neighbours may also have larger gaps, and so
// nothing is published by it.
func (m LNMax) laplaceMomentSensitivity(votes []float64, l float64, k int) float64 {
	if m.Gamma*l/2 > 1 || len(votes) < 2 || votes[0] < votes[1]+float64(k) {
		return 0
	}
	sorted := slices.Clone(votes)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	moment := func(by int) float64 {
		moved := slices.Clone(sorted)
		moved[0] -= float64(by)
		moved[1] += float64(by)
		return m.Moment(m.LogQ(moved), l)
	}
	return moment(k+1) - moment(k)
}

// ReleaseRDP returns the divergence of order α of f(D) + SS(D)·N(0, σ²), where SS is a
// β-smooth bound of the local sensitivity of f.
//
// Theorem 23 (Papernot et al. 2018): for 1 < α < 1/(2β)
//
//	α·e^(2β)/σ² + (−½·ln(1−2αβ) + αβ)/(α−1).
//
// Beyond that range it is +Inf: nothing is proved.
func ReleaseRDP(beta, sigma, order float64) float64 {
	if !(beta >= 0) || !(sigma > 0) || !(order > 1) || !(2*order*beta < 1) {
		return math.Inf(1)
	}
	return order*math.Exp(2*beta)/sigma/sigma + (-0.5*math.Log1p(-2*order*beta)+beta*order)/(order-1)
}
