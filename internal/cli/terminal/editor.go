package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// ErrInterrupted ends a line at Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// An Editor reads lines from a terminal: they are edited, completed at a tab and found again by
// the arrows. Between lines the terminal is as it was, so that Ctrl-C is a signal there.
//
// golang.org/x/term edits them: it is linked anyway, and its makers keep it. A statement of several
// lines is several lines to it, and one entry of the history.
type Editor struct {
	in      *os.File
	out     io.Writer
	keys    *keys
	editing *term.Terminal
	history *history
}

// NewEditor makes an editor for a terminal. complete returns what the end of a line may become: whole
// words for the one that begins at start.
func NewEditor(in *os.File, out io.Writer, complete func(line string) (start int, words []string)) *Editor {
	e := &Editor{in: in, out: out, keys: &keys{in: in}, history: &history{}}
	e.editing = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e.keys, out}, "")
	e.editing.History = e.history
	e.editing.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		start, words := complete(line[:pos])
		if len(words) == 0 {
			return line, pos, true
		}
		with := common(words)
		if len(words) == 1 && !strings.HasSuffix(with, "(") && !strings.HasSuffix(with, " ") {
			with += " "
		}
		if len(words) > 1 && with == line[start:pos] { // nothing is gained: show what there is
			fmt.Fprintf(e.editing, "%s\n", inColumns(words, columnsOf(out, 80)))
			return line, pos, true
		}
		return line[:start] + with + line[pos:], start + len(with), true
	}
	return e
}

// Line reads a line. At Ctrl-C it is ErrInterrupted, at Ctrl-D on an empty line io.EOF.
func (e *Editor) Line(prompt string) (string, error) {
	fd := int(e.in.Fd())
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		e.editing.SetSize(width, max(height, 1)) //nolint:errcheck // it cannot be drawn then, and is read all the same
	}
	e.editing.SetPrompt(prompt)
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("read line: %w", err)
	}
	line, err := e.editing.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	if after := term.Restore(fd, before); err == nil {
		err = after
	}
	if e.keys.interrupted {
		e.keys.interrupted = false
		return "", ErrInterrupted
	}
	return line, err
}

// Remember adds an entry to the history: one line.
func (e *Editor) Remember(entry string) { e.history.remember(entry) }

// History is what was remembered, the oldest first.
func (e *Editor) History() []string { return e.history.entries }

// keys reads what is typed. The library ends a line at Ctrl-C as it does at Ctrl-D, so that it
// gets something else: the line is emptied and entered, and the editor knows why.
type keys struct {
	in          io.Reader
	waiting     []byte
	interrupted bool
}

func (k *keys) Read(p []byte) (int, error) {
	if len(k.waiting) == 0 {
		typed := make([]byte, 256)
		n, err := k.in.Read(typed)
		if n == 0 {
			return 0, err
		}
		k.waiting = typed[:n]
		if at := bytes.IndexByte(k.waiting, 3); at >= 0 { // what was typed before and after is dropped with the line
			k.interrupted, k.waiting = true, []byte{5, 21, '\r'}
		}
	}
	n := copy(p, k.waiting)
	k.waiting = k.waiting[n:]
	return n, nil
}

// mostEntries bounds a history.
const mostEntries = 1000

// history is what the arrows find. Lines that are read are not added to it, but what Remember is given.
type history struct{ entries []string }

func (h *history) Add(string) {}

func (h *history) Len() int { return len(h.entries) }

func (h *history) At(i int) string { return h.entries[len(h.entries)-1-i] }

func (h *history) remember(entry string) {
	if n := len(h.entries); entry == "" || n > 0 && h.entries[n-1] == entry {
		return
	}
	h.entries = append(h.entries, entry)
	h.entries = h.entries[max(0, len(h.entries)-mostEntries):]
}

// Word is where the last word of a line begins: letters, digits, what names may have, and one
// backslash before them.
func Word(line string) int {
	at := len(line)
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(line[:at])
		if r == '\\' {
			return at - size
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_$.", r) {
			break
		}
		at -= size
	}
	return at
}

// common is the longest beginning of all words.
func common(words []string) string {
	with := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, with) {
			_, size := utf8.DecodeLastRuneInString(with)
			with = with[:len(with)-size]
		}
	}
	return with
}

// inColumns lays words out over a width.
func inColumns(words []string, width int) string {
	words = slices.Clone(words)
	most := 0
	for _, w := range words {
		most = max(most, utf8.RuneCountInString(w))
	}
	a := max(1, width/(most+2))
	var b strings.Builder
	for i, w := range words {
		b.WriteString(w)
		switch {
		case i == len(words)-1:
		case (i+1)%a == 0:
			b.WriteByte('\n')
		default:
			b.WriteString(strings.Repeat(" ", most+2-utf8.RuneCountInString(w)))
		}
	}
	return b.String()
}
