// Package shuffle is the command shuffle: questions whose reports go through shufflers, what
// they guarantee, and the sides of respondents and of who asks.
package shuffle

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/collect/shuffle/process"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// Command is discreet shuffle.
func Command() *command.Command {
	c := &command.Command{
		UsageLine: "shuffle describe|simulate|enrol|report|result [flags]",
		For:       command.Owner,
		Short:     "respondents whose reports are mixed: less noise than where each hides alone (owner)",
		Long: `Each respondent randomizes the answer a little, and two shufflers mix the reports of many,
so that nobody can tell whose is whose. describe says what a question guarantees and how
exact its answer is, before anybody is asked; simulate tries it on answers of a file. The
other verbs speak to the processes of discreet cluster up --profile shuffle: enrol lets
respondents take part, report is what their devices do, result is what was learned.

Settings (--set NAME=VALUE) are those of the profile: discreet help cluster.`,
		Examples: [2]string{
			"discreet shuffle describe --set answers=2 --set batch=10000",
			"discreet shuffle result --dir discreet-cluster",
		},
		Verbs: []*command.Command{describe(), simulate(), enrol(), report(), result()},
	}
	for _, v := range c.Verbs {
		v.Of = c.Name()
		c.Words = append(c.Words, v.Name())
	}
	c.Run = func(_ context.Context, t *terminal.Terminal, _ []string) error {
		c.WriteHelp(t.Err)
		return failure.ErrUsageShown
	}
	return c
}

// settings defines --set and returns the question that it gives.
func settings(c *command.Command) func() (*shuffle.Protocol, error) {
	given := cluster.Settings{}
	for _, s := range process.Profile().Settings {
		given[s.Name] = s.Default
	}
	c.Flags.Func("set", "a setting of the question: `NAME=VALUE`; may be given again", func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if _, known := given[name]; !ok || !known {
			return errors.New("want NAME=VALUE, with a setting of the profile shuffle")
		}
		given[name] = value
		return nil
	})
	return func() (*shuffle.Protocol, error) {
		q, err := process.Question(given)
		if err == nil {
			var p *shuffle.Protocol
			if p, err = shuffle.New(*q); err == nil {
				return p, nil
			}
		}
		return nil, diagnostic.New("D232", diagnostic.Span{}, "%v", err).Try("discreet help cluster lists the settings")
	}
}

// member opens the folder of a member of a running cluster.
func member(dir, name string) (*cluster.Station, error) {
	s, err := cluster.Open(filepath.Join(dir, name), time.Now, slog.New(slog.DiscardHandler))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diagnostic.New("D230", diagnostic.Span{}, "there is no cluster of the profile shuffle in %s", dir).Try("discreet cluster up --profile shuffle --dir %s", dir)
	}
	return s, err
}

// told gives what a role refuses the form of all refusals.
func told(err error) error {
	var p *cluster.Problem
	var silent interface{ Temporary() bool } // of connections
	switch {
	case errors.As(err, &p):
		return diagnostic.New("D233", diagnostic.Span{}, "%s", few(err.Error())).Try("discreet cluster status, and the logs")
	case errors.As(err, &silent):
		return diagnostic.New("D243", diagnostic.Span{}, "a role cannot be reached").
			Because("reports that were accepted stay, and none counts twice").Try("discreet cluster status, then the same command again")
	}
	return err
}

// few are the first lines of a text that may have one for each respondent.
func few(text string) string {
	const most = 3
	lines := strings.Split(text, "\n")
	if len(lines) <= most {
		return text
	}
	return strings.Join(lines[:most], "\n") + fmt.Sprintf("\nand %d more", len(lines)-most)
}

func dirFlag(c *command.Command) *string {
	return c.Flags.String("dir", "discreet-cluster", "the cluster's folder is `DIR`")
}

