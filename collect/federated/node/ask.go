package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/privacy"
)

// Ask files a request, and what the policy says of it. The same request again is the same;
// another one needs another id.
func (h *Holder) Ask(ctx context.Context, asker string, r Request) (Status, error) {
	of, err := r.data()
	if err != nil {
		return Status{}, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	d, ok := h.data(of)
	if !ok || !name.MatchString(asker) || !slices.Contains(d.Policy.Askers, asker) && !slices.Contains(d.Policy.Apps, asker) {
		return Status{}, fmt.Errorf("%w: it has no data of that name for this asker", ErrRequest)
	}
	defer h.lock(asker, r.ID)()
	if a, err := h.asked(asker, r.ID); err == nil {
		if same, err := equal(a.Request, r); err != nil || !same {
			return Status{}, errors.Join(ErrOther, err)
		}
		if err := h.apply(ctx, d, a); err != nil {
			return Status{}, err
		}
		return h.status(ctx, a)
	} else if !errors.Is(err, ErrUnknown) {
		return Status{}, err
	}
	a := &asked{Request: r, Status: Status{Asker: asker, ID: r.ID, Reason: r.Reason, Data: of, Asked: h.now().UTC()}}
	a.Status.What, a.Status.Trusts = r.what()
	if err := h.cost(ctx, d, a); err != nil {
		return Status{}, err
	}
	// Before it has a file: one that was decided may have lost its own.
	if _, err := h.registered(ctx, decision, a, whole); err != nil {
		return Status{}, err
	}
	giveBack, err := h.admit(asker, d, r)
	if err != nil {
		return Status{}, err
	}
	if err := store(h.requestFile(asker, r.ID), a); err != nil {
		giveBack()
		return Status{}, err
	}
	if err := h.apply(ctx, d, a); err != nil {
		return Status{}, err
	}
	return h.status(ctx, a)
}

func equal(a, b any) (bool, error) {
	x, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	y, err := json.Marshal(b)
	return string(x) == string(y), err
}

// cost says what a request would cost, before it is filed.
func (h *Holder) cost(ctx context.Context, d Data, a *asked) error {
	if q := a.Request.Query; q != nil {
		if d.Protects != federated.Person || d.Person != "" || d.CSV == "" {
			return fmt.Errorf("%w: queries are about a file with one record a person", ErrRequest)
		}
		a.Status.Epsilon, a.Status.Charge = q.Epsilon.Float64(), fmt.Sprintf("pure(%v)", q.Epsilon)
		return nil
	}
	p := a.Request.Plan
	if p.Aggregated() {
		if _, err := h.task(*p, a.Status.Asker, a.Request.ID, []string{h.name}); err != nil {
			return err
		}
	}
	if !a.Request.Vectors { // the data must fit the network
		if _, err := federated.NewPart(*p, h.name, h.sets[d.Name].Pick(nil), nil); err != nil {
			return fmt.Errorf("%w: %w", ErrRequest, err)
		}
	}
	e, err := d.event(p)
	if e == nil || err != nil {
		return err
	}
	if p.Privacy.Delta.Cmp(d.Budget.Delta) > 0 {
		return fmt.Errorf("%w: its delta of %v is above the budget's, %v", ErrRequest, p.Privacy.Delta, d.Budget.Delta)
	}
	charged, err := h.charged(ctx, d, p, e)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRequest, err)
	}
	// The delta is the owner's to choose: the larger it is, the smaller epsilon looks.
	g, err := learn.GuaranteeOf(e, nil, d.Budget.Delta, accountant.Options{Neighbours: d.Budget.Neighbours})
	if err != nil {
		return err
	}
	a.Status.Epsilon, a.Status.Delta, a.Status.Charge = g.Epsilon, g.Delta, charged.String()
	if g, err = learn.GuaranteeOf(e, nil, p.Privacy.Delta, accountant.Options{Neighbours: d.Budget.Neighbours}); err != nil {
		return err
	}
	a.Strict = g.Epsilon
	return nil
}

// charged is the event that a run enters the data's budget as.
func (h *Holder) charged(ctx context.Context, d Data, p *federated.Plan, e privacy.Event) (privacy.Event, error) {
	f, err := filter.New(filter.Budget{Measure: d.Budget.Measure, Epsilon: d.Budget.Epsilon, Delta: d.Budget.Delta, Neighbours: d.Budget.Neighbours})
	if err != nil {
		return nil, err
	}
	return accountant.Guarantee(ctx, e, f, p.Privacy.Delta, accountant.Options{Neighbours: d.Budget.Neighbours})
}

// event is what a run reveals of what the data protect, and the relation that it is stated for.
//
// A run that protects nodes moves by at most 2·One when one person's data leave the node or
// come to it, since the update with them and without are within One each: so for a
// person it is what it is for a node that is replaced. What a run that protects persons
// shows of a node has no bound.
func (d Data) event(p *federated.Plan) (privacy.Event, error) {
	switch {
	case p.Privacy == nil:
		return nil, nil
	case p.Unit == d.Protects:
		return p.Event(d.Budget.Neighbours)
	case d.Protects == federated.Person:
		return p.Event(privacy.ReplaceOne)
	}
	return nil, fmt.Errorf("%w: the data protect the node, and the run has a guarantee for a person alone", ErrRequest)
}

// apply writes down what the policy decides, if it does.
func (h *Holder) apply(ctx context.Context, d Data, a *asked) error {
	s, r := a.Status, a.Request
	deny := func(why string) error {
		_, err := h.register(ctx, decision, a, whole, budget.Release{}, word{By: "policy", Why: why})
		return err
	}
	switch {
	case r.Plan != nil && r.Plan.Privacy == nil && d.Policy.Unprotected == nil:
		return deny("the run promises nothing, and the owner admits no such runs")
	case r.Plan != nil && r.Plan.Aggregated() && !d.Policy.trusts(r.Plan.Aggregators):
		return deny("the run's aggregators are not those that the owner names, or more of them may collude there")
	case r.Plan != nil && r.Plan.NoiseBy() == federated.AtCoordinator && !slices.Contains(d.Policy.Trusted, s.Asker):
		return deny("the asker is not trusted with adding noise: ask for noise at the nodes")
	case r.Vectors && !slices.Contains(d.Policy.Apps, s.Asker):
		return deny("the asker is no application of this node")
	case s.Epsilon > 0 && max(s.Epsilon, a.Strict) <= d.Policy.Auto.Float64():
		_, err := h.register(ctx, decision, a, whole, budget.Release{}, word{Approved: true, By: "policy", Why: fmt.Sprintf("at most epsilon %v", d.Policy.Auto)})
		return err
	}
	return nil
}
