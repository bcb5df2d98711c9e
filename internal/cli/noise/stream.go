package noise

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func aboveThresholdNoise() *command.Command {
	c := &command.Command{
		UsageLine: "above-threshold --threshold T --sensitivity S --epsilon E --domain DOMAIN [-f FILE]",
		Short:     "which of many queries is the first above a threshold; all before it are free",
		Long: `Queries come on standard input, one a line, and are answered as they come: below, or
above, which ends the run. A query may depend on the answers before. The whole cost
is charged at the start, however many there are. The sensitivity is what one unit
moves a single query at most. --gap also tells by how much, at no cost.`,
		Examples: [2]string{
			"discreet noise above-threshold --domain patient --threshold 1000 --sensitivity 1 --monotone --epsilon 0.5 -f daily-visits.txt",
			"discreet noise above-threshold --domain patient --threshold 20 --sensitivity 2 --epsilon 0.1 --gap --json",
		},
	}
	var n streaming
	n.define(c)
	c.Run = n.run(func(epsilon privacy.Epsilon) (stream, error) {
		return mechanism.NewAboveThreshold(mechanism.AboveThresholdOptions{Threshold: n.threshold,
			Sensitivity: n.sensitivity.value, Epsilon: epsilon, Monotone: n.monotone})
	})
	return c
}

func sparseVectorNoise() *command.Command {
	c := &command.Command{
		UsageLine: "sparse-vector --count C --threshold T --sensitivity S --epsilon E --domain DOMAIN [-f FILE]",
		Short:     "which of many queries are above a threshold, up to a number of them",
		Long: `Queries come on standard input, one a line, and are answered as they come: below, or
above; the run ends when --count of them were above. The whole cost is charged at the
start. The sensitivity is what one unit moves a single query at most. --gap tells by
how much a query is above, at no cost; --numeric spends half of the cost on its value;
--adaptive finds up to twice as many answers where queries are far above.`,
		Examples: [2]string{
			"discreet noise sparse-vector --domain patient --count 5 --threshold 1000 --sensitivity 1 --monotone --epsilon 0.5 -f daily-visits.txt",
			"discreet noise sparse-vector --domain patient --count 5 --threshold 20 --sensitivity 2 --epsilon 0.5 --numeric --json",
		},
	}
	var n streaming
	n.define(c)
	var answers int64
	c.Flags.Func("count", "end when `C` queries were above", count(&answers))
	c.Flags.BoolVar(&n.numeric, "numeric", false, "tell the values of queries that are above, with noise of their own, for half of the cost")
	c.Flags.BoolVar(&n.adaptive, "adaptive", false, "queries that are far above cost half")
	c.Run = n.run(func(epsilon privacy.Epsilon) (stream, error) {
		switch {
		case answers == 0:
			return nil, command.Missing("the number of queries that may be above", "--count C")
		case n.adaptive && n.numeric:
			return nil, diagnostic.New("D115", diagnostic.Span{}, "--adaptive and --numeric exclude each other").
				Try("--gap tells how far above a query is, at no cost")
		}
		o := mechanism.SparseVectorOptions{Threshold: n.threshold, Sensitivity: n.sensitivity.value, Monotone: n.monotone,
			Answers: int(min(answers, math.MaxInt32)), Epsilon: epsilon}
		if n.numeric {
			o.ValueEpsilon = epsilon.MulRat(big.NewRat(1, 2))
		}
		if n.adaptive {
			return mechanism.NewAdaptiveSparseVector(o)
		}
		return mechanism.NewSparseVector(o)
	})
	return c
}

// A stream is a run that answers queries as they come.
type stream interface {
	Ask(bits noise.Bits, query float64) (mechanism.Answer, error)
	Bound(n int, beta *big.Rat) (float64, error)
	Event() privacy.Event
	Halted() bool
}

// A streaming is what all runs over queries share.
type streaming struct {
	noising
	file        string
	threshold   float64
	hasT        bool
	sensitivity distance
	monotone    bool
	gap         bool
	numeric     bool
	adaptive    bool
	queries     int64
}

func (n *streaming) define(c *command.Command) {
	n.defineCommon(c)
	n.definePure(&c.Flags)
	n.DefineConfidence(&c.Flags, "`C` of the error, between 0 and 1 (default 0.95)")
	c.Flags.StringVar(&n.file, "f", "", "read the queries from `FILE`, one a line (default standard input)")
	c.Flags.Func("threshold", "the public threshold `T`", func(text string) (err error) {
		n.hasT = true
		if n.threshold, err = strconv.ParseFloat(text, 64); err != nil || !decimalText.MatchString(text) {
			return errors.New("want a finite number")
		}
		return nil
	})
	c.Flags.Func("sensitivity", "`S` is how far one unit moves one query", func(text string) error { return n.sensitivity.parse(text, false) })
	c.Flags.BoolVar(&n.monotone, "monotone", false, "a unit moves all queries in one direction, as it does counts: half the noise")
	c.Flags.BoolVar(&n.gap, "gap", false, "tell also how far above, at no cost")
	c.Flags.Func("queries", "say how far off the answers to the first `N` queries may be", count(&n.queries))
}

