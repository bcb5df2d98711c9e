package coordinator

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated/node"
)

// Errors that end a run.
var (
	ErrNodes       = errors.New("too few nodes take part")
	ErrAggregators = errors.New("the aggregators make no total")
)

// enroll asks all nodes, and waits for their owners. A node that cannot be reached has as long
// as a round.
func (c *Coordinator) enroll(ctx context.Context, r *run) (granted []string, err error) {
	minimum, patience := 1, 30*time.Second
	data := ""
	if p := r.Proposal.Plan; p != nil {
		minimum, patience, data = p.Nodes.Minimum, time.Duration(p.Nodes.Seconds)*time.Second, p.Data
	} else {
		data = r.Proposal.Query.Data
	}
	gone := c.options.Now().Add(patience)
	for {
		waiting := 0
		granted = nil
		for name, peer := range c.options.Peers {
			s, err := c.enrollNode(ctx, r, name, peer, data)
			state, why := s.State, s.Why
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case problem(err) != nil:
				state, why = node.Denied, problem(err).Detail
			case err != nil && c.options.Now().Before(gone):
				state, why = node.Pending, "it does not answer"
			case err != nil:
				state, why = node.Denied, "it does not answer"
			}
			r.change(func(p *Progress) {
				p.Nodes[name] = state
				if delete(p.Reasons, name); why != "" && state != node.Approved && state != node.Released {
					p.Reasons[name] = why
				}
			})
			switch state {
			case node.Approved, node.Released:
				granted = append(granted, name)
			case node.Pending:
				waiting++
			}
		}
		begun := r.State != nil && r.State.Round > 0
		select {
		case <-r.begin:
			begun = true
		default:
		}
		if waiting == 0 || begun && len(granted) >= minimum {
			break
		}
		select {
		case <-time.After(c.options.Pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if len(granted) < minimum {
		return nil, fmt.Errorf("%w: %d of at least %d approved", ErrNodes, len(granted), minimum)
	}
	slices.Sort(granted)
	return granted, nil
}

// enrollNode asks one node. Nodes must read records alike.
func (c *Coordinator) enrollNode(ctx context.Context, r *run, name string, peer Peer, data string) (node.Status, error) {
	all, err := peer.Describe(ctx)
	if err != nil {
		return node.Status{}, err
	}
	i := slices.IndexFunc(all, func(d node.Description) bool { return d.Name == data })
	if i < 0 {
		return node.Status{}, &cluster.Problem{Type: "badRequest", Detail: "it has no data of that name"}
	}
	if r.Proposal.Plan != nil {
		r.mu.Lock()
		if r.Encoding == nil {
			r.Encoding = all[i].Encoding
		}
		same := reflect.DeepEqual(r.Encoding, all[i].Encoding)
		r.Declared[name] = all[i].Units
		r.mu.Unlock()
		if !same {
			return node.Status{}, &cluster.Problem{Type: "badRequest", Detail: "it reads records in another way than the nodes before it"}
		}
	}
	return peer.Ask(ctx, node.Request{ID: r.Proposal.ID, Reason: r.Proposal.Reason, Plan: r.Proposal.Plan, Query: r.Proposal.Query})
}
