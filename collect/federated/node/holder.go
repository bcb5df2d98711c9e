package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/budget/durable"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
	"github.com/discreet-dp/discreet/datanode"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn"
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

// A run is a request for training that has begun.
type run struct {
	part *federated.Part
	blur federated.Blur
	took []int // the rounds that were released
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

// event is what a run reveals of what the data protect, and the relation that it is stated for.
//
// A run that protects nodes moves by at most 2·One when one person's data leave the node or
// come to it, since the update with them and without are within One each: so for a
// person it is what it is for a node that is replaced. What a run that protects persons
// shows of a node has no bound.
func (d Data) event(p *federated.Plan) (privacy.Event, error) {
	switch {
	case p.Privacy == nil:
		return nil, nil
	case p.Unit == d.Protects:
		return p.Event(d.Budget.Neighbours)
	case d.Protects == federated.Person:
		return p.Event(privacy.ReplaceOne)
	}
	return nil, fmt.Errorf("%w: the data protect the node, and the run has a guarantee for a person alone", ErrRequest)
}

// Ask files a request, and what the policy says of it. The same request again is the same;
// another one needs another id.
func (h *Holder) Ask(ctx context.Context, asker string, r Request) (Status, error) {
	of, err := r.data()
	if err != nil {
		return Status{}, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	d, ok := h.data(of)
	if !ok || !name.MatchString(asker) || !slices.Contains(d.Policy.Askers, asker) && !slices.Contains(d.Policy.Apps, asker) {
		return Status{}, fmt.Errorf("%w: it has no data of that name for this asker", ErrRequest)
	}
	defer h.lock(asker, r.ID)()
	if a, err := h.asked(asker, r.ID); err == nil {
		if same, err := equal(a.Request, r); err != nil || !same {
			return Status{}, errors.Join(ErrOther, err)
		}
		if err := h.apply(ctx, d, a); err != nil {
			return Status{}, err
		}
		return h.status(ctx, a)
	} else if !errors.Is(err, ErrUnknown) {
		return Status{}, err
	}
	a := &asked{Request: r, Status: Status{Asker: asker, ID: r.ID, Reason: r.Reason, Data: of, Asked: h.now().UTC()}}
	a.Status.What, a.Status.Trusts = r.what()
	if err := h.cost(ctx, d, a); err != nil {
		return Status{}, err
	}
	// Before it has a file: one that was decided may have lost its own.
	if _, err := h.registered(ctx, decision, a, whole); err != nil {
		return Status{}, err
	}
	giveBack, err := h.admit(asker, d, r)
	if err != nil {
		return Status{}, err
	}
	if err := store(h.requestFile(asker, r.ID), a); err != nil {
		giveBack()
		return Status{}, err
	}
	if err := h.apply(ctx, d, a); err != nil {
		return Status{}, err
	}
	return h.status(ctx, a)
}

func equal(a, b any) (bool, error) {
	x, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	y, err := json.Marshal(b)
	return string(x) == string(y), err
}

// cost says what a request would cost, before it is filed.
func (h *Holder) cost(ctx context.Context, d Data, a *asked) error {
	if q := a.Request.Query; q != nil {
		if d.Protects != federated.Person || d.Person != "" || d.CSV == "" {
			return fmt.Errorf("%w: queries are about a file with one record a person", ErrRequest)
		}
		a.Status.Epsilon, a.Status.Charge = q.Epsilon.Float64(), fmt.Sprintf("pure(%v)", q.Epsilon)
		return nil
	}
	p := a.Request.Plan
	if p.Aggregated() {
		if _, err := h.task(*p, a.Status.Asker, a.Request.ID, []string{h.name}); err != nil {
			return err
		}
	}
	if !a.Request.Vectors { // the data must fit the network
		if _, err := federated.NewPart(*p, h.name, h.sets[d.Name].Pick(nil), nil); err != nil {
			return fmt.Errorf("%w: %w", ErrRequest, err)
		}
	}
	e, err := d.event(p)
	if e == nil || err != nil {
		return err
	}
	if p.Privacy.Delta.Cmp(d.Budget.Delta) > 0 {
		return fmt.Errorf("%w: its delta of %v is above the budget's, %v", ErrRequest, p.Privacy.Delta, d.Budget.Delta)
	}
	charged, err := h.charged(ctx, d, p, e)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRequest, err)
	}
	// The delta is the owner's to choose: the larger it is, the smaller epsilon looks.
	g, err := learn.GuaranteeOf(e, nil, d.Budget.Delta, accountant.Options{Neighbours: d.Budget.Neighbours})
	if err != nil {
		return err
	}
	a.Status.Epsilon, a.Status.Delta, a.Status.Charge = g.Epsilon, g.Delta, charged.String()
	if g, err = learn.GuaranteeOf(e, nil, p.Privacy.Delta, accountant.Options{Neighbours: d.Budget.Neighbours}); err != nil {
		return err
	}
	a.Strict = g.Epsilon
	return nil
}