// run returns the function that runs the command.
func (n *streaming) run(make func(privacy.Epsilon) (stream, error)) func(context.Context, *terminal.Terminal, []string) error {
	return func(ctx context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = n.json
		switch {
		case !n.hasT:
			return command.Missing("the threshold", "--threshold T")
		case n.sensitivity.value == nil:
			return command.Missing("the sensitivity, how far one unit moves a query,", "--sensitivity S")
		case len(args) > 1, len(args) == 1 && args[0] != "-":
			return diagnostic.New("D113", diagnostic.Span{}, "unexpected argument").Try("queries come on standard input, or with -f FILE")
		}
		epsilon, err := n.epsilon()
		if err != nil {
			return err
		}
		in, name := t.In, "standard input"
		if n.file != "" && n.file != "-" {
			f, err := os.Open(n.file)
			if err != nil {
				return workplace.Unreadable(n.file, err)
			}
			defer f.Close()
			in, name = f, n.file
		}
		defer n.Close()
		p, err := n.population(ctx)
		if err != nil {
			return err
		}
		if err := p.monotone(n.monotone); err != nil {
			return err
		}
		m, err := make(epsilon)
		if err != nil {
			return failure.ParameterRefusal(err)
		}
		if err := n.start(ctx, t, p, m); err != nil {
			return err
		}
		return n.answer(ctx, t, m, in, name)
	}
}

// start pays for the whole run. The answer that the ledger keeps is that the run has begun,
// because it must be durable before the run's first answer leaves.
func (n *streaming) start(ctx context.Context, t *terminal.Terminal, p population, m stream) error {
	d := &draw{event: m.Event(), answer: noised{Mechanism: mechanismName(n.command), Sensitivity: n.sensitivity.text, Norm: "each query"}}
	if n.queries > 0 {
		off, err := m.Bound(int(n.queries), p.beta)
		if err != nil {
			return failure.ParameterRefusal(err)
		}
		d.answer.Accuracy, d.answer.Unit = terminal.JSONNumber(off), fmt.Sprintf("on the wrong side of the threshold, among the first %d queries,", n.queries)
	}
	r, err := n.reserve(ctx, p, d)
	if err != nil {
		return err
	}
	text, err := json.Marshal(&d.answer)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	if err := n.Ledger.Commit(ctx, r, text); err != nil {
		return err
	}
	if n.json {
		return t.WriteJSON(&d.answer)
	}
	for _, line := range d.answer.talk() {
		t.Say("%s", t.Paint(terminal.Dim, line))
	}
	return nil
}

// An answered is one answer of a run.
type answered struct {
	Query int      `json:"query"`
	Above bool     `json:"above"`
	Value *float64 `json:"value,omitempty"`
	Gap   *float64 `json:"gap,omitempty"`
	Far   bool     `json:"far,omitempty"` // far above, at half the cost
}

// answer answers the queries, each before the next one is awaited.
func (n *streaming) answer(ctx context.Context, t *terminal.Terminal, m stream, in io.Reader, name string) error {
	ctx, cancel := context.WithCancel(ctx) // the reader ends with the run
	defer cancel()
	lines := make(chan string)
	ended := make(chan error, 1)
	go func() {
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			select {
			case lines <- strings.TrimSpace(scanner.Text()):
			case <-ctx.Done():
				return
			}
		}
		ended <- scanner.Err()
		close(lines)
	}()
	bits := noise.System()
	for i := 1; !m.Halted(); i++ {
		var text string
		var more bool
		select {
		case <-ctx.Done():
			return ctx.Err()
		case text, more = <-lines:
		}
		if !more {
			if err := <-ended; err != nil {
				return unreadableQuery(i, name)
			}
			return nil
		}
		q, err := strconv.ParseFloat(text, 64)
		if err != nil || !decimalText.MatchString(text) {
			return unreadableQuery(i, name)
		}
		a, err := m.Ask(bits, q)
		if err != nil {
			return failure.Undrawn()
		}
		if err := n.print(t, i, a); err != nil {
			return err
		}
	}
	return nil
}

func unreadableQuery(number int, name string) error {
	return diagnostic.New("D144", diagnostic.Span{}, "line %d of %s is not a finite number", number, name).
		Because("it is not shown because it is private; the charge and the answers before it stay")
}

func (n *streaming) print(t *terminal.Terminal, number int, a mechanism.Answer) error {
	out := answered{Query: number, Above: a.Above, Far: a.Far}
	if a.Above && n.gap {
		out.Gap = &a.Gap
	}
	if a.Above && n.numeric {
		out.Value = &a.Value
	}
	if n.json {
		return t.WriteJSON(out)
	}
	line := "below"
	if out.Above {
		line = "above"
	}
	for _, x := range []*float64{out.Value, out.Gap} {
		if x != nil {
			line += "\t" + terminal.JSONNumber(*x).String()
		}
	}
	fmt.Fprintln(t.Out, line)
	return nil
}
