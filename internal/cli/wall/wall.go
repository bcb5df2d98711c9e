// Package wall stands between a process that holds private data and whoever started it.
package wall

import (
	"context"
	"math"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A wall stands between a process that holds private data and whoever started it. It is
// raised before anything is opened; what stands on which side of it:
//
//   - Of the environment, only the variables in seen are left. So no variable decides where
//     files are spilled (TMPDIR), how much memory or how many threads the engine or Go's
//     runtime take (SLURM_MEM_PER_NODE, GOMEMLIMIT, ...), or what libraries read (ICU_DATA).
//   - What Go's runtime and the libraries in C write to descriptor 2 when they crash goes
//     nowhere, whatever GOTRACEBACK and GODEBUG say: stacks, registers and messages hold
//     values. A crash of Go's is written to the owner's log; see workplace.crashLog.
//   - No core is written, and nobody traces the process or reads its memory but root.
//   - A quit signal is an interrupt.
//
// A command without private data has no wall: discreet verify starts solvers, by its PATH, and
// its crashes may be reported.
func Wanted(args []string) bool { return len(args) == 0 || args[0] != "verify" }

// seen are the variables that a walled command may see: how to print, which of the owner's
// files to open, who calls, as whom to ask a server,
// and variables that are refused because the catalog decides.
var seen = []string{"NO_COLOR", "TERM", "TZ",
	"DISCREET_ACCOUNT_TIMEOUT", "DISCREET_ANCHOR", "DISCREET_LEDGER_KEY_FILE", "DISCREET_MEMORY", "DISCREET_THREADS", "DISCREET_TEMP", "DISCREET_TOKEN",
	"SUDO_UID", "PKEXEC_UID", "DOAS_USER"}

// server begins the variables that configure discreet serve, database those that hold the URL of
// the catalog's database.
const (
	server   = "DISCREET_SERVE_"
	database = "DISCREET_ENGINE"
)

// engine reports whether a variable can hold the URL of the catalog's database: of those, the
// catalog names one.
func engine(name string) bool { return name == database || strings.HasPrefix(name, database+"_") }

// books names, or begins the name of, the variable with the URL of the database that has the
// ledger, where the catalog names it.
const books = "DISCREET_LEDGER"

// zoneName is a time zone of the system's list. Without it TZ could name any file.
var zoneName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z][A-Za-z0-9_+-]*)*$`)

// Raise raises the wall and returns where talk goes.
func Raise() (talk *os.File, err error) {
	shutEnvironment()
	debug.SetGCPercent(100)
	debug.SetMemoryLimit(math.MaxInt64)
	runtime.SetDefaultGOMAXPROCS()
	debug.SetTraceback("all") // for the owner's log
	return shut()
}

// shutEnvironment removes all variables but those that are seen, also from the libraries in
// C. Windows does not run without its own.
func shutEnvironment() {
	if runtime.GOOS == "windows" {
		return
	}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if !slices.Contains(seen, name) && !strings.HasPrefix(name, server) && !engine(name) && name != books && !strings.HasPrefix(name, books+"_") || name == "TZ" && !zoneName.MatchString(value) {
			os.Unsetenv(name) //nolint:errcheck // it fails only on an empty name
		}
	}
}

// Terminable returns a context that ends at a request to terminate, for a command that has its own
// use of interrupts: those, and quit signals, do nothing by themselves.
func Terminable(bool) context.Context {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGQUIT)
	return until(syscall.SIGTERM)
}

// Interruptible returns a context that ends at an interrupt. A second one ends the process
// at once: by then, what was charged is on disk.
func Interruptible(wall bool) context.Context {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if wall {
		signals = append(signals, syscall.SIGQUIT)
	}
	return until(signals...)
}

func until(signals ...os.Signal) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	came := make(chan os.Signal, 2)
	signal.Notify(came, signals...)
	go func() {
		<-came
		cancel()
		<-came
		os.Exit(diagnostic.ExitEngine)
	}()
	return ctx
}
