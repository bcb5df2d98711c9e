package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/query"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// Each command has its line in the list, a page and two command lines to try
// that are its own and use flags that it has.
func TestCommandsAreDocumented(t *testing.T) {
	for _, c := range withVerbs(commands()) {
		if c.Short == "" || c.Long == "" || c.Run == nil {
			t.Errorf("%s: says too little", c.Title())
		}
		for _, e := range c.Examples {
			before, line, _ := strings.Cut(e, "discreet "+c.Title())
			if line == "" && before == e {
				t.Errorf("%s: the example %q shows another command", c.Title(), e)
			}
			line, _, _ = strings.Cut(line, " > ")
			args := strings.Fields(strings.TrimSuffix(line, ")"))
			title := strings.Fields(c.Title())
			fresh, err := command.Find(commands(), title)
			if err != nil {
				t.Fatal(err)
			}
			if len(fresh.Verbs) > 0 && len(args) > 0 { // the example of a verb
				if verb, err := command.Find(fresh.Verbs, args[:1]); err == nil {
					fresh, args = verb, args[1:]
				}
			}
			if _, err := fresh.Parse(args); err != nil {
				t.Errorf("%s: the example %q: %v", c.Title(), e, err)
			}
		}
	}
}

// Flags stand anywhere; a comment before a statement is none; after -- there
// are none.
func TestFlagsAnywhere(t *testing.T) {
	for _, test := range []struct {
		args  []string
		rest  string
		ledge string
	}{
		{[]string{"--ledger", "l", "S"}, "S", "l"},
		{[]string{"S", "--ledger", "l"}, "S", "l"},
		{[]string{"S", "-ledger=l"}, "S", "l"},
		{[]string{"--ledger=a=b", "S"}, "S", "a=b"},
		{[]string{"--ledger", "--", "S"}, "S", "--"},
		{[]string{"-- a comment\nSELECT 1"}, "-- a comment\nSELECT 1", ""},
		{[]string{"--\tcomment\nSELECT 1"}, "--\tcomment\nSELECT 1", ""},
		{[]string{"--ledger", "l", "--", "--json"}, "--json", "l"},
		{[]string{"-"}, "-", ""},
	} {
		c := query.Command()
		rest, err := c.Parse(test.args)
		if err != nil {
			t.Errorf("%q: %v", test.args, err)
			continue
		}
		if got := strings.Join(rest, "|"); got != test.rest {
			t.Errorf("%q: left %q, want %q", test.args, got, test.rest)
		}
		if got := c.Flags.Lookup("ledger").Value.String(); got != test.ledge {
			t.Errorf("%q: --ledger %q, want %q", test.args, got, test.ledge)
		}
	}
}

// failing is standard output that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// A reader that goes away is no failure; an answer that is lost for another
// reason is, and the way to it is said.
func TestOutputFails(t *testing.T) {
	for _, test := range []struct {
		err  error
		code int
		talk string
	}{
		{&os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, diagnostic.ExitAnswered, ""},
		{io.ErrClosedPipe, diagnostic.ExitAnswered, ""},
		{errors.New("no space left on device"), diagnostic.ExitEngine, "--key"},
	} {
		var talk strings.Builder
		if code := Main(context.Background(), []string{"help", "--json"}, strings.NewReader(""), failing{test.err}, &talk); code != test.code {
			t.Errorf("%v: exit code %d, want %d", test.err, code, test.code)
		}
		if !strings.Contains(talk.String(), test.talk) || (test.talk == "") != (talk.Len() == 0) {
			t.Errorf("%v: said %q", test.err, talk.String())
		}
	}
}

// A command line that has ended leaves nothing behind: the library keeps for ever what completes a flag, and would keep 0.7
// megabytes for each.
func TestCommandsAreForgotten(t *testing.T) {
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	run(t, t.Context(), 0, "version") // what is made once
	before := held()
	for range 40 {
		run(t, t.Context(), 0, "version")
	}
	if after := held(); after > before+5<<20 {
		t.Errorf("40 command lines left %d bytes", after-before)
	}
}

// An interrupted command says that what it reserved stays spent.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var talk strings.Builder
	term := terminal.New(nil, io.Discard, &talk)
	if code := failure.Finish(term, ctx, errors.New("whatever")); code != diagnostic.ExitEngine {
		t.Errorf("exit code %d", code)
	}
	if got := talk.String(); !strings.Contains(got, "D102") || !strings.Contains(got, "stays spent") {
		t.Errorf("said %q", got)
	}
}

// An interrupted verification reserves nothing: it says what was not decided.
func TestVerifyInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var talk strings.Builder
	if code := Main(ctx, []string{"verify", "../../mechanism"}, nil, io.Discard, &talk); code != diagnostic.ExitEngine {
		t.Errorf("exit code %d", code)
	}
	if got := talk.String(); !strings.Contains(got, "D102") || !strings.Contains(got, "claims were decided") || strings.Contains(got, "spent") {
		t.Errorf("said %q", got)
	}
}

func TestExitCodes(t *testing.T) {
	for code, want := range map[string]int{
		"D001": 1, "D014": 1, "D069": 1, "D070": 2, "D071": 2, "D072": 1, "D075": 2, "D076": 3, "D077": 1,
		"D078": 1, "D080": 1, "D098": 1, "D099": 1, "D100": 4, "D101": 4, "D109": 4, "D110": 2, "D116": 2, "D117": 4, "D118": 2, "D119": 2,
		"D120": 1, "D124": 1, "D130": 1, "D132": 1, "D140": 2, "D141": 1, "D142": 1, "D143": 2, "D150": 1, "D151": 1, "D152": 1,
	} {
		if got := diagnostic.ExitOf(code); got != want {
			t.Errorf("%s: exit code %d, want %d", code, got, want)
		}
	}
}
