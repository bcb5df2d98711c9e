package people

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/ledger"
)

// What the owner does. Each act says by whose word it is, which the ledger records beside
// the user of the operating system. What it takes away is gone when it returns: no
// statement is charged for it from then on, in any process.

// ErrUnknown: there is no such account.
var ErrUnknown = errors.New("there is no such account")

// ErrExists: there is, or was, an account of that name. A name is given once, for what it
// spent stays its own.
var ErrExists = errors.New("there is such an account already")

// maxPassword is how long a password may be.
const maxPassword = 1024

// NewPassword returns a password of 128 random bits.
func NewPassword() (string, error) {
	bits := make([]byte, 16)
	if _, err := entropy.New().Read(bits); err != nil {
		return "", fmt.Errorf("make password: %w", err)
	}
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(bits)), nil
}

func encode(v any) json.RawMessage {
	body, err := json.Marshal(v)
	if err != nil {
		panic("people: encode rule: " + err.Error()) // texts, numbers and times
	}
	return body
}

// set records rules.
func (a *Accounts) set(ctx context.Context, by string, rules ...ledger.Rule) error {
	return a.options.Ledger.SetRules(ctx, by, a.now(), rules...)
}

// known refuses a name without an account.
func (a *Accounts) known(ctx context.Context, name string) (*profile, error) {
	r, err := a.refresh(ctx)
	if err != nil {
		return nil, err
	}
	p := r.accounts[name]
	if p == nil {
		return nil, fmt.Errorf("%q: %w", name, ErrUnknown)
	}
	return p, nil
}

// Add makes an account. Without a password, "", nobody can sign in to it by one.
func (a *Accounts) Add(ctx context.Context, by, name string, role Role, password string) (err error) {
	defer wrap(&err, "add account")
	if err := checkName(name); err != nil {
		return err
	}
	if role != Owner && role != Analyst {
		return fmt.Errorf("a role is %q or %q", Owner, Analyst)
	}
	if _, err := a.known(ctx, name); err == nil {
		return fmt.Errorf("%q: %w", name, ErrExists)
	} else if !errors.Is(err, ErrUnknown) {
		return err
	}
	rules := []ledger.Rule{{Subject: subject(name), Name: roleRule, Body: encode(role), New: true}}
	if password != "" {
		rule, err := a.store(ctx, name, password)
		if err != nil {
			return err
		}
		rules = append(rules, rule)
	}
	if err := a.set(ctx, by, rules...); errors.Is(err, ledger.ErrExists) {
		return fmt.Errorf("%q: %w", name, ErrExists)
	} else if err != nil {
		return err
	}
	return nil
}

// store writes a verifier, and returns the rule by which it will count.
func (a *Accounts) store(ctx context.Context, name, password string) (ledger.Rule, error) {
	switch {
	case password == "" || len(password) > maxPassword:
		return ledger.Rule{}, fmt.Errorf("a password has 1 to %d bytes", maxPassword)
	case strings.ContainsRune(password, 0):
		return ledger.Rule{}, errors.New("no client can send a password with a zero byte")
	}
	c, err := a.hash(ctx, password, a.factors(name))
	if err != nil {
		return ledger.Rule{}, err
	}
	digest := a.digest(name, c)
	_, err = a.db.ExecContext(ctx, "INSERT INTO passwords (digest, account, salt, iterations, stored, server) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING",
		digest, name, []byte(c.Salt), c.Iters, c.StoredKey, c.ServerKey)
	return ledger.Rule{Subject: subject(name), Name: passwordRule, Body: encode(digest)}, err
}

// Rotate gives an account another password, and ends its sessions.
func (a *Accounts) Rotate(ctx context.Context, by, name, password string) (err error) {
	defer wrap(&err, "rotate password")
	if _, err := a.known(ctx, name); err != nil {
		return err
	}
	rule, err := a.store(ctx, name, password)
	if err != nil {
		return err
	}
	// Either verifier counts until the rule is recorded; whatever stops this in between,
	// one of them does.
	if err := a.set(ctx, by, rule); err != nil {
		return err
	}
	var digest []byte
	if err := json.Unmarshal(rule.Body, &digest); err != nil {
		return err
	}
	_, err = a.db.ExecContext(ctx, "DELETE FROM passwords WHERE account = ? AND digest != ?", name, digest)
	return err
}

