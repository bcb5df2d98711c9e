package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
)

// A RoundRequest asks for the update of a round.
type RoundRequest struct {
	Round   int               `json:"round"`
	Weights federated.Numbers `json:"weights,omitempty"`
	Clip    float64           `json:"clip,omitempty"`
	// Vector is the update of a local application, in place of Weights.
	Vector federated.Numbers `json:"vector,omitempty"`
	// Nodes are all nodes of the run, of a plan with aggregators: theirs are the shares of its sums.
	Nodes []string `json:"nodes,omitempty"`
}

// Round answers a round of a run.
func (h *Holder) Round(ctx context.Context, asker, id string, q RoundRequest) (*federated.Update, error) {
	defer h.lock(asker, id)()
	a, d, err := h.granted(ctx, asker, id)
	if err != nil {
		return nil, err
	}
	p := a.Request.Plan
	switch {
	case p == nil || q.Round < 0 || q.Round >= p.Rounds || (q.Vector != nil) != a.Request.Vectors:
		return nil, fmt.Errorf("%w: it has no such round", ErrRequest)
	case p.Privacy == nil:
		q.Clip = 0
	case !(q.Clip >= 1e-30 && q.Clip <= 1e30):
		return nil, fmt.Errorf("%w: a clip of %v", ErrRequest, q.Clip)
	}
	var task *process.Task
	if p.Aggregated() {
		if task, err = h.task(*p, asker, id, q.Nodes); err != nil {
			return nil, err
		}
	} else {
		q.Nodes = nil
	}
	text, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	question := digest(text)
	if r, err := h.earlier(ctx, a, q.Round, question); err != nil {
		return nil, err
	} else if r != nil && r.Report != nil {
		return &federated.Update{}, h.hand(ctx, task, r.Report)
	} else if r != nil {
		return r.Update, nil
	}
	run, err := h.run(ctx, a, d)
	if err != nil {
		return nil, err
	}
	if !run.may(p, q.Round) {
		return nil, ErrMayNot
	}
	var u federated.Update
	if a.Request.Vectors {
		net, err := p.Net()
		if err != nil || len(q.Vector) != len(net.Parameters()) {
			return nil, fmt.Errorf("%w: a vector of another length", ErrRequest)
		}
		u = p.Bounded(q.Vector, q.Clip)
	} else if u, err = run.part.Update(ctx, h.bits, q.Round, q.Weights, q.Clip); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	out := &released{Question: question, Update: &u, Blur: run.blur}
	if task != nil {
		out.Update = nil
		if out.Report, err = h.split(ctx, *p, task, q.Round, u); err != nil {
			return nil, err
		}
	}
	if p.NoiseBy() == federated.AtNodes {
		if err := out.Blur.Add(*p, h.bits, q.Round, &u); err != nil {
			h.forget(asker, id)
			return nil, err
		}
	}
	if err := h.keep(ctx, a, q.Round, out); err != nil {
		h.forget(asker, id)
		return nil, err
	}
	run.blur, run.took = out.Blur, append(run.took, q.Round)
	if task != nil {
		return &federated.Update{}, h.hand(ctx, task, out.Report)
	}
	return &u, nil
}

func (h *Holder) forget(asker, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.runs, asker+"."+id)
}

// A run is a request for training that has begun.
type run struct {
	part *federated.Part
	blur federated.Blur
	took []int // the rounds that were released
}

// may reports whether the node may take part in a round: rounds go on, and the unit of a
// plan that protects nodes is in one of each Every and in so many of all, or of a tree's.
func (r *run) may(p *federated.Plan, round int) bool {
	if len(r.took) > 0 && round <= r.took[len(r.took)-1] {
		return false
	}
	if p.Privacy == nil || p.Unit != federated.Node {
		return true
	}
	every, tree, took := max(p.Every, 1), p.Privacy.Restart, 0
	for _, t := range r.took {
		if t/every == round/every {
			return false
		}
		if tree == 0 || t/tree == round/tree {
			took++
		}
	}
	return p.Most == 0 || took < p.Most
}

// run returns a run that has begun, or begins it: what it needs to go on comes from files.
func (h *Holder) run(ctx context.Context, a *asked, d Data) (*run, error) {
	s := a.Status
	key := s.Asker + "." + s.ID
	h.mu.Lock()
	r := h.runs[key]
	h.mu.Unlock()
	if r != nil {
		return r, nil
	}
	p := *a.Request.Plan
	r = &run{}
	if !a.Request.Vectors {
		set := h.sets[d.Name]
		var turns []uint16
		if p.Unit == federated.Person {
			var err error
			if turns, err = h.turns(p, s, set.UnitCount()); err != nil {
				return nil, err
			}
		}
		var err error
		if r.part, err = federated.NewPart(p, h.name, set, turns); err != nil {
			return nil, err
		}
	}
	now, err := h.status(ctx, a)
	if err != nil {
		return nil, err
	}
	if r.took = now.Rounds; len(r.took) > 0 {
		text, err := os.ReadFile(h.releaseFile(s.Asker, s.ID, r.took[len(r.took)-1]))
		if err != nil {
			return nil, ErrGone
		}
		last := &released{}
		if err := json.Unmarshal(text, last); err != nil {
			return nil, ErrGone
		}
		r.blur = last.Blur
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs[key] = r
	return r, nil
}

// turns are those that were drawn when the run began.
func (h *Holder) turns(p federated.Plan, s Status, persons int) ([]uint16, error) {
	path := h.requestFile(s.Asker, s.ID) + ".turns"
	var turns []uint16
	text, err := os.ReadFile(path)
	if err == nil {
		return turns, json.Unmarshal(text, &turns)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(s.Rounds) > 0 {
		return nil, ErrGone
	}
	if turns, err = p.Turns(h.bits, persons); err != nil {
		return nil, err
	}
	return turns, store(path, turns)
}