// answers reads a record a line: an answer, or a number of a sum, and after a comma a crowd. What
// cannot be read is told as a random answer: a refusal would tell of it.
func answers(ctx context.Context, in io.Reader, p *shuffle.Protocol, f func(a process.Answer) error) error {
	lines := bufio.NewScanner(in)
	for n := 0; lines.Scan(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		text, crowd, _ := strings.Cut(strings.TrimSpace(lines.Text()), ",")
		a := process.Answer{Answer: -1}
		if p.Kind == shuffle.Sum {
			a.Number, _ = readNumber(text)
		} else if v, err := strconv.Atoi(text); err == nil {
			a.Answer = v
		}
		if crowd != "" {
			d := sha256.Sum256([]byte("discreet crowd 1\x00" + crowd))
			a.Crowd = binary.BigEndian.Uint64(d[:])
		}
		if err := f(a); err != nil {
			return err
		}
	}
	return lines.Err()
}

// longNumber is how many characters a number has, at most: exact arithmetic on more takes time.
const longNumber = 40

func readNumber(text string) (*big.Rat, bool) {
	if len(text) > longNumber || strings.ContainsAny(text, "eEpP/") {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// input opens the file of -f, or standard input.
func input(t *terminal.Terminal, path string) (io.ReadCloser, error) {
	if path == "" || path == "-" {
		return io.NopCloser(t.In), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, workplace.Unreadable(path, err)
	}
	return f, nil
}

func enrol() *command.Command {
	c := &command.Command{
		UsageLine: "enrol N [--dir DIR]",
		Short:     "let N respondents take part, and print a code for each",
		Long: `A code is good for one report: the issuer signs two tokens for it, one for each shuffler,
without seeing them. Give each respondent one, over a channel that you trust to reach
that person; who has k codes fills k places of a batch.`,
		Examples: [2]string{"discreet shuffle enrol 1000 > codes.txt", "discreet shuffle enrol 200 --dir study"},
	}
	dir := dirFlag(c)
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		n, err := 0, error(nil)
		if len(args) == 1 {
			n, err = strconv.Atoi(args[0])
		}
		if err != nil || n < 1 || n > 1_000_000 {
			return diagnostic.New("D113", diagnostic.Span{}, "one number of respondents is wanted, from 1 to 1000000").Try("discreet %s", c.Line())
		}
		s, err := member(*dir, process.Owner)
		if err != nil {
			return err
		}
		codes, err := process.NewCodes(n)
		if err != nil {
			return err
		}
		if err := process.Enrol(ctx, s, codes); err != nil {
			return told(err)
		}
		for _, code := range codes {
			fmt.Fprintln(t.Out, code)
		}
		return nil
	}
	return c
}

func report() *command.Command {
	c := &command.Command{
		UsageLine: "report --codes FILE [-f FILE] [--dir DIR]",
		Private:   true,
		Short:     "randomize answers and send them: what respondents' devices do",
		Long: `Reads an answer a line (0 to K-1; of a sum a number), after a comma the crowd if there are
crowds, and takes a code of --codes for each. What cannot be read is told as a random
answer: a refusal would tell of it. Reports are sent until the first shuffler has
acknowledged them, the same bytes each time.`,
		Examples: [2]string{"discreet shuffle report --codes codes.txt -f answers.txt", "printf '2\\n' | discreet shuffle report --codes mine.txt --dir study"},
	}
	dir := dirFlag(c)
	codesFile := c.Flags.String("codes", "", "respondents are enrolled by the codes in `FILE`, one a line")
	file := c.Flags.String("f", "", "read answers from `FILE`")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		if *codesFile == "" {
			return command.Missing("who answers", "--codes FILE")
		}
		text, err := os.ReadFile(*codesFile)
		if err != nil {
			return workplace.Unreadable(*codesFile, err)
		}
		codes := strings.Fields(string(text))
		s, err := member(*dir, process.Client)
		if err != nil {
			return err
		}
		people, err := process.NewRespondents(ctx, s)
		if err != nil {
			return told(err)
		}
		in, err := input(t, *file)
		if err != nil {
			return err
		}
		defer in.Close()
		var all []process.Answer
		if err := answers(ctx, in, people.Protocol(), func(a process.Answer) error {
			if len(all) == len(codes) {
				return diagnostic.New("D113", diagnostic.Span{}, "there are more answers than codes").Try("discreet shuffle enrol N")
			}
			a.Code = codes[len(all)]
			all = append(all, a)
			return nil
		}); err != nil {
			return err
		}
		done := t.Busy(ctx, "sending reports")
		tally, err := people.Report(ctx, all)
		done()
		t.Say("%d reports accepted, %d repeated, %d refused\n", tally.Accepted, tally.Repeated, tally.Refused)
		return told(err)
	}
	return c
}