// rule records a rule about an account that there is.
func (a *Accounts) rule(ctx context.Context, by, name, rule, object string, body any) error {
	if _, err := a.known(ctx, name); err != nil {
		return err
	}
	return a.set(ctx, by, ledger.Rule{Subject: subject(name), Name: rule, Object: object, Body: encode(body)})
}

// Disable lets nobody sign in to an account, and ends its sessions.
func (a *Accounts) Disable(ctx context.Context, by, name string) (err error) {
	defer wrap(&err, "disable account")
	return a.rule(ctx, by, name, disabledRule, "", true)
}

// Suspend disables an account because an answer to it could not be computed: the one of a
// reservation, which the record names. Enable is the owner's word that it may go on.
func (a *Accounts) Suspend(ctx context.Context, name string, reservation int64) (err error) {
	defer wrap(&err, "suspend account")
	return a.rule(ctx, fmt.Sprintf("discreet: the answer of record %d could not be computed", reservation), name, disabledRule, "", true)
}

// Enable undoes Disable, and Suspend.
func (a *Accounts) Enable(ctx context.Context, by, name string) (err error) {
	defer wrap(&err, "enable account")
	return a.rule(ctx, by, name, disabledRule, "", nil)
}

// Expire says when an account ends; never if the time is zero.
func (a *Accounts) Expire(ctx context.Context, by, name string, at time.Time) (err error) {
	defer wrap(&err, "expire account")
	if at.IsZero() {
		return a.rule(ctx, by, name, expiresRule, "", nil)
	}
	return a.rule(ctx, by, name, expiresRule, "", at.UTC())
}

// AddToken makes a token of an account, which ends at a time, and returns it: it is shown
// once.
func (a *Accounts) AddToken(ctx context.Context, by, name, label string, expires time.Time) (text string, err error) {
	defer wrap(&err, "add token")
	switch {
	case !expires.After(a.now()):
		return "", errors.New("a token ends at a time to come")
	case label == "" || len(label) > 63 || !utf8.ValidString(label) || Shown(label) != label:
		return "", errors.New("a token has a label of at most 63 printable characters")
	}
	if _, err := a.known(ctx, name); err != nil {
		return "", err
	}
	bits := make([]byte, 40)
	if _, err := entropy.New().Read(bits); err != nil {
		return "", err
	}
	id, secret := hex.EncodeToString(bits[:8]), bits[8:]
	hash := sha256.Sum256(secret)
	if _, err := a.db.ExecContext(ctx, "INSERT INTO tokens (id, account, hash) VALUES (?, ?, ?)", id, name, hash[:]); err != nil {
		return "", err
	}
	body := token{Label: label, Expires: expires.UTC(), Digest: a.mac("token", name, id, string(hash[:]))}
	if err := a.set(ctx, by, ledger.Rule{Subject: subject(name), Name: tokenRule, Object: id, Body: encode(body)}); err != nil {
		return "", err
	}
	return tokenPrefix + id + "_" + base64.RawURLEncoding.EncodeToString(secret), nil
}

// RevokeToken ends a token, named by its id, and the sessions that it signed in.
func (a *Accounts) RevokeToken(ctx context.Context, by, name, id string) (err error) {
	defer wrap(&err, "revoke token")
	p, err := a.known(ctx, name)
	if err != nil {
		return err
	}
	if _, ok := p.tokens[id]; !ok {
		return fmt.Errorf("%q has no token %q", name, id)
	}
	if err := a.rule(ctx, by, name, tokenRule, id, nil); err != nil {
		return err
	}
	_, err = a.db.ExecContext(ctx, "DELETE FROM tokens WHERE id = ?", id)
	return err
}

// Join makes an account a member of a group, or no longer. A group is made by its first
// member or rule. What the account has spent before is not the group's.
func (a *Accounts) Join(ctx context.Context, by, name, group string, member bool) (err error) {
	defer wrap(&err, "change group")
	if err := checkName(group); err != nil {
		return err
	}
	if !member {
		return a.rule(ctx, by, name, memberRule, group, nil)
	}
	return a.rule(ctx, by, name, memberRule, group, true)
}

// Spending says what a statement of an account spends that names nothing; nothing if a is
// zero.
func (a *Accounts) Spending(ctx context.Context, by, name string, spend filter.Amounts) (err error) {
	defer wrap(&err, "set default")
	if len(spend.Positive()) == 0 {
		return a.rule(ctx, by, name, defaultRule, "", nil)
	}
	return a.rule(ctx, by, name, defaultRule, "", ledger.Allowance{Amounts: spend})
}

