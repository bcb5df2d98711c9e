package multiparty

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// maxContributions is how many lines a run of contribute reads.
const maxContributions = 100_000

// station opens the folder of a member who has no process, with the task that it knows.
func station(dir, name string) (*cluster.Station, *process.Task, error) {
	s, err := cluster.Open(filepath.Join(dir, name), time.Now, slog.New(slog.DiscardHandler))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, diagnostic.New("D230", diagnostic.Span{}, "there is no cluster of the profile prio in %s", dir).Try("discreet cluster up --profile prio --dir %s", dir)
	}
	if err != nil {
		return nil, nil, err
	}
	t, err := process.TaskOf(s)
	if err != nil {
		return nil, nil, diagnostic.New("D230", diagnostic.Span{}, "the cluster in %s is not of the profile prio", dir).Try("discreet cluster up --profile prio --dir another-folder")
	}
	return s, t, nil
}

// refused gives what aggregators refuse the form of all refusals.
func refused(err error) error {
	var p *cluster.Problem
	switch {
	case errors.As(err, &p) && p.Type == prio.Exhausted:
		return diagnostic.New("D076", diagnostic.Span{}, "the budget of the task does not allow another collection").
			Because("each collection costs what the task says, and the aggregators count").Try("a new cluster, with new contributions")
	case errors.As(err, &p):
		return diagnostic.New("D247", diagnostic.Span{}, "the aggregators refuse: %s", p.Type).Because("%s", p.Detail).Try("see docs/collect/prio.md")
	case errors.Is(err, prio.ErrInvalid):
		return diagnostic.New("D246", diagnostic.Span{}, "%v", err).Try("see docs/collect/prio.md")
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: %w", failure.ErrUndecided, diagnostic.New("D102", diagnostic.Span{}, "interrupted").
			Because("what aggregators have stays; nothing counts, and nothing is charged, twice").Try("the same command again goes on"))
	case errors.As(err, new(*url.Error)): // before the deadline, or when it is over
		return diagnostic.New("D243", diagnostic.Span{}, "an aggregator cannot be reached").
			Because("what was stored stays, and nothing counts twice").Try("discreet cluster status, then the same command again")
	case errors.Is(err, context.DeadlineExceeded):
		return diagnostic.New("D243", diagnostic.Span{}, "an aggregator does not answer in time").
			Because("what was stored stays, and nothing counts twice").Try("discreet cluster status, then the same command again")
	}
	return err
}

func batchFlag(c *command.Command) *string {
	return c.Flags.String("batch", "", "the batch is called `NAME`")
}

func contribute() *command.Command {
	c := &command.Command{
		UsageLine: "contribute --batch NAME [-f FILE] [--dir DIR]",
		Private:   true,
		Short:     "split numbers among aggregators: what people's devices do",
		Long: `Reads a contribution a line: of a count 0 or 1, of a sum a number, of a histogram a place from
0 on, of vectors and multihot a number for each place, with commas between. Each is split,
proved to be one that may be, and sealed for each aggregator; none of them sees it. What
was begun is on disk: the same input again sends the same bytes, and counts once.`,
		Examples: [2]string{"discreet multiparty contribute --batch monday -f votes.txt", "printf '3\\n' | discreet multiparty contribute --batch monday --dir study"},
	}
	dir := c.Flags.String("dir", "discreet-cluster", "the cluster's folder is `DIR`")
	batch, file := batchFlag(c), c.Flags.String("f", "", "read contributions from `FILE`")
	wait := patienceFlag(c)
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) (err error) {
		if err := command.None(c, args); err != nil {
			return err
		}
		if *batch == "" {
			return command.Missing("which batch", "--batch NAME")
		}
		s, task, err := station(*dir, process.ClientName)
		if err != nil {
			return err
		}
		in := t.In
		if *file != "" && *file != "-" {
			f, err := os.Open(*file)
			if err != nil {
				return workplace.Unreadable(*file, err)
			}
			defer f.Close()
			in = f
		}
		numbers, name, err := contributions(in)
		if err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(ctx, *wait)
		defer cancel()
		client, err := process.NewClient(limited, s, task)
		if err != nil {
			return refused(err)
		}
		box, err := process.OpenOutbox(ctx, s)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, box.Close()) }()
		done := t.Busy(ctx, "sending contributions")
		codes, err := box.Send(limited, client, *batch, name, numbers)
		done()
		if err != nil {
			return refused(err)
		}
		said := map[string]int{}
		for _, code := range codes {
			said[code]++
		}
		for _, code := range slices.Sorted(maps.Keys(said)) {
			t.Say("%d contributions: %s\n", said[code], code)
		}
		return nil
	}
	return c
}

