package terminal

import (
	"io"
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/internal/cells"
)

// Fit returns a text that is laid out for a wide page as it is written to w: unchanged, or
// in a terminal that is narrower without a word cut in two. Paragraphs are set anew. The
// second column of a line, or what follows a label, is broken below its beginning. What is
// to be copied, and the lines of a source with their carets, stay whole.
func Fit(w io.Writer, text string) string {
	if o, ok := w.(*output); ok {
		if o.wide {
			return text
		}
		w = o.W
	}
	if room := columnsOf(w, 0); room > 0 {
		return fit(text, room)
	}
	return text
}

var (
	column = regexp.MustCompile(`^ *\S+: +|^.*?\S {2,}`) // what stands before the text of a line
	source = regexp.MustCompile(`^ *\d* *\|`)
)

func fit(text string, room int) string {
	lines := strings.Split(text, "\n")
	var out []string
	for len(lines) > 0 {
		line := lines[0]
		prose := 0 // lines of the paragraph that begins here
		wide := false
		for prose < len(lines) && lines[prose] != "" && lines[prose][0] != ' ' {
			wide = wide || cells.Width(lines[prose]) > room
			prose++
		}
		switch {
		case prose > 0 && wide:
			out = append(out, cells.Wrap(strings.Join(lines[:prose], " "), room)...)
		case prose > 0:
			out = append(out, lines[:prose]...)
		default:
			out, prose = append(out, hang(line, room)...), 1
		}
		lines = lines[prose:]
	}
	return strings.Join(out, "\n")
}

// hang breaks a line that is set in.
func hang(line string, room int) []string {
	head := column.FindString(line)
	if cells.Width(line) <= room || head == "" || source.MatchString(line) {
		return []string{line}
	}
	indent := cells.Width(head)
	if indent > room-20 { // no room beside the first column: below it
		indent = 4
		text := cells.Wrap(line[len(head):], max(room-indent, 20))
		return append([]string{strings.TrimRight(head, " ")}, strings.Split(Indent(strings.Join(text, "\n"), indent), "\n")...)
	}
	text := cells.Wrap(line[len(head):], room-indent)
	all := strings.Split(Indent(strings.Join(text, "\n"), indent), "\n")
	all[0] = head + text[0]
	return all
}
