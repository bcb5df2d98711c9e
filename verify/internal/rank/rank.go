// Package rank proves what functions cost that rank noisy values: noisy max with the gap to
// the runner-up, and the k largest of one pass with gaps between them.
//
// What it guarantees: the cost that Prove returns holds for inputs of any size. It searches
// for nothing, so that checking a proof is finding it again; an error says what stayed open,
// not that the claim is false.
//
// # Why
//
// Let a function draw noise zᵢ for each element i of a list, of one law and one public scale
// b, and let all else that it does depend on the noisy values vᵢ = xᵢ + zᵢ in one way only:
// its result is a function of which elements are the k largest, in their order, and of the
// differences of noisy values from the largest to the (k+1)th. Let each xᵢ move by a distance
// dᵢ in [l, h], l <= 0 <= h.
//
// Theorem (report noisy max, Dwork and Roth 2014; with gaps and the k largest, Ding, Wang,
// Zhang and Kifer 2019, theorems 2 and 3). For Laplace noise such a function is
// k(h−l)/b-private.
//
// Proof. Equal values have probability 0. Fix the elements r₁ … r_k, the noise of all others,
// and so M, the largest of their noisy values, which moves by D = M'−M in [l, h]. Shift the
// noise of each of r₁ … r_k by D−dᵢ: their noisy values and M all move by D, so that order and
// differences stay. D does not depend on the noise that is shifted, so that the map is
// injective and keeps volume; each of k shifts has a size of h−l at most, which costs
// (h−l)/b. If there are no others, shift by −dᵢ. Sum over r₁ … r_k.
//
// If one xᵢ moves only, it is one of the k, and D = 0, or one of the others, and |D| <= |dᵢ|:
// it costs k·max(h, −l)/b.
//
// Over the integers equal values have an order: the first one in the list is the largest, or
// the last one. M is then the least that beats the others, which is larger by 1 than some of
// their values, and again moves by D in [l, h]. So the k largest and the differences between
// them stay, and that of the last of them to M, but not that to the (k+1)th. One-sided noise cannot become smaller: the k values
// all rise by h, by shifts of h−dᵢ in [0, h−l]; that too keeps the differences between
// the k alone.
//
// # How
//
// That the result is such a function is shown by running it on what is known of an element:
// which of the largest it is, or where it stands among the others that a loop has come to. Lists
// with few elements, and those with more, in every order, are finitely many cases: see
// machine.
package rank

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/ratio"
)

// Errors that callers branch on.
var (
	// ErrUnknown is matched by the errors of claims that are not proved.
	ErrUnknown = ratio.ErrUnknown
	// ErrCertificate is matched when a certificate is not that of the claim.
	ErrCertificate = errors.New("the certificate does not prove the claim")
)

func undecided(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnknown, fmt.Sprintf(format, args...))
}

// A Step is a line of a readable proof.
type Step struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// A Certificate is a proof as data: checking it is applying the rules again.
type Certificate struct {
	// Winners are how many of the largest the result tells of: k.
	Winners int    `json:"winners"`
	Cost    string `json:"cost"`
	Steps   []Step `json:"steps"`
}

// An Outcome is a proof.
type Outcome struct {
	Certificate Certificate
	// Plain is set where the result tells of one winner, and of no gap.
	Plain bool
}

// most is how many of the largest are told apart.
const most = 4

// Applies reports whether a function may rank noisy values: it draws in one place, in a
// loop, or before it for the first element, too.
func Applies(f *program.Function, c *claim.Claim) bool {
	d, l := drawn(f.Body)
	if d == nil || c.Cost == nil || c.Cost.Measure != claim.Pure || l == nil {
		return false
	}
	switch d.Law {
	case program.Laplace, program.DiscreteLaplace, program.Exponential, program.Geometric:
	default:
		return false
	}
	return slices.ContainsFunc(c.Adjacent, func(a claim.Adjacency) bool {
		return a.Input.Slice && !a.Input.Stream && (a.Relation == claim.Each || a.Relation == claim.One)
	})
}

// drawn is the last draw of a function, and the loop around it, where there is no other draw
// than of the same law before the loop.
func drawn(list []program.Statement) (draw *program.Draw, loop *program.Loop) {
	for _, s := range list {
		l, _ := s.(*program.Loop)
		other := false
		program.Each([]program.Statement{s}, func(inner program.Statement) {
			if d, ok := inner.(program.Draw); ok {
				other = other || loop != nil || draw != nil && (l == nil || draw.Law != d.Law)
				draw, loop = &d, l
			}
		})
		if other {
			return nil, nil
		}
	}
	return draw, loop
}

// Prove proves the cost of a claim, or says why not with an error that matches
// ErrUnknown: so it does where the context ends.
func Prove(ctx context.Context, f *program.Function, c *claim.Claim) (*Outcome, error) {
	if !Applies(f, c) {
		return nil, undecided("the function does not draw in a loop, in one place")
	}
	var why error
	for winners := 1; winners <= most; winners++ {
		for i, way := range ways(f) {
			if way.step && winners != 2 {
				continue
			}
			// Few ask which element is the first, and states are fewer where it is not told.
			for _, first := range []bool{false, true} {
				m := newMachine(ctx, f, c, winners, way)
				err := m.run(first)
				if err == nil {
					return m.outcome()
				}
				if ctx.Err() != nil {
					return nil, err
				}
				if i == 0 {
					why = err
				}
			}
		}
	}
	return nil, why
}

