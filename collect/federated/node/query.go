package node

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/budget/durable"
	"github.com/discreet-dp/discreet/datanode"
)

// An Answered query is what left.
type Answered struct {
	Statement string    `json:"statement"`
	Labels    []string  `json:"labels,omitempty"`
	Values    []float64 `json:"values"`
}

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
