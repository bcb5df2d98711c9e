package accountant

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// Properties ask all accountants several times each: fewer draws than usual, unless
// -rapid.checks says otherwise.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "8"); err != nil {
		panic(err)
	}
	flag.Parse()
	debug.SetGCPercent(400) // the referee's numbers are short-lived
	os.Exit(m.Run())
}
