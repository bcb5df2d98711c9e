package datanode

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/privacy"
)

// Query answers by the mechanism that the access definition has.
func (n *Node) Query(ctx context.Context, name string) (Answer, error) {
	return n.answer(ctx, name, nil)
}

// QueryWith answers by a mechanism that is given with the query, if the access
// definition is Adaptive and names none.
func (n *Node) QueryWith(ctx context.Context, name string, m Mechanism) (Answer, error) {
	if m == nil {
		return Answer{}, fmt.Errorf("query %q: the mechanism is missing", name)
	}
	return n.answer(ctx, name, m)
}

func (n *Node) answer(ctx context.Context, name string, given Mechanism) (Answer, error) {
	a, err := n.ask(ctx, name, given, nil)
	if err != nil {
		return Answer{}, fmt.Errorf("query %q: %w", name, err)
	}
	return a, nil
}

// A view takes the place of an entry's frame: numbers in one column, each a function of
// one row alone, so that neighbours stay neighbours.
type view struct {
	check   func(shape) error
	numbers func(*frame) []float64
}

// ask answers a question about a view of a name's data.
func (n *Node) ask(ctx context.Context, name string, given Mechanism, v *view) (Answer, error) {
	n.mu.Lock()
	e := n.entries[name]
	if e == nil || e.data.held == nil || e.access == nil {
		n.mu.Unlock()
		return Answer{}, fmt.Errorf("%w: no access definition", ErrNoAccess)
	}
	q := asked{node: n, name: name, entry: e, data: e.data, budget: e.budget, view: v, given: given != nil, version: e.version, configured: e.configured}
	access := e.access
	n.mu.Unlock()

	adaptive, isAdaptive := access.(Adaptive)
	switch {
	case given == nil:
	case !isAdaptive || adaptive.Mechanism != nil:
		return Answer{}, fmt.Errorf("%w: the owner has fixed the mechanism", ErrNoAccess)
	}
	switch a := access.(type) {
	case Unprotected:
		return q.unprotected(ctx, a)
	case Unmetered:
		return q.unmetered(ctx, a)
	case Adaptive:
		if given == nil {
			given = a.Mechanism
		}
		if given == nil {
			return Answer{}, fmt.Errorf("%w: the mechanism is to be given with the query", ErrNoAccess)
		}
		return q.adaptive(ctx, given)
	case Mechanism:
		return q.drawOnce(ctx, a)
	}
	return Answer{}, ErrNoAccess
}

// asked is one question, with the data that it is about.
type asked struct {
	node   *Node
	name   string
	entry  *entry
	data   Data
	budget budget.Budget
	view   *view
	given  bool // the mechanism came with the query

	version, configured int // of the entry
}

// release compiles a mechanism for the data under a relation.
func (q asked) release(m Mechanism, neighbours privacy.Neighbours) (release, error) {
	replaced := neighbours == privacy.ReplaceOne
	s := q.data.held().frame.shape(replaced)
	if q.view != nil {
		if err := q.view.check(s); err != nil {
			return release{}, err
		}
		s.columns = []column{{}}
	}
	r, err := m.release(s)
	if err != nil {
		return release{}, err
	}
	// r.declared is a copy; the asker could change m meanwhile.
	if q.given && len(r.declared) > 0 {
		return release{}, fmt.Errorf("%w: a sensitivity is the owner's to declare", ErrNoAccess)
	}
	if len(r.events) == 0 {
		return release{}, ErrNoEvent
	}
	for _, e := range r.events {
		if e == nil {
			return release{}, ErrNoEvent
		}
		if err := e.Validate(); err != nil {
			return release{}, fmt.Errorf("%w: %w", ErrNoEvent, err)
		}
		if err := privacy.Holds(e, neighbours); err != nil {
			return release{}, err
		}
	}
	return r, nil
}

// frame returns the rows that the question is about.
func (q asked) frame() *frame {
	f := &q.data.held().frame
	if q.view != nil {
		return &frame{f.rows, []column{{numbers: q.view.numbers(f)}}}
	}
	return f
}

