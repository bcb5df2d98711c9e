package budget

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/discreet-dp/discreet/filter"
)

// A node is a budget of this package: in memory, or over another budget.
type node interface {
	Budget
	// self returns the node, also where a budget of another package has embedded it and
	// so has its methods: that one is no node, and its own Reserve is what is called.
	self() Budget
	// own returns the lock of the node's tree.
	own() lock
	// charge tries a release, and that all above the node admits it. The tree is
	// locked.
	charge(t *trial, r Release) error
	// left is Left; the tree is locked.
	left(ctx context.Context) (filter.Total, error)
}

// A lock guards all nodes of a tree: those with a common root, or over one call to
// Partition or NewQuota on a budget that is not of this package. It is a channel
// because a charge may wait for a disk, and who waits behind it may give up.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

func (l lock) acquire(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l lock) try() bool {
	select {
	case l <- struct{}{}:
		return true
	default:
		return false
	}
}

func (l lock) release() { <-l }

// nodeOf returns b as a node, if it is one.
func nodeOf(b Budget) (node, bool) {
	n, ok := b.(node)
	return n, ok && same(n.self(), b)
}

// lockOf returns the lock that a node over parent shares.
func lockOf(parent Budget) lock {
	if n, ok := nodeOf(parent); ok {
		return n.own()
	}
	return newLock()
}

// acquireAll takes several locks. It waits for one at a time and holds none
// meanwhile, so that no two callers wait for each other.
func acquireAll(ctx context.Context, locks []lock) error {
	for first := 0; ; {
		if err := locks[first].acquire(ctx); err != nil {
			return err
		}
		busy := slices.IndexFunc(locks, func(l lock) bool { return l != locks[first] && !l.try() })
		if busy < 0 {
			return nil
		}
		locks[first].release()
		for _, l := range locks[:busy] {
			if l != locks[first] {
				l.release()
			}
		}
		first = busy
	}
}

// A trial is an attempt at charging, which takes back what it did to the trees
// unless it succeeds as a whole.
type trial struct {
	ctx    context.Context
	locks  []lock // which are held
	undo   []func()
	asked  Budget  // of the charges, the one that is tried
	others []other // what budgets that are not of this package shall pay
}

type other struct {
	Charge
	asked Budget // that they shall pay it for
}

func (t *trial) set(total *filter.Total, to filter.Total) {
	old := *total
	t.undo = append(t.undo, func() { *total = old })
	*total = to
}

func (t *trial) fail() {
	for _, f := range slices.Backward(t.undo) {
		f()
	}
}

// charge passes a release on. What one other budget pays for several nodes is one
// release, so that it is refused as a whole.
func (t *trial) charge(b Budget, r Release) error {
	if n, ok := nodeOf(b); ok {
		return n.charge(t, r)
	}
	for i, o := range t.others {
		if same(o.Budget, b) && o.Release.Delta.Equal(r.Delta) {
			t.others[i].Release.Events = slices.Concat(o.Release.Events, r.Events)
			if o.Release.Statement != r.Statement {
				t.others[i].Release.Statement += "; " + r.Statement
			}
			return nil
		}
	}
	t.others = append(t.others, other{Charge{b, r}, t.asked})
	return nil
}

func same(a, b Budget) bool { return reflect.TypeOf(a).Comparable() && a == b }

// reserve charges the other budgets. Before several are charged, each is asked.
func (t *trial) reserve() (reservations, error) {
	for _, o := range t.others {
		if root, err := Root(o.Budget); err == nil && t.holds(root) {
			return nil, refusal(o.asked, fmt.Errorf("budget %q passes on what it is charged to %q, which is charged at the same time: charge them one after the other", o.Budget.Name(), root.Name()))
		}
	}
	if len(t.others) > 1 {
		for _, o := range t.others {
			if err := affords(t.ctx, o.Charge); err != nil {
				return nil, refusal(o.asked, err)
			}
		}
	}
	var made reservations
	for _, o := range t.others {
		r, err := o.Budget.Reserve(t.ctx, o.Release)
		if err != nil {
			return nil, refusal(o.asked, err)
		}
		made = append(made, r)
	}
	return made, nil
}

