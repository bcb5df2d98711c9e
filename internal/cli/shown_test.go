package cli

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	shownFlag = regexp.MustCompile(` --([a-z][a-z-]*)`)
	shownLine = regexp.MustCompile("discreet [a-z][^`|>#;&]*")
)

// shownCommands are the command lines of a page: in blocks, a line each, and between
// backquotes.
func shownCommands(text string) (all []string) {
	text = regexp.MustCompile(`\\\n(> ?)? *`).ReplaceAllString(text, "")
	block := false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			block = !block
		case block:
			if command, ok := strings.CutPrefix(strings.TrimPrefix(line, "$ "), "discreet "); ok {
				all = append(all, shownLine.FindString("discreet "+command))
			}
		default:
			for i, span := range strings.Split(line, "`") {
				if i%2 == 1 && strings.HasPrefix(span, "discreet ") {
					all = append(all, shownLine.FindString(span))
				}
			}
		}
	}
	return all
}

// Every flag of a command line that a page shows, run or not, is one of that command: what
// is documented can be typed.
func TestShownFlagsExist(t *testing.T) {
	flags := map[string]map[string]bool{}
	for _, c := range withVerbs(commands()) {
		have := map[string]bool{"help": true}
		c.Flags.VisitAll(func(f *flag.Flag) { have[f.Name] = true })
		flags["discreet "+strings.TrimPrefix(c.Title(), "discreet ")] = have
	}
	seen, refused := 0, 0
	check := func(path, text string) {
		for _, line := range shownCommands(text) {
			words := strings.Fields(line)
			title := ""
			for n := min(3, len(words)); n > 1 && title == ""; n-- {
				if flags[strings.Join(words[:n], " ")] != nil {
					title = strings.Join(words[:n], " ")
				}
			}
			if title == "" {
				continue
			}
			seen++
			for _, f := range shownFlag.FindAllStringSubmatch(line, -1) {
				switch {
				case flags[title][f[1]]:
				case filepath.Base(path) == "refusals.md": // it shows what is refused
					refused++
				default:
					t.Errorf("%s: %s has no --%s: %s", path, title, f[1], line)
				}
			}
		}
	}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md" || d.Name() == "CHANGELOG.md":
			return nil
		}
		text, err := os.ReadFile(path)
		check(path, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 250 || refused == 0 {
		t.Errorf("only %d command lines are seen, and %d flags that there are not", seen, refused)
	}
}
