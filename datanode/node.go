// Package datanode keeps named private data and releases them only under access definitions: a
// mechanism, a budget for mechanisms, or a recorded decision of the owner.
//
// It guarantees: without an access definition nothing leaves, not even whether there are data of
// that name. A Mechanism reveals at most what its events say. A release under a budget is charged
// first, in the budget's filter, and all such releases together keep the budget's guarantee,
// whatever is configured in between. Unprotected access needs a decision with its reason, which is
// recorded before anything leaves. Nothing prints, logs or marshals private data.
//
// It does not guarantee anything against code of the same process that looks for the data in
// memory, nor across names: names with data of the same units should share a budget. It takes each
// row to be one unit's. Answers that are drawn once are kept as long as the node; a durable budget
// is kept longer.
package datanode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Options of a node.
type Options struct {
	Name string // required
	// Neighbours is the relation for mechanisms without a budget; a budget has its own.
	Neighbours privacy.Neighbours
	Log        Log              // required: NewMemoryLog, or OpenLog
	Now        func() time.Time // the log's clock; required
}

// A Node holds named private data. It is safe for concurrent use if its bits are.
type Node struct {
	withheld
	*node
}

type node struct {
	bits    noise.Bits
	options Options

	mu      sync.Mutex
	entries map[string]*entry

	training sync.Mutex // held while the model is used; never taken under mu
	trainer  trainer
}

// An entry is what the node keeps of one name. It is never removed, nor is its budget.
type entry struct {
	data   Data // there are none if data.held is nil
	access Access
	budget budget.Budget
	// How often data and access were set: a remembered answer is of one version of the
	// data, and of one mechanism.
	version, configured int

	drawing sync.Mutex // held while an answer is drawn for once
	once    []answer
}

// answer is an answer that was drawn without a budget, or before there was one.
type answer struct {
	Answer
	release
	mechanism           Mechanism
	version, configured int
}

// answered returns the answer that a mechanism has given about a version of the data. A
// mechanism of plain values is recognised by these; functions cannot be compared, so a
// mechanism with a function is recognised by when it was configured.
func (e *entry) answered(m Mechanism, version, configured int) (Answer, bool) {
	for _, given := range e.once {
		if given.version == version && (given.configured == configured || reflect.DeepEqual(given.mechanism, m)) {
			return given.clone(), true
		}
	}
	return Answer{}, false
}

// New returns a node that draws noise from bits, which askers must not choose.
func New(bits noise.Bits, o Options) (*Node, error) {
	if bits == nil || o.Name == "" || o.Log == nil || o.Now == nil {
		return nil, errors.New("data node: bits, name, log or clock is missing")
	}
	if o.Neighbours > privacy.ReplaceOne {
		return nil, fmt.Errorf("data node: no such neighbouring relation: %v", o.Neighbours)
	}
	return &Node{node: &node{bits: bits, options: o, entries: map[string]*entry{}}}, nil
}

// Set puts data under a name, in place of those that were there. Access and budget
// stay; a name without an access definition is refused. A mechanism that answers once
// answers the new data once too.
func (n *Node) Set(name string, d Data) error {
	if name == "" || d.held == nil {
		return errors.New("set private data: the name or the data are missing")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.entry(name).set(d)
	return nil
}

// set puts data in the place of those that were there; the node's mu is held.
func (e *entry) set(d Data) {
	e.data = d
	e.version++
}

// entry returns the entry of a name; n.mu is held.
func (n *Node) entry(name string) *entry {
	e := n.entries[name]
	if e == nil {
		e = &entry{}
		n.entries[name] = e
	}
	return e
}

// Names returns the names that have data or access definitions, for the owner.
func (n *Node) Names() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Sorted(maps.Keys(n.entries))
}

// Acts returns the node's history.
func (n *Node) Acts(ctx context.Context) ([]Act, error) { return n.options.Log.Acts(ctx) }

// Configure sets the access definition of a name; nil refuses access again. Budgets
// and answers that were given once stay: a mechanism of the same plain values that is
// configured again gives the same answer about the same data. Functions are not compared:
// a mechanism with a function answers anew.
//
// A budget that comes after answers without one pays for them, so that it bounds
// all that the name has revealed, except by Unmetered and Unprotected access.
func (n *Node) Configure(ctx context.Context, name string, a Access) error {
	if err := n.configure(ctx, name, a); err != nil {
		return fmt.Errorf("configure access to %q: %w", name, err)
	}
	return nil
}

