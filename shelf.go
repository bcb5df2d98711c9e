package discreet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A shelf knows the statements of the current version whose answers may serve others. It only finds them: each
// is planned again by its text, and is believed if that gives the question and the events that the ledger has of it.
type shelf struct {
	mu      sync.Mutex
	version int64
	domains map[string]*earlierOf
}

// earlierOf are a domain's, the newest last.
type earlierOf struct {
	last int64 // the newest record that was looked at
	all  []*earlier
}

type earlier struct {
	ledger.Asked
	compared atomic.Pointer[replanned] // nil until that has come to its end
}

// replanned is a statement as it was planned again.
type replanned struct {
	planned  *statement // nil if it is another now
	compiled *compiled
	releases []*release.Comparable
}

const (
	mostAsked = 200 // how many statements are known, the newest
	mostTried = 20  // of how many of the same relations an answer may be made, the newest
)

// look returns the statements that were charged to a domain on the current version, the newest last, and which record began it;
// 0 where the owner has declared none.
func (f *shelf) look(ctx context.Context, l *ledger.Ledger, domain string) ([]*earlier, int64, error) {
	f.mu.Lock()
	after := f.of(domain).last
	f.mu.Unlock()
	found, last, version, err := l.Asked(ctx, domain, after, mostAsked)
	if err != nil {
		return nil, 0, fmt.Errorf("look for stored answers: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if version > f.version {
		f.version, f.domains = version, nil
	}
	of := f.of(domain)
	for _, a := range slices.Backward(found) {
		if version == f.version && a.Reservation > of.last { // nobody else has found it meanwhile
			of.all = append(of.all, &earlier{Asked: a})
		}
	}
	if version == f.version {
		of.last = max(of.last, last)
	}
	if n := len(of.all) - mostAsked; n > 0 {
		of.all = slices.Clone(of.all[n:])
	}
	return of.all[:len(of.all):len(of.all)], version, nil
}

// of are a domain's statements. The shelf is locked.
func (f *shelf) of(domain string) *earlierOf {
	if f.domains == nil {
		f.domains = map[string]*earlierOf{}
	}
	if f.domains[domain] == nil {
		f.domains[domain] = &earlierOf{}
	}
	return f.domains[domain]
}

// planEarlier plans a statement again as it was asked; nil if it is another now. What failed, such as for a request that was cancelled, is tried
// again for the next.
func (db *Database) planEarlier(ctx context.Context, a *earlier) *replanned {
	known := a.compared.Load()
	if known == nil {
		planned, err := db.again(ctx, a.Asked)
		if err != nil || planned.certificate.Domain == nil {
			return nil
		}
		for known = (&replanned{}); planned != nil && known.planned == nil; planned = planned.instead { // an accuracy may have been bounded the other way
			c, err := db.Only(nil).compile(ctx, planned)
			if err != nil {
				return nil
			}
			question, err := planned.question(planned.record(c), c, db.guards[planned.certificate.Domain.ID])
			if err != nil {
				return nil
			}
			same := slices.EqualFunc(planned.design.Events, a.Events, func(x, y privacy.Event) bool { return x.String() == y.String() })
			if same && bytes.Equal(question, a.Question) {
				known = &replanned{planned, c, planned.comparable(c)}
			}
		}
		a.compared.Store(known)
	}
	if known.planned == nil {
		return nil
	}
	return known
}

// comparable are a statement's releases as they are compared with those of others.
func (s *statement) comparable(c *compiled) (all []*release.Comparable) {
	for i := range s.design.Releases {
		all = append(all, s.design.Releases[i].Comparable(c.domains[i]))
	}
	return all
}

// again plans what the ledger has of a statement, by today's catalog.
func (db *Database) again(ctx context.Context, a ledger.Asked) (*statement, error) {
	var p parameterRecord
	if err := json.Unmarshal(a.Parameters, &p); err != nil {
		return nil, fmt.Errorf("read parameters: %w", err)
	}
	o := &QueryOptions{Spend: Spend{p.Epsilon, p.Delta, p.Rho}, Consistent: p.Consistent, Together: p.Together, NoDefault: true}
	number := func(text string) (*big.Rat, error) {
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			return nil, errors.New("read parameters: no number")
		}
		return r, nil
	}
	confidence, err := number(p.Confidence)
	if err != nil {
		return nil, err
	}
	o.Confidence, _ = confidence.Float64()
	for _, w := range p.Weights {
		weight, err := number(w)
		if err != nil {
			return nil, err
		}
		o.Weights = append(o.Weights, weight)
	}
	for _, v := range p.Values {
		of := Parameter{Array: v.Array, Text: v.Text}
		if v.Type != "" {
			if of.Type, err = sqltype.Parse(v.Type); err != nil {
				return nil, err
			}
		}
		o.Parameters = append(o.Parameters, of)
	}
	whole := db.Only(nil)
	planned, err := whole.prepare(ctx, a.Statement, o)
	if err != nil { // its text may say what it costs
		o.Spend = Spend{}
		if planned, err = whole.prepare(ctx, a.Statement, o); err != nil {
			return nil, err
		}
	}
	return planned, nil
}

// relations are digests of the relations that a statement's releases aggregate; nil where no answer of another may serve, nor its own
// another.
func relations(of []*release.Comparable) (all [][]byte) {
	for _, r := range of {
		relation := r.Relation()
		if relation == "" {
			return nil
		}
		digest := sha256.Sum256([]byte(relation))
		if !slices.ContainsFunc(all, func(known []byte) bool { return bytes.Equal(known, digest[:16]) }) {
			all = append(all, digest[:16])
		}
	}
	return all
}
