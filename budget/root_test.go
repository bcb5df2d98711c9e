package budget

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/privacy"
)

// An embedding budget has the methods of another, those that are not exported too.
type embedded struct{ Budget }

// A forwarder says for whom it passes on.
type forwarder struct{ Budget }

func (f *forwarder) Pays() (self, payer Budget) { return f, f.Budget }

// An embedding of a budget in memory would be one of this package's own, by its methods.
type meter struct {
	*InMemory
	asked int
}

func (m *meter) Reserve(ctx context.Context, r Release) (Reservation, error) {
	m.asked++
	return m.InMemory.Reserve(ctx, r)
}

// A circle passes on to itself by way of another.
type circle struct {
	Budget
	next *circle
}

func (c *circle) Pays() (self, payer Budget) { return c, c.next }

// Who pays in the end is what a budget says of itself, never what it inherits.
func TestRoots(t *testing.T) {
	root := memory(t)
	ps := must(Partition(root, PartitionOptions{Names: []string{"x", "y"}, Spread: 1}))
	q := must(NewQuota(root, "q", budgets[0]))
	a, b := &circle{Budget: root}, &circle{Budget: root}
	a.next, b.next = b, a
	for name, c := range map[string]struct {
		budget Budget
		root   Budget // nil: it does not say
	}{
		"itself":                         {root, root},
		"a quota":                        {q, root},
		"a part of a quota":              {must(Partition(q, PartitionOptions{Names: []string{"x"}, Spread: 1}))[0], root},
		"a forwarder":                    {&forwarder{ps[0]}, root},
		"a part of a forwarder":          {must(Partition(&forwarder{q}, PartitionOptions{Names: []string{"x"}, Spread: 1}))[0], root},
		"one that embeds a budget":       {&embedded{ps[0]}, nil},
		"one that embeds a forwarder":    {&embedded{&forwarder{root}}, nil},
		"one that embeds a forwarder's":  {&struct{ *forwarder }{&forwarder{root}}, nil},
		"one that embeds one in memory":  {&meter{InMemory: root}, nil},
		"one that embeds a quota":        {&struct{ *quota }{q.(*quota)}, nil},
		"one that embeds a part":         {&struct{ *part }{ps[1].(*part)}, nil},
		"a part of one that embeds":      {must(Partition(&embedded{root}, PartitionOptions{Names: []string{"x"}, Spread: 1}))[0], nil},
		"a forwarder to one that embeds": {&forwarder{&embedded{root}}, nil},
		"one that passes on to itself":   {a, nil},
		"one that cannot be compared": {struct {
			Budget
			notes []string
		}{root, nil}, nil},
	} {
		got, err := Root(c.budget)
		if c.root == nil && !errors.Is(err, ErrRoot) || c.root != nil && (err != nil || got != c.root) {
			t.Errorf("%s: the root is %v, %v", name, got, err)
		}
	}
	if _, err := Root(nil); !errors.Is(err, ErrRoot) {
		t.Error(err)
	}
}

// What embeds a budget of this package is charged by its own Reserve, under a partition
// and in a common charge too.
func TestEmbeddedBudgetsAreAsked(t *testing.T) {
	m := &meter{InMemory: memory(t)}
	half := Release{Events: []privacy.Event{pure("0.5")}}
	ps := must(Partition(m, PartitionOptions{Names: []string{"x"}, Spread: 1}))
	if _, err := ps[0].Reserve(context.Background(), half); err != nil || m.asked != 1 {
		t.Errorf("%v; it was asked %d times", err, m.asked)
	}
	if _, err := ReserveAll(context.Background(), []Charge{{m, half}}); err != nil || m.asked != 2 || spent(m.InMemory) != "epsilon 1" {
		t.Errorf("%v; it was asked %d times", err, m.asked)
	}
}

// A budget that would wait for itself is refused, and nobody is charged.
func TestForwardersDoNotWaitForThemselves(t *testing.T) {
	root := memory(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r := Release{Events: []privacy.Event{pure("0.1")}}
	if _, err := ReserveAll(ctx, []Charge{{root, r}, {&forwarder{root}, r}}); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := ReserveAll(ctx, []Charge{{&forwarder{root}, r}, {&forwarder{root}, r}}); err != nil {
		t.Error(err)
	}
	if got := spent(root); got != "epsilon 0.2" {
		t.Errorf("spent %s", got)
	}
}
