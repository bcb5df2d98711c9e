package people

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
)

// The names of rules, beside the ledger's own (ledger.QuotaRule, ledger.LimitRule).
const (
	roleRule     = "role"     // a Role; given once, when the account is made
	disabledRule = "disabled" // true
	expiresRule  = "expires"  // a time
	memberRule   = "member"   // object: a group; true
	passwordRule = "password" // the digest of a verifier
	tokenRule    = "token"    // object: its id; a token
	tablesRule   = "tables"   // a list of names
	hoursRule    = "hours"    // Hours
	defaultRule  = "default"  // ledger.Allowance: what a statement spends that names nothing
)

// A roll is what the chain's rules say of accounts and groups, up to a rule. It is not
// changed once it is made, so that many read it.
type roll struct {
	last     int64
	accounts map[string]*profile
	groups   map[string]*restrictions
}

// A profile is what the rules say of an account.
type profile struct {
	name     string
	role     Role
	disabled bool
	expires  time.Time // zero: never
	groups   []string  // in their order
	password []byte    // the digest of the verifier that counts
	tokens   map[string]token
	spend    filter.Amounts // what a statement spends that names nothing
	restrictions
	bounds []bounded // its own, and those of its groups

	ended int64 // the last rule that ends the sessions before it
}

// bounded is a holder with its restrictions.
type bounded struct {
	holder string
	*restrictions
}

// closed reports whether nobody may sign in.
func (p *profile) closed(now time.Time) bool {
	return p.disabled || !p.expires.IsZero() && !now.Before(p.expires)
}

// restrictions are rules that an account or a group can have.
type restrictions struct {
	tables map[string]bool // nil: all
	hours  *Hours          // nil: always
	quotas map[string]ledger.Allowance
	limits map[string]ledger.Allowance
}

func (r *restrictions) clone() restrictions {
	c := *r
	c.quotas, c.limits = copied(r.quotas), copied(r.limits)
	return c
}

func copied[K comparable, V any](m map[K]V) map[K]V {
	c := make(map[K]V, len(m)+1)
	for k, v := range m {
		c[k] = v
	}
	return c
}

// A token is what the rules say of one.
type token struct {
	Label   string    `json:"label"`
	Expires time.Time `json:"expires"`
	Digest  []byte    `json:"digest"`
}

func (t token) expired(now time.Time) bool { return !now.Before(t.Expires) }

// with returns the roll after further rules.
func (r *roll) with(rules []ledger.Rule, last int64) (*roll, error) {
	next := &roll{last: last, accounts: copied(r.accounts), groups: copied(r.groups)}
	fresh := map[string]*profile{}
	account := func(name string) *profile {
		p := fresh[name]
		if p == nil {
			p = &profile{name: name}
			if before := next.accounts[name]; before != nil {
				c := *before
				p = &c
			}
			p.restrictions = p.restrictions.clone()
			p.tokens, p.groups = copied(p.tokens), slices.Clone(p.groups)
			fresh[name], next.accounts[name] = p, p
		}
		return p
	}
	for _, rule := range rules {
		var err error
		if name, ok := strings.CutPrefix(rule.Subject, accountPrefix); ok {
			err = account(name).apply(rule)
		} else if name, ok := strings.CutPrefix(rule.Subject, groupPrefix); ok {
			g := &restrictions{}
			if before := next.groups[name]; before != nil {
				*g = *before
			}
			*g = g.clone()
			next.groups[name] = g
			err = g.apply(rule)
		}
		if err != nil {
			return nil, fmt.Errorf("rule %d: %s of %s: %w", rule.Record, rule.Name, rule.Subject, err)
		}
	}
	for name, p := range next.accounts { // a group's rules may be later than its members
		if fresh[name] == nil {
			c := *p
			p = &c
			next.accounts[name] = p
		}
		if p.role == "" { // rules about an account that was never made
			delete(next.accounts, name)
			continue
		}
		p.bounds = []bounded{{subject(name), &p.restrictions}}
		for _, g := range p.groups {
			if r := next.groups[g]; r != nil {
				p.bounds = append(p.bounds, bounded{groupSubject(g), r})
			}
		}
	}
	return next, nil
}

func (p *profile) apply(rule ledger.Rule) (err error) {
	decode := func(to any) {
		if !rule.Lifted() {
			err = json.Unmarshal(rule.Body, to)
		}
	}
	switch rule.Name {
	case roleRule:
		decode(&p.role)
		if p.role != Owner && p.role != Analyst {
			return fmt.Errorf("unknown role %q", p.role)
		}
		p.ended = rule.Record
	case disabledRule:
		p.disabled = false
		decode(&p.disabled)
		p.ended = rule.Record
	case expiresRule:
		p.expires = time.Time{}
		decode(&p.expires)
	case passwordRule:
		p.password = nil
		decode(&p.password)
		p.ended = rule.Record
	case tokenRule:
		delete(p.tokens, rule.Object)
		if !rule.Lifted() {
			var t token
			decode(&t)
			p.tokens[rule.Object] = t
		}
	case memberRule:
		member := false
		decode(&member)
		p.groups = slices.DeleteFunc(p.groups, func(g string) bool { return g == rule.Object })
		if member {
			p.groups = append(p.groups, rule.Object)
			slices.Sort(p.groups)
		}
	case defaultRule:
		p.spend = filter.Amounts{}
		decode(&p.spend)
	default:
		return p.restrictions.apply(rule)
	}
	return err
}

// errUnknownRule: a later version of the program has recorded it. What it forbids is not
// known, so nobody is let in.
var errUnknownRule = errors.New("this version does not know such a rule")

func (r *restrictions) apply(rule ledger.Rule) (err error) {
	switch rule.Name {
	case tablesRule:
		r.tables = nil
		if rule.Lifted() {
			return nil
		}
		var names []string
		err = json.Unmarshal(rule.Body, &names)
		r.tables = map[string]bool{}
		for _, n := range names {
			r.tables[n] = true
		}
		return err
	case hoursRule:
		r.hours = nil
		if rule.Lifted() {
			return nil
		}
		h := &Hours{}
		if err = json.Unmarshal(rule.Body, h); err == nil {
			err = h.check()
		}
		r.hours = h
		return err
	case ledger.QuotaRule, ledger.LimitRule:
		of := r.quotas
		if rule.Name == ledger.LimitRule {
			of = r.limits
		}
		delete(of, rule.Object)
		if rule.Lifted() {
			return nil
		}
		var a ledger.Allowance
		err = json.Unmarshal(rule.Body, &a.Amounts)
		of[rule.Object] = a
		return err
	}
	return errUnknownRule
}
