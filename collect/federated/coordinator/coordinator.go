// Package coordinator is the process that leads runs over the nodes of a federation, and never
// sees their data.
//
// It guarantees that a round ends: with those who answered in time, if they are enough, or
// by saying that they are not; that a node's answer counts once a round; that noise which
// is the coordinator's to add is added before anything of a round is written or shown; and
// that a run goes on after its process was killed, from the last round that was finished,
// asking the same again.
//
// It does not guarantee that a coordinator does so which is another program: nodes that do
// not trust theirs add the noise themselves.
package coordinator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/federated/node"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Options are what a coordinator works with.
type Options struct {
	Dir   string // where its runs are kept
	Peers map[string]Peer
	Bits  noise.Bits
	Now   func() time.Time
	Log   *slog.Logger
	// Aggregators, if not nil, add up the updates of plans that have some.
	Aggregators Aggregators
	// Test are public examples, by which the rule Ordered scores updates; nil without.
	Test *example.Set
	// Pause is how long it waits before it asks again; 200 ms if it is 0.
	Pause time.Duration
}

// A Coordinator leads runs.
type Coordinator struct {
	options Options
	ctx     context.Context
	mu      sync.Mutex
	runs    map[string]*run
	working sync.WaitGroup
}

// A Proposal is a run, or a query, that somebody asks for.
type Proposal struct {
	ID     string          `json:"id"`
	Reason string          `json:"reason"`
	Plan   *federated.Plan `json:"plan,omitempty"`
	Query  *node.Query     `json:"query,omitempty"`
}

// A Phase is how far a run has come.
type Phase string

// The phases.
const (
	Waiting  Phase = "waiting" // for the nodes' owners
	Running  Phase = "running"
	Finished Phase = "finished"
	Failed   Phase = "failed"
)

// A Round says who took part in one.
type Round struct {
	Nodes  []string      `json:"nodes"`
	Tries  int           `json:"tries"`
	Took   time.Duration `json:"took"`
	Absent []string      `json:"absent,omitempty"` // asked, and not there in time
}

// A Progress is what its asker may know of a run.
type Progress struct {
	ID          string                    `json:"id"`
	Asker       string                    `json:"asker"`
	Phase       Phase                     `json:"phase"`
	Why         string                    `json:"why,omitempty"`
	Nodes       map[string]node.State     `json:"nodes"`
	Reasons     map[string]string         `json:"reasons,omitempty"` // of those that do not take part
	Rounds      []Round                   `json:"rounds,omitempty"`
	Clip        float64                   `json:"clip,omitempty"`
	Certificate *federated.Certificate    `json:"certificate,omitempty"`
	Answers     map[string]*node.Answered `json:"answers,omitempty"` // of a query, by node
	Total       []float64                 `json:"total,omitempty"`   // of a query that adds up
	Labels      []string                  `json:"labels,omitempty"`
}

// A run is what is kept of one. Its file is written when a round is finished.
type run struct {
	Proposal Proposal          `json:"proposal"`
	Progress Progress          `json:"progress"`
	Declared map[string]int64  `json:"declared"`
	Encoding *example.Encoding `json:"encoding,omitempty"`
	State    *federated.State  `json:"state,omitempty"`
	Date     time.Time         `json:"date"`
	// Members are all nodes, of a plan with aggregators; Collecting says that the round's total is being
	// released, and nobody is asked any more.
	Members    []string `json:"members,omitempty"`
	Collecting bool     `json:"collecting,omitempty"`

	mu    sync.Mutex
	begin chan struct{} // closed to begin without those who wait
	once  sync.Once
}

// New opens a coordinator, whose runs go on until the context ends; then Wait.
func New(ctx context.Context, o Options) (*Coordinator, error) {
	if o.Pause == 0 {
		o.Pause = 200 * time.Millisecond
	}
	c := &Coordinator{options: o, ctx: ctx, runs: map[string]*run{}}
	if err := custody.Folder(filepath.Join(o.Dir, "runs")); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(o.Dir, "runs", "*.json"))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		r := &run{begin: make(chan struct{})}
		if err := json.Unmarshal(text, r); err != nil {
			return nil, fmt.Errorf("read %s: %w", f, err)
		}
		if r.Progress.Reasons == nil { // left out where it was empty
			r.Progress.Reasons = map[string]string{}
		}
		r.tell()
		c.runs[r.Proposal.ID] = r
		if r.Progress.Phase == Waiting || r.Progress.Phase == Running {
			c.work(r)
		}
	}
	return c, nil
}

