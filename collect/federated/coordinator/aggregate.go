package coordinator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/federated/node"
	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
)

// Aggregators add up the updates of plans that have some, for this coordinator.
type Aggregators interface {
	// Collector is the name under which the coordinator collects their sums.
	Collector() string
	// Knows reports whether all of the names are aggregators that can be asked.
	Knows(names []string) bool
	// Bring gives them the task of a run; Collect releases a round's total, once: asked again, it is the same.
	Bring(ctx context.Context, t *process.Task) error
	Collect(ctx context.Context, t *process.Task, batch string) (*process.Result, error)
}

// stationed are aggregators that a station knows.
type stationed struct {
	station *cluster.Station
	names   []string
}

func (s stationed) Collector() string { return s.station.Name() }

func (s stationed) Knows(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(s.names, n) })
}

func (s stationed) Bring(ctx context.Context, t *process.Task) error {
	return process.Bring(ctx, s.station, t)
}

func (s stationed) Collect(ctx context.Context, t *process.Task, batch string) (*process.Result, error) {
	return process.Collect(ctx, s.station, t, batch)
}

// sums reports whether the coordinator can lead the runs of a plan.
func (c *Coordinator) sums(p Proposal) error {
	if p.Plan == nil || !p.Plan.Aggregated() {
		return nil
	}
	if c.options.Aggregators == nil || !c.options.Aggregators.Knows(p.Plan.Aggregators.Names) {
		return fmt.Errorf("%w: the coordinator does not know the plan's aggregators", ErrProposal)
	}
	if _, err := node.Task(*p.Plan, c.options.Aggregators.Collector(), p.ID, c.nodes()); err != nil {
		return fmt.Errorf("%w: %w", ErrProposal, err)
	}
	return nil
}

// nodes are the names of all.
func (c *Coordinator) nodes() (names []string) {
	for name := range c.options.Peers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// task is the private sum of a run.
func (c *Coordinator) task(r *run) (*process.Task, error) {
	return node.Task(*r.Proposal.Plan, c.options.Aggregators.Collector(), r.Proposal.ID, r.Members)
}

// bring gives the task of a run to its aggregators.
func (c *Coordinator) bring(ctx context.Context, r *run) error {
	t, err := c.task(r)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(tries*r.Proposal.Plan.Nodes.Seconds)*time.Second)
	defer cancel()
	if err := c.options.Aggregators.Bring(limited, t); err != nil {
		return lost(err)
	}
	return nil
}

// lost says that aggregators are gone, or what they refuse.
func lost(err error) error {
	if p := problem(err); p != nil && !cluster.Passing(err) {
		return fmt.Errorf("%w: %s, %s", ErrAggregators, p.Type, p.Detail)
	}
	return fmt.Errorf("%w: one of them does not answer", ErrAggregators)
}

// sumRound makes one round of a plan with aggregators: nodes hand their shares to them, and say so to the
// coordinator, which then has the noisy total from all of them, or nothing. That it collects is written
// down first: a coordinator that was killed then goes on there, and gets the same total.
func (c *Coordinator) sumRound(ctx context.Context, r *run, granted []string) error {
	p, began := *r.Proposal.Plan, c.options.Now()
	t, err := c.task(r)
	if err != nil {
		return err
	}
	answers, out := map[string]federated.Answer{}, map[string]bool{}
	var absent []string
	for try := 1; ; try++ {
		if !r.collecting() {
			if absent, err = c.asked(ctx, r, granted, answers, out); err != nil {
				return err
			}
			if len(answers) >= p.Nodes.Minimum {
				if err := c.collects(r, true); err != nil {
					return err
				}
			}
		}
		if r.collecting() {
			total, err := c.total(ctx, r, t)
			switch problem := problem(err); {
			case err == nil:
				r.change(func(g *Progress) {
					slices.Sort(absent)
					g.Rounds = append(g.Rounds, Round{Nodes: total.Clients, Tries: try, Took: c.options.Now().Sub(began), Absent: absent})
				})
				return c.joinTotal(r, total)
			case ctx.Err() != nil:
				return ctx.Err()
			case problem != nil && problem.Type == prio.BatchSize: // some were found invalid: others may be asked
				if err := c.collects(r, false); err != nil {
					return err
				}
			case !cluster.Passing(err) || try == tries:
				return fmt.Errorf("round %d: %w", r.State.Round, lost(err))
			}
		}
		if try == tries {
			return fmt.Errorf("round %d: %w: %d of at least %d answered", r.State.Round, ErrNodes, len(answers), p.Nodes.Minimum)
		}
	}
}

func (r *run) collecting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Collecting
}

func (c *Coordinator) collects(r *run, is bool) error {
	r.mu.Lock()
	r.Collecting = is
	r.mu.Unlock()
	return c.save(r)
}

// total has a round's noisy total from the aggregators.
func (c *Coordinator) total(ctx context.Context, r *run, t *process.Task) (*process.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(r.Proposal.Plan.Nodes.Seconds)*time.Second)
	defer cancel()
	return c.options.Aggregators.Collect(ctx, t, node.Batch(r.State.Round))
}

// joinTotal ends a round with a total.
func (c *Coordinator) joinTotal(r *run, total *process.Result) error {
	p := *r.Proposal.Plan
	sum, err := p.Unvector(prio.Unsigned(total.Values, total.Contributions, p.NumberBits()))
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	declared := map[string]int64{}
	for _, name := range total.Clients {
		declared[name] = r.Declared[name]
	}
	if int64(len(declared)) != total.Contributions {
		return fmt.Errorf("%w: they count %d contributions of %d nodes", ErrAggregators, total.Contributions, len(declared))
	}
	if err := r.State.JoinTotal(p, sum, declared); err != nil {
		return err
	}
	r.Collecting = false
	return nil
}