func (n *Node) configure(ctx context.Context, name string, a Access) error {
	if name == "" {
		return errors.New("the name is missing")
	}
	act, err := describe(a)
	if err != nil {
		return err
	}
	n.mu.Lock()
	e := n.entry(name)
	n.mu.Unlock()
	e.drawing.Lock() // keeps answers out until the change is made
	defer e.drawing.Unlock()
	n.mu.Lock()
	bound, data := e.budget, e.data
	n.mu.Unlock()
	var pays budget.Budget
	if adaptive, ok := a.(Adaptive); ok {
		if pays, err = n.bind(ctx, name, e, bound, data, adaptive); err != nil {
			return err
		}
	}
	act.Name = name
	if err := n.record(ctx, act); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	e.access = owned(a)
	e.configured++
	if pays != nil {
		e.budget = pays
	}
	return nil
}

// owned is an access definition whose declared event nobody else can change.
func owned(a Access) Access {
	switch d := a.(type) {
	case Unmetered:
		d.Mechanism = ownedMechanism(d.Mechanism)
		return d
	case Adaptive:
		d.Mechanism = ownedMechanism(d.Mechanism)
		return d
	case Mechanism:
		return ownedMechanism(d)
	}
	return a
}

func ownedMechanism(m Mechanism) Mechanism {
	switch m := m.(type) {
	case Declared:
		if event, err := privacy.New(m.Event); err == nil { // an invalid event is refused when it is asked
			m.Event = event
		}
		return m
	case Subsampled:
		m.Mechanism = ownedMechanism(m.Mechanism)
		return m
	}
	return m
}

// bind returns the budget that a name has from now on. The caller holds e.drawing, so
// e.once does not change.
func (n *Node) bind(ctx context.Context, name string, e *entry, bound budget.Budget, d Data, a Adaptive) (budget.Budget, error) {
	switch {
	case d.held != nil && d.held().table != nil:
		if a.Budget != nil {
			return nil, fmt.Errorf("%w: a table of a catalog pays from its domain's ledger", ErrBound)
		}
		return nil, nil
	case a.Budget == nil && bound == nil:
		return nil, errors.New("the budget is missing")
	case a.Budget == nil || bound != nil && same(a.Budget, bound):
		return bound, nil
	case bound != nil:
		return nil, fmt.Errorf("%w: %q", ErrBound, bound.Name())
	case len(e.once) == 0:
		return a.Budget, nil
	case a.Budget.Neighbours() != n.options.Neighbours:
		return nil, fmt.Errorf("%w: what was answered before speaks of %v neighbours, the budget %q of %v", ErrBound, n.options.Neighbours, a.Budget.Name(), a.Budget.Neighbours())
	}
	before := release{statement: "answered before the budget"}
	for _, given := range e.once {
		before.events = append(before.events, given.release.events...)
		if given.delta.Cmp(before.delta) > 0 {
			before.delta = given.delta
		}
	}
	if len(before.events) == 0 { // a catalog's table has none: its ledger was charged
		return a.Budget, nil
	}
	r, err := before.charge(name, a.Budget)
	if err != nil {
		return nil, err
	}
	_, err = budget.Spend(ctx, a.Budget, r, func() (bool, error) { return true, nil })
	return a.Budget, err
}

// same reports whether two budgets are the same one.
func same(a, b budget.Budget) bool { return reflect.TypeOf(a).Comparable() && a == b }

// charge is the release in the form that a budget takes.
func (r release) charge(name string, b budget.Budget) (budget.Release, error) {
	c := budget.Release{Statement: name + ": " + r.statement, Delta: r.delta}
	for _, e := range r.events {
		e, err := chargeable(e, b, r.delta)
		if err != nil {
			return budget.Release{}, err
		}
		c.Events = append(c.Events, e)
	}
	return c, nil
}

func (n *Node) record(ctx context.Context, a Act) error {
	a.Time, a.Node = n.options.Now(), n.options.Name
	if err := n.options.Log.Append(ctx, a); err != nil {
		return fmt.Errorf("record the decision: %w", err)
	}
	return nil
}

// describe checks an access definition and says what it is.
func describe(a Access) (Act, error) {
	act := Act{Kind: "access"}
	var m Mechanism
	switch a := a.(type) {
	case nil:
		act.Access = "none"
		return act, nil
	case Unprotected:
		act.Access, act.By, act.Why = "unprotected", a.By, a.Why
		return act, a.check()
	case Unmetered:
		if m = a.Mechanism; m == nil {
			return act, errors.New("the mechanism is missing")
		}
		act.Access, act.By, act.Why = join("unmetered", m.String()), a.By, a.Why
		if err := a.check(); err != nil {
			return act, err
		}
	case Adaptive:
		act.Access = "adaptive"
		if a.Budget != nil {
			act.Access = fmt.Sprintf("adaptive(%q)", a.Budget.Name())
		}
		if m = a.Mechanism; m == nil {
			return act, nil
		}
		act.Access = join(act.Access, m.String())
	case Mechanism:
		m = a
		act.Access = join("once", m.String())
	default:
		return act, fmt.Errorf("no such access definition: %T", a)
	}
	act.Declared = m.declared()
	for _, v := range act.Declared {
		if err := v.check(); err != nil {
			return act, err
		}
	}
	return act, nil
}
