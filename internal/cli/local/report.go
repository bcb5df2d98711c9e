package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/noise"
)

var errValue = errors.New("an unreadable value")
var errUndrawn = errors.New("nothing was drawn")

func report() *command.Command {
	c := &command.Command{
		UsageLine: "report PROTOCOL --epsilon E --values A,B,... | --categories K [-f FILE]",
		For:       command.Owner,
		Private:   true,
		Short:     "values in, reports out: what a respondent's device does",
		Long: `Reads values, a record each, and prints a report of each: CSV with the column report,
or JSON lines with --json. Input is CSV or JSON lines with the column value, or one
value a line.

The values are private until here, and no error repeats one. A value that is none of
the listed ones is told as a random one, because a refusal would tell of it. Every
record costs its respondent epsilon: who is asked twice pays twice.`,
		Examples: [2]string{
			"discreet local report grr --epsilon 1 --values yes,no -f answers.csv",
			"discreet local report piecewise --epsilon 2 --lower 0 --upper 120 --column age -f people.jsonl --json",
		},
	}
	var a asking
	var from source
	a.define(c)
	from.define(&c.Flags, "values", "value")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = a.json
		p, err := a.protocol(args)
		if err != nil {
			return err
		}
		s, err := a.survey(p)
		if err != nil {
			return err
		}
		in, name, err := from.open(t)
		if err != nil {
			return err
		}
		defer in.Close()
		var done atomic.Int64
		stop := t.Watch(ctx, func() string { return fmt.Sprintf("%d reports", done.Load()) })
		defer stop()
		out, bits := bufio.NewWriterSize(t.Out, 1<<16), noise.NewStream(noise.System())
		if !a.json {
			fmt.Fprintln(out, "report")
		}
		line, err := eachRecord(ctx, in, a.columns(from.column), func(value string) error {
			text, readable, err := s.report(bits, value)
			switch {
			case err != nil:
				return errUndrawn
			case !readable:
				return errValue
			case a.json:
				fmt.Fprintf(out, "{\"report\":%q}\n", text)
			default:
				fmt.Fprintln(out, text)
			}
			done.Add(1)
			return nil
		})
		if flushed := out.Flush(); err == nil && flushed != nil {
			return flushed
		}
		switch {
		case errors.Is(err, errUndrawn):
			return failure.Undrawn()
		case err != nil && ctx.Err() == nil:
			return diagnostic.New("D193", diagnostic.Span{}, "line %d of %s is not %s", line, name, s.wants()).
				Because("it is not shown because it is private; the reports before it are printed").
				Try("--column names the column of a file with a header, --attribute each of several; a file of one column needs none")
		}
		return err
	}
	return c
}