// charged is the event that a run enters the data's budget as.
func (h *Holder) charged(ctx context.Context, d Data, p *federated.Plan, e privacy.Event) (privacy.Event, error) {
	f, err := filter.New(filter.Budget{Measure: d.Budget.Measure, Epsilon: d.Budget.Epsilon, Delta: d.Budget.Delta, Neighbours: d.Budget.Neighbours})
	if err != nil {
		return nil, err
	}
	return accountant.Guarantee(ctx, e, f, p.Privacy.Delta, accountant.Options{Neighbours: d.Budget.Neighbours})
}

// apply writes down what the policy decides, if it does.
func (h *Holder) apply(ctx context.Context, d Data, a *asked) error {
	s, r := a.Status, a.Request
	deny := func(why string) error {
		_, err := h.register(ctx, decision, a, whole, budget.Release{}, word{By: "policy", Why: why})
		return err
	}
	switch {
	case r.Plan != nil && r.Plan.Privacy == nil && d.Policy.Unprotected == nil:
		return deny("the run promises nothing, and the owner admits no such runs")
	case r.Plan != nil && r.Plan.Aggregated() && !d.Policy.trusts(r.Plan.Aggregators):
		return deny("the run's aggregators are not those that the owner names, or more of them may collude there")
	case r.Plan != nil && r.Plan.NoiseBy() == federated.AtCoordinator && !slices.Contains(d.Policy.Trusted, s.Asker):
		return deny("the asker is not trusted with adding noise: ask for noise at the nodes")
	case r.Vectors && !slices.Contains(d.Policy.Apps, s.Asker):
		return deny("the asker is no application of this node")
	case s.Epsilon > 0 && max(s.Epsilon, a.Strict) <= d.Policy.Auto.Float64():
		_, err := h.register(ctx, decision, a, whole, budget.Release{}, word{Approved: true, By: "policy", Why: fmt.Sprintf("at most epsilon %v", d.Policy.Auto)})
		return err
	}
	return nil
}

// A RoundRequest asks for the update of a round.
type RoundRequest struct {
	Round   int               `json:"round"`
	Weights federated.Numbers `json:"weights,omitempty"`
	Clip    float64           `json:"clip,omitempty"`
	// Vector is the update of a local application, in place of Weights.
	Vector federated.Numbers `json:"vector,omitempty"`
	// Nodes are all nodes of the run, of a plan with aggregators: theirs are the shares of its sums.
	Nodes []string `json:"nodes,omitempty"`
}

// An Answered query is what left.
type Answered struct {
	Statement string    `json:"statement"`
	Labels    []string  `json:"labels,omitempty"`
	Values    []float64 `json:"values"`
}

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

