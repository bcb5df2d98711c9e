package shuffle

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// A Method names the theorem that a bound rests on.
type Method string

const (
	Clones   Method = "clones 2021"   // the full clone sum: every randomizer; the default
	Closed   Method = "closed 2021"   // the closed form of the same paper, within its domain
	Stronger Method = "stronger 2023" // randomized response only: see strongPair
	Blanket  Method = "blanket 2019"  // randomized response, by its number of answers, and Laplace noise
)

// Methods are all of them.
var Methods = [...]Method{Clones, Closed, Stronger, Blanket}

var (
	// ErrDomain is returned outside a theorem's conditions on the numbers.
	ErrDomain = errors.New("outside the theorem's domain")
	// ErrUnproved is returned for a randomizer that the theorem does not speak of.
	ErrUnproved = errors.New("not proved for this randomizer")
)

// A Randomizer is what each user applies to his input alone.
type Randomizer struct {
	Epsilon0 float64 // it is Epsilon0-LDP for replacing the input; above 0
	Answers  int     // 0: nothing else is known; k >= 2: randomized response over k answers
	Laplace  bool    // it is Laplace noise on a number of an interval, see laplaceBlanket
	Other    bool    // it is none of these, nor randomized response: nothing is known from below
	Fakes    int64   // of randomized response: uniform answers that all users together send beside their reports
}

// Response returns randomized response over k answers that tells the true one with
// probability p, given an upper bound on the odds p·(k-1)/(1-p) of truth against
// each other answer. Two answers may be exchanged, so that odds below 1 are those of
// lying; of more than two nothing else is then known than their epsilon.
func Response(odds float64, k int) (Randomizer, error) {
	if k < 2 || !(odds > 0) || math.IsInf(odds, 1) || odds == 1 {
		return Randomizer{}, fmt.Errorf("randomized response over %d answers with odds %v: %w", k, odds, ErrDomain)
	}
	eps0 := math.Abs(math.Log(odds)) * (1 + 0x1p-50)
	if odds < 1 && k > 2 {
		return Randomizer{Epsilon0: eps0, Other: true}, nil
	}
	return Randomizer{Epsilon0: eps0, Answers: k}, nil
}

// maxEpsilon0 is where e^eps0 leaves the range of the arithmetic; nothing is
// amplified there.
const maxEpsilon0 = 300

func check(n int64, r Randomizer, x float64, name string) error {
	switch {
	case n < 1:
		return fmt.Errorf("shuffle: %d users: %w", n, ErrDomain)
	case n > 1<<40:
		return fmt.Errorf("shuffle: more than 2^40 users: %w", ErrDomain)
	case !(r.Epsilon0 > 0) || math.IsInf(r.Epsilon0, 1):
		return fmt.Errorf("shuffle: local epsilon %v: %w", r.Epsilon0, ErrDomain)
	case r.Answers < 0 || r.Answers == 1 || r.Answers != 0 && r.Laplace:
		return fmt.Errorf("shuffle: %d answers: %w", r.Answers, ErrDomain)
	case r.Fakes < 0 || r.Fakes > 1<<40 || r.Fakes > 0 && r.Answers == 0:
		return fmt.Errorf("shuffle: %d fakes: %w", r.Fakes, ErrDomain)
	case !(x >= 0) || math.IsInf(x, 1):
		return fmt.Errorf("shuffle: %s %v: %w", name, x, ErrDomain)
	}
	return nil
}

// A bound is ln δ as a function of epsilon, above floor exact enough to search by.
type bound func(eps, floor float64) float64

// upper returns the method's certified upper bound, which may overstate delta by
// the factor 1+slack.
func (m Method) upper(meter *work.Meter, n int64, r Randomizer, slack float64) (bound, error) {
	switch {
	case m == Clones:
		p := clonePair(meter, n, r.Epsilon0)
		return func(eps, floor float64) float64 { _, hi := p.logDelta(eps, floor); return hi }, nil
	case m == Blanket && r.Laplace:
		return func(eps, _ float64) float64 { return laplaceBlanket{meter, n, r.Epsilon0}.logDelta(eps) }, nil
	case m == Stronger && r.Answers == 0, m == Blanket && r.Answers == 0:
		return nil, fmt.Errorf("%s for any randomizer: %w", m, ErrUnproved)
	case m == Stronger, m == Blanket && r.Answers == 2 && r.Fakes == 0: // the blanket of two answers
		p := strongPair(meter, n, r.Epsilon0)
		return func(eps, floor float64) float64 { _, hi := p.logDelta(eps, floor); return hi }, nil
	case m == Blanket:
		return blanket{meter, n, r.Epsilon0, r.Answers, slack, r.Fakes}.logDelta, nil
	}
	return nil, fmt.Errorf("shuffle: method %q: %w", m, ErrDomain)
}

