package cli

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	// A machine with much to do changes no answer.
	if os.Getenv("DISCREET_ACCOUNT_TIMEOUT") == "" {
		if err := os.Setenv("DISCREET_ACCOUNT_TIMEOUT", "1h"); err != nil {
			panic(err)
		}
	}
	started := map[string]func(){"discreet": func() { os.Exit(Process()) }}
	maps.Copy(started, programs)
	if started[filepath.Base(os.Args[0])] == nil { // the tests, whoever runs them
		for _, by := range command.Callers {
			os.Unsetenv(by.Variable)
		}
	}
	testscript.Main(m, started)
}

// The commands as users run them. Noise is random: scripts look at shapes.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"replace": replace,
			"people":  people,
			"file":    ownersFile,
			"decide":  decide,
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "engine":
				return workplace.EngineName != workplace.NoEngine, nil
			case "zones":
				return len(zones(zoneFile)) > 1, nil
			case "bash-completion":
				_, err := os.Stat("/usr/share/bash-completion/bash_completion")
				return err == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "")
			e.Setenv("DISCREET_ACCOUNT_TIMEOUT", "1h")
			mapper, err := filepath.Abs("../../sandbox/testdata/c/mapper.wasm")
			e.Setenv("MAPPER", mapper)
			e.Setenv("ABOVE", filepath.Join(filepath.Dir(mapper), "above.wasm"))
			return err
		},
	})
}

// exits runs a program and compares its exit code:
//
//	exits 2 discreet qeury
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// replace edits a file in place, as somebody might who wants more budget:
//
//	replace FILE OLD NEW
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || len(args[1]) != len(args[2]) {
		ts.Fatalf("usage: replace FILE OLD NEW, of equal length")
	}
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	if !bytes.Contains(text, []byte(args[1])) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	text = bytes.ReplaceAll(text, []byte(args[1]), []byte(args[2]))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
}
