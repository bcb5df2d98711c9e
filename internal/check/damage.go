package check

import (
	"context"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/internal/derive"
)

// A damage is a column of a Parquet file that the engine's reader gives up on. Text
// that is not UTF-8, JSON that is none, decimals too long for their type and
// milliseconds whose microseconds exceed 64 bits are such: no expression comes before
// the reader, so that nothing turns them into NULL.
type damage struct {
	column, why string
}

// damaged reads each field of a Parquet file alone, or of each of several. It is for files
// that cannot be read whole.
func damaged(ctx context.Context, o engine.Owner, t *catalog.Table) (all []damage, err error) {
	if t.Source.Format != catalog.Parquet {
		return nil, nil
	}
	reading, err := derive.Read(t)
	if err != nil {
		return nil, err
	}
	listing, err := t.Files()
	if err != nil {
		return nil, nil // and so no column to blame
	}
	for _, f := range listing.Files {
		of, err := damagedIn(ctx, o, reading, f)
		if err != nil {
			return nil, err
		}
		for _, d := range of {
			if t.Source.Pattern != nil {
				d.why = nameOf(t, f.Path) + ": " + d.why
			}
			if !slices.ContainsFunc(all, func(other damage) bool { return other.column == d.column }) {
				all = append(all, d)
			}
		}
	}
	return all, nil
}

func damagedIn(ctx context.Context, o engine.Owner, reading *derive.Reading, of datafile.File) (all []damage, err error) {
	f := newFile(reading)
	err = (&sources{owner: o}).typed(ctx, f, parquet(of.Path))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	} else if err != nil {
		return nil, nil // the file has no schema, and so no column to blame
	}
	for i, key := range f.keys() {
		if key >= 0 {
			continue
		}
		_, _, err := o.Rows(ctx, "SELECT max(hash("+f.raw[i]+")) FROM "+parquet(of.Path))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil {
			continue
		}
		why := "it has values that the engine cannot read (" + firstLine(err.Error()) + ")"
		if strings.Contains(err.Error(), "not valid UTF8") {
			why = "it has text that is not UTF-8, which Parquet forbids"
		}
		for _, c := range reading.Table.Columns {
			if slices.Contains(reading.Uses(c), i) {
				all = append(all, damage{c.Name, why})
			}
		}
	}
	return all, nil
}