func result() *command.Command {
	c := &command.Command{
		UsageLine: "result [--wait N] [--dir DIR] [--json]",
		Short:     "what the analyzer has learned, with intervals and the guarantee",
		Long: `Counts are without bias, and so at times negative; each interval holds with probability
95 %, for any answers of respondents who follow the protocol. What waits for a batch is
not in it.`,
		Examples: [2]string{"discreet shuffle result", "discreet shuffle result --dir study --json"},
	}
	c.PrintsTables()
	dir := dirFlag(c)
	wait := c.Flags.Int64("wait", 0, "wait until `N` respondents are in the result")
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		s, err := member(*dir, process.Owner)
		if err != nil {
			return err
		}
		r, err := process.Results(ctx, s)
		look := time.NewTicker(100 * time.Millisecond)
		defer look.Stop()
		for ; err == nil && r.Respondents < *wait; r, err = process.Results(ctx, s) {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-look.C:
			}
		}
		if err != nil {
			return told(err)
		}
		if *wantJSON {
			return t.WriteJSON(r)
		}
		t.Say("%d respondents, in batches of %d or more\n", r.Respondents, r.Certificate.Respondents)
		if r.Bad > 0 {
			t.Say("%s cannot be read; intervals are wide enough for any answers in them\n", diagnostic.Count(r.Bad, "message"))
		}
		if r.Estimate != nil {
			estimates(t, r.Estimate)
		}
		guarantee(t, r.Certificate)
		return nil
	}
	return c
}

func estimates(t *terminal.Terminal, e *shuffle.Estimate) {
	if e.Sum != nil {
		columns("sum", [][]string{{number(e.Sum.Value), number(e.Sum.Low), number(e.Sum.High)}}, "low", "high").Write(t.Out)
		return
	}
	var rows [][]string
	for v, count := range e.Counts {
		rows = append(rows, []string{strconv.Itoa(v), number(count), number(e.Low[v]), number(e.High[v])})
	}
	columns("answer", rows, "count", "low", "high").Write(t.Out)
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// columns are a table of numbers with its titles.
func columns(first string, rows [][]string, others ...string) terminal.Grid {
	g := terminal.Grid{{Title: first}}
	for _, title := range others {
		g = append(g, terminal.Column{Title: title, Right: true})
	}
	for _, row := range rows {
		for i := range g {
			g[i].Cells = append(g[i].Cells, row[i])
		}
	}
	return g
}

// guarantee prints a certificate.
func guarantee(t *terminal.Terminal, c *shuffle.Certificate) {
	fmt.Fprintf(t.Out, "a bundle by itself is %s-DP, for replacing the answer\n", numeric.FormatRat(numeric.CeilDigits(c.Local.Rat(), 6)))
	if c.Without != "" {
		fmt.Fprintf(t.Out, "nothing more is claimed: %s\n", c.Without)
	}
	for _, claim := range c.Claims {
		least := ""
		if claim.AtLeast > 0 {
			least = fmt.Sprintf(" (no valid bound is below %s)", atLeast(claim.AtLeast))
		}
		theorem, _, _ := strings.Cut(cmp.Or(claim.Theorem, "-"), ";")
		t.Print(fmt.Sprintf("(%s, %v)-DP%s against %s, if %s and %d of %d respondents of a batch do not collude: %s",
			atMost(claim.Epsilon), claim.Delta, least, claim.Against, claim.If, claim.Honest, c.Respondents, theorem), 2)
	}
}

// atMost prints an upper bound, rounded up: less would not be guaranteed.
func atMost(x float64) string { return digits(x, numeric.CeilDigits) }

// atLeast prints a lower bound, rounded down.
func atLeast(x float64) string { return digits(x, numeric.FloorDigits) }

func digits(x float64, round func(*big.Rat, int) *big.Rat) string {
	r := new(big.Rat).SetFloat64(x)
	if r == nil { // it is infinite
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return numeric.FormatRat(round(r, 4))
}