// bound records a rule about an account or a group (see Subject).
func (a *Accounts) bound(ctx context.Context, by, of, rule, object string, body any) error {
	s, err := Subject(of)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(s, groupPrefix) {
		return a.rule(ctx, by, of, rule, object, body)
	}
	return a.set(ctx, by, ledger.Rule{Subject: s, Name: rule, Object: object, Body: encode(body)})
}

// Quota says what an account, or "group:NAME", may spend of a domain in all; nil lifts it.
func (a *Accounts) Quota(ctx context.Context, by, of, domain string, most *ledger.Allowance) (err error) {
	defer wrap(&err, "set quota")
	return a.bound(ctx, by, of, ledger.QuotaRule, domain, most)
}

// Limit says what a statement may cost without an approval; nil lifts it.
func (a *Accounts) Limit(ctx context.Context, by, of, domain string, most *ledger.Allowance) (err error) {
	defer wrap(&err, "set limit")
	return a.bound(ctx, by, of, ledger.LimitRule, domain, most)
}

// Tables says which tables exist for an account or a group; nil lifts it.
func (a *Accounts) Tables(ctx context.Context, by, of string, names []string) (err error) {
	defer wrap(&err, "set tables")
	if names == nil {
		return a.bound(ctx, by, of, tablesRule, "", nil)
	}
	// An empty list allows nothing; null would allow all.
	return a.bound(ctx, by, of, tablesRule, "", append([]string{}, slices.Compact(slices.Sorted(slices.Values(names)))...))
}

// Hours says when an account or a group may ask; nil lifts it.
func (a *Accounts) Hours(ctx context.Context, by, of string, h *Hours) (err error) {
	defer wrap(&err, "set hours")
	if h == nil {
		return a.bound(ctx, by, of, hoursRule, "", nil)
	}
	if err := h.check(); err != nil {
		return err
	}
	return a.bound(ctx, by, of, hoursRule, "", h)
}

// A Listed is an account, or a group, as an owner sees it.
type Listed struct {
	Name     string    `json:"name"`
	Role     Role      `json:"role,omitempty"` // "" of a group
	Disabled bool      `json:"disabled,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`
	Groups   []string  `json:"groups,omitempty"`
	Password bool      `json:"password,omitempty"` // it has one
	Tokens   []Token   `json:"tokens,omitempty"`

	Default *ledger.Allowance           `json:"default,omitempty"`
	Quotas  map[string]ledger.Allowance `json:"quotas,omitempty"` // by domain
	Limits  map[string]ledger.Allowance `json:"limits,omitempty"`
	Tables  []string                    `json:"tables"` // null: all
	Hours   *Hours                      `json:"hours,omitempty"`
}

// A Token is one of an account, without its secret.
type Token struct {
	ID      string    `json:"id"`
	Label   string    `json:"label"`
	Expires time.Time `json:"expires"`
}

// List returns the accounts in the order of their names, and then the groups that have
// rules.
func (a *Accounts) List(ctx context.Context) (all []Listed, err error) {
	defer wrap(&err, "list accounts")
	r, err := a.refresh(ctx)
	if err != nil {
		return nil, err
	}
	restricted := func(l *Listed, r *restrictions) {
		l.Quotas, l.Limits, l.Hours = r.quotas, r.limits, r.hours
		if r.tables != nil {
			l.Tables = append([]string{}, slices.Sorted(maps.Keys(r.tables))...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.accounts)) {
		p := r.accounts[name]
		l := Listed{Name: name, Role: p.role, Disabled: p.disabled, Expires: p.expires, Groups: p.groups, Password: p.password != nil}
		for _, id := range slices.Sorted(maps.Keys(p.tokens)) {
			l.Tokens = append(l.Tokens, Token{id, p.tokens[id].Label, p.tokens[id].Expires})
		}
		if len(p.spend.Positive()) > 0 {
			l.Default = &ledger.Allowance{Amounts: p.spend}
		}
		restricted(&l, &p.restrictions)
		all = append(all, l)
	}
	for _, name := range slices.Sorted(maps.Keys(r.groups)) {
		l := Listed{Name: groupSubject(name)}
		restricted(&l, r.groups[name])
		all = append(all, l)
	}
	return all, nil
}
