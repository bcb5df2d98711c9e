package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"
)

// A terminal is where a command reads and writes.
//
// Rules of its output: data goes to out and talk to err, so that a pipe gets
// data alone. Talk is lower case and short. Colour and progress are for people:
// only where err is a terminal, and no colour where NO_COLOR is set. A write
// that fails is remembered by out and reported once, at the end.
type terminal struct {
	in  io.Reader
	out *output
	err io.Writer

	json   bool // --json: refusals too go to out
	people bool // err is a terminal
	colour bool
}

func newTerminal(in io.Reader, out, errOut io.Writer) *terminal {
	t := &terminal{in: in, out: &output{w: out}, err: errOut}
	t.people = isTerminal(errOut)
	t.colour = t.people && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return t
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// An output remembers its first failure and writes nothing after it.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err == nil {
		_, o.err = o.w.Write(p)
	}
	return len(p), nil
}

// lost returns why output is missing, unless its reader simply went away.
func (o *output) lost() error {
	if errors.Is(o.err, syscall.EPIPE) || errors.Is(o.err, io.ErrClosedPipe) {
		return nil
	}
	return o.err
}

// writeJSON prints a value on a line of its own.
func (t *terminal) writeJSON(v any) error {
	e := json.NewEncoder(t.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	return nil
}

// say prints a line of talk.
func (t *terminal) say(format string, args ...any) { fmt.Fprintf(t.err, format+"\n", args...) }

// paint puts s in a colour, for people.
func (t *terminal) paint(colour, s string) string {
	if !t.colour {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

const (
	bold = "1"
	red  = "1;31"
	dim  = "2"
)

// busy shows people a spinner while something takes longer than a second. The
// function that it returns ends it and clears its line.
func (t *terminal) busy(ctx context.Context, what string) (done func()) {
	return t.watch(ctx, func() string { return what })
}

// progress is busy with a bar: step is called for each of so many things that are
// over, from any goroutine.
func (t *terminal) progress(ctx context.Context, what string, all int) (step, done func()) {
	var over atomic.Int64
	return func() { over.Add(1) }, t.watch(ctx, func() string {
		return fmt.Sprintf("%s %s", what, gauge(float64(over.Load())/float64(all)))
	})
}

// watch shows a line that changes.
func (t *terminal) watch(ctx context.Context, what func() string) (done func()) {
	if !t.people {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var over sync.WaitGroup
	over.Go(func() {
		start := time.Now()
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		shown := false
		for frame := 0; ; frame++ {
			select {
			case <-ctx.Done():
				if shown {
					fmt.Fprint(t.err, "\r\x1b[K")
				}
				return
			case now := <-tick.C:
				if spent := now.Sub(start); spent > time.Second {
					shown = true
					fmt.Fprintf(t.err, "\r\x1b[K%c %s %ds", `|/-\`[frame%4], what(), int(spent.Seconds()))
				}
			}
		}
	})
	return sync.OnceFunc(func() { cancel(); over.Wait() })
}

// indent puts n blanks before each line.
func indent(s string, n int) string {
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+pad)
}