// Wait waits until nothing is under way any more, after the context has ended.
func (c *Coordinator) Wait() { c.working.Wait() }

// Errors of proposals.
var (
	ErrProposal = errors.New("the proposal means nothing to this federation")
	ErrOther    = errors.New("the id stands for another proposal")
	ErrUnknown  = errors.New("there is no such run")
	ErrEarly    = errors.New("the run is not finished")
)

var runName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,50}$`)

// Propose begins a run, or returns the one that was begun by the same proposal.
func (c *Coordinator) Propose(asker string, p Proposal) (Progress, error) {
	switch {
	case !runName.MatchString(p.ID):
		return Progress{}, fmt.Errorf("%w: its id is not of small letters, digits and hyphens", ErrProposal)
	case (p.Plan == nil) == (p.Query == nil):
		return Progress{}, fmt.Errorf("%w: it asks for a run, or for an answer", ErrProposal)
	case p.Plan != nil:
		if err := p.Plan.Validate(); err != nil {
			return Progress{}, fmt.Errorf("%w: %w", ErrProposal, err)
		}
		if p.Plan.Join.Rule == federated.Ordered && c.options.Test == nil {
			return Progress{}, fmt.Errorf("%w: the rule %q needs public examples, and the coordinator has none", ErrProposal, federated.Ordered)
		}
		if p.Plan.Nodes.Minimum > len(c.options.Peers) {
			return Progress{}, fmt.Errorf("%w: rounds of at least %d of %d nodes", ErrProposal, p.Plan.Nodes.Minimum, len(c.options.Peers))
		}
		if err := c.sums(p); err != nil {
			return Progress{}, err
		}
	default:
		if _, err := p.Query.Mechanism(); err != nil {
			return Progress{}, fmt.Errorf("%w: %w", ErrProposal, err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.runs[p.ID]; r != nil {
		a, errA := json.Marshal(r.Proposal)
		b, errB := json.Marshal(p)
		if errA != nil || errB != nil || string(a) != string(b) || r.Progress.Asker != asker {
			return Progress{}, ErrOther
		}
		return r.progress(), nil
	}
	r := &run{Proposal: p, Date: c.options.Now(), Declared: map[string]int64{}, begin: make(chan struct{}),
		Progress: Progress{ID: p.ID, Asker: asker, Phase: Waiting, Nodes: map[string]node.State{}, Reasons: map[string]string{}}}
	if p.Plan != nil {
		var err error
		if r.State, err = p.Plan.Begin(); err != nil {
			return Progress{}, err
		}
		certificate, err := p.Plan.Certify(privacy.AddRemove)
		if err != nil {
			return Progress{}, fmt.Errorf("%w: %w", ErrProposal, err)
		}
		r.Progress.Certificate = &certificate
		if p.Plan.Aggregated() {
			r.Members = c.nodes()
		}
	}
	if err := c.save(r); err != nil {
		return Progress{}, err
	}
	c.runs[p.ID] = r
	c.work(r)
	return r.progress(), nil
}

// run returns an asker's run. Those of others are unknown to it.
func (c *Coordinator) run(asker, id string) (*run, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.runs[id]; r != nil && r.Progress.Asker == asker {
		return r, nil
	}
	return nil, ErrUnknown
}

// Progress tells how far an asker's run has come.
func (c *Coordinator) Progress(asker, id string) (Progress, error) {
	r, err := c.run(asker, id)
	if err != nil {
		return Progress{}, err
	}
	return r.progress(), nil
}

// Begin begins a run with the nodes that have approved it, without those that wait.
func (c *Coordinator) Begin(asker, id string) (Progress, error) {
	r, err := c.run(asker, id)
	if err != nil {
		return Progress{}, err
	}
	r.once.Do(func() { close(r.begin) })
	return r.progress(), nil
}

// Model returns the model of a finished run, as a file.
func (c *Coordinator) Model(asker, id string) ([]byte, error) {
	r, err := c.run(asker, id)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Progress.Phase != Finished || r.State == nil {
		return nil, ErrEarly
	}
	var names []string
	for _, round := range r.Progress.Rounds {
		for _, name := range round.Nodes {
			if of := name + "/" + r.Proposal.Plan.Data; !slices.Contains(names, of) {
				names = append(names, of)
			}
		}
	}
	slices.Sort(names)
	m, err := r.State.Model(*r.Proposal.Plan, privacy.AddRemove, names, r.Encoding, r.Date)
	if err != nil {
		return nil, err
	}
	return m.Encode()
}

func (r *run) progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, err := json.Marshal(r.Progress) // a copy
	var p Progress
	if err != nil || json.Unmarshal(text, &p) != nil {
		return Progress{ID: r.Progress.ID, Phase: r.Progress.Phase}
	}
	return p
}

// change changes what is told of a run.
func (r *run) change(f func(*Progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.Progress)
}

// save writes a run, whole or not at all, so that it is there when it returns.
func (c *Coordinator) save(r *run) error {
	r.mu.Lock()
	text, err := json.Marshal(r)
	r.mu.Unlock()
	if err != nil {
		return err
	}
	return custody.Replace(filepath.Join(c.options.Dir, "runs", r.Proposal.ID+".json"), text)
}

// work leads a run to its end.
func (c *Coordinator) work(r *run) {
	c.working.Go(func() {
		err := c.lead(c.ctx, r)
		if c.ctx.Err() != nil {
			return // it goes on when the coordinator does
		}
		r.change(func(p *Progress) {
			if p.Phase = Finished; err != nil {
				p.Phase, p.Why = Failed, err.Error()
			}
		})
		if err := errors.Join(err, c.save(r)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.options.Log.Error("run ended", "run", r.Proposal.ID, "why", err.Error())
		}
	})
}

func (c *Coordinator) lead(ctx context.Context, r *run) error {
	granted, err := c.enroll(ctx, r)
	if err != nil {
		return err
	}
	r.change(func(p *Progress) { p.Phase = Running })
	if r.Proposal.Query != nil {
		return c.ask(ctx, r, granted)
	}
	round := c.round
	if r.Proposal.Plan.Aggregated() {
		if c.options.Aggregators == nil { // it has lost its configuration
			return ErrAggregators
		}
		if err := c.bring(ctx, r); err != nil {
			return err
		}
		round = c.sumRound
	}
	for r.State.Round < r.Proposal.Plan.Rounds {
		if err := round(ctx, r, granted); err != nil {
			return err
		}
		if err := c.save(r); err != nil {
			return err
		}
		r.tell()
	}
	return nil
}

// tell says what clip the rounds have come to. It depends on noise, so that it is told when it is on disk: a
// coordinator that was killed before draws other noise, and who saw both would know more than was paid for.
func (r *run) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.State != nil && r.State.Round > 0 {
		r.Progress.Clip = r.State.Clip
	}
}

// problem is the refusal in an error; nil if it is none.
func problem(err error) *cluster.Problem {
	var p *cluster.Problem
	if errors.As(err, &p) {
		return p
	}
	return nil
}

// ask has a query answered by each node, and adds up what adds up.
func (c *Coordinator) ask(ctx context.Context, r *run, granted []string) error {
	q := r.Proposal.Query
	total, units := []float64(nil), 0.0
	for _, name := range granted {
		a, err := c.options.Peers[name].Answer(ctx, r.Proposal.ID)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			why := "it does not answer"
			if p := problem(err); p != nil {
				why = p.Detail
			}
			r.change(func(p *Progress) { p.Nodes[name], p.Reasons[name] = node.Refused, why })
			continue
		}
		r.change(func(p *Progress) {
			if p.Answers == nil {
				p.Answers = map[string]*node.Answered{}
			}
			p.Answers[name], p.Labels = a, a.Labels
			p.Nodes[name] = node.Released
		})
		weight := 1.0
		if q.Of == "mean" || q.Of == "median" {
			weight = float64(r.Declared[name])
		}
		if units += weight; total == nil {
			total = make([]float64, len(a.Values))
		}
		for j, x := range a.Values {
			if j < len(total) {
				total[j] += weight * x
			}
		}
	}
	if total == nil {
		return fmt.Errorf("%w: none answered", ErrNodes)
	}
	if q.Of == "median" { // medians do not add up
		return nil
	}
	if q.Of == "mean" {
		for j := range total {
			total[j] /= units
		}
	}
	r.change(func(p *Progress) { p.Total = total })
	return nil
}
