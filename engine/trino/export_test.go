package trino

import (
	"context"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
)

// Enter takes the place of a statement.
func (e *Engine) Enter(ctx context.Context) (leave func(), err error) { return e.leave, e.enter(ctx) }

// FeedSQL is what Feed asks the cluster for of a table that is one range.
func (e *Engine) FeedSQL(ctx context.Context, s engine.Seen) (string, error) {
	declared, _ := e.catalog.Table(s.Table)
	seen, err := e.look(ctx, []*catalog.Table{declared})
	if err != nil {
		return "", err
	}
	r := &feed{engine: e, seen: s, unit: declared.Unit.Column, table: seen[0], count: 1}
	for _, name := range s.Columns {
		c, _ := declared.Column(name)
		r.columns = append(r.columns, c)
	}
	text, _ := r.text(0)
	return withed([]string{r.table.read}) + text, nil
}
