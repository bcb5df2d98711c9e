package query

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// Shell is discreet shell.
func Shell() *command.Command {
	c := &command.Command{
		UsageLine: "shell [flags]",
		For:       command.Analyst,
		Short:     "ask statement after statement, with history and completion",
		Long: `Statements end with a semicolon and may take several lines. The tab completes tables,
columns and functions, the arrows find what was asked before, Ctrl-C ends a line, or
a statement that is being answered: what was reserved for it stays spent. \? lists the
commands: what is declared, what is left, what a statement would cost, what each may
cost, or which error it may have. What was asked before, on the same data, is answered
again for nothing, unless \fresh says otherwise. From a pipe, statements are answered
until one fails.

Exit codes are those of discreet query.`,
		Examples: [2]string{"discreet shell --rho 0.001", "discreet shell --accuracy 150 < questions.sql"},
	}
	sh := &shell{command: c}
	sh.w.Define(&c.Flags)
	sh.options.DefineSpend(&c.Flags)
	sh.options.DefineAnalyst(&c.Flags)
	sh.format.define(&c.Flags)
	c.PrintsTables()
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		sh.t = t
		return sh.run(ctx)
	}
	return c
}

// A shell is one session.
type shell struct {
	command *command.Command
	t       *terminal.Terminal
	w       workplace.Workplace
	options workplace.Statement
	format  printing
	editor  *terminal.Editor // nil where statements come from a pipe
	last    string           // the last statement
}

func (s *shell) run(ctx context.Context) error {
	if err := s.format.settle(s.t); err != nil {
		return err
	}
	s.options.Analyst = cmp.Or(s.options.Analyst, workplace.DefaultAnalyst())
	s.options.Repeat, s.options.Reuse = true, true
	s.t.WidenBy(widened, s.t.Wide())
	if err := s.w.Load(); err != nil {
		return err
	}
	defer s.w.Close()
	in, ok := s.t.In.(*os.File)
	if !ok || !terminal.IsTerminal(in) || !terminal.IsTerminal(s.t.Out.W) {
		return s.batch(ctx)
	}
	s.editor = terminal.NewEditor(in, s.t.Out, s.complete)
	s.t.Say("%s", s.t.Paint(terminal.Dim, `\? lists the commands, \q leaves; statements end with ;`))
	return s.converse(ctx)
}

