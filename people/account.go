// Package people holds who may ask: accounts and groups, how they sign in, and the rules
// about them.
//
// It guarantees: signing in takes the account's current password or one of its current tokens. The
// ledger's chain says what an account may do, so that no copy of another file brings back a right,
// a password or a token that was taken away. A name without an account and a wrong password get the
// same answer, after the same work. And nobody can lock another's account by failing to sign in:
// that only slows it, by seconds, and by more from an address that both share.
//
// It does not guarantee that accounts are different people, nor anything against those who can
// write the ledger.
package people

import (
	"context"
	"errors"
	"fmt"
)

// A Role is what an account may do beside asking.
type Role string

// The roles. An owner decides about accounts, rules and approvals, and sees what all have
// asked; an analyst asks and sees what he or she has asked.
const (
	Owner   Role = "owner"
	Analyst Role = "analyst"
)

// An Account is somebody who has signed in. An Account that was not made by signing in has no rules
// and never ends.
type Account struct {
	Name string
	Role Role

	of      *Accounts
	profile *profile // as it was when the account was looked at
	seen    int64    // the last rule that was looked at then
	since   int64    // the last rule when it signed in
	token   string   // the id of the token that it signed in with; "" of a password
}

// Holders are those whose quotas and limits hold for what the account asks: itself and its
// groups. They are for ledger.Request.
func (a Account) Holders() []string {
	holders := []string{subject(a.Name)}
	if a.profile != nil {
		for _, g := range a.profile.groups {
			holders = append(holders, groupSubject(g))
		}
	}
	return holders
}

// Seen is the last record at which the rules were looked at, for ledger.Request.Rules.
func (a Account) Seen() int64 { return a.seen }

// ErrEnded: the account was disabled, has expired, or has another password or token since
// it signed in.
var ErrEnded = errors.New("the session has ended: sign in again")

// Current returns the account with the rules of now, or ErrEnded. It is to be called
// before every statement; it reads what was recorded since, no more.
func (a Account) Current(ctx context.Context) (Account, error) {
	if a.of == nil {
		return a, nil
	}
	r, err := a.of.refresh(ctx)
	if err != nil {
		return Account{}, fmt.Errorf("look at account: %w", err)
	}
	p := r.accounts[a.Name]
	if p == nil || p.closed(a.of.now()) || p.ended > a.since {
		return Account{}, ErrEnded
	}
	if a.token != "" {
		t, ok := p.tokens[a.token]
		if !ok || t.expired(a.of.now()) {
			return Account{}, ErrEnded
		}
	}
	a.Role, a.profile, a.seen = p.role, p, r.last
	return a, nil
}

// Valid refuses with ErrEnded an account whose session has ended.
func (a Account) Valid(ctx context.Context) error {
	_, err := a.Current(ctx)
	return err
}