// Round answers a round of a run.
func (h *Holder) Round(ctx context.Context, asker, id string, q RoundRequest) (*federated.Update, error) {
	defer h.lock(asker, id)()
	a, d, err := h.granted(ctx, asker, id)
	if err != nil {
		return nil, err
	}
	p := a.Request.Plan
	switch {
	case p == nil || q.Round < 0 || q.Round >= p.Rounds || (q.Vector != nil) != a.Request.Vectors:
		return nil, fmt.Errorf("%w: it has no such round", ErrRequest)
	case p.Privacy == nil:
		q.Clip = 0
	case !(q.Clip >= 1e-30 && q.Clip <= 1e30):
		return nil, fmt.Errorf("%w: a clip of %v", ErrRequest, q.Clip)
	}
	var task *process.Task
	if p.Aggregated() {
		if task, err = h.task(*p, asker, id, q.Nodes); err != nil {
			return nil, err
		}
	} else {
		q.Nodes = nil
	}
	text, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	question := digest(text)
	if r, err := h.earlier(ctx, a, q.Round, question); err != nil {
		return nil, err
	} else if r != nil && r.Report != nil {
		return &federated.Update{}, h.hand(ctx, task, r.Report)
	} else if r != nil {
		return r.Update, nil
	}
	run, err := h.run(ctx, a, d)
	if err != nil {
		return nil, err
	}
	if !run.may(p, q.Round) {
		return nil, ErrMayNot
	}
	var u federated.Update
	if a.Request.Vectors {
		net, err := p.Net()
		if err != nil || len(q.Vector) != len(net.Parameters()) {
			return nil, fmt.Errorf("%w: a vector of another length", ErrRequest)
		}
		u = p.Bounded(q.Vector, q.Clip)
	} else if u, err = run.part.Update(ctx, h.bits, q.Round, q.Weights, q.Clip); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	out := &released{Question: question, Update: &u, Blur: run.blur}
	if task != nil {
		out.Update = nil
		if out.Report, err = h.split(ctx, *p, task, q.Round, u); err != nil {
			return nil, err
		}
	}
	if p.NoiseBy() == federated.AtNodes {
		if err := out.Blur.Add(*p, h.bits, q.Round, &u); err != nil {
			h.forget(asker, id)
			return nil, err
		}
	}
	if err := h.keep(ctx, a, q.Round, out); err != nil {
		h.forget(asker, id)
		return nil, err
	}
	run.blur, run.took = out.Blur, append(run.took, q.Round)
	if task != nil {
		return &federated.Update{}, h.hand(ctx, task, out.Report)
	}
	return &u, nil
}

func (h *Holder) forget(asker, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.runs, asker+"."+id)
}

// may reports whether the node may take part in a round: rounds go on, and the unit of a
// plan that protects nodes is in one of each Every and in so many of all, or of a tree's.
func (r *run) may(p *federated.Plan, round int) bool {
	if len(r.took) > 0 && round <= r.took[len(r.took)-1] {
		return false
	}
	if p.Privacy == nil || p.Unit != federated.Node {
		return true
	}
	every, tree, took := max(p.Every, 1), p.Privacy.Restart, 0
	for _, t := range r.took {
		if t/every == round/every {
			return false
		}
		if tree == 0 || t/tree == round/tree {
			took++
		}
	}
	return p.Most == 0 || took < p.Most
}