// holds reports whether a budget's tree is locked by the trial.
func (t *trial) holds(b Budget) bool {
	n, ok := nodeOf(b)
	return ok && slices.Contains(t.locks, n.own())
}

func affords(ctx context.Context, c Charge) error {
	f := c.Budget.Filter()
	asked, err := f.Charge(c.Release.Events, c.Release.Delta)
	if err != nil {
		return err
	}
	left, err := c.Budget.Left(ctx)
	if err != nil {
		return err
	}
	if !asked.Within(left.Total(f.Measure())) {
		return exceeded(c.Budget, asked, left.Total(f.Measure()))
	}
	return nil
}

func exceeded(b Budget, asked, left filter.Total) error {
	f := b.Filter()
	return &ExceededError{Budget: b.Name(), Measure: f.Measure(), Asked: f.Amounts(asked), Left: f.Amounts(left)}
}

// reservations are those that budgets outside of this package made for one charge;
// none where what was charged had been paid for.
type reservations []Reservation

// Commit commits all of them.
func (rs reservations) Commit(ctx context.Context, answer []byte) error {
	for _, r := range rs {
		if err := r.Commit(ctx, answer); err != nil {
			return err
		}
	}
	return nil
}

// ReserveAll charges several budgets for what one answer reveals to each, or none of
// them: a refusal leaves every budget in memory, every partition and every quota as
// it was, whatever others ask at the same time. Of several budgets outside of this
// package, two domains of a ledger say, all are asked first and then charged one by
// one: if others spent meanwhile what the last of them had, the first stay charged. A
// budget of another package that passes on what it is charged is not to be charged
// together with what it passes that on to: it would wait for itself, and is refused if
// it is Rooted.
func ReserveAll(ctx context.Context, charges []Charge) (Reservation, error) {
	if len(charges) == 0 {
		return nil, errors.New("reserve: nobody pays")
	}
	var locks []lock
	for _, c := range charges {
		if c.Budget == nil {
			return nil, errors.New("reserve: a budget is missing")
		}
		if n, ok := nodeOf(c.Budget); ok && !slices.Contains(locks, n.own()) {
			locks = append(locks, n.own())
		}
	}
	if len(locks) > 0 {
		if err := acquireAll(ctx, locks); err != nil {
			return nil, err
		}
		defer func() {
			for _, l := range locks {
				l.release()
			}
		}()
	}
	t := &trial{ctx: ctx, locks: locks}
	made, err := t.run(charges)
	if err != nil {
		t.fail()
		return nil, err
	}
	return made, nil
}

func (t *trial) run(charges []Charge) (reservations, error) {
	if err := t.ctx.Err(); err != nil {
		return nil, err
	}
	for _, c := range charges {
		t.asked = c.Budget
		if err := t.charge(c.Budget, c.Release); err != nil {
			return nil, refusal(c.Budget, err)
		}
	}
	return t.reserve()
}

// refusal names the budget that was asked, if the one that refused is another.
func refusal(asked Budget, err error) error {
	var e *ExceededError
	if errors.As(err, &e) && e.Budget == asked.Name() {
		return err
	}
	return fmt.Errorf("budget %q: %w", asked.Name(), err)
}

// reserve is Reserve of every node.
func reserve(ctx context.Context, n node, r Release) (Reservation, error) {
	return ReserveAll(ctx, []Charge{{n, r}})
}

// remaining is Left of every node.
func remaining(ctx context.Context, n node) (filter.Amounts, error) {
	if err := n.own().acquire(ctx); err != nil {
		return filter.Amounts{}, err
	}
	defer n.own().release()
	left, err := n.left(ctx)
	return n.Filter().Amounts(left), err
}

// leftOf asks any budget; the tree of a node is locked.
func leftOf(ctx context.Context, b Budget) (filter.Total, error) {
	if n, ok := nodeOf(b); ok {
		return n.left(ctx)
	}
	a, err := b.Left(ctx)
	return a.Total(b.Filter().Measure()), err
}
