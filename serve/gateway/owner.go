package gateway

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
)

// owner returns ErrNotAllowed for an account that is not an owner now.
func (g *Gateway) owner(ctx context.Context, who Asker) (people.Account, error) {
	account, err := who.Account.Current(ctx)
	if err == nil && account.Role != people.Owner {
		err = ErrNotAllowed
	}
	return account, err
}

// Condition returns how the ledger is kept, for owners.
func (g *Gateway) Condition(ctx context.Context, who Asker) (ledger.Condition, error) {
	if _, err := g.owner(ctx, who); err != nil {
		return ledger.Condition{}, err
	}
	return g.config.Ledger.Condition(ctx)
}

// Head returns where the ledger's chain ends, for owners.
func (g *Gateway) Head(ctx context.Context, who Asker) (ledger.Head, error) {
	if _, err := g.owner(ctx, who); err != nil {
		return ledger.Head{}, err
	}
	return g.config.Ledger.Head(ctx)
}

// Verify reads the whole ledger and checks it, for owners. It takes the place of a
// statement while it does.
func (g *Gateway) Verify(ctx context.Context, who Asker) error {
	account, err := g.owner(ctx, who)
	if err != nil {
		return err
	}
	leave, err := g.running.enter(ctx, account.Name)
	if err != nil {
		return err
	}
	defer leave()
	return g.config.Ledger.Verify(ctx)
}

// Holdings returns what an account may spend of the domains that exist for it, and has
// spent: its own, and of its groups.
func (g *Gateway) Holdings(ctx context.Context, who Asker) (all []ledger.Holding, err error) {
	balances, err := g.Budget(ctx, who)
	if err != nil {
		return nil, err
	}
	account, err := who.Account.Current(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range balances {
		for _, holder := range account.Holders() {
			h, err := g.config.Ledger.Holding(ctx, holder, b.ID)
			if err != nil {
				return nil, fmt.Errorf("read holding: %w", err)
			}
			all = append(all, h)
		}
	}
	return all, nil
}