// run returns a run that has begun, or begins it: what it needs to go on comes from files.
func (h *Holder) run(ctx context.Context, a *asked, d Data) (*run, error) {
	s := a.Status
	key := s.Asker + "." + s.ID
	h.mu.Lock()
	r := h.runs[key]
	h.mu.Unlock()
	if r != nil {
		return r, nil
	}
	p := *a.Request.Plan
	r = &run{}
	if !a.Request.Vectors {
		set := h.sets[d.Name]
		var turns []uint16
		if p.Unit == federated.Person {
			var err error
			if turns, err = h.turns(p, s, set.UnitCount()); err != nil {
				return nil, err
			}
		}
		var err error
		if r.part, err = federated.NewPart(p, h.name, set, turns); err != nil {
			return nil, err
		}
	}
	now, err := h.status(ctx, a)
	if err != nil {
		return nil, err
	}
	if r.took = now.Rounds; len(r.took) > 0 {
		text, err := os.ReadFile(h.releaseFile(s.Asker, s.ID, r.took[len(r.took)-1]))
		if err != nil {
			return nil, ErrGone
		}
		last := &released{}
		if err := json.Unmarshal(text, last); err != nil {
			return nil, ErrGone
		}
		r.blur = last.Blur
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs[key] = r
	return r, nil
}

// turns are those that were drawn when the run began.
func (h *Holder) turns(p federated.Plan, s Status, persons int) ([]uint16, error) {
	path := h.requestFile(s.Asker, s.ID) + ".turns"
	var turns []uint16
	text, err := os.ReadFile(path)
	if err == nil {
		return turns, json.Unmarshal(text, &turns)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(s.Rounds) > 0 {
		return nil, ErrGone
	}
	if turns, err = p.Turns(h.bits, persons); err != nil {
		return nil, err
	}
	return turns, store(path, turns)
}

// chargedOnce is the budget of a query, charged by the request's register: where the register
// is there and no release is, nothing has left, and what is computed again is paid for.
type chargedOnce struct {
	*durable.Budget
	books *Books
	of    *asked
}

// Reserve charges the release of the query, or has been charged for it before.
func (c chargedOnce) Reserve(ctx context.Context, r budget.Release) (budget.Reservation, error) {
	_, err := c.books.register(ctx, charge, c.of, whole, r, word{By: r.Statement})
	return paid{}, err
}

// paid is a charge whose answer is kept among the releases.
type paid struct{}

// Commit has nothing to add: no answer leaves before keep has made it durable.
func (paid) Commit(context.Context, []byte) error { return nil }

// Answer answers a query.
func (h *Holder) Answer(ctx context.Context, asker, id string) (*Answered, error) {
	defer h.lock(asker, id)()
	a, d, err := h.granted(ctx, asker, id)
	if err != nil {
		return nil, err
	}
	q := a.Request.Query
	if q == nil {
		return nil, fmt.Errorf("%w: it asks for a run", ErrRequest)
	}
	if r, err := h.earlier(ctx, a, 0, ""); err != nil {
		return nil, err
	} else if r != nil {
		return r.Answer, nil
	}
	m, err := q.Mechanism()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	column := []datanode.FileColumn{}
	if q.Column != "" {
		column = append(column, datanode.FileColumn{Name: q.Column, Text: len(q.Categories) > 0})
	} else {
		for _, c := range d.Encoding.Columns[:1] {
			column = append(column, datanode.FileColumn{Name: c.Name, Text: true})
		}
	}
	data, err := datanode.File(ctx, in(h.dir, d.CSV), column...)
	if err != nil {
		return nil, fmt.Errorf("%w: the file has no such column", ErrRequest)
	}
	b, err := h.budget(ctx, d.Name, asker)
	if err != nil {
		return nil, err
	}
	n, err := datanode.New(h.bits, datanode.Options{Name: h.name, Log: datanode.NewMemoryLog(), Now: h.now})
	if err != nil {
		return nil, err
	}
	if err := n.Set(d.Name, data); err != nil {
		return nil, err
	}
	if err := n.Configure(ctx, d.Name, datanode.Adaptive{Budget: chargedOnce{b, h.Books, a}}); err != nil {
		return nil, err
	}
	said, err := n.QueryWith(ctx, d.Name, m) // which charges first
	if err != nil {
		return nil, h.refused(ctx, a, err)
	}
	answer := &Answered{said.Statement, said.Labels, said.Values}
	if err := h.keep(ctx, a, 0, &released{Answer: answer}); err != nil {
		return nil, err
	}
	return answer, nil
}
