package trino

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A Writer runs any statement as the user of a URL. It is for an owner who makes tables, as the demo
// does: no engine has one, so that nothing that answers statements can write.
type Writer struct {
	client *client
}

// NewWriter reads a URL, which the environment variable of that name holds. Its errors are for
// the owner.
func NewWriter(url, variable string) (*Writer, error) {
	c, err := newClient(&catalog.Catalog{Engine: catalog.Engine{Kind: catalog.Trino, Variable: variable}}, Options{URL: url})
	if err != nil {
		return nil, err
	}
	return &Writer{client: c}, nil
}

// Address is the coordinator's, without user and password.
func (w *Writer) Address() string { return w.client.base.String() }

// Run runs one statement, and returns what it gives as texts.
func (w *Writer) Run(ctx context.Context, sql string) ([][]string, error) {
	a, err := w.client.ask(ctx, sql)
	var said *failed
	switch {
	case errors.As(err, &said) && ctx.Err() == nil: // of statements that the owner wrote
		return nil, diagnostic.New("D101", diagnostic.Span{}, "Trino refuses a statement").Because("%s: %s", said.Name, said.Message)
	case err != nil:
		return nil, unconnected(ctx, err)
	}
	rows := make([][]string, len(a.rows))
	for i, cells := range a.rows {
		for _, c := range cells {
			rows[i] = append(rows[i], fmt.Sprint(c.shown()))
		}
	}
	return rows, nil
}