// How far the blanket's steps may overstate delta, in a search and in its result.
const coarse, fine = 0.1, 4e-3

// tolerance is how closely ln δ is searched for: of many users, to what it is rounded by.
func tolerance(n int64) float64 { return 1e-9 * max(1, float64(n)/1e10) }

// lower is the divergence of a real randomizer of the kind: r's own, or of those
// with its epsilon the worse of randomized response over two and three answers. Of Laplace
// noise the sign is seen of each report less the middle of the interval, which tells an
// end of the interval with probability 1 - e^(-ε0/2)/2.
func lower(meter *work.Meter, n int64, r Randomizer) bound {
	eps0 := r.Epsilon0 * (1 - 0x1p-48)
	return func(eps, floor float64) float64 {
		switch {
		case r.Other, r.Fakes > 0: // fakes hide what the reports alone would show
			return math.Inf(-1)
		case r.Laplace:
			side := math.Log1p(2 * math.Expm1(eps0/2))
			return logResponse(meter, n, side*(1-0x1p-48), 2, eps, floor)
		}
		if r.Answers != 0 {
			return logResponse(meter, n, eps0, r.Answers, eps, floor)
		}
		return max(logResponse(meter, n, eps0, 2, eps, floor), logResponse(meter, n, eps0, 3, eps, floor))
	}
}

// Delta returns the delta at epsilon >= 0 of the reports of n users, shuffled.
func Delta(meter *work.Meter, m Method, n int64, r Randomizer, eps float64) (loss.Bracket, error) {
	if err := check(n, r, eps, "epsilon"); err != nil {
		return loss.Bracket{}, err
	}
	if m == Closed {
		return closedDelta(meter, n, r, eps)
	}
	up, err := m.upper(meter, n, r, fine)
	if err != nil {
		return loss.Bracket{}, err
	}
	if r.Epsilon0 > maxEpsilon0 {
		high := 1.0
		if eps >= r.Epsilon0 {
			high = 0
		}
		return loss.Bracket{High: high, Estimate: high}, nil
	}
	const floor = -800 // below every delta that a float64 can say
	// A positive probability that underflows still counts.
	high := 0.0
	if eps < r.Epsilon0 {
		high = max(min(1, math.Exp(up(eps, floor))*(1+0x1p-40)), math.SmallestNonzeroFloat64)
	}
	low := math.Exp(lower(meter, n, r)(eps, floor)) * (1 - 0x1p-40)
	b := loss.Bracket{Low: min(low, high), Estimate: high, High: high}
	return b, b.Check()
}

// Epsilon returns the epsilon at delta >= 0 of the reports of n users, shuffled.
// It is never above the local one: the order of reports is no protection to lose.
func Epsilon(meter *work.Meter, m Method, n int64, r Randomizer, delta float64) (loss.Bracket, error) {
	if err := check(n, r, delta, "delta"); err != nil {
		return loss.Bracket{}, err
	}
	var high float64
	if m == Closed {
		eps, ok := closedForm(n, r.Epsilon0, delta)
		if !ok {
			return loss.Bracket{}, fmt.Errorf("closed form: eps0 %v is above ln(n/(16·ln(4/δ))): %w", r.Epsilon0, ErrDomain)
		}
		high = min(eps, r.Epsilon0)
	} else {
		up, err := m.upper(meter, n, r, fine)
		if err != nil {
			return loss.Bracket{}, err
		}
		if delta == 0 || r.Epsilon0 > maxEpsilon0 {
			return loss.Bracket{Estimate: r.Epsilon0, High: r.Epsilon0}, nil
		}
		start, close := guess(n, r.Epsilon0, delta), tolerance(n)
		if m == Blanket && (r.Answers > 2 || r.Fakes > 0) { // whose cost is in the slack
			rough, _ := m.upper(meter, n, r, coarse)
			_, start = solve(rough, math.Log(delta), r.Epsilon0, start, 0.1*coarse)
			close = 0.1 * fine
		}
		_, high = solve(up, math.Log(delta)-2*close, r.Epsilon0, start, close)
	}
	low := 0.0
	if delta > 0 && r.Epsilon0 <= maxEpsilon0 && m != Closed { // which is asked for beside others
		low, _ = solve(lower(meter, n, r), math.Log(delta)+2*tolerance(n), r.Epsilon0, high, tolerance(n))
	}
	b := loss.Bracket{Low: min(low, high), Estimate: high, High: high}
	return b, b.Check()
}

