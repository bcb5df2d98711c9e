package federated

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/noise"
)

// An Update is what one node answers in a round.
type Update struct {
	// Sum is on the grid of the round's clip: what the node's units add, with the node's
	// noise where the plan says so. Within is the sum of 1 for each that was within the
	// clip, and -1 for each that was not; 0 without adaptive clipping.
	Sum    Integers `json:"sum,omitempty"`
	Within int64    `json:"within,omitempty"`
	// Raw is the update of a plan that promises nothing.
	Raw Numbers `json:"raw,omitempty"`
}

// Integers are written in 8 bytes each.
type Integers []int64

// MarshalJSON writes base64.
func (v Integers) MarshalJSON() ([]byte, error) {
	data := make([]byte, 0, 8*len(v))
	for _, x := range v {
		data = binary.LittleEndian.AppendUint64(data, uint64(x))
	}
	return json.Marshal(data)
}

// UnmarshalJSON reads base64.
func (v *Integers) UnmarshalJSON(text []byte) error {
	var data []byte
	if err := json.Unmarshal(text, &data); err != nil || len(data)%8 != 0 {
		return errors.New("not integers of 8 bytes")
	}
	*v = make([]int64, len(data)/8)
	for i := range *v {
		(*v)[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return nil
}

// Numbers are written in 4 bytes each.
type Numbers []float32

// MarshalJSON writes base64.
func (v Numbers) MarshalJSON() ([]byte, error) {
	data := make([]byte, 0, 4*len(v))
	for _, x := range v {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return json.Marshal(data)
}

// UnmarshalJSON reads base64.
func (v *Numbers) UnmarshalJSON(text []byte) error {
	var data []byte
	if err := json.Unmarshal(text, &data); err != nil || len(data)%4 != 0 {
		return errors.New("not numbers of 4 bytes")
	}
	*v = make([]float32, len(data)/4)
	for i := range *v {
		(*v)[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return nil
}

// A Part is one node's side of a run: its data, and what they add to a round.
type Part struct {
	plan Plan
	name string
	set  *example.Set
	// of runs that protect persons
	persons [][]int // the examples of each
	turns   []uint16
}

// NewPart returns the side of the node of that name. Turns say in which of each Every rounds
// a person takes part; they come from [Turns], once a run.
func NewPart(p Plan, name string, set *example.Set, turns []uint16) (*Part, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if set == nil {
		return nil, fmt.Errorf("%w: there are no data", ErrPlan)
	}
	if err := set.Validate(); err != nil {
		return nil, err
	}
	net, err := p.Net()
	if err != nil {
		return nil, err
	}
	if err := p.fits(net, set); err != nil {
		return nil, err
	}
	part := &Part{plan: p, name: name, set: set}
	if p.Unit != Person {
		return part, nil
	}
	part.persons, part.turns = make([][]int, set.UnitCount()), turns
	if len(turns) != len(part.persons) {
		return nil, errors.New("the data are not those that the run began with")
	}
	for row := range set.Len() {
		u := row
		if set.Units != nil {
			u = int(set.Units[row])
		}
		if len(part.persons[u]) < max(p.PerUnit, 1) {
			part.persons[u] = append(part.persons[u], row)
		}
	}
	return part, nil
}

// Turns draws for each of so many persons the round of each Every in which the person takes
// part, by coins of its own: whose turn it is does not depend on who else there is.
func (p Plan) Turns(bits noise.Bits, persons int) ([]uint16, error) {
	stream := noise.NewStream(bits)
	turns := make([]uint16, persons)
	for i := range turns {
		t, err := stream.Below(uint64(p.every()))
		if err != nil {
			return nil, err
		}
		turns[i] = uint16(t)
	}
	return turns, nil
}

// due reports whether a person with a turn takes part in a round.
func (p Plan) due(round int, turn uint16) bool {
	if round%p.every() != int(turn) {
		return false
	}
	at := round
	if p.Privacy != nil && p.Privacy.Method == FTRL && p.Privacy.Restart > 0 {
		at %= p.Privacy.Restart
	}
	return p.Most == 0 || at/p.every() < p.Most
}

// Update computes what the node adds to a round that begins with the given weights, without
// noise. It fails only for the plan's form and for the bits: what goes wrong with data adds
// nothing.
func (p *Part) Update(ctx context.Context, bits noise.Bits, round int, weights []float32, clip float64) (Update, error) {
	net, err := p.plan.Net()
	if err != nil {
		return Update{}, err
	}
	if round < 0 || round >= p.plan.Rounds || len(weights) != len(net.Parameters()) {
		return Update{}, fmt.Errorf("round %d with %d weights: not one of the plan's", round, len(weights))
	}
	copy(net.Parameters(), weights)
	if p.plan.Unit == Person {
		return p.gradients(ctx, net, round, clip)
	}
	moved, err := p.train(ctx, bits, net, weights)
	if err != nil {
		return Update{}, err
	}
	if p.plan.Privacy == nil {
		return Update{Raw: moved}, nil
	}
	return p.plan.bounded(moved, clip, p.weight()), nil
}

// Bounded is the update of a node whose application has trained by itself: moved is what
// it would add. It belongs to plans that protect nodes.
func (p Plan) Bounded(moved []float32, clip float64) Update { return p.bounded(moved, clip, 1) }

// bounded clips an update and scales it by a weight of at most 1, and then puts it on the
// grid: the bound holds of the integers.
func (p Plan) bounded(moved []float32, clip, weight float64) Update {
	u := Update{Sum: make([]int64, len(moved))}
	within := cost.Clip(u.Sum, moved, clip)
	if weight < 1 {
		for j, x := range u.Sum {
			u.Sum[j] = int64(float64(x) * weight) // towards zero: no longer than before
		}
	}
	if p.Privacy.Adaptive != nil {
		u.Within = -1
		if within {
			u.Within = 1
		}
	}
	return u
}

// weight is that of the node's update; it is public, or never told.
func (p *Part) weight() float64 {
	switch p.plan.Join.Weighing {
	case Given:
		return p.plan.Join.Weights[p.name]
	case Clipped:
		return min(1, float64(p.set.Len())/float64(p.plan.Join.Reference))
	}
	return 1
}

// train makes the node's own steps, and returns where it came from less where it came to.
func (p *Part) train(ctx context.Context, bits noise.Bits, net *network.Network, from []float32) ([]float32, error) {
	if p.plan.Join.Rule == Cluster {
		return p.lloyd(ctx, from)
	}
	o, n := p.plan.Local, p.set.Len()
	batch := o.Batch
	if batch == 0 {
		batch = 32
	}
	epochs := max(o.Epochs, 1)
	moved := make([]float32, len(from))
	if n == 0 {
		return moved, nil
	}
	descent, err := optimizer.New(optimizer.Spec{Rate: o.Rate}, len(from), epochs*((n+batch-1)/batch))
	if err != nil {
		return nil, err
	}
	stream, order := noise.NewStream(bits), make([]int, n)
	for i := range order {
		order[i] = i
	}
	pass, sum := net.NewPass(network.PassOptions{}), make([]float32, len(from))
	w := net.Parameters()
	for range epochs {
		for i := n - 1; i > 0; i-- {
			j, err := stream.Index(i + 1)
			if err != nil {
				return nil, err
			}
			order[i], order[j] = order[j], order[i]
		}
		for at := 0; at < n; at += batch {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			rows := order[at:min(at+batch, n)]
			if _, err := pass.Gradient(p.set, rows, sum); err != nil && !errors.Is(err, network.ErrOverflow) {
				return nil, err // of the form
			}
			if o.Proximal > 0 { // the gradient of μ/2·|w - from|²
				for j := range sum {
					sum[j] += float32(float64(len(rows)) * o.Proximal * float64(w[j]-from[j]))
				}
			}
			descent.StepMean(w, sum, float64(len(rows)))
		}
	}
	for j := range moved {
		if moved[j] = from[j] - w[j]; moved[j]-moved[j] != 0 {
			return make([]float32, len(from)), nil // not finite: it adds nothing
		}
	}
	return moved, nil
}

// gradients adds up the clipped gradients of the persons whose turn it is.
func (p *Part) gradients(ctx context.Context, net *network.Network, round int, clip float64) (Update, error) {
	var due [][]int
	for i, rows := range p.persons {
		if p.plan.due(round, p.turns[i]) {
			due = append(due, rows)
		}
	}
	d, workers := len(net.Parameters()), min(runtime.GOMAXPROCS(0), max(1, len(due)/8))
	parts, errs := make([]Update, workers), make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			pass := net.NewPass(network.PassOptions{Batch: 1, Workers: 1})
			gradient, one, on := make([]float32, d), make([]float32, d), make([]int64, d)
			part := Update{Sum: make([]int64, d)}
			for i := w; i < len(due); i += workers {
				if errs[w] = ctx.Err(); errs[w] != nil {
					return
				}
				clear(gradient)
				for _, row := range due[i] {
					if _, errs[w] = pass.Clipped(p.set, []int{row}, network.Clip(1e30), one); errs[w] != nil {
						return
					}
					for j, x := range one {
						gradient[j] += x
					}
				}
				if cost.Clip(on, gradient, clip) {
					part.Within++
				} else {
					part.Within--
				}
				for j, k := range on {
					part.Sum[j] += k
				}
			}
			parts[w] = part
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return Update{}, err
	}
	return p.plan.total(parts), nil
}

// total adds parts up.
func (p Plan) total(parts []Update) Update {
	all := Update{Sum: make([]int64, len(parts[0].Sum))}
	for _, part := range parts {
		all.Within += part.Within
		for j, k := range part.Sum {
			all.Sum[j] += k
		}
	}
	if p.Privacy == nil || p.Privacy.Adaptive == nil {
		all.Within = 0
	}
	return all
}
