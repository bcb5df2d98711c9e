// Package terminal is where commands read and write: data and talk, colour and progress
// for people, tables, and amounts of privacy loss in few digits.
package terminal

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

	"github.com/discreet-dp/discreet/internal/cells"
)

// A Terminal is where a command reads and writes.
//
// Rules of its output: data goes to out and talk to err, so that a pipe gets
// data alone. Talk is lower case and short. Colour and progress are for people:
// only where err is a terminal, and no colour where NO_COLOR is set. A write
// that fails is remembered by out and reported once, at the end.
type Terminal struct {
	In  io.Reader
	Out *output
	Err io.Writer

	JSON   bool // --json: refusals too go to out
	People bool // err is a terminal
	Colour bool
}

// New makes a terminal; colour and progress are for people, who look at errOut.
func New(in io.Reader, out, errOut io.Writer) *Terminal {
	t := &Terminal{In: in, Out: &output{W: out}, Err: errOut}
	t.People = IsTerminal(errOut)
	t.Colour = t.People && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return t
}

// IsTerminal reports whether people see what is written to w.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns the width of the terminal that gets the output, and otherwise the given
// number: what a pipe gets depends on no window.
func (t *Terminal) Width(otherwise int) int { return t.Out.width(otherwise) }

// Widen serves the flag --wide: if it is set, tables are whole, and as wide as their content.
func (t *Terminal) Widen(wide bool) { t.WidenBy("--wide", wide) }

// WidenBy is Widen where people say it otherwise.
func (t *Terminal) WidenBy(words string, wide bool) { t.Out.wide, t.Out.whole = wide, words }

// Wide reports whether tables show all.
func (t *Terminal) Wide() bool { return t.Out.wide }

func (o *output) width(otherwise int) int { return columnsOf(o.W, otherwise) }

func columnsOf(w io.Writer, otherwise int) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return otherwise
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return otherwise
	}
	return width
}

// An output remembers its first failure and writes nothing after it.
type output struct {
	W     io.Writer
	wide  bool   // a table may be wider than the terminal
	whole string // what shows the whole of one
	err   error

	before func() // called before the next write: it clears the progress
}

func (o *output) Write(p []byte) (int, error) {
	if before := o.before; before != nil {
		o.before = nil
		before()
	}
	if o.err == nil {
		_, o.err = o.W.Write(p)
	}
	return len(p), nil
}

// Lost returns why output is missing; nil if its reader simply went away.
func (o *output) Lost() error {
	if errors.Is(o.err, syscall.EPIPE) || errors.Is(o.err, io.ErrClosedPipe) {
		return nil
	}
	return o.err
}

// WriteJSON prints a value on a line of its own.
func (t *Terminal) WriteJSON(v any) error {
	e := json.NewEncoder(t.Out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	return nil
}

// Say prints a line of talk. A sentence that is wider than a terminal is broken between
// words; a line that is laid out with blanks stays whole.
func (t *Terminal) Say(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if room := columnsOf(t.Err, 0); room > 0 && cells.Width(s) > room && !strings.Contains(s, "  ") && !strings.Contains(s, "\n") {
		s = Wrap(s, room)
	}
	fmt.Fprintln(t.Err, s)
}

// Paragraph is how wide prose is set.
func (t *Terminal) Paragraph() int { return min(100, t.Width(100)) }

// Print prints a line of output. In a terminal it is broken between words where it is
// wider, with further lines set in.
func (t *Terminal) Print(line string, indent int) {
	if room := t.Width(0); room > 0 && cells.Width(line) > room && !t.Out.wide {
		start := line[:len(line)-len(strings.TrimLeft(line, " "))]
		line = start + strings.TrimLeft(Indent(Wrap(line, max(room-indent, 20)), indent), " ")
	}
	fmt.Fprintln(t.Out, line)
}

// Paint puts s in a colour, for people.
func (t *Terminal) Paint(colour, s string) string {
	if !t.Colour {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

const (
	Bold = "1"
	Red  = "1;31"
	Dim  = "2"
)

// Busy shows people a spinner while something takes longer than a second. The function
// that it returns ends the spinner and clears its line.
func (t *Terminal) Busy(ctx context.Context, what string) (done func()) {
	return t.Watch(ctx, func() string { return what })
}

// Progress is busy with a bar: step is called for each of so many things that are
// over, from any goroutine.
func (t *Terminal) Progress(ctx context.Context, what string, all int) (step, done func()) {
	var over atomic.Int64
	return func() { over.Add(1) }, t.Watch(ctx, func() string { return what + " " + Steps(over.Load(), int64(all)) })
}

// Steps draws how many steps of how many are done.
func Steps(done, all int64) string {
	return fmt.Sprintf("%s %d of %d", Gauge(float64(done)/float64(max(all, 1))), done, all)
}

// Bytes draws how much of how much is read.
func Bytes(done, all int64) string {
	return fmt.Sprintf("%s %s of %s", Gauge(float64(done)/float64(max(all, 1))), size(done), size(all))
}

// size prints a number of bytes for people.
func size(n int64) string {
	x, unit := float64(n), "bytes"
	for _, larger := range []string{"kB", "MB", "GB", "TB"} {
		if x < 1000 {
			break
		}
		x, unit = x/1000, larger
	}
	if unit == "bytes" || x >= 99.95 {
		return fmt.Sprintf("%.0f %s", x, unit)
	}
	return fmt.Sprintf("%.1f %s", x, unit)
}

// Watch shows a line that changes.
func (t *Terminal) Watch(ctx context.Context, what func() string) (done func()) {
	if !t.People {
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
					fmt.Fprint(t.Err, "\r\x1b[K")
				}
				return
			case now := <-tick.C:
				if spent := now.Sub(start); spent > time.Second {
					shown = true
					line := fmt.Sprintf("%c %s %ds", `|/-\`[frame%4], what(), int(spent.Seconds()))
					if room := columnsOf(t.Err, 0); room > 1 {
						line = cells.Cut(line, room-1) // a line that wraps cannot be cleared
					}
					fmt.Fprint(t.Err, "\r\x1b[K"+line)
				}
			}
		}
	})
	done = sync.OnceFunc(func() { cancel(); over.Wait() })
	if t.Out != nil && IsTerminal(t.Out.W) {
		t.Out.before = done // output does not begin behind a spinner
	}
	return done
}

// Indent puts n blanks before each line.
func Indent(s string, n int) string {
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+pad)
}

// Wrap breaks a paragraph into lines of at most width columns.
func Wrap(text string, width int) string { return strings.Join(cells.Wrap(text, width), "\n") }

// Gauge draws a share of the whole.
func Gauge(share float64) string {
	const width = 30
	n := min(max(int(share*width+0.5), 0), width)
	return "[" + strings.Repeat("#", n) + strings.Repeat(".", width-n) + "]"
}
