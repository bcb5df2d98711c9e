package smt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

const (
	maxOutput = 16 << 20               // bytes of an answer
	patience  = 250 * time.Millisecond // with a killed process whose pipes stay open
)

// Run runs a fresh process on a script and returns all that it prints. A solver
// that meets an error prints it and goes on; see Solve for who wants an answer.
func Run(ctx context.Context, s Solver, o Options, script string) (string, error) {
	path, err := s.path(o)
	if err != nil {
		return "", err
	}
	return run(ctx, s, path, s.args(o), script)
}

func run(ctx context.Context, s Solver, path string, args []string, script string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = strings.NewReader(script)
	cmd.WaitDelay = patience
	out, errs := &bounded{max: maxOutput, fatal: true}, &bounded{max: 1 << 12}
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("run %s: %w", s, context.Cause(ctx))
	case out.over:
		return "", fmt.Errorf("run %s: %w: more than %d bytes", s, ErrOutput, maxOutput)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Exited() && strings.Contains(out.String(), "(error"):
		return out.String(), nil // the exit code tells no more than the text
	case err != nil:
		return "", fmt.Errorf("run %s: %w: %w %s", s, ErrCrash, err, excerpt(errs.String()))
	}
	return out.String(), nil
}

// Solve runs a fresh process on a script whose first output is the answer to
// (check-sat), and returns with the answer what is printed after it: the model,
// if the script asks for one, or the error that there is none.
func Solve(ctx context.Context, s Solver, o Options, script string) (Answer, string, error) {
	out, err := Run(ctx, s, o, script)
	if err != nil {
		return Unknown, "", err
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(out), "\n")
	a, ok := parseAnswer(strings.TrimSpace(first))
	if !ok {
		return Unknown, "", fmt.Errorf("run %s: %w: %s", s, ErrOutput, excerpt(out))
	}
	return a, rest, nil
}

// A Config is a solver with options.
type Config struct {
	Solver  Solver
	Options Options
}

// A Finish is how a race ended.
type Finish struct {
	Winner int // index of the configuration
	Answer Answer
	Rest   string // what was printed after the answer
}

// Race runs a script in all configurations at once, takes the first answer that
// is Sat or Unsat, and ends the other processes before it returns. If no
// configuration decides, the answer is Unknown; if all fail, the errors are
// returned.
func Race(ctx context.Context, script string, configs ...Config) (Finish, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		Finish
		err error
	}
	results := make(chan result)
	for i, c := range configs {
		go func() {
			a, rest, err := Solve(ctx, c.Solver, c.Options, script)
			results <- result{Finish{i, a, rest}, err}
		}()
	}
	var best *Finish
	var failures []error
	for range configs {
		r := <-results
		switch {
		case r.err != nil:
			failures = append(failures, r.err)
		case best == nil || best.Answer == Unknown:
			best = &r.Finish
			if best.Answer != Unknown {
				cancel()
			}
		}
	}
	if best == nil {
		return Finish{}, fmt.Errorf("race of %d solvers: %w", len(configs), errors.Join(failures...))
	}
	return *best, nil
}

// bounded keeps the first max bytes. What comes after is dropped, or, if fatal is
// set, ends the pipe and thus who writes to it.
type bounded struct {
	kept        bytes.Buffer // not embedded: its ReadFrom would go past Write
	max         int
	fatal, over bool
}

func (b *bounded) String() string { return b.kept.String() }

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.max - b.kept.Len(); len(p) > room {
		b.kept.Write(p[:room])
		b.over = true
		if b.fatal {
			return room, ErrOutput
		}
		return len(p), nil
	}
	return b.kept.Write(p)
}

// excerpt is text for a message.
func excerpt(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 300 {
		text = text[:300] + "..."
	}
	return fmt.Sprintf("%q", text)
}