// batch answers what comes through a pipe, until something fails.
func (s *shell) batch(ctx context.Context) error {
	lines := bufio.NewScanner(s.t.In)
	lines.Buffer(nil, maxStatement)
	var text strings.Builder
	for lines.Scan() {
		line := lines.Text()
		if text.Len() == 0 && isCommand(line) {
			if err := s.do(ctx, commandOf(line)); err != nil {
				return endless(err)
			}
			continue
		}
		text.WriteString(line + "\n")
		for _, statement := range take(&text) {
			if err := s.ask(ctx, statement); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read statements: %w", err)
	}
	if rest := strings.TrimSpace(text.String()); !blank(rest) {
		return s.ask(ctx, rest) // the last needs no semicolon
	}
	return nil
}

// maxStatement bounds a line: more than the longest statement.
const maxStatement = 1 << 20

// errQuit ends a session.
var errQuit = errors.New("quit")

func endless(err error) error {
	if errors.Is(err, errQuit) {
		return nil
	}
	return err
}

// converse talks with a person. What fails is said, and the session goes on.
func (s *shell) converse(ctx context.Context) error {
	var text strings.Builder
	for ctx.Err() == nil {
		prompt := "discreet> "
		if text.Len() > 0 {
			prompt = "      ... "
		}
		line, err := s.editor.Line(prompt)
		switch {
		case errors.Is(err, terminal.ErrInterrupted):
			text.Reset()
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(s.t.Out)
			return nil
		case err != nil:
			return err
		}
		if text.Len() == 0 && isCommand(line) {
			s.editor.Remember(strings.TrimSpace(line))
			if err := s.interruptible(ctx, func(ctx context.Context) error { return s.do(ctx, commandOf(line)) }); errors.Is(err, errQuit) {
				return nil
			}
			continue
		}
		if text.Len()+len(line) > maxStatement {
			text.Reset()
			s.t.Say("the statement is too long")
			continue
		}
		text.WriteString(line + "\n")
		for _, statement := range take(&text) {
			if entry, ok := oneLine(statement + ";"); ok {
				s.editor.Remember(entry)
			}
			if s.interruptible(ctx, func(ctx context.Context) error { return s.ask(ctx, statement) }) != nil {
				text.Reset() // what came with it was meant to follow it
				break
			}
		}
	}
	return ctx.Err()
}

// interruptible runs something that Ctrl-C ends, and says what failed. A second one ends the process at
// once: by then, what was charged is on disk.
func (s *shell) interruptible(ctx context.Context, run func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	defer close(over)
	came := make(chan os.Signal, 2)
	signal.Notify(came, os.Interrupt)
	defer signal.Stop(came)
	go func() {
		for range 2 {
			select {
			case <-came:
				if ctx.Err() != nil {
					os.Exit(diagnostic.ExitEngine)
				}
				cancel()
			case <-over:
				return
			}
		}
	}()
	err := run(ctx)
	if err != nil && !errors.Is(err, errQuit) {
		failure.Finish(s.t, ctx, err)
	}
	return err
}

// ask answers a statement, or explains it where it says EXPLAIN.
func (s *shell) ask(ctx context.Context, text string) error {
	if name, is := describes(text); is {
		return showTables(s.t, s.w.Catalog, name, s.t.JSON)
	}
	if of, is := explains(text); is {
		return s.explain(ctx, of)
	}
	s.last = text
	done := s.t.Busy(ctx, "answering")
	a, err := s.answer(ctx, text)
	done()
	if err != nil {
		return err
	}
	return s.format.write(s.t, a)
}

// answer opens what it needs in the order of discreet query: what can be refused is refused, and the
// engine is open, before anything is charged. Both outlive the statement that opens them.
func (s *shell) answer(ctx context.Context, text string) (*discreet.Answer, error) {
	o, session := s.asked(), context.WithoutCancel(ctx)
	if err := s.w.OpenStored(session, &o); err != nil {
		return nil, err
	}
	db, err := s.w.Database(session)
	if err != nil {
		return nil, err
	}
	e, err := db.Explain(ctx, text, &o)
	if err != nil {
		return nil, err
	}
	if err := s.format.admit(e.Columns); err != nil {
		return nil, err
	}
	if _, err := s.w.Engine.Open(); err != nil {
		return nil, err
	}
	if s.w.Ledger == nil && e.Certificate.Domain != "" {
		if err := s.w.OpenLedger(session); err != nil {
			return nil, err
		}
		if db, err = s.w.Database(session); err != nil {
			return nil, err
		}
	}
	return db.Query(ctx, text, &o)
}

// asked is what goes with a statement: the bound of an accuracy goes with an accuracy alone.
func (s *shell) asked() discreet.QueryOptions {
	o := s.options.QueryOptions
	if o.Accuracy.IsZero() {
		o.AtMost = discreet.Spend{}
	}
	return o
}

func (s *shell) explain(ctx context.Context, text string) error {
	o, session := s.asked(), context.WithoutCancel(ctx)
	if err := s.w.OpenStored(session, &o); err != nil {
		return err
	}
	db, err := s.w.Database(session)
	if err != nil {
		return err
	}
	e, err := db.Explain(ctx, text, &o)
	if err != nil {
		return err
	}
	s.last = text
	if s.t.JSON {
		return s.t.WriteJSON(e)
	}
	writeExplanation(s.t.Out, e, s.t.Width(0), false)
	return nil
}

// refused is how a command of the shell is refused.
func refused(format string, args ...any) *diagnostic.Diagnostic {
	return diagnostic.New("D113", diagnostic.Span{}, format, args...)
}
