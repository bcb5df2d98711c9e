package query

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/terminal"
)

// A semicolon ends a statement where PostgreSQL's lexer sees one, and nowhere else.
func TestStatementsEndAtTheirSemicolon(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"select 1;":                         {"select 1"},
		"select 1; select 2; select":        {"select 1", "select 2", "... select"},
		"select ';'; x":                     {"select ';'", "... x"},
		"select 'it''s;' ;":                 {"select 'it''s;'"},
		`select E'\';' ;`:                   {`select E'\';'`},
		`select '\';';`:                     {`select '\'`, `... ';`},
		`select "a;""b";`:                   {`select "a;""b"`},
		"select 1 -- one; of\n + 1;":        {"select 1 -- one; of\n + 1"},
		"select /* ; /* ; */ ; */ 1;":       {"select /* ; /* ; */ ; */ 1"},
		"select $$;$$, $a$ $$;$a$;":         {"select $$;$$, $a$ $$;$a$"},
		"select a$b$ ; c$b$ ;":              {"select a$b$", "c$b$"},
		";; -- nothing\n ; /* ; */":         nil,
		"select 'open":                      {"... select 'open"},
		"select $1; select $2":              {"select $1", "... select $2"},
		"select name'; ' from E'a\\' ; b';": {"select name'; ' from E'a\\' ; b'"},
	} {
		var b strings.Builder
		b.WriteString(text)
		got := take(&b)
		if rest := strings.TrimSpace(b.String()); rest != "" {
			got = append(got, "... "+rest)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"select 1 -- one\n  + 2;":   "select 1    + 2;",
		"select /* a\nb */ 1;":      "select  1;",
		"select 'a\nb';":            "",
		"select '-- no comment' ;":  "select '-- no comment' ;",
		"select\r\n1;":              "select  1;",
		"-- first\nselect count(*)": "select count(*)",
	} {
		got, ok := oneLine(text)
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Ctrl-C ends what runs, and the process goes on. The signal is a real one.
func TestInterruptsEndAStatement(t *testing.T) {
	s := &shell{t: terminal.New(strings.NewReader(""), io.Discard, io.Discard)}
	err := s.interruptible(t.Context(), func(ctx context.Context) error {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