func (q asked) draw(r release) (Answer, error) {
	a, err := r.answer(q.node.bits, q.frame())
	if err != nil {
		return Answer{}, fmt.Errorf("answer: %w", err)
	}
	return a, nil
}

func (q asked) adaptive(ctx context.Context, m Mechanism) (Answer, error) {
	if q.data.held().table != nil {
		return q.data.held().table.answer(ctx, q.node.options.Name, m)
	}
	if q.budget == nil {
		return Answer{}, fmt.Errorf("%w: there is no budget", ErrNoAccess)
	}
	r, err := q.release(m, q.budget.Neighbours())
	if err != nil {
		return Answer{}, err
	}
	charge, err := r.charge(q.name, q.budget)
	if err != nil {
		return Answer{}, err
	}
	return budget.Spend(ctx, q.budget, charge, func() (Answer, error) { return q.draw(r) })
}

// drawOnce gives the first answer that the mechanism drew about the same data, and draws it
// if there is none. If the name has a budget, it pays.
func (q asked) drawOnce(ctx context.Context, m Mechanism) (Answer, error) {
	if q.view != nil {
		return Answer{}, fmt.Errorf("%w: what is computed with the data needs a budget", ErrNoAccess)
	}
	q.entry.drawing.Lock()
	defer q.entry.drawing.Unlock()
	if given, ok := q.entry.answered(m, q.version, q.configured); ok {
		return given, nil
	}
	q.node.mu.Lock()
	q.budget = q.entry.budget // the owner may have set one since
	q.node.mu.Unlock()
	var a Answer
	r := release{}
	var err error
	if q.data.held().table != nil || q.budget != nil {
		a, err = q.adaptive(ctx, m)
	} else if r, err = q.release(m, q.node.options.Neighbours); err == nil {
		a, err = q.draw(r)
	}
	if err != nil {
		return Answer{}, err
	}
	q.entry.once = append(q.entry.once, answer{a.clone(), r, m, q.version, q.configured})
	return a.clone(), nil
}

func (q asked) unmetered(ctx context.Context, u Unmetered) (Answer, error) {
	if q.data.held().table != nil {
		return Answer{}, fmt.Errorf("%w: a table of a catalog has a ledger", ErrNoAccess)
	}
	r, err := q.release(u.Mechanism, q.node.options.Neighbours)
	if err != nil {
		return Answer{}, err
	}
	if err := q.node.record(ctx, Act{Name: q.name, Kind: "unmetered", Access: r.statement, By: u.By, Why: u.Why}); err != nil {
		return Answer{}, err
	}
	return q.draw(r)
}

// unprotected gives the rows as they are: numbers row by row, then texts.
func (q asked) unprotected(ctx context.Context, u Unprotected) (Answer, error) {
	if q.data.held().table != nil {
		return Answer{}, fmt.Errorf("%w: a table of a catalog has a ledger", ErrNoAccess)
	}
	if err := q.node.record(ctx, Act{Name: q.name, Kind: "unprotected", Access: "unprotected", By: u.By, Why: u.Why}); err != nil {
		return Answer{}, err
	}
	f := q.frame()
	a := Answer{Statement: "unprotected"}
	for _, c := range f.columns {
		a.Labels = append(a.Labels, c.name)
	}
	for r := range f.rows {
		for _, c := range f.columns {
			if c.text() {
				a.Texts = append(a.Texts, c.texts[r])
			} else {
				a.Values = append(a.Values, c.numbers[r])
			}
		}
	}
	return a, nil
}

// chargeable returns an event that the budget's filter can charge for e.
func chargeable(e privacy.Event, b budget.Budget, delta privacy.Delta) (privacy.Event, error) {
	switch e.(type) {
	case privacy.Poisson, privacy.WithoutReplacement:
		return amplified(e, b.Filter(), b.Neighbours(), delta)
	}
	return e, nil
}
