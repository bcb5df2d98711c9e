package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// A Rule is the owner's word about who may ask what. Rules stand in the chain, so that no
// copy of another file changes them; the last one of a subject, name and object decides.
//
// The ledger itself obeys the quotas and the limits of holders, in the transaction that
// charges (see Request.Holders). What other rules mean is the business of package people.
type Rule struct {
	Subject string          `json:"subject"`          // whom it is about: a holder, such as "account:anna"
	Name    string          `json:"name"`             // what it rules: "quota", say
	Object  string          `json:"object,omitempty"` // of what: of quota and limit, the domain
	Body    json.RawMessage `json:"body"`             // null: the rule is lifted

	// New refuses, with ErrExists, a rule that there is one of already, lifted or not.
	New bool `json:"-"`

	Record int64     `json:"-"` // where it stands; SetRules fills in these three
	By     string    `json:"-"` // whose word it is
	Time   time.Time `json:"-"`
}

// The rules that the ledger obeys. Their bodies are an Allowance.
const (
	QuotaRule = "quota" // what a holder may spend of a domain in all
	LimitRule = "limit" // what a statement may cost without an approval
)

func (r Rule) key() []byte {
	return digestOf([]byte("rule"), []byte(r.Subject), []byte(r.Name), []byte(r.Object))
}

// Lifted reports whether the rule says that there is none.
func (r Rule) Lifted() bool { return len(r.Body) == 0 || string(r.Body) == "null" }

func (r Rule) check(d func(string) (domain, error)) error {
	switch {
	case r.Subject == "" || r.Name == "":
		return errors.New("a rule needs a subject and a name")
	case !utf8.ValidString(r.Subject) || !utf8.ValidString(r.Name) || !utf8.ValidString(r.Object):
		return errors.New("the rule is not UTF-8")
	case !json.Valid(r.Body):
		return errors.New("the rule's body is not JSON")
	}
	if r.Name != QuotaRule && r.Name != LimitRule {
		return nil
	}
	of, err := d(r.Object)
	if err != nil {
		return err
	}
	_, err = r.total(of)
	return err
}

// SetRules records rules, all or none of them, by whose word they are. It returns when
// they are on stable storage and on the anchor: no statement is charged against them from
// then on.
func (l *Ledger) SetRules(ctx context.Context, by string, now time.Time, rules ...Rule) (err error) {
	defer wrap(&err, "set rule")
	switch {
	case by == "" || now.IsZero():
		return errors.New("needs by whom and the time")
	case !utf8.ValidString(by):
		return errors.New("by whom is not UTF-8")
	}
	for _, r := range rules {
		if err := r.check(func(id string) (domain, error) { return l.domain(ctx, l.db, id) }); err != nil {
			return err
		}
	}
	return l.do(ctx, true, func(ctx context.Context, b *batch) error {
		for _, r := range rules {
			if !r.New {
				continue
			}
			var has bool
			if err := b.sql.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM records WHERE key = ?)", r.key()).Scan(&has); err != nil {
				return b.note(storage(err))
			}
			if has {
				return fmt.Errorf("%s of %s: %w", r.Name, r.Subject, ErrExists)
			}
		}
		for i := range rules {
			rec := &record{kind: kindRule, key: rules[i].key()}
			if err := b.append(ctx, rec, entry{Time: now, Analyst: by, Rule: &rules[i]}); err != nil {
				b.failed = err // all or none
				return err
			}
		}
		return nil
	})
}

// Rules returns the rules that were recorded after a record, the oldest first, and the
// last record that it looked at. It reads alone and waits for no writer.
func (l *Ledger) Rules(ctx context.Context, after int64) (rules []Rule, last int64, err error) {
	defer wrap(&err, "read rules")
	if err := l.store.moved(); err != nil {
		return nil, 0, err
	}
	// What is read is one state of the ledger (see each): the last rule is the last thing to look at.
	last = after
	err = l.each(ctx, l.reads, "WHERE r.domain = '' AND r.kind = 'rule' AND r.seq > ?", func(r *record, e *entry) error {
		if e.Rule == nil {
			return fmt.Errorf("%w: record %d is no rule", ErrTampered, r.seq)
		}
		rule := *e.Rule
		rule.Record, rule.By, rule.Time = r.seq, e.Analyst, e.Time
		rules, last = append(rules, rule), r.seq
		return nil
	}, after)
	return rules, last, err
}
