package check

import (
	"context"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
)

// A damage is a column of a Parquet file that the engine's reader gives up on. Text
// that is not UTF-8, JSON that is none, decimals too long for their type and
// milliseconds whose microseconds exceed 64 bits are such: no expression comes before
// the reader, so that nothing turns them into NULL.
type damage struct {
	column, why string
}

// damaged reads each declared column of a Parquet file alone. It is for files that
// cannot be read whole.
func damaged(ctx context.Context, o engine.Owner, t *catalog.Table) (all []damage, err error) {
	if t.Source.Format != catalog.Parquet {
		return nil, nil
	}
	src := source{types: make([]string, len(t.Columns)), missing: make([]bool, len(t.Columns))}
	from := "read_parquet(" + literal(t.Source.Path) + ")"
	raw, err := (&sources{owner: o}).typed(ctx, &src, t, from)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	} else if err != nil {
		return nil, nil // the file has no schema, and so no column to blame
	}
	for i, c := range t.Columns {
		_, _, err := o.Rows(ctx, "SELECT max(hash("+raw[i]+")) FROM "+from)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == nil:
		case strings.Contains(err.Error(), "not valid UTF8"):
			all = append(all, damage{c.Name, "it has text that is not UTF-8, which Parquet forbids"})
		default:
			all = append(all, damage{c.Name, "it has values that the engine cannot read (" + firstLine(err.Error()) + ")"})
		}
	}
	return all, nil
}