// A way is which noisy values are the largest.
type way struct {
	least bool // the order is the other way round
	last  bool // of equal ones, the last is the largest
	// step says that there is one winner, 1, and that the others are as large as it has to be
	// to win: by a step larger if they stand before it. 2 is the largest of them.
	step bool
}

// ways are those to try. One-sided noise only rises, and so must what makes a winner.
func ways(f *program.Function) []way {
	switch d, _ := drawn(f.Body); d.Law {
	case program.Exponential:
		return []way{{}}
	case program.Geometric:
		return []way{{}, {last: true}}
	case program.DiscreteLaplace:
		return []way{{}, {last: true}, {least: true}, {least: true, last: true}, {step: true}}
	}
	return []way{{}, {least: true}}
}

// Check re-checks a certificate.
func Check(ctx context.Context, f *program.Function, c *claim.Claim, certificate Certificate) error {
	o, err := Prove(ctx, f, c)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	want := o.Certificate
	// A function may have moved in its file.
	moved := slices.EqualFunc(want.Steps, certificate.Steps, func(a, b Step) bool { return a.Text == b.Text })
	if want.Winners != certificate.Winners || want.Cost != certificate.Cost || !moved {
		return fmt.Errorf("%w: it is not the one that the rules give", ErrCertificate)
	}
	return nil
}

// outcome compares the cost with what is claimed.
func (m *machine) outcome() (*Outcome, error) {
	k := max(m.need, 1)
	low, high, one, err := m.distance()
	if err != nil {
		return nil, err
	}
	// h−l is one of these, whatever the signs of the bounds are.
	widths := []program.Expression{high, program.Unary{Op: program.Sub, X: low}}
	if !one || m.oneSided() {
		widths = append(widths, program.Binary{Op: program.Sub, X: high, Y: low})
	}
	var amounts []program.Expression
	for _, w := range widths {
		w = program.Call{Func: "real", Args: []program.Expression{w}}
		amounts = append(amounts, program.Binary{Op: program.Quo, X: program.Binary{Op: program.Mul, X: number(int64(k), program.Real), Y: w}, Y: m.scale})
	}
	least, err := ratio.Within(m.f, m.c, amounts)
	if err != nil {
		return nil, err
	}
	told := fmt.Sprintf("the result is a function of which %d are the largest, in their order, and of what they are ahead of each other", k)
	if m.need <= 1 && !m.gaps {
		told = "the result is a function of which one is the largest"
	} else if k == 1 {
		told = "the result is a function of which one is the largest, and of its gap to the second"
	}
	if m.way.step {
		told = "the result is a function of which one is the largest, the first of equal ones, and of how much less it could be"
	}
	if m.way.least {
		told = "of the noisy values with the opposite sign, " + told
	}
	drawn, loop := drawn(m.f.Body)
	move := "the noise of each of them moves with the largest of the others, which are coupled to be equal"
	if m.oneSided() {
		move = "the noise of each of them rises, so that its noisy value rises by as much as others may; the others are coupled to be equal"
	}
	return &Outcome{
		Certificate: Certificate{Winners: k, Cost: least, Steps: []Step{
			{m.line(loop.Pos), told},
			{m.line(drawn.Pos), fmt.Sprintf("%s: %s; that costs %s", drawn.To.Name, move, least)},
		}},
		Plain: k == 1 && !m.gaps,
	}, nil
}

// distance is how far what noise is added to may move, and whether that of one element
// may only.
func (m *machine) distance() (low, high program.Expression, one bool, err error) {
	parts := 0
	for _, a := range m.c.Adjacent {
		at := slices.IndexFunc(m.template, func(t term) bool { return t.of == a.Input })
		if at < 0 {
			continue
		}
		k := m.template[at].factor
		if a.Relation != claim.Each && a.Relation != claim.One {
			return nil, nil, false, undecided("by how much %s moves", a.Input.Name)
		}
		parts++
		one = one || a.Relation == claim.One
		l, h := a.Low, a.High
		if k.Sign() < 0 {
			l, h = h, l
		}
		if k.Cmp(big.NewRat(1, 1)) != 0 {
			l = program.Binary{Op: program.Mul, X: program.Number{Value: k, Sort: program.Real}, Y: l}
			h = program.Binary{Op: program.Mul, X: program.Number{Value: k, Sort: program.Real}, Y: h}
		}
		if low != nil {
			l, h = program.Binary{Op: program.Add, X: low, Y: l}, program.Binary{Op: program.Add, X: high, Y: h}
		}
		low, high = l, h
	}
	switch {
	case parts == 0:
		return number(0, program.Int), number(0, program.Int), false, nil
	case one && parts > 1:
		return nil, nil, false, undecided("noise is added to several inputs, of which one element moves")
	}
	return low, high, one, nil
}

func (m *machine) oneSided() bool {
	return m.draw.Law == program.Exponential || m.draw.Law == program.Geometric
}

// whole reports that noisy values are integers, of which some may be equal.
func (m *machine) whole() bool {
	return m.draw.Law == program.DiscreteLaplace || m.draw.Law == program.Geometric
}

func (m *machine) line(pos token.Pos) int {
	if m.f.File == nil || !pos.IsValid() {
		return 0
	}
	return m.f.File.Line(pos)
}

func number(n int64, s program.Sort) program.Expression {
	return program.Number{Value: big.NewRat(n, 1), Sort: s}
}
