package failure

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// few undecided values are shown one by one.
const few = 4

// gather shows the many undecided values of a proposal once, as a list of lines, and not
// each with its reason and its way out. In JSON each stands by itself.
func gather(all []failed, problems diagnostic.List) []failed {
	var undecided diagnostic.List
	first := -1
	for i, d := range problems {
		if d.Code == "D082" {
			if undecided = append(undecided, d); first < 0 {
				first = i
			}
		}
	}
	if len(undecided) <= few {
		return all
	}
	all = slices.Clone(all)
	for i, d := range problems {
		if d.Code == "D082" {
			all[i].write = nil
		}
	}
	all[first].write = func(w io.Writer) error { return writeUndecided(w, undecided) }
	return all
}

func writeUndecided(w io.Writer, undecided diagnostic.List) error {
	var b strings.Builder
	fmt.Fprintf(&b, "error[D082]: %s undecided\n", map[bool]string{true: "1 value is", false: fmt.Sprintf("%d values are", len(undecided))}[len(undecided) == 1])
	last := 0
	for _, d := range undecided {
		line, _ := d.LineColumn()
		if line == last || line < 1 {
			continue
		}
		last = line
		text, _, _ := strings.Cut(strings.TrimSpace(strings.Split(d.Text, "\n")[line-1]), "  #")
		fmt.Fprintf(&b, "  %s:%d: %s\n", d.Source, line, strings.TrimSpace(text))
	}
	b.WriteString("  why:  only the owner of the data can decide them\n" +
		"  hint: write what you decide on in place of each \"?\", or remove a key that is optional; where a guess stands before the mark, as in \"bigint?\", delete the mark if the guess is right\n" +
		"  more: discreet help D082\n")
	_, err := io.WriteString(w, b.String())
	return err
}
