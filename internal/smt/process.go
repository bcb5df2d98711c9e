package smt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
)

// A Process is a solver that stays and is asked many times. It is for one
// goroutine. After an error it is of no further use but to Close.
type Process struct {
	solver  Solver
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stdout  io.ReadCloser
	lines   *bufio.Reader
	stderr  *bounded
	pending strings.Builder // commands not yet sent
	asked   int             // questions so far, which number the marks
	stop    func() bool     // unhooks the context
	once    sync.Once
	cause   error // why it was killed, if a context did it
	ended   error // of Wait
	failed  error
}

// Start starts a solver, which lives until Close or until the context ends.
func Start(ctx context.Context, s Solver, o Options) (*Process, error) {
	path, err := s.path(o)
	if err != nil {
		return nil, err
	}
	p := &Process{solver: s, cmd: exec.Command(path, s.args(o)...), stderr: &bounded{max: 1 << 12}}
	p.cmd.Stderr = p.stderr
	p.cmd.WaitDelay = patience
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		p.stdout, err = p.cmd.StdoutPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", s, err)
	}
	p.lines = bufio.NewReader(p.stdout)
	p.stop = p.killAtEnd(ctx)
	return p, nil
}

func (p *Process) killAtEnd(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { p.kill(context.Cause(ctx)) })
}

// kill ends the process and unblocks who reads from it, even if the pipe is held
// open by a child of its own. Only the first call does; the others wait for it.
func (p *Process) kill(cause error) {
	p.once.Do(func() {
		p.cause = cause
		p.cmd.Process.Kill() //nolint:errcheck // it may have ended already
		p.stdin.Close()
		p.stdout.Close()
		p.ended = p.cmd.Wait()
	})
}

// Close ends the process and waits for it.
func (p *Process) Close() error {
	p.stop()
	p.kill(nil)
	return nil
}

// Assert, Push, Pop and Command send without waiting; what a solver objects to
// shows in the next question.

// Assert asserts a formula.
func (p *Process) Assert(formula string) { p.Command("(assert " + formula + ")") }

// Push opens a level of assertions.
func (p *Process) Push() { p.Command("(push 1)") }

// Pop closes one.
func (p *Process) Pop() { p.Command("(pop 1)") }

// Command sends commands that print nothing.
func (p *Process) Command(text string) { p.pending.WriteString(text + "\n") }

// CheckSat asks whether the assertions have a model. The process is killed if the
// context ends first; Options.Limit leaves it alive.
func (p *Process) CheckSat(ctx context.Context) (Answer, error) {
	out, err := p.Ask(ctx, "(check-sat)")
	if err != nil {
		return Unknown, err
	}
	a, ok := parseAnswer(out)
	if !ok {
		return Unknown, p.fail(ErrOutput, out)
	}
	return a, nil
}

// Values are the values of terms after Sat, as (get-value ...) prints them.
func (p *Process) Values(ctx context.Context, terms ...string) (string, error) {
	out, err := p.Ask(ctx, "(get-value ("+strings.Join(terms, " ")+"))")
	if err == nil && (!strings.HasPrefix(out, "(") || strings.HasPrefix(out, "(error")) {
		return "", p.fail(ErrOutput, out)
	}
	return out, err
}

// Ask sends what is pending and a command, and returns all that is printed up to
// its end.
func (p *Process) Ask(ctx context.Context, command string) (string, error) {
	if p.failed != nil {
		return "", p.failed
	}
	defer p.killAtEnd(ctx)()
	p.asked++
	mark := fmt.Sprintf("end of answer %d", p.asked)
	p.Command(command)
	p.Command("(echo \"" + mark + "\")")
	text := p.pending.String()
	p.pending.Reset()

	written := make(chan error, 1) // a solver may print before it has read all
	go func() {
		_, err := io.WriteString(p.stdin, text)
		written <- err
	}()
	out, err := p.readTo(mark)
	if err != nil {
		p.kill(nil) // which also ends the writer
	}
	if writing := <-written; err == nil {
		err = writing
	}
	if err == nil {
		return out, nil
	}
	return "", p.fail(err, out)
}

// fail ends the process and says why: its context ended, or it printed something
// else, or it did not live to.
func (p *Process) fail(err error, out string) error {
	p.kill(nil)
	switch {
	case p.cause != nil:
		err = p.cause
	case strings.Contains(out, "(error"): // after which cvc5 exits
		err = ErrOutput
	case !errors.Is(err, ErrOutput):
		err = fmt.Errorf("%w: %v", errCrash, p.ended)
	}
	p.failed = fmt.Errorf("ask %s: %w", p.solver, err)
	if said := out + p.stderr.String(); said != "" {
		p.failed = fmt.Errorf("%w: %s", p.failed, excerpt(said))
	}
	return p.failed
}

// readTo returns the lines before the mark, which cvc5 prints with its quotes.
func (p *Process) readTo(mark string) (string, error) {
	var out strings.Builder
	for {
		line, err := p.lines.ReadSlice('\n')
		if text := strings.TrimSpace(string(line)); text == mark || text == `"`+mark+`"` {
			return strings.TrimSpace(out.String()), nil
		}
		out.Write(line)
		if out.Len() > maxOutput {
			return "too much", ErrOutput
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return out.String(), err
		}
	}
}
