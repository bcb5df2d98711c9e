package budget

import (
	"errors"
	"fmt"
)

// ErrRoot is wrapped by the refusal to say who pays in the end for what a budget is
// charged.
var ErrRoot = errors.New("the budget does not say which budget pays in the end")

// A Rooted budget of another package says who pays in the end for what it is charged.
// One that does not is charged as any other, but not for data that several budgets pay
// for: how far a unit moves what each of them pays for depends on whether they are one.
type Rooted interface {
	Budget
	// Pays returns the budget itself, and the next budget that pays for all that it is
	// charged: itself, if no other does. The first is what a budget that embeds another,
	// and so has its methods, does not return by accident: it is then not believed.
	Pays() (self, payer Budget)
}

// maxDepth bounds how many budgets lie over each other.
const maxDepth = 1000

// Root returns the budget that pays in the end for what b is charged: b itself, or what
// lies under its partitions and quotas and under budgets that are Rooted. It fails for a
// budget of another package that does not say.
func Root(b Budget) (Budget, error) {
	for range maxDepth {
		if b == nil {
			return nil, fmt.Errorf("%w: it is missing", ErrRoot)
		}
		below, err := payer(b)
		if err != nil {
			return nil, err
		}
		if same(below, b) {
			return b, nil
		}
		b = below
	}
	return nil, fmt.Errorf("%w: more than %d budgets lie over each other", ErrRoot, maxDepth)
}

func payer(b Budget) (Budget, error) {
	if n, ok := nodeOf(b); ok {
		switch n := n.(type) {
		case *part:
			return n.parent, nil
		case *quota:
			return n.parent, nil
		}
		return b, nil
	}
	if r, ok := b.(Rooted); ok {
		if self, below := r.Pays(); below != nil && same(self, b) {
			return below, nil
		}
	}
	return nil, fmt.Errorf("%w: %q is a %T; give it a method Pays of its own", ErrRoot, b.Name(), b)
}
