package coordinator

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/federated/node"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/noise"
)

// tries is how often a round is asked for.
const tries = 3

// round makes one round. Noise is added, and the state changes, at its end alone.
func (c *Coordinator) round(ctx context.Context, r *run, granted []string) error {
	p, began := *r.Proposal.Plan, c.options.Now()
	answers := map[string]federated.Answer{}
	out := map[string]bool{} // refused for good, in this round
	var absent []string
	for try := 1; ; try++ {
		var err error
		if absent, err = c.asked(ctx, r, granted, answers, out); err != nil {
			return err
		}
		if len(answers) >= p.Nodes.Minimum {
			r.change(func(g *Progress) {
				var who []string
				for name := range answers {
					who = append(who, name)
				}
				slices.Sort(who)
				slices.Sort(absent)
				g.Rounds = append(g.Rounds, Round{Nodes: who, Tries: try, Took: c.options.Now().Sub(began), Absent: absent})
			})
			break
		}
		if try == tries {
			return fmt.Errorf("round %d: %w: %d of at least %d answered", r.State.Round, ErrNodes, len(answers), p.Nodes.Minimum)
		}
	}
	var all []federated.Answer
	for _, a := range answers {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b federated.Answer) int { return strings.Compare(a.Node, b.Node) })
	if p.Join.Rule == federated.Ordered {
		if err := c.score(p, r.State, all); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.State.Join(p, c.options.Bits, all)
}

// asked asks those who may take part and have not answered, or a sample of them, and returns who was not
// there in time.
func (c *Coordinator) asked(ctx context.Context, r *run, granted []string, answers map[string]federated.Answer, out map[string]bool) (absent []string, err error) {
	p := *r.Proposal.Plan
	var asked []string
	for _, name := range granted {
		if _, answered := answers[name]; !answered && !out[name] && r.State.May(p, name) {
			asked = append(asked, name)
		}
	}
	want := len(asked)
	if p.Nodes.Sample > 0 {
		want = min(want, max(p.Nodes.Sample-len(answers), 0))
	}
	if asked, err = sample(c.options.Bits, asked, want); err != nil {
		return nil, err
	}
	return c.collect(ctx, r, asked, answers, out), ctx.Err()
}

// sample draws so many of the names, each as likely as the others. No guarantee rests on it.
func sample(bits noise.Bits, names []string, n int) ([]string, error) {
	stream, names := noise.NewStream(bits), slices.Clone(names)
	for i := 0; i < n; i++ {
		j, err := stream.Index(len(names) - i)
		if err != nil {
			return nil, err
		}
		names[i], names[i+j] = names[i+j], names[i]
	}
	return names[:n], nil
}

// collect asks nodes for a round until its deadline, and returns who did not answer.
func (c *Coordinator) collect(ctx context.Context, r *run, asked []string, answers map[string]federated.Answer, out map[string]bool) (absent []string) {
	p := *r.Proposal.Plan
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.Nodes.Seconds)*time.Second)
	defer cancel()
	question := node.RoundRequest{Round: r.State.Round, Weights: r.State.Weights, Clip: r.State.Clip, Nodes: r.Members}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, name := range asked {
		all.Go(func() {
			for {
				u, err := c.options.Peers[name].Round(ctx, r.Proposal.ID, question)
				mu.Lock()
				switch refusal := problem(err); {
				case err == nil:
					r.mu.Lock()
					answers[name] = federated.Answer{Node: name, Declared: r.Declared[name], Update: *u}
					r.mu.Unlock()
				case refusal != nil && refusal.Status == http.StatusServiceUnavailable: // it does not reach aggregators
					r.change(func(g *Progress) { g.Reasons[name] = refusal.Type })
				case refusal != nil:
					out[name] = true
					r.change(func(g *Progress) { g.Reasons[name] = refusal.Detail })
					if refusal.Type == "budgetExceeded" {
						r.change(func(g *Progress) { g.Nodes[name] = node.Refused })
					}
				}
				mu.Unlock()
				if p := problem(err); err == nil || p != nil && p.Status != http.StatusServiceUnavailable {
					return
				}
				select { // it may be there again before the deadline
				case <-time.After(c.options.Pause):
				case <-ctx.Done():
					return
				}
			}
		})
	}
	all.Wait()
	for _, name := range asked {
		if _, ok := answers[name]; !ok {
			absent = append(absent, name)
		}
	}
	return absent
}

// score scores the weights of each node's own on the public examples: the share that is right.
func (c *Coordinator) score(p federated.Plan, s *federated.State, all []federated.Answer) error {
	net, err := p.Net()
	if err != nil {
		return err
	}
	rows := make([]int, c.options.Test.Len())
	for i := range rows {
		rows[i] = i
	}
	for i, a := range all {
		moved := p.Plain(a.Update, s.Clip)
		for j, w := range s.Weights {
			net.Parameters()[j] = w - float32(moved[j])
		}
		st, err := net.NewPass(network.PassOptions{}).Losses(c.options.Test, rows, make([]float64, len(rows)))
		if err != nil {
			return err
		}
		all[i].Score = float64(st.Correct) / float64(max(st.Labels, 1))
	}
	return nil
}
