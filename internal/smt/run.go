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

// runScript runs a fresh process on a script and returns all that it prints. A solver
// that meets an error prints it and goes on; see Solve for who wants an answer.
func runScript(ctx context.Context, s Solver, o Options, script string) (string, error) {
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
		return "", fmt.Errorf("run %s: %w: %w %s", s, errCrash, err, excerpt(errs.String()))
	}
	return out.String(), nil
}

// Solve runs a fresh process on a script whose first output is the answer to
// (check-sat), and returns with the answer what is printed after it: the model,
// if the script asks for one, or the error that there is none.
func Solve(ctx context.Context, s Solver, o Options, script string) (Answer, string, error) {
	out, err := runScript(ctx, s, o, script)
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
