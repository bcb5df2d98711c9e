// Package diagnostictest runs refusals that are written inside the statements
// they refuse:
//
//	SELECT email /* ERROR D014 "neither aggregated nor" */, count(*) FROM people;
//
// The comment follows the token where the caret must stand and holds the code
// and a regular expression for the message.
// Each refusal has a hint: it names a way out. A statement without a comment
// must pass. Each statement ends with the semicolon at the end of a line.
package diagnostictest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A Case is a statement and the refusal that it expects.
type Case struct {
	File    string
	Line    int // of the statement's first line in the file
	SQL     string
	Code    string // empty where the statement must pass
	Message *regexp.Regexp
	At      int // the end of the token before the comment, in SQL
}

// Name returns the case's place, "refuse/joins.sql:12".
func (c Case) Name() string { return fmt.Sprintf("%s:%d", c.File, c.Line) }

// Run runs check on every statement of the files that match the pattern, a
// subtest for each.
func Run(t *testing.T, pattern string, check func(sql string) error) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files match %s: %v", pattern, err)
	}
	for _, file := range files {
		cases, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			t.Run(c.Name(), func(t *testing.T) {
				if err := c.Compare(check(c.SQL)); err != nil {
					t.Errorf("%s\n%v", c.SQL, err)
				}
			})
		}
	}
}

// Compare returns an error that says how the outcome differs from the
// expectation, or nil.
func (c Case) Compare(outcome error) error {
	var d *diagnostic.Diagnostic
	switch {
	case c.Code == "" && outcome == nil:
		return nil
	case c.Code == "":
		return fmt.Errorf("refused: %w", outcome)
	case outcome == nil:
		return fmt.Errorf("passed, want %s %q", c.Code, c.Message)
	case !errors.As(outcome, &d):
		return fmt.Errorf("failed without a diagnostic: %w", outcome)
	case d.Code != c.Code || !c.Message.MatchString(d.Message):
		return fmt.Errorf("refused with\n%swant %s %q", full(d), c.Code, c.Message)
	case d.Hint == "":
		return fmt.Errorf("refused without a way out:\n%s", full(d))
	case !c.covers(d.Span):
		return fmt.Errorf("the caret of\n%sdoes not stand under the token before the comment, which ends at byte %d", full(d), c.At)
	}
	return nil
}

// covers reports whether a span covers the token that ends at c.At. At the
// beginning of the statement it must have no place, or begin there.
func (c Case) covers(s diagnostic.Span) bool {
	if c.At == 0 {
		return s.Start == 0
	}
	return s.Start < c.At && c.At <= s.End || s.Start == s.End && s.Start == c.At
}

func full(d *diagnostic.Diagnostic) string {
	var b strings.Builder
	if err := d.Write(&b); err != nil {
		return err.Error()
	}
	return b.String()
}

var expectation = regexp.MustCompile("[ \t]*/\\* ERROR (D\\d{3}) (\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`) \\*/")

// Read returns the cases of a file.
func Read(file string) ([]Case, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var cases []Case
	name := filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file))
	line := 1
	for _, part := range strings.SplitAfter(string(text), ";\n") {
		sql := strings.TrimLeft(part, " \t\n")
		c := Case{File: name, Line: line + strings.Count(part[:len(part)-len(sql)], "\n")}
		line += strings.Count(part, "\n")
		if sql = strings.TrimSuffix(strings.TrimRight(sql, "\n"), ";"); sql == "" {
			continue
		}
		if err := c.parse(sql); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name(), err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func (c *Case) parse(sql string) error {
	found := expectation.FindAllStringSubmatchIndex(sql, -1)
	if n := strings.Count(sql, "ERROR"); n > 1 || n != len(found) {
		return errors.New(`want at most one comment of the form /* ERROR D014 "message" */`)
	}
	c.SQL = sql
	if len(found) == 0 {
		return nil
	}
	m := found[0]
	pattern, err := strconv.Unquote(sql[m[4]:m[5]])
	if err != nil {
		return fmt.Errorf("unquote the message: %w", err)
	}
	if c.Message, err = regexp.Compile(pattern); err != nil {
		return err
	}
	c.Code = sql[m[2]:m[3]]
	c.At = len(strings.TrimRight(sql[:m[0]], " \t\n"))
	c.SQL = sql[:m[0]] + sql[m[1]:]
	return nil
}
