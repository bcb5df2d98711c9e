package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A Holder answers for the data of one node. It is safe for concurrent use; there is one
// process a folder.
type Holder struct {
	*Books
	// Aggregators, if not nil, take the updates of plans that have some; set before use.
	Aggregators Aggregators

	name string
	bits noise.Bits
	sets map[string]*example.Set
	mu   sync.Mutex
	busy map[string]*turn // by request
	runs map[string]*run
	kept map[string]kept // by asker
}

// NewHolder opens the node of that name, whose books are open, and reads its data.
func NewHolder(ctx context.Context, name string, books *Books, bits noise.Bits) (*Holder, error) {
	h := &Holder{Books: books, name: name, bits: noise.Shared(bits), sets: map[string]*example.Set{}, busy: map[string]*turn{}, runs: map[string]*run{}, kept: map[string]kept{}}
	for _, d := range books.config.Data {
		var err error
		if d.CSV != "" {
			h.sets[d.Name], err = example.CSV(ctx, in(books.dir, d.CSV), d.Encoding, d.Person, example.Selection{PerUnit: max(d.PerUnit, 1)})
		} else {
			h.sets[d.Name], _, err = example.IDX(ctx, example.IDXOptions{Images: in(books.dir, d.Images), Labels: in(books.dir, d.Labels), Unit: true})
		}
		if err != nil {
			return nil, fmt.Errorf("data %q: %w", d.Name, err)
		}
	}
	return h, h.count()
}

// A turn is held by one of those who do something for a request; it is gone with the last.
type turn struct {
	sync.Mutex
	many int
}

// lock waits for what else is done for a request.
func (h *Holder) lock(asker, id string) func() {
	key := asker + "." + id
	h.mu.Lock()
	m := h.busy[key]
	if m == nil {
		m = &turn{}
		h.busy[key] = m
	}
	m.many++
	h.mu.Unlock()
	m.Lock()
	return func() {
		m.Unlock()
		h.mu.Lock()
		defer h.mu.Unlock()
		if m.many--; m.many == 0 {
			delete(h.busy, key)
		}
	}
}

// Errors of requests, which askers branch on.
var (
	ErrRequest  = errors.New("the request means nothing to this node")
	ErrOther    = errors.New("the id stands for another request")
	ErrWaits    = errors.New("the request waits for the node's owner")
	ErrDenied   = errors.New("the request was denied")
	ErrRefused  = errors.New("the budget does not suffice")
	ErrAnswered = errors.New("the round was answered, to another question")
	ErrMayNot   = errors.New("the unit took part as often as the plan says")
	ErrGone     = errors.New("what was released is gone, and is not drawn again")
)

// A released file holds what left, or is about to.
type released struct {
	Question string            `json:"question"` // its digest
	Update   *federated.Update `json:"update,omitempty"`
	Report   *process.Report   `json:"report,omitempty"` // in place of an update: sealed shares
	Answer   *Answered         `json:"answer,omitempty"`
	Blur     federated.Blur    `json:"blur,omitzero"` // after the round
}

// granted returns a request that may be answered, and charges for all of it.
func (h *Holder) granted(ctx context.Context, asker, id string) (*asked, Data, error) {
	a, err := h.asked(asker, id)
	if err != nil {
		return nil, Data{}, err
	}
	d, ok := h.data(a.Status.Data)
	if !ok {
		return nil, d, fmt.Errorf("%w: the data are gone", ErrRequest)
	}
	said, err := h.registered(ctx, decision, a, whole)
	switch {
	case err != nil:
		return nil, d, err
	case said == nil:
		return nil, d, ErrWaits
	case !said.Approved:
		return nil, d, fmt.Errorf("%w: %s", ErrDenied, said.Why)
	}
	if said, err = h.registered(ctx, refusal, a, whole); err != nil || said != nil {
		return nil, d, errors.Join(err, ErrRefused)
	}
	p := a.Request.Plan
	if p == nil || p.Privacy == nil { // queries are charged by chargedOnce
		return a, d, nil
	}
	e, err := d.event(p)
	if err != nil {
		return nil, d, err
	}
	all, err := h.charged(ctx, d, p, e)
	if err != nil {
		return nil, d, err
	}
	_, err = h.register(ctx, charge, a, whole, budget.Release{Events: []privacy.Event{all}, Delta: p.Privacy.Delta}, word{By: a.Status.What})
	return a, d, h.refused(ctx, a, err)
}

// refused writes down that the budget did not suffice.
func (h *Holder) refused(ctx context.Context, a *asked, err error) error {
	if !errors.Is(err, budget.ErrExceeded) {
		return err
	}
	if _, also := h.register(ctx, refusal, a, whole, budget.Release{}, word{Why: err.Error()}); also != nil {
		return also
	}
	return fmt.Errorf("%w: %w", ErrRefused, err)
}

// earlier returns what was released to a question before, nil if nothing was.
func (h *Holder) earlier(ctx context.Context, a *asked, round int, question string) (*released, error) {
	s := a.Status
	said, err := h.registered(ctx, release, a, round)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(h.releaseFile(s.Asker, s.ID, round))
	if said == nil { // a file without its register never left
		return nil, nil
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && digest(text) != said.Digest {
		return nil, ErrGone
	} else if err != nil {
		return nil, err
	}
	r := &released{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, ErrGone
	}
	if r.Question != question {
		return nil, ErrAnswered
	}
	return r, nil
}

// keep makes a release durable. Only after it has returned nil may it leave.
func (h *Holder) keep(ctx context.Context, a *asked, round int, r *released) error {
	path := h.releaseFile(a.Status.Asker, a.Status.ID, round)
	if err := store(path, r); err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	said, err := h.register(ctx, release, a, round, budget.Release{}, word{Digest: digest(text)})
	if err == nil && said.Digest != digest(text) { // something else left before
		err = ErrGone
	}
	return err
}