// closedDelta inverts the closed form, which falls with delta.
func closedDelta(meter *work.Meter, n int64, r Randomizer, eps float64) (loss.Bracket, error) {
	lo, hi := math.Log(math.SmallestNonzeroFloat64), 0.0
	holds := func(log float64) bool {
		e, ok := closedForm(n, r.Epsilon0, math.Exp(log))
		return ok && e <= eps
	}
	if !holds(hi) {
		return loss.Bracket{}, fmt.Errorf("closed form: no delta at epsilon %v: %w", eps, ErrDomain)
	}
	for hi-lo > 1e-12*(1-hi) {
		if mid := lo + (hi-lo)/2; holds(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	high := math.Exp(hi) * (1 + 0x1p-40)
	low := min(high, math.Exp(lower(meter, n, r)(eps, -800))*(1-0x1p-40))
	b := loss.Bracket{Low: low, Estimate: high, High: high}
	return b, b.Check()
}

// guess is an epsilon at which delta is about reached: by the clones' normal law.
func guess(n int64, eps0, delta float64) float64 {
	z := math.Sqrt(max(1, -2*math.Log(delta)))
	t := z * math.Tanh(eps0/2) / math.Sqrt(float64(n)*math.Exp(-eps0)+1)
	return min(0.99*eps0, 2*math.Atanh(min(t, 0.99)))
}

// solve finds where f, which falls from epsilon 0 to -Inf at eps0, crosses log. It
// returns lo <= hi with f(lo) >= log-tolerance and f(hi) <= log+tolerance: one
// point where |f-log| is that small, or two that floats hardly tell apart. If f is
// nowhere above log, both are 0.
//
// √-f is almost linear in epsilon, as for normal laws; the chord is taken there, with
// the weight of an end that stays halved each time (Illinois).
func solve(f bound, log, eps0, start, tolerance float64) (lo, hi float64) {
	target := math.Sqrt(-log)
	depth := func(eps float64) (below, distance float64) {
		y := f(eps, log)
		return math.Sqrt(max(0, -y)) - target, math.Abs(y - log)
	}
	lo, hi = 0, eps0
	atLo, _ := depth(0)
	atHi := math.Inf(1)
	if !(atLo < 0) {
		return 0, 0
	}
	x, side := start, 0
	for hi-lo > 0x1p-50*hi {
		if !(x > lo && x < hi) {
			x = lo + (hi-lo)/2
		}
		y, distance := depth(x)
		switch {
		case distance <= tolerance:
			return x, x
		case y < 0:
			lo, atLo = x, y
			if side < 0 {
				atHi /= 2
			}
			side = -1
		default:
			hi, atHi = x, y
			if side > 0 {
				atLo /= 2
			}
			side = 1
		}
		if atHi > 4*target { // far below log f is not exact: halve the interval
			x = min(lo+(hi-lo)/2, 1.5*max(lo, start))
			continue
		}
		x = lo + (hi-lo)*atLo/(atLo-atHi)
	}
	return lo, hi
}

// Profile returns δ as a function of epsilon >= 0, certified from above, for whoever
// composes shuffled events.
func Profile(meter *work.Meter, m Method, n int64, r Randomizer) (func(eps float64) float64, error) {
	if err := check(n, r, 0, "epsilon"); err != nil {
		return nil, err
	}
	if r.Epsilon0 > maxEpsilon0 {
		return nil, fmt.Errorf("shuffle: local epsilon %v: %w", r.Epsilon0, ErrDomain)
	}
	up, err := m.upper(meter, n, r, fine)
	if err != nil {
		return nil, err
	}
	return func(eps float64) float64 {
		if eps >= r.Epsilon0 {
			return 0
		}
		return max(min(1, math.Exp(up(eps, -700))*(1+0x1p-40)), math.SmallestNonzeroFloat64)
	}, nil
}
