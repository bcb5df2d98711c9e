package node

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// Task is the private sum that a run of a plan with aggregators is: of those nodes, for a
// coordinator. A node makes it by itself, and its shares open as shares of this task alone: so
// an aggregator that follows the protocol adds the noise that the plan says, whatever a coordinator
// has brought to it. It depends on nothing but what is given here.
func Task(p federated.Plan, coordinator, id string, nodes []string) (*process.Task, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if !p.Aggregated() {
		return nil, fmt.Errorf("%w: it has no aggregators", federated.ErrPlan)
	}
	net, err := p.Net()
	if err != nil {
		return nil, err
	}
	length := uint(len(net.Parameters()))
	if p.Privacy.Adaptive != nil {
		length++
	}
	t := &process.Task{
		Version: process.Version, Name: strings.Join([]string{"federated", coordinator, id, p.Digest()}, " "),
		Circuit:     prio.Circuit{Kind: prio.SumVec, Length: length, Bits: p.NumberBits()},
		Aggregators: p.Aggregators.Names, Colluding: p.Aggregators.Colluding, Shares: p.Aggregators.Shares, Clients: nodes, Once: true, Collector: coordinator,
		Least: int64(p.Nodes.Minimum), Begins: time.Unix(0, 0).UTC(), Expires: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	t.Circuit.Chunk = t.Circuit.BestChunk()
	rho, squared, err := p.Collection(privacy.Distance(privacy.ReplaceOne))
	if err != nil {
		return nil, err
	}
	if t.Noise.Rho, err = privacy.NewRho(rho); err != nil {
		return nil, err
	}
	t.Noise.Distance = squared.RatString()
	t.Budget = filter.Budget{Measure: filter.ZCDP, Neighbours: privacy.ReplaceOne, Delta: p.Privacy.Delta}
	all := rho.Mul(rho, new(big.Rat).SetInt64(int64(p.Rounds)))
	if t.Budget.Epsilon, err = epsilonFor(all, p.Privacy.Delta); err != nil {
		return nil, err
	}
	return t, t.Check()
}

// epsilonFor is a budget's epsilon that admits a rho, to four digits: it is what aggregators may
// release of the run, and guards their budget alone; a node's own budget pays for itself.
func epsilonFor(rho *big.Rat, delta privacy.Delta) (privacy.Epsilon, error) {
	admits := func(thousandths int64) (privacy.Epsilon, bool) {
		e, err := privacy.NewEpsilon(big.NewRat(thousandths, 1000))
		if err != nil {
			return e, false
		}
		r, err := filter.ZCDPRho(e, delta)
		return e, err == nil && r.Rat().Cmp(rho) >= 0
	}
	low, high := int64(0), int64(1)
	for {
		if _, ok := admits(high); ok {
			break
		}
		if low, high = high, 2*high; high > 1<<50 {
			return privacy.Epsilon{}, fmt.Errorf("%w: a rho of %s is beyond every budget", federated.ErrPlan, numeric.CeilDigits(rho, 4).FloatString(4))
		}
	}
	for high-low > 1 && high-low > high/10_000 {
		if middle := low + (high-low)/2; true {
			if _, ok := admits(middle); ok {
				high = middle
			} else {
				low = middle
			}
		}
	}
	e, _ := admits(high)
	return e, nil
}

// Batch is the name of a round's batch.
func Batch(round int) string { return fmt.Sprintf("round-%d", round) }

// Aggregators are those that the node knows. nil: it knows none, and takes part in no run with them.
type Aggregators interface {
	// Split splits numbers into sealed shares of a task.
	Split(ctx context.Context, t *process.Task, batch string, numbers []uint64) (*process.Report, error)
	// Upload hands them in, again and again the same, and says what became of them.
	Upload(ctx context.Context, t *process.Task, r *process.Report) (code string, err error)
}

// errAway: aggregators were not reached. The same question may be asked again.
var errAway = errors.New("an aggregator was not reached")

// stationed are aggregators that a station knows.
type stationed struct {
	station *cluster.Station
	mu      sync.Mutex
	clients map[string]*process.Client
}

// client is that of a task; a process.Client is one's at a time.
func (s *stationed) client(ctx context.Context, t *process.Task, do func(*process.Client) error) error {
	for _, a := range t.Aggregators {
		if s.station.Peers[a] == "" {
			return fmt.Errorf("%w: it knows no aggregator %s", ErrRequest, a)
		}
	}
	data, err := t.Encode()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := process.Digest(data)
	c := s.clients[hash]
	if c == nil {
		if c, err = process.NewClient(ctx, s.station, t); err != nil {
			return err
		}
		if len(s.clients) >= 8 { // a run that goes on makes its own again
			clear(s.clients)
		}
		s.clients[hash] = c
	}
	return do(c)
}

func (s *stationed) Split(ctx context.Context, t *process.Task, batch string, numbers []uint64) (r *process.Report, err error) {
	return r, s.client(ctx, t, func(c *process.Client) error {
		r, err = c.Report(batch, numbers)
		return err
	})
}

func (s *stationed) Upload(ctx context.Context, t *process.Task, r *process.Report) (code string, err error) {
	return code, s.client(ctx, t, func(c *process.Client) error {
		codes, err := c.Upload(ctx, []*process.Report{r})
		if err == nil {
			code = codes[0]
		}
		return err
	})
}

// patience is how long a node waits for aggregators. Who asked asks again.
const patience = 20 * time.Second

// away says of an error that aggregators were not reached, if it was that.
func away(err error) error {
	if cluster.Passing(err) && !errors.Is(err, ErrRequest) {
		return fmt.Errorf("%w: %w", errAway, err)
	}
	return err
}

// task is that of a request's run, of which the node is one.
func (h *Holder) task(p federated.Plan, asker, id string, nodes []string) (*process.Task, error) {
	if h.Aggregators == nil {
		return nil, fmt.Errorf("%w: the node knows no aggregators", ErrRequest)
	}
	if !slices.Contains(nodes, h.name) {
		return nil, fmt.Errorf("%w: the node is none of the run's", ErrRequest)
	}
	t, err := Task(p, asker, id, nodes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	return t, nil
}

// split makes of an update what leaves: sealed shares.
func (h *Holder) split(ctx context.Context, p federated.Plan, t *process.Task, round int, u federated.Update) (*process.Report, error) {
	vector, err := p.Vector(u)
	if err != nil {
		return nil, err
	}
	numbers, err := prio.Signed(vector, p.NumberBits())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := h.Aggregators.Split(ctx, t, Batch(round), numbers)
	return r, away(err)
}

// ErrOver: the round's total was released without the node.
var ErrOver = errors.New("the round is over, without the node")

// hand hands shares in, again and again the same.
func (h *Holder) hand(ctx context.Context, t *process.Task, r *process.Report) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	code, err := h.Aggregators.Upload(ctx, t, r)
	switch {
	case err != nil:
		return away(err)
	case code == process.Stored || code == prio.Accepted:
		return nil
	case code == prio.BatchCollected:
		return ErrOver
	}
	return fmt.Errorf("%w: the aggregators say %s", ErrRequest, code)
}