func patienceFlag(c *command.Command) *time.Duration {
	return c.Flags.Duration("patience", time.Minute, "ask aggregators that do not answer again for `TIME`")
}

// contributions reads all lines, and names them by what they are. What a line says is private: a refusal
// names its number alone.
func contributions(in io.Reader) (all [][]uint64, name string, err error) {
	digest := sha256.New()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		fmt.Fprintln(digest, lines.Text())
		var one []uint64
		for word := range strings.SplitSeq(strings.TrimSpace(lines.Text()), ",") {
			n, err := strconv.ParseUint(strings.TrimSpace(word), 10, 64)
			if err != nil {
				return nil, "", diagnostic.New("D246", diagnostic.Span{}, "line %d is no contribution", len(all)+1).
					Because("it is whole numbers from 0 on, with commas between").Try("nothing was sent; mend the line")
			}
			one = append(one, n)
		}
		if all = append(all, one); len(all) > maxContributions {
			return nil, "", diagnostic.New("D246", diagnostic.Span{}, "there are more than %d contributions", maxContributions).Try("split the file")
		}
	}
	if err := lines.Err(); err != nil {
		return nil, "", diagnostic.New("D246", diagnostic.Span{}, "the contributions cannot be read: %v", err)
	}
	return all, hex.EncodeToString(digest.Sum(nil)[:16]), nil
}

func collected() *command.Command {
	c := &command.Command{
		UsageLine: "collect --batch NAME [--dir DIR] [--json]",
		Short:     "the noisy total of a batch's contributions",
		Long: `Closes the batch: each aggregator adds the whole noise of the task to its share, is charged,
and gives the share to the collector. The same batch again has the same total, at no
charge. Totals are signed: noise can be below zero.`,
		Examples: [2]string{"discreet multiparty collect --batch monday", "discreet multiparty collect --batch monday --dir study --json"},
	}
	c.PrintsTables()
	dir := c.Flags.String("dir", "discreet-cluster", "the cluster's folder is `DIR`")
	batch := batchFlag(c)
	wait := patienceFlag(c)
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		if *batch == "" {
			return command.Missing("which batch", "--batch NAME")
		}
		s, task, err := station(*dir, process.CollectorName)
		if err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(ctx, *wait)
		defer cancel()
		done := t.Busy(ctx, "collecting")
		r, err := process.Collect(limited, s, task, *batch)
		done()
		if err != nil {
			return refused(err)
		}
		if *wantJSON {
			return t.WriteJSON(r)
		}
		total(t, r)
		return nil
	}
	return c
}

// total prints a result.
func total(t *terminal.Terminal, r *process.Result) {
	t.Say("%d contributions\n", r.Contributions)
	for _, code := range slices.Sorted(maps.Keys(r.Refused)) {
		t.Say("%d more count nowhere: %s\n", r.Refused[code], code)
	}
	g := terminal.Grid{{Title: "place"}, {Title: "total", Right: true}, {Title: "95% interval"}}
	for i, v := range r.Values {
		low, high := new(big.Int).Sub(v, r.Margin), new(big.Int).Add(v, r.Margin)
		for k, cell := range []string{strconv.Itoa(i), v.String(), fmt.Sprintf("[%v, %v]", low, high)} {
			g[k].Cells = append(g[k].Cells, cell)
		}
	}
	g.Write(t.Out)
	t.Print(fmt.Sprintf("revealed: %v, of %s", r.Certificate.Event, r.Certificate.Unit), 2)
	for _, who := range r.Certificate.Trusted {
		t.Print("trusted: "+who, 2)
	}
	t.Print("public: "+r.Certificate.Public, 2)
}
